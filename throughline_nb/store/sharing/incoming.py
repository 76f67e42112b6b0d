"""What a remote sends is fetched into a repository of its own first, and let in once it is judged.

The way git itself receives a push: the objects come into a folder beside, which sees those of the
project; what is refused leaves nothing behind, and an entry that was removed for good here is not
on this disk again.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from throughline_nb.errors import RefusedError
from throughline_nb.store import gitrun, refs
from throughline_nb.store.files import patiently, remove_tree, sync_folders
from throughline_nb.store.loose import LooseObjects
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing import transport
from throughline_nb.store.sharing.addresses import Address

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

MOST_BYTES: Final = 512 * 10**6
"""What a remote may send at once, packed. A thousand changes of a 50 KB ledger are 2 MB."""

INCOMING: Final = "throughline/incoming"
FETCHED: Final = "refs/heads/fetched"

_CONFIG: Final = """[include]
\tpath = {}
[core]
\trepositoryformatversion = 0
\tbare = false
"""


class Incoming(Repo):
    """The repository beside, whose objects come on top of the project's."""

    def __init__(self, project: "Project") -> None:
        super().__init__(project.repo.git / INCOMING)
        self._project = project
        self._loose = _Both(self.git / "objects", project.repo.git / "objects")

    def fetch(self, remote: Address, watch: transport.Watch = transport.unwatched) -> str:
        """Fetch the project's branch.

        Returns:
            Id of its last commit.

        Raises:
            AbsentError: The remote has no such branch.
            RefusedError: It sends too much.
            StoreError: It could not be had.
        """
        cut = (self.git / "shallow").is_file()  # then it is made whole
        depth = ("--unshallow",) if cut else ()
        transport.fetch(self.git, remote, FETCHED, *depth, watch=watch, guard=self._guard)
        self._guard()
        found = refs.read_ref(self.git, FETCHED)
        if found is None:
            raise transport.AbsentError(f"{transport.shown(remote)} has no branch main.")
        return found

    def check(self) -> None:
        """Have git check every object, which it does not do for a bundle by itself.

        Raises:
            RefusedError: One is damaged or not allowed.
        """
        done = gitrun.run(
            self.git, "fsck", "--strict", "--no-dangling", "--no-progress",
            allowed=tuple(range(129)),
        )  # fmt: skip
        if done.returncode:
            raise RefusedError(
                "What was sent is damaged or not allowed; nothing was changed: ask for it again."
            )

    def accept(self) -> None:
        """Let the objects in: they are moved into the project's own database, durably."""
        source, target = self.git / "objects", self._project.repo.git / "objects"
        folders: dict[str, None] = {}
        for path in _in_order(source):
            place = target / path.relative_to(source)
            if place.exists():
                continue
            if not place.parent.exists():
                place.parent.mkdir(exist_ok=True)
                folders[str(target)] = None
            patiently(lambda p=path, t=place: os.replace(p, t))  # type: ignore[misc]  # noqa: PTH105 - as in loose
            folders[str(place.parent)] = None
        sync_folders(folders)
        cut, known = self.git / "shallow", self._project.repo.git / "shallow"
        if known.exists():
            if cut.exists():
                patiently(lambda: cut.replace(known))
            else:
                known.unlink()

    def _guard(self) -> None:
        """Refuse more than :data:`MOST_BYTES`."""
        held = 0
        for folder, _, names in os.walk(self.git / "objects"):
            for name in names:
                try:
                    held += os.stat(f"{folder}/{name}").st_size  # noqa: PTH116 - many of them
                except OSError:
                    continue
        if held > MOST_BYTES:
            raise RefusedError(
                f"The remote sends over {MOST_BYTES // 10**6} MB; nothing of it was taken in: "
                "look into it with `git clone` elsewhere, and take large files out of its history."
            )


@contextmanager
def incoming(project: "Project") -> Iterator[Incoming]:
    """Make the repository beside, and remove it with what was not let in."""
    made = Incoming(project)
    git, own = made.git, project.repo.git
    remove_tree(made.path)
    try:
        (git / "objects" / "info").mkdir(parents=True)
        (git / "objects" / "pack").mkdir()
        (git / "refs" / "heads").mkdir(parents=True)
        alternate = os.path.relpath(own / "objects", git / "objects").replace(os.sep, "/")
        _put(git / "objects" / "info" / "alternates", f"{alternate}\n")
        _put(git / "HEAD", f"ref: {refs.MAIN}\n")
        own_config = os.path.relpath(own / "config", git).replace(os.sep, "/")
        _put(git / "config", _CONFIG.format(own_config))
        # what is here already is not sent again
        known = {n: i for n, i in refs.list_refs(own, "refs/").items() if _tells(n)}
        lines = [f"{ident} {name}" for name, ident in sorted(known.items())]
        _put(git / "packed-refs", "".join(f"{line}\n" for line in lines))
        if (own / "shallow").is_file():
            _put(git / "shallow", (own / "shallow").read_text(encoding="ascii"))
        yield made
    finally:
        remove_tree(made.path)


def _tells(name: str) -> bool:
    return name == refs.MAIN or name.startswith(("refs/remotes/", "refs/throughline/published"))


class _Both(LooseObjects):
    """Objects in files of two databases."""

    def __init__(self, folder: Path, other: Path) -> None:
        super().__init__(folder)
        self._other = LooseObjects(other)

    def read(self, ident: str) -> tuple[bytes, bytes] | None:
        """See :meth:`LooseObjects.read`."""
        found = super().read(ident)
        return self._other.read(ident) if found is None else found

    def size(self, ident: str) -> int | None:
        """See :meth:`LooseObjects.size`."""
        return super().size(ident) or self._other.size(ident)


def _in_order(objects: Path) -> list[Path]:
    """Files of objects; the index of a pack last, since with it the pack is in use."""
    found = [path for path in objects.rglob("*") if path.is_file()]
    kept = [p for p in found if p.parent.name != "info" and not p.name.startswith("tmp_")]
    return sorted(kept, key=lambda path: (path.suffix == ".idx", path.name))


def _put(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
