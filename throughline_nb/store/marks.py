"""The home's ``index.json``: which project is an orphan since when, and what lies in the trash.

Marks never stand in a project, which may be shared. Whoever changes them reads the file again under
a lock of its own, held for a moment, so that a command never waits for a cleaning. A mark whose
name could lead out of its folder is none.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from throughline_nb.store.files import lock, write_atomic
from throughline_nb.store.home import Home
from throughline_nb.store.names import is_slug
from throughline_nb.store.observed import LONGEST_STEP, Clock

FORMAT: Final = 1


class Trashed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A project in the trash.

    Attributes:
        slug: Its name; that of its folder may have a number behind it.
        since: When it was moved there, in seconds since the epoch.
        due: When a cleaning first found that its time is over; 0 while it is not.
    """

    slug: str
    since: float
    due: float = 0.0


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a host's chats were last looked for.

    Attributes:
        ident: What tells that folder from another one under its name.
        other: When another one was first met there, and none of the known chats in it; else 0.
        within: In which folder below it a known chat was last seen, by the chat's id; those that
            lie in it directly are left out.
        empty: Since when no chat is found in such a folder although one that is known was there.
    """

    ident: str
    other: float = 0.0
    within: dict[str, str] = {}
    empty: dict[str, float] = {}


class Marks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the file holds.

    Attributes:
        format: Number of its format.
        orphans: Since when, in seconds since the epoch, by the project's name.
        folders: What tells an orphan's folder from another one that gets its name, by the name.
        trash: By the name of the folder below ``trash/``.
        places: By the host's name.
        clock: The time that was observed, in which all these times are; None while none waits.
    """

    format: int = FORMAT
    orphans: dict[str, float] = {}
    folders: dict[str, str] = {}
    trash: dict[str, Trashed] = {}
    places: dict[str, Place] = {}
    clock: Clock | None = None


def load(home: Home) -> Marks:
    """The marks; none where there is no file, or one that is no index of ours."""
    with suppress(OSError, msgspec.DecodeError):
        return _sound(msgspec.json.decode(home.index.read_bytes(), type=Marks))
    return Marks()


def _sound(marks: Marks) -> Marks:
    """The marks without those whose name is no folder's, be it edited or damaged."""
    orphans = {slug: since for slug, since in marks.orphans.items() if is_slug(slug)}
    trash = {
        name: entry for name, entry in marks.trash.items() if is_slug(name) and is_slug(entry.slug)
    }
    return msgspec.structs.replace(marks, orphans=orphans, trash=trash)


def update(home: Home, change: Callable[[Marks], Marks]) -> Marks:
    """Change the marks; what cannot be read is kept beside as ``index.damaged.json``.

    Raises:
        StoreError: The file cannot be written.
    """
    with lock(home.locks / ".index.lock"):
        before = load(home)
        after = change(before)
        if after == before:
            return before
        if not _readable(home):
            with suppress(OSError):
                home.index.replace(home.index.with_name("index.damaged.json"))
        write_atomic(home.index, msgspec.json.format(msgspec.json.encode(after)) + b"\n")
        return after


def _readable(home: Home) -> bool:
    try:
        msgspec.json.decode(home.index.read_bytes(), type=Marks)
    except msgspec.DecodeError:
        return False
    except OSError:
        return True
    return True


def without_orphan(marks: Marks, slug: str) -> Marks:
    """The marks with that project no longer an orphan."""
    if slug not in marks.orphans:
        return marks
    kept = {name: since for name, since in marks.orphans.items() if name != slug}
    folders = {name: folder for name, folder in marks.folders.items() if name != slug}
    return msgspec.structs.replace(marks, orphans=kept, folders=folders)


def unmark(home: Home, slug: str) -> None:
    """Take an orphan's mark off: the project was opened, or another one gets its name."""
    if slug in load(home).orphans:
        update(home, lambda marks: without_orphan(marks, slug))


def marked(when: float, seen: float) -> float:
    """A time that a mark gives; one that cannot be, since the file was damaged, is now.

    One that is ahead stays as it is, however: the clock may have been set back, and to take it for
    now would make it too old when the clock is set right.
    """
    possible = math.isfinite(when) and 0 <= when <= seen + LONGEST_STEP
    return when if possible else seen
