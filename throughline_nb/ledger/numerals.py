"""One number as text spells it, and all that it may mean.

``4,096`` is 4096 in English and 4.096 in French; ``1.500`` is 1.5, 1500 or a version. Nothing is
guessed: a number in a claim holds if any of its readings stands in the source, and a number in a
source stands for all of its readings. So a spelling alone never makes a figure go missing.
"""

import re
from functools import lru_cache
from typing import Final

Ways = tuple[tuple[str, ...], ...]
"""Readings of one figure: it holds if all keys of any one of them were read."""

SPACES: Final = " \u00a0\u2007\u2009\u202f"
RUN: Final = (
    r"[0-9]+(?:(?:[.,'’_٫٬]|[" + SPACES[1:] + r"]| (?=[0-9]{3}(?![0-9a-zA-Z])))[0-9]+)*"
    r"(?:[-.]?(?:alpha|beta|rc|dev|post|pre|preview|[ab](?=[0-9]))[.-]?[0-9]*(?![a-z]))?"
)
"""Digits with what may stand between them, and the tail of a pre-release."""

MAGNITUDES: Final = {
    "k": 3, "thousand": 3, "tausend": 3, "mille": 3, "mil": 3, "тыс": 3, "千": 3,
    "万": 4, "萬": 4, "만": 4,
    "m": 6, "mn": 6, "mio": 6, "million": 6, "millions": 6, "millionen": 6, "millones": 6,
    "millón": 6, "milhões": 6, "milioni": 6, "млн": 6,
    "億": 8, "亿": 8, "억": 8,
    "b": 9, "bn": 9, "mrd": 9, "billion": 9, "billions": 9, "milliard": 9, "milliards": 9,
    "milliarde": 9, "milliarden": 9, "miliardi": 9, "bilhões": 9, "млрд": 9,
    "t": 12, "tn": 12, "trillion": 12, "trillions": 12, "兆": 12,
}  # fmt: skip
"""Powers of ten behind a number, as words and letters."""

_LETTERS: Final = {3: "k", 6: "m", 9: "b", 12: "t"}
_PARTS: Final = re.compile(r"\d+")
_TAIL: Final = re.compile(r"[-.]?(alpha|beta|rc|dev|post|pre|preview|[ab])[.-]?(\d*)$")


@lru_cache(maxsize=8192)
def ways(run: str, suffix: str = "", *, amount: bool = False) -> Ways:
    """The readings of a number in a claim.

    Args:
        run: What :data:`RUN` matches, which is in lower case.
        suffix: A key of :data:`MAGNITUDES`, or empty.
        amount: Whether a unit, currency or percent sign shows that it is no version, so that
            ``1.50`` is 1.5.
    """
    values, parts = _values(run)
    if suffix and values:
        return tuple((key,) for value in values for key in _scaled(value, suffix, claim=True))
    found = list(values)
    for value in values:
        whole, dot, fraction = value.partition(".")
        bare = fraction.rstrip("0")
        if dot and fraction.isdigit() and bare != fraction:
            plain = f"{whole}.{bare}" if bare else whole
            if amount or not bare or len(fraction) > 2:
                found.append(plain)
    readings: Ways = tuple((value,) for value in found)
    listed = not values or " " in run
    return (*readings, parts) if listed and parts else readings


@lru_cache(maxsize=8192)
def keys(run: str, suffix: str = "") -> frozenset[str]:
    """All that a number in a source stands for (arguments as of :func:`ways`)."""
    values, parts = _values(run)
    found = {*values, *parts}
    for value in values:
        if suffix:
            found.update(_scaled(value, suffix, claim=False))
        pieces = value.split(".")
        if len(pieces) == 2 and pieces[1].isdigit():
            bare = pieces[1].rstrip("0")
            found.add(f"{pieces[0]}.{bare}" if bare else pieces[0])
        # ``0.4`` and ``0.4.26`` are named by ``0.4.26`` and ``0.4.26rc1``.
        found.update(".".join(pieces[:count]) for count in range(2, len(pieces)))
        found.add(re.sub(r"[a-z]+\d*$", "", value))
    return frozenset(found)


def _scaled(value: str, suffix: str, *, claim: bool) -> list[str]:
    """``1.5 million`` as ``1.5m`` and as 1500000.

    ``32k`` may be rounded from 32,000 or 32,768: as a claim it holds with either, as a source it
    proves neither.
    """
    power = MAGNITUDES[suffix]
    letter = _LETTERS.get(power)
    found = [f"{value}{letter}"] if letter else []
    whole, _, fraction = value.partition(".")
    if not (whole + fraction).isdigit() or len(fraction) > power:
        return found or [value]
    if claim or suffix != "k":
        found.append(str(int(whole + fraction.ljust(power, "0"))))
    if claim and suffix == "k" and not fraction:
        found.append(str(int(whole) * 1024))
    return found


def _values(run: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The values that a run may have, and the numbers in it if it is a list of them."""
    if run.isdigit():
        return (run.lstrip("0") or "0",), ()
    run = run.lower()
    tail = _TAIL.search(run)
    if tail is not None:
        label = {"alpha": "a", "beta": "b"}.get(tail[1], tail[1])
        return (f"{run[: tail.start()].replace(',', '.')}{label}{tail[2]}",), ()
    groups = _PARTS.findall(run)
    marks = [mark if mark in ".,٫" else " " for mark in _PARTS.split(run)[1:-1]]
    marks = ["," if mark == "٫" else mark for mark in marks]
    parts = tuple(group.lstrip("0") or "0" for group in groups)
    found: list[str] = []
    kinds = set(marks)
    if len(kinds) == 1 and _grouped(groups):
        found.append("".join(groups).lstrip("0"))
    if len(marks) == 1 and marks[0] != " ":
        found.append(f"{parts[0]}.{groups[1]}")
    elif kinds == {"."}:
        found.append(".".join(groups))
    elif len(kinds) == 2 and marks.count(marks[-1]) == 1 and _grouped(groups[:-1]):
        found.append(f"{''.join(groups[:-1])}.{groups[-1]}")
    thousands = kinds == {"."} or any(len(group) == 3 and group[0] == "0" for group in groups[1:])
    return tuple(dict.fromkeys(found)), () if thousands else parts


def _grouped(groups: list[str]) -> bool:
    """Whether the groups are thousands, or lakhs and crores: ``12,34,567``."""
    first, *middle, last = groups
    return (
        1 <= len(first) <= 3
        and first[0] != "0"
        and len(last) == 3
        and (all(len(group) == 3 for group in middle) or all(len(group) == 2 for group in middle))
    )
