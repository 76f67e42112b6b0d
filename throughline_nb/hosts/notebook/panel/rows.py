"""Rows: one entry each, as it stands, with what can be done with it at once."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

import ipywidgets as w

from throughline_nb.engine.registry import COMMANDS
from throughline_nb.hosts.notebook.display import inline
from throughline_nb.hosts.notebook.ledger_view import below, state_of, trouble_of
from throughline_nb.hosts.notebook.panel.parts import say, swap
from throughline_nb.hosts.notebook.panel.words import WHO, plain, readable, turn_of, verb
from throughline_nb.hosts.notebook.style import SHAPES
from throughline_nb.ledger import Entry
from throughline_nb.ledger.health import QUESTION_TURNS
from throughline_nb.ledger.model import Attr

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

_QUIET: Final = ("todo", "done", "verified")
"""States that need no chip: the box or the dot says them."""


class Row:
    """One entry.

    Args:
        panel: The panel.
        entry: The entry as it is now.
        shown: What the panel shows.
    """

    kind: ClassVar[str] = "tl-finding"

    def __init__(self, panel: "Panel", entry: Entry, shown: "Shown") -> None:
        ident = entry.id
        self.panel = panel
        self.ident = ident
        self.turns = shown.open_turns.get(ident, 0)
        self.text = panel.parts.html(self.html(entry))
        self.edit = panel.parts.button(
            f"Edit {ident}", lambda: panel.ledger.edit(ident), "tl-quiet"
        )
        children = self.children(entry)
        self.widget: w.Box = panel.parts.row(children, *self.classes(entry, shown))

    def children(self, entry: Entry) -> tuple[w.Widget, ...]:  # noqa: ARG002 - other rows use it
        """What stands in the row, in the order in which it is read."""
        return self.text, self.edit

    def classes(self, entry: Entry, shown: "Shown") -> tuple[str, ...]:  # noqa: ARG002 - as above
        """Classes of the row."""
        return "tl-row", self.kind, *(("tl-dim",) if entry.retracted or entry.answer else ())

    @property
    def typing(self) -> bool:
        """Whether something is typed in the row that is not saved."""
        return False

    def update(self, entry: Entry, shown: "Shown") -> None:
        """Show the entry as it is now; what did not change is left alone."""
        self.turns = shown.open_turns.get(entry.id, 0)
        say(self.text, self.html(entry))
        self.mark(*self.classes(entry, shown))

    def html(self, entry: Entry) -> str:
        """The row without what can be clicked."""
        state = state_of(entry)
        glyph = (
            f'<span class="tl-g tl-{_class(state)}" aria-hidden="true">'
            f"{SHAPES.get(state, '')}</span>"
        )
        text = f"<s>{inline(entry.text)}</s>" if entry.retracted else inline(entry.text)
        said = " · ".join(filter(None, [_short(below(entry)), turn_of(entry)]))
        word = f'<em class="tl-{_class(state)}">{state}</em>' if state else ""
        return (
            f"{glyph}<code>{entry.id}</code>{_text(text, said, trouble_of(entry))}"
            f'<span class="tl-state">{word}</span>'
        )

    def mark(self, *classes: str) -> None:
        """Set the classes of the row."""
        if tuple(self.widget._dom_classes) != classes:  # noqa: SLF001 - add_class sends each alone
            self.widget._dom_classes = classes  # noqa: SLF001


class SideRow(Row):
    """A decision or constraint, in the narrow column: what is wrong with it is said below."""

    kind = "tl-side-row"

    def html(self, entry: Entry) -> str:
        """See :meth:`Row.html`."""
        text = _text(inline(entry.text), below(entry), trouble_of(entry))
        return f"<code>{entry.id}</code>{text}"


class StepRow(Row):
    """A step: a box to tick, whose label it is."""

    kind = "tl-step"

    def children(self, entry: Entry) -> tuple[w.Widget, ...]:
        """See :meth:`Row.children`."""
        self.done = self.panel.parts.checkbox(plain(entry.text), entry.status == "done")
        self._setting = False
        self.panel.parts.on_change(self.done, self._ticked)
        return self.done, self.text, self.edit

    def classes(self, entry: Entry, shown: "Shown") -> tuple[str, ...]:
        """See :meth:`Row.classes`."""
        dim, now = entry.status == "done", entry is shown.current
        return "tl-row", self.kind, *(("tl-dim",) if dim else ("tl-now",) if now else ())

    def update(self, entry: Entry, shown: "Shown") -> None:
        """See :meth:`Row.update`."""
        self._setting = True
        try:
            label = plain(entry.text)
            if self.done.description != label:
                self.done.description = label
            if self.done.value != (entry.status == "done"):
                self.done.value = entry.status == "done"
        finally:
            self._setting = False
        super().update(entry, shown)

    def html(self, entry: Entry) -> str:
        """See :meth:`Row.html`."""
        state = entry.status
        chip = ""
        if state and state not in _QUIET:
            shape = f'<span aria-hidden="true">{SHAPES.get(state, "")}</span>'
            chip = f'<em class="tl-{_class(state)}">{shape} {state}</em>'
        note = f'<small class="tl-below">{inline(entry.note)}</small>' if entry.note else ""
        return f'<code>{entry.id}</code>{note}<span class="tl-state">{chip}</span>'

    def _ticked(self, value: bool) -> None:
        if not self._setting:
            status = "done" if value else "todo"
            self.panel.told(self.panel.p.edit(self.ident, status=status))


class QuestionRow(Row):
    """A question: with a box for its answer while it is open."""

    kind = "tl-question"

    def children(self, entry: Entry) -> tuple[w.Widget, ...]:
        """See :meth:`Row.children`."""
        if entry.answer:
            self._answer = None
            return self.text, self.edit
        parts = self.panel.parts
        field = parts.field(f"Answer {self.ident}", hint="closes the question")
        save = parts.button(f"Save answer {self.ident}", self._save)
        self._answer = field, save
        return self.text, field, save, self.edit

    @property
    def typing(self) -> bool:
        """See :attr:`Row.typing`."""
        return self._answer is not None and bool(self._answer[0].value.strip())

    @property
    def answer(self) -> w.Text | None:
        """The field for the answer; None where there is an answer."""
        return self._answer[0] if self._answer is not None else None

    def update(self, entry: Entry, shown: "Shown") -> None:
        """See :meth:`Row.update`."""
        if bool(entry.answer) == (self._answer is not None):
            swap(self.widget, self.children(entry))
        super().update(entry, shown)

    def html(self, entry: Entry) -> str:
        """See :meth:`Row.html`."""
        said = [below(entry), f"asked in {turn_of(entry)}" if turn_of(entry) else ""]
        late = not entry.answer and self.turns > QUESTION_TURNS
        trouble = f"open for {self.turns} turns" if late else ""
        text = _text(inline(entry.text), " · ".join(filter(None, said)), trouble)
        return f"<code>{entry.id}</code>{text}"

    def _save(self) -> None:
        assert self._answer is not None  # noqa: S101 - its button was clicked
        self.panel.carry_out("resolve", self.ident, self._answer[0].value)


class ProposalRow(Row):
    """A proposal: the commands that settle it."""

    kind = "tl-proposal"

    def children(self, entry: Entry) -> tuple[w.Widget, ...]:  # noqa: ARG002 - see Row
        """See :meth:`Row.children`."""
        panel, ident = self.panel, self.ident
        settle = [
            panel.parts.button(
                verb(name, ident),
                partial(panel.carry_out, name, ident),
                *(("tl-primary",) if name == "accept" else ()),
                tip=COMMANDS.get(name).help,
            )
            for name in ("accept", "reject")
        ]
        return self.text, *settle, self.edit

    def html(self, entry: Entry) -> str:
        """See :meth:`Row.html`."""
        what, text = entry.proposes
        who = WHO.get(entry.by, "the model")
        head = [f"{entry.id}", f"{who} proposes a {what}", turn_of(entry)]
        reason = f"<small>{inline(entry.reason)}</small>" if entry.reason else ""
        said = readable(" · ".join(filter(None, head)))
        return f'<div class="tl-text"><small>{said}</small>{inline(text)}{reason}</div>'


KINDS: Final[Mapping[Attr, type[Row]]] = {
    "constraints": SideRow,
    "plan": StepRow,
    "findings": Row,
    "decisions": SideRow,
    "questions": QuestionRow,
    "proposals": ProposalRow,
}
"""The row of each section's entries."""


def _short(html: str) -> str:
    """Links shown without their scheme."""
    return html.replace(">https://", ">").replace(">http://", ">")


def _class(state: str) -> str:
    return state.replace(" ", "-")


def _text(text: str, said: str, trouble: str) -> str:
    more = f"<small>{said}</small>" if said else ""
    wrong = f'<small class="tl-trouble">{trouble}</small>' if trouble else ""
    return f'<div class="tl-text">{text}{more}{wrong}</div>'
