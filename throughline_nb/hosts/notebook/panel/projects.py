"""Which project is bound here, which others there are, their chats, orphans and the trash."""

import time
from functools import partial
from html import escape
from typing import TYPE_CHECKING, Final

import ipywidgets as w
import msgspec

from throughline_nb.engine import views
from throughline_nb.engine.registry import COMMANDS
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.notebook.display import inline
from throughline_nb.hosts.notebook.panel.parts import put, say, swap
from throughline_nb.hosts.notebook.panel.words import ago, count, verb
from throughline_nb.store import marks

if TYPE_CHECKING:
    from throughline_nb.chat import ChatKey
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

DAY: Final = 86400.0
PAGE: Final = 25


class _Project(msgspec.Struct, frozen=True):
    """What is said of a project."""

    name: str
    html: str
    bound: bool


class ProjectsPage:
    """All projects, and a field to start one.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self.limit = PAGE
        start = COMMANDS.get("start")
        self.goal = parts.field("New goal", lines=2, hint=start.params[0].help)
        self.start = parts.button("Start project", self._start, "tl-primary", tip=start.help)
        self._head = parts.html()
        self._rows: dict[_Project, w.Box] = {}
        self._list = parts.box((), "tl-troubles")
        self.more = parts.button("Show more projects", self._show_more, "tl-quiet")
        self._more = parts.box()
        self._chats = parts.html()
        self._trash = parts.box()
        rename = COMMANDS.get("rename")
        self.name = parts.field("New name", hint=rename.params[0].help)
        self.rename = parts.button("Rename project", self._rename, tip=rename.help)
        self.off = parts.button("Unbind this notebook", self._off, tip=COMMANDS.get("off").help)
        self._bound = parts.box()
        self.widget = parts.box(
            (self._bound, self._head, self._list, self._more, self._trash,
             parts.html("<h3>Another project</h3>"), self.goal,
             parts.row((self.start,), "tl-actions")),
            "tl-page",
        )  # fmt: skip

    def update(self, shown: "Shown | None") -> None:
        """Show the projects that there are now; ``shown`` is None where none is bound."""
        found = self._found()
        say(self._head, f"<h3>Projects <small>{len(found) or 'none yet'}</small></h3>")
        for each in found[: self.limit]:
            if each not in self._rows:
                self._rows[each] = self._row(each)
        self._rows = {each: self._rows[each] for each in found[: self.limit]}
        swap(self._list, self._rows.values())
        put(self._more, [self.more] if len(found) > self.limit else [])
        swap(self._trash, self._in_trash())
        if shown is None:
            put(self._bound, ())
            return
        say(self._chats, self._of(self.panel.p.name))
        form = self.panel.parts.row((self.name, self.rename), "tl-asked")
        if not self._bound.children:
            actions = [self._chats, form]
            if self.panel.key is not None:
                actions.append(self.panel.parts.row((self.off,), "tl-actions"))
            put(self._bound, actions)

    # --- inside ------------------------------------------------------------------------------

    def _found(self) -> list[_Project]:
        engine = self.panel.engine
        chats: dict[str, int] = {}
        for _, state in engine.chats.states():
            chats[state.project] = chats.get(state.project, 0) + 1
        orphans = marks.load(engine.home).orphans
        own = self.panel.p.name if self.panel.bound else ""
        now = engine.clock()
        found: list[tuple[float, _Project]] = []
        for name in engine.projects.names():
            try:
                store = engine.projects.open(name)
                last = next((record.time for record in store.history(1)), 0.0)
                line = views.project_line(store.read().ledger, chats.get(name, 0), None)
                said = f"{inline(line.partition(': ')[2])}; changed {ago(last, now)}"
            except ThroughLineError as error:
                last, said = 0.0, inline(str(error))
            if name in orphans:
                said += f'<small class="tl-trouble">{self._orphaned(orphans[name], now)}</small>'
            here = ' <em class="tl-doing">open here</em>' if name == own else ""
            text = f'<div class="tl-text"><b>{escape(name)}</b>{here}<small>{said}</small></div>'
            found.append((last, _Project(name, text, name == own)))
        return [each for _, each in sorted(found, key=lambda pair: -pair[0])]

    def _orphaned(self, since: float, now: float) -> str:
        days = self.panel.engine.settings().orphan_days
        left = max(0, round(days - (now - since) / DAY))
        return (
            f"orphaned {ago(since, now)}: its last chat was deleted. It moves to the trash in "
            f"{count(left, 'day')}; opening it keeps it."
        )

    def _row(self, each: _Project) -> w.Box:
        parts = self.panel.parts
        widgets: list[w.Widget] = [parts.html(each.html)]
        if not each.bound:
            name = each.name
            tip = COMMANDS.get("open").help
            widgets.append(parts.button(verb("open", name), partial(self._open, name), tip=tip))
        return parts.row(widgets, "tl-row", "tl-project")

    def _of(self, name: str) -> str:
        """The chats of the project that is bound."""
        keys: list[ChatKey] = list(self.panel.p.chats())
        own = self.panel.key
        if (
            own is not None and own not in keys and self.panel.is_own
        ):  # it has no name to be kept by
            keys.append(own)
        named = [
            f"<li><code>{escape(str(key))}</code>"
            f"{' <em>this notebook</em>' if key == own else ''}</li>"
            for key in keys
        ]
        listed = f"<ul>{''.join(named)}</ul>" if named else "<p>No chat is bound to it.</p>"
        return f"<h3>Chats of {escape(name)} <small>{len(keys) or ''}</small></h3>{listed}"

    def _in_trash(self) -> list[w.Widget]:
        engine, parts = self.panel.engine, self.panel.parts
        taken = set(engine.projects.names())
        trashed = [
            each for each in marks.load(engine.home).trash.values() if each.slug not in taken
        ]
        if not trashed:
            return []
        made: list[w.Widget] = [parts.html(f"<h3>Trash <small>{len(trashed)}</small></h3>")]
        for each in trashed[:PAGE]:
            day = time.strftime("%Y-%m-%d", time.localtime(each.since))
            text = (
                f'<div class="tl-text"><b>{escape(each.slug)}</b>'
                f"<small>in the trash since {day}</small></div>"
            )
            button = parts.button(verb("open", each.slug), partial(self._open, each.slug))
            made.append(parts.row((parts.html(text), button), "tl-row", "tl-project"))
        return made

    def _open(self, name: str) -> None:
        reply = self.panel.command(f"open {name}")
        self.panel.turn_to(reply.name)
        self.panel.tell(reply.text)

    def _start(self) -> None:
        reply = self.panel.command(f"start {self.goal.value}")
        self.goal.value = ""
        self.panel.turn_to(reply.name)
        self.panel.tell(reply.text)

    def _rename(self) -> None:
        name, self.name.value = self.name.value, ""
        self.panel.carry_out("rename", name)
        self.panel.turn_to(self.panel.p.name)

    def _off(self) -> None:
        reply = self.panel.command("off")
        self.panel.turn_to("")
        self.panel.tell(reply.text)

    def _show_more(self) -> None:
        self.limit += PAGE
        self.panel.refresh()
