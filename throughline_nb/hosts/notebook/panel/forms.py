"""The form to add an entry: what it asks for are arguments of the operation that records one."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from throughline_nb.hosts.notebook.panel.parts import focus, label_of
from throughline_nb.hosts.notebook.panel.words import hint

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.shell import Panel

_ASKED: Final = {
    "step": [("ledger_plan", name) for name in ("text", "note", "after")],
    "finding": [("ledger_record", name) for name in ("text", "source")],
    "decision": [("ledger_record", name) for name in ("text", "reason", "because")],
    "question": [("ledger_record", "text")],
    "constraint": [("ledger_record", "text")],
}
"""What is asked for when an entry is added: operation and argument."""


class AddForm:
    """The form to add an entry: the arguments of the operation that records one.

    Args:
        panel: The panel.
        kind: What is added, such as ``finding``.
        close: Called when it is done with.
    """

    def __init__(self, panel: "Panel", kind: str, close: Callable[[], None]) -> None:
        parts = panel.parts
        self.panel = panel
        self.kind = kind
        self._close = close
        self.fields = {
            name: parts.field(
                label_of(name, kind), lines=2 if name == "text" else 1, hint=hint(tool, name)
            )
            for tool, name in _ASKED[kind]
        }
        self.save = parts.button(f"Save {kind}", self._save, "tl-primary")
        self.cancel = parts.button(f"Cancel {kind}", close)
        self.widget = parts.box(
            (*self.fields.values(), parts.row((self.save, self.cancel), "tl-actions")),
            "tl-editor",
        )
        focus(self.fields["text"])

    def _save(self) -> None:
        given = {name: str(field.value) for name, field in self.fields.items() if field.value}
        if self.kind == "step":
            self.panel.carry_out("plan", **given)
        elif self.kind == "constraint":
            self.panel.carry_out("constraint", given.get("text", ""))
        else:
            self.panel.carry_out("record", self.kind, **given)
        self._close()
