"""A project: a ledger with its history, in a git repository of its own.

Reading takes no lock: it is the last commit of the branch. Whatever writes holds the project's
lock, first merges what a person wrote, then makes one commit of one change.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress

import msgspec

from throughline_nb.errors import NewerFormatError, NotFoundError, RefusedError
from throughline_nb.ledger import Ledger, UnreadableLedger, write
from throughline_nb.ledger.cascade import settle
from throughline_nb.ledger.markdown import MAX_BYTES
from throughline_nb.ledger.model import FORMAT, Actor
from throughline_nb.ledger.rules import protect
from throughline_nb.store import beside, driver, gitrun, handedit, history, purge, refs, turns
from throughline_nb.store.files import lock
from throughline_nb.store.home import Home
from throughline_nb.store.ledgers import Parsed, last_readable, load, remember, snapshot
from throughline_nb.store.names import is_slug
from throughline_nb.store.objects import LEDGER_FILE, object_id
from throughline_nb.store.problems import Problem, project_problems
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
from throughline_nb.store.redact import Redactor
from throughline_nb.store.repo import Draft, Repo
from throughline_nb.store.sharing import unmerged
from throughline_nb.store.sharing.remotes import Apart, apart
from throughline_nb.store.workfile import WorkFile


class Project:
    """One project; made by :class:`Projects`."""

    def __init__(self, home: Home, slug: str) -> None:
        self.home = home
        self.slug = slug
        self.path = home.projects / slug
        self.repo = Repo(self.path)
        self.file = WorkFile(self.path)
        self._last = ("", b"")
        self._tip: Tip | None = None

    @classmethod
    def open(cls, home: Home, slug: str) -> "Project":
        """Open the project in the folder ``slug``.

        Raises:
            NotFoundError: There is none.
        """
        project = cls(home, slug)
        if is_slug(slug) and os.path.exists(project.path / purge.NEW):  # noqa: PTH110 - never raises
            with lock(home.locks / f"{slug}.lock"):
                purge.finish(project.path)
        if not is_slug(slug) or not os.path.isdir(project.repo.git):  # noqa: PTH112 - as above
            raise NotFoundError(
                f"There is no project “{slug}”; `/tl list` shows those that there are."
            )
        driver.configure(project.repo.git)
        return project

    # Reading

    def read(self) -> Snapshot:
        """The ledger as of the last version; cached by the id of its text."""
        return self.tip().now

    def tip(self) -> Tip:
        """The branch as it stands, with the last version on it."""
        head = self.repo.head()
        if self._tip is None or self._tip.head != head:
            now = last_readable(self.repo, head, self.slug)
            self._tip = Tip(head, self.repo.file(head) or "", now)
        return self._tip

    def stands(self, tip: Tip, text: bytes | None) -> bool:
        """Whether ``text`` is that of the last commit; None where there is no file."""
        if text is None:
            return not tip.blob
        if self._last != (tip.blob, text):
            if object_id(b"blob", text) != tip.blob:
                return False
            self._last = (tip.blob, text)
        return True

    def history(self, n: int | None = None, *, first_parent: bool = True) -> list[Record]:
        """The latest changes, newest first.

        Args:
            n: How many; None for all.
            first_parent: The story of the project; False also lists what was merged into it.
        """
        return history.history(self.repo, n, first_parent=first_parent)

    def graph(self, n: int, width: int = 98) -> list[str]:
        """The newest ``n`` commits as git draws them, a person's raw edits among them."""
        return history.graph(self.repo, n, width)

    def at(self, version: str) -> Snapshot:
        """A former version.

        Args:
            version: Its name, its count, the start of either, or the id of a commit.

        Raises:
            NotFoundError: There is none, or several.
        """
        return snapshot(self.repo, history.find(self.repo, version), self.slug)

    def before_last_change(self) -> Snapshot:
        """The version before the last one that changed the ledger."""
        return history.before_last_change(self.repo, self.slug)

    def remotes(self) -> list[str]:
        """Names of the remotes, which keep what they have."""
        done = gitrun.run(self.repo.git, "remote")
        return done.stdout.decode("utf-8", "replace").split()

    def apart(self) -> Apart | None:
        """How far project and remote are apart as of the last fetch; None where it is not shared.

        No network, and no process but after more than one commit at once.
        """
        return apart(self.repo)

    # Writing

    def absorb(self, stamp: Stamp) -> Absorbed | None:
        """Merge a pending hand edit of ``ledger.md``, or commits of the person's own.

        Returns:
            What it changed, None where nothing was pending.
        """
        if not os.path.exists(f"{self.repo.git}/MERGE_HEAD"):  # noqa: PTH110 - every turn
            refs.ensure_on_main(self.repo.git, self.slug)
            if not handedit.pending(self):
                return None
        with self.writing():
            return handedit.absorb(self, stamp).absorbed

    def change(
        self,
        edit: Callable[[Ledger], tuple[Ledger, str]],
        stamp: Stamp,
        heard: Callable[[Absorbed], object] = lambda _: None,
    ) -> Snapshot:
        """Apply one change as one commit, durable when this returns.

        Args:
            edit: Gives the new ledger and a sentence; called once, with the ledger as it is under
                the lock. The same ledger makes no commit.
            stamp: Who, when and where.
            heard: Is told of a hand edit that was merged first, before ``edit`` is called.

        Returns:
            The version that stands now; its ``notices`` tell of a hand edit merged before.
        """
        with self.writing():
            settled = handedit.absorb(self, stamp)
            if settled.absorbed is not None:
                heard(settled.absorbed)
            before = settled.tip.now.ledger
            after, sentence = edit(before)
            after = self.finished(before, after, stamp.actor)
            now = settled.tip.now
            if after != before:
                now = self.publish(settled, after, sentence, stamp)
            notices = settled.absorbed.notices if settled.absorbed is not None else ()
            return msgspec.structs.replace(now, notices=notices + now.notices) if notices else now

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
            late = handedit.absorb(self, stamp).absorbed
            if late is not None:
                return msgspec.structs.replace(tip.now, notices=late.notices)
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
        files: Mapping[str, str] | None = None,
        onto: str = "",
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
            files: Other files that it changes, by name: ids of blobs in ``draft``.
            onto: Id of a tree, in ``draft`` or stored, whose other files it keeps.
        """
        repo = self.repo
        version = next_version(tip.now.version)
        data = write(after, version).encode("utf-8")
        if len(data) > MAX_BYTES:  # the next process could not read it
            raise RefusedError(
                f"The ledger of “{self.slug}” would be over {MAX_BYTES // 10**6} MB; nothing "
                "was changed: keep long texts in files, and record where they are."
            )
        draft = draft or repo.draft()
        blob = draft.blob(data)
        author = gitrun.identity(repo.git) if stamp.actor == "user" else gitrun.ENGINE
        commit = draft.commit(
            {LEDGER_FILE: blob, **(files or {})},
            parents or (tip.head,),
            author,
            stamp.now,
            describe(sentence, stamp, version, undoes),
            onto=onto or (repo.commit(files_of).tree if files_of else None),
        )
        with repo.explained(), self.file.prepared(data, blob) as handle:
            draft.store([handle])
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

    def write_handoff(self, data: bytes, stamp: Stamp) -> str:
        """Write ``handoff.md`` and commit it; an edit of it by hand is kept beside first.

        Args:
            data: Its text.
            stamp: Who, when and where.

        Returns:
            Name of the kept copy, or empty.
        """
        with self.writing():
            settled = handedit.absorb(self, stamp)
            kept = beside.keep_edit(self, data, stamp.now)
            draft = self.repo.draft()
            blob = draft.blob(data)
            tip = self.commit(
                settled.tip, settled.tip.now.ledger, "Handoff written", stamp,
                draft=draft, files={beside.HANDOFF: blob},
            )  # fmt: skip
            late = beside.put(self, data, blob)
            self.show(tip, settled.text)
            return late or kept

    def note_turn(self, open_questions: Iterable[str]) -> dict[str, int]:
        """Count one project turn.

        Args:
            open_questions: Ids of the questions that are open now.

        Returns:
            For each of them, for how many project turns it has been open.
        """
        if self.home.newer:
            return turns.open_turns(self.repo.git)
        return turns.note(self.repo.git, open_questions)

    def open_turns(self) -> dict[str, int]:
        """The same as of the last turn that was counted."""
        return turns.open_turns(self.repo.git)

    def collect_garbage(self) -> None:
        """Let git pack what has gathered, in the background; never called under the lock."""
        self.repo.collect_garbage()

    def mentions(self, ident: str) -> int:
        """In how many versions an entry stands; what :meth:`purge` would rewrite."""
        return purge.mentions(self.repo, ident)

    def purged(self, ident: str) -> bool:
        """Whether an entry was removed for good here."""
        return ident in purge.purged(self.repo.git)

    def redactor(self, idents: Iterable[str]) -> Redactor:
        """What takes the words of entries out of a text that is kept elsewhere, such as recall."""
        return purge.learned(self.repo, list(idents))

    def purge(self, idents: Iterable[str], stamp: Stamp) -> Snapshot:
        """Remove entries for good: from the ledger, every version, messages, reflogs and rescue.

        Every commit gets a new id; versions keep their names. Remotes keep what they have.

        Raises:
            StoreError: It cannot be done whole; nothing was changed.
        """
        with self.writing():
            handedit.absorb(self, stamp)
            purge.purge(self, list(idents), stamp)
            return self.read()

    def problems(self) -> list[Problem]:
        """What stands in the way, each with its cure."""
        return project_problems(self)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the project's lock, with all that could forbid a write checked."""
        self.home.ensure_writable()
        with lock(self.home.locks / f"{self.slug}.lock"):
            git = self.repo.git
            purge.finish(self.path)
            if not os.path.isdir(git):  # noqa: PTH112 - as above
                raise NotFoundError(
                    f"Project “{self.slug}” is no longer there; nothing was changed: `/tl list` "
                    "shows those that there are."
                )
            gitrun.require()
            refs.sweep(git)
            if refs.under_way(git):
                unmerged.heal(self, time.time())
            refs.ensure_on_main(git, self.slug)
            blob = self.repo.file(self.repo.head())
            with suppress(UnreadableLedger):
                if blob and load(self.repo, blob).format > FORMAT:
                    raise NewerFormatError(
                        f"Project “{self.slug}” was written by a newer throughLine; it is only "
                        "read, and nothing was changed: upgrade throughLine to write."
                    )
            yield
