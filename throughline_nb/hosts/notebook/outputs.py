"""Looks at each cell after its run: what it gave, for the findings that cite it.

IPython keeps what a cell printed and returned; ipykernel sends what it displayed past that, so that
a hook of its publisher notes it. What throughLine itself shows is no output of the cell.
"""

import logging
import re
import sys
from collections.abc import Mapping
from typing import Any, Final
from weakref import WeakKeyDictionary

import msgspec

from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.notebook import place
from throughline_nb.hosts.notebook.style import JSON

log = logging.getLogger("throughline_nb")

RUNS: Final = 64
"""Latest runs that are held, for a source such as ``In[7]``."""

MOST: Final = 200_000
"""Characters of an output that are looked at; of what is longer, not all is taken to be seen."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A cell's id as the notebook format has it. VS Code sends an address that a restart changes."""

_THIS: Final = re.compile(r"(?i)(?:(?:this|the|current|notebook)\s+)*cell")
_COUNT: Final = re.compile(
    r"(?i)(?:cell\s*|in\s*|out\s*|cell\s+(?:in|out)\s*)\[?\s*(\d{1,6})\s*\]?"
)

_watchers: "WeakKeyDictionary[Any, Watcher]" = WeakKeyDictionary()


class Run(msgspec.Struct, frozen=True):
    """One run of a cell as the shell has it.

    Attributes:
        cell: Its id; empty where the host gives none that lasts.
        source: Its source.
        output: What it gave, as plain text.
        failed: Whether it ended with an error.
        whole: Whether ``output`` is all that it gave.
    """

    cell: str
    source: str
    output: str
    failed: bool
    whole: bool

    @property
    def ident(self) -> str:
        """The id as a source names it."""
        from throughline_nb.ledger.cells import named  # noqa: PLC0415 - not at load

        return named(self.cell, self.source)


class Watcher:
    """What one shell's cells gave.

    Args:
        shell: IPython's shell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._displayed: list[str] = []
        self._runs: dict[int, Run] = {}
        self._cited: set[int] = set()
        self._asked = False

    def begin(self) -> None:
        """Look at every cell from now on."""
        self._shell.events.register("post_run_cell", self.after)
        if hasattr(self._shell.display_pub, "register_hook"):
            self._shell.display_pub.register_hook(self.published)

    def end(self) -> None:
        """Look no more."""
        self._shell.events.unregister("post_run_cell", self.after)
        if hasattr(self._shell.display_pub, "unregister_hook"):
            self._shell.display_pub.unregister_hook(self.published)

    def published(self, message: dict[str, Any]) -> dict[str, Any]:
        """Note what is displayed; the message goes on unchanged."""
        kind = message.get("header", {}).get("msg_type")
        if kind == "clear_output":
            self._displayed.clear()
        elif kind == "display_data":
            text = _text(message.get("content", {}).get("data", {}))
            self._displayed += [text] if text else []
        return message

    def after(self, result: Any) -> None:
        """What happens after each run; it never disturbs the cell."""
        displayed, self._displayed = self._displayed, []
        if result is None or not result.info.store_history:
            return
        try:
            self._look(result, displayed)
        except ThroughLineError as error:
            print(f"throughLine: {error}", file=sys.stderr)  # noqa: T201 - as IPython
        except Exception:
            log.exception("after a cell")

    def source(self, given: str) -> str:
        """The source of a finding, with a cell of this notebook named so that it can be found.

        Args:
            given: The source as it was given; ``cell`` is the one that runs, ``In[7]`` another.
        """
        from throughline_nb.hosts.notebook.binding import here  # noqa: PLC0415 - not at load

        key = here().key
        this = _THIS.fullmatch(given.strip())
        counted = _COUNT.fullmatch(given.strip())
        if key is None or not (this or counted):
            return given
        from throughline_nb.ledger.cells import named, source_of  # noqa: PLC0415 - not at load

        held = self._shell.history_manager.input_hist_raw
        count = int(counted[1]) if counted else len(held) - 1
        if count in self._runs:
            self._cited.add(count)
            return source_of(self._runs[count].ident, str(key))
        if count != len(held) - 1:
            return given
        return source_of(named(self.current(), held[count]), str(key))

    # --- inside ----------------------------------------------------------------------------------

    def _look(self, result: Any, displayed: list[str]) -> None:
        if not place.begun:
            if self._asked:
                return
            self._asked = True
            if not place.bound_name():
                return
        from throughline_nb.hosts.notebook.binding import here  # noqa: PLC0415 - not at load
        from throughline_nb.hosts.notebook.display import Shown, show, typed_here  # noqa: PLC0415

        count = int(result.execution_count)
        run = self._run_of(result, count, displayed)
        self._runs[count] = run
        for old in list(self._runs)[:-RUNS]:
            del self._runs[old]
        cited, self._cited = self._cited, set()
        told = here().seen([run, *(self._runs[c] for c in cited if c in self._runs)])
        if told:
            show(Shown("\n".join(typed_here(each) for each in told)))

    def _run_of(self, result: Any, count: int, displayed: list[str]) -> Run:
        kept = self._shell.history_manager.outputs.get(count, ())
        parts = [_text(each.bundle) for each in kept if each.output_type != "err_stream"]
        parts += displayed
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            parts.append(f"{type(error).__name__}: {error}")
        source = self._shell.history_manager.input_hist_raw[count]
        text = "\n".join(part.rstrip("\n") for part in parts if part)
        waits = self._shell.should_run_async(  # what such a cell prints does not come by here
            source, transformed_cell=result.info.transformed_cell
        )
        cell = result.info.cell_id
        return Run(
            cell if cell and _ID.fullmatch(cell) else "",
            source,
            text[:MOST],
            error is not None,
            not waits and len(text) <= MOST,
        )

    def current(self) -> str:
        """Id of the cell that runs."""
        kernel = getattr(self._shell, "kernel", None)
        if kernel is None:
            return ""
        cell = kernel.get_parent("shell").get("metadata", {}).get("cellId")
        return cell if isinstance(cell, str) and _ID.fullmatch(cell) else ""


def watch(shell: Any) -> Watcher:
    """The watcher of a shell, begun if it was not."""
    if shell not in _watchers:
        _watchers[shell] = Watcher(shell)
        _watchers[shell].begin()
    return _watchers[shell]


def unwatch(shell: Any) -> None:
    """Take a shell's watcher away."""
    watcher = _watchers.pop(shell, None)
    if watcher is not None:
        watcher.end()


def cell_source(given: str) -> str:
    """A finding's source, where it may be a cell of this notebook."""
    shell = place.the_shell()
    return watch(shell).source(given) if shell is not None and given else given


def _text(bundle: Mapping[str, Any]) -> str:
    if JSON in bundle:
        return ""
    found = bundle["stream"] if "stream" in bundle else bundle.get("text/plain", "")
    return found if isinstance(found, str) else "".join(found)
