"""What is not in order, and the button that helps."""

from html import escape
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.engine.registry import COMMANDS
from throughline_nb.hosts.notebook.display import inline
from throughline_nb.hosts.notebook.panel.parts import put, say, swap
from throughline_nb.hosts.notebook.panel.words import count, readable, verb
from throughline_nb.hosts.notebook.style import SHAPES
from throughline_nb.ledger.health import Trouble

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

PAGE: Final = 25

_LOOKS: Final = {"no source": "unverified", "waiting": "stale", "plan": "unverified"}
"""States of trouble that look as a state of an entry does."""


class HealthPage:
    """One row for each thing that needs a look.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self.limit = PAGE
        self._rows: dict[Trouble, w.Box] = {}
        self._head = parts.html()
        self._list = parts.box((), "tl-troubles")
        self.more = parts.button("", self._show_more, "tl-quiet")
        self._more = parts.box()
        self._foot = parts.html()
        self.doctor = parts.button(verb("doctor"), self._doctor, tip=COMMANDS.get("doctor").help)
        self._report = parts.html()
        self.widget = parts.box(
            (self._head, self._list, self._more, self._foot,
             parts.row((self.doctor,), "tl-actions"), self._report),
            "tl-page",
        )  # fmt: skip

    def update(self, shown: "Shown") -> None:
        """Show what is wrong now."""
        found = shown.troubles
        many = f" <small>{len(found)}</small>" if found else ""
        say(self._head, f"<h3>{'Needs a look' if found else 'All is well'}{many}</h3>")
        visible = found[: self.limit]
        for trouble in visible:
            if trouble not in self._rows:
                self._rows[trouble] = self._row(trouble, shown)
        self._rows = {trouble: self._rows[trouble] for trouble in visible}
        swap(self._list, self._rows.values())
        left = len(found) - len(visible)
        self.more.description = f"Show {min(left, PAGE)} more" if left else ""
        put(self._more, [self.more] if left else [])
        standing = [entry for entry in shown.ledger.findings if not entry.retracted]
        sound = sum(entry.state == "verified" and not entry.missing for entry in standing)
        said = f"{sound} of {count(len(standing), 'finding')} verified." if standing else ""
        say(self._foot, f"<p><small>{said}</small></p>")

    # --- inside ------------------------------------------------------------------------------

    def _row(self, trouble: Trouble, shown: "Shown") -> w.Box:
        entry = shown.ledger.get(trouble.id) if trouble.id else None
        looks = _LOOKS.get(trouble.state, trouble.state)
        shape = f'<span aria-hidden="true">{SHAPES.get(looks, "")}</span>'
        about = f" <small>{inline(entry.text)}</small>" if entry is not None else ""
        text = (
            f'<span class="tl-state"><em class="tl-{looks.replace(" ", "-")}">{shape} '
            f"{trouble.state}</em></span><code>{trouble.id}</code>"
            f'<div class="tl-text">{inline(trouble.why)}{about}</div>'
        )
        return self.panel.parts.row(
            (self.panel.parts.html(text), *self._help(trouble, shown)), "tl-row", "tl-health"
        )

    def _help(self, trouble: Trouble, shown: "Shown") -> list[w.Widget]:
        """The button that helps."""
        parts, panel, ident = self.panel.parts, self.panel, trouble.id
        if trouble.state == "suspect":
            return [
                parts.button(
                    f"Confirm {ident}",
                    lambda: panel.carry_out("accept", ident),
                    tip=COMMANDS.get("accept").help,
                )
            ]
        if trouble.state == "not read":
            retract = {"id": ident, "retract": True}
            return [parts.button(f"Retract {ident}", lambda: panel.carry_out("record", **retract))]
        if trouble.state == "waiting":
            return [parts.button(f"Answer {ident}", lambda: panel.ledger.answer(ident))]
        if trouble.state == "plan" and not ident:
            step = shown.current
            if step is None:
                return []
            begin = {"step": step.id, "status": "doing"}
            return [parts.button(f"Begin {step.id}", lambda: panel.carry_out("plan", **begin))]
        word = "Update" if trouble.state == "stale" else "Edit"
        return [parts.button(f"{word} {ident}", lambda: panel.ledger.edit(ident))]

    def _show_more(self) -> None:
        self.limit += PAGE
        self.panel.refresh()

    def _doctor(self) -> None:
        done = self.panel.command("doctor")
        say(
            self._report,
            f"<p>{inline(readable(done.text))}</p><pre>{escape(done.shown)}</pre>",
        )
