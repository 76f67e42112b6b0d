"""Which notebook this is, and its engine: one a process and home.

A notebook is known by its path (:mod:`.place`). Where nobody says it, as with plain nbclient, it
has no name: ``%tl open`` binds it for as long as its kernel runs.
"""

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from throughline_nb.chat import ChatKey
from throughline_nb.engine.run import Reply, Run
from throughline_nb.engine.session import Engine
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.notebook import place as places
from throughline_nb.hosts.notebook.display import typed_here
from throughline_nb.hosts.notebook.place import HOST, gone
from throughline_nb.store.home import Home
from throughline_nb.store.project import Project

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.outputs import Run as CellRun

UNNAMED: Final = ChatKey(HOST, "unnamed")


class Here:
    """The notebook or script that this process runs, and its engine.

    Args:
        home: Where everything lives.
    """

    def __init__(self, home: Home) -> None:
        from throughline_nb.hosts.lmstudio.files import LMStudioChats  # noqa: PLC0415 - not at load
        from throughline_nb.hosts.logs import log_to  # noqa: PLC0415

        self.engine = Engine(home, chat_exists=LMStudioChats())
        self.recorded: set[str] = set()
        """Projects other than its own in which findings cite its cells."""
        self._keys: dict[str, ChatKey] = {}
        log_to(home)

    @property
    def key(self) -> ChatKey | None:
        """The notebook's key; None in a script, which is no chat."""
        shell = places.the_shell()
        if shell is None:
            return None
        place = places.place_of(shell.user_ns)
        if not place:
            self.engine.chats.passing.add(UNNAMED)
            return UNNAMED
        if place not in self._keys:
            self._keys[place] = self.engine.chats.at_place(HOST, os.path.basename(place), place)  # noqa: PTH119 - a path of any system
        key = self._keys[place]
        self.engine.chat(key).state.place = place
        return key

    @property
    def turn(self) -> int:
        """The execution count of the cell that runs, or ran last; 0 in a script."""
        shell = places.the_shell()
        return max(1, len(shell.history_manager.input_hist_raw) - 1) if shell is not None else 0

    @property
    def project(self) -> Project | None:
        """The project that the notebook is bound to, or None."""
        key = self.key
        if key is None:
            return None
        chat = self.engine.chat(key)
        with chat.lock:
            return self.engine.project_of(self.engine.fresh(chat))

    def command(self, line: str) -> Reply:
        """Execute a command as it is typed behind ``%tl``."""
        key = self.key
        before = self.engine.chat(key).state.project if key is not None else ""
        reply = self.engine.command(line, key=key, turn=self.turn)
        if key is not None and not before:
            self._take_over(key)
        return reply

    def perform(self, via: str, work: Callable[[Run], Reply | str], project: str = "") -> Reply:
        """Do something for the user on a project; its own when none is named."""
        return self.engine.perform(via, work, key=self.key, project=project, turn=self.turn)

    def call(self, name: str, given: Mapping[str, Any], project: str = "") -> str:
        """Execute a tool call of a model."""
        return self.engine.call(self.key, name, given, turn=self.turn, project=project)

    def seen(self, runs: "Sequence[CellRun]") -> list[str]:
        """Judge the findings that cite cells which were just run; what changed, for the user."""
        from throughline_nb.ledger.cells import ran, short  # noqa: PLC0415 - not at load

        key, cells = self.key, self.engine.cells
        if key is None:
            return []
        cited = cells.cited(key, self.recorded)
        wanted = [
            ran(run.cell, run.source, run.output, failed=run.failed, whole=run.whole)
            for run in runs
            if cited and short(run.ident) in cited
        ]
        return cells.seen(key, wanted, self.turn, self.recorded) if wanted else []

    def to_tell(self) -> tuple[str, ...]:
        """What happened beside what was asked for, such as the merge of an edit by hand."""
        key = self.key
        return tuple(self.engine.to_tell(key)) if key is not None else ()

    def _take_over(self, key: ChatKey) -> None:
        """A notebook that was just bound, and was renamed before, goes on where it was."""
        engine = self.engine
        state = engine.chat(key).state
        if not (state.project and state.place):
            return
        for former, its in list(engine.chats.states(HOST)):
            if former != key and its.project == state.project and gone(its.place):
                engine.cells.adopt(key, former)
                engine.chats.delete(former)


def here() -> Here:
    """What this process runs, with the engine of the home in force."""
    home = Home.locate()
    place = home.path.absolute()
    if place not in places.begun:
        places.begun[place] = Here(home)
    made: Here = places.begun[place]
    return made


@contextlib.contextmanager
def plain_errors() -> Iterator[None]:
    """Let only errors through that are one sentence, with commands as they are typed here."""
    try:
        yield
    except ThroughLineError as error:
        error.args = (typed_here(str(error)),)
        raise
    except Exception as error:
        import logging  # noqa: PLC0415

        logging.getLogger("throughline_nb").exception("unexpected")
        shown = f"{type(error).__name__}: {error}".splitlines()[0]
        raise ThroughLineError(
            f"unexpected error ({shown}); nothing recorded was lost: %tl doctor helps to find why."
        ) from None
