"""Where a host writes down what went wrong: a rotating file in the home, made when first needed."""

import logging
from pathlib import Path

from throughline_nb.store.home import Home

LOG = "throughline.log"
MOST_BYTES = 1_000_000


class _LateFile(logging.Handler):
    """A rotating file that is made with the first line: silence leaves nothing, and loads nothing.

    A log that cannot be written is passed over: it is no reason to show a person a traceback.
    """

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._file: logging.Handler | None = None

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line."""
        try:
            if self._file is None:
                self._file = self._opened()
        except OSError:
            return
        self._file.emit(record)

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()
        super().close()

    def _opened(self) -> logging.Handler:
        from logging.handlers import RotatingFileHandler  # noqa: PLC0415 - 5 ms

        class Quiet(RotatingFileHandler):
            def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
                pass

        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = Quiet(self._path, maxBytes=MOST_BYTES, backupCount=3, encoding="utf-8")
        file.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
        return file


def log_to(home: Home) -> None:
    """Send the package's log to ``logs/throughline.log`` of the home; once a process."""
    logger = logging.getLogger("throughline_nb")
    if any(isinstance(handler, _LateFile) for handler in logger.handlers):
        return
    logger.addHandler(_LateFile(home.logs / LOG))
    logger.propagate = False
