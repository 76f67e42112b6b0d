"""Merging what a person wrote between the entries, and their own front matter."""

from collections.abc import Iterable

from throughline_nb.ledger.merge_entry import Merger
from throughline_nb.ledger.model import BY_LETTER, SECTIONS, Ledger, Prose, is_id

_Meta = tuple[tuple[str, str], ...]
_Key = tuple[str, int]


def merge_prose(
    base: Ledger, ours: Ledger, theirs: Ledger, merged: Ledger, merger: Merger
) -> tuple[Prose, ...]:
    """Merge prose by its place; what both sides newly wrote at one place is joined.

    Args:
        base: What both sides started from.
        ours: Our side.
        theirs: Their side.
        merged: The entries as merged: prose behind an entry that is gone moves up to the last
            one before it that stands.
        merger: Decides conflicts and collects notices.
    """
    if theirs.prose in (ours.prose, base.prose):
        found: Iterable[Prose] = ours.prose
    elif base.prose == ours.prose:
        found = theirs.prose
    else:
        found = _by_place(base.prose, ours.prose, theirs.prose, merger)
    standing = {entry.id for entry in merged.entries()}
    blocks = tuple(
        block
        if not is_id(block.place) or block.place in standing
        else Prose(_place_above(block.place, (base, ours, theirs), standing), block.text)
        for block in found
    )
    if blocks in (ours.prose, theirs.prose):
        return blocks
    position = _position(merged)
    return _joined(sorted(blocks, key=lambda block: position[block.place]))


def merge_meta(base: _Meta, ours: _Meta, theirs: _Meta, merger: Merger) -> _Meta:
    """Merge front matter of the person's own by key, in the order of the preferred side."""
    if theirs in (ours, base):
        return ours
    if base == ours:
        return theirs
    old, our, their = _numbered(base), _numbered(ours), _numbered(theirs)
    found: list[tuple[str, str]] = []
    for key in merger.preferred({**our, **their}, {**their, **our}, "Front matter"):
        values = (old.get(key), our.get(key), their.get(key))
        if (key in our and key in their) or key not in old or _kept(*values):
            name = f"Front matter “{key[0]}”"
            value = merger.atomic(
                "Front matter", key[0], *(value or "" for value in values), name=name
            )
            found.append((key[0], value))
    return tuple(found)


def _kept(base: str | None, ours: str | None, theirs: str | None) -> bool:
    """Whether what one side deleted was changed on the other."""
    return (ours if ours is not None else theirs) != base


def _numbered(pairs: Iterable[tuple[str, str]]) -> dict[_Key, str]:
    """Values by key and by how often the key stood before."""
    found: dict[_Key, str] = {}
    for key, value in pairs:
        count = 0
        while (key, count) in found:
            count += 1
        found[key, count] = value
    return found


def _by_place(
    base: tuple[Prose, ...], ours: tuple[Prose, ...], theirs: tuple[Prose, ...], merger: Merger
) -> list[Prose]:
    old, our, their = (
        _numbered((block.place, block.text) for block in side) for side in (base, ours, theirs)
    )
    found: list[Prose] = []
    for key in {**our, **their}:
        place = key[0]
        before, one, two = old.get(key), our.get(key), their.get(key)
        if one is not None and two is not None and before is None:
            both = "\n\n".join(merger.preferred((one, two), (two, one), "Notes"))
            text = one if two in one else two if one in two else both
        elif one is not None and two is not None:
            name = f"The text at “{place}”"
            text = merger.running(place, "", before or "", one, two, name=name)
        else:
            text = one if one is not None else two or ""
            if before is not None:
                if text == before:
                    continue
                merger.say(
                    f"The text at “{place}” was deleted on one side and changed on the other; "
                    "it stays."
                )
        found.append(Prose(place, text))
    return found


def _place_above(ident: str, sides: Iterable[Ledger], standing: set[str]) -> str:
    """Where prose behind a deleted entry goes."""
    attr = BY_LETTER[ident[0]].attr
    for side in sides:
        ids = [entry.id for entry in side.list(attr)]
        if ident in ids:
            above = reversed(ids[: ids.index(ident)])
            return next((other for other in above if other in standing), attr)
    return attr


def _joined(blocks: Iterable[Prose]) -> tuple[Prose, ...]:
    """Blocks at one place as one."""
    found: dict[str, str] = {}
    for block in blocks:
        text = found.get(block.place)
        found[block.place] = block.text if text is None else f"{text}\n\n{block.text}"
    return tuple(Prose(place, text) for place, text in found.items())


class _Positions(dict[str, int]):
    """Positions of places; one that is not known stands last."""

    def __missing__(self, place: str) -> int:
        return len(self)


def _position(ledger: Ledger) -> _Positions:
    places = ["top", "goal", "after goal"]
    for section in SECTIONS:
        places += (section.attr, *(entry.id for entry in ledger.list(section.attr)))
        places.append(f"after {section.attr}")
    places += ("notes", "after notes")
    return _Positions((place, index) for index, place in enumerate(places))
