"""``ledger.md`` in the project's folder: the one file that a person and the engine both write.

The engine replaces it by exchange, so that what stood there is in hand afterwards: if that is not
what was expected, someone saved in between, and their text is merged. The displaced file is also
kept until the next write, since an editor that had it open may still write into it.
"""

import errno
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import (
    BINARY,
    exchange,
    patiently,
    reason,
    sync,
    write_all,
    write_new,
)
from throughline_nb.store.objects import LEDGER_FILE, object_id
from throughline_nb.store.records import Tip

_TAIL: Final = b"Ledger"
_SETTLING_SECONDS: Final = 0.5
_RECORD_BYTES: Final = 256

_seen: dict[str, tuple[int, int, int]] = {}
"""Displaced files that this process has looked into: time, size and number of the file."""


class Written(msgspec.Struct, frozen=True):
    """What the engine last wrote.

    Attributes:
        blob: Id of the text of ``ledger.md``.
        version: Its version.
        displaced: Id of the text that it displaced.
    """

    blob: str = ""
    version: str = ""
    displaced: str = ""


class WorkFile:
    """The file, and what is remembered of it below ``.git/throughline/``."""

    def __init__(self, project: Path) -> None:
        self.path = project / LEDGER_FILE
        memory = project / ".git" / "throughline"
        self._name = str(self.path)
        self._displaced = str(memory / "displaced.md")
        self._new = str(memory / "new.md")
        self._ready = ""
        self._record = str(memory / "written.json")

    def read(self) -> bytes | None:
        """The file's bytes, None where it is gone.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            return _bytes(self._name)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(
                f"{self.path} cannot be read ({reason(error)}); nothing was changed: make it a "
                "readable file again, or remove it and it is written anew."
            ) from error

    def read_settled(self) -> bytes | None:
        """The same, but not in the middle of a save that empties the file before it fills it."""
        raw = self.read()
        return raw if raw is None else _settled(self._name, raw)

    def written(self) -> Written:
        """What the engine last wrote; empty where that is not known."""
        try:
            return msgspec.json.decode(_bytes(self._record), type=Written)
        except (OSError, msgspec.DecodeError):
            return Written()

    def is_ours(self, ident: str, head: str) -> bool:
        """Whether a text is the engine's own: the version's, or what a killed engine left.

        Args:
            ident: Id of the text.
            head: Id of the last version's text.
        """
        if ident == head:
            return True
        written = self.written()
        return ident in (written.blob, written.displaced)

    def left_over(self, head: str) -> bytes | None:
        """What an editor wrote into the displaced file since it was displaced, if anything."""
        found = _stamp(self._displaced)
        if found is None or _seen.get(self._displaced) == found:
            return None
        with suppress(OSError):
            raw = _bytes(self._displaced)
            if not self.is_ours(object_id(b"blob", raw), head):
                return _settled(self._displaced, raw) or None  # emptied: to be looked at again
            _seen[self._displaced] = found
        return None

    def settle(self, displaced: bytes) -> None:
        """Remember that the displaced text was dealt with."""
        self._remember(
            msgspec.structs.replace(self.written(), displaced=object_id(b"blob", displaced))
        )

    @contextmanager
    def prepared(self, data: bytes, blob: str) -> Iterator[int]:
        """Write the next text beside; in its place it comes by :meth:`replace`.

        Yields:
            The open file, which the caller syncs.
        """
        mode = 0o666
        with suppress(OSError):
            mode = os.stat(self._name).st_mode & 0o777  # noqa: PTH116 - on every change's path
        self._ready = ""
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY
        try:
            handle = os.open(self._new, flags, mode)
        except FileNotFoundError:
            os.makedirs(os.path.dirname(self._new), exist_ok=True)  # noqa: PTH103, PTH120
            handle = os.open(self._new, flags, mode)
        try:
            write_all(handle, data)
            yield handle
        finally:
            os.close(handle)
        self._ready = blob

    def hand_over(self, git: Path, tip: Tip) -> None:
        """Tell a repository that takes this one's place what stands in ``ledger.md``."""
        heir = WorkFile(git.parent)
        heir._remember(Written(tip.blob, tip.now.version))

    def drop_displaced(self) -> None:
        """Remove the displaced text for good."""
        with suppress(OSError):
            os.unlink(self._displaced)  # noqa: PTH108 - as the others here

    def replace(self, data: bytes, blob: str, version: str, expected: bytes | None) -> bool:
        """Put ``data`` there; its name is not synced, since HEAD can always write it again.

        Args:
            data: The new text.
            blob: Its id.
            version: Its version.
            expected: What should stand there; None for nothing.

        Returns:
            Whether it did. If not, :meth:`left_over` is what someone saved meanwhile.

        Raises:
            OSError: The file cannot be replaced.
        """
        if self._ready != blob:
            with self.prepared(data, blob) as handle:
                sync(handle)
        self._ready = ""
        patiently(lambda: os.replace(self._new, self._displaced))  # noqa: PTH105 - as above
        if exchange(self._displaced, self._name):
            found = _stamp(self._displaced)
            old: bytes | None = _bytes(self._displaced)
        else:
            found = None
            old = self._replace(expected)
        before = object_id(b"blob", expected) if expected is not None else ""
        self._remember(Written(blob, version, before))
        if old is not None and old not in (expected, data):
            return False
        if found:
            _seen[self._displaced] = found
        return True

    def _remember(self, written: Written) -> None:
        """Written over, always of one length: emptying a file first makes the system flush it."""
        handle = os.open(self._record, os.O_WRONLY | os.O_CREAT | BINARY, 0o644)
        try:
            write_all(handle, msgspec.json.encode(written).ljust(_RECORD_BYTES))
        finally:
            os.close(handle)

    def _replace(self, expected: bytes | None) -> bytes | None:
        """Without exchange: what stands there is kept first if it is not what was expected."""
        old = self.read()
        new = f"{self._new}.next"
        patiently(lambda: os.replace(self._displaced, new))  # noqa: PTH105 - as above
        if old is not None and old != expected:
            write_new(self._new, old)
            patiently(lambda: os.replace(self._new, self._displaced))  # noqa: PTH105 - as above
        patiently(lambda: os.replace(new, self._name))  # noqa: PTH105 - as above
        return old


def _settled(name: str, raw: bytes) -> bytes:
    """``raw``, or what the file says half a second later where a save seems to be under way."""
    deadline = time.monotonic() + _SETTLING_SECONDS
    while _TAIL not in raw[-400:] and _fresh(name) and time.monotonic() < deadline:
        time.sleep(0.05)
        with suppress(OSError):
            raw = _bytes(name)
    return raw


def _fresh(name: str) -> bool:
    found = _stamp(name)
    return found is not None and abs(time.time() - found[0] / 1e9) < 2 * _SETTLING_SECONDS


def _bytes(name: str) -> bytes:
    # Without waiting: a pipe of that name would hold every command up.
    handle = os.open(name, os.O_RDONLY | BINARY | getattr(os, "O_NONBLOCK", 0))
    with open(handle, "rb") as file:  # noqa: PTH123 - on the path of every turn
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file")
        return file.read()


def _stamp(name: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(name)  # noqa: PTH116 - as above
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
