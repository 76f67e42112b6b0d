r"""Git's objects as bytes: how a commit and a tree are written and read.

The formats are git's own (gitformat: a header of ``key value`` lines, a blank line, the message;
a tree is ``<mode> <name>\0<20 bytes>`` an entry). Reading them here instead of asking git keeps
a turn free of processes.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import msgspec

LEDGER_FILE: Final = "ledger.md"

FILE_MODE: Final = b"100644"

_PERSON = re.compile(r"(.*?) ?<([^>]*)> (-?[0-9]+)(?: [+-][0-9]{4})?")
_TRAILER = re.compile(r"([A-Za-z][A-Za-z-]*): (.*)")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]+")


class Person(msgspec.Struct, frozen=True):
    """Whose name stands in a commit."""

    name: str
    email: str

    def __str__(self) -> str:
        return f"{_bare(self.name)} <{_bare(self.email)}>"


class Commit(msgspec.Struct, frozen=True):
    """One commit; ``time`` is the author's, in seconds since the epoch."""

    id: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    time: int
    message: str

    @property
    def subject(self) -> str:
        """First line of the message."""
        return self.message.split("\n", 1)[0]

    @property
    def trailers(self) -> Mapping[str, str]:
        """``Key: value`` lines of the message's last paragraph; empty if it has other lines."""
        return _trailers(self.message)


class TreeEntry(msgspec.Struct, frozen=True):
    """One name in a folder; names are bytes, as git has them."""

    mode: bytes
    name: bytes
    id: str


class Item(msgspec.Struct, frozen=True):
    """An object that is to be written: its id, its kind, its content."""

    id: str
    kind: bytes
    data: bytes


def item(kind: bytes, data: bytes) -> Item:
    """An object by its content."""
    return Item(object_id(kind, data), kind, data)


@lru_cache(maxsize=512)
def _trailers(message: str) -> Mapping[str, str]:
    found = {}
    for line in message.rstrip().rsplit("\n\n", 1)[-1].split("\n"):
        match = _TRAILER.fullmatch(line)
        if match is None:
            return MappingProxyType({})
        found[match[1]] = match[2]
    return MappingProxyType(found)


def object_id(kind: bytes, data: bytes) -> str:
    """The id that git gives an object."""
    import hashlib  # noqa: PLC0415 - 3 ms, which `--help` need not wait for

    return hashlib.sha1(header(kind, data) + data, usedforsecurity=False).hexdigest()


def header(kind: bytes, data: bytes) -> bytes:
    """What stands before an object's content."""
    return b"%s %d\x00" % (kind, len(data))


def format_commit(
    tree: str, parents: Iterable[str], author: Person, time: float, message: str
) -> bytes:
    """A commit by ``author`` at ``time`` (seconds since the epoch), in UTC."""
    stamp = f"{author} {max(int(time), 0)} +0000"
    lines = [f"tree {tree}", *(f"parent {parent}" for parent in parents)]
    lines += [f"author {stamp}", f"committer {stamp}", "", message]
    return "\n".join(lines).encode("utf-8", "replace")


def parse_commit(ident: str, data: bytes) -> Commit:
    """Read a commit, whoever made it; raises ValueError on anything else."""
    text = data.decode("utf-8", "replace")
    head, _, message = text.partition("\n\n")
    tree, author, parents = "", None, []
    for line in head.split("\n"):
        key, _, value = line.partition(" ")
        if key == "tree":
            tree = value
        elif key == "parent":
            parents.append(value)
        elif key == "author":
            author = _PERSON.fullmatch(value)
    if not tree:
        raise ValueError("not a commit")
    person = Person(author[1], author[2]) if author else Person("", "")
    return Commit(
        ident, tree, tuple(parents), person, int(author[3]) if author else 0, message.strip("\n")
    )


def format_tree(entries: Iterable[TreeEntry]) -> bytes:
    """A tree, sorted as git sorts: a folder as if its name ended in a slash."""
    ordered = sorted(entries, key=lambda e: e.name + b"/" if e.mode == b"40000" else e.name)
    return b"".join(b"%s %s\x00%s" % (e.mode, e.name, bytes.fromhex(e.id)) for e in ordered)


def parse_tree(data: bytes) -> tuple[TreeEntry, ...]:
    """Read a tree; raises ValueError where it is cut short."""
    entries = []
    at = 0
    while at < len(data):
        space = data.index(b" ", at)
        end = data.index(b"\x00", space)
        if end + 21 > len(data):
            raise ValueError("a tree that is cut short")
        raw = data[end + 1 : end + 21]
        entries.append(TreeEntry(data[at:space], data[space + 1 : end], raw.hex()))
        at = end + 21
    return tuple(entries)


def replace_file(
    entries: Iterable[TreeEntry], name: str, blob: str | None
) -> tuple[TreeEntry, ...]:
    """The tree with ``name`` set to the blob, or without it for None; all else as it is."""
    raw = name.encode()
    kept = tuple(entry for entry in entries if entry.name != raw)
    return kept if blob is None else (*kept, TreeEntry(FILE_MODE, raw, blob))


def message(subject: str, trailers: Iterable[tuple[str, str]]) -> str:
    """A commit's message: one line, and the trailers that have a value."""
    lines = [f"{key}: {one_line(value)}" for key, value in trailers if value]
    return "\n".join([one_line(subject) or "Ledger changed", "", *lines, ""])


def one_line(text: str) -> str:
    """``text`` without line ends and control characters, which would start another field."""
    return " ".join(_CONTROL.sub(" ", text).split())


def _bare(text: str) -> str:
    return one_line(text).replace("<", "").replace(">", "").strip()
