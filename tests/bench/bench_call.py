"""One tool call that changes a 50 KB ledger, until it is safe on the disk."""

import itertools
import os
import random
import shutil
import subprocess
import zlib

import pytest

from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home

from .chats import KEY, LEDGER_KB, fill
from .commits import add_commits
from .harness import WALL, Timed, alternate
from .ledgers import sentence, sized, url

ROUNDS = 40

pytestmark = pytest.mark.benchmark(timer=WALL)

DURABLE = ("-c", "core.fsync=loose-object,reference")
PLAIN = ("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.hooksPath=/dev/null")
"""What would cost git more than the commit itself is left out."""


class Calls:
    """A chat whose model records one finding after another: 42 to 58 KB."""

    def __init__(self, home, commits):
        self.engine = Engine(Home(home))
        self.project = fill(self.engine, KEY, sized(LEDGER_KB - 8))
        if commits > 2:
            add_commits(self.project, commits)
        self.rng = random.Random("calls")
        self.round = 0
        self.answer = ""

    @property
    def file(self):
        return self.project.path / "ledger.md"

    def next_call(self):
        self.round += 1
        return {
            "kind": "finding",
            "text": f"In round {self.round} {sentence(self.rng)}",
            "source": url(self.rng, self.round),
        }

    def call(self, given):
        self.answer = self.engine.call(KEY, "ledger_record", given)

    def timed(self):
        def prepare():
            settle()
            return self.next_call()

        return Timed(self.call, prepare)

    def check(self, commits):
        """Every call was one commit, and the last one stands in the file."""
        assert f" added: In round {self.round} " in self.answer
        git = self.project.path / ".git"
        run = ("git", f"--git-dir={git}")
        count = subprocess.run(
            [*run, "rev-list", "--count", "HEAD"], capture_output=True, check=True, text=True
        )
        assert int(count.stdout) == commits + self.round
        shown = subprocess.run(
            [*run, "cat-file", "blob", "HEAD:ledger.md"], capture_output=True, check=True
        )
        assert shown.stdout == self.file.read_bytes()
        assert shown.stdout.count(b"** In round ") == self.round
        assert 50_000 < len(shown.stdout) < 60_000


def settle():
    """Let the disk finish, so that no one waits for what another left unsynced."""
    if hasattr(os, "sync"):
        os.sync()


def _git(folder):
    """git itself on the same files; the new bytes are there before it is timed."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    env |= {f"GIT_{who}_NAME": "bench" for who in ("AUTHOR", "COMMITTER")}
    env |= {f"GIT_{who}_EMAIL": "bench@example.org" for who in ("AUTHOR", "COMMITTER")}
    message = "F12 added\n\nActor: model\nTool: ledger_record\n"

    def commit(_):
        for command in (("add", "ledger.md"), ("commit", "--quiet", "--message", message)):
            subprocess.run(["git", *DURABLE, *PLAIN, *command], cwd=folder, env=env, check=True)

    return commit


def _replace(path, data):
    """Write, sync, rename, sync the folder: what a durable atomic write needs at least."""
    temporary = path.with_name(f"{path.name}.tmp")
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0))
    os.write(handle, data)
    os.fsync(handle)
    os.close(handle)
    temporary.replace(path)
    if os.name != "nt":
        handle = os.open(path.parent, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def _floor(folder):
    """Five atomic writes of the same bytes: blob, tree, commit, ref, file."""
    folders = [folder / name for name in ("blob", "tree", "commit", "ref", "file")]
    for each in folders:
        each.mkdir(parents=True)
    rounds = itertools.count()

    def write(parts):
        number = next(rounds)
        for each, part in zip(folders, parts, strict=True):
            is_object = each.name not in ("ref", "file")
            _replace(each / (str(number) if is_object else "same"), part)

    return write


def test_call_against_git(benchmark, folder):
    calls = Calls(folder / "home", 10)
    peer = folder / "peer"
    shutil.copytree(calls.project.path, peer)

    numbers = itertools.count()

    def same_files():
        data = calls.file.read_bytes() + b"%08d\n" % next(numbers)  # always something to commit
        (peer / "ledger.md").write_bytes(data)
        settle()

    def same_bytes():
        settle()
        data = calls.file.read_bytes()
        return zlib.compress(data, 1), b"t" * 70, b"c" * 250, b"r" * 41, data

    calls.call(calls.next_call())
    git = Timed(_git(peer), same_files)
    floor = Timed(_floor(folder / "floor"), same_bytes)
    peers = {"call-git": git, "call-floor": floor}
    alternate(benchmark, calls.timed(), peers, rounds=ROUNDS)
    calls.check(10)


def test_call_growth(benchmark, folder):
    long, short = Calls(folder / "long", 10_000), Calls(folder / "short", 10)
    alternate(benchmark, long.timed(), {"call-growth": short.timed()}, rounds=ROUNDS)
    long.check(10_000)
    short.check(10)
