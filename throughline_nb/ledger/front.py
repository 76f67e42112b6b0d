"""Front matter: flat ``key: value`` lines, all of them text.

What we write ourselves is read line by line. Anything else goes through python-frontmatter with a
loader that leaves every scalar as text (``no``, ``0123``, ``1.10`` and dates mean what they say).
"""

import json
import re
from typing import Final

import msgspec

RESERVED: Final = ("throughline", "project", "version")
"""Keys of the engine's own; every other key is the person's."""

_PLAIN_KEY = re.compile(r"[^\W\d][\w./-]*(?: [\w./-]+)*")
_PLAIN_START = re.compile(r"[^\s\-?:,\[\]{}#&*!|>'\"%@`]|[-?:](?=\S)")
_FLOW = re.compile(r"\[(?:[\w./-]+(?: [\w./-]+)*(?:, [\w./-]+(?: [\w./-]+)*)*)?\]")
_LINE = re.compile(r"([^\W\d][\w./-]*(?: [\w./-]+)*|\"(?:[^\"\\]|\\.)*\"):(?: (.*))?")


class Front(msgspec.Struct, frozen=True):
    """What the front matter says.

    Attributes:
        pairs: Keys and values in the order of the file.
        notices: What was not as it should be, one sentence each.
        found: Whether there was front matter of ours that could be read.
    """

    pairs: tuple[tuple[str, str], ...] = ()
    notices: tuple[str, ...] = ()
    found: bool = False

    def get(self, key: str) -> str | None:
        """The value of ``key``, or None."""
        return next((value for name, value in self.pairs if name == key), None)


def write_front(pairs: tuple[tuple[str, str], ...]) -> str:
    """The block with its fences, as one flat line a pair."""
    lines = [f"{_key(key)}: {_value(value)}".rstrip(" ") for key, value in pairs]
    return "\n".join(("---", *lines, "---"))


def plain_front(lines: list[str]) -> Front | None:
    """Read lines as :func:`write_front` writes them, or None where any of them is otherwise."""
    pairs: dict[str, str] = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        key, value = found[1], found[2] or ""
        if key.startswith('"'):
            key = json.loads(key)
        if value.startswith('"'):
            try:
                value = json.loads(value)
            except ValueError:
                return None
        elif not _is_plain(value):
            return None
        if key in pairs:
            return None
        pairs[key] = value
    return Front(tuple(pairs.items()), found=True)


def _is_plain(value: str) -> bool:
    if not value:
        return True
    if value != value.strip() or not value.isprintable():
        return False
    if _PLAIN_START.match(value):
        return ": " not in value and " #" not in value and not value.endswith(":")
    return _FLOW.fullmatch(value) is not None


def _key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: str) -> str:
    return value if _is_plain(value) else json.dumps(value, ensure_ascii=False)
