"""What stands in the way of a project, each in one line with its cure; for ``doctor``."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.errors import StoreError, ThroughLineError
from throughline_nb.ledger import UnreadableLedger
from throughline_nb.ledger.model import FORMAT
from throughline_nb.store import driver, gitrun, refs
from throughline_nb.store.files import WINDOWS
from throughline_nb.store.ledgers import load

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

_SHOWN = 3


class Problem(msgspec.Struct, frozen=True):
    """One problem.

    Attributes:
        what: What is not as it should be.
        cure: What to do about it.
    """

    what: str
    cure: str


def git_problems() -> list[Problem]:
    """Whether there is a git that is new enough."""
    try:
        have = gitrun.version()
    except StoreError:
        return [Problem("git was not found on PATH", "install git 2.36 or newer")]
    if have < gitrun.OLDEST:
        shown = ".".join(map(str, have)) or "of an unknown version"
        return [Problem(f"git {shown} is too old", "install git 2.36 or newer")]
    return []


def outer_repository(folder: Path) -> Path | None:
    """The repository that a folder lies in, other than its own."""
    for parent in folder.resolve().parents:
        if (parent / ".git").exists():
            return parent
    return None


def project_problems(project: "Project") -> list[Problem]:
    """Everything that can be found out about one project without changing it."""
    found = git_problems()
    try:
        found += _branch(project)
        found += _folder(project)
        found += _ledger(project)
        if not git_problems():
            found += _objects(project)
            found += _kept(project)
            found += _remote(project)
    except ThroughLineError as error:
        what, _, cure = str(error).partition("; nothing was changed: ")
        found.append(Problem(what, cure or "bring the project's folder back from a backup"))
    return found


def _branch(project: "Project") -> list[Problem]:
    try:
        refs.ensure_on_main(project.repo.git, project.slug)
    except StoreError as error:
        what, _, cure = str(error).partition("; nothing was changed: ")
        return [Problem(what, cure.rstrip("."))]
    return []


def _folder(project: "Project") -> list[Problem]:
    git, found = project.repo.git, []
    for path, age in refs.standing_locks(git):
        if age > refs.STALE_SECONDS:
            what = f"{path.name} is left over, {age:.0f} s old"
            found.append(Problem(what, f"the next write removes it; else remove {path}"))
        else:
            found.append(Problem(f"{path.name} is held by git right now", "try again in a moment"))
    if not all(os.access(place, os.W_OK) for place in (project.path, git, git / "objects")):
        found.append(Problem(f"{project.path} cannot be written", "make the folder writable"))
    if not WINDOWS and git.stat().st_uid != os.geteuid():
        cure = f"`git config --global --add safe.directory {project.path}` lets your own git in"
        found.append(Problem(f"{project.path} belongs to another user", cure))
    outer = outer_repository(project.path)
    if outer is not None:
        cure = f"add {project.home.path.name}/ to {outer / '.gitignore'}, or move the home"
        found.append(
            Problem(f"The project lies in another git repository, {outer}, which sees a link", cure)
        )
    config = git / "config"
    if not config.exists() or driver.SECTION not in config.read_text("utf-8", errors="replace"):
        found.append(
            Problem("The merge driver is not configured", "open the project once, writable")
        )
    if not (project.path / ".gitattributes").exists():
        cure = "`git checkout main -- .gitattributes` in its folder"
        found.append(Problem(".gitattributes is gone, so git merges line by line", cure))
    return found


def _ledger(project: "Project") -> list[Problem]:
    tip = project.tip()
    if not tip.blob:
        return [Problem("The last commit has no ledger.md", "the next turn writes it anew")]
    try:
        if load(project.repo, tip.blob).format > FORMAT:
            return [Problem("A newer throughLine wrote the project", "upgrade throughLine")]
    except UnreadableLedger as error:
        what = f"ledger.md in the last commit cannot be read ({error})"
        return [Problem(what, "the next turn brings back the version before it")]
    return []


def _objects(project: "Project") -> list[Problem]:
    done = gitrun.run(
        project.repo.git, "fsck", "--no-dangling", "--no-progress", allowed=tuple(range(129))
    )
    if not done.returncode:
        return []
    said = done.stderr.decode("utf-8", "replace") + done.stdout.decode("utf-8", "replace")
    lines = [line.removeprefix("error: ") for line in said.splitlines() if line.strip()]
    cure = "bring .git back from a backup or another copy; ledger.md itself is whole"
    return [Problem(f"git fsck: {'; '.join(lines[:_SHOWN])}", cure)]


def _remote(project: "Project") -> list[Problem]:
    from throughline_nb.store.sharing import health  # noqa: PLC0415 - it uses this module

    return health.problems(project)


def _kept(project: "Project") -> list[Problem]:
    kept = sorted(project.path.glob("ledger.edit-not-applied-*.md"))
    if not kept:
        return []
    newest = time.strftime("%Y-%m-%d", time.localtime(kept[-1].stat().st_mtime))
    return [
        Problem(
            f"{len(kept)} hand edit(s) could not be read, the last on {newest}",
            f"copy what you need from {kept[-1].name} into ledger.md, then delete it",
        )
    ]
