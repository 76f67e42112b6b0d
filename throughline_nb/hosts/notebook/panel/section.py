"""One list of entries: its heading, its rows in pages, the open editor between them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.hosts.notebook.ledger_view import state_of
from throughline_nb.hosts.notebook.panel.editor import Editor
from throughline_nb.hosts.notebook.panel.forms import AddForm
from throughline_nb.hosts.notebook.panel.parts import close_all, put, say, swap
from throughline_nb.hosts.notebook.panel.rows import KINDS, Row
from throughline_nb.hosts.notebook.panel.targets import target_of
from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.model import BY_ATTR, Attr

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

PAGE: Final = 25
"""Rows that are shown at first, and that are added each time."""

FILTERED: Final = 8
"""Findings from which on a filter is offered."""

EMPTY: Final = {
    "plan": "No steps yet. Add the first, or let the model plan.",
    "findings": "Nothing found yet. What the model records appears here, with its source.",
    "questions": "Nothing is blocking.",
    "decisions": "No decisions yet.",
    "constraints": "No rules yet. Constraints are yours alone.",
    "proposals": "",
}


class Section:
    """The entries of one section.

    Args:
        panel: The panel.
        attr: Which section.
    """

    def __init__(self, panel: "Panel", attr: Attr) -> None:
        parts = panel.parts
        self.panel = panel
        self.section = BY_ATTR[attr]
        self.rows: dict[str, Row] = {}
        self._gone: list[Row] = []
        self.limit = PAGE
        self.editor: Editor | None = None
        self.form: AddForm | None = None
        self._opened_from: Row | None = None
        self._head = parts.html()
        kind = self.section.kind
        self.add = parts.button(f"Add {kind}", self._open_form, "tl-quiet")
        self._form = parts.box()
        self._before, self._slot, self._after = parts.box(), parts.box(), parts.box()
        self._empty = parts.html()
        self.more = parts.button("", self._show_more, "tl-quiet", "tl-more")
        self.filter: w.Text | None = None
        head: list[w.Widget] = [self._head]
        if attr != "proposals":
            head.append(self.add)
        self._filter = parts.box((), "tl-filter")
        children = [
            parts.row(head, "tl-head"),
            self._form,
            self._filter,
            self._empty,
            self._before,
            self._slot,
            self._after,
            self._more_box(),
        ]
        self.widget = parts.box(children, "tl-section", f"tl-{attr}")

    @property
    def typing(self) -> bool:
        """Whether something is typed in a row that is not saved."""
        return any(row.typing for row in self.rows.values())

    def update(self, shown: "Shown") -> None:
        """Show the section as it is now."""
        self._shown = shown
        self._heading(shown.ledger)
        entries = self._ordered(shown.ledger)
        open_id = self.editor.target.name if self.editor is not None else ""
        at = next((n for n, entry in enumerate(entries) if entry.id == open_id), None)
        if at is not None:
            self.limit = max(self.limit, at + 1)
        visible = entries[: self.limit]
        rows = [self._row(entry, shown) for entry in visible if entry.id != open_id]
        if at is None and self.editor is not None:  # it is gone: the editor stays where it was
            at = min(len(self._before.children), len(rows))
        widgets = [row.widget for row in rows]
        split = at if at is not None else self._split(widgets)
        put(self._before, self._kept(widgets[:split]))
        put(self._after, widgets[split:])
        while self._gone:
            close_all(self._gone.pop().widget)
        if self.editor is not None:
            self.editor.follow(shown)
        self._below(len(entries), len(visible))

    def edit(self, ident: str) -> None:
        """Open the editor of an entry in the place of its row."""
        target = target_of(ident, self._shown.ledger)
        if target is None:
            self.panel.tell(f"{ident} is no longer there.")
            return
        self.close()
        self._opened_from = self.rows.get(ident)
        self.editor = Editor(self.panel, target, self._shown, self.close)
        put(self._slot, [self.editor.widget])
        self.update(self._shown)

    def close(self) -> None:
        """Close the editor; the focus goes back to where it was opened."""
        if self.editor is None:
            return
        self.editor = None
        swap(self._slot, ())
        self.update(self._shown)
        if self._opened_from is not None and self._opened_from.ident in self.rows:
            self.panel.focus(self._opened_from.edit)

    # --- inside ------------------------------------------------------------------------------

    def _split(self, widgets: list[w.Widget]) -> int:
        """Where the rows part when no editor is open: where they did, so that few move."""
        after = set(self._after.children)
        return next((n for n, each in enumerate(widgets) if each in after), len(widgets))

    def _heading(self, ledger: Ledger) -> None:
        entries = ledger.list(self.section.attr)
        if self.section.attr == "proposals":
            say(self._head, "")
            return
        count = str(len(entries))
        if self.section.attr == "plan":
            count = f"{sum(step.status == 'done' for step in entries)} of {len(entries)} done"
        if self.section.attr == "questions":
            count = str(sum(not entry.answer for entry in entries) or "")
        small = f" <small>{count}</small>" if entries and count else ""
        say(self._head, f"<h3>{self.section.title}{small}</h3>")

    def _ordered(self, ledger: Ledger) -> list[Entry]:
        entries: Sequence[Entry] = ledger.list(self.section.attr)
        if self.section.attr in ("findings", "decisions"):
            entries = entries[::-1]
        if self.section.attr == "questions":
            entries = self._questions(entries)
        if self.section.attr == "findings":
            entries = self._filtered(entries)
        return list(entries)

    def _questions(self, entries: Sequence[Entry]) -> list[Entry]:
        """Open ones first; while an answer is being typed, each stays where it is."""
        order = sorted(entries, key=lambda entry: bool(entry.answer))
        if not self.typing:
            return order
        at = {ident: n for n, ident in enumerate(self.rows)}
        return sorted(order, key=lambda entry: at.get(entry.id, len(at)))

    def _filtered(self, entries: Sequence[Entry]) -> Sequence[Entry]:
        if self.filter is None and len(entries) >= FILTERED:
            self.filter = self.panel.parts.field(
                f"Filter {self.section.attr}", hint="words, a source, or a state such as stale"
            )
            self.panel.parts.on_change(self.filter, lambda _: self.update(self._shown))
            put(self._filter, [self.filter])
        words = self.filter.value.casefold().split() if self.filter is not None else []
        if not words:
            return entries
        return [entry for entry in entries if _fits(entry, words)]

    def _row(self, entry: Entry, shown: "Shown") -> Row:
        row = self.rows.get(entry.id)
        if row is None:
            row = self.rows[entry.id] = KINDS[self.section.attr](self.panel, entry, shown)
        else:
            row.update(entry, shown)
        return row

    def _kept(self, widgets: list[w.Widget]) -> list[w.Widget]:
        """The rows; one that is gone stays, hidden, while an answer is being typed behind it."""
        gone = [row for ident, row in self.rows.items() if self._shown.ledger.get(ident) is None]
        if not self.typing:
            for row in gone:
                del self.rows[row.ident]
                self._gone.append(row)
            return widgets
        for row in gone:
            row.mark("tl-hidden")
            if row.widget in self._before.children:
                widgets.insert(self._before.children.index(row.widget), row.widget)
        return widgets

    def _below(self, count: int, visible: int) -> None:
        attr = self.section.attr
        nothing = EMPTY[attr]
        if self.filter is not None and self.filter.value.strip():
            nothing = f"No {self.section.kind} fits the filter."
        say(self._empty, "" if count else f'<p class="tl-empty">{nothing}</p>')
        left = count - visible
        self.more.description = (
            f"Show {min(left, PAGE)} more {self.section.kind}s" if left > 0 else ""
        )
        put(self._rest, [self.more] if left > 0 else [])

    def _more_box(self) -> w.Box:
        self._rest = self.panel.parts.box()
        return self._rest

    def _show_more(self) -> None:
        self.limit += PAGE
        self.update(self._shown)

    def _open_form(self) -> None:
        self.form = AddForm(self.panel, self.section.kind, self._close_form)
        swap(self._form, [self.form.widget])

    def _close_form(self) -> None:
        self.form = None
        swap(self._form, ())
        self.panel.focus(self.add)


def _fits(entry: Entry, words: Sequence[str]) -> bool:
    said = f"{entry.text} {entry.source} {state_of(entry)} {entry.note}".casefold()
    return all(word in said or word == entry.id.casefold() for word in words)
