"""The ledger file: :func:`write` it canonically, :func:`read` what any editor made of it.

Reading goes in steps, a module each: :mod:`front` reads the front matter, :mod:`outline` finds
the sections, :mod:`blocks` and :mod:`drafts` the entries and the prose in them, and
:mod:`settle` compares these with the ledger that the file was written from.
"""

import re
from typing import Final

import msgspec

from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger.drafts import Draft, draft
from throughline_nb.ledger.front import split_front
from throughline_nb.ledger.model import FORMAT, Ledger
from throughline_nb.ledger.outline import NOTES_MARK, Outline, outline
from throughline_nb.ledger.settle import settle
from throughline_nb.ledger.top import clean_top
from throughline_nb.ledger.writer import render, write

__all__ = ["MAX_BYTES", "Reading", "UnreadableLedger", "read", "write"]

MAX_BYTES: Final = 10_000_000
"""Larger files are not read."""

_LAST_LINE = re.compile(
    r"Ledger(?:\s+version[*_\\]*\s+[`*_\\]*(?P<version>[\w.-]+?)[`*_\\]*)?"
    r"\s+(?:·|&middot;|\\·)\s+next(?P<numbers>(?:\s+[CSFDQP][0-9]{1,9})+)[ \t*_\\]*(?=\n|$)"
)
_CUT_LAST_LINE = re.compile(r"\n(?:L|Le|Led|Ledg|Ledge|Ledger(?: (?:v|ver\w*|·).*)?)\s*\Z")
_BOLD_ID = re.compile(r"(?m)^[ \t]*[-*+][ \t].{0,20}?\\?\*\\?\*([CSFDQP][0-9]+)\\?\*\\?\*")
_NO_BREAK = re.compile(r"\xa0|(?<!\\)&nbsp;")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKERS = (re.compile(r"<{7}(?: |$)"), re.compile(r"={7}$"), re.compile(r">{7}(?: |$)"))


class UnreadableLedger(ThroughLineError):  # noqa: N818 - the name is public and says what it is
    """The text is no ledger; the message says why in one sentence."""


class Reading(msgspec.Struct, frozen=True):
    """What was read.

    Attributes:
        ledger: The ledger that the text means.
        version: The version it was written from, where it says so.
        notices: What a person should know about how it was read, one sentence each.
        complete: Whether the file's last line stands.
        format: Number of the file format; a store writes no ledger of a newer one.
    """

    ledger: Ledger
    version: str | None
    notices: tuple[str, ...] = ()
    complete: bool = True
    format: int = FORMAT


def read(text: str | bytes, base: Ledger | None = None) -> Reading:
    """Read a ledger file as any editor may have saved it.

    Args:
        text: The file; bytes are UTF-8, with or without a byte order mark.
        base: The ledger that was written to the file before it was edited. With it, an editor's
            damage is told from a person's change, deletions are seen, and what the engine filled
            in comes back where it was left out.

    Returns:
        The ledger and what was noticed. Where nothing changed since ``base``, the ledger is
        ``base`` itself.

    Raises:
        UnreadableLedger: The text is empty, binary, not UTF-8, over 10 MB, holds the conflict
            markers of a merge, or has none of a ledger's sections.
    """
    content = _decode(text)
    front, body = split_front(content)
    last, body = _take_last_line(body)
    if base is not None and not last.stands:
        body = _without_cut_line(body, base)
    raw_lines = body.split("\n")
    plain = _NO_BREAK.sub(" ", body) if "\xa0" in body or "&nbsp;" in body else body
    lines = raw_lines if plain is body else plain.split("\n")
    plan = outline(lines)
    if not plan.level:
        raise UnreadableLedger("The file has none of a ledger's headings, such as Goal or Plan.")
    _refuse_conflict(lines, plan)
    front_found = front.get("throughline") is not None
    top = clean_top("\n".join(lines[: plan.parts[0].end]), front_found=front_found)
    known = {render(entry): entry for entry in base.entries()} if base is not None else {}
    found = draft(lines, raw_lines, plan, known=known, top=top.text)
    if base is not None:
        strays = _strays(found, base)
        if strays:
            found = draft(lines, raw_lines, plan, known=known, top=top.text, strays=strays)
    found.title = found.title or top.project or ""
    ledger, notices = settle(found, base, front, last.numbers, complete=last.stands)
    number = front.get("throughline") or top.format or ""
    return Reading(
        ledger,
        front.get("version") or top.version or last.version or top.remains_version,
        (*front.notices, *notices),
        last.stands,
        int(number[:9]) if number.isdecimal() and number.isascii() else FORMAT,
    )


class _LastLine(msgspec.Struct, frozen=True):
    """What the file's last line says; ``stands`` is False where it is missing."""

    stands: bool = False
    version: str | None = None
    numbers: dict[str, int] = {}


def _take_last_line(body: str) -> tuple[_LastLine, str]:
    """Take the last line off; what a person wrote behind it is put under Notes.

    It is the last that looks like one, wherever an editor joined it to.
    """
    at = len(body)
    while (at := body.rfind("Ledger", 0, at)) >= 0:
        start = len(body[:at].rstrip("*_\\")) if at and body[at - 1] in "*_\\" else at
        found = _LAST_LINE.match(body, at)
        if found and (not start or body[start - 1].isspace()):
            numbers = {name[0]: int(name[1:]) for name in found["numbers"].split()}
            after = body[found.end() :]
            rest = body[:start] + (f"\n\n{NOTES_MARK}\n{after}" if after.strip() else "\n")
            return _LastLine(True, found["version"], numbers), rest
    return _LastLine(), _CUT_LAST_LINE.sub("\n", body)


def _without_cut_line(body: str, base: Ledger) -> str:
    """Drop a last line that is only the beginning of a line, in a file that was cut off."""
    head, newline, line = body.rpartition("\n")
    written = write(base).split("\n")
    if not line or line in written or not any(other.startswith(line) for other in written):
        return body
    return head + newline


def _decode(text: str | bytes) -> str:
    if 4 * len(text) > MAX_BYTES and _size(text) > MAX_BYTES:
        raise UnreadableLedger("The file is larger than 10 MB.")
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnreadableLedger("The file is not UTF-8 text.") from error
    text = text.removeprefix("\ufeff")
    if "\0" in text:
        raise UnreadableLedger("The file is binary, not text.")
    if not text.isascii() and _SURROGATE.search(text):
        raise UnreadableLedger("The file is not UTF-8 text.")
    if not text.strip():
        raise UnreadableLedger("The file is empty.")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text


def _size(text: str | bytes) -> int:
    """Size in bytes, as UTF-8."""
    return len(text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass"))


def _refuse_conflict(lines: list[str], plan: Outline) -> None:
    """Markers of a conflict, but for those that a person shows in a fenced block."""
    if not any(line.startswith("<<<<<<<") for line in lines):
        return
    wanted = 0
    fences = dict(plan.fences)
    number = 0
    while number < len(lines):
        if number in fences:
            number = fences[number]
            continue
        if _MARKERS[wanted].match(lines[number]):
            wanted += 1
            if wanted == len(_MARKERS):
                raise UnreadableLedger("The file holds the conflict markers of a merge.")
        number += 1


def _strays(found: Draft, base: Ledger) -> frozenset[str]:
    """Ids of entries that a person moved into a section that holds none."""
    here = {raw.ident for raw in found.entries}
    absent = {entry.id for entry in base.entries()} - here
    if not absent:
        return frozenset()
    prose = "\n".join(piece.text for piece in found.prose)
    mentioned = _BOLD_ID.findall("\n".join(piece.text for piece in base.prose))
    return frozenset(absent.intersection(_BOLD_ID.findall(prose)).difference(mentioned))
