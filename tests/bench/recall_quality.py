"""How much of the evidence recall and its peers find in 1,500 tokens, on the chats of the tests.

Evidence is found where what was returned of its turn has the answer's words in it; a pointer to
the turn that leaves them out counts as reached only. ``python -m tests.bench.recall_quality``
prints the tables. A third of the questions is held out: nothing was tuned on them. That of the
chats in ``CLEAN`` is reported apart, since these were finished before the ranking was tuned.
"""

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final

import click
import msgspec

from throughline_nb.store.recall import Recall
from throughline_nb.store.recall.passages import spans

from .recall_peers import FEW, PEERS, fill

DATA: Final = Path(__file__).resolve().parents[1] / "data" / "recall"
BUDGET: Final = 1500
CLEAN: Final = frozenset({"studio", "owls"})

Finder = Callable[[str], list[tuple[int, str]]]
"""A query gives turns and what is returned of them, best first."""


class Line(msgspec.Struct):
    """A message of a chat of the tests."""

    turn: int
    role: str
    text: str
    time: float | None = None
    tool: str = ""


class Question(msgspec.Struct):
    """A question with the turns that answer it, each of which has one of the answers in it."""

    chat: str
    question: str
    evidence: list[int]
    answer: list[str]
    kind: str = ""
    held_out: bool = False


class Score(msgspec.Struct):
    """What a finder found.

    Attributes:
        found: Share of the evidence whose answer can be read in what was returned, per question.
        reached: Share of the evidence's turns of which anything was returned.
        first: One divided by the rank of the first turn that was reached.
    """

    found: list[float] = []
    reached: list[float] = []
    first: list[float] = []

    @property
    def share(self) -> float:
        """Mean share of the evidence that was found."""
        return sum(self.found) / max(1, len(self.found))

    @property
    def reach(self) -> float:
        """Mean share of its turns that were reached."""
        return sum(self.reached) / max(1, len(self.reached))

    @property
    def mrr(self) -> float:
        """Mean reciprocal rank."""
        return sum(self.first) / max(1, len(self.first))


def chats(*, tools: bool) -> dict[str, list[Line]]:
    """The chats, with or without their long tool outputs."""
    found = {}
    names = {question.chat for question in questions()}
    for path in sorted(DATA.glob("*.jsonl")):
        if path.stem in names:
            lines = msgspec.json.Decoder(Line).decode_lines(path.read_bytes())
            outputs = path.with_name(f"{path.stem}.tools.jsonl")
            if tools and outputs.exists():
                lines += msgspec.json.Decoder(Line).decode_lines(outputs.read_bytes())
                lines.sort(key=lambda line: line.turn)
            found[path.stem] = lines
    return found


def questions() -> list[Question]:
    """All questions."""
    path = DATA / "questions.jsonl"
    return msgspec.json.Decoder(Question).decode_lines(path.read_bytes())


def finders(lines: Sequence[Line], folder: Path) -> Iterator[tuple[str, Finder]]:
    """Recall and its peers over one chat; the peers see the same passages."""
    recall = Recall(folder)
    recall.append(lines)
    yield "recall", lambda query: [(one.turn, one.text) for one in recall.search(query, BUDGET)]
    cut = [(line, line.text[a:b]) for line in lines for a, b in spans(line.text)]
    texts = [text for _, text in cut]
    heads = [f"[{line.turn} {line.role}]" for line, _ in cut]
    turns = [line.turn for line, _ in cut]
    for name, make in PEERS.items():
        rank = make(texts)
        yield (
            name,
            lambda query, rank=rank: [
                (turns[at], texts[at]) for at in fill(rank(query, FEW), heads, texts, BUDGET)
            ],
        )
    recall.close()


def add(
    score: Score, question: Question, said: dict[int, str], found: list[tuple[int, str]]
) -> None:
    """Judge what was found for a question.

    Args:
        score: Gets the result.
        question: What was asked.
        said: The text of each turn.
        found: Turns and what was returned of them, best first.
    """
    returned: dict[int, str] = {}
    for turn, text in found:
        returned[turn] = f"{returned.get(turn, '')}\n{_plain(text)}"
    answers = [_plain(answer) for answer in question.answer]
    read = 0
    for turn in question.evidence:
        there = [answer for answer in answers if answer in said[turn]]
        read += any(answer in returned.get(turn, "") for answer in there)
    wanted = set(question.evidence)
    score.found.append(read / len(wanted))
    score.reached.append(len(wanted & returned.keys()) / len(wanted))
    ranks = [at + 1 for at, turn in enumerate(returned) if turn in wanted]
    score.first.append(1 / ranks[0] if ranks else 0.0)


def _plain(text: str) -> str:
    return " ".join(text.split())


def measure(*, tools: bool) -> dict[tuple[str, str, bool], Score]:
    """Scores by chat, finder and whether the questions were held out."""
    asked = questions()
    scores: dict[tuple[str, str, bool], Score] = {}
    with tempfile.TemporaryDirectory() as folder:
        for chat, lines in chats(tools=tools).items():
            said: dict[int, str] = {}
            for line in lines:
                said[line.turn] = f"{said.get(line.turn, '')}\n{_plain(line.text)}"
            for name, find in finders(lines, Path(folder) / chat):
                for question in asked:
                    if question.chat == chat and question.evidence:
                        key = (chat, name, question.held_out)
                        add(
                            scores.setdefault(key, Score()),
                            question,
                            said,
                            find(question.question),
                        )
    return scores


def total(
    scores: dict[tuple[str, str, bool], Score],
    name: str,
    held_out: bool | None = None,
    chats: frozenset[str] | None = None,
) -> Score:
    """A finder's scores of all questions, or of those held out or not, or of some chats."""
    result = Score([], [], [])
    for (chat, finder, held), score in scores.items():
        if finder == name and held_out in {None, held} and (chats is None or chat in chats):
            result.found += score.found
            result.reached += score.reached
            result.first += score.first
    return result


def main() -> None:
    """Print the tables: found, reached, mean reciprocal rank."""
    parts = (
        ("tuned on", False, None),
        ("held out", True, None),
        ("new, held out", True, CLEAN),
        ("all", None, None),
    )
    for tools in (False, True):
        scores = measure(tools=tools)
        click.echo("with tool outputs" if tools else "without tool outputs")
        for name in ("recall", *PEERS):
            rows = [(label, total(scores, name, held, only)) for label, held, only in parts]
            cells = "   ".join(
                f"{label} {s.share:.1%} {s.reach:.1%} {s.mrr:.2f} (n={len(s.found)})"
                for label, s in rows
            )
            click.echo(f"  {name:14} {cells}")


if __name__ == "__main__":
    main()
