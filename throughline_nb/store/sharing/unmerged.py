"""What a person's ``git pull`` left half done: conflict markers in ``ledger.md``.

It happens where git did not find the merge driver. git keeps the three sides in its index, and
from those the ledger is merged; the marked file is never read as a ledger. A merge that waits for
nothing else is ended; a rebase is brought to where ``git rebase --continue`` goes on.
"""

from typing import TYPE_CHECKING, Final

from throughline_nb.errors import StoreError
from throughline_nb.ledger import UnreadableLedger
from throughline_nb.store import driver, gitrun
from throughline_nb.store.files import write_atomic
from throughline_nb.store.objects import LEDGER_FILE

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

MARK: Final = b"<<<<<<< "
_MARKS: Final = (b"<<<<<<<", b"=======", b">>>>>>>", b"|||||||")


def heal(project: "Project", now: float) -> None:
    """Merge a ledger that git left unmerged, and end the merge if it waits for nothing else.

    Under the project's lock. Whatever does not fit is left to the person, as it was.
    """
    git = project.repo.git
    try:
        waiting = _unmerged(project)
        if not _resolve(project, waiting, now):
            return
        if (git / "MERGE_HEAD").is_file() and set(waiting) == {LEDGER_FILE}:
            who = gitrun.identity(git)
            gitrun.run(
                git, "-c", f"user.name={who.name}", "-c", f"user.email={who.email}", "commit",
                "--quiet", "--no-verify", "--no-edit", "--cleanup=strip",
            )  # fmt: skip
    except (StoreError, UnreadableLedger, OSError):
        return


def resolved(project: "Project", raw: bytes, now: float) -> bytes | None:
    """The ledger in place of a marked one, as after ``git stash pop``; None where git has no sides.

    Args:
        project: The project; its lock is held.
        raw: What stands in ``ledger.md``.
        now: Time in seconds since the epoch.
    """
    if MARK not in raw:
        return None
    try:
        if not _resolve(project, _unmerged(project), now):
            return None
        gitrun.run(project.repo.git, "reset", "--quiet", "--", LEDGER_FILE, allowed=(0, 1))
        return project.file.read()
    except (StoreError, UnreadableLedger, OSError):
        return None


def _unmerged(project: "Project") -> dict[str, dict[str, str]]:
    """Files that git left unmerged: ids of their sides by stage."""
    done = gitrun.run(project.repo.git, "ls-files", "--unmerged", "-z")
    found: dict[str, dict[str, str]] = {}
    for line in done.stdout.decode("utf-8", "surrogateescape").split("\0"):
        head, _, path = line.partition("\t")
        if path:
            _, ident, stage = head.split(" ")
            found.setdefault(path, {})[stage] = ident
    return found


def _resolve(project: "Project", waiting: dict[str, dict[str, str]], now: float) -> bool:
    """Put the merged ledger in the place of the marked one, and tell git's index."""
    sides = waiting.get(LEDGER_FILE, {})
    raw = project.file.read()
    if not {"2", "3"} <= set(sides) or raw is None or MARK not in raw:
        return False  # the person resolved it, or one side has none
    repo = project.repo
    base, ours, theirs = (repo.read(sides[n]) if n in sides else b"" for n in ("1", "2", "3"))
    merged, _ = driver.merged(base, ours, theirs)
    known = {line.strip() for side in (base, ours, theirs) for line in side.splitlines()}
    typed = [line for line in raw.splitlines() if not line.startswith(_MARKS)]
    if any(line.strip() not in known for line in typed):
        keep_marked(project, raw, now)
    write_atomic(project.file.path, merged)
    gitrun.run(repo.git, "add", "--", LEDGER_FILE)
    return True


def keep_marked(project: "Project", raw: bytes, now: float) -> None:
    """Keep a marked file that a person wrote into."""
    from throughline_nb.store.handedit import beside_name  # noqa: PLC0415 - the two use each other

    write_atomic(beside_name(project, raw, now), raw)
