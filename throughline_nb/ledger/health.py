"""The checks behind the health line: what a reader of the ledger should know is not in order."""

from collections.abc import Mapping

import msgspec

from throughline_nb.ledger.model import Entry, Ledger, ids_in

QUESTION_TURNS = 10
"""Project turns after which an open question is named."""


class Trouble(msgspec.Struct, frozen=True):
    """One thing that is not in order.

    Attributes:
        id: The entry that it is about; empty where there is none.
        state: What is wrong, in a word or two.
        why: The same in a phrase; it may hold a ledger's text.
    """

    id: str
    state: str
    why: str


def troubles(ledger: Ledger, open_turns: Mapping[str, int]) -> tuple[Trouble, ...]:
    """What :func:`health` counts, entry by entry, the gravest first.

    Args:
        ledger: The ledger.
        open_turns: For how many project turns each open question has been open, by id.
    """
    standing = [entry for entry in ledger.findings if not entry.retracted]
    found = [trouble for entry in standing if (trouble := _finding(entry)) is not None]
    order = ("figures missing", "not read", "stale", "no source", "unverified")
    found.sort(key=lambda trouble: order.index(trouble.state))
    found += [
        Trouble(entry.id, "suspect", f"rests on {entry.suspect}")
        for entry in ledger.decisions
        if entry.suspect
    ]
    found += [
        Trouble(phrase.split(" ")[0], "waiting", phrase.partition(" ")[2])
        for phrase in _questions(ledger, open_turns)
    ]
    found += [Trouble(ids_in(p)[0] if ids_in(p) else "", "plan", p) for p in _steps(ledger)]
    return tuple(found)


def _finding(entry: Entry) -> Trouble | None:
    if entry.missing:
        return Trouble(entry.id, "figures missing", f"{entry.missing} is not in its source")
    if entry.state == "not read":
        return Trouble(entry.id, entry.state, "cited, but no chat opened it")
    if entry.state == "stale":
        return Trouble(entry.id, entry.state, entry.reason or "its cell gave another output")
    if not entry.source:
        return Trouble(entry.id, "no source", "has no source")
    if entry.state == "unverified":
        return Trouble(entry.id, entry.state, "not yet verified")
    return None


def health(ledger: Ledger, open_turns: Mapping[str, int]) -> tuple[str, ...]:
    """What is not in order, one phrase each; empty when all is well.

    Args:
        ledger: The ledger.
        open_turns: For how many project turns each open question has been open, by id.
    """
    standing = [entry for entry in ledger.findings if not entry.retracted]
    sourced = [entry for entry in standing if entry.source]
    phrases = [
        _count([e for e in sourced if e.state == "unverified"], "not yet verified"),
        _count([e for e in sourced if e.state == "not read"], "whose source was not read"),
        _count([e for e in standing if e.state == "stale"], "stale"),
        _count([e for e in standing if not e.source], "without a source"),
        *(f"{e.id}: {e.missing} not in its source" for e in standing if e.missing),
        *_steps(ledger),
        *_questions(ledger, open_turns),
        *(f"{e.id} is suspect: {e.suspect}" for e in ledger.decisions if e.suspect),
    ]
    return tuple(phrase for phrase in phrases if phrase)


def recorded_during(ledger: Ledger, step: str) -> bool:
    """Whether an entry was recorded while this step was in hand."""
    return any(entry.step == step for entry in ledger.entries())


def _count(entries: list[Entry], what: str) -> str:
    return f"{len(entries)} finding{'s' * (len(entries) != 1)} {what}" if entries else ""


def _steps(ledger: Ledger) -> list[str]:
    doing = [step.id for step in ledger.plan if step.status == "doing"]
    phrases = []
    if len(doing) > 1:
        phrases.append(f"{len(doing)} steps in hand at once: {', '.join(doing)}")
    if not doing and any(step.status == "todo" for step in ledger.plan):
        phrases.append("no step is in hand")
    finished = [step for step in ledger.plan if step.status == "done" and not step.note]
    if finished:
        used = {entry.step for entry in ledger.entries()}
        empty = [step.id for step in finished if step.id not in used]
        if empty:
            phrases.append(f"{', '.join(empty)} done with nothing recorded")
    return phrases


def _questions(ledger: Ledger, open_turns: Mapping[str, int]) -> list[str]:
    return [
        f"{entry.id} open for {open_turns[entry.id]} turns"
        for entry in ledger.questions
        if not entry.answer and open_turns.get(entry.id, 0) > QUESTION_TURNS
    ]
