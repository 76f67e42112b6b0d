"""Which entry of the base each bullet of a file is, and the ids of those that are new."""

from collections.abc import Mapping
from typing import Final

from throughline_nb.ledger.drafts import Draft, Raw
from throughline_nb.ledger.loosely import equal
from throughline_nb.ledger.model import BY_ATTR, LABELS, SECTIONS, Entry, Ledger
from throughline_nb.ledger.settle_entry import read_value

_FILLED: Final = ("origin", "added")
"""What nobody types: where it stands, an editor lost the id of an entry that was there before."""


def give_ids(
    found: Draft, base: Ledger | None, numbers: Mapping[str, int]
) -> tuple[list[str], tuple[int, ...]]:
    """Give each bullet an id; new entries get theirs last, above every number ever used.

    Args:
        found: What stands in the file.
        base: The ledger that the file was written from, or None.
        numbers: Next free numbers by letter, as the last line has them.

    Returns:
        An id for each of ``found.entries``, and the numbers that come next.
    """
    free = {section.letter: numbers.get(section.letter, 1) for section in SECTIONS}
    if base is not None:
        for section, number in zip(SECTIONS, base.next, strict=True):
            free[section.letter] = max(number, free[section.letter])
    ids = _old_ids(found, base)
    used = {*ids, *(entry.id for entry in base.entries())} if base is not None else {*ids}
    for ident in filter(None, used):
        free[ident[0]] = max(free[ident[0]], int(ident[1:]) + 1)
    for index, raw in enumerate(found.entries):
        if not ids[index]:
            copied = raw.ident and not raw.bare
            letter = raw.ident[0] if copied else BY_ATTR[raw.attr].letter  # type: ignore[index]
            ids[index] = f"{letter}{free[letter]}"
            free[letter] += 1
    return ids, tuple(free.values())


def _old_ids(found: Draft, base: Ledger | None) -> list[str]:
    """The id of each bullet that has one: the first that names it keeps it; else empty."""
    bold = {raw.ident for raw in found.entries if raw.ident and not raw.bare}
    ids: list[str] = []
    taken: set[str] = set()
    for raw in found.entries:
        ident = raw.ident
        if raw.bare and (ident in bold or (base is not None and base.get(ident) is None)):
            ident = ""
        ident = "" if ident in taken else ident
        taken.add(ident)
        ids.append(ident)
    here = taken | bold
    absent = [entry for entry in base.entries() if entry.id not in here] if base else []
    for index, raw in enumerate(found.entries):
        if not ids[index] and not raw.ident:
            lost = _lost(raw, absent)
            if lost is not None:
                absent.remove(lost)
                ids[index] = lost.id
            elif base is None and "added" in raw.fields:
                ids[index] = raw.ident = _between(ids, index)
    return ids


def _lost(raw: Raw, absent: list[Entry]) -> Entry | None:
    """The entry that says the same and is nowhere else in the file, or None."""
    absent = [entry for entry in absent if entry.section.attr == raw.attr]
    text = read_value(raw.text) if absent else ""
    filled = {name: read_value(raw.fields[name]) for name in _FILLED if name in raw.fields}
    for entry in absent:
        if text and equal(entry.text, text):
            return entry
    begins = text.partition(":")[0]
    field = any(
        LABELS.get(name, name) == begins for entry in absent for name in entry.section.fields
    )
    for entry in absent if "added" in filled and not field else ():
        if all(getattr(entry, name) == value for name, value in filled.items()):
            return entry
    return None


def _between(ids: list[str], index: int) -> str:
    """The one id that is missing between the neighbours of a bullet, or empty."""
    before, after = (ids[at] if 0 <= at < len(ids) else "" for at in (index - 1, index + 1))
    if not before or before[0] != after[:1]:
        return ""
    ident = f"{before[0]}{int(before[1:]) + 1}"
    return ident if int(after[1:]) == int(ident[1:]) + 1 and ident not in ids else ""
