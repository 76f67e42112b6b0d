"""What was asked for once and waits to be said again, kept beside the repository's own data.

It outlives the process, since at the command line each word of the user is a process of its own.
"""

from contextlib import suppress
from pathlib import Path

import msgspec

from throughline_nb.store.files import write_atomic

WAITS_SECONDS = 600.0
"""For how long a request waits to be said again."""


def said_again(git: Path, request: str, now: float) -> bool:
    """Whether ``request`` was asked for a moment ago; if not, it is noted, and waits.

    Args:
        git: The repository's ``.git`` folder.
        request: What is asked for, such as ``purge F12``.
        now: Time in seconds since the epoch.

    Raises:
        StoreError: It cannot be noted, so that it could never be said again.
    """
    file = git / "throughline" / "asked.json"
    waiting: dict[str, float] = {}
    with suppress(OSError, msgspec.DecodeError):
        waiting = msgspec.json.decode(file.read_bytes(), type=dict[str, float])
    waiting = {what: when for what, when in waiting.items() if 0 <= now - when <= WAITS_SECONDS}
    confirmed = waiting.pop(request, None) is not None
    if not confirmed:
        waiting[request] = now
    with suppress(OSError):
        file.parent.mkdir(exist_ok=True)
    write_atomic(file, msgspec.json.encode(waiting), durable=False)
    return confirmed
