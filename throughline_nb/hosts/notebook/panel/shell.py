"""The panel itself: header, tabs, what was done last, and the project that it shows."""

import logging
import threading
from collections.abc import Callable, Hashable
from functools import partial
from html import escape
from typing import Any, Final

import ipywidgets as w

from throughline_nb.chat import ChatKey
from throughline_nb.engine.registry import COMMANDS
from throughline_nb.engine.run import Reply, Run
from throughline_nb.engine.session import Engine
from throughline_nb.errors import NotFoundError, ThroughLineError
from throughline_nb.hosts.notebook.api import OpenProject
from throughline_nb.hosts.notebook.binding import here, plain_errors
from throughline_nb.hosts.notebook.display import Shown as Result
from throughline_nb.hosts.notebook.display import inline, typed_here
from throughline_nb.hosts.notebook.ledger_view import LedgerView
from throughline_nb.hosts.notebook.outputs import watch
from throughline_nb.hosts.notebook.panel import share
from throughline_nb.hosts.notebook.panel.header import header
from throughline_nb.hosts.notebook.panel.health import HealthPage
from throughline_nb.hosts.notebook.panel.history import HistoryPage
from throughline_nb.hosts.notebook.panel.ledger import LedgerPage
from throughline_nb.hosts.notebook.panel.pages import Shown
from throughline_nb.hosts.notebook.panel.parts import Parts, close_all, focus, put, say
from throughline_nb.hosts.notebook.panel.projects import ProjectsPage
from throughline_nb.hosts.notebook.panel.recall import RecallPage
from throughline_nb.hosts.notebook.panel.saved import Saved, live
from throughline_nb.hosts.notebook.panel.style import PANEL
from throughline_nb.hosts.notebook.panel.watch import Watch, signature
from throughline_nb.hosts.notebook.place import the_shell
from throughline_nb.ledger.health import troubles
from throughline_nb.store.objects import LEDGER_FILE
from throughline_nb.store.project import Project
from throughline_nb.store.refs import MAIN

log = logging.getLogger("throughline_nb")

LEDGER: Final = "Ledger"
HISTORY: Final = "History"
RECALL: Final = "Recall"
HEALTH: Final = "Health"
PROJECTS: Final = "Projects and chats"
SHARE: Final = "Share"

_PAGES: Final[dict[str, Callable[["Panel"], Any]]] = {
    LEDGER: LedgerPage,
    HISTORY: HistoryPage,
    RECALL: RecallPage,
    HEALTH: HealthPage,
    PROJECTS: ProjectsPage,
    SHARE: share.SharePage,
}


class Panel:
    """A panel on a project; what a cell ends with is displayed.

    Args:
        project: The project; None for the one that the notebook is bound to, whatever it becomes.
    """

    def __init__(self, project: OpenProject | None = None) -> None:
        self.lock = threading.RLock()
        self.parts = Parts(self.doing)
        self._follows = project is None
        self._p = project
        self._store: Project | None = None
        self._shown: Shown | None = None
        self._pages: dict[str, Any] = {}
        self._behind: set[str] = set()
        self._saved = Saved()
        self._watch: Watch | None = None
        self._header = self.parts.html()
        self.undo = self.parts.button(
            "Undo last change", lambda: self.carry_out("undo"), tip=COMMANDS.get("undo").help
        )
        self._top = self.parts.row((self._header, self.undo), "tl-header")
        self._news = self.parts.html()
        names = [name for name in _PAGES if name != SHARE or share.there()]
        self.tabs = {
            name: self.parts.button(name, partial(self._chosen, name), "tl-tab") for name in names
        }
        self.tab = ""
        self._body = self.parts.box()
        self._tabs = self.parts.row((), "tl-tabs")
        self.widget = self.parts.box(
            (
                self.parts.html(f"<style>{PANEL}</style>", "tl-style"),
                self._top,
                self._tabs,
                self._news,
                self._body,
            ),
            "tl",
            "tl-panel",
        )
        with self.lock, plain_errors():
            self._bind()
            self.refresh()
            self.show(LEDGER if self.bound else PROJECTS)

    # --- what pages use ----------------------------------------------------------------------

    @property
    def engine(self) -> Engine:
        """The engine of this process."""
        return here().engine

    @property
    def key(self) -> ChatKey | None:
        """The notebook; None in a script."""
        return here().key

    @property
    def bound(self) -> bool:
        """Whether there is a project to show."""
        return self._p is not None

    @property
    def p(self) -> OpenProject:
        """The project.

        Raises:
            NotFoundError: None is bound.
        """
        if self._p is None:
            raise NotFoundError("No project is open here yet; start one, or open one.")
        return self._p

    @property
    def store(self) -> Project:
        """The project's versions."""
        if self._store is None or self._store.slug != self.p.name:
            self._store = self.p.store
        return self._store

    @property
    def is_own(self) -> bool:
        """Whether the project is the one that the notebook is bound to."""
        own = here().project
        return own is not None and self.bound and own.slug == self.p.name

    @property
    def ledger(self) -> LedgerPage:
        """The page with the ledger, which is shown."""
        self.show(LEDGER)
        page = self._pages[LEDGER]
        assert isinstance(page, LedgerPage)  # noqa: S101 - it is built so
        return page

    def page(self, name: str) -> Any:
        """A page, shown."""
        self.show(name)
        return self._pages[name]

    def doing(self, act: Callable[[], object]) -> None:
        """Do what a person asked for; what fails is told in the panel."""
        with self.lock:
            try:
                act()
            except ThroughLineError as error:
                self.tell(str(error), trouble=True)
            except Exception:
                log.exception("panel")
                self.tell(
                    "An unexpected error was logged; nothing recorded was lost.", trouble=True
                )
            self.refresh()

    def carry_out(self, operation: str, *args: str, **given: Any) -> None:
        """Carry out an operation of the registry on the project, and say what it did."""
        done: Result = getattr(self.p, operation)(*args, **given)
        first, _, shown = done.plain.partition("\n\n")
        if operation in COMMANDS and shown:  # a tool's answer is for a model
            self.tell(first, shown=shown)
        else:
            self.told(done)

    def told(self, done: Result, *notices: str) -> None:
        """Show what an operation said."""
        self.tell(" ".join([done.plain.partition("\n")[0], *notices]))

    def tell(self, text: str, *, trouble: bool = False, shown: str = "") -> None:
        """Say something below the tabs, also to who listens; ``shown`` are lines below it."""
        kind, role = ("tl-warning", "alert") if trouble else ("tl-told", "status")
        said = inline(typed_here(text))
        lines = f"<pre>{escape(shown)}</pre>" if shown.strip() else ""
        told = f'<div class="{kind}" role="{role}">{said}{lines}</div>'
        say(self._news, told if text else "")

    def command(self, line: str) -> Reply:
        """Execute a command as it is typed behind ``%tl``."""
        with plain_errors():
            return here().command(line)

    def turn_to(self, name: str) -> None:
        """Show another project; none for the empty name."""
        self._p = OpenProject(name) if name else None
        self._store = self._shown = None
        for page in self._pages.values():
            close_all(page.widget)
        self._pages.clear()
        self._behind.clear()
        tab = self.tab
        self.tab = ""
        self.refresh()
        self.show(PROJECTS if not self.bound else LEDGER if tab == PROJECTS else tab)

    def focus(self, widget: w.Widget) -> None:
        """Move the focus; before the panel is displayed there is none."""
        if self._watch is not None:
            focus(widget)

    # --- showing -----------------------------------------------------------------------------

    def show(self, name: str) -> None:
        """Open a tab; its page is built the first time."""
        if name not in self._pages:
            self._pages[name] = _PAGES[name](self)
            self._behind.add(name)
        if name in self._behind:
            self._behind.discard(name)
            self._pages[name].update(self._shown)
        if self.tab != name:
            self.tab = name
            for each, button in self.tabs.items():
                shown = each == name
                button._dom_classes = ("tl-tab", "tl-open") if shown else ("tl-tab",)  # noqa: SLF001
                button.tooltip = "shown now" if shown else f"show {each}"
            put(self._body, [self._pages[name].widget])

    def refresh(self) -> None:
        """Show the version that stands now."""
        with self.lock:
            try:
                self._shown = self._look_at() if self.bound else None
            except ThroughLineError as error:  # its folder was removed or renamed, or is damaged
                self.tell(str(error), trouble=True)
                return
            self._head()
            names = [name for name in self.tabs if self.bound or name == PROJECTS]
            put(self._tabs, [self.tabs[name] for name in names])
            self._behind |= set(self._pages)
            if self.tab:
                self.show(self.tab)

    def close(self) -> None:
        """Take the panel away."""
        if self._watch is not None:
            self._watch.end()
        self.parts.close()

    def _ipython_display_(self) -> None:
        """Show the panel below the cell, and behind it a page that stays when no kernel runs."""
        from IPython.display import display  # noqa: PLC0415 - it runs in IPython

        with self.lock:
            display(live(self.widget, self._p.name if self._p is not None else ""))  # type: ignore[no-untyped-call]
            self._saved.show(self._view())
            if self._watch is None:
                self._watch = Watch(self._sight, self._follow)
                self._watch.begin()
        replaced(self)

    # --- inside ------------------------------------------------------------------------------

    def _chosen(self, tab: str) -> None:
        """A person went to another tab: what was told of the last one is read."""
        if tab != self.tab:
            self.tell("")
        self.show(tab)

    def _look_at(self) -> Shown:
        now = self.store.read()
        latest = (
            self._shown.latest
            if self._shown is not None and self._shown.version == now.version
            else self.store.history(1)[0]
        )
        turns = self.store.open_turns()
        found = troubles(now.ledger, turns)
        return Shown(now.ledger, now.version, latest, turns, found, self.engine.clock())

    def _head(self) -> None:
        shown = self._shown
        if shown is None:
            said = "<p><small>No project is open in this notebook.</small></p>"
            say(self._header, f"<h2>throughLine</h2>{said}")
            put(self._top, [self._header])
            return
        put(self._top, [self._header, self.undo])
        say(self._header, header(shown))
        self.undo.disabled = not shown.latest.parents
        many = len(shown.troubles)
        self._label(HEALTH, str(many) if many else "")
        if SHARE in self.tabs:
            found = share.distance(self.store)
            self._label(SHARE, ", ".join(found[1]) if found is not None else "")

    def _label(self, tab: str, more: str) -> None:
        """Write on a tab what there is to see."""
        name = f"{tab} ({more})" if more else tab
        if self.tabs[tab].description != name:
            self.tabs[tab].description = name

    def _view(self) -> LedgerView | None:
        if self._shown is None:
            return None
        return LedgerView(self._shown.ledger, self._shown.version, when=self._shown.latest.time)

    def _sight(self) -> Hashable:
        """What the watch looks at; also the minute, since the header says how long ago."""
        home = self.engine.home
        files = [home.projects, home.index]
        name = ""
        if self._follows:
            own = here().project
            name = own.slug if own is not None else ""
        if self._p is not None:
            folder = home.projects / self._p.name
            files += [folder / each for each in _WATCHED]
        return name, int(self.engine.clock() // 60), signature(*files)

    def _follow(self) -> None:
        """Take up what others changed; what a person is typing is left alone."""
        with self.lock:
            try:
                self._bind()
                if self.bound:
                    self._absorb()
            except ThroughLineError as error:
                self.tell(str(error), trouble=True)
            self.refresh()
            self._saved.update(self._view())

    def _bind(self) -> None:
        """Show the project that the notebook is bound to, if it is that which is shown."""
        if not self._follows:
            return
        own = here().project
        name = own.slug if own is not None else ""
        if name != (self._p.name if self._p is not None else ""):
            if self.tab:
                self.tell("")
                self.turn_to(name)
            else:
                self._p = OpenProject(name) if name else None

    def _absorb(self) -> None:
        """Merge an edit of the file by hand, and say what it changed."""

        def work(run: Run) -> str:
            run.absorb()
            return " ".join(run.told)

        told = [self.p.do("", work).text, *here().to_tell()]
        if any(told):
            self.tell(" ".join(filter(None, told)))


_WATCHED: Final = (
    *(
        f".git/{each}"
        for each in (MAIN, "packed-refs", "HEAD", "config", "throughline/shared.json")
    ),
    LEDGER_FILE,
)
"""Files that change when a project does."""

_displayed: dict[str, Panel] = {}


def replaced(panel: Panel) -> None:
    """Take away the panel that an earlier run of the same cell displayed."""
    shell = the_shell()
    cell = watch(shell).current() if shell is not None else ""
    if not cell:
        return
    former = _displayed.get(cell)
    _displayed[cell] = panel
    if former is not None and former is not panel:
        former.close()
