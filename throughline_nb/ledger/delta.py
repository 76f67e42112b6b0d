"""What changed between two ledgers: as records, as a sentence, and as a short summary."""

from collections.abc import Iterable, Sequence

import msgspec

from throughline_nb.ledger.model import SECTIONS, Entry, Ledger, is_id

SENTENCE_CHARACTERS = 100
"""Where the text in a sentence is cut, so that a commit's subject stays one line."""


RUN = 3
"""Ids in a row that a summary draws together."""


class Change(msgspec.Struct, frozen=True):
    """One change.

    Attributes:
        what: ``added``, ``changed``, ``removed``, ``retracted``, ``answered``, ``reordered``, or a
            step's new status.
        name: The id, ``Goal``, ``Notes``, ``Front matter``, or a section's title.
        text: What it says now, or why; may be empty.
        fields: Names of the fields that differ, for an entry that stands on both sides.
    """

    what: str
    name: str
    text: str = ""
    fields: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """As a commit's subject: ``F12 added: llama.cpp defaults to 4,096 tokens``."""
        return f"{self.name} {self.what}" + (f": {clip(self.text)}" if self.text else "")


def stated(text: str) -> str:
    """``text`` closed like a sentence."""
    return text if text.endswith((".", "!", "?", "…", "。")) else f"{text}."


def clip(text: str, characters: int = SENTENCE_CHARACTERS) -> str:
    """``text`` cut at a word to at most ``characters``, with an ellipsis where it was cut."""
    if len(text) <= characters:
        return text
    cut = text[: characters - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[characters // 2 :] else cut) + "…"


def changes(before: Ledger, after: Ledger) -> tuple[Change, ...]:
    """Everything that differs, in the order of the file."""
    if before == after:
        return ()
    found: list[Change] = []
    if before.goal != after.goal:
        what = "removed" if not after.goal else "changed" if before.goal else "set"
        found.append(Change(what, "Goal", after.goal))
    for section in SECTIONS:
        old = before.list(section.attr)
        new = after.list(section.attr)
        if old is not new and old != new:
            found += _entries(old, new, section.title)
    if before.prose != after.prose:
        found.append(Change("changed", "Notes"))
    if before.meta != after.meta:
        found.append(Change("changed", "Front matter"))
    return tuple(found)


def summary(found: Iterable[Change]) -> str:
    """Short, grouped by what happened: ``F12, F13 added; S1 to S7 done``."""
    groups: dict[str, list[str]] = {}
    for change in found:
        groups.setdefault(change.what, []).append(change.name)
    return "; ".join(f"{', '.join(_runs(names))} {what}" for what, names in groups.items())


def _runs(names: Sequence[str]) -> Iterable[str]:
    """Names with three or more ids that follow each other drawn together: ``S1 to S7``."""
    run: list[str] = []
    for name in [*names, ""]:
        if run and is_id(name) and is_id(run[-1]) and _follows(name, run[-1]):
            run.append(name)
            continue
        yield from run if len(run) < RUN else [f"{run[0]} to {run[-1]}"]
        run = [name] if name else []


def _follows(name: str, before: str) -> bool:
    return name[0] == before[0] and int(name[1:]) == int(before[1:]) + 1


def sentence(found: Sequence[Change]) -> str:
    """One sentence for all: the only change's own, else the summary; empty for none."""
    if len(found) == 1:
        return found[0].sentence
    return clip(summary(found))


def _entries(old: Sequence[Entry], new: Sequence[Entry], title: str) -> Iterable[Change]:
    was = {entry.id: entry for entry in old}
    now = {entry.id: entry for entry in new}
    for ident, entry in now.items():
        base = was.get(ident)
        if base is None:
            yield Change("added", ident, entry.text)
        elif base != entry:
            yield _changed(base, entry)
    for ident, base in was.items():
        if ident not in now:
            yield Change("removed", ident, base.text)
    kept_old = [ident for ident in was if ident in now]
    kept_new = [ident for ident in now if ident in was]
    if kept_old != kept_new:
        yield Change("reordered", title)


def _changed(base: Entry, entry: Entry) -> Change:
    fields = tuple(
        name for name in Entry.__struct_fields__ if getattr(base, name) != getattr(entry, name)
    )
    if "status" in fields and "text" not in fields:
        return Change(entry.status, entry.id, entry.note if "note" in fields else "", fields)
    if entry.retracted and not base.retracted:
        return Change("retracted", entry.id, entry.reason, fields)
    if entry.answer and not base.answer:
        return Change("answered", entry.id, entry.answer, fields)
    if fields == ("suspect",):
        what = "suspect" if entry.suspect else "confirmed"
        return Change(what, entry.id, entry.suspect, fields)
    if "text" not in fields and fields == ("state",):
        return Change(entry.state, entry.id, "", fields)
    return Change("changed", entry.id, _new(entry, fields), fields)


def _new(entry: Entry, fields: Sequence[str]) -> str:
    """The text where it changed, else the first other field that a person would name."""
    if "text" in fields:
        return entry.text
    named = ("source", "reason", "because", "answer", "note")
    changed = next((name for name in named if name in fields), "")
    return f"{changed} {getattr(entry, changed) or 'removed'}" if changed else ""
