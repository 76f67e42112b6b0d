"""How many turns a project has had, and since which turn each question is open.

Kept beside the repository's own data and not synced to the disk: a reminder may come a turn late.
"""

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import write_atomic


class Turns(msgspec.Struct, frozen=True):
    """The count, and for each open question the turn in which it was first seen."""

    turn: int = 0
    since: dict[str, int] = {}

    def open(self) -> dict[str, int]:
        """For each question, for how many turns it has been open."""
        return {ident: self.turn - first for ident, first in self.since.items()}


def read(git: Path) -> Turns:
    """What stands there; nothing yet where it cannot be read."""
    try:
        return msgspec.json.decode(_file(git).read_bytes(), type=Turns)
    except (OSError, msgspec.DecodeError):
        return Turns()


def note(git: Path, open_questions: Iterable[str]) -> dict[str, int]:
    """Count a turn; see :meth:`Project.note_turn`."""
    before = read(git)
    turn = before.turn + 1
    now = Turns(turn, {ident: before.since.get(ident, turn) for ident in open_questions})
    with suppress(StoreError, OSError):  # a project that can only be read has no count
        _file(git).parent.mkdir(exist_ok=True)
        write_atomic(_file(git), msgspec.json.encode(now), durable=False)
    return now.open()


def _file(git: Path) -> Path:
    return git / "throughline" / "turns.json"
