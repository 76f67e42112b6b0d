"""The ``/tl`` commands that begin, open, list, leave or name a project."""

import time

from throughline_nb.engine.naming import title_of
from throughline_nb.engine.registry import COMMANDS, UsageError
from throughline_nb.engine.run import Reply, Run
from throughline_nb.ledger import Ledger
from throughline_nb.ledger.inline import one_line
from throughline_nb.store.names import slug


@COMMANDS.add()
def start(run: Run, goal: str = "") -> Reply:
    """Start a new project here; in a chat that has one, the new one takes its place.

    Args:
        goal: What the project must produce.
    """
    goal = one_line(goal)
    title = title_of(goal) or f"project-{_day(run.now)}"
    old = run.bound.slug if run.bound else ""
    name = run.engine.projects.free_slug(title)
    sentence = f"Project started: {goal}" if goal else "Project started"
    project = run.engine.projects.create(
        name, Ledger(project=name, goal=goal), sentence, run.stamp()
    )
    _bind(run, project.slug)
    left = f" {old} is kept; /tl open {old} returns to it." if old and run.state else ""
    return Reply(f"Project {project.slug} started.{left}", name=project.slug)


@COMMANDS.add()
def open_(run: Run, name: str) -> Reply:
    """Open a project in this chat; one in the trash is brought back.

    Args:
        name: Name of the project, as /tl list shows it.
    """
    from throughline_nb.store.cleanup import reopened  # noqa: PLC0415 - 40 ms of `--help`

    project = run.engine.projects.find(reopened(run.engine.projects, name))
    _bind(run, project.slug)
    ledger = project.read().ledger
    return Reply(
        f"Project {project.slug} is open here: {(ledger.goal or 'no goal yet').rstrip('.')}.",
        name=project.slug,
    )


@COMMANDS.add()
def list_(run: Run) -> Reply:
    """List all projects with their goal and position."""
    return Reply("All projects.", run.engine.listing())


@COMMANDS.add("chat")
def off(run: Run) -> Reply:
    """Stop here: unbind this chat and start nothing in it by itself.

    A project that started by itself and is still empty is deleted.
    """
    _, state = run.chat
    project, automatic = run.bound, state.automatic
    run.engine.unbind(state)
    state.off = True
    if project is None:
        return Reply("throughLine stays off in this chat; /tl start turns it on.")
    if automatic and project.read().ledger.empty:
        run.engine.projects.delete(project.slug)
        return Reply(f"throughLine is off in this chat; {project.slug}, still empty, is deleted.")
    return Reply(f"throughLine is off in this chat; project {project.slug} is kept.")


@COMMANDS.add("project")
def rename(run: Run, name: str) -> Reply:
    """Give the project another name.

    Args:
        name: The new name.
    """
    run.absorb()
    old = run.project.slug
    new = slug(name)
    if new == old:
        return Reply(f"The project is already named {old}.")
    if run.engine.projects.exists(new):
        raise UsageError(f"There is a project {new} already; {old} keeps its name.")
    chats = run.engine.chats.bound(old)
    run.engine.projects.rename(old, new, run.stamp())
    for key in chats:
        run.engine.rebind(key, new)
    if run.state is not None:
        run.state.project = new
    return Reply(f"Project {old} is now named {new}.", name=new)


def _bind(run: Run, name: str) -> None:
    if run.state is not None:
        run.engine.bind(run.state, name)


def _day(seconds: float) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(seconds))
