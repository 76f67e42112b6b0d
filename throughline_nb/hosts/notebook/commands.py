"""A typed command, executed and shown; and the commands that a notebook alone has."""

from typing import TYPE_CHECKING, Final

import msgspec

from throughline_nb.engine.operations import COMMANDS
from throughline_nb.engine.registry import Registry
from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.binding import Here, here, plain_errors
from throughline_nb.hosts.notebook.display import Shown, of_reply
from throughline_nb.hosts.notebook.ledger_view import LedgerView

if TYPE_CHECKING:
    from throughline_nb.hosts.notebook.panel.shell import Panel

OWN: Final = Registry("command")
"""Commands of notebooks alone; what they give is displayed."""


@OWN.add()
def panel(this: Here, name: str = "") -> "Panel":  # noqa: D417 - who runs it is not typed
    """Show the panel: see, edit and steer the ledger, its history and its health.

    Args:
        name: Name of a project; that of this notebook, whatever it becomes, when left out.
    """
    from throughline_nb.hosts.notebook.api import OpenProject  # noqa: PLC0415 - ipywidgets: 100 ms
    from throughline_nb.hosts.notebook.panel.shell import Panel  # noqa: PLC0415

    return Panel(OpenProject(this.engine.projects.find(name).slug) if name else None)


def typed(line: str) -> "Shown | Panel":
    """Execute what was typed behind ``%tl``.

    Args:
        line: The command and its text; empty is ``status`` in a bound notebook, else ``help``.

    Raises:
        ThroughLineError: It did not work; the text says why, in one line.
    """
    with plain_errors():
        this = here()
        words = line.split(maxsplit=1)
        if words and words[0].lower() in OWN:
            operation = OWN.get(words[0].lower())
            own: Panel = operation.run(this, *operation.parsed("".join(words[1:])).values())
            return own
        reply = this.command(line)
        name = (line.split(maxsplit=1) or ["status" if this.project else "help"])[0].lower()
        told = this.to_tell()
        if name == "status":
            return status(told)
        if name == "help":
            return commands(reply, told, line)
        return of_reply(reply, told, marked=name == "diff", ours=name == "doctor")


def status(told: tuple[str, ...] = ()) -> Shown:
    """Where the notebook's project stands, in a card."""
    this = here()
    project = this.project
    assert project is not None  # noqa: S101 - the command would have said so
    now = project.read()
    view = LedgerView(now.ledger, now.version, this.engine.health(project, now.ledger))
    others = len(this.engine.chats.bound(project.slug)) - 1
    with_us = f"this notebook and {others} chat{'s' * (others != 1)}" if others > 0 else ""
    shown = view.card(" · ".join(filter(None, [with_us, "<code>%tl help</code> for the rest"])))
    if told:
        shown = Shown(
            "\n\n".join([" ".join(told), shown.plain]), "", shown.inside, shown.data, shown.id
        )
        notice = of_reply(Reply(" ".join(told)))
        shown.inside = notice.inside + shown.inside
    return shown


def commands(reply: Reply, told: tuple[str, ...], line: str) -> Shown:
    """The commands as a table, made from the registry."""
    own = "\n".join(f"/tl {each.usage:14}  {each.help}" for each in OWN)
    if len(line.split()) > 1:
        return of_reply(reply, told, ours=True)
    reply = msgspec.structs.replace(reply, shown=f"{reply.shown}\n{own}")
    shown = of_reply(reply, told, ours=True)
    from html import escape  # noqa: PLC0415 - only here

    rows = "".join(
        f"<tr><td><code>%tl {escape(each.usage)}</code></td><td>{escape(each.help)}</td></tr>"
        for each in (*COMMANDS, *OWN)
    )
    shown.inside = f"<p>{escape(reply.text)}</p><table>{rows}</table>"
    shown.markdown = "\n".join(
        ["| command | what it does |", "|---|---|"]
        + [f"| `%tl {each.usage}` | {each.help} |" for each in (*COMMANDS, *OWN)]
    )
    return shown
