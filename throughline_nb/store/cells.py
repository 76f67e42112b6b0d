"""The runs of a notebook's cells that findings rest on: ``cells.json`` in the chat's folder.

It holds at most :data:`MOST` records of a few kilobytes, the oldest go first, and is written only
when one changed. It never leaves this machine; without it a finding keeps the state that it has.
"""

import contextlib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.ledger.cells import Ran
from throughline_nb.store.files import write_atomic

NAME: Final = "cells.json"
MOST: Final = 500


class Kept(msgspec.Struct, frozen=True, omit_defaults=True):
    """The run by which one finding was verified.

    Attributes:
        claim: Which finding, as it was worded (:func:`throughline_nb.ledger.cells.claim`).
        source: Its source, as the ledger has it.
        ran: That run.
        now: A later run that gave another output, or None.
    """

    claim: str
    source: str
    ran: Ran
    now: Ran | None = None


def load(folder: Path) -> dict[str, Kept]:
    """What is kept of a chat, by claim; nothing where the file is absent or damaged."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        held = msgspec.json.decode((folder / NAME).read_bytes(), type=list[Kept])
        return {each.claim: each for each in held}
    return {}


def save(folder: Path, kept: Iterable[Kept]) -> None:
    """Write what is kept; nothing leaves no file.

    Raises:
        StoreError: It cannot be written.
    """
    latest = list(kept)[-MOST:]
    if latest:
        write_atomic(folder / NAME, msgspec.json.encode(latest), durable=False)
    else:
        delete(folder)


def delete(folder: Path) -> None:
    """Remove the file."""
    with contextlib.suppress(OSError):
        (folder / NAME).unlink(missing_ok=True)
