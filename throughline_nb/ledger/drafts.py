"""What stands in a file, before it is compared with anything: entries and prose, by section.

Bullets become entries and fields of entries here. Values are still Markdown; :mod:`settle` reads
them, since what they mean depends on the ledger that the file was written from.
"""

import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from throughline_nb.ledger.blocks import Block, Bullet, Known, Text, cut, join
from throughline_nb.ledger.model import BY_ATTR, BY_LETTER, LABELS, SECTIONS, Entry
from throughline_nb.ledger.outline import Outline, Part, outline
from throughline_nb.ledger.writer import NO_GOAL

_ENTRY = re.compile(
    r"(?P<strike>(?:\\?~){1,2})?(?P<boxed>\\*\[(?P<box>[ xX]?)\\*\]\s+|(?P<ballot>[☐☑☒])\s+)?"
    r"(?P<strike2>(?:\\?~){1,2})?"
    r"(?:(?:\\*[*_]){2,5}(?P<strike3>~{1,2})?\s*(?P<id>[CSFDQP][1-9][0-9]{0,8})\s*~{0,2}"
    r"(?:(?:\\*[*_]){2,5}:?|:(?:\\*[*_]){2})"
    r"|(?P<bare>[CSFDQP][1-9][0-9]{0,8})(?=[\s:.]|$)[:.]?)?\s*",
)
_BOXES = re.compile(r"(?:\\*\[[ xX]?\\*\]\s*)+")
_FIELD = re.compile(r"\\*[*_]{0,2}([A-Za-z]+)\\*[*_]{0,2}\s*:\\*[*_]{0,2}(?:\s+|$|(?=\[ ?\]))")
PANDOC_SEPARATOR: Final = "<!-- -->"
"""What pandoc puts between two lists that would else be one."""

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
        behind: Indented paragraphs behind a field, by its name.
        last: What was read last of it: ``text`` or the name of a field.
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
    behind: dict[str, str] = {}
    last: str = "text"


class RawProse(msgspec.Struct):
    """Text of the person's own.

    Attributes:
        place: Its section, as a place of prose.
        behind: The entry that it follows, if any.
        text: Its lines.
        item: What of that entry it follows: ``text`` or the name of a field.
    """

    place: str
    behind: Raw | None
    text: str
    item: str = "text"


class Draft(msgspec.Struct):
    """All that stands in the file.

    Attributes:
        goal: The goal's Markdown; None where there is no such section.
        entries: In the order of the file.
        prose: In the order of the file.
        sections: Places whose heading stands.
        title: The document's title, which names the project.
    """

    goal: str | None = None
    entries: list[Raw] = []
    prose: list[RawProse] = []
    sections: set[str] = set()
    title: str = ""

    def add_prose(self, place: str, lines: Sequence[str], behind: Raw | None = None) -> None:
        """Add text of the person's own, unless it is empty."""
        text = "\n".join(lines).strip("\n")
        if text.strip():
            self.prose.append(RawProse(place, behind, text, behind.last if behind else "text"))

    def top(self, text: str, level: int) -> None:
        """Add what stands before the first section: the title, then prose."""
        lines = text.split("\n")
        title = next((h for h in outline(lines).headings if h.level < level or h.level == 1), None)
        if title is None:
            self.add_prose("top", lines)
            return
        self.title = title.title
        self.add_prose("top", [*lines[: title.start], *lines[title.end :]])


def draft(
    lines: list[str],
    raw_lines: list[str],
    plan: Outline,
    *,
    known: Mapping[str, Entry],
    top: str,
    strays: frozenset[str] = frozenset(),
) -> Draft:
    """Sort the lines of a file into entries and prose.

    Args:
        lines: The lines, with plain spaces.
        raw_lines: The same lines as the person wrote them.
        plan: Their outline.
        known: Entries by their canonical block.
        top: What stands before the first section, cleaned.
        strays: Ids of entries to look for also in sections that hold none.
    """
    result = Draft(None, [], [], set())
    result.top(top, plan.level)
    drafting = _Drafting(result, lines, raw_lines, plan, known=known, strays=strays)
    for part in plan.parts[1:]:
        if part.kind != "own":
            result.sections.add(part.attr)
        if part.kind == "goal":
            drafting.goal(part)
        elif part.kind == "list":
            drafting.section(part)
        else:
            drafting.own(part, f"after {part.attr}" if part.kind == "own" else "notes")
    return result


class _Drafting:
    """Sorts one part after the other into a draft; see :func:`draft`."""

    def __init__(
        self,
        result: Draft,
        lines: list[str],
        raw_lines: list[str],
        plan: Outline,
        *,
        known: Mapping[str, Entry],
        strays: frozenset[str],
    ) -> None:
        self.result = result
        self.lines = lines
        self.raw_lines = raw_lines
        self.plan = plan
        self.known = known
        self.strays = strays
        self.headings = frozenset(heading.start for heading in plan.headings)

    def goal(self, part: Part) -> None:
        """The first paragraph is the goal; what follows it is prose."""
        lines = self.lines
        start = part.start
        while start < part.end and not lines[start].strip():
            start += 1
        stop = start
        while stop < part.end and lines[stop].strip() and stop not in self.headings:
            stop += 1
        if self.result.goal is None:
            goal = ""
            for line in lines[start:stop]:
                goal = join(goal, line.strip())
            self.result.goal = "" if goal == NO_GOAL else goal
            start = stop
        self.own(msgspec.structs.replace(part, start=start), "goal")

    def own(self, part: Part, place: str) -> None:
        """Text of the person's own, in which only entries that are missing elsewhere count."""
        text = self.raw_lines[part.start : part.end]
        if not any(ident in line for ident in self.strays for line in text):
            self.result.add_prose(place, text)
            return
        entry: Raw | None = None
        for block in self._cut(part):
            content = block.content if isinstance(block, Bullet) else ""
            found = _ENTRY.match(content)
            stray = found is not None and found["id"] in self.strays
            field = entry is not None and _field_name(entry, content, indented=True)
            if isinstance(block, Bullet) and (stray or field):
                entry = _bullet(self.result, part.attr, entry, block)
            else:
                entry = None
                self.result.add_prose(place, self.raw_lines[block.start : block.end])

    def section(self, part: Part) -> None:
        """A section that holds entries."""
        entry: Raw | None = None
        for block in self._cut(part):
            if isinstance(block, Known):
                entry = Raw(part.attr, block.entry.id, known=block.entry)
                self.result.entries.append(entry)
            elif isinstance(block, Text):
                lines = self.raw_lines[block.start : block.end]
                lines = [line for line in lines if line.strip() != PANDOC_SEPARATOR]
                if lines and lines[0].startswith((" ", "\t")):
                    lines = textwrap.dedent("\n".join(lines)).split("\n")
                self.result.add_prose(part.attr, lines, behind=entry)
            else:
                entry = _bullet(self.result, part.attr, entry, block)

    def _cut(self, part: Part) -> list[Block]:
        known = self.known if part.kind == "list" else {}
        plan = self.plan
        return cut(
            self.lines,
            part.start,
            part.end,
            known=known,
            fences=plan.fences,
            headings=self.headings,
        )


def _bullet(result: Draft, attr: str, entry: Raw | None, bullet: Bullet) -> Raw | None:
    content = bullet.content
    if not content or _BOXES.fullmatch(content):
        return entry
    found = _ENTRY.match(content)
    bold = found is not None and bool(found["id"])
    if entry is not None and not bold:
        name = _field_name(entry, content, indented=bullet.indent > 0)
        if name:
            entry.fields[name] = _value(content)
            entry.last = name
            for paragraph in bullet.more:
                if name in _FREE_TEXT or not entry.fields[name]:
                    entry.fields[name] = join(entry.fields[name], paragraph)
                else:
                    entry.behind[name] = join(entry.behind.get(name, ""), paragraph)
            return entry
        if bullet.indent > entry.indent + 1:
            entry.extra += [content, *bullet.more]
            return entry
    new = _entry(attr, bullet, found)
    result.entries.append(new)
    return new


def entry_of(attr: str, content: str) -> Raw:
    """The entry that a bullet with this content would be."""
    bullet = Bullet(0, 0, 0, ordered=False, content=content)
    return _entry(attr, bullet, _ENTRY.match(content))


def _entry(attr: str, bullet: Bullet, found: re.Match[str] | None) -> Raw:
    new = Raw(attr, "", False, "", {}, bullet.indent, extra=[], behind={})
    text = bullet.content
    if found is not None:
        ident = found["id"] or ""
        bare = found["bare"] or ""
        if bare and BY_LETTER[bare[0]].attr != attr:
            bare = ""
        plan = (ident or bare or BY_ATTR[attr].letter)[0] == "S"  # type: ignore[index]
        boxed = found["boxed"] is not None
        if ident or bare or (plan and boxed):
            new.ident = ident or bare
            new.bare = bool(bare)
            marks = (found["strike"], found["strike2"], found["strike3"])
            new.struck = bool(new.ident) and any(marks)
            if boxed:
                ticked = (found["box"] or " ") in "xX" or found["ballot"] in ("☑", "☒")
                new.box = "x" if ticked else " "
            text = text[found.end() :] if ident or bare else text[found.end("boxed") :]
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
