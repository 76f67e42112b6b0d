"""Turn what stands in a file into a ledger, in the light of the one that it was written from.

Ids are given out here, deletions are told from what is merely missing, and order is restored;
:mod:`settle_entry` reads each entry, :mod:`settle_prose` what a person wrote between them.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from throughline_nb.ledger.drafts import Draft, Raw
from throughline_nb.ledger.front import RESERVED, Front
from throughline_nb.ledger.inline import escape
from throughline_nb.ledger.loosely import equal, spelled
from throughline_nb.ledger.loosely import key as loose_key
from throughline_nb.ledger.mangled import certainly_dropped, dropped
from throughline_nb.ledger.mend import cut_off_prose, join_broken, split_fields, split_joined
from throughline_nb.ledger.model import (
    BY_ATTR,
    BY_LETTER,
    SECTIONS,
    Entry,
    Ledger,
)
from throughline_nb.ledger.settle_entry import Settled, read_value, settle_entry, settle_new
from throughline_nb.ledger.settle_prose import is_formula, settle_prose

_EMPTY: Final = Ledger()
_DROPPED_TAGS: Final = 2
"""Values without their HTML from which on it was the editor that dropped it, not the person."""


class Settling:
    """One reading under way.

    Args:
        found: What stands in the file.
        base: The ledger that the file was written from, or None.
        front: Its front matter.
        numbers: Next free numbers by letter, as the last line has them.
        complete: Whether the last line stands.
    """

    def __init__(
        self,
        found: Draft,
        base: Ledger | None,
        front: Front,
        numbers: Mapping[str, int],
        *,
        complete: bool,
    ) -> None:
        self.found = found
        self.base = base or _EMPTY
        self.has_base = base is not None
        self.front = front
        self.complete = complete
        self.notices: list[str] = []
        self.at_base = {entry.id: entry for entry in self.base.entries()}
        self.next = {
            section.letter: max(free, numbers.get(section.letter, 1))
            for section, free in zip(SECTIONS, self.base.next, strict=True)
        }
        for entry in self.at_base:
            self._used(entry)
        self.ids: list[str] = []
        self.settled: dict[str, Entry] = {}
        self.removed: set[str] = set()

    def run(self) -> Ledger:
        """Settle everything."""
        if self.has_base:
            split_joined(self.found, self.base)
        self._give_ids()
        if self.has_base:
            if self.base.prose:
                cut_off_prose(self.found, self.ids, self.base)
            join_broken(self.found, self.ids, self.base)
            split_fields(self.found, self.base)
        self._entries()
        self._dropped_tags()
        kept = self._kept_back()
        lists: dict[str, list[Entry]] = {section.attr: [] for section in SECTIONS}
        for ident in dict.fromkeys(self.ids):
            entry = self.settled.get(ident)
            if entry is not None:
                lists[entry.section.attr].append(entry)
        for attr, entries in lists.items():
            back = [entry for entry in kept if entry.section.attr == attr]
            if attr == "plan":
                _insert(entries, back, self.base.plan)
            else:
                entries.extend(back)
                entries.sort(key=lambda entry: entry.number)
        fields: dict[str, Any] = {
            attr: self._same_tuple(attr, tuple(entries)) for attr, entries in lists.items()
        }
        ledger = Ledger(
            project=self._project(),
            goal=self._goal(),
            meta=self._meta(),
            next=tuple(self.next.values()),
            **fields,
        )
        tail = not self.complete and self.has_base
        prose = settle_prose(
            self.found, self.ids, ledger, self.base, present=self._last_place() if tail else None
        )
        return msgspec.structs.replace(ledger, prose=prose)

    def _used(self, ident: str) -> None:
        letter = ident[0]
        self.next[letter] = max(self.next[letter], int(ident[1:]) + 1)

    def _fresh(self, letter: str) -> str:
        ident = f"{letter}{self.next[letter]}"
        self.next[letter] += 1
        return ident

    def _give_ids(self) -> None:
        """Decide which entry each bullet is; new ones get their ids last, above all others."""
        bold = {raw.ident for raw in self.found.entries if raw.ident and not raw.bare}
        taken: set[str] = set()
        owners: list[str] = []
        for raw in self.found.entries:
            ident = raw.ident
            if raw.bare and (ident in bold or (self.has_base and ident not in self.at_base)):
                ident = ""
            if ident in taken:
                ident = ""
            if ident:
                taken.add(ident)
                self._used(ident)
            owners.append(ident)
        for index, raw in enumerate(self.found.entries):
            if not owners[index] and not raw.ident:
                owners[index] = self._lost_id(raw, taken)
        for index, raw in enumerate(self.found.entries):
            if owners[index]:
                continue
            letter = BY_ATTR[raw.attr].letter  # type: ignore[index]
            if raw.ident and not raw.bare:
                letter = raw.ident[0]
            owners[index] = self._fresh(letter)
        self.ids = owners

    def _lost_id(self, raw: Raw, taken: set[str]) -> str:
        """The id of the entry that says the same and is nowhere else in the file, or empty."""
        text = read_value(raw.text)
        for entry in self.base.list(raw.attr):  # type: ignore[arg-type]
            if entry.id not in taken and text and equal(entry.text, text):
                taken.add(entry.id)
                return entry.id
        return ""

    def _entries(self) -> None:
        last = len(self.found.entries) - 1
        for index, (raw, ident) in enumerate(zip(self.found.entries, self.ids, strict=True)):
            before = self.at_base.get(ident)
            is_new = ident not in self.at_base and raw.ident != ident
            if raw.ident == ident or not is_new:
                cut_off = not self.complete and index == last
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

    def _order(self) -> list[str]:
        """Places of the base in the order of its file."""
        places = ["goal"]
        for section in SECTIONS:
            places.append(section.attr)
            places += (entry.id for entry in self.base.list(section.attr))
        return [*places, "notes"]

    def _last_place(self) -> str:
        """The last place of the base that stands in the file."""
        standing = {*self.found.sections, *self.ids}
        return next((place for place in reversed(self._order()) if place in standing), "goal")

    def _kept_back(self) -> list[Entry]:
        """Entries that are absent only since the end of the file is missing."""
        if self.complete or not self.has_base:
            return []
        order = self._order()
        behind = order[order.index(self._last_place()) + 1 :]
        absent = [
            self.at_base[place]
            for place in behind
            if place in self.at_base and place not in self.settled and place not in self.removed
        ]
        if absent:
            names = absent[0].id if len(absent) == 1 else f"{absent[0].id} to {absent[-1].id}"
            self.notices.append(
                f"The end of the file is missing, so {names} stayed as before; "
                "to delete an entry, keep the file's last line."
            )
        return absent

    def _project(self) -> str:
        named = self.front.get("project")
        if named is None:
            return self.base.project if self.has_base else self.found.title
        return _respelled(self.base.project, named)

    def _goal(self) -> str:
        goal = self.found.goal
        if goal is None:
            if self.base.goal:
                self.notices.append("The heading Goal is missing; the goal stayed as before.")
            return self.base.goal
        text = read_value(goal)
        cut_off = not self.complete and self._last_place() == "goal"
        if cut_off and self.base.goal.startswith(text):
            return self.base.goal
        return spelled(self.base.goal, text)

    def _meta(self) -> tuple[tuple[str, str], ...]:
        ours = self.front.get("throughline") is not None
        if not self.front.found or (self.has_base and not ours):
            return self.base.meta
        before = dict(self.base.meta)
        names = {loose_key(_unquoted(key)): key for key in before}
        found = {
            key if key in before else names.get(loose_key(_unquoted(key)), key): value
            for key, value in self.front.pairs
            if key not in RESERVED
        }
        order = [key for key in before if key in found]
        return tuple(
            (key, _respelled(before.get(key, ""), found[key]))
            for key in dict.fromkeys([*order, *found])
        )

    def _same_tuple(self, attr: str, entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
        before = self.base.list(attr)  # type: ignore[arg-type]
        return before if entries == before else entries


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
        found: What stands in the file.
        base: The ledger that the file was written from, or None.
        front: Its front matter.
        numbers: Next free numbers by letter, as the last line has them.
        complete: Whether the last line stands.
    """
    settling = Settling(found, base, front, numbers, complete=complete)
    ledger = settling.run()
    return (base if base is not None and ledger == base else ledger), tuple(settling.notices)


def _respelled(before: str, value: str) -> str:
    """A value of the front matter; smart quotes around it are YAML's own, made typographic."""
    if before and (equal(before, _unquoted(value)) or _same_number(before, value)):
        return before
    return spelled(before, value)


def _same_number(before: str, value: str) -> bool:
    """Whether ``0123`` or ``1.10`` was written as the number that YAML takes it for."""
    try:
        return float(before) == float(value)
    except ValueError:
        return False


def _unquoted(value: str) -> str:
    return value.strip("“”‘’")


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
