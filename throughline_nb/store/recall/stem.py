"""Porter's stemmer for English: 1980, "An algorithm for suffix stripping", with its later remarks.

FTS5's own porter sees only what is stored; ranking needs the stems in Python too, so that both
agree they are made here. A word costs a few microseconds and is made once: callers remember.
"""

import re
from typing import Final

_VOWEL: Final = "aeiou"
_STEP2: Final = {
    "ational": "ate",
    "tional": "tion",
    "enci": "ence",
    "anci": "ance",
    "izer": "ize",
    "bli": "ble",
    "alli": "al",
    "entli": "ent",
    "eli": "e",
    "ousli": "ous",
    "ization": "ize",
    "ation": "ate",
    "ator": "ate",
    "alism": "al",
    "iveness": "ive",
    "fulness": "ful",
    "ousness": "ous",
    "aliti": "al",
    "iviti": "ive",
    "biliti": "ble",
    "logi": "log",
}
_STEP3: Final = {
    "icate": "ic",
    "ative": "",
    "alize": "al",
    "iciti": "ic",
    "ical": "ic",
    "ful": "",
    "ness": "",
}
_STEP4: Final = (
    "al ance ence er ic able ible ant ement ment ent sion tion ou ism ate iti ous ive ize"
)


def _ending(suffixes: object) -> re.Pattern[str]:
    longest = sorted(suffixes, key=len, reverse=True)  # type: ignore[call-overload]
    return re.compile(f"({'|'.join(longest)})$")


_ENDING2: Final = _ending(_STEP2)
_ENDING3: Final = _ending(_STEP3)
_ENDING4: Final = _ending(_STEP4.split())


def stem(word: str) -> str:
    """The stem of a lower-case ASCII word; a word of one or two letters stays as it is."""
    if len(word) < 3:
        return word
    word = _plural(word)
    word = _past(word)
    if word[-1] == "y" and _has_vowel(word[:-1]):
        word = word[:-1] + "i"
    for ending, table in ((_ENDING2, _STEP2), (_ENDING3, _STEP3)):
        found = ending.search(word)
        if found and _measure(word[: found.start()]) > 0:
            word = word[: found.start()] + table[found.group()]
    word = _residue(word)
    if word.endswith("e"):
        measure = _measure(word[:-1])
        if measure > 1 or (measure == 1 and not _short(word[:-1])):
            word = word[:-1]
    if word.endswith("ll") and _measure(word[:-1]) > 1:
        word = word[:-1]
    return word


def _plural(word: str) -> str:
    if word.endswith(("sses", "ies")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def _past(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        base = word[: -len(suffix)]
        if not word.endswith(suffix) or not _has_vowel(base):
            continue
        if base.endswith(("at", "bl", "iz")):
            return base + "e"
        if base[-1:] == base[-2:-1] and base[-1] not in "lsz" + _VOWEL:
            return base[:-1]
        return base + "e" if _measure(base) == 1 and _short(base) else base
    return word


def _residue(word: str) -> str:
    found = _ENDING4.search(word)
    if not found:
        return word
    cut = found.start() + (1 if found.group() in {"sion", "tion"} else 0)
    return word[:cut] if _measure(word[:cut]) > 1 else word


def _shape(word: str) -> str:
    """The word as vowels and consonants; y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in _VOWEL or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _has_vowel(word: str) -> bool:
    return "v" in _shape(word)


def _short(word: str) -> bool:
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"
