"""How many turns a project has had, and since which turn each question is open.

Every turn of every bound chat is counted, so counting is one appended byte: the size of the file
``turns`` is the count, whichever process wrote it, with no lock. Which turn a question was first
seen in is written only when the open questions change. Both lie beside the repository's own data
and are not synced to the disk: a reminder may come a turn late.
"""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import BINARY, write_atomic


def open_turns(git: Path) -> dict[str, int]:
    """For each open question, for how many turns it has been open, as of the last turn."""
    turn = 0
    with suppress(OSError):
        turn = os.stat(_count(git)).st_size  # noqa: PTH116 - on the path of every turn
    return {ident: turn - first for ident, first in _since(git).items()}


def note(git: Path, open_questions: Iterable[str]) -> dict[str, int]:
    """Count a turn; see :meth:`Project.note_turn`."""
    turn = _next(git)
    before = _since(git)
    now = {ident: before.get(ident, turn) for ident in open_questions}
    if now != before:
        with suppress(StoreError, OSError):  # a project that can only be read has no memory
            write_atomic(Path(_questions(git)), msgspec.json.encode(now), durable=False)
    return {ident: turn - first for ident, first in now.items()}


def _next(git: Path) -> int:
    """Append one byte and read off the number of this turn; 0 where nothing can be written."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY
    try:
        handle = os.open(_count(git), flags, 0o644)
    except FileNotFoundError:
        with suppress(OSError):
            (git / "throughline").mkdir()
            return _next(git)
        return 0
    except OSError:
        return 0
    try:
        os.write(handle, b".")
        return os.fstat(handle).st_size
    except OSError:
        return 0
    finally:
        os.close(handle)


def _since(git: Path) -> dict[str, int]:
    try:
        with open(_questions(git), "rb") as file:  # noqa: PTH123 - as above
            return msgspec.json.decode(file.read(), type=dict[str, int])
    except (OSError, msgspec.DecodeError):
        return {}


def _count(git: Path) -> str:
    return f"{git}/throughline/turns"


def _questions(git: Path) -> str:
    return f"{git}/throughline/questions.json"
