"""The heart: what a ledger is, how it reads, writes, merges and speaks. Pure: text in, text out.

Reader, writer and merge are loaded when they are first used, so that a command line's help does
not wait for them.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from throughline_nb.ledger.model import Entry, Ledger, Prose

if TYPE_CHECKING:
    from throughline_nb.ledger.markdown import Reading, UnreadableLedger, read, write
    from throughline_nb.ledger.merge import Merged, merge

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

_LATE = {
    "Merged": "merge",
    "Reading": "markdown",
    "UnreadableLedger": "markdown",
    "merge": "merge",
    "read": "markdown",
    "write": "markdown",
}


class _Package(ModuleType):
    """Keeps ``merge`` the function: importing the module of that name would put it in its place."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _LATE and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_LATE[name]}"), name)
    globals()[name] = value
    return value
