"""The merge driver: what git runs for ``ledger.md`` in a person's own merge, rebase or stash.

``.gitattributes`` names it, ``.git/config`` says how to run it. An attribute without a driver
would leave conflict markers in the ledger, in silence, so it is configured at every open.
"""

import shlex
import sys
from contextlib import suppress
from pathlib import Path

from throughline_nb.errors import StoreError
from throughline_nb.ledger import Ledger, UnreadableLedger, merge, read, write
from throughline_nb.store import gitrun
from throughline_nb.store.files import write_atomic
from throughline_nb.store.ledgers import text_of, version_in

SECTION = '[merge "throughline"]'


def merge_driver(base: Path, ours: Path, theirs: Path) -> int:
    """Merge three files as git hands them in (``%O %A %B``); the result replaces ``ours``.

    git swaps the two sides between merge and rebase, so an id that both gave stays with the older
    entry.

    Returns:
        0, or 1 where a side is no ledger: git then reports a conflict, and ``ours`` stands.
    """
    text = ours.read_bytes()
    try:
        old = base.read_bytes()
        start = read(text_of(old)).ledger if old.strip() else Ledger()
        left = read(text_of(text), start).ledger
        right = read(text_of(theirs.read_bytes()), start).ledger
    except UnreadableLedger as error:
        sys.stderr.write(f"ledger.md could not be merged: {error}\n")
        return 1
    done = merge(start, left, right, prefer="ours", keeps_ids="older", merge_text=gitrun.merge_text)
    for notice in done.notices:
        sys.stderr.write(f"{notice}\n")
    write_atomic(ours, write(done.ledger, version_in(text_of(text))).encode("utf-8"), durable=False)
    return 0


def configure(git: Path) -> None:
    """Say in ``.git/config`` how to run the driver, unless an installation that stands does."""
    try:
        text = (git / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if SECTION in text and _stands(text):
        return
    with suppress(StoreError):  # a folder that cannot be written is still read
        gitrun.run(git, "config", "merge.throughline.name", "throughLine ledger")
        gitrun.run(git, "config", "merge.throughline.driver", command())


def command() -> str:
    """The driver's command line, with the interpreter that runs this."""
    python = Path(sys.executable).as_posix()
    return f"{shlex.quote(python)} -m throughline_nb merge-driver %O %A %B %P"


def _stands(text: str) -> bool:
    """Whether the interpreter that the configuration names is there."""
    for line in text.splitlines():
        key, _, value = line.strip().partition(" = ")
        if key == "driver" and "throughline_nb merge-driver" in value:
            bare = value.strip('"').replace('\\"', '"').replace("\\\\", "\\")
            try:
                Path(shlex.split(bare)[0]).stat()
            except (FileNotFoundError, ValueError, IndexError):
                return False
            except OSError:  # it may well be there, for whoever configured it
                return True
            return True
    return False
