"""The heart: what a ledger is, how it reads, writes, merges and speaks. Pure: text in, text out."""

from throughline_nb.ledger.markdown import Reading, UnreadableLedger, read, write
from throughline_nb.ledger.merge import Merged, merge
from throughline_nb.ledger.model import Entry, Ledger, Prose

__all__ = [
    "Entry",
    "Ledger",
    "Merged",
    "Prose",
    "Reading",
    "UnreadableLedger",
    "merge",
    "read",
    "write",
]
