"""Stub for the moment; the format's author replaces this file."""
import msgspec
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger.model import Ledger
class UnreadableLedger(ThroughLineError): ...
class Reading(msgspec.Struct, frozen=True):
    ledger: Ledger
    version: str | None
    notices: tuple[str, ...] = ()
    complete: bool = True
    format: int = 1
def read(text, base=None): raise NotImplementedError
def write(ledger, version=None): raise NotImplementedError
