"""The remote of a project as git's own configuration has it, and what is known of it without it.

The remote is an ordinary ``origin``, so that a person's ``git pull`` and ``git push`` work. Beside
the tracking branch, which any ``git fetch`` moves, ``refs/throughline/published`` remembers the
last commit that this machine and the remote had in common: by it a rewritten remote is recognised.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import gitrun, refs
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing.addresses import Address, address, without_secret

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

NAME: Final = "origin"
PUBLISHED: Final = "refs/throughline/published"
BUNDLED: Final = "refs/throughline/bundled"


class Apart(msgspec.Struct, frozen=True):
    """How far a project and what is known of its remote are apart, in commits.

    Attributes:
        ahead: What is here and was not sent.
        behind: What was fetched and is not merged.
    """

    ahead: int
    behind: int


def urls(git: Path) -> dict[str, str]:
    """Addresses of all remotes by name, as they are configured; a process only after a change."""
    path = git / "config"
    try:
        found = path.stat()
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    if "[remote " not in text.lower():
        return {}
    key = (str(path), found.st_mtime_ns, found.st_size, hash(text))
    if key not in _urls:
        _urls.clear()
        _urls[key] = _asked(git)
    return dict(_urls[key])


_urls: dict[tuple[str, int, int, int], dict[str, str]] = {}


def _asked(git: Path) -> dict[str, str]:
    done = gitrun.run(
        git,
        "config",
        "--local",
        "--null",
        "--get-regexp",
        r"^remote\..*\.url$",
        allowed=tuple(range(256)),
    )
    found: dict[str, str] = {}
    for part in done.stdout.decode("utf-8", "replace").split("\0"):
        key, _, value = part.partition("\n")
        if key:
            found.setdefault(key.removeprefix("remote.").removesuffix(".url"), value)
    return found


def name_of(git: Path) -> str:
    """Name of the remote that the project is shared through; empty where there is none."""
    names = urls(git)
    if NAME in names:
        return NAME
    return next(iter(names)) if len(names) == 1 else ""


def remote_of(project: "Project") -> Address:
    """The remote that the project is shared through.

    Raises:
        RefusedError: There is none, or its address may not be used.
    """
    name = name_of(project.repo.git)
    if not name:
        raise RefusedError(
            f"Project “{project.slug}” is not shared; nothing was sent: /tl share <remote> names "
            "the place, a folder, an ssh or an https address."
        )
    return address(urls(project.repo.git)[name], project.path)


def name_remote(git: Path, remote: Address) -> None:
    """Write the remote into the project's configuration, so that a person's git knows it, too."""
    for key, value in (
        (f"remote.{NAME}.url", remote.url),
        (f"remote.{NAME}.fetch", f"+{refs.MAIN}:{tracking(NAME)}"),
        (f"branch.{refs.BRANCH}.remote", NAME),
        (f"branch.{refs.BRANCH}.merge", refs.MAIN),
    ):
        gitrun.run(git, "config", "--local", "--replace-all", key, value)
    done = gitrun.run(
        git, "config", "--get-regexp", r"^(pull\.(rebase|ff)|branch\.main\.rebase)$",
        user=True, allowed=(0, 1),
    )  # fmt: skip
    if not done.stdout.strip():  # else a plain `git pull` stops with a question
        gitrun.run(git, "config", "--local", f"branch.{refs.BRANCH}.rebase", "false")


def forget_remote(git: Path) -> None:
    """Take the remote out again, with what is known of it."""
    gitrun.run(git, "config", "--local", "--remove-section", f"remote.{NAME}", allowed=(0, 5, 128))
    for ref in (PUBLISHED, tracking(NAME)):
        gitrun.run(git, "update-ref", "-d", ref, allowed=(0, 1, 128))


def tracking(name: str) -> str:
    """The ref that says where the remote's branch was last seen."""
    return f"refs/remotes/{name or NAME}/{refs.BRANCH}"


def published(git: Path) -> str | None:
    """The last commit that this machine and the remote are known to have had in common."""
    return refs.read_ref(git, PUBLISHED) or refs.read_ref(git, tracking(name_of(git)))


def note(git: Path, ident: str, *names: str) -> None:
    """Remember where the remote is, under one or more refs."""
    for name in names:
        old = refs.read_ref(git, name)
        if old != ident:
            refs.swap(git, name, ident, old)


_apart: dict[tuple[str, str, str], Apart] = {}


def apart(repo: Repo) -> Apart | None:
    """How far project and remote are apart, as of the last fetch: no network, mostly no process.

    Returns:
        None where the project is not shared, or nothing is known of the remote yet.
    """
    if not _has_remote(repo.git):
        return None
    there = refs.read_ref(repo.git, tracking(NAME)) or refs.read_ref(repo.git, PUBLISHED)
    here = refs.read_ref(repo.git, refs.MAIN)
    if there is None or here is None:
        return None
    if here == there:
        return Apart(0, 0)
    key = (str(repo.git), here, there)
    found = _apart.get(key)
    if found is None:
        with suppress(StoreError):
            _apart[key] = found = _followed(repo, here, there) or _counted(repo, here, there)
        while len(_apart) > 64:
            _apart.pop(next(iter(_apart)))
    return found


_remotes: dict[str, tuple[int, int, bool]] = {}


def _has_remote(git: Path) -> bool:
    """Whether the configuration names a remote; one look at its age, since every turn asks."""
    path = f"{git}/config"
    try:
        found = os.stat(path)  # noqa: PTH116 - as above
    except OSError:
        return False
    known = _remotes.get(path)
    if known is None or known[:2] != (found.st_mtime_ns, found.st_size):
        named = "[remote " in Path(path).read_text(encoding="utf-8", errors="replace").lower()
        known = _remotes[path] = (found.st_mtime_ns, found.st_size, named)
    return known[2]


def _followed(repo: Repo, here: str, there: str) -> Apart | None:
    """One change more than what was counted last, as after most turns."""
    commit = repo.commit(here)
    if len(commit.parents) != 1:
        return None
    if commit.parents[0] == there:
        return Apart(1, 0)
    before = _apart.get((str(repo.git), commit.parents[0], there))
    return Apart(before.ahead + 1, before.behind) if before else None


def _counted(repo: Repo, here: str, there: str) -> Apart:
    done = gitrun.run(repo.git, "rev-list", "--left-right", "--count", f"{here}...{there}")
    ahead, behind = done.stdout.split()
    return Apart(int(ahead), int(behind))


def shown_url(git: Path) -> str:
    """The remote's address as a person may see it, whatever stands in the configuration."""
    return without_secret(urls(git).get(name_of(git), ""))
