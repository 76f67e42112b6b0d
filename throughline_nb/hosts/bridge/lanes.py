"""Work in lanes: what is in one lane runs in its order, lanes do not wait for each other.

Each busy lane has a thread of its own, so that any number of them may hang without holding up
another. The threads are daemons: the process ends when it is told to, whatever they do.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Hashable

log = logging.getLogger("throughline_nb")

Job = Callable[[], None]


class Lanes:
    """Runs jobs, by lane."""

    def __init__(self) -> None:
        self._waiting: dict[Hashable, deque[Job]] = {}
        self._changed = threading.Condition()

    def submit(self, lane: Hashable, job: Job) -> None:
        """Run a job after all others of its lane; returns at once.

        Raises:
            RuntimeError: The system gives no further thread.
        """
        with self._changed:
            if lane in self._waiting:
                self._waiting[lane].append(job)
                return
            self._waiting[lane] = deque((job,))
        thread = threading.Thread(
            target=self._work, args=(lane,), name=f"throughline-{lane}", daemon=True
        )
        try:
            thread.start()
        except RuntimeError:  # there are too many
            with self._changed:
                del self._waiting[lane]
            raise

    def wait(self, seconds: float, *, but: Hashable = ()) -> bool:
        """Wait until nothing is left to do, but in one lane; returns whether that is so."""
        until = time.monotonic() + seconds
        with self._changed:
            while self._waiting.keys() - {but}:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def _work(self, lane: Hashable) -> None:
        while True:
            with self._changed:
                jobs = self._waiting[lane]
                if not jobs:
                    del self._waiting[lane]
                    self._changed.notify_all()
                    return
                job = jobs.popleft()
            try:
                job()
            except Exception:
                log.exception("in lane %s", lane)
