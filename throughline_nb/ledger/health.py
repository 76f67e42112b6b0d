"""The checks behind the health line: what a reader of the ledger should know is not in order."""

from collections.abc import Mapping

from throughline_nb.ledger.model import Entry, Ledger

QUESTION_TURNS = 10
"""Project turns after which an open question is named."""


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
