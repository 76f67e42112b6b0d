"""Folding away what editors change in the spelling of a text without changing what it says."""

import re
import unicodedata
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

from throughline_nb.ledger.inline import one_line, unescape

_FOLD: Final = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»〝〞‘’‚‛‹›'", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        "…": "...",
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u200e\u200f\u2060\ufe0f"),
    }
)
_LEFT_OVER = re.compile(r"[\\&<\[`]")
_ROUNDS: Final = 4
"""How often a text is read again: an editor's escapes, on top of another's."""

_DASHES = re.compile(r"-{2,}")
_TICKS = re.compile(r" *`+ *")
_BRACKETED = re.compile(
    r"(?i)<{1,4}((?:https?://|www\.)[^\s<>]*|[\w.+-]{1,64}@[\w.-]{1,255})>{1,4}"
)
_MARKS = re.compile(r"(?<=\S)[*_~]+(?![^\W_])|(?<![^\W_])[*_~]+(?=\S)")
_HAS_MARKS = re.compile(r"[*_~]")
_RAW = re.compile(r"\{=\w+\}")
_SCHEME = re.compile(r"(?i)https?://(?=www\.)|mailto:(?=[^\s@]{1,64}@)")
_MAIL_TWICE = re.compile(r"([\w.+-]{1,64}@[\w.-]{1,255}?)mailto:\1")
_CITED = re.compile(r"\[(-?@[\w-]+)\]")
_URL = re.compile(r"(?i)https?://[^\s<>`]+")
_WIDE = r"[\u2e80-\u303f\u3040-\u30ff\u31f0-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
_WIDE_SPACE = re.compile(rf"(?<={_WIDE}) +| +(?={_WIDE})")


@lru_cache(maxsize=16384)
def key(text: str, marks: str = "*`") -> str:
    """``text`` with everything folded that does not count; equal keys mean the same text.

    Args:
        text: One logical line.
        marks: What is folded too: ``*`` for ``*``, ``_`` and ``~`` at the edges of words, and a
            backtick for backticks with the spaces beside them.
    """
    if _LEFT_OVER.search(text):
        for _ in range(_ROUNDS):
            before, text = text, one_line(unescape(text))
            if text == before:
                break
        text = _BRACKETED.sub(r"\1", text.replace("\\", ""))
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_FOLD)
        text = _WIDE_SPACE.sub("", " ".join(text.split()))
    elif "'" in text:
        text = text.replace("'", '"')
    if "--" in text:
        text = _DASHES.sub("-", text)
    if "@" in text or "://" in text:
        text = _SCHEME.sub("", _CITED.sub(r"\1", _MAIL_TWICE.sub(r"\1", text)))
        text = _URL.sub(lambda found: unquote(found.group()).replace("\\", ""), text)
    if "`" in marks:
        text = _TICKS.sub("", _RAW.sub("", text))
    if "*" in marks and _HAS_MARKS.search(text):
        text = _MARKS.sub("", text).replace("_", "*")
    return text


def marks_in(base: str) -> str:
    """The kinds of marks that ``base`` has, as :func:`key` takes them.

    No editor adds emphasis where there was nothing that it could read as such: marks that
    ``base`` has none of are a person's own, and must not be folded away.
    """
    return ("*" if _HAS_MARKS.search(base) else "") + ("`" if "`" in base else "")
