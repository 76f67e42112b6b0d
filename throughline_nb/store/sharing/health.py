"""What is wrong with a project's remote, each with its cure; for ``doctor``."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import refs
from throughline_nb.store.problems import Problem
from throughline_nb.store.sharing import memory, transport
from throughline_nb.store.sharing.addresses import Address, address, without_secret
from throughline_nb.store.sharing.remotes import apart, name_of, urls

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

ASK_SECONDS: Final = 10.0
"""How long the remote is waited for."""


def problems(project: "Project") -> list[Problem]:
    """Everything that can be found out about the remote; it is asked for its branches, once."""
    git = project.repo.git
    found = []
    if (git / "shallow").is_file():
        what = "The project is a shallow clone, which lacks its older history"
        found.append(Problem(what, "/tl sync fetches the rest"))
    url = urls(git).get(name_of(git), "")
    if not url:
        return found
    if without_secret(url) != url:
        what = "The remote's address in .git/config holds a password or token"
        cure = f"`git remote set-url {name_of(git)} <address>` without it, and change the secret"
        return [*found, Problem(what, cure)]
    try:
        remote = address(url, project.path)
    except RefusedError as error:
        what = str(error).partition("; ")[0]
        return [*found, Problem(f"The remote cannot be used: {what}", "/tl share <remote>")]
    return [*found, *_asked(git, remote)]


def _asked(git: Path, remote: Address) -> list[Problem]:
    where = transport.shown(remote)
    try:
        there = transport.branches(git, remote, ASK_SECONDS)
    except transport.UnreachableError as error:
        what, _, cure = error.cause.partition(": ")
        return [Problem(f"The remote {where} fails: {what}", cure or "say /tl sync again later")]
    except StoreError as error:
        what, _, cure = str(error).partition("; nothing was changed: ")
        return [Problem(what, cure.rstrip(".") or "say /tl sync again later")]
    if refs.MAIN not in there:
        what = f"The remote {where} has no branch main" + (" but others" if there else "")
        return [Problem(what, "/tl sync sends everything, or /tl share <remote> names another")]
    last = memory.read(git)
    if last is not None and last.error:
        what = f"The last sync failed: {last.error.partition('; ')[0].rstrip('.')}"
        return [Problem(what, "/tl sync again")]
    return []


def facts(project: "Project") -> str:
    """Where the project is shared, and how far apart both are; empty where it is not shared."""
    git = project.repo.git
    url = urls(git).get(name_of(git), "")
    if not url:
        return ""
    line = f"{project.slug} is shared with {without_secret(url)}"
    far = apart(project.repo)
    if far is not None:
        line += f", {far.ahead} commits ahead, {far.behind} behind as of the last fetch"
    last = memory.read(git)
    if last is not None:
        line += f", last synced {time.strftime('%Y-%m-%d %H:%M', time.localtime(last.when))}"
    return f"{line}."
