"""What a commit's ledger says, whoever made the commit, and however little of it can be read.

A version of the engine's is read as it is. A person's own commit is read as their hand edit of the
version before it. Where conflict markers or anything else stand in place of a ledger, the commits
that it was made from are read: never the marked file.
"""

from typing import Final

import msgspec

from throughline_nb.errors import NewerFormatError, RefusedError
from throughline_nb.ledger import Ledger, UnreadableLedger, merge, read
from throughline_nb.ledger.markdown import MAX_BYTES
from throughline_nb.ledger.model import FORMAT
from throughline_nb.store import gitrun
from throughline_nb.store.handedit import sign
from throughline_nb.store.ledgers import engine_commit, load, text_of
from throughline_nb.store.objects import LEDGER_FILE, Commit
from throughline_nb.store.records import is_ours
from throughline_nb.store.repo import Repo

_DEEP: Final = 64
"""Commits that are looked at behind one that cannot be read."""

_FILE_MODES: Final = (b"100644", b"100755", b"100664")


class View(msgspec.Struct, frozen=True):
    """A ledger as a commit leaves it.

    Attributes:
        ledger: What it says.
        version: Name of the version, or of the last one before it; may be empty.
        whole: Whether the commit itself could be read.
    """

    ledger: Ledger
    version: str
    whole: bool = True


def view(repo: Repo, ident: str, project: str) -> View | None:
    """What a commit's ledger says.

    Args:
        repo: Where the commit is.
        ident: Its id.
        project: Name of the project here, which may be another one elsewhere; empty for its own.

    Returns:
        None where neither it nor what it was made from holds a ledger.

    Raises:
        NewerFormatError: A newer version of the format; it is not read halfway.
    """
    found = _view(repo, ident, _DEEP)
    if found is None or found.ledger.project == project or not project:
        return found
    return msgspec.structs.replace(
        found, ledger=msgspec.structs.replace(found.ledger, project=project)
    )


def _view(repo: Repo, ident: str, deep: int) -> View | None:
    commit = repo.commit(ident)
    try:
        return _read(repo, commit)
    except UnreadableLedger:
        pass
    if deep <= 0 or not commit.parents:
        return None
    sides = [_view(repo, parent, deep - 1) for parent in commit.parents[:2]]
    known = [side for side in sides if side is not None]
    if len(known) < 2:
        return msgspec.structs.replace(known[0], whole=False) if known else None
    base = base_ledger(repo, commit.parents[0], commit.parents[1], known[0].ledger.project)
    merged = merge(
        base or Ledger(), known[0].ledger, known[1].ledger, prefer="ours", keeps_ids="older",
        merge_text=gitrun.merge_text,
    )  # fmt: skip
    return View(merged.ledger, known[0].version, whole=False)


def _read(repo: Repo, commit: Commit) -> View:
    blob = checked_blob(repo, commit)
    if is_ours(commit):
        parsed = load(repo, blob)
        ledger, number, version = parsed.ledger, parsed.format, commit.trailers["Version"]
    else:
        before = engine_commit(repo, commit.id)
        start, version = Ledger(), ""
        if before is not None:
            try:
                start, version = _read(repo, before).ledger, before.trailers["Version"]
            except UnreadableLedger:
                before = None
        reading = read(text_of(repo.read(blob)), start if before is not None else None)
        ledger, number = sign(start, reading.ledger, commit.time), reading.format
    if number > FORMAT:
        raise NewerFormatError(
            "A newer throughLine wrote what was shared; nothing was changed: upgrade throughLine "
            "here, then say /tl sync."
        )
    return View(ledger, version)


def checked_blob(repo: Repo, commit: Commit) -> str:
    """The id of a commit's ledger.

    Raises:
        UnreadableLedger: It is none, a link, a folder, or too large to be one.
    """
    for entry in repo.tree(commit.tree):
        if entry.name == LEDGER_FILE.encode():
            if entry.mode not in _FILE_MODES:
                raise UnreadableLedger("ledger.md is no plain file")
            if repo.size(entry.id) > MAX_BYTES:
                raise UnreadableLedger(f"it is over {MAX_BYTES // 10**6} MB")
            return entry.id
    raise UnreadableLedger("there is no ledger.md")


def merge_bases(repo: Repo, ours: str, theirs: str) -> tuple[str, ...]:
    """The best common ancestors of two commits; empty for unrelated histories."""
    if ours == theirs:
        return (ours,)
    done = gitrun.run(repo.git, "merge-base", "--all", ours, theirs, allowed=(0, 1))
    return tuple(done.stdout.decode("ascii").split())


def is_ancestor(repo: Repo, old: str, new: str) -> bool:
    """Whether ``new`` follows ``old``; not where ``old`` is unknown."""
    if old == new:
        return True
    done = gitrun.run(repo.git, "merge-base", "--is-ancestor", old, new, allowed=(0, 1, 128))
    return done.returncode == 0


def base_ledger(
    repo: Repo, ours: str, theirs: str, project: str, bases: tuple[str, ...] | None = None
) -> Ledger | None:
    """What two commits both started from, as one ledger; None for unrelated histories.

    After merges crosswise there are several common ancestors; they are merged first, as git's own
    recursive strategy does it.
    """
    idents = merge_bases(repo, ours, theirs) if bases is None else bases
    return _joined(repo, idents, project, 8)


def _joined(repo: Repo, idents: tuple[str, ...], project: str, deep: int) -> Ledger | None:
    found: Ledger | None = None
    before = ""
    for ident in sorted(idents):
        seen = view(repo, ident, project)
        if seen is None:
            continue
        if found is None:
            found, before = seen.ledger, ident
            continue
        under = _joined(repo, merge_bases(repo, before, ident), project, deep - 1) if deep else None
        found = merge(
            under or Ledger(project=project), found, seen.ledger, prefer="ours", keeps_ids="older",
            merge_text=gitrun.merge_text,
        ).ledger  # fmt: skip
    return found


def refuse_foreign(where: str) -> RefusedError:
    """What is said of a remote that holds something else."""
    return RefusedError(
        f"{where} holds something else than a throughLine project (its branch main has no "
        "ledger.md that can be read); nothing was changed: name an empty folder or repository."
    )
