"""A project from a remote or a bundle: there whole or not at all, ready for any chat."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import driver, gitrun
from throughline_nb.store.files import reason
from throughline_nb.store.names import slug
from throughline_nb.store.records import Stamp
from throughline_nb.store.repo import ATTRIBUTES, Repo
from throughline_nb.store.sharing import transport, trees
from throughline_nb.store.sharing.addresses import Address
from throughline_nb.store.sharing.incoming import incoming
from throughline_nb.store.sharing.remotes import (
    BUNDLED,
    NAME,
    PUBLISHED,
    name_remote,
    note,
    tracking,
)
from throughline_nb.store.sharing.views import refuse_foreign, view

if TYPE_CHECKING:
    from throughline_nb.store.project import Project
    from throughline_nb.store.projects import Projects


class Cloned(msgspec.Struct, frozen=True):
    """A project that was cloned.

    Attributes:
        project: It.
        notices: What a person should know.
    """

    project: "Project"
    notices: tuple[str, ...]


def clone(
    projects: "Projects",
    remote: Address,
    name: str,
    stamp: Stamp,
    watch: transport.Watch = transport.unwatched,
) -> Cloned:
    """Clone a project.

    Args:
        projects: Those of the home.
        remote: Where from: a remote, or a bundle's file.
        name: Name of the project here; its own name if empty.
        stamp: Who, when and where.
        watch: Is told of progress.

    Raises:
        RefusedError: The name is taken, or the remote holds no project.
        StoreError: It cannot be reached.
    """
    gitrun.require()
    if name and projects.exists(slug(name)):
        raise RefusedError(
            f"There is a project “{slug(name)}” already; nothing was cloned: give another name."
        )
    with projects.building() as building:
        try:
            there, notices = _fill(building, remote, stamp, watch)
        except OSError as error:
            raise StoreError(
                f"The clone could not be written ({reason(error)}); nothing was kept: check the "
                "home's permissions and free space."
            ) from error
        own = name or there or _last_part(remote)
        made = projects.settle(building, projects.free_slug(own))
    made.absorb(stamp)
    return Cloned(made, notices)


def _fill(
    building: "Project", remote: Address, stamp: Stamp, watch: transport.Watch
) -> tuple[str, tuple[str, ...]]:
    """Fill the folder; returns the name that the project has there, and notices."""
    repo = Repo.create(building.path)
    with incoming(building) as coming:
        try:
            head = coming.fetch(remote, watch)
        except transport.AbsentError:
            raise RefusedError(
                f"{transport.shown(remote)} is empty, or holds something else; nothing was cloned: "
                "share a project there first."
            ) from None
        seen = view(coming, head, "")
        if seen is None:
            raise refuse_foreign(transport.shown(remote))
        coming.accept()
    bundle = remote.folder is not None and remote.folder.is_file()
    if bundle:
        note(repo.git, head, BUNDLED)
    else:
        name_remote(repo.git, remote)
        note(repo.git, head, tracking(NAME), PUBLISHED)
    repo.advance(head, None)
    driver.configure(repo.git)
    tree = repo.commit(head).tree
    notices = trees.bring(building, "", tree, stamp.now)
    tip = building.tip()
    building.show(tip, building.file.read())
    if not (building.path / ".gitattributes").exists():
        (building.path / ".gitattributes").write_bytes(ATTRIBUTES)
    return seen.ledger.project, tuple(notices)


def _last_part(remote: Address) -> str:
    tail = remote.url.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
    return tail.removesuffix(".git").removesuffix(".bundle") or "project"


def bundle_address(path: Path) -> Address | None:
    """The address of a bundle's file; None where the file is none.

    git's bundles begin with a line that says so (gitformat-bundle).
    """
    try:
        with path.open("rb") as file:
            head = file.read(16)
    except OSError:
        return None
    return Address("folder", os.fspath(path)) if head.startswith(b"# v") else None
