"""Sync: fetch, merge by id, push, and again where somebody else was faster.

The network is never waited for under the project's lock, so a turn or a tool call goes through
meanwhile; what it changes is merged and sent with the rest, or with the next sync. Killed at any
step, the next sync goes on: what was fetched is fetched again, what was merged is a commit like any
other, what was pushed is recognised as pushed.
"""

import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

import msgspec

from throughline_nb.errors import RefusedError, StoreError, ThroughLineError
from throughline_nb.ledger.delta import Change, summary
from throughline_nb.store import handedit, refs
from throughline_nb.store.asked import said_again
from throughline_nb.store.files import lock
from throughline_nb.store.records import Absorbed, Stamp
from throughline_nb.store.sharing import memory, transport
from throughline_nb.store.sharing.addresses import Address
from throughline_nb.store.sharing.incoming import incoming
from throughline_nb.store.sharing.merging import Taken, take_in
from throughline_nb.store.sharing.remotes import (
    PUBLISHED,
    name_of,
    note,
    published,
    remote_of,
    tracking,
)
from throughline_nb.store.sharing.transport import (
    AbsentError,
    RejectedError,
    UnreachableError,
    Watch,
    shown,
)
from throughline_nb.store.sharing.views import is_ancestor

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

TRIES: Final = 8
"""Rounds of fetch, merge and push before others are let go first."""

_WAIT_SECONDS: Final = 5.0
"""How long a second sync of one project waits for the first to end."""


class Synced(msgspec.Struct, frozen=True, kw_only=True):
    """What a sync did.

    Attributes:
        where: The remote, as a message names it.
        came: What changed here.
        went: What changed there.
        merged: Whether both sides had changes.
        renumbered: ``F12 is now F14``.
        notices: What a person should know.
        absorbed: Hand edits that were merged first.
        sent: Whether everything is on the remote now.
        head: The branch now.
    """

    where: str
    came: tuple[Change, ...] = ()
    went: tuple[Change, ...] = ()
    merged: bool = False
    renumbered: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    absorbed: tuple[Absorbed, ...] = ()
    sent: bool = True
    head: str = ""

    @property
    def line(self) -> str:
        """All of it in one line."""
        parts = []
        if self.came:
            parts.append(f"came: {summary(self.came)}")
        if self.went:
            parts.append(f"{'went' if self.sent else 'to be sent'}: {summary(self.went)}")
        if self.merged:
            parts.append("both sides merged")
        if self.renumbered:
            parts.append(f"renumbered: {', '.join(self.renumbered)}")
        return f"Synced with {self.where}: {'; '.join(parts) or 'nothing new on either side'}."


def sync(
    project: "Project",
    stamp: Stamp,
    *,
    remote: Address | None = None,
    join: bool = False,
    watch: Watch = transport.unwatched,
) -> Synced:
    """Fetch, merge and push.

    Args:
        project: The project.
        stamp: Who, when and where.
        remote: The remote; the one in the project's configuration if None.
        join: Whether a project with no common history is to be joined.
        watch: Is told of progress.

    Raises:
        RefusedError: It is not shared, or the remote holds something else.
        StoreError: The remote cannot be reached, or a person's own git work is under way.
    """
    found = remote or remote_of(project)
    with alone(project), remembered(project, found, stamp.now):
        return _rounds(project, found, stamp, join=join, watch=watch)


def _rounds(
    project: "Project", remote: Address, stamp: Stamp, *, join: bool, watch: Watch
) -> Synced:
    git, where = project.repo.git, shown(remote)
    done = Synced(where=where)
    for turn in range(TRIES):
        taken, heard = _fetched(project, remote, stamp, join=join, watch=watch)
        done = _added(done, taken, heard)
        if taken.replaces and not said_again(git, f"replace {taken.replaces}", stamp.now):
            held = (
                "Nothing was sent: to replace the remote's history by this one, say /tl sync "
                "again; the other machines take it over with their next sync."
            )
            return msgspec.structs.replace(done, sent=False, notices=(*done.notices, held))
        if taken.kind == "same" and not taken.replaces:
            note(git, taken.head, tracking(name_of(git)), PUBLISHED)
            return done
        if taken.kind == "behind" and not taken.replaces:
            note(git, taken.head, tracking(name_of(git)), PUBLISHED)
            if project.repo.head() == taken.head:
                return done
        try:
            transport.push(git, remote, taken.head, over=taken.replaces, watch=watch)
        except RejectedError:
            time.sleep(random.uniform(0, 0.05 * 2**turn))  # noqa: S311 - only spreads them out
            continue
        except UnreachableError as error:
            if not done.came:
                raise
            raise StoreError(
                f"What came from {where} is merged here ({summary(done.came)}), but nothing was "
                f"sent: {error.cause}."
            ) from error
        note(git, taken.head, tracking(name_of(git)), PUBLISHED)
        return done
    raise StoreError(
        f"Not shared with {where}: others were faster {TRIES} times; what they sent is merged "
        "here, nothing is lost: say /tl sync again."
    )


def _fetched(
    project: "Project", remote: Address, stamp: Stamp, *, join: bool, watch: Watch
) -> tuple[Taken, Absorbed | None]:
    """One fetch and merge; also where the remote has no branch yet."""
    with incoming(project) as coming:
        try:
            theirs = coming.fetch(remote, watch)
        except AbsentError:
            ensure_empty(project, remote)
            theirs = ""
        with project.writing():
            settled = handedit.absorb(project, stamp)
            if theirs:
                taken = take_in(
                    project, settled, coming, theirs, stamp, where=shown(remote), join=join
                )
            else:
                empty = Taken("ahead", settled.tip.head)
                everything = changes_of(project)
                taken = msgspec.structs.replace(empty, went=everything, notices=_emptied(project))
    return taken, settled.absorbed


def _emptied(project: "Project") -> tuple[str, ...]:
    if published(project.repo.git) is None:
        return ()
    return ("The remote was empty, though it had been shared to; everything was sent again.",)


def changes_of(project: "Project") -> tuple[Change, ...]:
    """All that a project holds, as changes from nothing."""
    from throughline_nb.ledger import Ledger  # noqa: PLC0415 - as the package says
    from throughline_nb.ledger.delta import changes  # noqa: PLC0415 - as above

    return changes(Ledger(project=project.slug), project.read().ledger)


def ensure_empty(project: "Project", remote: Address) -> None:
    """Check that a remote without our branch has no other.

    Raises:
        RefusedError: It has; it is somebody else's.
    """
    there = transport.branches(project.repo.git, remote)
    if there:
        names = ", ".join(name.removeprefix("refs/heads/") for name in list(there)[:3])
        raise RefusedError(
            f"{shown(remote)} holds something else (its branches: {names}, and no main); nothing "
            "was changed: name an empty folder or repository."
        )


@contextmanager
def alone(project: "Project") -> Iterator[None]:
    """One sync of a project at a time on a machine, beside its ordinary writes."""
    project.home.ensure_writable()
    _keep_detached(project)
    if not (project.repo.git / "MERGE_HEAD").exists():  # which the merge may end by itself
        refs.ensure_on_main(project.repo.git, project.slug)
    with lock(project.home.locks / f".sync-{project.slug}.lock", timeout=_WAIT_SECONDS):
        yield


def _keep_detached(project: "Project") -> None:
    """Keep commits that were made on no branch, before anybody is told to leave them."""
    git = project.repo.git
    at, main = refs.head(git), refs.read_ref(git, refs.MAIN)
    if at.startswith("refs/") or not at or main is None or is_ancestor(project.repo, at, main):
        return
    name = f"{refs.RESCUE}/detached-{at[:8]}"
    if refs.read_ref(git, name) is None:
        with project.repo.explained():
            refs.swap(git, name, at, None)


@contextmanager
def remembered(project: "Project", remote: Address, now: float) -> Iterator[None]:
    """Remember how the last attempt ended, for ``doctor``."""
    try:
        yield
    except ThroughLineError as error:
        memory.write(project.repo.git, memory.Last(now, shown(remote), str(error)))
        raise
    memory.write(project.repo.git, memory.Last(now, shown(remote)))


def _added(done: Synced, taken: Taken, heard: Absorbed | None) -> Synced:
    """What several rounds did, together."""
    absorbed = (*done.absorbed, heard) if heard is not None else done.absorbed
    return msgspec.structs.replace(
        done,
        came=done.came + tuple(each for each in taken.came if each not in done.came),
        went=taken.went,
        merged=done.merged or taken.merged,
        renumbered=tuple(dict.fromkeys((*done.renumbered, *taken.renumbered))),
        notices=tuple(dict.fromkeys((*done.notices, *taken.notices))),
        absorbed=absorbed,
        head=taken.head,
    )
