"""A bar for what takes long, on the terminal that one looks at; elsewhere nothing."""

import sys
import time
from typing import Any, Final

_AFTER_SECONDS: Final = 1.0
"""What ends before shows no bar."""


class Bar:
    """Shows how far a transfer is: what is under way, how many are done, of how many."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._what = ""
        self._begun = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        """Move the bar."""
        now = time.monotonic()
        self._begun = self._begun or now
        if not sys.stderr.isatty() or now - self._begun < _AFTER_SECONDS:
            return
        if what != self._what:
            from tqdm.auto import tqdm  # noqa: PLC0415 - 30 ms, only where it takes long

            self.close()
            self._bar, self._what = tqdm(total=total, desc=what, leave=False), what
        self._bar.update(done - self._bar.n)
        if done >= total:
            self.close()

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
        self._bar, self._what = None, ""
