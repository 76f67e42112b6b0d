"""``ledger.md`` in the project's folder: a file that a person and the engine both write.

The engine replaces it by exchange, so that what stood there is in hand afterwards: if that is not
what was expected, someone saved in between, and their text is merged. What was displaced is kept
for some seconds, since an editor that had it open may still write into it. ``handoff.md`` is
another such file (:mod:`throughline_nb.store.beside`).
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.displaced import Displaced, Left, contents, settled
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

_RECORD_BYTES: Final = 256


class Written(msgspec.Struct, frozen=True):
    """What the engine last wrote.

    Attributes:
        blob: Id of the text of ``ledger.md``.
        version: Its version.
    """

    blob: str = ""
    version: str = ""


class WorkFile:
    """The file, and what is remembered of it below ``.git/throughline/``.

    Args:
        project: The project's folder.
        name: Name of the file.
        memory: Folder below ``.git/throughline/`` for what is remembered of another file than
            ``ledger.md``.

    Attributes:
        path: The file.
        displaced: What stood in it some seconds ago.
    """

    def __init__(self, project: Path, name: str = LEDGER_FILE, memory: str = "") -> None:
        self.path = project / name
        remembered = project / ".git" / "throughline" / memory
        self._name = str(self.path)
        self.displaced = Displaced(remembered / "displaced")
        self._new = str(remembered / "new.md")
        self._ready = ""
        self._record = str(remembered / "written.json")

    def read(self) -> bytes | None:
        """The file's bytes, None where it is gone.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            return contents(self._name)
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
        return raw if raw is None else settled(self._name, raw)

    def written(self) -> Written:
        """What the engine last wrote; empty where that is not known."""
        try:
            return msgspec.json.decode(contents(self._record), type=Written)
        except (OSError, msgspec.DecodeError):
            return Written()

    def is_ours(self, ident: str, head: str) -> bool:
        """Whether a text is the engine's own: the version's, or what was written last.

        Args:
            ident: Id of the text.
            head: Id of the last version's text.
        """
        if ident == head:
            return True
        return ident == self.written().blob

    def left_over(self, head: str) -> Iterator[Left]:
        """What editors wrote into displaced files since they were displaced.

        Args:
            head: Id of the last version's text.
        """
        return self.displaced.edited(lambda ident: self.is_ours(ident, head))

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
        before = object_id(b"blob", expected) if expected is not None else ""
        aside = self.displaced.fresh(before)
        patiently(lambda: os.replace(self._new, aside))  # noqa: PTH105 - as above
        if not exchange(aside, self._name):
            aside = self._put(aside, before)
        old = self.displaced.look(aside)
        self._remember(Written(blob, version))
        self.displaced.expire()
        if old is not None and old not in (expected, data):
            self.displaced.doubt(aside)
            return False
        return True

    def _remember(self, written: Written) -> None:
        """Written over, always of one length: emptying a file first makes the system flush it."""
        handle = os.open(self._record, os.O_WRONLY | os.O_CREAT | BINARY, 0o644)
        try:
            write_all(handle, msgspec.json.encode(written).ljust(_RECORD_BYTES))
        finally:
            os.close(handle)

    def _put(self, new: str, before: str) -> str:
        """Put a file there without exchange; what stood there gets a second name, or is copied.

        Returns:
            Where that is now; nothing may be there.
        """
        aside = self.displaced.fresh(before)
        try:
            os.link(self._name, aside)
        except FileNotFoundError:
            pass
        except OSError:  # a file system without links
            old = self.read()
            if old is not None:
                write_new(Path(aside), old)
        patiently(lambda: os.replace(new, self._name))  # noqa: PTH105 - as above
        return aside
