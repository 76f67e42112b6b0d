"""Mend what several editors in a row do to the shape of a file, by what the base says stood there.

Only shapes that the base knows are looked for: entries that are absent from the file but stand in
running text, fields that are absent but stand in the text of their entry, a text that goes on in a
paragraph of its own, and prose that was joined to the text above it.
"""

import re
from collections.abc import Sequence
from typing import Final

from throughline_nb.ledger.drafts import Draft, Raw, RawProse, entry_of
from throughline_nb.ledger.inline import escape, one_line, unescape
from throughline_nb.ledger.loosely import equal, key, prose_key
from throughline_nb.ledger.model import BY_ATTR, BY_LETTER, LABELS, Entry, Ledger

_MARKER: Final = r"(?:^|\s*)\\?[-*+]\s+(?=(?:\\*\[[ xX]?\\*\]\s+)?\*\*(?:{})\*\*)"
_SURE_FIELDS: Final = 3
"""Fields found in a text from which on they are its entry's even if the text itself changed."""

_FENCE_LINE = re.compile(r"(?m)^[ \t]*(?:`{3,}|~{3,})[^`\n]*$")
_FIELD_MARK = re.compile(r"\\?[-*+]\s+([a-z]+):(?:\s|$)")
_PARAGRAPHS = re.compile(r"\n(?:[ \t]*\n)+")


def split_joined(found: Draft, base: Ledger) -> None:
    """Take apart lists that were joined into one paragraph; ``found`` is mended in place."""
    here = {raw.ident for raw in found.entries}
    absent = [entry.id for entry in base.entries() if entry.id not in here]
    if absent:
        own = {prose_key(prose.text) for prose in base.prose}
        _split_entries(found, re.compile(_MARKER.format("|".join(absent))), own)
    at_base = {entry.id: entry for entry in base.entries()}
    for piece in found.prose:
        raw = piece.behind
        entry = at_base.get(raw.ident) if raw is not None else None
        if raw is not None and entry is not None and raw.known is None:
            _take_fields(piece, raw, entry)
    found.prose = [piece for piece in found.prose if piece.text.strip()]
    split_fields(found, base)


def split_fields(found: Draft, base: Ledger) -> None:
    """Take fields out of the texts that they were joined to; ``found`` is mended in place."""
    at_base = {entry.id: entry for entry in base.entries()}
    for raw in found.entries:
        entry = at_base.get(raw.ident)
        if entry is not None and raw.known is None:
            _split_fields(raw, entry)


def _split_entries(found: Draft, marker: re.Pattern[str], own: set[str]) -> None:
    """Make entries of what stands behind ``marker`` in texts, fields and sections of entries.

    Prose whose key is in ``own`` stood there before, so that ids in it are only mentioned.
    """
    entries: list[Raw] = []
    followers: dict[int, Raw] = {}
    for raw in found.entries:
        entries.append(raw)
        holder = raw
        for name in ("text", *raw.fields) if raw.known is None else ():
            value = raw.text if name == "text" else raw.fields[name]
            text, *rest = marker.split(value)
            if holder is not raw:
                # What was read behind the first entry belongs to the last that was joined to it.
                holder.fields[name] = raw.fields.pop(name)
            _set(holder, name, text)
            if rest:
                entries += map(_entry, rest)
                holder = entries[-1]
                followers[id(raw)] = holder
    at = {id(raw): position for position, raw in enumerate(entries)}
    for piece in reversed(found.prose):
        if piece.behind is not None and id(piece.behind) in followers:
            piece.behind, piece.item = followers[id(piece.behind)], "text"
        if piece.place not in BY_ATTR or prose_key(piece.text) in own:
            continue
        text, *rest = marker.split(_flat(piece.text))
        if rest:
            piece.text = text
            where = len(entries) if piece.behind is None else at[id(piece.behind)] + 1
            entries[where:where] = map(_entry, rest)
    found.entries = entries
    found.prose = [piece for piece in found.prose if piece.text.strip()]


def _entry(content: str) -> Raw:
    """The entry that begins with a bold id, in the section that the id names."""
    letter = content.partition("**")[2][:1]
    return entry_of(BY_LETTER[letter].attr, content)


def _take_fields(piece: RawProse, raw: Raw, entry: Entry) -> None:
    """Join a paragraph that begins with a field that is missing to the text above it."""
    text = _flat(_FENCE_LINE.sub("", piece.text)).strip()
    begun = _FIELD_MARK.match(text)
    names = {LABELS.get(name, name): name for name in entry.section.fields}
    name = names.get(begun[1], "") if begun else ""
    if name and getattr(entry, name) and name not in raw.fields:
        held = raw.text if piece.item == "text" else raw.fields[piece.item]
        _set(raw, piece.item, f"{held} {text}")
        piece.text = ""


def _split_fields(raw: Raw, entry: Entry) -> None:
    """Take fields of the base that stand nowhere else out of the value that they were joined to."""
    missing = [
        name for name in entry.section.fields if getattr(entry, name) and name not in raw.fields
    ]
    for holder in ("text", *raw.fields) if missing else ():
        value = raw.text if holder == "text" else raw.fields[holder]
        found: list[tuple[str, int, int]] = []
        for name in missing:
            label = re.compile(rf"\s*\\?[-*+]\s+{LABELS.get(name, name)}:(?:\s+|$)")
            mark = label.search(value, found[-1][2] if found else 0)
            if mark is not None:
                found.append((name, mark.start(), mark.end()))
        if not found:
            continue
        text = value[: found[0][1]]
        ends = [start for _, start, _ in found[1:]] + [len(value)]
        fields = {name: value[start:end] for (name, _, start), end in zip(found, ends, strict=True)}
        same = [name for name, content in fields.items() if _says(entry, name, content)]
        certain = _says(entry, holder, text) or (len(same) == len(fields) > 1)
        if len(found) < _SURE_FIELDS and (len(found) < len(missing) or not certain):
            continue
        _set(raw, holder, text)
        raw.fields |= fields
        return


def _says(entry: Entry, name: str, markdown: str) -> bool:
    return equal(getattr(entry, name), _read(markdown))


def join_broken(found: Draft, ids: Sequence[str], base: Ledger) -> None:
    """Join paragraphs to the text that they continue; ``found`` is mended in place."""
    before = {prose.place for prose in base.prose}
    owners = {id(raw): ident for raw, ident in zip(found.entries, ids, strict=True)}
    for piece in found.prose:
        raw = piece.behind
        if raw is None:
            if piece.place == "goal" and found.goal:
                free = "goal" not in before
                found.goal = _joined(piece, found.goal, base.goal, free=free)
            continue
        entry = base.get(owners[id(raw)])
        if entry is None or raw.known is not None:
            continue
        value = raw.text if piece.item == "text" else raw.fields.get(piece.item, "")
        wanted: str = getattr(entry, piece.item)
        _set(raw, piece.item, _joined(piece, value, wanted, free=entry.id not in before))
    found.prose = [piece for piece in found.prose if piece.text.strip()]


def _joined(piece: RawProse, markdown: str, wanted: str, *, free: bool) -> str:
    """``markdown`` with the paragraphs of ``piece`` that belong to it, which are taken off it."""
    value = _read(markdown)
    if not wanted or equal(wanted, value):
        return markdown
    paragraphs = _PARAGRAPHS.split(piece.text)
    joined = markdown
    for count, paragraph in enumerate(paragraphs, 1):
        joined = f"{joined} {_flat(paragraph)}"
        if equal(wanted, _read(joined)):
            piece.text = "\n\n".join(paragraphs[count:])
            return joined
    if free and key(wanted).startswith(key(value)) and not piece.text.startswith(("#", "`", ">")):
        piece.text = ""
        return joined
    return markdown


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
                _set(raw, name, escape(value))
                break


def _ends_with(markdown: str, text: str, prose: str) -> bool:
    """Whether ``markdown`` is ``text`` with ``prose`` joined to it."""
    if len(markdown) <= len(text):
        return False
    return prose_key(markdown) == prose_key(f"{escape(text)} {_flat(prose)}")


def _read(markdown: str) -> str:
    return one_line(unescape(markdown))


def _flat(text: str) -> str:
    return " ".join(line.strip().removesuffix("\\") for line in text.split("\n"))


def _set(raw: Raw, name: str, value: str) -> None:
    if name == "text":
        raw.text = value
    else:
        raw.fields[name] = value
