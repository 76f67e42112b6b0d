"""What certain editors break in texts that are full of marks: more than another spelling.

Only texts that hold such marks themselves are looked at in this way. A person's edit that does
nothing but add or take away marks of a kind that the text had before is taken for the editor's.
"""

import re
from typing import Final
from urllib.parse import unquote

from throughline_nb.ledger.folding import key, marks_in
from throughline_nb.ledger.inline import cut_url

# What pandoc's readers of CommonMark make of a text: punctuation behind a backslash is lost, and
# braces become a span of their own. Vditor takes a bare scheme for a link without a label.
_LOSES: Final = (
    (re.compile(r"\\[!-/:-@\[-`{-~]"), r"\\"),
    (re.compile(r"\bhttp://(?=\s|$)"), ""),
    (re.compile(r"\bhttps://(?=\s|$)"), "h"),
    (re.compile(r"(?:^| )\{([#.][\w-]+)\}"), r'[ ]{\1 wrapper="1"}'),
    (re.compile(r"(?:^| )\{([\w-]+)=([\w-]+)\}"), r'[ ]{wrapper="1" \1="\2"}'),
)
_SHORT_CODE = re.compile(r":[a-z0-9_+-]+:")
_EMOJI = re.compile(r":[a-z0-9_+-]+:|[\u2190-\u2bff\U0001f000-\U0001faff\ufe0f\u200d]+")

_MARKUP: Final = frozenset("\\*_~`[]{}<>$|^&%#")
_LINKED = re.compile(r"https?://|www\.|\S@\S|\]\(")
_ADDRESS = re.compile(r"(?:[a-z]+://|www\.)[^\s<>]+|[\w.+-]{1,64}@[\w.-]{1,255}")
_CLASS = re.compile(r"\{\.(?:uri|email)\}|wrapper=\"1\"|<!-- -->")
_RAW_TEX = re.compile(r"`([^`]*)` ?\{=tex\}")
_BEGINNING: Final = 10
"""Letters of an address from which on its beginning is no word by chance."""

_DROPPED = re.compile(
    r"<script\b.*?</script>|<style\b.*?</style>|<!--.*?-->|<(?:[/?]?[A-Za-z]|!)[^<>]*>"
    r"|!\[[^\[\]]*\]\([^()]*\)|\$\$?[^$]+\$\$?"
)
_TARGET = re.compile(r"(?<=\])\(([^()]*)\)")
_MUCH: Final = 3
_LONGEST: Final = 20_000
"""Characters; what is done here takes time in the square of a text's length."""
_ADDRESSES: Final = 40
"""Addresses in a text of which repetitions are looked for."""
_DAMAGED: Final = "\\[]`*_~{}"
"""Marks of which a damaged text has more or fewer; where none differs, other signs do not."""

_SIGN = re.compile(r"(?<=\s)([<>=]{1,2})(?=\s)")
_SPELT: Final = {ord(sign): f"0{ord(sign)}0" for sign in "<>="}
_NO_BONES = re.compile(r"[\W_]+")


def mangled(base: str, text: str) -> bool:
    """Whether ``text`` is what an editor that damages marks may have made of ``base``."""
    if max(len(base), len(text)) > _LONGEST:
        return False
    lost = base
    for pattern, put in _LOSES:
        lost = pattern.sub(put, lost)
    lost = " ".join(lost.split())
    marks = marks_in(base)
    if lost != base and key(lost, marks) == key(text, marks):
        return True
    if _SHORT_CODE.search(base):
        base, text = _EMOJI.sub("", base), _EMOJI.sub("", text)
        if key(base, marks) == key(text, marks):
            return True
    text = _RAW_TEX.sub(r"\1", text)
    kinds = _MARKUP.intersection(text)
    if not kinds or not kinds <= _allowed(base):
        return False
    same_marks = all(base.count(mark) == text.count(mark) for mark in _DAMAGED)
    if same_marks and "".join(base.split()) != "".join(text.split()):
        return False
    return _bones(base) == _bones(text, base)


def dropped(base: str, text: str) -> bool:
    """Whether ``text`` is ``base`` without what looks like HTML, an image or a formula."""
    if max(len(base), len(text)) > _LONGEST or not _DROPPED.search(base):
        return False
    wanted, said = _bones(_DROPPED.sub("", key(base))), bones(base)
    plain = key(text)
    unlinked = _TARGET.sub(lambda link: "" if bones(link[1]) in said else link[0], plain)
    return any(_bones(_DROPPED.sub("", left), base) == wanted for left in {plain, unlinked})


def certainly_dropped(base: str) -> bool:
    """Whether ``base`` holds so much of it that nobody takes it all out by hand."""
    return len(_DROPPED.findall(base)) >= _MUCH


def _allowed(base: str) -> frozenset[str]:
    """Kinds of marks that an editor may add to ``base``."""
    kinds = _MARKUP.intersection(base)
    if _LINKED.search(base):
        kinds |= set("[]{}<>%")
    if kinds & set("*_~"):
        kinds |= set("*_~")
    if kinds & set("<&"):
        kinds |= set("<>&*")
    if "{" in kinds:
        kinds |= set("[]")
    if "$" in kinds:
        kinds |= {"`"}
    return kinds | {"\\"} if kinds else kinds


def bones(text: str) -> str:
    """Letters and digits alone, and signs that stand alone, such as ``<``, spelt as digits."""
    text = _SIGN.sub(lambda sign: sign[1].translate(_SPELT), unquote(key(text)))
    return _NO_BONES.sub("", text)


def _bones(text: str, base: str | None = None) -> str:
    """Letters and digits alone; an address that ``base`` names counts once where it is repeated.

    An editor after another makes a link of a link's label, and cuts the label at a mark, so that
    beginnings of the address stand before it, and the whole of it more than once.
    """
    found = bones(_CLASS.sub("", text))
    addresses = _ADDRESS.findall(base if base is not None else text)
    for address in map(cut_url, dict.fromkeys(addresses[:_ADDRESSES])):
        once = bones(address)
        found = re.sub(f"(?:(?:mailto)?{once}){{2,}}", once, found)
        at = found.find(once) if len(once) > _BEGINNING else -1
        while at >= _BEGINNING:
            cut = max(
                (n for n in range(_BEGINNING, len(once)) if found.endswith(once[:n], 0, at)),
                default=0,
            )
            if not cut:
                break
            found = found[: at - cut] + found[at:]
            at -= cut
    return found
