"""What a person wrote between the entries: where it stands now, in the spelling of the base."""

from collections.abc import Sequence

from throughline_nb.ledger.drafts import Draft
from throughline_nb.ledger.loosely import prose_key, spelled_prose
from throughline_nb.ledger.mangled import bones
from throughline_nb.ledger.model import SECTIONS, Ledger, Prose


def places(ledger: Ledger) -> dict[str, int]:
    """Position of every place at which prose may stand, in the order of the file."""
    found = ["top", "goal", "after goal"]
    for section in SECTIONS:
        found += (section.attr, *(entry.id for entry in ledger.list(section.attr)))
        found.append(f"after {section.attr}")
    found.append("notes")
    return {place: position for position, place in enumerate(found)}


def is_formula(text: str) -> bool:
    """Whether this is a formula that an editor made a block of."""
    return text.startswith("```") and "math" in text.partition("\n")[0]


def _said(text: str, ledger: Ledger, place: str) -> bool:
    """Whether a formula stands in the text of the entry that it follows."""
    entry = ledger.get(place)
    if entry is None:
        return False
    said = " ".join(getattr(entry, name) for name in ("text", *entry.section.fields))
    return bones(text.strip("`").strip().removeprefix("math")) in bones(said)


def settle_prose(
    found: Draft, ids: Sequence[str], ledger: Ledger, base: Ledger, *, present: str | None
) -> tuple[Prose, ...]:
    """The prose of the file.

    Args:
        found: What stands in the file.
        ids: Ids of its entries, in order.
        ledger: The entries as settled.
        base: The ledger that the file was written from.
        present: Where the file may be cut off, the last place that stands; else None.
    """
    position = places(ledger)
    owners = _owners(found, ids, ledger)
    texts: dict[str, str] = {}
    for piece in found.prose:
        place = piece.place if piece.behind is None else owners[id(piece.behind)]
        if place not in position:
            place = "notes"
        if is_formula(piece.text) and _said(piece.text, ledger, place):
            continue
        texts[place] = f"{texts[place]}\n\n{piece.text}" if place in texts else piece.text
    before = {prose.place: prose.text for prose in base.prose}
    by_key = {prose_key(text): text for text in before.values()}
    for place, text in texts.items():
        same = by_key.get(prose_key(text)) if text not in by_key.values() else text
        texts[place] = same or spelled_prose(before.get(place, ""), text)
    if present is not None:
        last = position.get(present, -1)
        for place, text in before.items():
            if position.get(place, last) >= last and text.startswith(texts.get(place, "")):
                texts[place] = text
    ordered = sorted(texts, key=lambda place: position[place])
    return tuple(Prose(place, texts[place]) for place in ordered)


def _owners(found: Draft, ids: Sequence[str], ledger: Ledger) -> dict[int, str]:
    """The place of prose behind each bullet; behind what was struck out, that of the one before."""
    standing = {entry.id for entry in ledger.entries()}
    owners: dict[int, str] = {}
    above: dict[str, str] = {}
    for raw, ident in zip(found.entries, ids, strict=True):
        if ident in standing:
            above[ident[0]] = ident
        owners[id(raw)] = ident if ident in standing else above.get(ident[0], raw.attr)
    return owners
