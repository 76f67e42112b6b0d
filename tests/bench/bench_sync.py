"""Sync of 1,000 commits with a bare repository on the same disk, against plain fetch and push."""

import io
import itertools
import os
import shutil
import subprocess

import pytest

from throughline_nb.ledger import write
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects, Stamp
from throughline_nb.store.sharing import remotes, starting, syncing
from throughline_nb.store.sharing.addresses import address

from .harness import WALL, Timed, alternate
from .ledgers import ledger

ROUNDS = 12
COMMITS = 1000
ENTRIES = 200
STAMP = Stamp(actor="user", now=1_790_000_000.0, via="Command: /tl sync")

pytestmark = pytest.mark.benchmark(timer=WALL)


def grow(project, commits):
    """So many versions of a ledger of 200 entries, one entry changed in each, packed."""
    text = write(ledger(ENTRIES), "VERSION").encode()
    head = project.repo.head()
    stream = io.BytesIO()
    for number in range(2, commits + 2):
        version = f"{number}-{number % 65536:04x}"
        data = text.replace(b"VERSION", version.encode())
        data = data.replace(b" 1: ", f" {number}: ".encode(), 1)
        message = f"F1 changed: {number}\n\nActor: model\nVersion: {version}\n".encode()
        stream.write(b"commit refs/heads/main\n")
        stream.write(b"committer throughLine <t@localhost> %d +0000\n" % (1_780_000_000 + number))
        stream.write(b"data %d\n%s\n" % (len(message), message))
        stream.write(f"from {head}\n".encode() if number == 2 else b"")
        stream.write(b"M 100644 inline ledger.md\ndata %d\n%s\n" % (len(data), data))
    git(project.path, "fast-import", "--quiet", data=stream.getvalue())
    git(project.path, "reset", "--quiet", "--hard", "main")


def git(folder, *arguments, data=None):
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    command = ["git", "-c", "gc.auto=0", "-c", "core.hooksPath=/dev/null", *arguments]
    subprocess.run(command, cwd=folder, env=env, input=data, check=True, capture_output=True)


class Case:
    """A project and its remote, 1,000 commits apart; each round works on copies of its own."""

    def __init__(self, folder, *, ahead):
        self.folder, self.ahead = folder, ahead
        self.rounds = itertools.count()
        self.whole = folder / "whole"
        self.remote = self.whole / "remote"
        self.whole.mkdir(parents=True)
        made = Projects(Home(self.whole / "home")).create(
            "runtimes", ledger(ENTRIES), "Project started", STAMP
        )
        starting.share(made, address(str(self.remote)), STAMP)
        if ahead:
            grow(made, COMMITS)
            return
        other = folder / "other"
        shutil.copytree(self.whole, other)
        grow(Projects(Home(other / "home")).open("runtimes"), COMMITS)
        git(other / "home" / "projects" / "runtimes", "push", "--quiet", str(self.remote), "main")

    def copied(self, what):
        """A copy of all, whose remote is the copy's."""
        place = self.folder / f"{what}{next(self.rounds)}"
        shutil.copytree(self.whole, place)
        project = Projects(Home(place / "home")).open("runtimes")
        remotes.name_remote(project.repo.git, address(str(place / "remote")))
        project.read()
        if hasattr(os, "sync"):
            os.sync()
        return project

    def sync(self, project):
        done = syncing.sync(project, STAMP)
        assert bool(done.came) is not self.ahead

    def plain(self, project):
        git(project.path, "fetch", "--quiet", "origin")
        git(project.path, "push", "--quiet", "origin", "main" if self.ahead else "origin/main:main")


@pytest.mark.parametrize(("key", "ahead"), [("sync-send", True), ("sync-receive", False)])
def test_sync(benchmark, folder, key, ahead):
    case = Case(folder, ahead=ahead)
    subject = Timed(case.sync, lambda: case.copied("ours"))
    peer = Timed(case.plain, lambda: case.copied("plain"))
    alternate(benchmark, subject, {key: peer}, rounds=ROUNDS)
