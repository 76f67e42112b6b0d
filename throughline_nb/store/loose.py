"""The object database: writes in process and durably, reads what git has not packed."""

import os
import zlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from throughline_nb.errors import StoreError
from throughline_nb.store.files import (
    BINARY,
    WINDOWS,
    patiently,
    sync_folders,
    sync_together,
    write_all,
)
from throughline_nb.store.objects import Item, header, object_id

_LEVEL: Final = 1
"""zlib's fastest, which is git's own default for loose objects (core.looseCompression)."""

_MODE: Final = 0o644 if WINDOWS else 0o444
"""Read only as git has it; on Windows a read-only file cannot be removed."""


class DamagedError(StoreError):
    """An object is on disk, but cut short or overwritten."""

    def __init__(self, path: Path) -> None:
        super().__init__(
            f"{path} is damaged, as after a power cut; nothing was changed: run `git fsck` in the "
            "project's folder, and bring that file back from a backup or another copy."
        )
        self.path = path


class LooseObjects:
    """Objects in files of their own, below ``.git/objects``."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)

    def path(self, ident: str) -> Path:
        """Where the object would be."""
        return Path(self._folder, ident[:2], ident[2:])

    def read(self, ident: str) -> tuple[bytes, bytes] | None:
        """Kind and content of an object, None where git packed it or it is not there.

        Raises:
            DamagedError: The file is not the object that its name says.
        """
        path = f"{self._folder}/{ident[:2]}/{ident[2:]}"
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - on the path of every turn
                packed = file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise DamagedError(Path(path)) from error
        try:
            head, _, data = zlib.decompress(packed).partition(b"\x00")
        except zlib.error as error:
            raise DamagedError(Path(path)) from error
        kind = head.split(b" ", 1)[0]
        if object_id(kind, data) != ident:
            raise DamagedError(Path(path))
        return kind, data

    def size(self, ident: str) -> int | None:
        """Bytes of an object's content, of which only the head is unpacked; None as in read."""
        try:
            with self.path(ident).open("rb") as file:
                head = zlib.decompressobj().decompress(file.read(256), 64)
            return int(head.partition(b"\x00")[0].split()[1])
        except (OSError, zlib.error, ValueError, IndexError):
            return None

    def write(
        self, items: Iterable[Item], *, durable: bool = True, also: Sequence[int] = ()
    ) -> None:
        """Store objects, all synced before the first gets its name.

        Args:
            items: What to store.
            durable: Whether they survive a power cut once this returns.
            also: Open files that are to be synced with them.
        """
        pending: list[tuple[int, str, str, str]] = []
        folders: dict[str, None] = {}
        try:
            for each in items:
                ident, data = each.id, header(each.kind, each.data) + each.data
                folder = f"{self._folder}/{ident[:2]}"
                if self._stands(ident, folder):
                    continue
                temporary, handle = self._create(folder, folders)
                pending.append((handle, temporary, f"{folder}/{ident[2:]}", folder))
                write_all(handle, zlib.compress(data, _LEVEL))
            if durable:
                sync_together([*(handle for handle, *_ in pending), *also])
        finally:
            for handle, *_ in pending:
                os.close(handle)
        for _, temporary, path, folder in pending:
            patiently(lambda t=temporary, p=path: os.replace(t, p))  # type: ignore[misc]  # noqa: PTH105 - as below
            folders[folder] = None
        if durable:
            sync_folders(folders)

    def _stands(self, ident: str, folder: str) -> bool:
        """Whether a whole copy is there; its age is renewed, so that gc does not prune it now."""
        path = f"{folder}/{ident[2:]}"
        if not os.path.exists(path):  # noqa: PTH110 - on the path of every change
            return False
        try:
            self.read(ident)
            os.utime(path)
        except (StoreError, OSError):
            with suppress(OSError):
                os.chmod(path, 0o644)  # noqa: PTH101 - as above
            return False
        return True

    def _create(self, folder: str, folders: dict[str, None]) -> tuple[str, int]:
        # git gc removes what has this name and is two weeks old
        temporary = f"{folder}/tmp_obj_{os.urandom(6).hex()}"  # noqa: S108 - git's name
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY
        try:
            return temporary, os.open(temporary, flags, _MODE)
        except FileNotFoundError:
            with suppress(FileExistsError):
                os.mkdir(folder)  # noqa: PTH102 - as above
            folders[self._folder] = None
            return temporary, os.open(temporary, flags, _MODE)
