"""Files that are never half written: atomic replacement, exchange, locks between processes."""

import functools
import os
import shutil
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from throughline_nb.errors import StoreError

WINDOWS = os.name == "nt"
BINARY = getattr(os, "O_BINARY", 0)

_locks: dict[tuple[int, str], Any] = {}
"""Lock objects by process and path, since a fork must not use its parent's; each keeps its state
by thread."""

_SYNCED_TOGETHER = 4
"""Blob, tree, commit and ``ledger.md``."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2  # the same figure for Linux' renameat2 and macOS' renamex_np (RENAME_SWAP)


def write_atomic(path: Path | str, data: bytes, *, durable: bool = True) -> None:
    """Replace ``path`` by a file with ``data``; a reader sees the old file or the new one.

    Args:
        path: The file; its folder must exist. A symbolic link is followed.
        data: Its new content.
        durable: Whether the file and its folder are synced to the disk before this returns.

    Raises:
        StoreError: The file cannot be written; the old one stands.
    """
    # strings, not paths: a turn has 1 ms, and this alone would take a fifth of it
    target = os.path.realpath(path) if os.path.islink(path) else os.fspath(path)  # noqa: PTH114
    folder, name = os.path.split(target)
    temporary = os.path.join(folder, f".{name}.{os.urandom(6).hex()}.tmp")  # noqa: PTH118
    try:
        try:
            write_new(temporary, data, mode=_mode(target), durable=durable)
            patiently(lambda: os.replace(temporary, target))  # noqa: PTH105
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)  # noqa: PTH108
            raise
        if durable:
            sync_folder(folder)
    except OSError as error:
        raise StoreError(
            f"{path} could not be written ({reason(error)}); the old file stands: check "
            "permissions and free space."
        ) from error


def write_new(path: Path | str, data: bytes, *, mode: int = 0o666, durable: bool = True) -> None:
    """Write ``data`` to a file of our own, created or emptied, and sync it if ``durable``."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | BINARY, mode)
    try:
        write_all(handle, data)
        if durable:
            sync(handle)
    finally:
        os.close(handle)


def write_all(handle: int, data: bytes) -> None:
    """``os.write`` until all is written."""
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def sync_together(handles: Sequence[int]) -> None:
    """Sync several files or folders at once: the disk then flushes its cache for all of them.

    In turn each would wait for a flush of its own, which on a busy disk takes most of a change.

    Raises:
        OSError: One of them could not be synced.
    """
    here, others = list(handles[:1]), handles[1:]
    running: list[Future[None]] = []
    try:
        for handle in others:
            running.append(_pool(os.getpid()).submit(sync, handle))  # noqa: PERF401 - may stop
    except RuntimeError:  # no new threads while the interpreter ends
        here += others[len(running) :]
    try:
        for handle in here:
            sync(handle)
    finally:
        wait_for(running)  # before anyone closes a handle
    for each in running:
        each.result()


def sync(handle: int) -> None:
    """``os.fsync``; on macOS also past the drive's own cache, as git does it there."""
    if sys.platform == "darwin":
        import fcntl  # noqa: PLC0415 - not on Windows

        with suppress(OSError):  # a file system that does not know it, such as a network's
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
            return
    os.fsync(handle)


@functools.lru_cache(maxsize=1)
def _pool(_process: int) -> ThreadPoolExecutor:
    """Threads that only wait for the disk; a fork gets its own."""
    return ThreadPoolExecutor(_SYNCED_TOGETHER, thread_name_prefix="throughline-sync")


def sync_folders(paths: Iterable[str]) -> None:
    """Sync folders, so that the names in them survive a power cut; Windows knows no such call."""
    if WINDOWS:
        return
    handles: list[int] = []
    try:
        handles.extend(os.open(path, os.O_RDONLY) for path in paths)
        sync_together(handles)
    finally:
        for handle in handles:
            os.close(handle)


def sync_folder(path: Path | str) -> None:
    """Sync one folder."""
    sync_folders([str(path)])


def patiently(action: Callable[[], object]) -> None:
    """Run a rename or a removal, again for half a second where Windows says a file is in use."""
    for wait in (0.01, 0.02, 0.04, 0.08, 0.16, 0.2, 0.0):
        try:
            action()
        except PermissionError:
            if not WINDOWS or not wait:
                raise
            time.sleep(wait)
        else:
            return


def exchange(one: Path | str, other: Path | str) -> bool:
    """Swap two files in one step of the file system, so that neither content is ever lost.

    Returns:
        False where the system cannot (Windows, some file systems); then nothing was done.
    """
    call = _exchange_call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@functools.cache
def _exchange_call() -> Callable[[bytes, bytes], int] | None:
    if WINDOWS:
        return None
    import ctypes  # noqa: PLC0415 - 3 ms, which only an exchange of files needs

    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "darwin":
        if not hasattr(library, "renamex_np"):
            return None
        return lambda one, other: int(library.renamex_np(one, other, _RENAME_EXCHANGE))
    if not hasattr(library, "renameat2"):
        return None
    return lambda one, other: int(
        library.renameat2(_AT_FDCWD, one, _AT_FDCWD, other, _RENAME_EXCHANGE)
    )


@contextmanager
def lock(path: Path, timeout: float = 10.0) -> Iterator[None]:
    """Hold the lock file ``path``, which also ends with the process that holds it.

    Args:
        path: The lock file; it and its folder are created.
        timeout: Seconds to wait for another thread or process.

    Raises:
        StoreError: It could not be had in time, or the file cannot be made.
    """
    from filelock import FileLock, Timeout  # noqa: PLC0415 - 60 ms of import, only when writing

    held: FileLock | None

    try:
        key = (os.getpid(), str(path))
        held = _locks.get(key)
        if held is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            held = _locks[key] = FileLock(path)
        held.acquire(timeout=timeout, poll_interval=0.005)
    except Timeout:
        raise StoreError(
            f"“{path.stem}” is in use by another process for more than {timeout:g} seconds; "
            "nothing was changed: try again."
        ) from None
    except OSError as error:
        raise StoreError(
            f"{path} could not be locked ({reason(error)}); nothing was changed: check the "
            "folder's permissions."
        ) from error
    try:
        yield
    finally:
        held.release()


def remove_tree(path: Path) -> None:
    """Remove a folder with all that is in it, read-only files of git included."""

    def again(action: Callable[..., object], name: str, _error: object) -> None:
        with suppress(OSError):
            if not os.path.islink(name):  # noqa: PTH114 - the mode would be that of its target
                Path(name).chmod(stat.S_IRWXU)
            action(name)

    if not path.exists():
        return
    if sys.version_info >= (3, 12):
        shutil.rmtree(path, onexc=again)
    else:
        shutil.rmtree(path, onerror=again)


def reason(error: OSError) -> str:
    """Why the system refused, in its own words, without path or number."""
    return (error.strerror or str(error)).lower()


def _mode(path: str) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)  # noqa: PTH116
    except OSError:
        return 0o666
