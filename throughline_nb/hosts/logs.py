"""Where a host writes down what went wrong: a rotating file in the home, made when first needed."""

import logging
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path

from throughline_nb.store.home import Home

LOG = "throughline.log"
MOST_BYTES = 1_000_000


class _LateFile(RotatingFileHandler):
    """A rotating file whose folder is made with the first line, so that silence leaves nothing."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's own name
        """Nothing: a log that cannot be written is no reason to show a person a traceback."""


def log_to(home: Home) -> None:
    """Send the package's log to ``logs/throughline.log`` of the home; once a process."""
    logger = logging.getLogger("throughline_nb")
    if any(isinstance(handler, _LateFile) for handler in logger.handlers):
        return
    handler = _LateFile(
        home.logs / LOG, maxBytes=MOST_BYTES, backupCount=3, encoding="utf-8", delay=True
    )
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
