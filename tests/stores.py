"""What the tests of the store share: a project in a temporary home, and git as a person runs it."""

import os
import subprocess
import sys
from pathlib import Path

from throughline_nb.ledger import Ledger, edits
from throughline_nb.ledger.edits import By
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects, Stamp

NOW = 1_790_000_000.0
BY = By("model", "turn 3 of lmstudio/1764500000000", "2026-10-17T12:04:09Z")
USER = Stamp(actor="user", now=NOW, via="Command: /tl constraint")
MODEL = Stamp(actor="model", now=NOW, via="Tool: ledger_record")
ENGINE = Stamp(actor="engine", now=NOW)


def projects(tmp_path):
    return Projects(Home(tmp_path / "home"))


def project(tmp_path, goal="Compare seven runtimes", name="runtimes"):
    return projects(tmp_path).create(name, Ledger(goal=goal), f"Project started: {goal}", USER)


def finding(text, by=BY, **fields):
    return recording("finding", text, by, **fields)


def recording(kind, text, by=BY, **fields):
    def edit(ledger):
        done = edits.record(ledger, kind, text, by, **fields)
        return done.ledger, done.sentence

    return edit


def goal(text):
    def edit(ledger):
        done = edits.set_goal(ledger, text, By("user"))
        return done.ledger, done.sentence

    return edit


def texts(snapshot):
    return [entry.text for entry in snapshot.ledger.findings]


def git(folder, *arguments, ok=True, **variables):
    """git as a person runs it in the project's folder."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    for who in ("AUTHOR", "COMMITTER"):
        env |= {f"GIT_{who}_NAME": "person", f"GIT_{who}_EMAIL": "person@example.org"}
    env |= {"GIT_EDITOR": "true", **variables}
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not ok, done.stderr
    return done.stdout


def count(folder, *arguments):
    return int(git(folder, "rev-list", "--count", *arguments))


def sound(folder):
    """Whether git finds nothing wrong, and nothing to commit."""
    done = subprocess.run(
        ["git", "fsck", "--strict"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return git(folder, "status", "--porcelain") == ""


def everything(folder):
    """All bytes that git holds: every object unpacked, and every file below ``.git``."""
    done = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=folder, capture_output=True,
        check=True,
    )  # fmt: skip
    files = (path for path in Path(folder).rglob("*") if path.is_file())
    return done.stdout + b"\n".join(path.read_bytes() for path in files)


def start(script, *arguments, **variables):
    """Run a program of the tests beside this one."""
    path = Path(__file__).parent / "programs" / script
    return subprocess.Popen(
        [sys.executable, str(path), *map(str, arguments)],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process, timeout=120):
    out, error = process.communicate(timeout=timeout)
    assert process.returncode == 0, error
    return out
