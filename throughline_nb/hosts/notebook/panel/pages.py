"""What the pages of the panel show at one moment."""

from collections.abc import Mapping

import msgspec

from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.health import Trouble
from throughline_nb.store.records import Record


class Shown(msgspec.Struct, frozen=True):
    """What the panel shows at one moment.

    Attributes:
        ledger: The ledger.
        version: Its version.
        latest: The change that made it.
        open_turns: For how many project turns each open question has been open.
        troubles: What is not in order.
        now: The time, in seconds since the epoch.
    """

    ledger: Ledger
    version: str
    latest: Record
    open_turns: Mapping[str, int]
    troubles: tuple[Trouble, ...]
    now: float

    @property
    def current(self) -> Entry | None:
        """The step in hand."""
        return self.ledger.current
