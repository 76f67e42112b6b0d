"""Sharing through a git remote: there where the registry has the commands for it."""

from html import escape
from typing import TYPE_CHECKING, Final

import ipywidgets as w

from throughline_nb.engine.registry import COMMANDS, Operation
from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.display import rendered
from throughline_nb.hosts.notebook.panel.parts import say
from throughline_nb.hosts.notebook.panel.words import ago, readable, verb
from throughline_nb.store.project import Project

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.pages import Shown
    from throughline_nb.hosts.notebook.panel.shell import Panel

NAMES: Final = ("share", "sync")


def there() -> bool:
    """Whether this version can share."""
    return any(name in COMMANDS for name in NAMES)


def distance(project: Project) -> tuple[str, tuple[str, ...]] | None:
    """The remote's address, and how far both sides are apart, in words; None where there is none.

    As of the last sync or fetch: nothing leaves this machine for it.
    """
    from throughline_nb.store.sharing import remotes  # noqa: PLC0415 - few projects are shared
    from throughline_nb.store.sharing.addresses import without_secret  # noqa: PLC0415 - as above

    git = project.repo.git
    url = remotes.urls(git).get(remotes.name_of(git), "")
    if not url:
        return None
    apart = remotes.apart(project.repo)
    counts = (("ahead", apart.ahead), ("behind", apart.behind)) if apart is not None else ()
    return without_secret(url), tuple(f"{many} {word}" for word, many in counts if many)


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

    def update(self, shown: "Shown") -> None:
        """Show where the project is shared, and how far both sides are apart."""
        from throughline_nb.store.sharing import memory  # noqa: PLC0415 - as in distance

        git = self.panel.store.repo.git
        found = distance(self.panel.store)
        if found is None:
            none = "<p class='tl-empty'>No remote yet: the project stays on this machine.</p>"
            say(self._remotes, f"<h3>Remote</h3>{none}")
            return
        url, apart = found
        chips = "".join(f" <em class='tl-unverified'>{each}</em>" for each in apart)
        last = memory.read(git)
        said = "not synced yet"
        if last is not None:
            said = f"last sync {ago(last.when, shown.now)}"
            said += f": {escape(last.error)}" if last.error else ""
        about = f"<p><b>{escape(url)}</b>{chips}</p><p><small>{said}</small></p>"
        say(self._remotes, f"<h3>Remote</h3>{about}")

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
        given = {name: str(field.value) for name, field in self.fields.items() if field.value}
        self.panel.carry_out(self.operation.name, **given)
