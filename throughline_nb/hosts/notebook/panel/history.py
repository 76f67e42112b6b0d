"""The history: a line a change, the ledger as it was, two versions compared, undo."""

import time
from html import escape
from typing import TYPE_CHECKING, Final

from throughline_nb.engine import views
from throughline_nb.engine.registry import COMMANDS
from throughline_nb.errors import NotFoundError
from throughline_nb.hosts.notebook.display import inline, marks, typed_here
from throughline_nb.hosts.notebook.ledger_view import LedgerView
from throughline_nb.hosts.notebook.panel.parts import put, say
from throughline_nb.hosts.notebook.panel.words import WHO, by, clock, count, marked, verb
from throughline_nb.ledger.delta import Change, changes, clip
from throughline_nb.ledger.model import LABELS, Ledger
from throughline_nb.store.records import Record, Snapshot

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

CHANGED: Final = "What changed"
AS_IT_WAS: Final = "Ledger as it was"
PAGE: Final = 25
ROWS: Final = 15


class HistoryPage:
    """The versions at the left, what is to be seen of one at the right.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self.records: list[Record] = []
        self.limit = PAGE
        self._setting = False
        self.list = parts.select("Versions", (), ROWS)
        parts.on_change(self.list, lambda _: self._picked())
        self.newer = parts.button("Newer", lambda: self._step(-1))
        self.older = parts.button("Older", lambda: self._step(1))
        self.more = parts.button("Show older versions", self._show_more, "tl-quiet")
        self._more = parts.box()
        self._title = parts.html()
        self.what = parts.choice("Show", (CHANGED, AS_IT_WAS), CHANGED)
        parts.on_change(self.what, lambda _: self._show())
        self.compare = parts.combobox("Compare with", (), hint="the version before")
        parts.on_change(self.compare, lambda _: self._show())
        self.undo = parts.button("", self._undo, tip=COMMANDS.get("undo").help)
        self._found = parts.html()
        foot = parts.row((self.newer, self.older, self._more), "tl-actions")
        left = parts.box((self.list, foot), "tl-versions")
        asked = parts.row((self.what, self.compare), "tl-asked")
        right = parts.box((self._title, asked, self._found, self.undo), "tl-version")
        self.widget = parts.row((left, right), "tl-body", "tl-history")

    def update(self, shown: "Shown") -> None:
        """Show the versions that there are now; the one that is picked stays picked."""
        self._now = shown.now
        records = self.panel.store.history(self.limit + 1)
        more = len(records) > self.limit
        self.records = records[: self.limit]
        options = [(self._line(record), record.version) for record in self.records]
        picked = self.list.value
        self._setting = True
        try:
            if tuple(options) != tuple(self.list.options):
                self.list.options = options
                versions = [record.version for record in self.records]
                self.list.value = picked if picked in versions else versions[0]
                self.compare.options = [self._named(record) for record in self.records]
            made = self.records[0].version.partition("-")[0] if more else len(self.records)
            told = f"Versions, newest first ({len(self.records)} of {made})"
            if self.list.description != told:
                self.list.description = told
        finally:
            self._setting = False
        put(self._more, [self.more] if more else [])
        self._show()

    # --- inside ------------------------------------------------------------------------------

    def _line(self, record: Record) -> str:
        who = WHO[record.actor].removeprefix("the ")
        return f"{clock(record.time, self._now):>5} {who:11} {clip(record.subject, 80)}"

    def _named(self, record: Record) -> str:
        return f"{record.version} · {clip(record.subject, 60)}"

    def _picked(self) -> None:
        if not self._setting:
            self._show()

    def _step(self, by_rows: int) -> None:
        versions = [record.version for record in self.records]
        at = versions.index(self.list.value) + by_rows
        if 0 <= at < len(versions):
            self.list.value = versions[at]

    def _show_more(self) -> None:
        self.limit += PAGE
        self.panel.refresh()

    def _record(self) -> Record:
        return next(r for r in self.records if r.version == self.list.value)

    def _undo(self) -> None:
        self.panel.carry_out("undo", self._record().version)

    def _show(self) -> None:
        record = self._record()
        at = self.records.index(record)
        self.newer.disabled, self.older.disabled = at == 0, at == len(self.records) - 1
        self.undo.description = verb("undo", record.version)
        self.undo.disabled = not record.parents
        day = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.time))
        said = f"version {record.version} · {day} by {by(record)}"
        say(self._title, f"<h3>{inline(record.subject)}</h3><p><small>{escape(said)}</small></p>")
        then = self.panel.store.at(record.version)
        if self.what.value == AS_IT_WAS:
            say(self._found, _as_it_was(then, record))
            return
        try:
            say(self._found, self._differences(then, record))
        except NotFoundError as error:  # what was typed to compare with is no version
            warning = inline(typed_here(str(error)))
            say(self._found, f'<p class="tl-warning" role="alert">{warning}</p>')

    def _differences(self, then: Snapshot, record: Record) -> str:
        """What changed since the version to compare with; the one before when none is given."""
        wanted = self.compare.value.split(" ")[0]
        if not wanted and not record.parents:
            return f"<p><small>The first version.</small></p>{differing(Ledger(), then.ledger)}"
        before = self.panel.store.at(wanted or record.parents[0])
        first, last = before, then
        if wanted and int(before.version.split("-")[0]) > int(then.version.split("-")[0]):
            first, last = then, before
        found = changes(first.ledger, last.ledger)
        since = f"{count(len(found), 'change')} from {first.version} to {last.version}"
        return f"<p><small>{since}</small></p>{differing(first.ledger, last.ledger)}"


def _as_it_was(then: Snapshot, record: Record) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(record.time))
    said = f"The ledger as it was at {when}. Nothing here can be edited."
    view = LedgerView(then.ledger, then.version, when=record.time).shown().inside
    return f"<p><small>{said}</small></p><div class='tl-was'>{view}</div>"


def differing(before: Ledger, after: Ledger) -> str:
    """HTML of what differs between two versions, entry by entry, with words marked."""
    found = changes(before, after)
    if not found:
        return '<p class="tl-empty">Nothing differs.</p>'
    return "".join(f'<div class="tl-change">{_change(c, before, after)}</div>' for c in found)


def _change(change: Change, before: Ledger, after: Ledger) -> str:
    head = f"<small><code>{change.name}</code> {change.what}</small><br>"
    if change.name == "Goal":
        return head + marked(before.goal, after.goal)
    old, new = before.get(change.name), after.get(change.name)
    if old is None and new is None:
        return head + inline(change.text)
    if old is None or new is None:
        text = new.text if new is not None else old.text if old is not None else ""
        sign = ("{+", "+}") if new is not None else ("[-", "-]")
        return head + marks(f"{sign[0]}{text}{sign[1]}")
    lines = [marked(old.text, new.text)]
    lines += [
        f"<small>{LABELS.get(name, name)}</small> {marked(getattr(old, name), getattr(new, name))}"
        for name in change.fields
        if name not in ("text", "origin", *views.UNSAID)
    ]
    return head + "<br>".join(lines)
