"""Branches as files: where HEAD points, how it moves, and which locks stand in the way."""

import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from throughline_nb.errors import StoreError
from throughline_nb.store.files import BINARY, patiently, reason, sync, sync_folder, write_all

BRANCH: Final = "main"
MAIN: Final = f"refs/heads/{BRANCH}"
RESCUE: Final = "refs/throughline/rescue"

STALE_SECONDS: Final = 2.0
"""Age from which a lock file under our own lock is one that a killed process left behind."""

COMMIT_SECONDS: Final = 3600.0
"""How long a person may sit before the editor of a ``git commit``, which holds index.lock."""

UNDER_WAY: Final = {
    "rebase-merge": ("a rebase", "git rebase --continue` or `git rebase --abort"),
    "rebase-apply": ("a rebase", "git rebase --continue` or `git rebase --abort"),
    "MERGE_HEAD": ("a merge", "git commit` or `git merge --abort"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue` or `--abort"),
    "REVERT_HEAD": ("a revert", "git revert --continue` or `git revert --abort"),
    "BISECT_LOG": ("a bisect", "git bisect reset"),
}

_ID = re.compile(r"[0-9a-f]{40}")
_LOCKS = ("index.lock", "HEAD.lock", f"{MAIN}.lock", "packed-refs.lock", "config.lock")


class BusyError(StoreError):
    """A live process of git's holds a lock of its own."""


def head(git: Path) -> str:
    """What HEAD names: a branch such as ``refs/heads/main``, or a commit's id when detached."""
    text = _text(f"{git}/HEAD")
    return text.removeprefix("ref:").strip()


def read_ref(git: Path, name: str) -> str | None:
    """The commit that a ref names, None where there is no such ref."""
    for _ in range(2):  # git may pack the ref between the two looks
        value = _text(f"{git}/{name}")
        if _ID.fullmatch(value):
            return value
        if value:
            raise StoreError(
                f"{git / name} is damaged; nothing was changed: put the id of the last commit "
                "into it, which `git fsck --lost-found` lists."
            )
        for line in _text(git / "packed-refs").splitlines():
            ident, _, packed = line.partition(" ")
            if packed == name and _ID.fullmatch(ident):
                return ident
    return None


def list_refs(git: Path, below: str) -> dict[str, str]:
    """All refs whose name starts with ``below``, a folder such as ``refs/``."""
    found = {}
    for line in _text(git / "packed-refs").splitlines():
        ident, _, name = line.partition(" ")
        if name.startswith(below) and _ID.fullmatch(ident):
            found[name] = ident
    for path in (git / below).rglob("*"):
        value = "" if path.suffix == ".lock" or not path.is_file() else _text(path)
        if _ID.fullmatch(value):
            found[path.relative_to(git).as_posix()] = value
    return found


def swap(git: Path, name: str, new: str, old: str | None) -> bool:
    """Move a ref from ``old`` to ``new``, durably, unless someone else moved it.

    Returns:
        False where it no longer is ``old``.

    Raises:
        BusyError: git holds the ref's lock for longer than a lock is fresh.
        StoreError: The file cannot be written.
    """
    path = f"{git}/{name}"
    held = f"{path}.lock"
    handle = _take(held)
    try:
        try:
            if read_ref(git, name) != old:
                os.unlink(held)  # noqa: PTH108 - on the path of every change
                return False
            write_all(handle, f"{new}\n".encode("ascii"))
            sync(handle)
        finally:
            os.close(handle)
        patiently(lambda: os.replace(held, path))  # noqa: PTH105 - as above
    except BaseException:
        with suppress(OSError):
            os.unlink(held)  # noqa: PTH108 - as above
        raise
    sync_folder(os.path.dirname(path))  # noqa: PTH120 - as above
    return True


def sweep(git: Path, now: float | None = None) -> None:
    """Remove lock files that a killed process left; call under our own lock.

    A fresh one is never touched, nor the index.lock of a commit whose message is being written.
    """
    for path, age in standing_locks(git, now):
        if age > STALE_SECONDS and not (
            path.name == "index.lock" and _being_written(git, path, age)
        ):
            with suppress(OSError):
                path.unlink()


def standing_locks(git: Path, now: float | None = None) -> list[tuple[Path, float]]:
    """Lock files that are there, with their age in seconds."""
    now = time.time() if now is None else now
    found = []
    for name in _LOCKS:
        with suppress(OSError):
            found.append((git / name, now - os.stat(f"{git}/{name}").st_mtime))  # noqa: PTH116
    return found


def under_way(git: Path) -> tuple[str, str] | None:
    """A rebase, merge or the like that a person began here, and how it ends."""
    try:
        names = set(os.listdir(git))  # noqa: PTH208 - one call for all of them
    except OSError:
        return None
    return next((UNDER_WAY[name] for name in UNDER_WAY if name in names), None)


def ensure_on_main(git: Path, name: str) -> None:
    """Refuse to write where a person's own git work stands in the way.

    Raises:
        StoreError: Says what, and how to go on.
    """
    if work := under_way(git):
        raise StoreError(
            f"{work[0].capitalize()} is under way in project “{name}”; nothing was changed: "
            f"end it there with `{work[1]}`."
        )
    at = head(git)
    if at == MAIN:
        return
    where = (
        f"is on branch “{at.removeprefix('refs/heads/')}”"
        if at.startswith("refs/")
        else "is not on a branch (detached HEAD)"
    )
    cure = (
        "git branch -m main" if at.startswith("refs/") and not _has_main(git) else "git switch main"
    )
    raise StoreError(f"Project “{name}” {where}; nothing was changed: run `{cure}` in its folder.")


def _has_main(git: Path) -> bool:
    return read_ref(git, MAIN) is not None


def _take(name: str) -> int:
    held = Path(name)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY
    patience = time.monotonic() + STALE_SECONDS + 1.0
    while True:
        try:
            return os.open(name, flags, 0o644)
        except FileNotFoundError:
            held.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            with suppress(OSError):
                if time.time() - held.stat().st_mtime > STALE_SECONDS:
                    held.unlink()
                    continue
            if time.monotonic() > patience:
                raise BusyError(
                    f"git is at work in {held.parent} ({held.name}); nothing was changed: try "
                    "again in a moment."
                ) from None
            time.sleep(0.02)
        except OSError as error:
            raise StoreError(
                f"{held} cannot be written ({reason(error)}); nothing was changed: make the "
                "folder writable."
            ) from error


def _being_written(git: Path, held: Path, age: float) -> bool:
    try:
        message = (git / "COMMIT_EDITMSG").stat().st_mtime
    except OSError:
        return False
    return age < COMMIT_SECONDS and message >= held.stat().st_mtime - STALE_SECONDS


def _text(path: Path | str) -> str:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - every turn
            return file.readall().decode("utf-8", "replace").strip()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return ""
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read ({reason(error)}); nothing was changed: check the folder's "
            "owner and permissions."
        ) from error
