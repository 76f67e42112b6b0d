"""The exact figures in a text, and which of a claim's figures its source does not show.

Exact are numbers, versions, dates, times and amounts. The two sides are read differently: in a
source any digits count, whatever stands around them, and with all that they may mean; in a claim
only what is a figure beyond doubt. Digits in a URL, a path, an id (``F12``, turn 41) or a name
(``utf-8``, ``x86_64``, ``llama-3``) are none. A wrong "missing" is worse than a miss.
"""

import re
import unicodedata
from collections.abc import Collection, Iterator
from typing import Final

from throughline_nb.ledger import dates, numerals
from throughline_nb.ledger.urls import urls_in

_MAGNITUDE_WORDS: Final = "|".join(
    sorted((word for word in numerals.MAGNITUDES if len(word) > 2), key=len, reverse=True)
)
_MAGNITUDE: Final = (
    rf"(?:[ \u00a0-]?({_MAGNITUDE_WORDS})(?![^\W\d_])"
    r"|([kmbt]|[mbt]n)(?![^\W_])|\s?([千万萬만億亿억兆]))?"
)
_RUN: Final = re.compile(rf"({numerals.RUN}){_MAGNITUDE}")
_CLAIMED_RUN: Final = re.compile(_RUN.pattern, re.IGNORECASE)
_BUILD: Final = re.compile(r"b(?<!\wb)[0-9]{3,}\b")
_EXPONENT: Final = re.compile(
    r"([0-9](?<![\w.][0-9])[0-9]*(?:\.[0-9]+)?)[eE]([+-]?[0-9]+)(?![\w.])"
)

_MASKED: Final = re.compile(
    r"\b[\w.+-]+@[\w-]+\.[\w.-]+"  # addresses
    r"|\b[CSFDQP][1-9]\d*\b"  # ids of entries
    r"|(?i:\b(?:turns?|steps?|cells?|ターン)\s*#?\s*\d+(?:(?:\s*(?:,|and|to|-|–)\s*)\d+)*\b)"
    r"|(?<![\w])(?:~|\.{1,2})?/[A-Za-z_][\w./~-]*"  # absolute paths
    r"|(?<![\w/])[\w.-]*[A-Za-z_][\w.-]*/[\w./~-]*\d[\w./~-]*"  # relative ones
    r"|(?<![\w.])[\w-]*[A-Za-z_][\w-]*(?:\.[\w-]+)*\.(?:py|md|json|gguf|txt|csv|html?|js|ts|ipynb"
    r"|ya?ml|toml|pdf|zip|gz|log|xml)\b"  # file names
    r"|(?<![\w-])(?=[0-9a-f-]*[a-f])(?=[a-f-]*[0-9])[0-9a-f]{7,}(?:-[0-9a-f]{4,})*\b"  # hashes
)
_NAME_BEFORE: Final = re.compile(r"(?:[^\W\d]|[^\W\d_][^\W_]*[-.]|\+\+)$")
_VERSION_BEFORE: Final = re.compile(r"(?<![^\W_])[vV]\.?$")
_LETTERS: Final = re.compile(r"[^\W\d]+")
_CURRENCY: Final = "$€£¥₹₩₽%‰"
_UNITS: Final = frozenset(
    [
        "ns",
        "us",
        "µs",
        "μs",
        "ms",
        "s",
        "sec",
        "secs",
        "min",
        "mins",
        "h",
        "hr",
        "hrs",
        "d",
        "w",
        "y",
        "yr",
        "yrs",
        "b",
        "kb",
        "mb",
        "gb",
        "tb",
        "pb",
        "kib",
        "mib",
        "gib",
        "tib",
        "bit",
        "bits",
        "byte",
        "bytes",
        "hz",
        "khz",
        "mhz",
        "ghz",
        "px",
        "pt",
        "em",
        "rem",
        "dpi",
        "ppi",
        "fps",
        "kw",
        "mw",
        "gw",
        "wh",
        "kwh",
        "mwh",
        "v",
        "kv",
        "a",
        "ma",
        "mah",
        "g",
        "kg",
        "mg",
        "t",
        "lb",
        "lbs",
        "oz",
        "m",
        "mm",
        "cm",
        "km",
        "nm",
        "µm",
        "in",
        "ft",
        "mi",
        "l",
        "ml",
        "c",
        "f",
        "kbps",
        "mbps",
        "gbps",
        "tok",
        "tokens",
        "tps",
        "qps",
        "rps",
        "x",
        "usd",
        "eur",
        "gbp",
        "jpy",
        "cny",
        "chf",
        "pp",
        "bps",
        "db",
        "kcal",
        "kj",
        "j",
        "pa",
        "kpa",
        "bar",
        "psi",
        "rpm",
        "ppm",
        "ppb",
        "uhr",
        "k",
        "bn",
        "mn",
        "tn",
        "ha",
        "ghz",
    ]
)
_WORDS: Final = {
    word: str(number)
    for number, words in enumerate(
        [
            "zero null zéro cero",
            "one eins une uno una",
            "two zwei deux dos twice",
            "three drei trois tres",
            "four vier quatre cuatro",
            "five fünf cinq cinco",
            "six sechs seis",
            "seven sieben sept siete",
            "eight acht huit ocho",
            "nine neun neuf nueve",
            "ten zehn dix diez",
            "eleven elf onze once",
            "twelve zwölf douze doce dozen",
            "thirteen dreizehn",
            "fourteen vierzehn",
            "fifteen fünfzehn",
            "sixteen sechzehn",
            "seventeen siebzehn",
            "eighteen achtzehn",
            "nineteen neunzehn",
            "twenty zwanzig vingt veinte",
        ]
    )
    for word in words.split()
}
_AROUND: Final = ".,;:!?()[]{}\"'*_`“”‘’«»"
_HIDDEN: Final = {0xFF0E: ".", 0xFF0C: ",", 0xFF1A: ":", 0xFF05: "%", 0xFF04: "$", 0xFFE5: "¥"}
_SHOWN_AT_MOST: Final = 12
"""Missing figures named for one claim."""

_CLAIM_READ: Final = 4_000
"""Characters of a claim that are checked; a claim is a sentence."""

_RUN_AT_MOST: Final = 80
"""Characters of a number; what is longer is none."""


def figures(text: str) -> tuple[str, ...]:
    """All figures that ``text`` shows, in every reading, normalised and sorted.

    Args:
        text: What was read: a page, a file, a turn.
    """
    text = _plain(text)
    found: set[str] = set()
    lower = text.lower()
    for run, word, letter, wide in set(_RUN.findall(lower)):
        if len(run) <= _RUN_AT_MOST:
            found |= numerals.keys(run, word or letter or wide)
    for moment in (*dates.dates(text), *dates.times(text)):
        for key in moment.keys:
            found.add(key)
            found.update(dates.parts(key))
    found.update(_BUILD.findall(text))
    found.update(_exponent(*pair) for pair in set(_EXPONENT.findall(text)))
    words = {word.strip(_AROUND) for word in set(lower.split())}
    found.update(_WORDS[word] for word in _WORDS.keys() & words)
    return tuple(sorted(found))


def missing(claim: str, read: Collection[str]) -> tuple[str, ...]:
    """The figures of a claim that were not read, as the claim spells them.

    Args:
        claim: Text of a finding.
        read: What :func:`figures` gave for all that its source showed.
    """
    known = read if isinstance(read, set | frozenset) else frozenset(read)
    absent = [
        spelt
        for spelt, ways in claimed(claim)
        if not any(all(key in known for key in way) for way in ways)
    ]
    return tuple(dict.fromkeys(absent))[:_SHOWN_AT_MOST]


def claimed(claim: str) -> list[tuple[str, numerals.Ways]]:
    """The exact figures of a claim as spelt, each with its readings, in their order."""
    text = _plain(claim[:_CLAIM_READ])
    for url in urls_in(text):
        text = text.replace(url, " " * len(url))
    text = _MASKED.sub(_blank, text)
    found: list[tuple[int, int, numerals.Ways]] = []
    for moment in sorted((*dates.dates(text), *dates.times(text)), key=_longest_first):
        if all(moment.end <= start or moment.start >= end for start, end, _ in found):
            ways = tuple(way for key in moment.keys for way in dates.ways(key))
            found.append((moment.start, moment.end, ways))
    found += [
        (match.start(), match.end(), ((_exponent(match[1], match[2]),),))
        for match in _EXPONENT.finditer(text)
    ]
    for start, end, _ in found:
        text = text[:start] + " " * (end - start) + text[end:]
    found += [(match.start(), match.end(), ((match.group(),),)) for match in _BUILD.finditer(text)]
    found += _numbers(text)
    return [(claim[start:end].strip(), ways) for start, end, ways in sorted(found)]


def _numbers(text: str) -> Iterator[tuple[int, int, numerals.Ways]]:
    for match in _CLAIMED_RUN.finditer(text):
        start, end = match.span(1)
        before, behind = text[max(0, start - 24) : start], text[end : end + 12]
        if len(match[1]) > _RUN_AT_MOST or _is_name(before):
            continue
        word, letter, wide = match.groups()[1:]
        suffix = (word or letter or wide or "").lower()
        letters = _LETTERS.match(behind)
        unit = letters.group().lower() if letters and not _is_wide(behind[:1]) else ""
        if unit and letters and not word:
            after = behind[letters.end() : letters.end() + 1]
            if (unit not in _UNITS and not suffix) or after.isdigit():
                continue
        if letter in ("m", "t"):
            suffix = ""  # metres, minutes, tonnes: as a magnitude they are capitals
        amount = bool(unit) or _is_sign(before.rstrip()[-1:]) or _is_sign(behind.lstrip()[:1])
        ways = numerals.ways(match[1].lower(), suffix, amount=amount)
        yield start, match.end() if suffix else end, ways


def _is_name(before: str) -> bool:
    """Whether digits behind this belong to a name, such as ``utf-8``."""
    if _VERSION_BEFORE.search(before) or _is_wide(before[-1:]):
        return False
    return _NAME_BEFORE.search(before) is not None


def _is_wide(sign: str) -> bool:
    """Whether a character is Chinese, Japanese or Korean; a pattern takes 6 ms to compile."""
    return (
        "\u2e80" <= sign <= "\u9fff" or "\uac00" <= sign <= "\ud7af" or "\uff00" <= sign <= "\uffef"
    )


def _is_sign(sign: str) -> bool:
    return sign != "" and sign in _CURRENCY


def _plain(text: str) -> str:
    """``text`` with the digits and signs of all scripts as ASCII, character for character."""
    if text.isascii():
        return text
    table = {
        ord(sign): str(unicodedata.decimal(sign))
        for sign in set(text)
        if not sign.isascii() and sign.isdecimal()
    }
    return text.translate(table | _HIDDEN)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group())


def _longest_first(moment: dates.Moment) -> tuple[int, int]:
    return (moment.start - moment.end, moment.start)


def _exponent(mantissa: str, power: str) -> str:
    return f"{float(f'{mantissa}e{power}'):g}"
