"""A typed command, executed and shown."""

from throughline_nb.engine.operations import COMMANDS
from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.binding import here, plain_errors
from throughline_nb.hosts.notebook.display import Shown, of_reply
from throughline_nb.hosts.notebook.ledger_view import LedgerView


def typed(line: str) -> Shown:
    """Execute what was typed behind ``%tl``.

    Args:
        line: The command and its text; empty is ``status`` in a bound notebook, else ``help``.

    Raises:
        ThroughLineError: It did not work; the text says why, in one line.
    """
    with plain_errors():
        this = here()
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
    shown = of_reply(reply, told, ours=True)
    if len(line.split()) > 1:
        return shown
    from html import escape  # noqa: PLC0415 - only here

    rows = "".join(
        f"<tr><td><code>%tl {escape(each.usage)}</code></td><td>{escape(each.help)}</td></tr>"
        for each in COMMANDS
    )
    shown.inside = f"<p>{escape(reply.text)}</p><table>{rows}</table>"
    shown.markdown = "\n".join(
        ["| command | what it does |", "|---|---|"]
        + [f"| `%tl {each.usage}` | {each.help} |" for each in COMMANDS]
    )
    return shown
