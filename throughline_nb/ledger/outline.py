"""The outline of a ledger file: its last line, fences, headings, and the parts between them.

Line by line, since nearly every hard case lies outside CommonMark's structure.
"""

import re
from typing import Final, Literal

import msgspec

from throughline_nb.ledger.inline import one_line, unescape
from throughline_nb.ledger.model import SECTIONS
from throughline_nb.ledger.writer import GOAL_TITLE, NOTES_TITLE

Kind = Literal["top", "goal", "list", "own", "notes"]

_TITLES: Final = {
    GOAL_TITLE.casefold(): "goal",
    **{section.title.casefold(): section.attr for section in SECTIONS},
    NOTES_TITLE.casefold(): "notes",
}

NOTES_MARK: Final = "\0notes"
"""A line put in by the reader: what follows belongs to Notes. No file that is read holds a NUL."""

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,9}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_ATTRIBUTES = re.compile(r"[ \t]*(?<!\\)\{[#.:][^{}`]*\}[ \t]*$")
_NOT_PARAGRAPH = re.compile(
    r"\s|>|\||\#{1,6}(?:[ \t]|$)|[-*+][ \t]|[0-9]{1,9}[.)][ \t]|<!--|(?:=+|-+)[ \t]*$"
)


class Heading(msgspec.Struct, frozen=True):
    """A heading.

    Attributes:
        start: Number of its first line.
        end: Number of the line behind it.
        level: 1 to 6; 0 for :data:`NOTES_MARK`.
        title: What it says, read as inline text.
    """

    start: int
    end: int
    level: int
    title: str

    @property
    def names(self) -> str:
        """The part that the title names: an attribute of Ledger, ``goal``, ``notes``, or empty."""
        if not self.level:
            return "notes"
        return _TITLES.get(self.title.strip(" *_:#").casefold(), "")


class Part(msgspec.Struct, frozen=True):
    """A stretch of lines that belongs to one section.

    Attributes:
        kind: ``top`` before the first section; ``list`` holds entries; ``own`` is a section of the
            person's own, which starts with its heading.
        attr: Of a list, the attribute of Ledger; of ``own``, that of the section before it.
        start: First line (behind the heading, but for ``own``).
        end: Line behind the last.
    """

    kind: Kind
    attr: str
    start: int
    end: int


class Outline(msgspec.Struct, frozen=True):
    """Parts of a file in order; ``level`` is that of the section headings, 0 without any."""

    parts: tuple[Part, ...]
    headings: tuple[Heading, ...]
    fences: tuple[tuple[int, int], ...]
    level: int


def outline(lines: list[str]) -> Outline:
    """Find fences, headings and sections."""
    fences = _fences(lines)
    headings = _headings(lines, fences)
    level = _section_level(headings)
    named = {heading.names for heading in headings if heading.level == level}
    parts: list[Part] = []
    kind: Kind = "top"
    attr = ""
    start = 0
    for heading in headings:
        names = heading.names
        if names and heading.level not in (level, 0) and names in named:
            names = ""
        if names:
            parts.append(Part(kind, attr, start, heading.start))
            kind = "goal" if names == "goal" else "notes" if names == "notes" else "list"
            attr, start = names, heading.end
        elif heading.level <= level and kind in ("goal", "list"):
            parts.append(Part(kind, attr, start, heading.start))
            kind, start = "own", heading.start
    parts.append(Part(kind, attr, start, len(lines)))
    return Outline(tuple(parts), headings, fences, level)


def _section_level(headings: tuple[Heading, ...]) -> int:
    """The level at which most sections stand (the first of these on a tie)."""
    counts: dict[int, set[str]] = {}
    for heading in headings:
        if heading.level and heading.names:
            counts.setdefault(heading.level, set()).add(heading.names)
    return max(counts, key=lambda level: len(counts[level]), default=0)


def _headings(lines: list[str], fences: tuple[tuple[int, int], ...]) -> tuple[Heading, ...]:
    fenced = {number for start, end in fences for number in range(start, end)}
    found: list[Heading] = []
    for number, line in enumerate(lines):
        if line == NOTES_MARK:
            found.append(Heading(number, number + 1, 0, ""))
        first = line[:4].lstrip(" ")[:1]
        if first == "#":
            atx = _ATX.fullmatch(line)
            if atx and number not in fenced:
                title = _title(atx[2] or "")
                found.append(Heading(number, number + 1, len(atx[1]), title))
        elif first in ("=", "-") and number not in fenced:
            underline = _UNDERLINE.fullmatch(line)
            begin = _paragraph_above(lines, number) if underline else number
            if underline and begin < number:
                title = _title(" ".join(part.strip() for part in lines[begin:number]))
                level = 1 if underline[1][0] == "=" else 2
                found.append(Heading(begin, number + 1, level, title))
    return tuple(found)


def _title(text: str) -> str:
    return one_line(unescape(_ATTRIBUTES.sub("", text)))


def _paragraph_above(lines: list[str], number: int) -> int:
    """First line of the unindented paragraph that ends above ``number``; else ``number``."""
    begin = number
    while begin and lines[begin - 1].strip() and not _NOT_PARAGRAPH.match(lines[begin - 1]):
        begin -= 1
    if begin == number:
        return number
    if begin and lines[begin - 1].strip():
        # A title right below an entry, as files without blank lines have it.
        names = _TITLES.get(_title(lines[number - 1]).casefold())
        return number - 1 if names else number
    return begin


def _fences(lines: list[str]) -> tuple[tuple[int, int], ...]:
    """Fenced blocks that are closed. An open one would swallow the rest of the file."""
    found: list[tuple[int, int]] = []
    marks = [
        (number, match[1], match[2].strip())
        for number, line in enumerate(lines)
        if ("```" in line or "~~~" in line) and (match := _FENCE.fullmatch(line))
    ]
    titles = _known_titles(lines) if marks else []
    never_closed: dict[str, int] = {}
    at = 0
    while at < len(marks):
        number, mark, _ = marks[at]
        at += 1
        if len(mark) >= never_closed.get(mark[0], len(mark) + 1):
            continue
        for other in range(at, len(marks)):
            closing, closing_mark, info = marks[other]
            if closing_mark.startswith(mark) and not info:
                if not _swallows(number, closing, titles):
                    found.append((number, closing + 1))
                    at = other + 1
                break
        else:
            never_closed[mark[0]] = len(mark)
    return tuple(found)


def _swallows(start: int, end: int, titles: list[tuple[int, str]]) -> bool:
    """Whether two stray fences enclose sections of the ledger itself."""
    inside = {name for number, name in titles if start < number < end}
    return bool(inside - {name for number, name in titles if not start < number < end})


def _known_titles(lines: list[str]) -> list[tuple[int, str]]:
    """Where titles of the ledger's sections stand, in fences or not."""
    found: list[tuple[int, str]] = []
    for number, line in enumerate(lines):
        atx = _ATX.fullmatch(line) if line.lstrip(" ").startswith("#") else None
        name = _TITLES.get(_title(atx[2] or "").casefold()) if atx else None
        if name:
            found.append((number, name))
    return found
