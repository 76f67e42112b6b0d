"""Sharing through a git remote: there where the registry has the commands for it."""

from html import escape
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.engine.registry import COMMANDS, Operation
from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.display import rendered
from throughline_nb.hosts.notebook.panel.parts import say
from throughline_nb.hosts.notebook.panel.words import readable, verb

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

NAMES: Final = ("share", "sync")


def there() -> bool:
    """Whether this version can share."""
    return any(name in COMMANDS for name in NAMES)


class SharePage:
    """A form for each command of sharing, and the handoff.

    Args:
        panel: The panel.
    """

    def __init__(self, panel: "Panel") -> None:
        parts = panel.parts
        self.panel = panel
        self._remotes = parts.html()
        self.forms = [_CommandForm(panel, COMMANDS.get(name)) for name in NAMES if name in COMMANDS]
        handoff = COMMANDS.get("handoff")
        self.preview = parts.button("Preview handoff", self._preview, tip=handoff.help)
        self.write = parts.button(f"Write {handoff.name}", self._write, tip=handoff.help)
        self._text = parts.html()
        self.widget = parts.box(
            (self._remotes, *(form.widget for form in self.forms),
             parts.html(f"<h3>{readable(handoff.name)}</h3>"),
             parts.row((self.preview, self.write), "tl-actions"), self._text),
            "tl-page",
        )  # fmt: skip

    def update(self, _shown: "Shown") -> None:
        """Show the remotes that there are now."""
        names = self.panel.store.remotes()
        listed = "".join(f"<li><code>{escape(name)}</code></li>" for name in names)
        none = "<p class='tl-empty'>No remote yet: the project stays on this machine.</p>"
        say(self._remotes, f"<h3>Remotes</h3>{f'<ul>{listed}</ul>' if listed else none}")

    def _preview(self) -> None:
        from throughline_nb.engine.handoff import text_of  # noqa: PLC0415 - only when asked for

        reply = self.panel.p.do("", lambda run: Reply("", text_of(run)))
        say(self._text, f'<div class="tl-handoff">{rendered(reply.shown)}</div>')

    def _write(self) -> None:
        self.panel.carry_out("handoff")


class _CommandForm:
    """A command with a field for each of its arguments."""

    def __init__(self, panel: "Panel", operation: Operation) -> None:
        parts = panel.parts
        self.panel = panel
        self.operation = operation
        self.fields: dict[str, w.Text] = {
            param.name: parts.field(readable(param.name), hint=param.help)
            for param in operation.params
        }
        self.button = parts.button(verb(operation.name, "project"), self._run, "tl-primary")
        about = parts.html(f"<p>{escape(operation.help)}</p>")
        actions = parts.row((self.button,), "tl-actions")
        self.widget = parts.box((about, *self.fields.values(), actions), "tl-card-inside")

    def _run(self) -> None:
        given = [str(field.value) for field in self.fields.values() if field.value]
        reply = self.panel.command(" ".join([self.operation.name, *given]))
        self.panel.tell(" ".join(filter(None, [reply.text, reply.shown])))
