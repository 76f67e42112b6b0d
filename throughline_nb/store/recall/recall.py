"""The searchable copy of one chat: its history as the truth, and a cache to search it by."""

import contextlib
import os
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from throughline_nb.errors import StoreError
from throughline_nb.store.files import WINDOWS, lock, patiently, reason, write_atomic
from throughline_nb.store.recall import journal
from throughline_nb.store.recall.cache import NAME as CACHE
from throughline_nb.store.recall.cache import Cache
from throughline_nb.store.recall.indexing import index
from throughline_nb.store.recall.journal import Record
from throughline_nb.store.recall.messages import differing, record_of, redacted, replaced
from throughline_nb.store.recall.packing import Passage
from throughline_nb.store.recall.searching import nearest, search

T = TypeVar("T")
_LOCK: Final = "recall.lock"
_CATCH_UP: Final = 0.5
"""Seconds after which what was indexed is written, where a turn has to wait for all of it."""

_WASTE: Final = 1 << 16
"""Bytes that were superseded from which on the history is written anew, if they are half of it."""


class Recall:
    """What was said in one chat, to be searched.

    Threads and processes may use one folder at once. After an error of the cache it is made again;
    where it cannot be written it is held in memory.

    Args:
        folder: The chat's folder; made by the first :meth:`append`.
        without: What takes words that must not be kept out of a text that comes in.
    """

    def __init__(self, folder: Path, without: Callable[[str], str] = lambda text: text) -> None:
        self._without = without
        self.folder = Path(folder)
        self.history = self.folder / journal.NAME
        self._cache: Cache | None = None
        self._thread = threading.RLock()
        self._end: int | None = None

    # --- writing --------------------------------------------------------------------------------

    def append(
        self, messages: Iterable[Any], *, seen: float | None = None, seconds: float | None = None
    ) -> None:
        """Add messages; those of a turn may come in parts.

        Args:
            messages: With ``turn``, ``role``, ``time``, ``text`` and ``tool``, and if they have
                them ``args``, ``call_id`` and ``failed``. Our own blocks are taken out.
            seen: When they are met, for those without a time: they were said before it.
            seconds: How long indexing may take; the rest is left to :meth:`build`.

        Raises:
            StoreError: They could not be written; what was held before is kept.
        """
        with self._held():
            self._append([self._record(message, seen) for message in messages], seconds)

    def rewind(self, turn: int, *, seconds: float | None = None) -> None:
        """A turn was edited or regenerated: it and all after it are superseded.

        Raises:
            StoreError: That could not be written; nothing was changed.
        """
        if not self.history.exists():
            return
        with self._held():
            self._append([Record(rewind=turn)], seconds)
            if seconds is None:
                self._compact()

    def update(
        self, messages: Iterable[Any], *, seen: float | None = None, seconds: float | None = None
    ) -> None:
        """Bring turns up to date: what is held already stays, from the first difference on anew.

        Args:
            messages: Whole turns, in order, up to the chat's last; earlier turns stay as they are.
            seen: As in :meth:`append`.
            seconds: As in :meth:`append`.

        Raises:
            StoreError: As in :meth:`append`.
        """
        records = [self._record(message, seen) for message in messages]
        if not records:
            return
        with self._held():
            while not self._guarded(lambda cache: self._index(cache, _CATCH_UP)):
                pass
            known = self._guarded(lambda cache: _marks(cache, records[0].turn))
            self._append(differing(records, known), seconds)

    def build(self, seconds: float | None = None) -> bool:
        """Go on with the index, and write the history anew where half of it was superseded.

        Args:
            seconds: When to stop; the next call goes on from there. None: never.

        Returns:
            Whether the index is complete.
        """
        if not self.history.exists():
            return True
        with self._held():
            self._compact()
            return self._guarded(lambda cache: self._index(cache, seconds))

    def delete(self) -> None:
        """Delete everything that recall has on the disk."""
        with self._thread:
            self.close()
            for name in (journal.NAME, CACHE, f"{CACHE}-wal", f"{CACHE}-shm", _LOCK):
                self._remove(self.folder / name)
            with contextlib.suppress(OSError):
                self.folder.rmdir()

    def redact(self, replace: Callable[[str], str]) -> int:
        """Rewrite every text of the history; what was superseded is dropped.

        The host may keep its own copy: it is known by its hash, and not taken in again. A history
        without those words stays as it is.

        Args:
            replace: Gives the new text for a text, also for each of a tool's arguments.

        Returns:
            How many messages changed.
        """
        if not self.history.exists():
            return 0
        with self._held():
            changed, data = redacted(self.history, replace)
            if data is not None:
                self._rewrite(data)
            return changed

    def close(self) -> None:
        """Close the cache; the next use opens it again."""
        with self._thread:
            if self._cache is not None:
                self._cache.close()
            self._cache, self._end = None, None

    # --- reading --------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether there is a history."""
        return self.history.exists()

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes of the history that are indexed, and all of them."""
        try:
            size = self.history.stat().st_size
        except OSError:
            return 0, 0
        with self._thread:
            return min(self._guarded(lambda cache: cache.state.done), size), size

    @property
    def complete(self) -> bool:
        """Whether everything is indexed."""
        done, size = self.progress
        if not size or done >= size:
            return bool(size)
        with self.history.open("rb") as file:  # a torn last line is never indexed
            return done >= journal.whole(file.fileno(), size)

    @property
    def last(self) -> int:
        """The last turn that is indexed; 0 for none."""
        if not self.history.exists():
            return 0
        with self._thread:
            return self._guarded(
                lambda cache: cache.db.execute("SELECT max(turn) FROM turns").fetchone()[0] or 0
            )

    def search(self, query: str, budget_tokens: int = 1500) -> list[Passage]:
        """The passages that answer a query best, best first.

        Args:
            query: Words, in any language.
            budget_tokens: Estimated tokens for texts and their short headers.
        """
        if not self.history.exists():
            return []
        with self._held(reading=True):
            return self._guarded(
                lambda cache: (
                    (self._index(cache, None) and search(cache, self.history, query, budget_tokens))
                    or []
                )
            )

    def nearest(self, query: str, limit: int = 8) -> list[str]:
        """The words of the history that look most like a query's."""
        if not self.history.exists():
            return []
        with self._held(reading=True):
            return self._guarded(lambda cache: nearest(cache, query, limit))

    def turn(self, number: int) -> list[Record]:
        """The messages of one turn, in full; none where there is no such turn."""
        if not self.history.exists():
            return []
        with self._held(reading=True):
            return self._guarded(lambda cache: self._turn(cache, number))

    # --- inside ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _held(self, *, reading: bool = False) -> Iterator[None]:
        with self._thread:
            if reading and self._fresh():
                yield
                return
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                held = contextlib.ExitStack()
                held.enter_context(lock(self.folder / _LOCK))
            except (OSError, StoreError) as error:
                if not reading:
                    why = reason(error) if isinstance(error, OSError) else str(error)
                    raise StoreError(
                        f"recall could not write in {self.folder} ({why}); the chat goes on "
                        "without the newest messages in it: check permissions and free space."
                    ) from error
                held = contextlib.ExitStack()  # a folder that is only read has no other writer
            with held:
                yield

    def _fresh(self) -> bool:
        """Whether the index is complete and nobody touched the history since."""
        cache = self._cache
        if cache is None or cache.moved:
            return False
        stamp = _stamp(self.history)
        return cache.state.stamp == stamp and cache.state.done == stamp[2]

    def _record(self, message: Any, seen: float | None) -> Record:
        return replaced(record_of(message, seen), self._without)

    def _append(self, records: Sequence[Record], seconds: float | None) -> None:
        data = b"".join(map(journal.encoded, records))
        if not data:
            return
        self._end = journal.append(self.history, data, self._end) + len(data)
        self._guarded(lambda cache: self._index(cache, seconds))

    def _guarded(self, action: Callable[[Cache], T]) -> T:
        """Use the cache; one that fails is made again, at last in memory."""
        for attempt in range(3):
            try:
                cache = self._opened(memory=attempt == 2)
                self._checked(cache)
                return action(cache)
            except sqlite3.Error as error:
                self._drop(error, attempt)
            except OSError as error:
                raise StoreError(
                    f"recall could not read {self.history} ({reason(error)}); nothing was "
                    "changed: check the folder's permissions."
                ) from error
        raise StoreError(
            f"recall's index of {self.folder} cannot be made; the history is kept: check free "
            "space, or delete recall.cache.sqlite."
        )

    def _opened(self, *, memory: bool) -> Cache:
        if self._cache is not None and self._cache.moved:
            self.close()
        if self._cache is None:
            self._cache = Cache(None if memory else self.folder / CACHE)
        return self._cache

    def _drop(self, error: sqlite3.Error, attempt: int) -> None:
        """Close a cache that failed; what is no database goes away."""
        end = self._end
        if self._cache is not None:
            with contextlib.suppress(sqlite3.Error):
                self._cache.close()
        self._cache, self._end = None, end
        passing = isinstance(error, sqlite3.OperationalError) and re.search(
            "locked|readonly|read-only|full|disk I/O|unable to open", str(error)
        )
        if attempt == 0 and not passing:
            for name in (CACHE, f"{CACHE}-wal", f"{CACHE}-shm"):
                with contextlib.suppress(OSError, StoreError):
                    self._remove(self.folder / name)

    def _checked(self, cache: Cache) -> None:
        """Take up what another process did; forget what the history no longer says."""
        stamp = _stamp(self.history)
        if cache.state.stamp == stamp:
            return
        cache.state = cache.read()
        state = cache.state
        if state.stamp == stamp or (not state.done and not state.begun):
            return
        grown = stamp[0] == state.stamp[0] and self._end == stamp[2] and stamp[2] > state.done
        if grown or _crc(self.history, state.done) == state.crc:
            return
        cache.clear()

    def _index(self, cache: Cache, seconds: float | None) -> bool:
        if not self.history.exists():
            return True
        stamp = _stamp(self.history)
        if cache.state.stamp == stamp and cache.state.done == stamp[2]:
            return True
        cache.state.stamp = stamp
        complete = index(cache, self.history, seconds)
        if self._end is None:
            self._end = stamp[2] if complete else None
        return complete

    def _compact(self) -> None:
        """Write the history anew where half of it was superseded."""
        dead = self._guarded(lambda cache: cache.state.dead)
        if dead < _WASTE or 2 * dead < _stamp(self.history)[2]:
            return
        data = self.history.read_bytes()
        kept = journal.living(self.history)
        self._rewrite(b"".join(data[at : at + size] for at, size in kept))

    def _rewrite(self, data: bytes) -> None:
        """Another history; the cache goes first, and with its file what SQLite leaves in one."""
        self._guarded(Cache.clear)
        self.close()
        for name in (CACHE, f"{CACHE}-wal", f"{CACHE}-shm"):
            with contextlib.suppress(StoreError):  # in use elsewhere; it is empty already
                self._remove(self.folder / name)
        write_atomic(self.history, data, durable=False)

    def _turn(self, cache: Cache, number: int) -> list[Record]:
        self._index(cache, None)
        row = cache.db.execute("SELECT first, last FROM turns WHERE turn = ?", (number,)).fetchone()
        if row is None:
            return []
        with self.history.open("rb") as file:
            file.seek(row[0])
            records = map(journal.decoded, file.read(row[1] - row[0]).splitlines(keepends=True))
            return [record for record in records if record is not None and record.turn == number]

    def _remove(self, path: Path) -> None:
        try:
            patiently(lambda: path.unlink(missing_ok=True))
        except OSError as error:
            if WINDOWS and path.name == _LOCK:
                return
            raise StoreError(
                f"{path} could not be deleted ({reason(error)}); delete it by hand."
            ) from error


def _marks(cache: Cache, first: int) -> dict[int, str]:
    """The hashes of the turns from one on."""
    rows = cache.db.execute("SELECT turn, mark FROM turns WHERE turn >= ?", (first,))
    return dict(rows.fetchall())


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        found = os.stat(path)  # noqa: PTH116 - on the path of every turn
    except OSError:
        return 0, 0, 0
    return found.st_ino, found.st_mtime_ns, found.st_size


def _crc(path: Path, size: int) -> int:
    """CRC-32 of the first bytes of a file; -1 where it has fewer."""
    crc, left = 0, size
    with path.open("rb") as file:
        while left:
            block = file.read(min(left, 1 << 20))
            if not block:
                return -1
            crc, left = zlib.crc32(block, crc), left - len(block)
    return crc
