"""A message cut into passages, and what is known of each passage beside its words."""

import re
from collections.abc import Iterator
from typing import Final

from throughline_nb.store.recall.tokens import joined

WORDS: Final = 120
"""Words of a passage; measured, with the ranking, on conversations with known evidence."""

CHARACTERS: Final = 1200
"""Characters of a passage without that many words: tables of figures, base64, joined lines."""

WIDE_CHARACTERS: Final = 240
"""Characters of a passage in a script without spaces: about as much as 120 words say."""

ASKS, DATED, NUMBERED, NAMED, TOOL = 1, 2, 4, 8, 16
"""Flags of a passage: ends with a question, has a date word, a number, a name, is a tool's."""

_CUT: Final = re.compile(rf"\s*(?:\S+\s+){{{WORDS - 1}}}\S+")
_WIDE: Final = re.compile(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")
_DATE_WORDS: Final = frozenset(
    """yesterday today tomorrow tonight last next ago week weekend month year morning evening
    january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    monday tuesday wednesday thursday friday saturday sunday""".split()
)
_NUMBER_WORDS: Final = frozenset(
    """one two three four five six seven eight nine ten eleven twelve dozen hundred thousand once
    twice half couple several""".split()
)
_WORD: Final = re.compile(r"[a-z]+")
_DATE: Final = re.compile(r"(?<!\d)(?:(?:19|20)\d\d|\d\d?:\d\d)(?!\d)")
_DIGIT: Final = re.compile(r"\d")
_NAME: Final = re.compile(r"(?<=[a-z,;] )[A-Z][a-z]{2,}|\b[A-Z][a-z]+ [A-Z][a-z]+")


def spans(text: str, start: int = 0) -> Iterator[tuple[int, int]]:
    """Where the passages of a text begin and end, from one that begins at ``start`` on."""
    while start < len(text):
        window = text[start : start + 2 * CHARACTERS]
        limit = WIDE_CHARACTERS if len(_WIDE.findall(window[:200])) > 40 else CHARACTERS
        found = _CUT.match(window)
        end = found.end() if found else len(window)
        if end > limit:  # at a space, if there is one in its last third
            space = max(window.rfind(mark, 2 * limit // 3, limit) for mark in (" ", "\n", "。"))
            end = space + 1 if space > 0 else limit
        if end + limit // 6 >= len(text) - start:  # no scrap at the end
            end = len(text) - start
        yield start, start + end
        start += end


def flags(text: str, *, tool: bool) -> int:
    """The flags of a passage."""
    said = set(_WORD.findall(text.lower()))  # a pattern of all the words takes four times as long
    digits = _DIGIT.search(text) is not None
    dated = not said.isdisjoint(_DATE_WORDS) or (digits and _DATE.search(text) is not None)
    return (
        (ASKS if text.rstrip().endswith(("?", "？", "؟")) else 0)
        | (DATED if dated else 0)
        | (NUMBERED if digits or not said.isdisjoint(_NUMBER_WORDS) else 0)
        | (NAMED if _NAME.search(text) else 0)
        | (TOOL if tool else 0)
    )


def indexed(text: str, tool: str) -> str:
    """The tokens of a passage; those of a tool's name stand in each of its passages."""
    return f"{joined(tool)} {joined(text)}" if tool else joined(text)
