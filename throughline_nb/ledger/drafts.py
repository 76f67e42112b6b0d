"""What stands in a file, before it is compared with anything: entries and prose, by section.

Bullets become entries and fields of entries here. Values are still Markdown; :mod:`settle` reads
them, since what they mean depends on the ledger that the file was written from.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from throughline_nb.ledger.blocks import Bullet, Known, Text, cut
from throughline_nb.ledger.inline import unescape
from throughline_nb.ledger.model import BY_ATTR, BY_LETTER, ENGINE_FIELDS, LABELS, SECTIONS, Entry
from throughline_nb.ledger.outline import Outline, Part
from throughline_nb.ledger.writer import NO_GOAL

_ENTRY = re.compile(
    r"(?P<strike>~{1,2})?(?:\\*\[(?P<box>[ xX]?)\\*\]\s+|(?P<ballot>[☐☑☒])\s+)?"
    r"(?P<strike2>~{1,2})?"
    r"(?:(?:\\*[*_]){2}\s*(?P<id>[CSFDQP][1-9][0-9]{0,8})\s*(?:(?:\\*[*_]){2}:?|:(?:\\*[*_]){2})"
    r"(?=\s|$|~)|(?P<bare>[CSFDQP][1-9][0-9]{0,8})(?=[\s:.]|$)[:.]?)?\s*",
)
_FIELD = re.compile(r"\\*[*_]{0,2}([A-Za-z]+)\\*[*_]{0,2}\s*:\\*[*_]{0,2}(?:\s+|$)")
_FREE_TEXT: Final = ("note", "reason", "answer")

_NAMES: Final = {
    section.letter: {LABELS.get(name, name): name for name in section.fields}
    for section in SECTIONS
}


class Raw(msgspec.Struct):
    """An entry as it stands in the file.

    Attributes:
        attr: The section in which it stands.
        ident: Its id; empty where a person typed the bullet without one.
        bare: Whether the id stood there without its bold, so that it may be part of the text.
        text: Its text, as Markdown.
        fields: Its fields, as Markdown.
        indent: Columns before its marker.
        box: ``x``, a space, or empty where there is none.
        struck: Whether a strike-through mark stands before its id.
        known: The entry itself, where its bytes say that nothing changed.
        extra: Indented bullets and paragraphs that are no field.
        line: Number of its first line.
    """

    attr: str
    ident: str
    bare: bool = False
    text: str = ""
    fields: dict[str, str] = {}
    indent: int = 0
    box: str = ""
    struck: bool = False
    known: Entry | None = None
    extra: list[str] = []
    line: int = 0


class RawProse(msgspec.Struct):
    """Text of the person's own: behind which entry, else at which place, and its lines."""

    place: str
    behind: Raw | None
    text: str


class Draft(msgspec.Struct):
    """All that stands in the file.

    Attributes:
        goal: The goal's Markdown; None where there is no such section.
        entries: In the order of the file.
        prose: In the order of the file.
        sections: Places whose heading stands.
    """

    goal: str | None = None
    entries: list[Raw] = []
    prose: list[RawProse] = []
    sections: set[str] = set()


def draft(
    lines: list[str],
    raw_lines: list[str],
    plan: Outline,
    known: Mapping[str, Entry],
    strays: frozenset[str] = frozenset(),
) -> Draft:
    """Sort the lines of a file into entries and prose.

    Args:
        lines: The lines, with plain spaces.
        raw_lines: The same lines as the person wrote them.
        plan: Their outline.
        known: Entries by their canonical block.
        strays: Ids to look for also in sections that hold no entries.
    """
    result = Draft(None, [], [], set())
    own = frozenset(heading.start for heading in plan.headings)
    for part in plan.parts:
        if part.kind == "list":
            result.sections.add(part.attr)
            _list(result, part, lines, raw_lines, plan, known, own)
        elif part.kind == "goal":
            result.sections.add("goal")
            _goal(result, part, lines, raw_lines, plan)
        elif part.kind == "own":
            _add_prose(result, f"after {part.attr}", None, raw_lines[part.start : part.end])
        else:
            _add_prose(result, part.kind, None, raw_lines[part.start : part.end])
    return result


def _goal(
    result: Draft, part: Part, lines: list[str], raw_lines: list[str], plan: Outline
) -> None:
    """The first paragraph is the goal; what follows it is prose."""
    start = part.start
    while start < part.end and not lines[start].strip():
        start += 1
    stop = start
    headings = {heading.start for heading in plan.headings}
    while stop < part.end and lines[stop].strip() and stop not in headings:
        stop += 1
    goal = " ".join(line.strip() for line in lines[start:stop])
    if result.goal is None:
        result.goal = "" if goal == NO_GOAL else goal
        start = stop
    _add_prose(result, "goal", None, raw_lines[start : part.end])


def _list(
    result: Draft,
    part: Part,
    lines: list[str],
    raw_lines: list[str],
    plan: Outline,
    known: Mapping[str, Entry],
    own: frozenset[int],
) -> None:
    entry: Raw | None = None
    blocks = cut(lines, part.start, part.end, known=known, fences=plan.fences, headings=own)
    for block in blocks:
        if isinstance(block, Known):
            entry = Raw(part.attr, block.entry.id, known=block.entry, line=block.start)
            result.entries.append(entry)
        elif isinstance(block, Text):
            _add_prose(result, part.attr, entry, raw_lines[block.start : block.end])
        else:
            entry = _bullet(result, part.attr, entry, block)


def _bullet(result: Draft, attr: str, entry: Raw | None, bullet: Bullet) -> Raw | None:
    content = bullet.content
    if not content:
        return entry
    found = _ENTRY.match(content)
    bold = found is not None and bool(found["id"])
    if entry is not None and not bold:
        name = _field_name(entry, content, indented=bullet.indent > 0)
        if name:
            value = content.partition(":")[2].strip(" *_\\") if False else _value(content)
            entry.fields[name] = value
            for paragraph in bullet.more:
                if name in _FREE_TEXT:
                    entry.fields[name] += " " + paragraph
                else:
                    entry.extra.append(paragraph)
            return entry
        if bullet.indent > entry.indent + 1:
            entry.extra += [content, *bullet.more]
            return entry
    new = _entry(attr, bullet, found)
    result.entries.append(new)
    return new


def _entry(attr: str, bullet: Bullet, found: re.Match[str] | None) -> Raw:
    new = Raw(attr, "", False, "", {}, bullet.indent, line=bullet.start, extra=[])
    text = bullet.content
    if found is not None:
        ident = found["id"] or ""
        bare = found["bare"] or ""
        if bare and BY_LETTER[bare[0]].attr != attr:
            bare = ""
        plan = (ident or bare or BY_ATTR[attr].letter)[0] == "S"  # type: ignore[index]
        boxed = found["box"] is not None or found["ballot"] is not None
        if ident or bare or (plan and boxed):
            new.ident = ident or bare
            new.bare = bool(bare)
            new.struck = bool(found["strike"] or found["strike2"])
            if boxed:
                ticked = (found["box"] or " ") in "xX" or found["ballot"] in ("☑", "☒")
                new.box = "x" if ticked else " "
            text = text[found.end() :] if ident or bare else text[found.end("box") :]
    new.text = " ".join([text, *bullet.more])
    return new


def _field_name(entry: Raw, content: str, *, indented: bool) -> str:
    found = _FIELD.match(content)
    if found is None:
        return ""
    letter = entry.ident[0] if entry.ident else BY_ATTR[entry.attr].letter  # type: ignore[index]
    label = found[1].lower() if indented else found[1]
    return _NAMES[letter].get(label, "")


def _value(content: str) -> str:
    found = _FIELD.match(content)
    return content[found.end() :] if found else content


def _add_prose(result: Draft, place: str, behind: Raw | None, lines: Iterable[str]) -> None:
    text = "\n".join(lines).strip("\n")
    if text.strip():
        result.prose.append(RawProse(place, behind, text))
