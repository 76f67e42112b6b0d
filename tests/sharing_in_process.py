"""A folder as the remote, served in this process: what ``git fetch`` and ``git push`` do to it.

The simulation runs hundreds of syncs; with git itself each would cost four processes. That this
stands for git is tested: a part of the simulation runs with git, and the same steps must give the
same ledgers.
"""

import shutil
from pathlib import Path

from throughline_nb.store import refs
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing import transport


class Bare(Repo):
    """A bare repository whose objects are files of their own."""

    def __init__(self, path):
        super().__init__(path)
        self.git = path
        self._loose = type(self._loose)(path / "objects")


def ancestors(repo, ident):
    found, waiting = set(), [ident]
    while waiting:
        at = waiting.pop()
        if at not in found:
            found.add(at)
            waiting += repo.commit(at).parents
    return found


def merge_bases(repo, ours, theirs):
    if ours == theirs:
        return (ours,)
    common = ancestors(repo, ours) & ancestors(repo, theirs)
    under = {each for ident in common for each in ancestors(repo, ident) - {ident}}
    return tuple(sorted(common - under))


def is_ancestor(repo, old, new):
    return old in ancestors(repo, new)


def copy_objects(source, target, beside=None):
    for path in source.glob("??/*"):
        place = target / path.parent.name / path.name
        known = place.exists() or (beside and (beside / path.parent.name / path.name).exists())
        if known or path.name.startswith("tmp_"):
            continue
        place.parent.mkdir(exist_ok=True)
        new = place.with_suffix(".new")
        shutil.copyfile(path, new)
        new.replace(place)


def fetch(git, remote, into, *_options, watch=None, guard=None):
    there = Path(remote.url)
    found = refs.read_ref(there, refs.MAIN)
    if found is None:
        raise transport.AbsentError("no main")
    copy_objects(there / "objects", git / "objects", git.parents[2] / "objects")
    refs.swap(git, into, found, refs.read_ref(git, into))


def push(git, remote, ident, *, over="", watch=None):
    there = Path(remote.url)
    now = refs.read_ref(there, refs.MAIN)
    copy_objects(git / "objects", there / "objects")
    if now is not None and now != over and not is_ancestor(Bare(there), now, ident):
        raise transport.RejectedError("not a fast-forward")
    assert now == ident or refs.swap(there, refs.MAIN, ident, now)
