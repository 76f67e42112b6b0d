"""What a person wrote between the entries: where it stands now, in the spelling of the base."""

from collections.abc import Sequence

from throughline_nb.ledger.drafts import Draft, RawProse
from throughline_nb.ledger.inline import escape
from throughline_nb.ledger.loosely import prose_key, spelled_prose
from throughline_nb.ledger.model import SECTIONS, Ledger, Prose


def places(ledger: Ledger) -> dict[str, int]:
    """Position of every place at which prose may stand, in the order of the file."""
    found = ["top", "goal", "after goal"]
    for section in SECTIONS:
        found += (section.attr, *(entry.id for entry in ledger.list(section.attr)))
        found.append(f"after {section.attr}")
    found.append("notes")
    return {place: position for position, place in enumerate(found)}


def cut_off_prose(found: Draft, ids: Sequence[str], base: Ledger) -> None:
    """Take prose off the text above it, which it joins where the empty line between them is lost.

    Only prose of the base is known to be no part of that text; ``found`` is mended in place.
    """
    before = {prose.place: prose.text for prose in base.prose}
    standing = {piece.place for piece in found.prose if piece.behind is None}
    followed = {id(piece.behind) for piece in found.prose}
    about = before.get("goal", "") if "goal" not in standing else ""
    if found.goal and about and _ends_with(found.goal, base.goal, about):
        found.goal = escape(base.goal)
        found.prose.append(RawProse("goal", None, about))
    for raw, ident in zip(found.entries, ids, strict=True):
        entry = base.get(ident) if ident in before and id(raw) not in followed else None
        if entry is None or raw.known is not None:
            continue
        for name, markdown in (("text", raw.text), *raw.fields.items()):
            value: str = getattr(entry, name)
            if _ends_with(markdown, value, before[ident]):
                found.prose.append(RawProse(raw.attr, raw, before[ident]))
                if name == "text":
                    raw.text = escape(value)
                else:
                    raw.fields[name] = escape(value)
                break


def _ends_with(markdown: str, text: str, prose: str) -> bool:
    """Whether ``markdown`` is ``text`` with ``prose`` joined to it."""
    joined = " ".join((escape(text), *(line.strip() for line in prose.split("\n"))))
    return len(markdown) > len(text) and prose_key(markdown) == prose_key(joined)


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
    standing = {entry.id for entry in ledger.entries()}
    owners = {id(raw): ident for raw, ident in zip(found.entries, ids, strict=True)}
    position = places(ledger)
    texts: dict[str, str] = {}
    above: dict[str, str] = {}
    for raw, ident in zip(found.entries, ids, strict=True):
        if ident in standing:
            above[ident[0]] = ident
        elif raw.attr:
            # Prose behind an entry that was struck out stands behind the one before it.
            owners[id(raw)] = above.get(ident[0], raw.attr)
    for piece in found.prose:
        place = piece.place if piece.behind is None else owners[id(piece.behind)]
        if place not in position:
            place = "notes"
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
