"""The fence round what we add to a chat: how it is made, recognised and taken out again.

Everything added to a message stands between an opening and a closing line, so that it is known as
ours when it comes back in a history, and is never taken for the user's words. A text from a ledger
cannot close or imitate the fence.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache

OPENING = (
    "[throughLine: background state for the assistant. Use it; do not mention it unless asked.]"
)
CLOSING = "[end throughLine]"
DIGEST_MARK = "Digest of project"
"""How the line after the opening begins in a digest; a header's begins with ``Project``."""

_IMITATION = re.compile(r"[\[［【]\s*(?=(?:end\s+)?through\s*line)", re.IGNORECASE)
_UNSEEN = {"Cc", "Cs", "Zl", "Zp"}
"""Unicode categories of what breaks a line, moves a cursor, or is half a character."""

_BEGINNING = "[throughLine: "
"""How each of our opening lines begins."""


def fenced(lines: Iterable[str], opening: str = OPENING) -> str:
    """Lines between our two fence lines."""
    return "\n".join([opening, *lines, CLOSING])


def without_blocks(text: str) -> str:
    """``text`` without what we added to it: what its author wrote.

    A block goes from an opening line to the next closing line, with the line breaks before it. One
    pass, since a page that a tool read may hold any number of lines that begin like ours.
    """
    kept, at = [], 0
    while (start := _line_with(text, _BEGINNING, at)) >= 0:
        end = _closed(text, start)
        if end < 0:
            break
        kept.append(text[at:start].rstrip("\n"))
        at = end
    return "".join([*kept, text[at:]])


def _line_with(text: str, beginning: str, at: int) -> int:
    """Where the next line that begins so starts; -1 if none does."""
    at = text.find(beginning, at)
    while at > 0 and text[at - 1] != "\n":
        at = text.find(beginning, at + 1)
    return at


def _closed(text: str, at: int) -> int:
    """Where the next closing line ends; -1 if there is none."""
    while (at := _line_with(text, CLOSING, at)) >= 0:
        at += len(CLOSING)
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if not text[at:end].strip():
            return end
    return -1


def has_digest(text: str) -> bool:
    """Whether a digest of ours stands in the text."""
    return f'{OPENING}\n{DIGEST_MARK} "' in text


def neutral(text: str) -> str:
    """``text`` on one line, unable to close or imitate the fence, without control characters."""
    if not text.isprintable():
        text = "".join(" " if unicodedata.category(c) in _UNSEEN else c for c in text)
    return _IMITATION.sub("(", text) if "hrough" in text.casefold() else text


def tokens(text: str) -> int:
    """Estimated tokens of a text: 4 characters a token, a CJK character counts 1."""
    if text.isascii():
        return -(-len(text) // 4)
    wide = len(_cjk().findall(text))
    return wide + -(-(len(text) - wide) // 4)


@cache
def _cjk() -> re.Pattern[str]:
    """Characters that count as a token each; compiled when first met, since it takes 3 ms."""
    return re.compile(
        r"[\u1100-\u11ff\u2e80-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff00-\uffef"
        r"\U00020000-\U0003ffff]"
    )
