"""How the last sync ended: a small file beside the repository's own data, for ``doctor``."""

from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import write_atomic

NAME: Final = "throughline/shared.json"


class Last(msgspec.Struct, frozen=True, omit_defaults=True):
    """The last sync.

    Attributes:
        when: In seconds since the epoch.
        where: The remote, as a message names it.
        error: What stood in its way; empty where it went through.
    """

    when: float
    where: str
    error: str = ""


def read(git: Path) -> Last | None:
    """The last sync, None where there was none."""
    try:
        return msgspec.json.decode((git / NAME).read_bytes(), type=Last)
    except (OSError, msgspec.DecodeError):
        return None


def write(git: Path, last: Last) -> None:
    """Remember it, where the project can be written."""
    with suppress(OSError, StoreError):
        (git / NAME).parent.mkdir(exist_ok=True)
        write_atomic(git / NAME, msgspec.json.encode(last), durable=False)
