"""A project: a ledger with its history, in a git repository of its own.

Reading takes no lock: it is the last commit of the branch. Whatever writes holds the project's
lock, first merges what a person wrote, then makes one commit of one change.
"""

import difflib
import os
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from throughline_nb.errors import NewerFormatError, NotFoundError, RefusedError, StoreError
from throughline_nb.ledger import Ledger, UnreadableLedger, write
from throughline_nb.ledger.cascade import settle
from throughline_nb.ledger.model import FORMAT, Actor
from throughline_nb.ledger.rules import protect
from throughline_nb.store import gitrun, handedit, history, refs, turns
from throughline_nb.store.files import lock, reason, remove_tree, sync_folder
from throughline_nb.store.home import Home
from throughline_nb.store.ledgers import Parsed, engine_commit, load, remember, snapshot
from throughline_nb.store.names import is_slug, slug
from throughline_nb.store.objects import LEDGER_FILE
from throughline_nb.store.records import (
    Absorbed,
    Record,
    Snapshot,
    Stamp,
    Tip,
    Undone,
    describe,
    next_version,
)
from throughline_nb.store.repo import ATTRIBUTES, Draft, Repo
from throughline_nb.store.workfile import WorkFile

__all__ = ["Absorbed", "Project", "Projects", "Record", "Snapshot", "Stamp", "Undone"]


class Project:
    """One project; made by :class:`Projects`."""

    def __init__(self, home: Home, slug: str) -> None:
        self.home = home
        self.slug = slug
        self.path = home.projects / slug
        self.repo = Repo(self.path)
        self.file = WorkFile(self.path)
        self._last = ("", b"")

    @classmethod
    def open(cls, home: Home, slug: str) -> "Project":
        """Open the project in the folder ``slug``.

        Raises:
            NotFoundError: There is none.
        """
        project = cls(home, slug)
        if not is_slug(slug) or not project.repo.git.is_dir():
            raise NotFoundError(
                f"There is no project “{slug}”; `/tl list` shows those that there are."
            )
        project.repo.configure()
        return project

    # Reading

    def read(self) -> Snapshot:
        """The ledger as of the last version; cached by the id of its text."""
        return self.tip().now

    def tip(self) -> Tip:
        """The branch as it stands, with the last version on it."""
        head = self.repo.head()
        commit = engine_commit(self.repo, head) or self.repo.commit(head)
        return Tip(head, self.repo.file(head) or "", snapshot(self.repo, commit, self.slug))

    def history(self, n: int | None = None, *, first_parent: bool = True) -> list[Record]:
        """The latest changes, newest first.

        Args:
            n: How many; None for all.
            first_parent: The story of the project; False also lists what was merged into it.
        """
        return history.history(self.repo, n, first_parent=first_parent)

    def at(self, version: str) -> Snapshot:
        """A former version.

        Args:
            version: Its name, its count, the start of either, or the id of a commit.

        Raises:
            NotFoundError: There is none, or several.
        """
        return snapshot(self.repo, history.find(self.repo, version), self.slug)

    def remotes(self) -> list[str]:
        """Names of the remotes, which keep what they have."""
        done = gitrun.run(self.repo.git, "remote")
        return done.stdout.decode("utf-8", "replace").split()

    # Writing

    def absorb(self, stamp: Stamp) -> Absorbed | None:
        """Merge a pending hand edit of ``ledger.md``, or commits of the person's own.

        Returns:
            What it changed, None where nothing was pending.
        """
        refs.ensure_on_main(self.repo.git, self.slug)
        if not handedit.pending(self):
            return None
        with self.writing():
            return handedit.absorb(self, stamp).absorbed

    def change(self, edit: Callable[[Ledger], tuple[Ledger, str]], stamp: Stamp) -> Snapshot:
        """Apply one change as one commit, durable when this returns.

        Args:
            edit: Gives the new ledger and a sentence; called once, with the ledger as it is under
                the lock. The same ledger makes no commit.
            stamp: Who, when and where.

        Returns:
            The version that stands now; its ``notices`` tell of a hand edit merged before.
        """
        with self.writing():
            settled = handedit.absorb(self, stamp)
            before = settled.tip.now.ledger
            after, sentence = edit(before)
            after = self.finished(before, after, stamp.actor)
            now = settled.tip.now
            if after != before:
                now = self.publish(settled, after, sentence, stamp)
            notices = settled.absorbed.notices if settled.absorbed is not None else ()
            return msgspec.structs.replace(now, notices=notices) if notices else now

    def publish(
        self,
        settled: handedit.Settled,
        after: Ledger,
        sentence: str,
        stamp: Stamp,
        *,
        undoes: str = "",
    ) -> Snapshot:
        """Commit ``after`` and show it in ``ledger.md``; under the lock."""
        tip = self.commit(settled.tip, after, sentence, stamp, undoes=undoes)
        if self.show(tip, settled.text) is None:
            handedit.absorb(self, stamp)
        return tip.now

    def finished(self, before: Ledger, after: Ledger, actor: Actor) -> Ledger:
        """``after`` with what follows from the change, under the project's name."""
        if after is before:
            return before
        after = protect(before, settle(before, after), actor)
        if after.project != self.slug:
            after = msgspec.structs.replace(after, project=self.slug)
        return after

    def commit(
        self,
        tip: Tip,
        after: Ledger,
        sentence: str,
        stamp: Stamp,
        *,
        parents: tuple[str, ...] = (),
        files_of: str = "",
        undoes: str = "",
        draft: Draft | None = None,
    ) -> Tip:
        """Make one version of ``after`` and move the branch to it; under the lock.

        Args:
            tip: The branch as it stands.
            after: The new ledger.
            sentence: What changed.
            stamp: Who, when and where.
            parents: Ids of the parents if not just the last commit.
            files_of: Id of the commit whose other files it keeps if not the first parent.
            undoes: Version that it takes back.
            draft: Objects to be written with it.
        """
        repo = self.repo
        version = next_version(tip.now.version)
        data = write(after, version).encode("utf-8")
        draft = draft or repo.draft()
        blob = draft.blob(data)
        author = gitrun.identity(repo.git) if stamp.actor == "user" else gitrun.ENGINE
        commit = draft.commit(
            {LEDGER_FILE: blob},
            parents or (tip.head,),
            author,
            stamp.now,
            describe(sentence, stamp, version, undoes),
            onto=repo.commit(files_of).tree if files_of else None,
        )
        draft.store()
        repo.advance(commit, tip.head)
        remember(blob, Parsed(after))
        self._last = (blob, data)
        return Tip(commit, blob, Snapshot(after, version, commit))

    def show(self, tip: Tip, text: bytes | None) -> bytes | None:
        """Bring ``ledger.md`` and the index to the last version; under the lock.

        Args:
            tip: The branch as it stands.
            text: What stands in ``ledger.md``, as it was read.

        Returns:
            What stands there now; None where someone saved in between, and that is to be merged.
        """
        blob = self.repo.file(tip.now.commit)
        if blob is None:
            return text
        data = self._last[1] if self._last[0] == blob else self.repo.read(blob)
        try:
            calm = self.file.replace(data, blob, tip.now.version, text)
        except OSError:  # in use, or not writable: the version stands, the next write shows it
            return text
        self.repo.refresh_index(LEDGER_FILE, blob)
        return data if calm else None

    def undo(self, version: str | None, stamp: Stamp) -> Undone:
        """Take back a change as a new commit; what came after it stays.

        Args:
            version: The version whose change is taken back; None for the newest change by user or
                model that is not undone yet. That of an undo brings back what it took away.
            stamp: Who, when and where.

        Raises:
            NotFoundError: There is no such version.
            RefusedError: Nothing is left to undo, or it is undone already.
        """
        with self.writing():
            settled = handedit.absorb(self, stamp)
            undone = history.undo(self, settled, version, stamp)
            absorbed = settled.absorbed
            notices = (absorbed.notices if absorbed is not None else ()) + undone.notices
            return msgspec.structs.replace(undone, notices=notices)

    def note_turn(self, open_questions: Iterable[str]) -> dict[str, int]:
        """Count one project turn.

        Args:
            open_questions: Ids of the questions that are open now.

        Returns:
            For each of them, for how many project turns it has been open.
        """
        return turns.note(self.repo.git, open_questions)

    def open_turns(self) -> dict[str, int]:
        """The same as of the last turn that was counted."""
        return turns.open_turns(self.repo.git)

    def collect_garbage(self) -> None:
        """Let git pack what has gathered, in the background; never called under the lock."""
        self.repo.collect_garbage()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the project's lock, with all that could forbid a write checked."""
        self.home.ensure_writable()
        with lock(self.home.locks / f"{self.slug}.lock"):
            git = self.repo.git
            if not git.is_dir():
                raise NotFoundError(
                    f"Project “{self.slug}” is no longer there; nothing was changed: `/tl list` "
                    "shows those that there are."
                )
            gitrun.require()
            refs.sweep(git)
            refs.ensure_on_main(git, self.slug)
            blob = self.repo.file(self.repo.head())
            with suppress(UnreadableLedger):
                if blob and load(self.repo, blob).format > FORMAT:
                    raise NewerFormatError(
                        f"Project “{self.slug}” was written by a newer throughLine; it is only "
                        "read, and nothing was changed: upgrade throughLine to write."
                    )
            yield


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
        return is_slug(slug) and (self.home.projects / slug / ".git").is_dir()

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
        raise NotFoundError(f"There is no project “{name}”; {hint}")

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
        with self._moving():
            if project.path.exists():
                raise RefusedError(f"There is a project “{name}” already; nothing was changed.")
            building = Project(self.home, f".new-{secrets.token_hex(6)}")
            try:
                building.path.mkdir(parents=True)
                ledger = msgspec.structs.replace(ledger, project=name)
                _first_version(building, ledger, sentence, stamp)
                building.path.rename(project.path)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{project.path} could not be made ({reason(error)}); nothing was changed: "
                    "check the home's permissions and free space."
                ) from error
            finally:
                remove_tree(building.path)
        return project

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
        with self._moving(), old.writing():
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
            tip = project.tip()
            tip = project.commit(tip, tip.now.ledger, f"Renamed from {name} to {new}", stamp)
            project.show(tip, text)
        return project

    def delete(self, name: str) -> None:
        """Delete a project with its history.

        Raises:
            NotFoundError: There is no such project.
        """
        self._remove(name, self.home.projects / f".gone-{secrets.token_hex(6)}", keep=False)

    def trash(self, name: str) -> Path:
        """Move a project to the trash.

        Returns:
            Where it lies now.

        Raises:
            NotFoundError: There is no such project.
        """
        self.home.trash.mkdir(parents=True, exist_ok=True)
        place, number = self.home.trash / name, 1
        while place.exists():
            number += 1
            place = self.home.trash / f"{name}-{number}"
        self._remove(name, place, keep=True)
        return place

    def _remove(self, name: str, place: Path, *, keep: bool) -> None:
        project = self.open(name)
        self.home.ensure_writable()
        held = self.home.locks / f"{name}.lock"
        with self._moving(), lock(held):
            try:
                project.path.rename(place)
                sync_folder(self.home.projects)
            except OSError as error:
                raise StoreError(
                    f"{project.path} could not be removed ({reason(error)}); nothing was changed: "
                    "close the programs that have it open."
                ) from error
        if not keep:
            remove_tree(place)

    @contextmanager
    def _moving(self) -> Iterator[None]:
        self.home.ensure_writable()
        self.home.projects.mkdir(exist_ok=True)
        with lock(self.home.locks / ".projects.lock"):
            yield


class _Taken:
    """Folder names in use, asked one at a time."""

    def __init__(self, projects: Projects) -> None:
        self._folder = projects.home.projects

    def __contains__(self, name: object) -> bool:
        return (self._folder / str(name)).exists()


def _first_version(project: Project, ledger: Ledger, sentence: str, stamp: Stamp) -> None:
    repo = Repo.create(project.path)
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
