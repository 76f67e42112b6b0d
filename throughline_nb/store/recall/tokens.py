"""From text to the tokens that are indexed and searched.

Exactness is what matters: a figure, a version, a path, an identifier or a word of any script must
be found in whichever usual way it is spelled. So a compound is indexed by its parts and in one
piece: ``v0.4.26`` as ``0``, ``4``, ``26`` and ``0426``; ``getUserName`` as ``get``, ``user``,
``name`` and ``getusername``; ``1,500`` and ``1 500`` as ``1500`` too. Scripts without spaces
between words are indexed by pairs of characters. Most chunks of a text were met before, so each
is taken apart once and remembered.
"""

import re
import unicodedata
from functools import cache, lru_cache
from typing import Final

from throughline_nb.store.recall.stem import stem

LONGEST: Final = 64
"""Characters of the longest token; a longer one (base64, a hash of hashes) is searched by parts."""

STOP: Final = frozenset(
    """a about above after again all also am an and any are arent as at be because been before being
    below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont
    down during each few for from further had hadnt has hasnt have havent having he her here hers
    herself him himself his how i id if ill im in into is isnt it its itself ive just me more most
    my myself no nor not now of off on once only or other our ours ourselves out over own same she
    should shouldnt so some such than that the their theirs them themselves then there these they
    this those through to too under until up us very was wasnt we were werent what when where which
    while who whom whose why will with wont would wouldnt you your yours yourself yourselves s t ll
    re ve d m don doesn didn isn wasn""".split()
)
"""English words that say nothing of what a passage is about."""

_JOIN: Final = r"[-_./:@#\\,'’&=?%~+]{1,3}"
_ASCII: Final = re.compile(rf"[A-Za-z0-9]+(?:{_JOIN}[A-Za-z0-9]+)*(?:\+\+|#(?!\w))?")
_WIDE: Final = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
    r"\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Thai, Lao, Burmese, Khmer, kana, CJK and hangul: no spaces, or endings that grow on words."""

_PIECE: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^A-Za-z0-9\W_]+")
_SPACED_DIGITS: Final = re.compile(
    r"(?<![\w.,])[0-9]{1,3}(?:[ \u00a0\u2009\u202f'’][0-9]{3})+(?![0-9])"
)
_MARKS: Final = re.compile(r"[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0670]")
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ı": "i", "ł": "l", "đ": "d", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th", "ς": "σ"}
)


def tokens(text: str, *, query: bool = False) -> list[str]:
    """The tokens of a text, in its order, repeated as often as they stand there.

    Args:
        text: Any text.
        query: Whether it is a query: then a lone last character of a run without spaces is left
            out, unless it is all there is.
    """
    return joined(text, query=query).split()


def joined(text: str, *, query: bool = False) -> str:
    """As :func:`tokens`, separated by spaces: what FTS5 is fed with."""
    parts: list[str] = []
    if text.isascii():
        if "'" in text or " " in text:
            parts += _spaced(text)
        parts += map(_ascii, _ASCII.findall(text))
        return " ".join(filter(None, parts))
    text = unicodedata.normalize("NFKC", text)
    parts += _spaced(text)
    wide = _wide_query if query else _wide
    for chunk in _any().findall(text):
        if chunk.isascii():
            parts.append(_ascii(chunk) if chunk[0].isalnum() else "")
        else:
            parts.append(wide(chunk))
    return " ".join(filter(None, parts))


def fold(text: str) -> str:
    """Lower case without accents: ``Straße`` is ``strasse``, ``Işık`` is ``isik``."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", _MARKS.sub("", text)).translate(_LETTERS)


@cache
def _any() -> re.Pattern[str]:
    """Chunks of any text; compiled when first met, since it takes a few milliseconds."""
    letter = rf"[^\W_{_WIDE}]"
    mark = r"[\u0300-\u036f\u0591-\u05c7\u064b-\u0652\u0900-\u0dff]"
    word = rf"{letter}(?:{letter}|{mark})*"
    wide = rf"[{_WIDE}]+"
    symbol = r"[\u2190-\u2bff\U0001f000-\U0001faff\u00a7\u20a0-\u20bf]"
    return re.compile(rf"{wide}|{word}(?:{_JOIN}{word})*(?:\+\+|#(?!\w))?|{symbol}")


def _spaced(text: str) -> list[str]:
    return [re.sub(r"[^0-9]", "", found) for found in _SPACED_DIGITS.findall(text)]


@lru_cache(maxsize=1 << 16)
def _ascii(chunk: str) -> str:
    """Tokens of a chunk of ASCII, separated by spaces."""
    return " ".join(_apart(chunk))


@lru_cache(maxsize=1 << 15)
def _wide(chunk: str) -> str:
    return " ".join(_other(chunk, last=True))


@lru_cache(maxsize=1 << 10)
def _wide_query(chunk: str) -> str:
    return " ".join(_other(chunk, last=False))


def _other(chunk: str, *, last: bool) -> list[str]:
    first = chunk[0]
    if re.match(f"[{_WIDE}]", first):
        run = fold(chunk)
        pairs = [run[at : at + 2] for at in range(len(run) - 1)]
        return [*pairs, run[-1]] if last or len(run) == 1 else pairs
    if not first.isalnum():
        return [chunk]
    return _apart(chunk)


def _apart(chunk: str) -> list[str]:
    """A compound in parts and in one piece; a plain word alone."""
    if chunk.isalpha() and (chunk.islower() or chunk.istitle() or chunk.isupper()):
        return _word(fold(chunk))
    if chunk.endswith(("'s", "’s")):
        chunk = chunk[:-2]
    found = [fold(chunk)] if chunk.endswith(("++", "#")) else []
    pieces = re.findall(rf"(?:(?!{_JOIN})[\w\u0300-\u036f])+", chunk)
    parts = [part for piece in pieces for part in _split(piece)]
    for part in parts:
        found += _word(part)
    known = set(parts)
    plain = [fold(piece) for piece in pieces]
    if plain and re.fullmatch(r"v[0-9].*", plain[0]):
        plain[0] = plain[0][1:]
    if len(pieces) > 1 or len(parts) > 1:
        whole = "".join(plain)
        if len(whole) <= LONGEST and whole not in STOP and whole not in known:
            found += _word(whole)
        if len(parts) > len(pieces) > 1:  # each piece too: q4 and k of Q4_K_M
            found += [piece for piece in plain if piece not in known and len(piece) <= LONGEST]
    return found


def _split(piece: str) -> list[str]:
    """Parts of camelCase, and of letters and digits side by side, folded."""
    if piece.isascii():
        parts = _PIECE.findall(piece)
        if len(parts) > 2 * len(piece) // 3 and len(piece) > 8:  # a hash or key: no parts in it
            return [piece.lower()]
        if len(parts) > 1 and re.fullmatch("[vV]", parts[0]) and parts[1].isdigit():
            parts = parts[1:]
        return [part.lower() for part in parts]
    if piece.islower() or piece.istitle() or piece.isupper():
        return [fold(piece)]
    return [
        fold(part) for part in re.sub(r"(?<=[^\W\d_])(?=[A-ZÀ-ÖØ-Þ][a-zß-ÿ])", " ", piece).split()
    ]


def _word(word: str) -> list[str]:
    """A folded word: none where it is a stop word, its stem where it is English by its letters."""
    if word in STOP:
        return []
    if not (word.isascii() and word.isalpha()):
        return [word[:LONGEST]]
    return [stem(word) if len(word) <= LONGEST else word[:LONGEST]]
