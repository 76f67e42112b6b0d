"""Follows what others change, while the kernel is idle or a cell runs.

A thread looks at what a file system says of a few files: no process is started, and nothing is
read as long as nothing changed. A task of the kernel's own loop stands still while a cell runs.
"""

import logging
import os
import threading
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Final
from weakref import WeakMethod

log = logging.getLogger("throughline_nb")

EVERY: Final = 0.4
"""Seconds between two looks. What changed is taken up when two looks in a row see the same: so a
file that is being written is left alone, and it still takes less than the 2 s that were asked."""


class Watch:
    """A thread that calls back when something changed; it ends with the object it calls.

    Args:
        look: What is to be seen; anything that compares. A bound method.
        changed: Called, in the thread, when it differs from the last time. A bound method.
    """

    def __init__(self, look: Callable[[], Hashable], changed: Callable[[], object]) -> None:
        self._look, self._changed = WeakMethod(look), WeakMethod(changed)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="throughline-panel", daemon=True)

    def begin(self) -> None:
        """Start looking."""
        self._thread.start()

    def end(self) -> None:
        """Look no more, and wait until a look that is under way is over."""
        self._ended.set()
        if threading.current_thread() is not self._thread and self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        handled: Hashable = None
        before: Hashable = None
        while not self._ended.wait(EVERY):
            look, changed = self._look(), self._changed()
            if look is None or changed is None:
                return
            try:
                seen = look()
                if seen != handled and seen == before:
                    handled = seen
                    changed()
                before = seen
            except Exception:
                log.exception("following a project")
            del look, changed


def signature(*paths: Path) -> tuple[tuple[int, int, int] | None, ...]:
    """What tells that files changed: time, size and number of each; None where there is none."""
    return tuple(map(_stat, paths))


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)  # noqa: PTH116 - looked at twice a second
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
