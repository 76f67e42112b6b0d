"""Turn what stands in a file into a ledger, in the light of the one that it was written from.

In steps, a module each: :mod:`mend` restores shapes that editors broke, :mod:`settle_ids` says
which entry each bullet is, :mod:`settle_entry` reads each, :mod:`settle_absent` tells what was
deleted from what is merely missing, :mod:`settle_front` and :mod:`settle_prose` read the rest.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from throughline_nb.ledger.drafts import Draft, Raw
from throughline_nb.ledger.front import Front
from throughline_nb.ledger.inline import escape
from throughline_nb.ledger.loosely import spelled
from throughline_nb.ledger.mangled import certainly_dropped, dropped
from throughline_nb.ledger.mend import cut_off_prose, join_broken, split_fields, split_joined
from throughline_nb.ledger.model import BY_ATTR, BY_LETTER, SECTIONS, Entry, Ledger
from throughline_nb.ledger.settle_absent import keep_back, last_place
from throughline_nb.ledger.settle_entry import Settled, read_value, settle_entry, settle_new
from throughline_nb.ledger.settle_front import settle_meta, settle_project
from throughline_nb.ledger.settle_ids import give_ids
from throughline_nb.ledger.settle_prose import is_formula, settle_prose

_EMPTY: Final = Ledger()
_DROPPED_TAGS: Final = 2
"""Values without their HTML from which on it was the editor that dropped it, not the person."""


def settle(
    found: Draft,
    base: Ledger | None,
    front: Front,
    numbers: Mapping[str, int],
    *,
    complete: bool,
) -> tuple[Ledger, tuple[str, ...]]:
    """The ledger that the file means, and one notice for each thing that a person should know.

    Args:
        found: What stands in the file; it is mended in place.
        base: The ledger that the file was written from, or None.
        front: Its front matter.
        numbers: Next free numbers by letter, as the last line has them.
        complete: Whether the last line stands.
    """
    if base is not None:
        split_joined(found, base)
    ids, following = give_ids(found, base, numbers)
    if base is not None:
        cut_off_prose(found, ids, base)
        join_broken(found, ids, base)
        split_fields(found, base)
    settling = _Settling(found, ids, base or _EMPTY, complete=complete or base is None)
    ledger = msgspec.structs.replace(
        settling.lists(),
        project=settle_project(front, found.title, base),
        goal=settling.goal(),
        meta=settle_meta(front, base),
        next=following,
    )
    prose = settle_prose(found, ids, ledger, base or _EMPTY, present=settling.last)
    ledger = msgspec.structs.replace(ledger, prose=prose)
    return (base if base is not None and ledger == base else ledger), tuple(settling.notices)


class _Settling:
    """The entries of one reading, and what was noticed.

    Args:
        found: What stands in the file.
        ids: The id of each bullet.
        base: The ledger that the file was written from, or an empty one.
        complete: Whether the file cannot be cut off.
    """

    def __init__(self, found: Draft, ids: list[str], base: Ledger, *, complete: bool) -> None:
        self.found = found
        self.ids = ids
        self.base = base
        self.last = None if complete else last_place(found, ids, base)
        self.notices: list[str] = []
        self.at_base = {entry.id: entry for entry in base.entries()}
        self.settled: dict[str, Entry] = {}
        self.removed: set[str] = set()

    def lists(self) -> Ledger:
        """A ledger of nothing but the entries, in order."""
        self._entries()
        self._dropped_tags()
        gone = self.at_base.keys() - self.settled.keys() - self.removed
        kept = keep_back(self.found, self.base, gone, self.last, self.notices)
        lists: dict[str, list[Entry]] = {section.attr: [] for section in SECTIONS}
        for entry in self.settled.values():
            lists[entry.section.attr].append(entry)
        for attr, entries in lists.items():
            back = [entry for entry in kept if entry.section.attr == attr]
            if attr == "plan":
                _insert(entries, back, self.base.plan)
            else:
                entries.extend(back)
                entries.sort(key=lambda entry: entry.number)
        fields: dict[str, Any] = {}
        for section in SECTIONS:
            before = self.base.list(section.attr)
            now = tuple(lists[section.attr])
            fields[section.attr] = before if now == before else now
        return Ledger(**fields)

    def goal(self) -> str:
        """The goal, in the spelling of the base."""
        if self.found.goal is None:
            if self.base.goal:
                self.notices.append("The heading Goal is missing; the goal stayed as before.")
            return self.base.goal
        text = read_value(self.found.goal)
        if self.last == "goal" and self.base.goal.startswith(text):
            return self.base.goal
        return spelled(self.base.goal, text)

    def _entries(self) -> None:
        last = len(self.found.entries) - 1
        for index, (raw, ident) in enumerate(zip(self.found.entries, self.ids, strict=True)):
            before = self.at_base.get(ident)
            is_new = ident not in self.at_base and raw.ident != ident
            if raw.ident == ident or not is_new:
                cut_off = self.last is not None and index == last
                result = settle_entry(raw, ident, before, cut_off=cut_off)
                self._moved(raw, ident)
            else:
                result = self._new(raw, ident)
            self.notices += result.notices
            if result.entry is None:
                self.removed.add(ident)
            else:
                self.settled[ident] = result.entry

    def _new(self, raw: Raw, ident: str) -> Settled:
        if raw.bare:
            raw = msgspec.structs.replace(raw, text=f"{raw.ident} {raw.text}")
        if raw.known is not None:
            raw = _as_raw(raw, raw.known)
        copied = bool(raw.ident) and not raw.bare
        if copied:
            self.notices.append(
                f"{raw.ident} stands twice; the first keeps the id, the second is now {ident}."
            )
        return settle_new(raw, ident, copied=copied)

    def _dropped_tags(self) -> None:
        """Bring back what an editor dropped that knows no HTML: it drops it everywhere."""
        restored: dict[str, dict[str, str]] = {}
        for ident, entry in self.settled.items():
            before = self.at_base.get(ident)
            if before is None or before is entry:
                continue
            for name in ("text", *entry.section.fields):
                old, new = getattr(before, name), getattr(entry, name)
                if old != new and dropped(old, new):
                    restored.setdefault(ident, {})[name] = old
        if not restored:
            return
        old_values = [value for values in restored.values() for value in values.values()]
        formulas = {
            ident
            for raw, ident in zip(self.found.entries, self.ids, strict=True)
            if any(is_formula(piece.text) for piece in self.found.prose if piece.behind is raw)
        }
        sure = any(map(certainly_dropped, old_values)) or not formulas.isdisjoint(restored)
        if len(old_values) < _DROPPED_TAGS and not sure:
            return
        for ident, values in restored.items():
            before = self.at_base[ident]
            if "text" in values:
                values["by"] = before.by
            entry = msgspec.structs.replace(self.settled[ident], **values)
            self.settled[ident] = before if entry == before else entry

    def _moved(self, raw: Raw, ident: str) -> None:
        section = BY_LETTER[ident[0]]
        if raw.attr != section.attr:
            here = BY_ATTR[raw.attr].title if raw.attr in BY_ATTR else "Notes"
            self.notices.append(f"{ident} stands under {here}; it stays a {section.kind}.")


def _as_raw(raw: Raw, entry: Entry) -> Raw:
    fields = {name: escape(getattr(entry, name)) for name in entry.section.fields}
    fields = {name: value for name, value in fields.items() if value}
    box = {"done": "x"}.get(entry.status, " ") if entry.kind == "step" else ""
    return msgspec.structs.replace(raw, known=None, text=escape(entry.text), fields=fields, box=box)


def _insert(entries: list[Entry], kept: list[Entry], order: tuple[Entry, ...]) -> None:
    """Put steps back behind the step that they stood behind."""
    for entry in kept:
        before = order[: [other.id for other in order].index(entry.id)]
        ids = [other.id for other in entries]
        at = next((ids.index(other.id) for other in reversed(before) if other.id in ids), -1)
        entries.insert(at + 1, entry)
