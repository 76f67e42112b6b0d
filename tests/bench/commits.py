"""A long history for a project, made by ``git fast-import`` in the form of the engine's own."""

import io
import subprocess
from typing import Final

from throughline_nb.ledger import write
from throughline_nb.store.projects import Project, Stamp

from .ledgers import ledger

_SMALL: Final = 12
"""Entries of the ledgers in the history before the last one; a small history is made quickly."""


def add_commits(project: Project, total: int) -> None:
    """Bring a project to so many commits, packed as ``git gc`` leaves them.

    Every commit has a ledger of its own and our trailers; the last one has the ledger that the
    project has now.
    """
    git = ("git", f"--git-dir={project.path / '.git'}")
    at = project.read()
    count = subprocess.run(
        [*git, "rev-list", "--count", "main"], capture_output=True, check=True, text=True
    )
    small = write(ledger(_SMALL), "VERSION").encode()
    stream = io.BytesIO()
    for number in range(int(count.stdout) + 1, total + 1):
        version = f"{number}-{number % 65536:04x}"
        last = number == total
        data = (
            write(at.ledger, version).encode()
            if last
            else small.replace(b"VERSION", version.encode()).replace(
                b" 1: ", f" {number}: ".encode(), 1
            )
        )
        message = (
            f"F1 changed: {number}\n\nActor: model\nChat: lmstudio/1764500000000\nTurn: {number}\n"
            f"Tool: ledger_record\nVersion: {version}\n"
        ).encode()
        stream.write(b"commit refs/heads/main\n")
        stream.write(
            b"committer throughLine <throughline@localhost> %d +0000\n" % (1_760_000_000 + number)
        )
        stream.write(b"data %d\n%s\n" % (len(message), message))
        if number == int(count.stdout) + 1:
            stream.write(f"from {at.commit}\n".encode())
        stream.write(b"M 100644 inline ledger.md\ndata %d\n%s\n" % (len(data), data))
    subprocess.run([*git, "fast-import", "--quiet"], input=stream.getvalue(), check=True)
    project.absorb(Stamp(actor="engine", now=1_760_100_000.0))
