"""Which words were removed for good, known without being kept: ``purged.json`` in the home.

A host still has its own copy of a chat, and hands it in again when an earlier turn is edited, when
the chat grows long enough for recall, when a handoff quotes from it. So whatever is taken over
from a chat is first looked through for what was purged in this home, in any of its projects.

Of a phrase only its number of words, eight bits of its first word and a salted hash are kept. It is
known again in any case, punctuation and line breaks, between any words; not when its own words are
others, or other words stand between them. The file gives nothing away to a reader, but whoever has
it can try a guess: a phrase of few possible words is not secret from them.
"""

import hashlib
import os
import re
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.store.files import lock, write_atomic
from throughline_nb.store.home import Home
from throughline_nb.store.redact import PLACEHOLDER, TELLING

_WIDE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")
"""A run of letters and digits; of a script without spaces between words, one character."""


class Phrase(msgspec.Struct, frozen=True):
    """One phrase.

    Attributes:
        words: How many words it has.
        first: Eight bits of a hash of the first one, so that most places are passed over at once.
        mark: Salted hash of all of them.
    """

    words: int
    first: int
    mark: str


class Phrases(msgspec.Struct, frozen=True):
    """What the file holds.

    Attributes:
        salt: Random, in hexadecimal; made with the file.
        phrases: The phrases.
    """

    salt: str = ""
    phrases: tuple[Phrase, ...] = ()


class Purged:
    """The phrases that were removed for good in a home.

    Args:
        home: The home.
    """

    def __init__(self, home: Home) -> None:
        self._home = home
        self._known: tuple[tuple[int, int, int] | None, Mapping[int, tuple[Phrase, ...]]] = (
            None,
            {},
        )
        self._salt = b""

    def add(self, texts: Iterable[str]) -> None:
        """Keep texts out from now on; those of fewer than eight letters and digits are too common.

        Raises:
            StoreError: The file cannot be written; nothing was changed.
        """
        found = [words for text in texts if sum(map(len, words := _words(text))) >= TELLING]
        if not found:
            return
        self._home.ensure_writable()
        with lock(self._home.locks / ".purged.lock"):
            before = _read(self._home.purged)
            salt = before.salt or os.urandom(16).hex()
            key = bytes.fromhex(salt)
            new = [Phrase(len(words), _first(words[0], key), _mark(words, key)) for words in found]
            after = Phrases(salt, tuple(dict.fromkeys((*before.phrases, *new))))
            if after == before:
                return
            if before == Phrases():  # what cannot be read is kept beside
                with suppress(OSError):
                    self._home.purged.replace(self._home.purged.with_suffix(".damaged.json"))
            write_atomic(self._home.purged, msgspec.json.encode(after) + b"\n")

    def without(self, text: str) -> str:
        """A text without those phrases; itself where it has none of them."""
        by_first = self._phrases()
        if not by_first or not text:
            return text
        parts, done = [], 0
        for start, end in self._places(text, by_first):
            parts += [text[done:start], PLACEHOLDER]
            done = end
        return "".join([*parts, text[done:]]) if parts else text

    def _places(
        self, text: str, by_first: Mapping[int, tuple[Phrase, ...]]
    ) -> Iterator[tuple[int, int]]:
        """Where a phrase stands, from the start on; of several at one place the longest."""
        found = [(match.start(), match.end(), _folded(match[0])) for match in _WORD.finditer(text)]
        at = 0
        while at < len(found):
            held = 0
            for phrase in by_first.get(_first(found[at][2], self._salt), ()):
                words = [word for _, _, word in found[at : at + phrase.words]]
                if len(words) == phrase.words and _mark(words, self._salt) == phrase.mark:
                    held = phrase.words
                    break
            if held:
                yield found[at][0], found[at + held - 1][1]
            at += held or 1

    def _phrases(self) -> Mapping[int, tuple[Phrase, ...]]:
        """The phrases by their first word, the longest first; read again when the file changed."""
        file = self._home.purged
        try:
            found = os.stat(file)  # noqa: PTH116 - once a message
        except OSError:
            return {}
        stamp = found.st_ino, found.st_mtime_ns, found.st_size
        if self._known[0] != stamp:
            held = _read(file)
            self._salt = bytes.fromhex(held.salt)
            by_first: dict[int, tuple[Phrase, ...]] = {}
            for phrase in sorted(held.phrases, key=lambda each: -each.words):
                by_first[phrase.first] = (*by_first.get(phrase.first, ()), phrase)
            self._known = stamp, by_first
        return self._known[1]


def _read(file: Path) -> Phrases:
    """What the file holds; nothing where there is none, or a damaged one."""
    with suppress(OSError, msgspec.DecodeError, ValueError):
        held = msgspec.json.decode(file.read_bytes(), type=Phrases)
        bytes.fromhex(held.salt)
        return held
    return Phrases()


def _words(text: str) -> list[str]:
    return [_folded(word) for word in _WORD.findall(text)]


def _folded(word: str) -> str:
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFKC", word).casefold()


def _first(word: str, salt: bytes) -> int:
    return zlib.crc32(word.encode("utf-8", "surrogatepass"), zlib.crc32(salt)) & 0xFF


def _mark(words: list[str], salt: bytes) -> str:
    said = " ".join(words).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(said, key=salt, digest_size=16).hexdigest()
