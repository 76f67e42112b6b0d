"""Cleaning up after chats that were deleted in their host.

A chat's folder goes at once. A project whose last chat went in this way is an orphan; after some
days it moves to the trash, and later it is deleted for good. :func:`plan` says what is due, and
:func:`clean` does just that; each folder is looked at once more before it is touched.
"""

import logging
import os
from contextlib import nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store import marks as marking
from throughline_nb.store.cleanup_plan import (
    Action,
    Exists,
    Plan,
    folder_of,
    inside,
    known_chats,
    plan,
)
from throughline_nb.store.files import lock, patiently, remove_tree
from throughline_nb.store.home import Home
from throughline_nb.store.marks import Marks, Trashed
from throughline_nb.store.names import is_slug
from throughline_nb.store.names import slug as slug_of
from throughline_nb.store.projects import Projects
from throughline_nb.store.settings import Settings

__all__ = ["Action", "Exists", "Plan", "clean", "plan", "reopened"]

log = logging.getLogger("throughline_nb")

_GONE: Final = ".gone-"

_NOTED_SECONDS: Final = 600.0
"""How often the time that went by is written down where nothing else is to be."""


def clean(home: Home, exists: Exists, now: float, settings: Settings) -> tuple[Action, ...]:
    """Do what :func:`plan` names; where another process cleans this home, nothing.

    What fails is logged, and is due again at the next cleaning.

    Returns:
        What was done.
    """
    _sweep(home)
    planned = plan(home, exists, now, settings)
    if not planned.actions and not _worth_noting(planned.marks, marking.load(home)):
        return ()
    try:
        with lock(home.locks / ".clean.lock", timeout=0):
            planned = plan(home, exists, now, settings)
            before = marking.load(home)
            marking.update(home, lambda found: planned.marks if found == before else found)
            return tuple(
                action for action in planned.actions if _carried_out(home, action, planned.seen)
            )
    except StoreError as error:
        log.info("not cleaned: %s", error)
        return ()


def _worth_noting(planned: Marks, now: Marks) -> bool:
    """Whether marks changed by more than some minutes that went by."""
    if planned.clock is None or now.clock is None:
        return planned != now
    calm = 0 <= planned.clock.last - now.clock.last < _NOTED_SECONDS
    return not calm or planned != msgspec.structs.replace(now, clock=planned.clock)


def reopened(projects: Projects, name: str) -> str:
    """Take a project that is to be opened off the list of orphans, and out of the trash.

    Args:
        projects: The projects.
        name: Its name, as a person types it.

    Returns:
        Its name; ``name`` itself where there is no such project in the trash.

    Raises:
        StoreError: It lies in the trash, and cannot be moved back.
    """
    home = projects.home
    candidates = [each for each in (name.strip(), slug_of(name)) if is_slug(each)]
    for slug in candidates:
        if projects.exists(slug):
            with projects.moving() if slug in marking.load(home).orphans else nullcontext():
                marking.unmark(home, slug)
            if projects.exists(slug):  # else it was moved to the trash just before
                return slug
    for slug in candidates:
        folder = _in_trash(home, slug)
        if folder is not None:
            projects.restore(folder, slug)
            marking.update(home, partial(_without_trash, name=folder.name))
            return slug
    return name


def _in_trash(home: Home, slug: str) -> Path | None:
    """The folder of that project in the trash, the one moved there last; None where there is none.

    One without a mark counts, too: the index may be lost.
    """
    trash = marking.load(home).trash
    names = [name for name, entry in trash.items() if entry.slug == slug]
    names.sort(key=lambda name: trash[name].since, reverse=True)
    folders = [home.trash / name for name in [*names, slug]]
    return next((each for each in folders if (each / ".git").is_dir() and inside(home, each)), None)


def _carried_out(home: Home, action: Action, seen: float) -> bool:
    """Do one thing, if its folder is still what it was; returns whether it was done."""
    if not inside(home, action.path):
        return False
    try:
        if action.kind == "orphan":
            folder = folder_of(home, action.name)
            marking.update(home, lambda marks: _with_orphan(marks, action.name, folder, seen))
        elif action.kind == "trash":
            return _to_trash(home, action.name, seen)
        else:
            _vanish(home, action.path)
            if action.kind == "delete":
                marking.update(home, lambda marks: _without_trash(marks, action.name))
    except (OSError, StoreError) as error:
        log.warning("%s: %s", action.would, error)
        return False
    log.info(action.done)
    return True


def _to_trash(home: Home, slug: str, seen: float) -> bool:
    projects = Projects(home)
    if home.trash.exists() and not inside(home, home.trash):
        return False
    place = projects.free_place(slug)

    def still() -> bool:  # under the lock that whoever opens it takes, too
        marks = marking.load(home)
        if slug not in marks.orphans or marks.folders.get(slug) not in (
            None,
            folder_of(home, slug),
        ):
            return False
        if any(chat.project in (slug, None) for chat in known_chats(home)):
            return False
        # Noted first: what lies in the trash without a note is never deleted.
        marking.update(home, lambda marks: _with_trash(marks, place.name, Trashed(slug, seen)))
        return True

    if not projects.trash(slug, place, still):
        return False
    marking.unmark(home, slug)
    return True


def _vanish(home: Home, path: Path) -> None:
    """Remove a folder: its name goes at once, also where the removal is interrupted."""
    home.trash.mkdir(exist_ok=True)
    gone = home.trash / f"{_GONE}{os.urandom(6).hex()}"
    if not inside(home, home.trash):
        raise StoreError(f"{home.trash} is a link; nothing was removed: make it a folder.")
    patiently(lambda: path.rename(gone))
    remove_tree(gone)
    for folder in {home.trash, path.parent}:
        with suppress(OSError):  # not empty
            folder.rmdir()


def _sweep(home: Home) -> None:
    """Remove what an interrupted removal left."""
    try:
        left = [name for name in os.listdir(home.trash) if name.startswith(_GONE)]  # noqa: PTH208
    except OSError:
        return
    for name in left:
        if inside(home, home.trash / name):
            remove_tree(home.trash / name)
    if left:
        with suppress(OSError):  # not empty
            home.trash.rmdir()


def _with_orphan(marks: Marks, slug: str, folder: str, seen: float) -> Marks:
    return msgspec.structs.replace(
        marks, orphans={slug: seen} | marks.orphans, folders={**marks.folders, slug: folder}
    )


def _with_trash(marks: Marks, name: str, entry: Trashed) -> Marks:
    return msgspec.structs.replace(marks, trash={**marks.trash, name: entry})


def _without_trash(marks: Marks, name: str) -> Marks:
    kept = {key: entry for key, entry in marks.trash.items() if key != name}
    return msgspec.structs.replace(marks, trash=kept)
