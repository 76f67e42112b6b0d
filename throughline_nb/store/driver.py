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

ATTRIBUTES = b"ledger.md text eol=lf merge=throughline -filter -ident -working-tree-encoding\n"
"""What git is told of the ledger in a place that no commit changes."""

SECTION = '[merge "throughline"]'


def merge_driver(base: Path, ours: Path, theirs: Path) -> int:
    """Merge three files as git hands them in (``%O %A %B``); the result replaces ``ours``.

    git swaps the two sides between merge and rebase, so an id that both gave stays with the older
    entry.

    Returns:
        0, or 1 where a side is no ledger: git then reports a conflict, and ``ours`` stands.
    """
    try:
        text, notices = merged(base.read_bytes(), ours.read_bytes(), theirs.read_bytes())
    except UnreadableLedger as error:
        sys.stderr.write(f"ledger.md could not be merged: {error}\n")
        return 1
    for notice in notices:
        sys.stderr.write(f"{notice}\n")
    write_atomic(ours, text, durable=False)
    return 0


def merged(base: bytes, ours: bytes, theirs: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Merge three texts of a ledger; the result is an edit of the version of ``ours``.

    Returns:
        The merged text, and notices.

    Raises:
        UnreadableLedger: A side is no ledger.
    """
    start = read(text_of(base)).ledger if base.strip() else Ledger()
    left = read(text_of(ours), start).ledger
    right = read(text_of(theirs), start).ledger
    done = merge(start, left, right, prefer="ours", keeps_ids="older", merge_text=gitrun.merge_text)
    return write(done.ledger, version_in(text_of(ours))).encode("utf-8"), done.notices


def configure(git: Path) -> None:
    """Say in ``.git/config`` how to run the driver, unless an installation that stands does.

    Which file it merges stands in ``.git/info/attributes``, too, which goes before whatever a
    ``.gitattributes`` says that came from elsewhere, or is gone.
    """
    _attribute(git)
    try:
        text = (git / "config").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return
    if SECTION in text and _stands(text):
        return
    with suppress(StoreError):  # a folder that cannot be written is still read
        gitrun.run(git, "config", "merge.throughline.name", "throughLine ledger")
        gitrun.run(git, "config", "merge.throughline.driver", command())


def _attribute(git: Path) -> None:
    path = git / "info" / "attributes"
    try:
        text = path.read_bytes() if path.exists() else b""
        if ATTRIBUTES in text:
            return
        path.parent.mkdir(exist_ok=True)
        own = text + b"\n" if text and not text.endswith(b"\n") else text
        write_atomic(path, own + ATTRIBUTES, durable=False)
    except (OSError, StoreError):  # as below
        return


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
