"""The ledger file: :func:`write` it canonically, :func:`read` what any editor made of it.

The layout is described in docs/ledger-format.md. Reading goes in steps, a module each:
:mod:`front` reads the front matter, :mod:`outline` finds the sections, :mod:`blocks` and
:mod:`drafts` the entries and the prose in them, and :mod:`settle` compares these with the ledger
that the file was written from.
"""

import re
from typing import Final

import msgspec

from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger.model import Ledger

__all__ = ["MAX_BYTES", "Reading", "UnreadableLedger", "read", "write"]

from throughline_nb.ledger import drafts, outline, settle
from throughline_nb.ledger.front import Front, plain_front
from throughline_nb.ledger.model import FORMAT, SECTIONS
from throughline_nb.ledger.writer import render, write

MAX_BYTES: Final = 10_000_000
"""Larger files are not read."""

_LAST_LINE = re.compile(
    r"(?:^|(?<=\s))Ledger(?:\s+version\s+\\*`?([\w.-]+?)\\*`?)?\s+·\s+next"
    r"((?:\s+[CSFDQP][0-9]{1,9})+)\s*(?=\n|$)"
)
_COMMENT = re.compile(r"[\\&lt;<]+[!\\]*[-–—\\]+\s*throughLine ledger, version ([\w.-]+?)\.\s")


class UnreadableLedger(ThroughLineError):
    """The text is no ledger; the message says why."""


class Reading(msgspec.Struct, frozen=True):
    """What was read.

    Attributes:
        ledger: The ledger that the text means.
        version: The version it was written from, where it says so.
        notices: What a person should know about how it was read, one sentence each.
        complete: Whether the file's last line stands.
        format: Number of the file format; a store writes none newer than its own.
    """

    ledger: Ledger
    version: str | None
    notices: tuple[str, ...] = ()
    complete: bool = True
    format: int = FORMAT


def read(text: str | bytes, base: Ledger | None = None) -> Reading:
    """Read a ledger file as any editor may have saved it."""
    content = _decode(text)
    front, content = _front(content)
    version = front.get("version")
    comment = _COMMENT.search(content)
    version = version or (comment[1] if comment else None)
    last = None
    for last in _LAST_LINE.finditer(content):
        pass
    numbers: dict[str, int] = {}
    if last:
        version = version or last[1]
        numbers = {n[0]: int(n[1:]) for n in last[2].split()}
        content = content[: last.start()] + "\n\n" + content[last.end() :]
    raw_lines = content.split("\n")
    lines = content.replace("\xa0", " ").split("\n") if "\xa0" in content else raw_lines
    plan = outline.outline(lines)
    known = {render(entry): entry for entry in base.entries()} if base else {}
    found = drafts.draft(lines, raw_lines, plan, known)
    ledger, notices = settle.settle(found, base, front, numbers, complete=last is not None)
    number = front.get("throughline") or ""
    return Reading(
        ledger,
        version,
        (*front.notices, *notices),
        last is not None,
        int(number) if number.isdecimal() else FORMAT,
    )


def _decode(text: str | bytes) -> str:
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            raise UnreadableLedger("The file is not UTF-8 text.") from error
    if not text.strip():
        raise UnreadableLedger("The file is empty.")
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _front(content: str) -> tuple[Front, str]:
    lines = content.split("\n", 1)[0]
    if lines.rstrip() != "---":
        return Front(), content
    end = content.find("\n---\n", 3)
    if end < 0:
        return Front(), content
    front = plain_front(content[4:end].split("\n") if end > 3 else [])
    return front or Front(), content[end + 5 :]
