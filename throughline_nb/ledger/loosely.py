"""When two spellings say the same, so that what an editor did to a text is no change by its user.

Folded are quotes, dashes and ellipses, escapes and entities that were left over, code fences of
another length, emphasis marks at the edges of words, the encoding of URLs, and runs of white
space; white space inside a word, letters, case and other punctuation are not.
"""

import re
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Final

from throughline_nb.ledger.folding import key, marks_in
from throughline_nb.ledger.inline import one_line, unescape
from throughline_nb.ledger.mangled import mangled

__all__ = ["equal", "key", "prose_key", "spelled", "spelled_prose"]

_ALIGNED_WORDS: Final = 2000
"""Texts with more words are not aligned by position, which takes time in its square."""


def equal(base: str, text: str) -> bool:
    """Whether ``text`` is what an editor may have made of ``base``."""
    if base == text:
        return True
    marks = marks_in(base)
    if key(base, marks) == key(text, marks) or mangled(base, text):
        return True
    # The end of emphasis that an editor saw begin elsewhere.
    return text.endswith("*") and not base.endswith("*") and equal(base, text[:-1].rstrip("\\"))


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
    marks = marks_in(base)
    old_keys = [key(word, marks) for word in old]
    if all(word in known or key(word, marks) not in old_keys for word in set(new)):
        return text
    new_keys = [key(word, marks) for word in new]
    spelling = dict(zip(reversed(old_keys), reversed(old), strict=True))
    result = [
        word if word in known else spelling.get(folded, word)
        for word, folded in zip(new, new_keys, strict=True)
    ]
    if max(len(old), len(new)) <= _ALIGNED_WORDS:
        matcher = SequenceMatcher(None, old_keys, new_keys, autojunk=False)
        for at_old, at_new, size in matcher.get_matching_blocks():
            result[at_new : at_new + size] = old[at_old : at_old + size]
    return " ".join(result)


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
    r"(?m)(?:^|(?<=\s))(?:\\?[-*+]|[0-9]{1,9}\\?[.)]|\#{1,6}|\\?>|&gt;)(?=\s|$)"
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
