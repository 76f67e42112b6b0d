"""What a cleaning has to do: which chats are gone, which projects are orphans, what is due.

Nothing is changed here. Whatever is not known for sure stays: a host that cannot say which of its
chats there are, a folder that is a link, a clock that cannot be right.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.store import marks as marking
from throughline_nb.store.cleanup_places import doubtful, places_now
from throughline_nb.store.home import Home
from throughline_nb.store.marks import Marks, Trashed
from throughline_nb.store.names import safe_name
from throughline_nb.store.observed import DAY, looked
from throughline_nb.store.projects import Projects
from throughline_nb.store.settings import Settings

Exists = Callable[[ChatKey], bool | None]
"""Whether a chat still exists in its host; None where that is not known.

A host that lists its chats has ``snapshot()``, which lists them once and gives a callable of the
same kind; its ``place`` names the folder that it looked into, its ``folders`` the folder below it
in which a chat lies, by the chat's id.
"""

CONFIRMED_SECONDS: Final = DAY
"""Time between the two cleanings that must both find a project due before it goes for good."""

EARLIEST: Final = 1_735_689_600.0
"""The start of 2025: a clock that shows less was never set, and nothing is cleaned by it."""

_CHAT_STATE: Final = "state.json"


class Action(msgspec.Struct, frozen=True):
    """One thing to do.

    Attributes:
        kind: ``chat``: a chat's folder goes. ``orphan``: a project is marked. ``trash``: a project
            moves to the trash. ``delete``: it goes from the trash for good.
        name: The chat's key, the project's name, or the folder's name in the trash.
        path: The folder.
        since: When what leads to it began, in seconds since the epoch.
        until: When the next step is due, or 0.
    """

    kind: Literal["chat", "orphan", "trash", "delete"]
    name: str
    path: Path
    since: float
    until: float = 0.0

    @property
    def would(self) -> str:
        """What is to be done and why, as one line."""
        return f"Would {self._words('remove', 'mark', 'move', 'delete')}"

    @property
    def done(self) -> str:
        """What was done and why, as one line."""
        return self._words("Removed", "Marked", "Moved", "Deleted")

    def _words(self, remove: str, mark: str, move: str, delete: str) -> str:
        since, until = _date(self.since), _date(self.until)
        return {
            "chat": f"{remove} chat {self.name}: its conversation was gone on {since}.",
            "orphan": f"{mark} project {self.name} as an orphan: its last chat was deleted; it "
            f"moves to the trash on {until}.",
            "trash": f"{move} project {self.name} to the trash: an orphan since {since}; it is "
            f"deleted on {until}.",
            "delete": f"{delete} project {self.name} for good: in the trash since {since}.",
        }[self.kind]


class Plan(msgspec.Struct, frozen=True):
    """What a cleaning does.

    Attributes:
        actions: In their order.
        marks: The marks as they are to be before the first action: those that no longer hold are
            gone, and what was found due for the first time is noted.
        seen: The time that was observed (:mod:`throughline_nb.store.observed`).
    """

    actions: tuple[Action, ...] = ()
    marks: Marks = Marks()
    seen: float = 0.0


class _Chat(NamedTuple):
    key: ChatKey
    folder: Path
    project: str | None
    """Name of its project, empty for none; None where that cannot be read."""


class _State(msgspec.Struct):
    key: str = ""
    project: str = ""


def plan(home: Home, exists: Exists, now: float, settings: Settings) -> Plan:
    """What is due; nothing is changed.

    Args:
        home: The home.
        exists: Whether a chat still exists; a chat is gone only where it says False.
        now: Time in seconds since the epoch.
        settings: The days until an orphan moves to the trash, and until it goes from there.
    """
    marks = marking.load(home)
    if home.newer or not home.path.is_dir() or now < EARLIEST or marks.format > marking.FORMAT:
        return Plan(marks=marks)
    clock = looked(marks.clock, now)
    seen = clock.seen
    chats = list(known_chats(home))
    exists = getattr(exists, "snapshot", lambda: exists)()
    there = {chat.key: exists(chat.key) for chat in chats}
    place, folders = getattr(exists, "place", ""), getattr(exists, "folders", {})
    places = places_now(marks.places, there, place, folders, seen)
    gone = [
        chat
        for chat in chats
        if there[chat.key] is False
        and not doubtful(places, chat.key, seen)
        and inside(home, chat.folder)
    ]
    if any(chat.project is None for chat in chats):  # it may be the last one of any project
        gone = [chat for chat in gone if chat.project == ""]
    left = {chat.project for chat in chats if chat not in gone}
    projects = Projects(home)
    orphans = {
        slug: marking.marked(since, seen)
        for slug, since in marks.orphans.items()
        if slug not in left and projects.exists(slug) and _same(home, marks, slug)
    }
    marks = msgspec.structs.replace(
        marks,
        orphans=orphans,
        folders={slug: folder for slug, folder in marks.folders.items() if slug in orphans},
        trash={
            name: _aged(entry, seen, settings)
            for name, entry in marks.trash.items()
            if os.path.lexists(home.trash / name)
        },
        places=places,
    )
    actions = [Action("chat", str(chat.key), chat.folder, now) for chat in gone]
    days = settings.orphan_days * DAY
    actions += [
        Action("orphan", slug, home.projects / slug, seen, seen + days)
        for slug in dict.fromkeys(chat.project for chat in gone if chat.project)
        if slug not in left and slug not in marks.orphans and projects.exists(slug)
    ]
    actions += _moves(home, marks, seen, settings)
    doubts = any(each.other or each.empty for each in places.values())
    waits = bool(marks.orphans or marks.trash or doubts or actions)
    marks = msgspec.structs.replace(marks, clock=clock if waits else None)
    return Plan(tuple(actions), marks, seen)


def _same(home: Home, marks: Marks, slug: str) -> bool:
    """Whether the folder of that name is the one that was marked, and not another by now."""
    marked = marks.folders.get(slug)
    return marked is None or marked == folder_of(home, slug)


def folder_of(home: Home, slug: str) -> str:
    """What tells a project's folder from another one that gets its name."""
    try:
        return str((home.projects / slug).stat().st_ino)
    except OSError:
        return ""


def known_chats(home: Home) -> Iterator[_Chat]:
    """Every chat's folder, with its key and project; what is no chat's is passed over."""
    for host in _folders(home.chats):
        for folder in _folders(host):
            state, known = _State(), True
            try:
                state = msgspec.json.decode((folder / _CHAT_STATE).read_bytes(), type=_State)
            except (FileNotFoundError, msgspec.DecodeError):  # the latter starts anew at its turn
                pass
            except OSError:
                known = False
            key = ChatKey.parse(state.key) if state.key else ChatKey(host.name, folder.name)
            if (safe_name(key.host), safe_name(key.id)) == (host.name, folder.name):
                yield _Chat(key, folder, state.project if known else None)


def _folders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [folder / name for name in sorted(names) if not name.startswith(".")]


def _aged(entry: Trashed, seen: float, settings: Settings) -> Trashed:
    """The entry as of now; that its time is over is noted when it is first found."""
    since = marking.marked(entry.since, seen)
    over = seen - since >= settings.trash_days * DAY
    due = (marking.marked(entry.due, seen) if entry.due else seen) if over else 0.0
    return Trashed(entry.slug, since, due)


def _moves(home: Home, marks: Marks, seen: float, settings: Settings) -> Iterator[Action]:
    until = seen + settings.trash_days * DAY
    for slug, since in marks.orphans.items():
        path = home.projects / slug
        if seen - since >= settings.orphan_days * DAY and inside(home, path):
            yield Action("trash", slug, path, since, until)
    for name, entry in marks.trash.items():
        path = home.trash / name
        if entry.due and seen - entry.due >= CONFIRMED_SECONDS and inside(home, path):
            yield Action("delete", name, path, entry.since)


def inside(home: Home, path: Path) -> bool:
    """Whether a path is a folder within the home with no link on the way to it."""
    root, target = os.path.realpath(home.path), os.path.realpath(path)
    below = os.path.relpath(path, home.path)
    expected = os.path.join(root, below)  # noqa: PTH118 - beside realpath
    same = os.path.normcase(target) == os.path.normcase(expected)
    return same and not below.startswith("..") and path.is_dir()


def _date(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(seconds))
