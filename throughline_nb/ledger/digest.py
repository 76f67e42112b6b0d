"""What the model sees of a ledger: header, digest, and the status line above the reply.

Everything is cut from the ledger, never paraphrased, and stands behind the fence of
:mod:`throughline_nb.ledger.fence`.
"""

from collections.abc import Sequence

import msgspec

from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.fence import DIGEST_MARK, fenced, neutral, tokens
from throughline_nb.ledger.model import Entry, Ledger

GOAL_CHARACTERS = 400
ENTRY_CHARACTERS = 320


class View(msgspec.Struct, frozen=True):
    """What a header or digest is made of, beside the ledger.

    Attributes:
        ledger: The ledger.
        changed: What changed since the last turn (:func:`delta.summary`), or empty.
        health: Phrases of :func:`health.health`.
        notices: Lines that come once, such as what a hand edit changed, or a reminder.
    """

    ledger: Ledger
    changed: str = ""
    health: Sequence[str] = ()
    notices: Sequence[str] = ()


def header(view: View) -> str:
    """The state in a few lines, about 60 to 150 tokens."""
    ledger = view.ledger
    first = f'Project "{ledger.project}" | Goal: {_goal(ledger, 200)}'
    return fenced([first, *_position(view), *_closing(view)])


def digest(view: View, cap: int) -> str:
    """Header plus constraints, next steps, findings, decisions and questions.

    Args:
        view: What is shown.
        cap: Most tokens that it takes; what does not fit is left out, oldest first, and counted.
    """
    ledger = view.ledger
    top = [f'{DIGEST_MARK} "{ledger.project}" | Goal: {_goal(ledger, GOAL_CHARACTERS)}']
    top += _position(view)
    end = _closing(view)
    room = cap - tokens(fenced([*top, *end]))
    parts = _parts(ledger)
    # The counts of what is left out need room too.
    room -= sum(tokens(_left(part, len(part.entries))) + 1 for part in parts)
    body: list[str] = []
    for part, lines in zip(parts, _dealt(parts, room), strict=True):
        missing = len(part.entries) - len(lines)
        body.append(_left(part, missing) if missing else f"{part.title}:")
        body += [lines[index] for index in sorted(lines)]
    return fenced([*top, *body, *end])


def status_line(ledger: Ledger, notices: Sequence[str] = ()) -> str:
    """The line above the reply: ``throughLine: llm-runtimes, step 4 of 9``."""
    line = f"throughLine: {ledger.project}"
    step = ledger.current
    if step is not None:
        line += f", step {ledger.plan.index(step) + 1} of {len(ledger.plan)}"
    elif ledger.plan:
        line += f", all {len(ledger.plan)} steps done" if _done(ledger) == len(ledger.plan) else ""
    return " · ".join([line, *notices])


def shown_entry(entry: Entry, characters: int = ENTRY_CHARACTERS) -> str:
    """One entry on one line with what a reader must know of it, cut at ``characters``."""
    text = f"{entry.id}. {neutral(clip(entry.text, characters))}"
    extra = [entry.status, entry.state]
    if entry.source and entry.source != "user":
        extra.append(f"source {neutral(clip(entry.source, 120))}")
    if entry.missing:
        extra.append(f"not in its source: {entry.missing}")
    if entry.reason:
        extra.append(f"reason: {neutral(clip(entry.reason, 120))}")
    if entry.because:
        extra.append(f"because {entry.because}")
    if entry.suspect:
        extra.append(f"suspect: {entry.suspect}")
    if entry.answer:
        extra.append(f"answer: {neutral(clip(entry.answer, 160))}")
    if entry.note:
        extra.append(f"note: {neutral(clip(entry.note, 160))}")
    extra = [item for item in extra if item]
    return f"{text} ({'; '.join(extra)})" if extra else text


class _Part(msgspec.Struct, frozen=True):
    """One section of a digest; its lines are made when asked for, since few are shown."""

    title: str
    entries: Sequence[Entry]
    newest_first: bool = True

    def order(self) -> Sequence[int]:
        """Indices of the entries, those to show first leading."""
        return range(len(self.entries))[:: -1 if self.newest_first else 1]


def _parts(ledger: Ledger) -> list[_Part]:
    parts = [
        _Part("Constraints", ledger.constraints),
        _Part("Next steps", [e for e in ledger.plan if e.status != "done"], newest_first=False),
        _Part("Findings", [e for e in ledger.findings if not e.retracted]),
        _Part("Decisions", ledger.decisions),
        _Part("Open questions", [e for e in ledger.questions if not e.answer]),
        _Part("Proposals for the user to accept or reject", ledger.proposals),
    ]
    return [part for part in parts if part.entries]


def _dealt(parts: Sequence[_Part], room: int) -> list[dict[int, str]]:
    """Lines to show of each part, by index: dealt out in turns until nothing more fits."""
    shown: list[dict[int, str]] = [{} for _ in parts]
    queues = [iter(part.order()) for part in parts]
    waiting = list(range(len(parts)))
    while waiting:
        for at in tuple(waiting):
            index = next(queues[at], None)
            line = "" if index is None else shown_entry(parts[at].entries[index])
            cost = tokens(line) + 1
            if index is None or cost > room:
                waiting.remove(at)
                continue
            shown[at][index] = line
            room -= cost
    return shown


def _left(part: _Part, missing: int) -> str:
    return f"{part.title} ({missing} of {len(part.entries)} left out; ledger_view shows all):"


def _goal(ledger: Ledger, characters: int) -> str:
    return neutral(clip(ledger.goal, characters)) or "not set yet; ask the user, or propose one"


def _done(ledger: Ledger) -> int:
    return sum(step.status == "done" for step in ledger.plan)


def _position(view: View) -> list[str]:
    ledger = view.ledger
    lines = []
    step = ledger.current
    if step is not None:
        now = f"Now: {step.id}. {neutral(clip(step.text, 160))} ({step.status})"
        lines.append(f"{now} | {_done(ledger)} of {len(ledger.plan)} done")
    elif ledger.plan:
        lines.append(f"Now: no step left | {_done(ledger)} of {len(ledger.plan)} done")
    if view.changed:
        lines.append(f"Changed since last turn: {neutral(clip(view.changed, 240))}")
    return lines + [neutral(clip(notice, 300)) for notice in view.notices]


def _closing(view: View) -> list[str]:
    return [f"Health: {neutral(clip('; '.join(view.health), 300))}"] if view.health else []
