"""Cut the lines of a section that holds entries into bullets and other text.

A bullet's content is joined into one logical line here; what it means is decided elsewhere.
"""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from throughline_nb.ledger.model import Entry

_BULLET = re.compile(r"([ \t]*)([-*+]|[0-9]{1,9}[.)])(?:[ \t]+(.*)|[ \t]*)")
_DASH_BULLET = re.compile(
    r"([ \t]*)([–—•‣◦·])[ \t]+(?=(?:\\?\[.{1,2}\][ \t]+)?\\*[*_]\\*[*_][CSFDQP][0-9])(.*)"
)
_RULE = re.compile(r" {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*")
_STARTS_BLOCK = re.compile(r"[ \t]*(?:>|<!--)")
_TAB: Final = 4
_INDENTED: Final = 2
"""Spaces from which on a line after an empty one still belongs to the bullet above."""


class Bullet(msgspec.Struct):
    """A list item's own line with its continuation lines.

    Attributes:
        start: Number of its first line.
        end: Number of the line behind the last.
        indent: Columns before the marker.
        ordered: Whether the marker is a number.
        content: The text behind the marker, continuation lines joined by one space.
        more: Indented paragraphs that follow it after an empty line.
    """

    start: int
    end: int
    indent: int
    ordered: bool
    content: str
    more: list[str] = []


class Known(msgspec.Struct, frozen=True):
    """A block whose bytes are those of an entry that is known already."""

    start: int
    end: int
    entry: Entry


class Text(msgspec.Struct):
    """Lines that are no part of an entry."""

    start: int
    end: int


Block = Bullet | Known | Text


def cut(
    lines: list[str],
    start: int,
    end: int,
    *,
    known: Mapping[str, Entry],
    fences: tuple[tuple[int, int], ...] = (),
    headings: frozenset[int] = frozenset(),
) -> list[Block]:
    """Cut ``lines[start:end]`` into blocks.

    Args:
        lines: The file.
        start: First line.
        end: Line behind the last.
        known: Entries by their canonical block; a block found here is not parsed.
        fences: Fenced blocks, as pairs of line numbers.
        headings: Numbers of lines that begin a heading of the person's own.
    """
    blocks: list[Block] = []
    fence_ends = dict(fences)
    bullet: Bullet | None = None
    number = start
    blank = True
    while number < end:
        line = lines[number]
        if not line or line.isspace():
            blank = True
            number += 1
            continue
        if known and line.startswith("- ") and (hit := _known(lines, number, end, known)):
            blocks.append(hit)
            number = hit.end
            bullet, blank = None, False
            continue
        if number in fence_ends:
            stop = min(fence_ends[number], end)
            _add_text(blocks, number, stop)
            number, blank = stop, True
            continue
        found = None
        if number not in headings and not _RULE.fullmatch(line):
            found = _BULLET.fullmatch(line) or _DASH_BULLET.fullmatch(line)
        if found is not None and _opens(found):
            indent = len(found[1].expandtabs(_TAB))
            ordered = found[2][-1] in ".)"
            bullet = Bullet(number, number + 1, indent, ordered, (found[3] or "").strip(), [])
            blocks.append(bullet)
        elif bullet is not None and number not in headings and _continues(line, blank=blank):
            text = line.strip()
            if blank and bullet.content:
                bullet.more.append(text)
            elif bullet.more:
                bullet.more[-1] = join(bullet.more[-1], text)
            else:
                bullet.content = join(bullet.content, text)
            bullet.end = number + 1
        else:
            _add_text(blocks, number, number + 1)
            bullet = None
        blank = False
        number += 1
    return blocks


def join(before: str, line: str) -> str:
    """Join a continuation line; a backslash that makes a hard line break is dropped."""
    if before.endswith("\\") and (len(before) - len(before.rstrip("\\"))) % 2:
        before = before[:-1].rstrip()
    return f"{before} {line}" if before else line


def _known(lines: list[str], number: int, end: int, known: Mapping[str, Entry]) -> Known | None:
    stop = number + 1
    while stop < end and lines[stop].startswith("  - "):
        stop += 1
    entry = known.get("\n".join(lines[number:stop]))
    if entry is None or not _ends_there(lines, stop, end):
        return None
    return Known(number, stop, entry)


def _ends_there(lines: list[str], stop: int, end: int) -> bool:
    """Whether no line from ``stop`` on can belong to the entry above it."""
    if stop < end and lines[stop].startswith(("- **", "- [")):
        return True
    while stop < end and not lines[stop].strip():
        stop += 1
    return stop == end or lines[stop].startswith(("- **", "- ["))


def _opens(found: re.Match[str]) -> bool:
    # A number alone on a line is the end of a sentence that was wrapped, not a bullet.
    return bool(found[3]) or found[2] in ("-", "*", "+")


def _continues(line: str, *, blank: bool) -> bool:
    if _STARTS_BLOCK.match(line):
        return False
    if not blank:
        return True
    expanded = line.expandtabs(_TAB)
    return len(expanded) - len(expanded.lstrip(" ")) >= _INDENTED


def _add_text(blocks: list[Block], start: int, stop: int) -> None:
    last = blocks[-1] if blocks else None
    if isinstance(last, Text):
        last.end = stop
    else:
        blocks.append(Text(start, stop))
