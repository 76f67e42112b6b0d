"""Cleaning up beside the turns: at the engine's start and at most once a minute, in the background.

A turn only asks whether a cleaning is due; the work is done in a thread that nothing waits for, and
what fails in it is logged.
"""

import logging
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from throughline_nb.chat import ChatKey
from throughline_nb.store.cleanup import Exists, clean

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine

log = logging.getLogger("throughline_nb")

EVERY_SECONDS: Final = 60.0
"""Least time between the starts of two cleanings of one engine."""


class Cleaner:
    """Cleans the home of one engine.

    Args:
        engine: The engine.
        exists: Whether a chat still exists in its host; None for never cleaning.
    """

    def __init__(self, engine: "Engine", exists: Exists | None) -> None:
        self._engine = engine
        self._exists = exists
        self._last: float | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def tick(self) -> None:
        """Begin a cleaning if one is due and none is under way; returns at once."""
        self._engine.recalls.sweep()
        if self._exists is None:
            return
        with self._lock:
            now = time.monotonic()
            recent = self._last is not None and now - self._last < EVERY_SECONDS
            if recent or (self._thread is not None and self._thread.is_alive()):
                return
            self._last = now
            self._thread = threading.Thread(target=self._run, name="throughline-clean", daemon=True)
            try:
                self._thread.start()
            except RuntimeError:  # no new threads while the interpreter ends
                self._thread = None

    def wait(self, seconds: float) -> None:
        """Give a cleaning under way so much time to end, before the process does."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _run(self) -> None:
        engine, exists = self._engine, self._exists
        if exists is None:
            return
        try:
            clean(engine.home, _Unless(engine, exists), engine.clock(), engine.settings())
        except Exception:
            log.exception("cleaning of %s", engine.home.path)


class _Unless:
    """The host's answer, but for a chat with a turn under way here: its folder waits.

    A chat that is gone is let go of, since Windows deletes no file that is open.
    """

    place = ""
    folders: Mapping[str, str] = {}

    def __init__(self, engine: "Engine", exists: Exists) -> None:
        self._engine = engine
        self._exists = exists

    def snapshot(self) -> "_Unless":
        """List the host's chats once."""
        listed = _Unless(self._engine, getattr(self._exists, "snapshot", lambda: self._exists)())
        listed.place = getattr(listed._exists, "place", "")
        listed.folders = getattr(listed._exists, "folders", {})
        return listed

    def __call__(self, key: ChatKey) -> bool | None:
        found = self._exists(key)
        if found is False and (self._engine.busy(key) or not self._engine.recalls.release(key)):
            return None
        return found
