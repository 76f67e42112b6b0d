"""The other files of a project: merged by name, and brought into the folder with care.

A team may keep more beside the ledger. What one side changed is taken; where both did, the later
side stands and the other is in the history. Only plain files with harmless names come into the
folder: a link or another repository stays where git has it, and what a person changed here and did
not commit is left as it is.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from throughline_nb.errors import StoreError
from throughline_nb.store import beside, gitrun
from throughline_nb.store.beside import HANDOFF
from throughline_nb.store.files import reason, write_atomic
from throughline_nb.store.names import is_slug
from throughline_nb.store.objects import LEDGER_FILE, TreeEntry, object_id
from throughline_nb.store.repo import Draft, Repo

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

MOST_BYTES: Final = 100 * 10**6
"""Size from which a file of others is not unpacked into the folder; git still has it."""

ATTRIBUTES: Final = b".gitattributes"
FOLDER: Final = b"40000"
_DEEP: Final = 32

_Tree = dict[bytes, TreeEntry]


def merge_trees(
    repo: Repo, draft: Draft, base: str, ours: str, theirs: str, *, later: str
) -> tuple[str, list[str]]:
    """Merge the trees of two commits.

    The ledger is merged elsewhere. ``.gitattributes`` says how the ledger is merged and stays ours.

    Args:
        repo: Where they are.
        draft: Takes the new trees.
        base: Id of the tree that both started from; empty for none.
        ours: Id of our tree.
        theirs: Id of theirs.
        later: ``ours`` or ``theirs``: the side that stands where both changed one file.

    Returns:
        The id of the merged tree, and the names of files that both changed.
    """
    merging = _Merging(repo, draft, later)
    return merging.tree(base, ours, theirs) or ours, merging.clashes


class _Merging:
    """A merge of trees under way."""

    def __init__(self, repo: Repo, draft: Draft, later: str) -> None:
        self._repo = repo
        self._draft = draft
        self._later = later
        self.clashes: list[str] = []

    def tree(self, base: str, ours: str, theirs: str, path: str = "") -> str:
        """The id of the merged tree; empty for an empty one."""
        if theirs in (ours, base):
            return ours
        if ours == base and path:
            return theirs
        before, one, two = (_entries(self._repo, tree) for tree in (base, ours, theirs))
        kept: list[TreeEntry] = []
        for name in dict.fromkeys((*one, *two)):
            sides = before.get(name), one.get(name), two.get(name)
            chosen = self._entry(name, *sides, path)
            if chosen is not None:
                kept.append(chosen)
        return self._draft.tree(kept) if kept else ""

    def _entry(
        self,
        name: bytes,
        old: TreeEntry | None,
        our: TreeEntry | None,
        their: TreeEntry | None,
        path: str,
    ) -> TreeEntry | None:
        if not path and name in (LEDGER_FILE.encode(), ATTRIBUTES):
            return our or their
        if their in (our, old):
            return our
        if our == old:
            return their
        where = path + name.decode("utf-8", "replace")
        if our and their and our.mode == their.mode == FOLDER and path.count("/") < _DEEP:
            under = old.id if old is not None and old.mode == FOLDER else ""
            found = self.tree(under, our.id, their.id, f"{where}/")
            return TreeEntry(FOLDER, name, found) if found else None
        if where != HANDOFF:  # it is written anew at every /tl handoff
            self.clashes.append(where)
        return (our or their) if self._later == "ours" else (their or our)


def _entries(repo: Repo, tree: str) -> _Tree:
    return {entry.name: entry for entry in repo.tree(tree)} if tree else {}


def bring(project: "Project", before: str, after: str, now: float) -> list[str]:
    """Bring the other files from one tree to another in the project's folder; under the lock.

    Args:
        project: The project.
        before: Id of the tree that the folder has; empty for none.
        after: Id of the tree that it is to have.
        now: Time in seconds since the epoch.

    Returns:
        Notices of what was left as it is.
    """
    if before == after:
        return []
    repo, notices = project.repo, list[str]()
    old = dict(_files(repo, before)) if before else {}
    new = dict(_files(repo, after))
    changed = [path for path in {**old, **new} if old.get(path) != new.get(path)]
    others = [path for path in changed if path != LEDGER_FILE]
    for path in others:
        try:
            notices += _bring(project, path, old.get(path), new.get(path), now)
        except (OSError, StoreError) as error:
            why = reason(error) if isinstance(error, OSError) else "it cannot be written"
            notices.append(f"{_shown(path)} could not be put into the folder ({why}); git has it.")
    if others:
        _refresh(repo, {path: (old.get(path), new.get(path)) for path in others})
    return notices


def _bring(
    project: "Project", path: str, old: TreeEntry | None, new: TreeEntry | None, now: float
) -> list[str]:
    place = _place(project.path, path)
    stood = old.id if old is not None else ""
    why = _left(project, place, path, new)
    if place is None or why:
        return [why]
    stands = object_id(b"blob", place.read_bytes()) if place.exists() else ""
    if new is None:
        if stands and stands == stood:
            place.unlink()
        return []
    if stands == new.id or (not stands and stood):  # the person removed it
        return []
    data = project.repo.read(new.id)
    if path == HANDOFF:
        kept = beside.keep_edit(project, data, now) if stands != stood else ""
        kept = beside.put(project, data, new.id) or kept
        return [f"Your edit of {HANDOFF} is kept as {kept}."] if kept else []
    if stands not in ("", stood):
        return [f"{_shown(path)} was changed here and is not committed; it was left as it is."]
    place.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(place, data, durable=False)
    return []


def _left(project: "Project", place: Path | None, path: str, new: TreeEntry | None) -> str:
    """Why a file is not brought into the folder; empty where it is."""
    shown = _shown(path)
    if new is not None and not _plain(new):
        return f"{shown} is a link or another repository; it was not put into the folder."
    if place is None:
        return f"{shown} has a name that could reach out of the folder; only git has it."
    if os.path.lexists(place) and (place.is_symlink() or not place.is_file()):
        return f"{shown} here is no plain file; it was left as it is."
    if new is not None and project.repo.size(new.id) > MOST_BYTES:
        return f"{shown} is over {MOST_BYTES // 10**6} MB; only git has it."
    return ""


def _place(folder: Path, path: str) -> Path | None:
    """Where a file goes; None where the name, or a link on the way, leads out of the folder."""
    place = folder
    parts = path.split("/")
    for part in parts:
        dangerous = part.lower().startswith(".git") and part not in (".gitattributes", ".gitignore")
        plain = is_slug(part) or (part.startswith(".") and is_slug(part[1:]) and not dangerous)
        if not plain or "\ufffd" in part or part.rstrip(". ") != part:
            return None
        place /= part
        if part is not parts[-1] and os.path.lexists(place) and not _is_folder(place):
            return None
    return place


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()


def _files(repo: Repo, tree: str, path: str = "", deep: int = 0) -> Iterator[tuple[str, TreeEntry]]:
    for entry in repo.tree(tree):
        name = path + entry.name.decode("utf-8", "replace")
        if entry.mode == FOLDER and deep < _DEEP:
            yield from _files(repo, entry.id, f"{name}/", deep + 1)
        elif entry.mode != FOLDER:
            yield name, entry


def _plain(entry: TreeEntry) -> bool:
    return entry.mode.startswith(b"100")


def _refresh(repo: Repo, changed: dict[str, tuple[TreeEntry | None, TreeEntry | None]]) -> None:
    """Tell the index of the files that changed, but of those that a person has staged.

    What is not in the folder on purpose is no change of it.
    """
    done = gitrun.run(repo.git, "ls-files", "--stage", "-z")
    listed = done.stdout.decode("utf-8", "replace").split("\0")
    staged = {
        path: head.split(" ")[1] for head, _, path in (x.partition("\t") for x in listed) if path
    }
    taken = {
        path: new
        for path, (old, new) in changed.items()
        if staged.get(path, "") == (old.id if old is not None else "")
    }
    lines = [
        f"{new.mode.decode()} {new.id}\t{path}\0" if new else f"0 {'0' * 40}\t{path}\0"
        for path, new in taken.items()
    ]
    gitrun.run(repo.git, "update-index", "-z", "--index-info", data="".join(lines).encode())
    absent = "".join(f"{path}\0" for path, new in taken.items() if new and not _plain(new))
    if absent:
        gitrun.run(
            repo.git, "update-index", "-q", "--skip-worktree", "-z", "--stdin",
            data=absent.encode(), allowed=(0, 1, 128),
        )  # fmt: skip
    gitrun.run(repo.git, "update-index", "-q", "--refresh", allowed=(0, 1))


def _shown(path: str) -> str:
    return path if len(path) <= 60 else f"{path[:59]}…"
