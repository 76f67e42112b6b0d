"""The cache of one chat as it may be believed: checked against the history before each use.

Everything that the cache says of the history holds for the bytes that were indexed, and for those
alone. So before anything is read from it or added to it, these bytes are compared: by the file
system's stamp, and where that changed by their CRC-32. The one change that needs no look is our own
growth of a history that was checked just before. A cache that does not fit, or that fails, is made
again; where it cannot be written it is held in memory.
"""

import contextlib
import os
import re
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Final, TypeVar

from throughline_nb.errors import StoreError
from throughline_nb.store.files import patiently, reason
from throughline_nb.store.recall import journal
from throughline_nb.store.recall.cache import NAME, Cache, MisfitError, State
from throughline_nb.store.recall.indexing import index

T = TypeVar("T")

NOTHING: Final = (0, 0, 0)
"""The stamp of a file that is not there."""

FILES: Final = (NAME, f"{NAME}-wal", f"{NAME}-shm")

_PASSING: Final = re.compile("locked|readonly|read-only|full|disk I/O|unable to open")
"""SQLite's words for what is no fault of the file."""


class Checked:
    """The cache beside one history.

    Args:
        folder: The chat's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._history = folder / journal.NAME
        self._cache: Cache | None = None
        self._grown: tuple[int, int, int] | None = None

    @property
    def fresh(self) -> bool:
        """Whether the index is complete and nobody touched the history since."""
        cache = self._cache
        if cache is None or cache.moved:
            return False
        now = stamp(self._history)
        return cache.state.stamp == now and cache.state.done == now[2]

    @property
    def in_memory(self) -> bool:
        """Whether the cache could not be written, so that it ends with the process."""
        return self._cache is not None and self._cache.path is None

    def use(self, action: Callable[[Cache], T], *, attempts: int = 3) -> T:
        """Use the cache, which fits the history then; one that fails is made again.

        Args:
            action: What is done; again from its start with another cache where one fails.
            attempts: How often; the third is in memory.

        Raises:
            StoreError: The history cannot be read, or no cache be made, not even in memory.
        """
        for attempt in range(attempts):
            try:
                cache = self._opened(memory=attempt == 2)
                self._check(cache, attempt)
                return action(cache)
            except sqlite3.Error as error:
                self._drop(error, attempt)
            except FileNotFoundError:  # deleted since the check, which the next one sees
                continue
            except OSError as error:
                raise StoreError(
                    f"recall could not read {self._history} ({reason(error)}); nothing was "
                    "changed: check the folder's permissions."
                ) from error
        raise StoreError(
            f"recall's index of {self._folder} cannot be made; the history is kept: check free "
            "space, or delete recall.cache.sqlite."
        )

    def grew(self) -> None:
        """Say that the history, used just before, has only got lines of our own at its end."""
        self._grown = stamp(self._history)

    def catch_up(self, cache: Cache, seconds: float | None) -> bool:
        """Index what follows what is indexed; whether the end was reached."""
        now = stamp(self._history)
        if now == NOTHING or (cache.state.stamp == now and cache.state.done == now[2]):
            return True
        cache.state.stamp = now
        return index(cache, self._history, seconds)

    def close(self) -> None:
        """Close the cache; the next use opens it again."""
        if self._cache is not None:
            with contextlib.suppress(sqlite3.Error):
                self._cache.close()
        self._cache = None

    def remove(self) -> None:
        """Close the cache and delete its files, and with them what SQLite leaves in such.

        Raises:
            OSError: One could not be deleted.
        """
        self.close()
        for name in FILES:
            path = self._folder / name
            patiently(lambda path=path: path.unlink(missing_ok=True))  # type: ignore[misc]

    # --- inside ---------------------------------------------------------------------------------

    def _opened(self, *, memory: bool) -> Cache:
        if self._cache is not None and self._cache.moved:
            self.close()
        if self._cache is None:
            if not memory:
                for name in FILES:  # what a link leads to is not ours
                    drop_link(self._folder / name)
            self._cache = Cache(None if memory else self._folder / NAME)
        return self._cache

    def _drop(self, error: sqlite3.Error, attempt: int) -> None:
        """Close a cache that failed; one that is no database, or of another history, goes."""
        moved = self._cache is not None and self._cache.moved  # another process made a new one
        self.close()
        passing = isinstance(error, sqlite3.OperationalError) and _PASSING.search(str(error))
        if attempt == 0 and not passing and not moved:
            with contextlib.suppress(OSError):  # in use elsewhere; it is emptied then
                self.remove()

    def _check(self, cache: Cache, attempt: int) -> None:
        """Take up what another process did; refuse what the history no longer says."""
        now = stamp(self._history)
        if cache.state.stamp == now:
            return
        cache.state = state = cache.read()
        if state.stamp == now or not (state.done or state.begun):
            return
        if now == self._grown or _fits(self._history, state):
            return
        if not attempt:
            raise MisfitError("the history is another than was indexed")
        cache.clear()  # its file could not be deleted


def stamp(path: Path) -> tuple[int, int, int]:
    """What tells one state of a file from another: its number, time and size."""
    try:
        found = os.stat(path)  # noqa: PTH116 - on the path of every turn
    except OSError:
        return NOTHING
    return found.st_ino, found.st_mtime_ns, found.st_size


def drop_link(path: Path) -> None:
    """Delete a symbolic link, not what it leads to."""
    if os.path.islink(path):  # noqa: PTH114 - on the path of a turn
        with contextlib.suppress(OSError):
            path.unlink()


def _fits(history: Path, state: State) -> bool:
    """Whether the history still begins with the bytes that were indexed, a message's half too."""
    size, crc = (state.reached, state.reached_crc) if state.begun else (state.done, state.crc)
    return _crc(history, size) == crc


def _crc(path: Path, size: int) -> int:
    """CRC-32 of the first bytes of a file; -1 where it has fewer, or is not there."""
    crc, left = 0, size
    try:
        with path.open("rb") as file:
            while left:
                block = file.read(min(left, 1 << 20))
                if not block:
                    return -1
                crc, left = zlib.crc32(block, crc), left - len(block)
    except FileNotFoundError:
        return -1
    return crc
