"""What is absent from a file: deleted, cut off with the end of the file, or lost in other text."""

import re
from collections.abc import Collection, Iterable, Iterator

from throughline_nb.ledger.drafts import Draft
from throughline_nb.ledger.mangled import bones
from throughline_nb.ledger.model import SECTIONS, Entry, Ledger


def last_place(found: Draft, ids: Iterable[str], base: Ledger) -> str:
    """The last place of the base that stands in the file: a heading or an entry."""
    standing = {*found.sections, *ids}
    return next((place for place in reversed(_places(base)) if place in standing), "goal")


def keep_back(
    found: Draft, base: Ledger, gone: Collection[str], last: str | None, notices: list[str]
) -> list[Entry]:
    """Entries of the base that are absent from the file and yet not deleted.

    Args:
        found: What stands in the file.
        base: The ledger that the file was written from.
        gone: Ids that are absent.
        last: Where the file may be cut off, its last place; else None.
        notices: Gets a sentence for each reason.
    """
    if not gone:
        return []
    places = _places(base)
    absent = [entry for entry in base.entries() if entry.id in gone]
    behind = set(places[places.index(last) + 1 :]) if last is not None else set()
    cut_off = [entry for entry in absent if entry.id in behind]
    if cut_off:
        notices.append(
            f"The end of the file is missing, so {_names(cut_off)} stayed as before; "
            "to delete an entry, keep the file's last line."
        )
    lost = [entry for entry in absent if entry.id not in behind and _stands_in(entry, found)]
    if lost:
        notices.append(
            f"{_names(lost)} could not be told apart from the text around it and stayed as before."
        )
    return [*cut_off, *lost]


def _stands_in(entry: Entry, found: Draft) -> bool:
    """Whether an entry's bold id and its text stand in other text, where an editor joined them."""
    bold = re.compile(rf"[*_]\\?\s?{entry.id}\b|\b{entry.id}\s?\\?[*_]")
    said = bones(entry.text)
    return bool(said) and any(bold.search(text) and said in bones(text) for text in _texts(found))


def _texts(found: Draft) -> Iterator[str]:
    for raw in found.entries:
        if raw.known is None:
            yield " ".join((raw.text, *raw.fields.values(), *raw.behind.values(), *raw.extra))
    for piece in found.prose:
        yield piece.text


def _names(entries: list[Entry]) -> str:
    first, last = entries[0].id, entries[-1].id
    return first if len(entries) == 1 else f"{first} to {last}"


def _places(base: Ledger) -> list[str]:
    """Places of the base in the order of its file."""
    places = ["goal"]
    for section in SECTIONS:
        places.append(section.attr)
        places += (entry.id for entry in base.list(section.attr))
    return [*places, "notes"]
