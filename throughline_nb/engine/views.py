"""What commands show a person: status, list of projects, log and diff, as plain lines."""

import datetime as dt
import difflib
import re
import textwrap
import time
from collections.abc import Iterator, Sequence

from throughline_nb.ledger.delta import Change, changes, clip, stated
from throughline_nb.ledger.digest import shown_entry
from throughline_nb.ledger.fence import neutral
from throughline_nb.ledger.model import LABELS, Entry, Ledger
from throughline_nb.store.records import Record

BOXES = {"done": "[x]", "doing": "[>]", "blocked": "[!]", "todo": "[ ]"}
WIDTH = 98
"""Columns of a line; a terminal of 100 shows it without a break."""

CONTEXT = 8
"""Unchanged words that a diff shows beside a changed one."""

UNSAID = ("step", "by", "added")
"""Fields that the engine fills, and that a reader of a diff does not look for."""

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


def log(records: Sequence[Record], now: float | None = None, here: str = "") -> str:
    """The changes by day, newest first: time, version, who, what, and in which chat and turn.

    Args:
        records: The changes.
        now: Time in seconds since the epoch, for ``today`` and ``yesterday``.
        here: The chat that asks, which is named as this one.
    """
    if not records:
        return "No changes yet."
    wide = max(len(record.version) for record in records)
    lines: list[str] = []
    day = ""
    for record in records:
        its = _day(record.time, now)
        if its != day:
            lines += [*([""] if lines else []), its]
            day = its
        lines += _record(record, wide, here)
    return "\n".join(lines)


def _record(record: Record, wide: int, here: str) -> list[str]:
    clock = time.strftime("%H:%M", time.localtime(record.time))
    lead = f"  {clock}  {record.version:{wide}}  {record.actor:6}  "
    chat = "this chat" if record.chat == here and here else clip(neutral(record.chat), 40)
    where = f" (turn {record.turn} of {chat})" if record.chat and record.turn else ""
    return _wrapped(f"{stated(neutral(record.subject))}{where}", lead, " " * len(lead))


def _day(seconds: float, now: float | None) -> str:
    at = time.localtime(seconds)
    day = time.strftime("%Y-%m-%d", at)
    name = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")[
        at.tm_wday
    ]
    for word, back in (("today", 0), ("yesterday", 1)):
        if now is not None:
            today = dt.datetime.fromtimestamp(now, dt.UTC).astimezone().date()
            if day == (today - dt.timedelta(days=back)).isoformat():
                return f"{day}, {name}, {word}"
    return f"{day}, {name}"


def _wrapped(text: str, first: str, other: str) -> list[str]:
    """Text in lines of at most :data:`WIDTH` columns; a long word is not cut."""
    return textwrap.wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=other,
        break_on_hyphens=False, break_long_words=False,
    ) or [first.rstrip()]  # fmt: skip


def diff(before: Ledger, after: Ledger) -> str:
    """What differs, entry by entry, with removed words in ``[-…-]`` and added ones in ``{+…+}``."""
    found = changes(before, after)
    return "\n".join(line for change in found for line in _changed(change, before, after))


def _changed(change: Change, before: Ledger, after: Ledger) -> Iterator[str]:
    old, new = before.get(change.name), after.get(change.name)
    if change.name == "Goal":
        yield from _wrapped(neutral(words(before.goal, after.goal)), "~ Goal: ", "    ")
    elif change.name == "Notes":
        yield "~ Notes changed:"
        yield from _notes(before, after)
    elif old is None and new is None:
        yield f"~ {change.name} {change.what}."
    elif old is None and new is not None:
        yield from _alone("+", new, "added")
    elif new is None and old is not None:
        yield from _alone("-", old, "removed")
    elif old is not None and new is not None:
        said = shortened(words(old.text, new.text)) if old.text != new.text else clip(new.text, 80)
        yield from _wrapped(f"{change.what}: {neutral(said)}", f"~ {change.name} ", "    ")
        for name in change.fields:
            if name != "text" and name not in UNSAID:
                marked = shortened(words(getattr(old, name), getattr(new, name)))
                yield from _wrapped(neutral(marked), f"    {LABELS.get(name, name)}: ", "      ")


def _alone(sign: str, entry: Entry, what: str) -> Iterator[str]:
    """An entry that stands on one side only, with its fields named."""
    yield from _wrapped(f"{what}: {neutral(entry.text)}", f"{sign} {entry.id} ", "    ")
    for name in entry.section.fields:
        if name not in UNSAID and (value := getattr(entry, name)):
            yield from _wrapped(neutral(value), f"    {LABELS.get(name, name)}: ", "      ")


def _notes(before: Ledger, after: Ledger) -> Iterator[str]:
    was, now = (
        [line for p in each.prose for line in p.text.splitlines()] for each in (before, after)
    )
    for tag, a, b, c, d in difflib.SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if tag != "equal":
            for line in (*(f"-{line}" for line in was[a:b]), *(f"+{line}" for line in now[c:d])):
                yield from _wrapped(neutral(line), "    ", "      ")


def shortened(marked: str) -> str:
    """A marked text whose long unchanged stretches are cut to the words beside the marks."""
    parts = re.split(r"(\[-.*?-\]|\{\+.*?\+\})", marked)
    if len(parts) == 1:
        return marked
    for at in range(0, len(parts), 2):
        said = parts[at].split(" ")
        left = CONTEXT if at else 0
        right = CONTEXT if at < len(parts) - 1 else 0
        if len(said) > left + right + CONTEXT:
            parts[at] = " ".join([*said[:left], "…", *said[len(said) - right :]])
    return "".join(parts)


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
