"""What commands show a person: status, list of projects, log and diff, as plain lines."""

import difflib
import re
import time
from collections.abc import Iterator, Sequence

from throughline_nb.ledger.delta import Change, changes, clip
from throughline_nb.ledger.digest import shown_entry
from throughline_nb.ledger.fence import neutral
from throughline_nb.ledger.model import LABELS, Entry, Ledger
from throughline_nb.store.records import Record

BOXES = {"done": "[x]", "doing": "[>]", "blocked": "[!]", "todo": "[ ]"}
LATEST = 8
"""Findings and decisions that the status shows; ``ledger.md`` has all of them."""


def status(ledger: Ledger, version: str, health: Sequence[str]) -> str:
    """The whole position of a project, for a person."""
    done = sum(step.status == "done" for step in ledger.plan)
    lines = [f"{ledger.project}, version {version}", f"Goal: {neutral(ledger.goal) or 'not set'}"]
    lines += _section("Constraints", [f"  {e.id} {neutral(e.text)}" for e in ledger.constraints])
    plan = [
        f"  {BOXES.get(e.status, '[ ]')} {e.id} {neutral(e.text)}"
        + (f" ({neutral(e.note)})" if e.note else "")
        for e in ledger.plan
    ]
    lines += _section(f"Plan, {done} of {len(plan)} done", plan)
    findings = [entry for entry in ledger.findings if not entry.retracted]
    lines += _latest("Findings", findings)
    lines += _latest("Decisions", ledger.decisions)
    lines += _latest("Open questions", [e for e in ledger.questions if not e.answer])
    waiting = [f"  {e.id} {neutral(e.text)}" for e in ledger.proposals]
    lines += _section("Proposals, yours to accept or reject", waiting)
    lines += _section("Health", [f"  {phrase}" for phrase in health])
    return "\n".join(lines)


def project_line(ledger: Ledger, chats: int, last: float | None) -> str:
    """One line for one project in a list."""
    done = sum(step.status == "done" for step in ledger.plan)
    parts = [neutral(clip(ledger.goal, 100)) or "no goal yet"]
    if ledger.plan:
        parts.append(f"{done} of {len(ledger.plan)} steps done")
    parts.append(f"{len(ledger.findings)} finding{'s' * (len(ledger.findings) != 1)}")
    parts.append(f"{chats} chat{'s' * (chats != 1)}")
    if last is not None:
        parts.append(f"changed {moment(last)}")
    return f"{ledger.project}: {'; '.join(parts)}"


def log(records: Sequence[Record]) -> str:
    """One line a change, newest first: version, time, who, what."""
    if not records:
        return "No changes yet."
    wide = max(len(record.version) for record in records)
    return "\n".join(_record(record, wide) for record in records)


def _record(record: Record, wide: int) -> str:
    where = f" · turn {record.turn} of {record.chat}" if record.chat and record.turn else ""
    who = f"{record.actor:6}"
    return (
        f"{record.version:{wide}}  {moment(record.time)}  {who}  {neutral(record.subject)}{where}"
    )


def diff(before: Ledger, after: Ledger) -> str:
    """What differs, entry by entry, with removed words in ``[-…-]`` and added ones in ``{+…+}``."""
    found = changes(before, after)
    return "\n".join(line for change in found for line in _changed(change, before, after))


def _changed(change: Change, before: Ledger, after: Ledger) -> Iterator[str]:
    if change.name == "Goal":
        yield f"Goal: {neutral(words(before.goal, after.goal))}"
        return
    old, new = before.get(change.name), after.get(change.name)
    if old is None and new is None:
        yield f"{change.name} {change.what}"
    elif old is None and new is not None:
        yield f"+ {shown_entry(new, 1000)}"
    elif new is None and old is not None:
        yield f"- {shown_entry(old, 1000)}"
    elif old is not None and new is not None:
        yield f"~ {change.name}. {neutral(words(old.text, new.text))}"
        yield from (f"    {line}" for line in _fields(change.fields, old, new))


def _fields(fields: Sequence[str], old: Entry, new: Entry) -> Iterator[str]:
    for name in fields:
        if name != "text":
            marked = words(getattr(old, name), getattr(new, name))
            yield f"{LABELS.get(name, name)}: {neutral(marked)}"


def words(old: str, new: str) -> str:
    """``new`` with what changed marked word by word, as ``git diff --word-diff`` does."""
    if old == new:
        return new
    left, right = re.findall(r"\S+", old), re.findall(r"\S+", new)
    parts: list[str] = []
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(" ".join(left[a:b]))
            continue
        if a < b:
            parts.append(f"[-{' '.join(left[a:b])}-]")
        if c < d:
            parts.append(f"{{+{' '.join(right[c:d])}+}}")
    return " ".join(parts)


def moment(seconds: float) -> str:
    """A time for a person, in their own zone: ``2026-10-17 12:04``."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _latest(title: str, entries: Sequence[Entry]) -> list[str]:
    hidden = len(entries) - LATEST
    heading = f"{title}, the latest {LATEST} of {len(entries)}" if hidden > 0 else title
    return _section(heading, [f"  {shown_entry(entry, 400)}" for entry in entries[-LATEST:]])


def _section(title: str, lines: Sequence[str]) -> list[str]:
    return [f"{title}:", *lines] if lines else []
