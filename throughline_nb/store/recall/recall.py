"""The searchable copy of one chat: its history as the truth, and a cache to search it by."""

import contextlib
import logging
import os
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from throughline_nb.errors import StoreError
from throughline_nb.store.files import WINDOWS, lock, patiently, reason, write_atomic
from throughline_nb.store.recall import checked, journal
from throughline_nb.store.recall.cache import Cache, MisfitError
from throughline_nb.store.recall.checked import Checked
from throughline_nb.store.recall.journal import Record
from throughline_nb.store.recall.messages import differing, record_of, redacted, replaced
from throughline_nb.store.recall.packing import Passage
from throughline_nb.store.recall.searching import nearest, search

T = TypeVar("T")

log = logging.getLogger("throughline_nb")

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
        self._index = Checked(self.folder)
        self._thread = threading.RLock()
        self._refused = 0

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
        if not self.exists or turn not in journal.TURNS:
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
            known = self._index.use(lambda cache: self._marks(cache, records[0].turn))
            self._append(differing(records, known), seconds)

    def build(self, seconds: float | None = None) -> bool:
        """Go on with the index, and write the history anew where it is :attr:`wasteful`.

        Args:
            seconds: When to stop; the next call goes on from there. None: never.

        Returns:
            Whether the index is complete.
        """
        if not self.exists:
            return True
        self._compact()
        with self._held(reading=True):
            return self._index.use(lambda cache: self._index.catch_up(cache, seconds))

    def delete(self) -> None:
        """Delete everything that recall has on the disk."""
        with self._thread:
            self.close()
            left = self.folder.glob(f".{journal.NAME}.*")  # of a writer that was killed
            for path in (self.history, *left, *self._beside(*checked.FILES, _LOCK)):
                self._remove(path)
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
        if not self.exists:
            return 0
        with self._held():
            changed, data = redacted(self.history, replace)
            if data is not None:
                self._rewrite(data)
            return changed

    def close(self) -> None:
        """Close the cache; the next use opens it again."""
        with self._thread:
            self._index.close()

    # --- reading --------------------------------------------------------------------------------

    @property
    def exists(self) -> bool:
        """Whether there is a history; what a link leads to is none."""
        return self._is_ours() is True

    @property
    def in_memory(self) -> bool:
        """Whether the index could not be written, so that each process makes it for itself."""
        return self._index.in_memory

    @property
    def wasteful(self) -> bool:
        """Whether half of the history, and enough of it, was superseded."""
        if not self.exists:
            return False
        with self._held(reading=True):
            dead = self._index.use(lambda cache: cache.state.dead)
        return dead - self._refused >= _WASTE and 2 * dead >= checked.stamp(self.history)[2]

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes of the history that are indexed, and all of them."""
        try:
            size = self.history.stat().st_size
        except OSError:
            return 0, 0
        if not self.exists:
            return 0, 0
        with self._held(reading=True):
            return min(self._index.use(lambda cache: cache.state.done), size), size

    @property
    def complete(self) -> bool:
        """Whether everything is indexed."""
        done, size = self.progress
        if done >= size:
            return self.exists
        with self.history.open("rb") as file:  # a torn last line is never indexed
            return done >= journal.whole(file.fileno(), size)

    @property
    def last(self) -> int:
        """The last turn that is indexed; 0 for none."""
        if not self.exists:
            return 0
        with self._held(reading=True):
            return self._index.use(
                lambda cache: cache.db.execute("SELECT max(turn) FROM turns").fetchone()[0] or 0
            )

    def search(self, query: str, budget_tokens: int = 1500) -> list[Passage]:
        """The passages that answer a query best, best first.

        Args:
            query: Words, in any language.
            budget_tokens: Estimated tokens for texts and their short headers.
        """
        if not self.exists:
            return []
        return self._read(lambda cache: self._found(cache, query, budget_tokens))

    def nearest(self, query: str, limit: int = 8) -> list[str]:
        """The words of the history that look most like a query's."""
        if not self.exists:
            return []
        return self._read(lambda cache: nearest(cache, query, limit))

    def turn(self, number: int) -> list[Record]:
        """The messages of one turn, in full; none where there is no such turn."""
        if not self.exists or number not in journal.TURNS:
            return []
        return self._read(lambda cache: self._turn(cache, number))

    # --- inside ---------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _held(self, *, reading: bool = False) -> Iterator[None]:
        with self._thread:
            if reading and self._index.fresh:
                yield
                return
            if not reading and self._is_ours() is False:
                raise StoreError(
                    f"{self.history} is a link or no file, so recall leaves it alone; the chat "
                    "goes on without it: remove it, or switch recall off."
                )
            held = contextlib.ExitStack()
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                checked.drop_link(self.folder / _LOCK)
                held.enter_context(lock(self.folder / _LOCK))
            except (OSError, StoreError) as error:
                if not reading:  # a folder that is only read has no other writer
                    why = reason(error) if isinstance(error, OSError) else str(error)
                    raise StoreError(
                        f"recall could not write in {self.folder} ({why}); the chat goes on "
                        "without the newest messages in it: check permissions and free space."
                    ) from error
            with held:
                yield

    def _read(self, action: Callable[[Cache], T]) -> T:
        """Use the cache to read: without the lock, as long as no other process writes meanwhile."""
        with self._thread:
            if self._index.fresh:
                with contextlib.suppress(StoreError):
                    return self._index.use(action, attempts=1)
            with self._held(reading=True):
                return self._index.use(action)

    def _is_ours(self) -> bool | None:
        """Whether the history is a file, so that it is read and written; None where it is not."""
        try:
            return stat.S_ISREG(os.lstat(self.history).st_mode)
        except OSError:
            return None

    def _record(self, message: Any, seen: float | None) -> Record:
        return replaced(record_of(message, seen), self._without)

    def _append(self, records: Sequence[Record], seconds: float | None) -> None:
        data = b"".join(map(journal.encoded, records))
        if not data:
            return
        self._index.use(lambda _: None)  # it fits, so that what follows is our own growth
        journal.append(self.history, data)
        self._index.grew()
        self._index.use(lambda cache: self._index.catch_up(cache, seconds))

    def _found(self, cache: Cache, query: str, budget: int) -> list[Passage]:
        self._index.catch_up(cache, None)
        with cache.snapshot():
            return search(cache, self.history, query, budget)

    def _marks(self, cache: Cache, first: int) -> dict[int, str]:
        """The hashes of all turns from one on."""
        while not self._index.catch_up(cache, _CATCH_UP):
            pass
        rows = cache.db.execute("SELECT turn, mark FROM turns WHERE turn >= ?", (first,))
        return dict(rows.fetchall())

    def _compact(self) -> None:
        """Write the history anew where it is wasteful; nothing waits while that is prepared.

        Where it cannot be, all stays as it is, until there is more to be gained.
        """
        if not self.wasteful:
            return
        new = self.folder / f".{journal.NAME}.new"
        before = checked.stamp(self.history)
        try:
            new.unlink(missing_ok=True)
            journal.compact(self.history, new)
            with self._held():
                if checked.stamp(self.history) == before:
                    patiently(lambda: new.replace(self.history))
                    self._refused = 0
                    self._forget()
        except (OSError, StoreError) as error:
            log.info("%s is not written anew: %s", self.history, error)
            with self._held(reading=True):
                self._refused = self._index.use(lambda cache: cache.state.dead)
        finally:
            with contextlib.suppress(OSError):
                new.unlink(missing_ok=True)

    def _rewrite(self, data: bytes) -> None:
        """Another history, and with its cache's files what SQLite leaves in them of the old one."""
        write_atomic(self.history, data, durable=False)
        self._forget()

    def _forget(self) -> None:
        try:
            self._index.remove()
        except OSError:  # in use elsewhere; it is emptied then
            self._index.use(Cache.clear)

    def _turn(self, cache: Cache, number: int) -> list[Record]:
        self._index.catch_up(cache, None)
        row = cache.db.execute("SELECT first, last FROM turns WHERE turn = ?", (number,)).fetchone()
        if row is None:
            return []
        with self.history.open("rb") as file:
            file.seek(row[0])
            records = map(journal.decoded, file.read(row[1] - row[0]).splitlines(keepends=True))
            found = [record for record in records if record is not None and record.turn == number]
        if not found:
            raise MisfitError("a turn stands elsewhere")
        return found

    def _beside(self, *names: str) -> Iterator[Path]:
        return (self.folder / name for name in names)

    def _remove(self, path: Path) -> None:
        try:
            patiently(lambda: path.unlink(missing_ok=True))
        except OSError as error:
            if WINDOWS and path.name == _LOCK:
                return
            raise StoreError(
                f"{path} could not be deleted ({reason(error)}); delete it by hand."
            ) from error
