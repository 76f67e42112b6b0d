"""Taking an entry's text out of ledgers, files and messages, wherever it was repeated."""

import re
from collections.abc import Iterable
from typing import Final

import msgspec

from throughline_nb.ledger import Entry, Ledger, Prose, UnreadableLedger, read
from throughline_nb.ledger.inline import escape
from throughline_nb.ledger.model import SECTIONS
from throughline_nb.store.ledgers import text_of

PLACEHOLDER: Final = "[purged]"

TELLING: Final = 8
"""Characters from which on a text is looked for elsewhere; shorter ones, such as “yes”, only stand
for themselves in the entry."""

_PREFIX: Final = 12
"""Characters of a text's start that give it away in a subject, where long texts are cut."""

_OWN_WORDS: Final = ("text", "reason", "note", "answer", "missing")
"""Fields that hold words of the entry's own; a source is often shared with others."""


_ENTRY: Final = (
    r"^[ \t\ufeff]*(?:(?:[-*+]|[0-9]+[.)])[ \t]+)?(?:\[.\][ \t]*)?\*\*(?:%s)\*\*[^\n]*"
    r"(?:\n[ \t]+[^\n]*)*"
)
"""The lines of an entry in a ledger or a handoff, as the engine or a person may have put them."""


class Redactor:
    """Knows what must go: entries by id, and all texts that they ever had."""

    def __init__(self, idents: Iterable[str]) -> None:
        self._idents = tuple(idents)
        self._named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, self._idents))})(?!\w)")
        ids = "|".join(map(re.escape, self._idents))
        self._lines = re.compile(_ENTRY % ids, re.MULTILINE)
        self._texts: dict[str, str] = {}
        self._last: Ledger | None = None
        self._clean: dict[Entry, Entry] = {}

    @property
    def texts(self) -> tuple[str, ...]:
        """All that the entries ever said."""
        return tuple(self._texts)

    def text(self, text: str) -> str:
        """A text that is kept elsewhere, without their words."""
        clean = self.data(text.encode("utf-8", "surrogateescape"))
        return clean.decode("utf-8", "surrogateescape")

    def names(self, data: bytes) -> bool:
        """Whether one of the entries stands in a ledger's text."""
        text = data.decode("utf-8", "replace")
        return any(f"**{ident}**" in text for ident in self._idents)

    def learn(self, data: bytes) -> None:
        """Take up what the entries say in one version."""
        if not self._named.search(data.decode("utf-8", "replace")):
            return
        try:
            ledger = read(text_of(data), self._last).ledger
        except UnreadableLedger:
            return
        self._last = ledger
        for ident in self._idents:
            entry = ledger.get(ident)
            for name in _OWN_WORDS if entry is not None else ():
                if value := getattr(entry, name):
                    self._texts[value] = _squeezed(value)

    def concerns(self, data: bytes) -> bool:
        """Whether a file names an entry, or repeats its words in whatever spelling."""
        return any(
            self._named.search(text) is not None or self._repeats(text) for text in _decoded(data)
        )

    def left_in(self, data: bytes) -> bool:
        """Whether words of the entries stand there as they were written."""
        text = data.decode("utf-8", "replace")
        return any(form in text for form in self._forms())

    def ledger(self, ledger: Ledger) -> Ledger:
        """A version without the entries, and without their words in others."""
        lists = {
            section.attr: tuple(
                self._entry(entry)
                for entry in ledger.list(section.attr)
                if entry.id not in self._idents and entry.text not in self._texts
            )
            for section in SECTIONS
        }
        return msgspec.structs.replace(
            ledger,
            goal=self._text(ledger.goal),
            prose=tuple(
                Prose(each.place, self._text(each.text))
                for each in ledger.prose
                if each.place not in self._idents
            ),
            meta=tuple((key, self._text(value)) for key, value in ledger.meta),
            **lists,
        )

    def data(self, data: bytes) -> bytes:
        """Another file without those words."""
        text = data.decode("utf-8", "surrogateescape")
        for form in self._forms():
            text = text.replace(form, PLACEHOLDER)
        if self._repeats(text):
            text = "\n".join(
                PLACEHOLDER if self._repeats(line) else line for line in text.split("\n")
            )
        return text.encode("utf-8", "surrogateescape") if not self._repeats(text) else b""

    def file(self, data: bytes) -> bytes:
        """A person's own file without those words and the lines of those entries; the rest stays.

        A line is an entry's where it begins with its id in bold, with what is indented below it.
        """
        for code in reversed(_codes(data)):  # those of two bytes first: UTF-8 reads them, too
            text = data.decode(code, "replace")
            if self._repeats(text) or self._lines.search(text):
                break
        else:
            return data
        wide = code.startswith("utf-16")
        loose, end = ("surrogatepass", len(data) // 2 * 2) if wide else ("surrogateescape", None)
        text = self._lines.sub(PLACEHOLDER, data[:end].decode(code, loose))
        for form in self._forms():
            text = text.replace(form, PLACEHOLDER)
        return self._text(text).encode(code, loose) + (data[end:] if wide else b"")

    def message(self, text: str) -> str:
        """A commit's message without those words."""
        subject, line_end, rest = text.partition("\n")
        found = self._named.search(subject)
        if found is not None:
            colon = subject.find(":", found.end())
            subject = subject if colon < 0 else subject[:colon]
        text = subject + line_end + rest
        for value in self._texts:
            text = _without(text, value)
        return text

    def _entry(self, entry: Entry) -> Entry:
        clean = self._clean.get(entry)
        if clean is None:  # most entries stand in most versions
            clean = self._clean[entry] = self._cleaned(entry)
        return clean

    def _cleaned(self, entry: Entry) -> Entry:
        changed = {}
        for name in Entry.__struct_fields__:
            value = getattr(entry, name)
            new = self._text(value)
            if new != value and name != "id":
                changed[name] = new
        return msgspec.structs.replace(entry, **changed) if changed else entry

    def _text(self, text: str) -> str:
        for value in self._texts:
            if len(value) >= TELLING:
                text = text.replace(value, PLACEHOLDER)
        return self._without_words(text) if self._repeats(text) else text

    def _without_words(self, text: str) -> str:
        """``text`` without the words in whatever spelling; the rest of it stays."""
        for value in self._texts.values():
            while len(value) >= TELLING:
                kept = [at for at, c in enumerate(text) if c.isalnum()]
                squeezed, places = "", []
                for at in kept:
                    folded = text[at].casefold()
                    squeezed += folded
                    places += [at] * len(folded)
                found = squeezed.find(value)
                if found < 0:
                    break
                end = places[found + len(value) - 1] + 1
                text = text[: places[found]] + PLACEHOLDER + text[end:]
        return PLACEHOLDER if self._repeats(text) else text

    def _repeats(self, text: str) -> bool:
        squeezed = _squeezed(text)
        return any(len(value) >= TELLING and value in squeezed for value in self._texts.values())

    def _forms(self) -> list[str]:
        long = [value for value in self._texts if len(value) >= TELLING]
        return [form for value in long for form in dict.fromkeys((value, escape(value)))]


def _without(text: str, value: str) -> str:
    start = value if len(value) < _PREFIX else value[:_PREFIX]
    if len(start) < TELLING:
        return text
    while (at := text.find(start)) >= 0:
        end = at + len(start)
        while end < len(text) and end - at < len(value) and text[end] == value[end - at]:
            end += 1
        text = text[:at] + PLACEHOLDER + text[end:].removeprefix("…")
    return text


def _decoded(data: bytes) -> list[str]:
    """A file's text, also as a foreign editor may have saved it."""
    return [data.decode(code, "replace") for code in _codes(data)]


def _codes(data: bytes) -> tuple[str, ...]:
    return ("utf-8", "utf-16-le", "utf-16-be") if b"\x00" in data else ("utf-8",)


def _squeezed(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
