"""Entries that are new on both sides: which are one, which only share an id."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec

from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.model import SECTIONS, Attr, Entry, Ledger, Prose
from throughline_nb.ledger.sources import same_source

KeepsIds = Literal["ours", "theirs", "older"]

_REFERENCES: Final = ("because", "suspect", "step")
_ID: Final = re.compile(r"\b[CSFDQP][1-9][0-9]*\b")


class Apart(msgspec.Struct, frozen=True):
    """Two sides whose ids mean the same on both.

    Attributes:
        ours: Our side, renumbered where needed.
        theirs: Their side, renumbered where needed.
        next: The next free number of each section.
        notices: Which entries have a new id.
    """

    ours: Ledger
    theirs: Ledger
    next: tuple[int, ...]
    notices: tuple[str, ...] = ()


class _New(msgspec.Struct):
    """One new thing: as our side has it, as their side has it, and the id that it wants."""

    ours: Entry | None
    theirs: Entry | None
    wants: str

    def sides(self) -> list[Entry]:
        return [entry for entry in (self.ours, self.theirs) if entry is not None]


def tell_apart(
    base: Ledger, ours: Ledger, theirs: Ledger, keeps_ids: KeepsIds, free: tuple[int, ...]
) -> Apart:
    """Give every new entry an id of its own; the same new entry on both sides gets one.

    Args:
        base: What both sides started from.
        ours: Our side.
        theirs: Their side.
        keeps_ids: Who keeps an id that both sides gave away.
        free: The next free number of each section, above all three sides.
    """
    our_names: dict[str, str] = {}
    their_names: dict[str, str] = {}
    renumbered: set[str] = set()
    numbers = list(free)
    notices: list[str] = []
    for index, section in enumerate(SECTIONS):
        wanted: dict[str, list[_New]] = {}
        for thing in _new_things(base, ours, theirs, section.attr, keeps_ids):
            wanted.setdefault(thing.wants, []).append(thing)
        for ident in sorted(wanted, key=lambda ident: int(ident[1:])):
            rivals = sorted(wanted[ident], key=lambda thing: _claim(thing, keeps_ids))
            for rank, thing in enumerate(rivals):
                name = ident
                if rank:
                    name = f"{section.letter}{numbers[index]}"
                    numbers[index] += 1
                    renumbered.add(name)
                    text = clip(thing.sides()[0].text)
                    notices.append(f"Two new entries had the id {ident}; {name} is now: {text}")
                if thing.ours is not None and thing.ours.id != name:
                    our_names[thing.ours.id] = name
                if thing.theirs is not None and thing.theirs.id != name:
                    their_names[thing.theirs.id] = name
    return Apart(
        _renamed(ours, base, our_names, renumbered),
        _renamed(theirs, base, their_names, renumbered),
        tuple(numbers),
        tuple(notices),
    )


def renumbered(ledger: Ledger, names: Mapping[str, str]) -> Ledger:
    """A ledger with new ids for some entries, and with the references to them.

    Args:
        ledger: The ledger.
        names: New ids by old ones.
    """
    return _renamed(ledger, Ledger(), names, names.values())


def _new_things(
    base: Ledger, ours: Ledger, theirs: Ledger, attr: Attr, keeps_ids: KeepsIds
) -> list[_New]:
    """The entries that are new on a side, paired where both sides recorded one thing."""
    old, our, their = base.list(attr), ours.list(attr), theirs.list(attr)
    if our == their or old in (our, their):
        return []
    known = {entry.id for entry in old}
    new_ours = {entry.id: entry for entry in our if entry.id not in known}
    new_theirs = {entry.id: entry for entry in their if entry.id not in known}
    if not new_ours or not new_theirs:
        return []
    pairs = [
        (new_ours.pop(ident), new_theirs.pop(ident))
        for ident in list(new_ours)
        if ident in new_theirs and _same(new_ours[ident], new_theirs[ident])
    ]
    by_text: dict[str, list[Entry]] = {}
    for entry in new_theirs.values():
        by_text.setdefault(loosely(entry.text), []).append(entry)
    for entry in list(new_ours.values()):
        twins = by_text.get(loosely(entry.text), [])
        twin = next((other for other in twins if _same(entry, other)), None)
        if twin is not None:
            twins.remove(twin)
            pairs.append((new_ours.pop(entry.id), new_theirs.pop(twin.id)))
    things = [_New(one, two, _keeper(one, two, keeps_ids).id) for one, two in pairs]
    things += [_New(entry, None, entry.id) for entry in new_ours.values()]
    things += [_New(None, entry, entry.id) for entry in new_theirs.values()]
    return things


def _same(one: Entry, other: Entry) -> bool:
    """Whether two new entries are one thing; after a retraction a claim is a new one."""
    if one.text != other.text and loosely(one.text) != loosely(other.text):
        return False
    if one.source and other.source and not same_source(one.source, other.source):
        return False
    return one.retracted == other.retracted or (one.added, one.origin) == (
        other.added,
        other.origin,
    )


def _age(entry: Entry) -> tuple[bool, str, str, str]:
    return (entry.added == "", entry.added, entry.text, repr(entry))


def _keeper(ours: Entry, theirs: Entry, keeps_ids: KeepsIds) -> Entry:
    if keeps_ids == "older":
        return min(ours, theirs, key=_age)
    return ours if keeps_ids == "ours" else theirs


def _claim(thing: _New, keeps_ids: KeepsIds) -> tuple[bool, tuple[bool, str, str, str]]:
    """Sorts the rivals for one id; the first keeps it."""
    holder = {"ours": thing.ours, "theirs": thing.theirs, "older": None}[keeps_ids]
    return (holder is None, min(map(_age, thing.sides())))


def _renamed(
    side: Ledger, base: Ledger, names: Mapping[str, str], renumbered: Iterable[str]
) -> Ledger:
    """``side`` with new ids, and with references to them in what the side itself wrote."""
    if not names:
        return side
    changed: dict[str, tuple[Entry, ...]] = {}
    for section in SECTIONS:
        old = {entry.id: entry for entry in base.list(section.attr)}
        entries = side.list(section.attr)
        renamed = tuple(
            entry
            if old.get(entry.id) is entry
            else _entry(entry, old.get(entry.id), names, renumbered)
            for entry in entries
        )
        if section.attr != "plan":
            renamed = tuple(sorted(renamed, key=lambda entry: entry.number))
        if renamed != entries:
            changed[section.attr] = renamed
    prose = tuple(
        block if block in base.prose else Prose(names.get(block.place, block.place), block.text)
        for block in side.prose
    )
    return msgspec.structs.replace(side, prose=prose, **changed)


def _entry(
    entry: Entry, base: Entry | None, names: Mapping[str, str], renumbered: Iterable[str]
) -> Entry:
    values: dict[str, str] = {}
    if base is None and entry.id in names:
        values["id"] = names[entry.id]
        if values["id"] in renumbered:
            values["was"] = entry.id
    for field in _REFERENCES:
        value: str = getattr(entry, field)
        if value and (base is None or value != getattr(base, field)):
            follows = _ID.sub(lambda match: names.get(match.group(), match.group()), value)
            if follows != value:
                values[field] = follows
    return msgspec.structs.replace(entry, **values) if values else entry
