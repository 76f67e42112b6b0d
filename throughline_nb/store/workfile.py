"""``ledger.md`` in the project's folder: the one file that a person and the engine both write.

The engine replaces it by exchange, so that what stood there is in hand afterwards: if that is not
what was expected, someone saved in between, and their text is merged. The displaced file is also
kept until the next write, since an editor that had it open may still write into it.
"""

import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import exchange, patiently, reason, sync_folder, write_new
from throughline_nb.store.objects import LEDGER_FILE, object_id

_TAIL: Final = b"Ledger"
_SETTLING_SECONDS: Final = 0.5


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
        self._memory = project / ".git" / "throughline"
        self._displaced = self._memory / "displaced.md"
        self._record = self._memory / "written.json"

    def read(self) -> bytes | None:
        """The file's bytes, None where it is gone.

        Raises:
            StoreError: It cannot be read.
        """
        try:
            return self.path.read_bytes()
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
        deadline = time.monotonic() + _SETTLING_SECONDS
        while raw is not None and not _whole(raw) and self._fresh() and time.monotonic() < deadline:
            time.sleep(0.05)
            raw = self.read()
        return raw

    def displaced(self) -> bytes | None:
        """What the last write displaced, if it still is kept."""
        try:
            return self._displaced.read_bytes()
        except OSError:
            return None

    def written(self) -> Written:
        """What the engine last wrote; empty where that is not known."""
        try:
            return msgspec.json.decode(self._record.read_bytes(), type=Written)
        except (OSError, msgspec.DecodeError):
            return Written()

    def replace(self, data: bytes, version: str, expected: str) -> bool:
        """Put ``data`` there, durably.

        Args:
            data: The new text.
            version: Its version.
            expected: Id of the text that should stand there; empty for none.

        Returns:
            Whether it did. If not, :meth:`displaced` is the text that someone saved meanwhile.

        Raises:
            OSError: The file cannot be replaced.
        """
        self._memory.mkdir(exist_ok=True)
        mode = 0o666
        with suppress(OSError):
            mode = self.path.stat().st_mode & 0o777
        with suppress(FileNotFoundError):
            self._displaced.unlink()
        write_new(self._displaced, data, mode=mode)
        if exchange(self._displaced, self.path):
            old = self.displaced() or b""
        else:
            old = self._replace(data, mode, expected)
        found = object_id(b"blob", old) if old else ""
        sync_folder(self.path.parent)
        blob = object_id(b"blob", data)
        record = Written(blob, version, expected)
        write_new(self._record, msgspec.json.encode(record), durable=False)
        return found in (expected, blob)

    def settle(self, displaced: bytes) -> None:
        """Remember that the displaced text was dealt with."""
        record = msgspec.structs.replace(
            self.written(), displaced=object_id(b"blob", displaced) if displaced else ""
        )
        write_new(self._record, msgspec.json.encode(record), durable=False)

    def _replace(self, data: bytes, mode: int, expected: str) -> bytes:
        """Without exchange: what stands there is kept first if it is not ours."""
        old = self.read() or b""
        new = self._displaced.with_name("new.md")
        write_new(new, data, mode=mode)
        if old and object_id(b"blob", old) != expected:
            write_new(self._displaced, old)
        patiently(lambda: new.replace(self.path))
        return old

    def _fresh(self) -> bool:
        try:
            return abs(time.time() - self.path.stat().st_mtime) < 2 * _SETTLING_SECONDS
        except OSError:
            return False


def _whole(raw: bytes) -> bool:
    return _TAIL in raw[-400:]
