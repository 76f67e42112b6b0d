"""Merging one entry by field, and the state of a finding that a merge changed."""

import re
from collections.abc import Callable
from typing import Final, Literal, TypeVar

import msgspec

from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.model import ENGINE_FIELDS, Entry
from throughline_nb.ledger.sources import first_state

Preferred = Literal["ours", "theirs"]
Prefer = Preferred | Callable[[str, str], Preferred]
"""The side that stands, or what says it for an id (``Goal``, ``Plan``, ``Notes``) and a field."""

T = TypeVar("T")
MergeText = Callable[[str, str, str], str | None]

RUNNING: Final = frozenset({"note", "reason"})
"""Fields of running text, merged by ``merge_text``."""

QUIET: Final = frozenset({"was", "suspect", "missing", *ENGINE_FIELDS})
"""Fields that the engine fills or computes: a conflict there is nobody's loss."""

_SUBSTANCE: Final = ("text", "status", "source", "reason", "because", "answer", "note")
_STRENGTH: Final = ("", "unverified", "not read", "verified", "stale", "retracted")
_QUOTED: Final = 300
"""Characters of a text that was not taken, as a notice quotes it."""


class Merger:
    """Decides between two values of one thing, and collects what a person should know.

    Args:
        prefer: Side that stands on a conflict, or what says it.
        merge_text: Merger of running text, or None.
    """

    def __init__(self, prefer: Prefer, merge_text: MergeText | None) -> None:
        self.prefer: Prefer = prefer
        self.merge_text = merge_text
        self.notices: list[str] = []

    def say(self, notice: str) -> None:
        """Add a notice."""
        self.notices.append(notice)

    def side(self, ident: str, field: str = "") -> Preferred:
        """The side that stands where both changed one thing."""
        return self.prefer if isinstance(self.prefer, str) else self.prefer(ident, field)

    def preferred(self, ours: T, theirs: T, ident: str, field: str = "") -> T:
        """The value of the preferred side."""
        return ours if self.side(ident, field) == "ours" else theirs

    def atomic(
        self, ident: str, field: str, base: str, ours: str, theirs: str, *, name: str = ""
    ) -> str:
        """Merge a value that is taken whole; a change stands against a deletion.

        Args:
            ident: Id of the entry, or what else it belongs to.
            field: The field.
            name: What it is, as a sentence begins; such as ``F12's text`` if empty.
            base: Value before.
            ours: Value on our side.
            theirs: Value on their side.
        """
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        kept = self.preferred(ours, theirs, ident, field) if ours and theirs else ours or theirs
        if loosely(ours) != loosely(theirs):
            lost = theirs if kept == ours else ours
            name = name or f"{ident}'s {field}"
            self.say(
                f"{name} was changed on both sides: kept “{clip(kept, _QUOTED)}”, not taken "
                + (f"“{clip(lost, _QUOTED)}”." if lost else "its deletion.")
            )
        return kept

    def running(
        self, ident: str, field: str, base: str, ours: str, theirs: str, *, name: str = ""
    ) -> str:
        """Merge running text by words, and as :meth:`atomic` where that conflicts.

        Args:
            ident: Id of the entry; of prose, which may have more than one line, its place.
            field: The field; empty for prose.
            name: What it is, as a sentence begins; as in :meth:`atomic` if empty.
            base: Text before.
            ours: Text on our side.
            theirs: Text on their side.
        """
        if theirs in (ours, base):
            return ours
        if ours == base:
            return theirs
        if ours and theirs and self.merge_text is not None:
            merged = self.merge_text(base, ours, theirs)
            if merged is not None:
                return " ".join(merged.split()) if field else merged.strip()
        return self.atomic(ident, field, base, ours, theirs, name=name)

    def entry(self, base: Entry, ours: Entry, theirs: Entry) -> Entry:
        """Merge one entry that stands on all three sides under one id."""
        if theirs in (ours, base):
            return reset_state(base, ours, (ours,))
        if ours == base:
            return reset_state(base, theirs, (theirs,))
        first, second = self.preferred((ours, theirs), (theirs, ours), base.id, "text")
        merged = reset_state(base, self._fields(base, ours, theirs), (first, second))
        if ours.retracted != theirs.retracted and merged.retracted and not base.retracted:
            changed = theirs if ours.retracted else ours
            if (changed.text, changed.source) != (base.text, base.source):
                self.say(
                    f"{base.id} was retracted on one side and changed on the other; "
                    "it stays retracted."
                )
        return merged

    def both_new(self, ours: Entry, theirs: Entry) -> Entry:
        """Merge what is one new entry, recorded on both sides."""
        if ours == theirs:
            return ours
        return self._fields(Entry(id=ours.id, text=""), ours, theirs)

    def _fields(self, base: Entry, ours: Entry, theirs: Entry) -> Entry:
        ident = ours.id
        text = self.atomic(ident, "text", base.text, ours.text, theirs.text)
        writer = ours if text == ours.text else theirs
        if text == base.text or ours.text == theirs.text:
            writer = self.preferred(ours, theirs, ident, "text")
        values = {"id": ident, "text": text}
        for name in ours.section.fields:
            old: str = getattr(base, name)
            our: str = getattr(ours, name)
            their: str = getattr(theirs, name)
            if their in (our, old):
                value = our
            elif our == old:
                value = their
            elif name in RUNNING:
                value = self.running(ident, name, old, our, their)
            elif name == "because":
                value = _ids(old, *self.preferred((our, their), (their, our), ident, name))
            elif name == "state":
                value = max(our, their, key=_strength)
            elif name in QUIET:
                value = getattr(writer, name)
            else:
                value = self.atomic(ident, name, old, our, their)
            values[name] = value
        if "state" in values and "missing" in values:
            values["missing"] = _missing(values["state"], base, ours, theirs, values["missing"])
        return Entry(**values)


def edited(base: Entry, entry: Entry) -> bool:
    """Whether somebody changed ``entry``, which is more than the engine's upkeep of it.

    A deletion stands against upkeep (a source that was verified), not against an edit.
    """
    if base is entry or base == entry:
        return False
    return base.retracted != entry.retracted or any(
        getattr(base, name) != getattr(entry, name) for name in _SUBSTANCE
    )


def reset_state(base: Entry, merged: Entry, sides: tuple[Entry, ...]) -> Entry:
    """Make a finding whose text or source changed since ``base`` unverified again.

    Unless a side that says just this already has a state for it: one whose state, missing figures
    or origin moved on with the text, as the engine's own records and checks do.

    Args:
        base: The finding before.
        merged: The finding after, as merged by field.
        sides: The sides that it was merged from, the preferred first.
    """
    claim = (merged.text, merged.source)
    if merged is base or merged.id[0] != "F" or claim == (base.text, base.source):
        return merged
    if merged.retracted:
        return merged
    for side in sides:
        if (side.text, side.source) == claim and _moved_on(base, side):
            state, missing = side.state, side.missing
            break
    else:
        state, missing = first_state(merged.source) if merged.state else "", ""
    return msgspec.structs.replace(merged, state=state, missing=missing)


def _moved_on(base: Entry, side: Entry) -> bool:
    return (
        side.state != base.state
        or side.missing != base.missing
        or (side.origin not in ("", base.origin))
        or (side.added not in ("", base.added))
    )


def _strength(state: str) -> int:
    return _STRENGTH.index(state) if state in _STRENGTH else len(_STRENGTH)


def _missing(state: str, base: Entry, ours: Entry, theirs: Entry, merged: str) -> str:
    """The missing figures that belong to the state where both sides checked."""
    if ours.state == theirs.state or base.state in (ours.state, theirs.state):
        return merged
    return ours.missing if state == ours.state else theirs.missing


def _ids(base: str, first: str, second: str) -> str:
    """Merge lists of ids as sets: what a side removed goes, what a side added comes."""
    before, one, two = (
        [part for part in re.split(r"[,\s]+", text) if part] for text in (base, first, second)
    )
    kept = [ident for ident in before if ident in one and ident in two]
    added = [ident for ident in (*one, *two) if ident not in before]
    return ", ".join(dict.fromkeys((*kept, *added)))
