"""The first time that a project is shared: the place is looked at, made, and named in git."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import gitrun, refs
from throughline_nb.store.files import reason
from throughline_nb.store.records import Stamp
from throughline_nb.store.sharing import transport
from throughline_nb.store.sharing.addresses import Address
from throughline_nb.store.sharing.incoming import incoming
from throughline_nb.store.sharing.relations import relation
from throughline_nb.store.sharing.remotes import forget_remote, name_of, name_remote, urls
from throughline_nb.store.sharing.syncing import Synced, alone, ensure_empty, sync
from throughline_nb.store.sharing.views import refuse_foreign, view

if TYPE_CHECKING:
    from throughline_nb.store.project import Project


class Found(msgspec.Struct, frozen=True):
    """What stands at a remote.

    Attributes:
        what: ``empty``, ``known`` (this project) or ``other`` (one with no common history).
        name: Name of the project there.
        entries: How many entries it has.
    """

    what: str
    name: str = ""
    entries: int = 0


def look(project: "Project", remote: Address, watch: transport.Watch) -> Found:
    """Look at a remote before anything is sent; what is fetched for that is not kept.

    Raises:
        RefusedError: It holds something else, or cannot be used.
        StoreError: It cannot be reached.
    """
    if _to_be_made(project, remote):
        return Found("empty")
    with alone(project), incoming(project) as coming:
        try:
            theirs = coming.fetch(remote, watch)
        except transport.AbsentError:
            ensure_empty(project, remote)
            return Found("empty")
        seen = view(coming, theirs, "")
        if seen is None:
            raise refuse_foreign(transport.shown(remote))
        lies = relation(coming, project.repo.head(), theirs, None)
        many = sum(1 for _ in seen.ledger.entries())
        known = "other" if lies.kind == "unrelated" else "known"
        return Found(known, seen.ledger.project, many)


def share(
    project: "Project",
    remote: Address,
    stamp: Stamp,
    *,
    join: bool = False,
    watch: transport.Watch = transport.unwatched,
) -> Synced:
    """Name the remote and sync with it for the first time.

    Args:
        project: The project.
        remote: Where to.
        stamp: Who, when and where.
        join: Whether a project there with no common history is to be joined.
        watch: Is told of progress.

    Raises:
        RefusedError: The remote holds something else; it is not named.
        StoreError: It cannot be reached; it is not named.
    """
    git = project.repo.git
    if _to_be_made(project, remote):
        _make(remote.folder or Path())
    before = urls(git).get(name_of(git), "")
    if before and before != remote.url:
        forget_remote(git)  # what was common with the old place says nothing of the new one
    try:
        done = sync(project, stamp, remote=remote, join=join, watch=watch)
    except BaseException:
        if before and before != remote.url:
            name_remote(git, Address("folder", before))
        raise
    name_remote(git, remote)
    return done


def _to_be_made(project: "Project", remote: Address) -> bool:
    """Whether the remote is a folder that is empty, or not there yet.

    Raises:
        RefusedError: It is a folder with something else in it.
        StoreError: It cannot be looked at, or the drive is not there.
    """
    folder = remote.folder
    if folder is None:
        return False
    for inner, outer in ((folder, project.home.path), (project.home.path, folder)):
        if _within(inner, outer):
            raise RefusedError(
                f"{folder} lies in the home, or the home in it; nothing was changed: name a folder "
                "elsewhere, such as one on another drive."
            )
    try:
        names = set(os.listdir(folder))  # noqa: PTH208 - names only
    except FileNotFoundError:
        if folder.parent.is_dir():
            return True
        raise StoreError(
            f"{folder.parent} is not there; nothing was changed: connect the drive that it is on, "
            "or make the folder first."
        ) from None
    except NotADirectoryError:
        raise RefusedError(
            f"{folder} is a file; nothing was changed: name a folder, or say "
            "/tl share --bundle FILE."
        ) from None
    except OSError as error:
        raise StoreError(
            f"{folder} cannot be read ({reason(error)}); nothing was changed: check its "
            "permissions."
        ) from error
    if not names:
        return True
    if not {"objects", "refs", "HEAD"} <= names and ".git" not in names:
        raise RefusedError(
            f"{folder} holds something else; nothing was changed: name an empty folder."
        )
    return False


def _within(inner: Path, outer: Path) -> bool:
    try:
        return inner.resolve().is_relative_to(outer.resolve())
    except OSError:
        return False


def _make(folder: Path) -> None:
    """Make an empty bare repository, from which also plain git can clone."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{folder} could not be made ({reason(error)}); nothing was sent: check its "
            "permissions."
        ) from error
    gitrun.run(
        None, "-c", "init.defaultRefFormat=files", "init", "--quiet", "--bare", "--template=",
        "--object-format=sha1", f"--initial-branch={refs.BRANCH}", str(folder), cwd=folder,
    )  # fmt: skip
