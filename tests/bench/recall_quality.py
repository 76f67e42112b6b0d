"""How much of the evidence recall and its peers find in 1,500 tokens, on the chats of the tests.

``python -m tests.bench.recall_quality`` prints the tables. A third of the questions is held out:
nothing was tuned on them.
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

Finder = Callable[[str], list[int]]
"""A query gives the turns that were found, best first."""


class Line(msgspec.Struct):
    """A message of a chat of the tests."""

    turn: int
    role: str
    text: str
    time: float | None = None
    tool: str = ""


class Question(msgspec.Struct):
    """A question with the turns that answer it."""

    chat: str
    question: str
    evidence: list[int]
    kind: str = ""
    held_out: bool = False


class Score(msgspec.Struct):
    """What a finder found.

    Attributes:
        found: Share of the evidence that was found, per question.
        first: One divided by the rank of the first that was found.
    """

    found: list[float] = []
    first: list[float] = []

    @property
    def share(self) -> float:
        """Mean share of the evidence."""
        return sum(self.found) / max(1, len(self.found))

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
    yield "recall", lambda query: [passage.turn for passage in recall.search(query, BUDGET)]
    cut = [(line, line.text[a:b]) for line in lines for a, b in spans(line.text)]
    texts = [text for _, text in cut]
    heads = [f"[{line.turn} {line.role}]" for line, _ in cut]
    turns = [line.turn for line, _ in cut]
    for name, make in PEERS.items():
        rank = make(texts)
        yield (
            name,
            lambda query, rank=rank: [
                turns[at] for at in fill(rank(query, FEW), heads, texts, BUDGET)
            ],
        )
    recall.close()


def measure(*, tools: bool) -> dict[tuple[str, str, bool], Score]:
    """Scores by chat, finder and whether the questions were held out."""
    asked = questions()
    scores: dict[tuple[str, str, bool], Score] = {}
    with tempfile.TemporaryDirectory() as folder:
        for chat, lines in chats(tools=tools).items():
            for name, find in finders(lines, Path(folder) / chat):
                for question in asked:
                    if question.chat != chat or not question.evidence:
                        continue
                    found = find(question.question)
                    score = scores.setdefault((chat, name, question.held_out), Score())
                    wanted = set(question.evidence)
                    score.found.append(len(wanted & set(found)) / len(wanted))
                    ranks = [
                        at + 1 for at, turn in enumerate(dict.fromkeys(found)) if turn in wanted
                    ]
                    score.first.append(1 / ranks[0] if ranks else 0.0)
    return scores


def total(scores: dict[tuple[str, str, bool], Score], name: str, held_out: bool | None) -> Score:
    """A finder's scores over all chats; of all questions where ``held_out`` is None."""
    result = Score([], [])
    for (_, finder, held), score in scores.items():
        if finder == name and held_out in {None, held}:
            result.found += score.found
            result.first += score.first
    return result


def main() -> None:
    """Print the tables."""
    for tools in (False, True):
        scores = measure(tools=tools)
        click.echo("with tool outputs" if tools else "without tool outputs")
        for name in ("recall", *PEERS):
            row = [total(scores, name, held) for held in (False, True, None)]
            cells = "  ".join(f"{s.share:6.1%} mrr {s.mrr:.2f} (n={len(s.found)})" for s in row)
            click.echo(f"  {name:14} {cells}")


if __name__ == "__main__":
    main()
