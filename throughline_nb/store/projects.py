"""All projects of a home: finding, making, renaming and removing them as a whole."""

import difflib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from throughline_nb.errors import NotFoundError, RefusedError, StoreError, ThroughLineError
from throughline_nb.ledger import Ledger, write
from throughline_nb.ledger.delta import clip
from throughline_nb.store import driver, gitrun, handedit, purge
from throughline_nb.store.files import lock, reason, remove_tree, sync_folder
from throughline_nb.store.home import Home
from throughline_nb.store.ledgers import Parsed, remember
from throughline_nb.store.marks import unmark
from throughline_nb.store.names import is_slug, slug
from throughline_nb.store.objects import LEDGER_FILE
from throughline_nb.store.problems import Problem
from throughline_nb.store.project import Project
from throughline_nb.store.records import (
    Absorbed,
    Record,
    Snapshot,
    Stamp,
    Undone,
    describe,
    next_version,
)
from throughline_nb.store.repo import ATTRIBUTES, Repo

__all__ = [
    "Absorbed",
    "Problem",
    "Project",
    "Projects",
    "Record",
    "Snapshot",
    "Stamp",
    "Undone",
]

_NEW = ".new-"
_GONE = ".gone-"
_CLONE = ".clone-"

_CLONE_SECONDS = 86400.0
"""Age from which the folder of a clone is one that a killed process left."""


class Projects:
    """All projects of a home."""

    def __init__(self, home: Home) -> None:
        self.home = home

    def names(self) -> list[str]:
        """Slugs, in order."""
        try:
            with os.scandir(self.home.projects) as entries:
                found = [e.name for e in entries if is_slug(e.name) and self.exists(e.name)]
        except OSError:
            return []
        return sorted(found)

    def exists(self, slug: str) -> bool:
        """Whether there is such a project."""
        folder = f"{self.home.projects}/{slug}"
        return is_slug(slug) and any(
            os.path.isdir(f"{folder}/{name}")  # noqa: PTH112 - never raises
            for name in (".git", purge.NEW)
        )

    def open(self, slug: str) -> Project:
        """Open a project by its slug.

        Raises:
            NotFoundError: There is none.
        """
        return Project.open(self.home, slug)

    def find(self, name: str) -> Project:
        """Open a project by its name as a person types it.

        Raises:
            NotFoundError: There is none; the text names the nearest.
        """
        name = name.strip()
        for candidate in (name, slug(name)):
            if self.exists(candidate):
                return self.open(candidate)
        near = difflib.get_close_matches(slug(name), self.names(), 1, 0.5)
        hint = f"did you mean “{near[0]}”?" if near else "`/tl list` shows those that there are."
        raise NotFoundError(f"There is no project “{clip(name)}”; {hint}")

    def holding(self, version: str) -> str:
        """Slug of the only project that has a version of this name; empty where none has."""
        found = []
        for name in self.names() if version else ():
            with suppress(ThroughLineError):
                if self.open(name).at(version).version == version:
                    found.append(name)
        return found[0] if len(found) == 1 else ""

    def free_slug(self, title: str) -> str:
        """A slug for a new project that no project has."""
        return slug(title, _Taken(self))

    def create(self, name: str, ledger: Ledger, sentence: str, stamp: Stamp) -> Project:
        """Make a project; it is there whole or not at all.

        Args:
            name: Its slug.
            ledger: Its first version.
            sentence: Subject of the first commit.
            stamp: Who, when and where.

        Raises:
            RefusedError: The name is taken, or cannot be a folder's.
        """
        if not is_slug(name):
            raise RefusedError(f"“{name}” cannot be a project's name; nothing was changed.")
        self.home.ensure_writable()
        gitrun.require()
        project = Project(self.home, name)
        with self.moving():
            if project.path.exists():
                raise RefusedError(f"There is a project “{name}” already; nothing was changed.")
            building = Project(self.home, f"{_NEW}{os.urandom(6).hex()}")
            try:
                building.path.mkdir(parents=True)
                ledger = msgspec.structs.replace(ledger, project=name)
                _first_version(building, ledger, sentence, stamp)
                building.path.rename(project.path)
                sync_folder(self.home.projects)
                unmark(self.home, name)  # of a project that had the name before
            except OSError as error:
                raise StoreError(
                    f"{project.path} could not be made ({reason(error)}); nothing was changed: "
                    "check the home's permissions and free space."
                ) from error
            finally:
                remove_tree(building.path)
        return project

    @contextmanager
    def building(self) -> Iterator[Project]:
        """A folder in which a project is put together; removed unless it was settled."""
        self.home.ensure_writable()
        made = Project(self.home, f"{_CLONE}{os.urandom(6).hex()}")
        made.path.mkdir(parents=True)
        try:
            yield made
        finally:
            remove_tree(made.path)

    def settle(self, building: Project, name: str) -> Project:
        """Give a project that was put together its name.

        Raises:
            RefusedError: The name was taken meanwhile.
            StoreError: The folder cannot be renamed.
        """
        project = Project(self.home, name)
        with self.moving():
            if project.path.exists():
                raise RefusedError(f"There is a project “{name}” already; nothing was changed.")
            try:
                building.path.rename(project.path)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{project.path} could not be made ({reason(error)}); nothing was changed: "
                    "check the home's permissions and free space."
                ) from error
            unmark(self.home, name)  # of a project that had the name before
        return self.open(name)

    def rename(self, name: str, new: str, stamp: Stamp | None = None) -> Project:
        """Give a project another slug: its folder, and the name in its ledger.

        Raises:
            NotFoundError: There is no such project.
            RefusedError: The new name is taken, or cannot be a folder's.
        """
        if not is_slug(new):
            raise RefusedError(f"“{new}” cannot be a project's name; nothing was changed.")
        old, project = self.open(name), Project(self.home, new)
        stamp = stamp or Stamp(actor="user", now=time.time())
        with self.moving(), old.writing():
            if project.path.exists():
                raise RefusedError(f"There is a project “{new}” already; nothing was changed.")
            text = handedit.absorb(old, stamp).text
            try:
                old.path.rename(project.path)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{old.path} could not be renamed ({reason(error)}); nothing was changed: "
                    "close the programs that have it open."
                ) from error
            try:
                tip = project.tip()
                tip = project.commit(tip, tip.now.ledger, f"Renamed from {name} to {new}", stamp)
            except BaseException:
                project.path.rename(old.path)
                raise
            project.show(tip, text)
            for each in (name, new):  # of this one, and of a project that had the name before
                unmark(self.home, each)
        return project

    def delete(self, name: str) -> None:
        """Delete a project with its history.

        Raises:
            NotFoundError: There is no such project.
        """
        self._remove(name, self.home.projects / f"{_GONE}{os.urandom(6).hex()}", keep=False)

    def trash(
        self, name: str, place: Path | None = None, still: Callable[[], bool] = lambda: True
    ) -> Path | None:
        """Move a project to the trash.

        Args:
            name: Its slug.
            place: Where to; by default :meth:`free_place`.
            still: Asked under the lock whether it is to go.

        Returns:
            Where it lies now; None where it was not to go any more.

        Raises:
            NotFoundError: There is no such project.
        """
        place = place or self.free_place(name)
        self.home.trash.mkdir(parents=True, exist_ok=True)
        return place if self._remove(name, place, keep=True, still=still) else None

    def free_place(self, name: str) -> Path:
        """Where in the trash a project goes."""
        place, number = self.home.trash / name, 1
        while os.path.lexists(place):
            number += 1
            place = self.home.trash / f"{name}-{number}"
        return place

    def restore(self, place: Path, name: str) -> Project:
        """Bring a project back from the trash.

        Args:
            place: Its folder there.
            name: Its slug.

        Raises:
            StoreError: It cannot be moved.
        """
        self.home.ensure_writable()
        project = Project(self.home, name)
        with self.moving(), lock(self.home.locks / f"{name}.lock"):
            if project.path.exists():
                raise RefusedError(f"There is a project “{name}” already; nothing was changed.")
            try:
                place.rename(project.path)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{place} could not be moved back ({reason(error)}); nothing was changed: "
                    "close the programs that have it open."
                ) from error
        return project

    def _remove(
        self, name: str, place: Path, *, keep: bool, still: Callable[[], bool] = lambda: True
    ) -> bool:
        project = self.open(name)
        self.home.ensure_writable()
        held = self.home.locks / f"{name}.lock"
        with self.moving(), lock(held):
            if not still():
                return False
            try:
                project.path.rename(place)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{project.path} could not be removed ({reason(error)}); nothing was changed: "
                    "close the programs that have it open."
                ) from error
            if not keep:
                with suppress(OSError):  # its name is gone, too; on Windows not while one waits
                    held.unlink()
                    (self.home.locks / f".sync-{name}.lock").unlink(missing_ok=True)
        if not keep:
            remove_tree(place)
        return True

    @contextmanager
    def moving(self) -> Iterator[None]:
        """Hold the lock under which projects appear, get another name, and go."""
        self.home.ensure_writable()
        self.home.projects.mkdir(exist_ok=True)
        with lock(self.home.locks / ".projects.lock"):
            for left in self.home.projects.glob(".*"):
                if left.name.startswith((_NEW, _GONE)) or (
                    left.name.startswith(_CLONE) and _age(left) > _CLONE_SECONDS
                ):  # of a process that was killed
                    remove_tree(left)
            yield


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


class _Taken:
    """Folder names in use, asked one at a time."""

    def __init__(self, projects: Projects) -> None:
        self._folder = projects.home.projects

    def __contains__(self, name: object) -> bool:
        return (self._folder / str(name)).exists()


def _first_version(project: Project, ledger: Ledger, sentence: str, stamp: Stamp) -> None:
    repo = Repo.create(project.path)
    driver.configure(repo.git)
    version = next_version("")
    data = write(ledger, version).encode("utf-8")
    draft = repo.draft()
    blobs = {LEDGER_FILE: draft.blob(data), ".gitattributes": draft.blob(ATTRIBUTES)}
    author = gitrun.identity(repo.git) if stamp.actor == "user" else gitrun.ENGINE
    message = describe(sentence, stamp, version)
    commit = draft.commit(blobs, (), author, stamp.now, message)
    draft.store()
    repo.advance(commit, None)
    remember(blobs[LEDGER_FILE], Parsed(ledger))
    (project.path / ".gitattributes").write_bytes(ATTRIBUTES)
    project.file.replace(data, blobs[LEDGER_FILE], version, None)
    for name, blob in blobs.items():
        repo.refresh_index(name, blob)
