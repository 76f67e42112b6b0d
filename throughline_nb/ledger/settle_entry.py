"""One entry of a file, compared with what it was in the ledger that the file was written from."""

import re
from collections.abc import Mapping
from typing import Final

import msgspec

from throughline_nb.ledger.drafts import Raw
from throughline_nb.ledger.inline import escape, one_line, unescape
from throughline_nb.ledger.loosely import equal, key, spelled
from throughline_nb.ledger.model import BY_LETTER, ENGINE_FIELDS, STATES, STATUSES, Entry

RETURNS: Final = (*ENGINE_FIELDS, "state", "status")
"""Fields that come back from the base where a person left them out."""

_NO_MARKS: Final = ("because", "by", "added", "step", "was")
"""Fields whose values hold no marks, so that any at their ends is an editor's."""

_WORDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "status": ("todo", STATUSES),
    "state": ("unverified", STATES),
}
_STRIKE_MARKS = re.compile(r"^(?:\\?~){1,2}|(?:\\?~){1,2}(?=[.:]?$)")
_STRUCK = re.compile(r"(~{1,2})(?=\S)(.*\S)\1[.:]?")
_LITERAL_STRUCK = re.compile(r"(~{1,2})(?=[^\s~])(.*[^\s~])\1")
_SOURCE_BEHIND = re.compile(r"\s*\((https?://\S+)\)[.]?$", re.IGNORECASE)


class Settled(msgspec.Struct):
    """An entry as it is to be.

    Attributes:
        entry: The entry; None where the person struck it out to remove it.
        notices: What a person should know, one sentence each.
    """

    entry: Entry | None
    notices: list[str] = []


def read_value(markdown: str) -> str:
    """A field's value from its Markdown."""
    return one_line(unescape(markdown))


def settle_entry(raw: Raw, ident: str, base: Entry | None, *, cut_off: bool) -> Settled:
    """Read one entry.

    Args:
        raw: What stands in the file.
        ident: The id that it has.
        base: The entry with this id in the base, or None.
        cut_off: Whether the file may end in this entry, so that what is absent proves nothing.
    """
    if raw.known is not None:
        return Settled(raw.known)
    result = Settled(None, [])
    struck, text = _text(raw, base)
    section = BY_LETTER[ident[0]]
    if struck and section.kind != "finding":
        return result
    values = {name: _field(raw, name, base, cut_off=cut_off) for name in section.fields}
    values["note"] = _note(raw, base, values["note"])
    if base is not None:
        if not text or (cut_off and base.text.startswith(text)):
            text = base.text
        elif text != base.text and values["by"] == base.by:
            values["by"] = "user"
    if section.kind == "step":
        values["status"] = _status(raw, ident, base, values["status"], result.notices)
    elif section.kind == "finding":
        if struck:
            values["state"] = "retracted"
        values["state"] = _word("state", ident, base, values["state"], result.notices)
    result.entry = Entry(id=ident, text=text, **values)
    if result.entry == base:
        result.entry = base
    return result


def settle_new(raw: Raw, ident: str, *, copied: bool) -> Settled:
    """Read an entry that a person typed without an id, or copied with that of another.

    Args:
        raw: What stands in the file.
        ident: The id that it gets.
        copied: Whether it stood there under the id of another entry.
    """
    kept = {name: value for name, value in raw.fields.items() if name not in ENGINE_FIELDS}
    if copied and kept.get("state", "retracted") != "retracted":
        kept["state"] = "unverified"
    fresh = msgspec.structs.replace(raw, ident=ident, known=None, fields=kept, struck=False)
    result = settle_entry(fresh, ident, None, cut_off=False)
    if result.entry is None:
        # Struck out though it was never recorded: its text stands as it was typed.
        plain = msgspec.structs.replace(fresh, text="\\" + fresh.text)
        result = settle_entry(plain, ident, None, cut_off=False)
    entry = result.entry
    if entry is None:
        return result
    found = _SOURCE_BEHIND.search(entry.text)
    if entry.kind == "finding" and not entry.source and found and found.start():
        text = entry.text[: found.start()]
        entry = msgspec.structs.replace(entry, text=text, source=found[1])
    result.entry = msgspec.structs.replace(entry, by="user")
    return result


def _text(raw: Raw, base: Entry | None) -> tuple[bool, str]:
    """Whether the line is struck out, and its text in the base's spelling."""
    markdown = raw.text.strip()
    struck = raw.struck
    if struck:
        markdown = _STRIKE_MARKS.sub("", markdown).strip()
    text = read_value(markdown)
    if base is None:
        found = None if struck else _STRUCK.fullmatch(markdown)
        return (True, read_value(found[2])) if found else (struck, text)
    if equal(base.text, text) and not _LITERAL_STRUCK.fullmatch(text):
        return struck, base.text
    if not struck and not _LITERAL_STRUCK.fullmatch(base.text):
        found = _STRUCK.fullmatch(markdown)
        inner = read_value(found[2]) if found else ""
        if not found:
            literal = _LITERAL_STRUCK.fullmatch(text)
            inner = literal[2] if literal and equal(base.text, literal[2]) else ""
        if inner:
            return True, spelled(base.text, inner)
    return struck, spelled(base.text, text)


def _field(raw: Raw, name: str, base: Entry | None, *, cut_off: bool) -> str:
    before: str = getattr(base, name) if base is not None else ""
    markdown = raw.fields.get(name)
    if markdown is None:
        return before if cut_off or name in RETURNS else ""
    value = read_value(markdown)
    if name in _NO_MARKS:
        value = value.strip("*_\\ ")
    if name in raw.behind:
        whole = read_value(f"{markdown} {raw.behind[name]}")
        if equal(before, whole):
            del raw.behind[name]
            return before
    if name in RETURNS and before and value.startswith(before + " "):
        # A line typed right below the field, which Markdown takes for its continuation.
        raw.extra.insert(0, escape(value[len(before) + 1 :]))
        return before
    if not value and name in RETURNS:
        return before
    if cut_off and before.startswith(value):
        return before
    return spelled(before, value)


def _note(raw: Raw, base: Entry | None, note: str) -> str:
    extra = [read_value(part) for part in (*raw.behind.values(), *raw.extra)]
    if not any(extra):
        return note
    joined = "; ".join(part for part in (note, *extra) if part)
    plain = " ".join(part for part in (note, *extra) if part)
    if base is not None and base.note and equal(base.note, plain):
        return base.note
    return spelled(base.note, joined) if base is not None else joined


def _status(raw: Raw, ident: str, base: Entry | None, value: str, notices: list[str]) -> str:
    """A step's status: a status word that changed beats the box, a changed box the old word."""
    boxed = {"x": "done", " ": "todo"}.get(raw.box, "")
    if base is None:
        return _word("status", ident, base, value or boxed, notices)
    word = _word("status", ident, base, value, notices)
    if word != base.status or not boxed or (boxed == "done") == (base.status == "done"):
        return word
    return boxed


def _word(name: str, ident: str, base: Entry | None, value: str, notices: list[str]) -> str:
    """One of the words that a field may have, whatever its case and hyphens."""
    default, words = _WORDS[name]
    before: str = (getattr(base, name) if base is not None else "") or default
    folded = re.sub(r"[\s_-]+", " ", key(value)).strip(" .*").casefold()
    if folded in words or not folded:
        return folded or before
    notices.append(f"{ident}'s {name} “{value}” is none of {', '.join(words)}; it stays {before}.")
    return before
