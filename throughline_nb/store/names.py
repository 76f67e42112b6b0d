"""Names that are safe in a path on every system: slugs of projects, folders of chats."""

import re
import unicodedata
from collections.abc import Container
from typing import Final

SLUG_CHARACTERS: Final = 48
"""Where a slug is cut; a file name may have 255 bytes, and the lock and suffixes add to it."""

_RESERVED: Final = frozenset(
    (
        *("con", "prn", "aux", "nul", "conin$", "conout$"),
        *(f"{port}{digit}" for port in ("com", "lpt") for digit in range(10)),
    )
)
"""Device names, which Windows opens in place of a file, with any extension."""

_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ŋ": "n"}
)
"""Latin letters that Unicode does not decompose."""

_PLAIN_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def slug(title: str, taken: Container[str] = ()) -> str:
    """A project's folder name: the title's words in lower-case ASCII, between hyphens.

    Args:
        title: Any text. Without Latin letters (emoji, Japanese) the slug is a hash of it, so
            that two such titles never share one.
        taken: Slugs in use; a suffix such as ``-2`` avoids them.
    """
    folded = unicodedata.normalize("NFKD", title.casefold()).translate(_LETTERS)
    bare = "".join(c for c in folded if not unicodedata.combining(c) and c not in "'’`")
    words = re.findall(r"[a-z0-9]+", bare)
    if not any(c.isalpha() for word in words for c in word) and (not words or not bare.isascii()):
        exact = unicodedata.normalize("NFC", title.strip())
        words = ["project", _hash(exact.encode("utf-8", "replace"))[:8]]
    name = _cut("-".join(words), SLUG_CHARACTERS)
    if name in _RESERVED:
        name += "-project"
    free, number = name, 1
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def is_slug(name: str) -> bool:
    """Whether ``name`` is one visible folder name, whoever made it; never a way out of a folder."""
    return (
        0 < len(name.encode("utf-8", "replace")) <= 255
        and not name.startswith(".")
        and not name.endswith((" ", "."))
        and not re.search(r'[\x00-\x1f\x7f/\\:*?"<>|]', name)
        and name.split(".", 1)[0].lower() not in _RESERVED
    )


def safe_name(ident: str) -> str:
    """The folder name of a chat's id, which may be anything that a host hands in.

    Short ids of lower-case letters, digits, hyphens and underscores stand as they are. Any other
    gets a hash behind a dot, which no plain id contains: two ids never share a name, also where
    the file system ignores case, and none leaves its folder.
    """
    if _PLAIN_ID.fullmatch(ident) and ident not in _RESERVED:
        return ident
    digest = _hash(ident.encode("utf-8", "surrogatepass"))[:16]
    readable = "-".join(re.findall(r"[a-z0-9]+", ident.lower()))[:40].strip("-") or "chat"
    if readable in _RESERVED:
        readable = "chat"
    return f"{readable}.{digest}"


def _cut(name: str, characters: int) -> str:
    if len(name) <= characters:
        return name
    head = name[: characters + 1]
    return (head.rsplit("-", 1)[0] if "-" in head[characters // 2 :] else name[:characters]).strip(
        "-"
    )


def _hash(data: bytes) -> str:
    import hashlib  # noqa: PLC0415 - 3 ms, which `--help` need not wait for

    return hashlib.sha256(data).hexdigest()
