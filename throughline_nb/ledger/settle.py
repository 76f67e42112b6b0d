"""Turn what stands in a file into a ledger."""

from collections.abc import Mapping
from typing import Any

from throughline_nb.ledger.drafts import Draft, Raw
from throughline_nb.ledger.front import RESERVED, Front
from throughline_nb.ledger.inline import one_line, unescape
from throughline_nb.ledger.model import BY_LETTER, SECTIONS, Entry, Ledger, Prose, numbers_after


def settle(
    found: Draft,
    base: Ledger | None,
    front: Front,
    numbers: Mapping[str, int],
    *,
    complete: bool,
) -> tuple[Ledger, tuple[str, ...]]:
    """The ledger that the file means, and notices."""
    lists: dict[str, list[Entry]] = {section.attr: [] for section in SECTIONS}
    for raw in found.entries:
        entry = raw.known or _entry(raw)
        lists[BY_LETTER[entry.id[0]].attr].append(entry)
    prose = tuple(
        Prose(piece.behind.ident if piece.behind else piece.place, piece.text)
        for piece in found.prose
        if piece.place != "top"
    )
    fields: dict[str, Any] = {attr: tuple(entries) for attr, entries in lists.items()}
    ledger = Ledger(
        project=front.get("project") or "",
        goal=one_line(unescape(found.goal or "")),
        prose=prose,
        meta=tuple((key, value) for key, value in front.pairs if key not in RESERVED),
        next=tuple(numbers.get(section.letter, 1) for section in SECTIONS),
        **fields,
    )
    return ledger, ()


def _entry(raw: Raw) -> Entry:
    fields = {name: one_line(unescape(value)) for name, value in raw.fields.items()}
    return Entry(id=raw.ident, text=one_line(unescape(raw.text)), **fields)
