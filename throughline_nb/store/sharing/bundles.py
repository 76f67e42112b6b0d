"""A project as one file, for two people without a server: git's own bundle, as git reads it."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import gitrun, handedit, refs
from throughline_nb.store.files import patiently, reason, sync_folder
from throughline_nb.store.records import Stamp
from throughline_nb.store.sharing import transport
from throughline_nb.store.sharing.addresses import Address
from throughline_nb.store.sharing.cloning import bundle_address
from throughline_nb.store.sharing.incoming import incoming
from throughline_nb.store.sharing.merging import take_in
from throughline_nb.store.sharing.remotes import BUNDLED, note
from throughline_nb.store.sharing.syncing import Synced, alone

if TYPE_CHECKING:
    from throughline_nb.store.project import Project


def bundle_path(text: str) -> Path:
    """The file that a person named.

    Raises:
        RefusedError: It is no file's name.
    """
    text = text.strip().strip("\"'")
    if not text or "\0" in text or text.startswith("-"):
        raise RefusedError(
            "No file is named; nothing was written: say /tl share --bundle FILE, such as "
            "~/runtimes.bundle."
        )
    path = Path(text)
    if text.startswith("~"):
        path = path.expanduser()
    return path.absolute()


def write_bundle(project: "Project", file: Path, stamp: Stamp) -> tuple[int, tuple[str, ...]]:
    """Write the project with its history into one file; what stands there is replaced whole.

    Args:
        project: The project.
        file: The file; one that is there must be a bundle.
        stamp: Who, when and where.

    Returns:
        Its size in bytes, and notices of a hand edit that was merged first.

    Raises:
        RefusedError: The file is something else, or lies in the project's folder.
        StoreError: It cannot be written.
    """
    if file.is_dir():
        raise RefusedError(f"{file} is a folder; nothing was written: name a file in it.")
    if os.path.lexists(file) and bundle_address(file) is None:
        raise RefusedError(
            f"{file} is there and is no bundle; nothing was written: name another file."
        )
    if file.parent.resolve().is_relative_to(project.path.resolve()):
        raise RefusedError(
            f"{file} lies in the project's own folder; nothing was written: name a file elsewhere."
        )
    if not file.parent.is_dir():
        raise StoreError(f"{file.parent} is not there; nothing was written: make it first.")
    with project.writing():
        settled = handedit.absorb(project, stamp)
    git = project.repo.git
    temporary = file.with_name(f".{file.name}.{os.urandom(6).hex()}.tmp")
    try:
        try:
            gitrun.run(
                git, "-c", "core.fsync=all", "bundle", "create", "--quiet", str(temporary),
                "HEAD", refs.MAIN,
            )  # fmt: skip
            size = temporary.stat().st_size
            patiently(lambda: temporary.replace(file))
            sync_folder(file.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(
            f"{file} could not be written ({reason(error)}); the project is as it was: check "
            "permissions and free space."
        ) from error
    note(git, settled.tip.head, BUNDLED)
    return size, settled.absorbed.notices if settled.absorbed is not None else ()


def take_bundle(
    project: "Project", file: Path, stamp: Stamp, watch: transport.Watch = transport.unwatched
) -> Synced:
    """Merge what a bundle holds; nothing is sent.

    Neither side is published, so of two new entries under one id the older keeps it, on every
    machine alike.

    Raises:
        RefusedError: It is no bundle, or one of another project.
        StoreError: It cannot be read.
    """
    source = _bundle(file)
    with alone(project), incoming(project) as coming:
        try:
            theirs = coming.fetch(source, watch)
        except transport.AbsentError:
            raise RefusedError(
                f"{file} holds no project; nothing was changed: ask for one that was made by "
                "/tl share --bundle."
            ) from None
        coming.check()
        with project.writing():
            settled = handedit.absorb(project, stamp)
            taken = take_in(
                project, settled, coming, theirs, stamp, where=file.name, keeps_ids="older"
            )
            note(project.repo.git, taken.head, BUNDLED)
    return Synced(
        where=file.name,
        came=taken.came,
        merged=taken.merged,
        renumbered=taken.renumbered,
        notices=taken.notices,
        absorbed=(settled.absorbed,) if settled.absorbed is not None else (),
        sent=False,
        head=taken.head,
        went=taken.went,
    )


def _bundle(file: Path) -> Address:
    found = bundle_address(file)
    if found is not None:
        return found
    what = "is no bundle" if file.exists() else "is not there"
    raise RefusedError(f"{file} {what}; nothing was changed: name a file of /tl share --bundle.")
