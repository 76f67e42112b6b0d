"""throughLine: the state of a long problem, kept outside the conversation.

In a notebook, ``%load_ext throughline_nb`` brings ``%tl``; for code there are :func:`open`,
:func:`start` and :func:`projects`. What they need is imported when they are first used.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

__all__ = [
    "OpenProject",
    "__version__",
    "load_ipython_extension",
    "open",
    "projects",
    "start",
    "unload_ipython_extension",
]

_API = ("OpenProject", "open", "projects", "start")


def __getattr__(name: str) -> Any:
    if name not in _API:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(_notebook("api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """Called by ``%load_ext throughline_nb``."""
    _notebook("magics").load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """Called by ``%unload_ext throughline_nb``, and before a reload."""
    _notebook("magics").unload(shell)


def _notebook(module: str) -> Any:
    """A module of the notebook; by name, since what lies below a host imports this package too."""
    return import_module(f"throughline_nb.hosts.notebook.{module}")
