"""Dates and times of day in text, in the spellings of several languages, as ISO 8601."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_NAMES: Final = """
january jan januar jänner janvier janv enero ene gennaio gen janeiro januari
february feb februar février févr fev febrero febbraio fevereiro februari
march mar märz mär mars marzo março maart mrt
april apr avril avr abril abr aprile
may mai mayo maggio maio mei mag
june jun juni juin junio giugno giu junho
july jul juli juillet juil julio luglio lug julho
august aug août aout agosto ago augustus
september sep sept septembre septiembre settembre set setembro
october oct oktober okt octobre octubre ottobre ott outubro out
november nov novembre noviembre novembro
december dec dezember dez décembre déc diciembre dic dicembre dezembro
"""
MONTHS: Final = {
    name: number for number, line in enumerate(_NAMES.split("\n")[1:-1], 1) for name in line.split()
}

_AMBIGUOUS: Final = frozenset(
    [
        "may",
        "march",
        "mar",
        "mars",
        "set",
        "out",
        "mag",
        "gen",
        "ago",
        "dec",
        "sep",
        "ene",
        "ott",
        "dic",
        "dez",
        "abr",
        "jan",
        "jun",
        "jul",
        "apr",
    ]
)
"""Names of months that are other words too, unless they begin with a capital."""

# Each pattern begins with a digit, which is quick to find; what must not stand before it is looked
# up behind it. Digits are ASCII here (:mod:`.figures` sees to that).
_DAY: Final = r"([0-9](?<![0-9.,:][0-9])[0-9]?)(?:st|nd|rd|th|er|\.|º)?"
_OF: Final = r"(?:\s+(?:of|de|del))?"
_A_YEAR: Final = r"((?:1[5-9]|20)[0-9]{2})(?![0-9]|[.][0-9])"

_DAY_FIRST: Final = re.compile(
    rf"{_DAY}{_OF}[\s-]+([^\W\d_]{{3,10}})\.?(?![^\W_])(?:,?{_OF}[\s-]+{_A_YEAR})?"
)
_DAY_BEHIND: Final = re.compile(
    rf"([0-9](?<=[\w.]\s[0-9])[0-9]?)(?:st|nd|rd|th)?(?![0-9%.,:][0-9]|[^\W_])(?:,?{_OF}\s+{_A_YEAR})?"
)
_YEAR_BEHIND: Final = re.compile(
    r"((?:1(?<=[\w.,]\s1)[5-9]|2(?<=[\w.,]\s2)0)[0-9]{2})(?![0-9]|[.,][0-9])"
)
_YEAR_FIRST: Final = re.compile(
    r"((?:1(?<![0-9.]1)[5-9]|2(?<![0-9.]2)0)[0-9]{2})(?:([-/.])([0-9]{1,2})\2([0-9]{1,2})(?![0-9]|[.][0-9])"
    r"|\s*[年년]\s*([0-9]{1,2})\s*[月월](?:\s*([0-9]{1,2})\s*[日일])?)"
)
_YEAR_LAST: Final = re.compile(rf"([0-9](?<![0-9.][0-9])[0-9]?)([./-])([0-9]{{1,2}})\2{_A_YEAR}")
_MONTH_DAY: Final = re.compile(r"([0-9](?<![0-9][0-9])[0-9]?)\s*[月월]\s*([0-9]{1,2})\s*[日일]")
_TIME: Final = re.compile(
    r"([0-9](?<![0-9.:][0-9])[0-9]?)"
    r"(?:[:hH]([0-9]{2})(?::([0-9]{2})(?:\.[0-9]+)?)?(?![0-9])(?:\s?([aApP])\.?[mM]\b\.?)?"
    r"|\s?([aApP])\.?[mM]\b\.?)"
)
_BEFORE: Final = 18
"""Characters before a day or year in which the name of its month is looked for."""


class Moment(NamedTuple):
    """A date or time in a text.

    Attributes:
        start: Where it begins.
        end: Where it ends.
        keys: What it may be: ``2026-10-17``, ``2026-10``, ``--10-17`` or ``15:30``.
    """

    start: int
    end: int
    keys: tuple[str, ...]


def dates(text: str) -> Iterator[Moment]:
    """The dates in ``text``; one place may be found in more than one reading.

    ``10/11/2026`` is both 10 November and 11 October.
    """
    yield from _in_digits(text)
    for match in _DAY_FIRST.finditer(text):
        day, word, year = match.groups()
        if key := _date(year, _month(word), day):
            yield Moment(*match.span(), (key,))
    for pattern in (_DAY_BEHIND, _YEAR_BEHIND):
        for match in pattern.finditer(text):
            month, start = _month_before(text, match.start())
            if month:
                day, year = match.groups() if pattern is _DAY_BEHIND else ("", match[1])
                if key := _date(year, month, day):
                    yield Moment(start, match.end(), (key,))


def _in_digits(text: str) -> Iterator[Moment]:
    for match in _YEAR_FIRST.finditer(text):
        year, _, month, day, cjk_month, cjk_day = match.groups()
        if key := _date(year, int(month or cjk_month), day or cjk_day):
            yield Moment(*match.span(), (key,))
    for match in _YEAR_LAST.finditer(text):
        one, _, two, year = match.groups()
        both = (_date(year, int(two), one), _date(year, int(one), two))
        if any(both):
            yield Moment(*match.span(), tuple(dict.fromkeys(filter(None, both))))
    for match in _MONTH_DAY.finditer(text):
        if key := _date("", int(match[1]), match[2]):
            yield Moment(*match.span(), (key,))


def times(text: str) -> Iterator[Moment]:
    """The times of day in ``text``, as 24 hours: ``3:30 pm`` is ``15:30``."""
    for match in _TIME.finditer(text):
        hour, minute, second, *halves = match.groups()
        half = halves[0] or halves[1]
        number = int(hour)
        if number > 24 or int(minute or 0) > 59 or (half and not 1 <= number <= 12):
            continue
        if half:
            number = number % 12 + (12 if half in "pP" else 0)
        key = f"{number}:{minute or '00'}"
        yield Moment(*match.span(), (f"{key}:{second}" if second else key,))


def parts(key: str) -> tuple[str, ...]:
    """What a date or time in a source also stands for: month, day, year; hour and minute."""
    if ":" in key:
        hour, minute, *second = key.split(":")
        half = f"{(int(hour) - 1) % 12 + 1}:{minute}"
        return (f"{hour}:{minute}", half) if second else (half,)
    if key.startswith("--"):
        return (str(int(key[5:])),)
    year, month, *day = key.split("-")
    if not day:
        return (year,)
    return (year, f"{year}-{month}", f"*-{month}-{day[0]}", str(int(day[0])))


def ways(key: str) -> tuple[tuple[str, ...], ...]:
    """How a date or time in a claim may stand in its source.

    A day with its year also as the day alone, the year standing elsewhere; a day without one in
    any year; a time also with a full stop (``15.30``).
    """
    if ":" in key:
        return ((key,), (key.replace(":", "."),))
    if key.startswith("--"):
        return ((key,), (f"*{key[1:]}",))
    if key.count("-") == 2:
        return ((key,), (key[:4], f"-{key[4:]}"))
    return ((key,),)


def _month_before(text: str, end: int) -> tuple[int | None, int]:
    """The month whose name ends at ``end``, and where it begins."""
    window = text[max(0, end - _BEFORE) : end]
    words = window.split()
    if words and words[-1] in ("of", "de", "del"):
        words.pop()
    name = words[-1] if words else ""
    return _month(name.strip(".,(")), end - len(window) + window.rfind(name)


def _month(word: str) -> int | None:
    name = word.lower()
    return None if name == word and name in _AMBIGUOUS else MONTHS.get(name)


def _date(year: str | None, month: int | None, day: str | None) -> str:
    """The date in ISO 8601, or empty if there is none like it."""
    if not month or month > 12 or (day and not 1 <= int(day) <= 31):
        return ""
    return f"{year or '-'}-{month:02}-{int(day):02}" if day else f"{year}-{month:02}"
