"""The home's ``index.json``: which project is an orphan since when, and what lies in the trash.

Marks never stand in a project, which may be shared. Whoever changes them reads the file again under
a lock of its own, held for a moment, so that a command never waits for a cleaning.
"""

import math
from collections.abc import Callable
from contextlib import suppress
from typing import Final

import msgspec

from throughline_nb.store.files import lock, write_atomic
from throughline_nb.store.home import Home

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
    """

    ident: str
    other: float = 0.0


class Marks(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the file holds.

    Attributes:
        format: Number of its format.
        orphans: Since when, in seconds since the epoch, by the project's name.
        trash: By the name of the folder below ``trash/``.
        places: By the host's name.
    """

    format: int = FORMAT
    orphans: dict[str, float] = {}
    trash: dict[str, Trashed] = {}
    places: dict[str, Place] = {}


def load(home: Home) -> Marks:
    """The marks; none where there is no file, or one that is no index of ours."""
    with suppress(OSError, msgspec.DecodeError):
        return msgspec.json.decode(home.index.read_bytes(), type=Marks)
    return Marks()


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
    return msgspec.structs.replace(marks, orphans=kept)


def unmark(home: Home, slug: str) -> None:
    """Take an orphan's mark off: the project was opened, or another one gets its name."""
    if slug in load(home).orphans:
        update(home, lambda marks: without_orphan(marks, slug))


def past(when: float, now: float) -> float:
    """A time that a mark gives; one that cannot be, since the clock was wrong, is now."""
    return when if math.isfinite(when) and 0 <= when <= now else now
