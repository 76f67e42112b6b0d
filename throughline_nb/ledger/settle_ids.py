"""Which entry of the base each bullet of a file is, and the ids of those that are new."""

from collections.abc import Mapping

from throughline_nb.ledger.drafts import Draft, Raw
from throughline_nb.ledger.loosely import equal
from throughline_nb.ledger.model import BY_ATTR, SECTIONS, Ledger
from throughline_nb.ledger.settle_entry import read_value


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
    if base is not None:
        for index, raw in enumerate(found.entries):
            if not ids[index] and not raw.ident:
                ids[index] = _lost_id(raw, base, taken)
    return ids


def _lost_id(raw: Raw, base: Ledger, taken: set[str]) -> str:
    """The id of the entry that says the same and is nowhere else in the file, or empty."""
    text = read_value(raw.text)
    for entry in base.list(raw.attr):  # type: ignore[arg-type]
        if entry.id not in taken and text and equal(entry.text, text):
            taken.add(entry.id)
            return entry.id
    return ""
