"""What stood in ``ledger.md`` before the engine replaced it, kept by name for some seconds.

An editor that saves in place opens the file, empties it and fills it. Where the engine replaces
the file in between, be it several times, the editor fills one that has no name any more, and what
a person saved is gone. So each displaced file keeps a name until no such save can be under way.
The name says when it was displaced and which text stood in it: any other is a person's.
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.store.files import BINARY
from throughline_nb.store.objects import object_id

KEPT_SECONDS: Final = 2.0
"""An editor takes milliseconds from opening a file to closing it; a loaded machine some more."""

MOST: Final = 32
"""Of more than these the oldest go, so that a burst of changes does not slow itself down."""

EMPTIED_SECONDS: Final = 60.0
"""A file that an editor emptied and has not filled yet is waited for as long."""

_TAIL: Final = b"Ledger"
_SETTLING_SECONDS: Final = 0.5


class Left(msgspec.Struct, frozen=True):
    """A text that someone wrote into a displaced file.

    Attributes:
        name: Path of the file.
        text: The text.
    """

    name: str
    text: bytes


class Displaced:
    """The displaced files of one project; call under its lock, but for :meth:`edited`.

    Args:
        folder: Where they are kept.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self._names: list[str] = []
        # Those that this process has looked into: time, size and number of each.
        self._known: dict[str, tuple[int, int, int]] = {}

    def fresh(self, blob: str) -> str:
        """A path for the file that is displaced next.

        Args:
            blob: Id of the text that is expected to stand in it; empty for none.
        """
        moment = time.time_ns()
        while True:
            path = os.path.join(self._folder, f"{moment}-{blob or 'none'}.md")  # noqa: PTH118
            if not os.path.lexists(path):
                break
            moment += 1
        os.makedirs(self._folder, exist_ok=True)  # noqa: PTH103 - on every change's path
        return path

    def look(self, path: str) -> bytes | None:
        """What stands in a file that was just displaced, which thereby is known; None if gone."""
        found = stamp(path)
        if found is None:
            return None
        self._known[path] = found
        self._names.append(path)
        return contents(path)

    def doubt(self, path: str) -> None:
        """Look into a file again, since what stood in it was not what was expected."""
        self._known.pop(path, None)

    def edited(self, is_ours: Callable[[str], bool]) -> Iterator[Left]:
        """Texts that someone wrote into a displaced file, oldest first.

        Args:
            is_ours: Whether the text of that id is the engine's own.
        """
        try:
            names = sorted(os.listdir(self._folder))  # noqa: PTH208 - on every turn's path
        except OSError:
            names = []
        self._names = [os.path.join(self._folder, name) for name in names]  # noqa: PTH118
        for path in self._names:
            found = stamp(path)
            if found is None or self._known.get(path) == found:
                continue
            with suppress(OSError):
                raw = contents(path)
                ident = object_id(b"blob", raw)
                if ident != _told(path)[1] and not is_ours(ident):
                    raw = settled(path, raw)
                    if raw.strip(b"\0"):  # else it was emptied, and is looked at again
                        yield Left(path, raw)
                else:
                    self._known[path] = found

    def settle(self, left: Left) -> None:
        """Remember that a text was dealt with; what is written there later is another."""
        with suppress(OSError):
            os.replace(left.name, self.fresh(object_id(b"blob", left.text)))  # noqa: PTH105

    def expire(self) -> None:
        """Remove those in which no save can be under way; each was looked into before."""
        now, kept = time.time(), []
        many = len(self._names)
        for place, path in enumerate(self._names):
            age = abs(now - _told(path)[0])
            found = stamp(path)
            if found is not None and found == self._known.get(path):
                over = age > KEPT_SECONDS or many - place > MOST
            else:  # emptied, or written into just now
                over = age > EMPTIED_SECONDS and _holds_nothing(path)
            if not over:
                kept.append(path)
                continue
            self._known.pop(path, None)
            with suppress(OSError):
                os.unlink(path)  # noqa: PTH108 - on every change's path
        self._names = kept

    def drop(self) -> None:
        """Remove all of them for good."""
        with suppress(OSError):
            for name in os.listdir(self._folder):  # noqa: PTH208
                os.unlink(os.path.join(self._folder, name))  # noqa: PTH108, PTH118
        self._names, self._known = [], {}


def contents(name: str) -> bytes:
    """The bytes of a regular file.

    Raises:
        OSError: It is none, or cannot be read.
    """
    # Without waiting: a pipe of that name would hold every command up.
    handle = os.open(name, os.O_RDONLY | BINARY | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb") as file:  # noqa: PTH123 - on the path of every turn
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def settled(name: str, raw: bytes) -> bytes:
    """``raw``, or what the file says half a second later where a save seems to be under way."""
    deadline = time.monotonic() + _SETTLING_SECONDS
    while _TAIL not in raw[-400:] and _just_written(name) and time.monotonic() < deadline:
        time.sleep(0.05)
        with suppress(OSError):
            raw = contents(name)
    return raw


def stamp(name: str) -> tuple[int, int, int] | None:
    """Time, size and number of a file; None if there is none."""
    try:
        found = os.stat(name)  # noqa: PTH116 - on the path of every turn
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _just_written(name: str) -> bool:
    found = stamp(name)
    return found is not None and abs(time.time() - found[0] / 1e9) < 2 * _SETTLING_SECONDS


def _holds_nothing(name: str) -> bool:
    try:
        return not contents(name).strip(b"\0")  # zeros: what a power cut left of it
    except OSError:
        return False


def _told(path: str) -> tuple[float, str]:
    """What a file's name says: when it was displaced, and the id of its text."""
    moment, _, blob = os.path.basename(path)[: -len(".md")].partition("-")  # noqa: PTH119
    return (int(moment) / 1e9 if moment.isdecimal() else 0.0), blob
