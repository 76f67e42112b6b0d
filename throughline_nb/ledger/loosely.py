"""When two spellings say the same, so that what an editor did to a text is no change by its user.

Folded are quotes, dashes and ellipses, escapes and entities that were left over, code fences of
another length, emphasis marks at the edges of words, the encoding of URLs, and runs of white
space; white space inside a word, letters, case and other punctuation are not.
"""

import re
import unicodedata
from difflib import SequenceMatcher
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
# What pandoc's readers of CommonMark make of a text: punctuation behind a backslash is lost, and
# braces become a span of their own.
_LOSES: Final = (
    (re.compile(r"\\[!-/:-@\[-`{-~]"), r"\\"),
    (re.compile(r"(?:^| )\{([#.][\w-]+)\}"), r'[ ]{\1 wrapper="1"}'),
    (re.compile(r"(?:^| )\{([\w-]+)=([\w-]+)\}"), r'[ ]{wrapper="1" \1="\2"}'),
)
_SHORT_CODE = re.compile(r":[a-z0-9_+-]+:")
_EMOJI = re.compile(r":[a-z0-9_+-]+:|[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+")
_TAG = re.compile(
    r"<script\b.*?</script>|<style\b.*?</style>|<!--.*?-->|<(?:[/?]?[A-Za-z]|!)[^<>]*>|\*\*"
)

_ROUNDS: Final = 4
"""How often a text is read again: an editor's escapes, on top of another's."""

_DASHES = re.compile(r"-{2,}")
_TICKS = re.compile(r" *`+ *")
_BRACKETED = re.compile(r"(?i)<+((?:https?://|www\.)[^\s<>]*|[\w.+-]+@[\w-]+(?:\.[\w-]+)+)>+")
_MARKS = re.compile(r"(?<=\S)[*_~]+(?![^\W_])|(?<![^\W_])[*_~]+(?=\S)")
_HAS_MARKS = re.compile(r"[*_~]")
_RAW = re.compile(r"\{=\w+\}")
_SCHEME = re.compile(r"(?i)https?://(?=www\.)|mailto:(?=[^\s@]+@)")
_MAIL_TWICE = re.compile(r"([\w.+-]+@[\w.-]+)mailto:\1")
_CITED = re.compile(r"\[(-?@[\w-]+)\]")
_URL = re.compile(r"(?i)https?://[^\s<>`]+")
_WIDE = r"[\u2e80-\u303f\u3040-\u30ff\u31f0-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef]"
_WIDE_SPACE = re.compile(rf"(?<={_WIDE}) +| +(?={_WIDE})")
_ALIGNED_WORDS: Final = 2000
"""Texts with more words are not aligned by position, which takes time in its square."""


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
        text = _URL.sub(lambda found: unquote(found.group()), text)
    if "`" in marks:
        text = _TICKS.sub("", _RAW.sub("", text))
    if "*" in marks and _HAS_MARKS.search(text):
        text = _MARKS.sub("", text).replace("_", "*")
    return text


def equal(base: str, text: str) -> bool:
    """Whether ``text`` is what an editor may have made of ``base``.

    No editor adds emphasis where there was no mark that it could read as one, so marks that
    ``base`` has none of are the person's own.
    """
    if base == text:
        return True
    marks = _marks(base)
    if key(base, marks) == key(text, marks):
        return True
    lost = base
    for pattern, put in _LOSES:
        lost = pattern.sub(put, lost)
    if lost != base and key(lost, marks) == key(text, marks):
        return True
    if _SHORT_CODE.search(base):
        return key(_EMOJI.sub("", base), marks) == key(_EMOJI.sub("", text), marks)
    return False


def equal_without_tags(base: str, text: str) -> bool:
    """Whether ``text`` is ``base`` as an editor leaves it that drops what looks like HTML."""
    if not _TAG.search(base):
        return False
    bare = key(_TAG.sub("", base)).replace("*", "").replace(" ", "")
    return bare == key(_TAG.sub("", text)).replace("*", "").replace(" ", "")


def _marks(base: str) -> str:
    return ("*" if _HAS_MARKS.search(base) else "") + ("`" if "`" in base else "")


def spelled(base: str, text: str) -> str:
    """``text`` in the spelling of ``base`` where both say the same.

    The whole of ``base`` where they are loosely equal; else each word that is loosely equal, as
    the two are lined up.
    """
    if not base or not text or base == text:
        return text
    if equal(base, text):
        return base
    old, new = base.split(" "), text.split(" ")
    known = set(old)
    marks = _marks(base)
    old_keys = [key(word, marks) for word in old]
    if all(word in known or key(word, marks) not in old_keys for word in set(new)):
        return text
    new_keys = [key(word, marks) for word in new]
    if max(len(old), len(new)) > _ALIGNED_WORDS:
        spelling = dict(zip(reversed(old_keys), reversed(old), strict=True))
        words = [
            word if word in known else spelling.get(folded, word)
            for word, folded in zip(new, new_keys, strict=True)
        ]
        return " ".join(words)
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    for at_old, at_new, size in matcher.get_matching_blocks():
        new[at_new : at_new + size] = old[at_old : at_old + size]
    return " ".join(new)


def spelled_prose(base: str, text: str) -> str:
    """As :func:`spelled`, for running text: paragraph by paragraph."""
    if not base or base == text:
        return text
    if prose_key(base) == prose_key(text):
        return base
    old, typed = _paragraphs(base), _paragraphs(text)
    new = list(typed)
    old_keys, new_keys = list(map(prose_key, old)), list(map(prose_key, new))
    matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
    for at_old, at_new, size in matcher.get_matching_blocks():
        new[at_new : at_new + size] = old[at_old : at_old + size]
    return text if new == typed else "\n\n".join(new)


_PROSE_MARKS = re.compile(
    r"(?m)^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)]|\#{1,6}|>)(?=[ \t]|$)[ \t]*)+"
    r"|^[ \t]*(?:[-=*_][ \t]*){3,}$|^[ \t]*(?:`{3,}|~{3,})[^`\n]*$"
    r"|[ \t]*\#+[ \t]*$|\{[#.=][^}\n]*\}|-{3,}|[|]"
)


@lru_cache(maxsize=1024)
def prose_key(text: str) -> str:
    """Running text with layout and marks folded away."""
    text = _PROSE_MARKS.sub(" ", text.replace("\\\n", "\n").replace("\xa0", " "))
    return key(one_line(key(one_line(unescape(text))))).replace(" ", "")


def _paragraphs(text: str) -> list[str]:
    return re.split(r"\n(?:[ \t]*\n)+", text)
