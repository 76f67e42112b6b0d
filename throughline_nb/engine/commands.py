"""The ``/tl`` commands that read or change a ledger, each defined once.

Those that begin, end, name or remove a project stand in :mod:`throughline_nb.engine.lifecycle`;
both enter the same registry. A command works the same in a chat, a notebook and at the command
line: the :class:`~throughline_nb.engine.run.Run` says where it is.
"""

from throughline_nb.engine import views
from throughline_nb.engine.registry import Registry
from throughline_nb.engine.run import Reply, Run
from throughline_nb.ledger import edits
from throughline_nb.ledger.delta import clip, summary

COMMANDS = Registry("command")


@COMMANDS.add("project")
def goal(run: Run, text: str) -> Reply:
    """Set the goal: what the project must produce.

    Args:
        text: The goal, one paragraph.
    """
    edited, _ = run.change(lambda ledger, by: edits.set_goal(ledger, text, by))
    return Reply(f"{edited.sentence}.")


@COMMANDS.add("project")
def constraint(run: Run, text: str) -> Reply:
    """Add a rule that holds for this project; only you can set one.

    Args:
        text: The rule, one sentence.
    """
    edited, _ = run.change(lambda ledger, by: edits.constrain(ledger, text, by))
    return Reply(f"{edited.sentence}.")


@COMMANDS.add("project")
def accept(run: Run, ident: str) -> Reply:
    """Accept a proposal of the model, or confirm a suspect decision.

    Args:
        ident: Id of the proposal or decision, such as P1.
    """
    edited, _ = run.change(lambda ledger, by: edits.accept(ledger, ident, by))
    return Reply(f"{edited.sentence}.")


@COMMANDS.add("project")
def reject(run: Run, ident: str) -> Reply:
    """Reject a proposal of the model.

    Args:
        ident: Id of the proposal, such as P1.
    """
    edited, _ = run.change(lambda ledger, by: edits.reject(ledger, ident, by))
    return Reply(f"{edited.sentence}.")


@COMMANDS.add("project")
def status(run: Run) -> Reply:
    """Show where the project stands: goal, plan, findings, decisions, questions, health."""
    run.absorb()
    snapshot = run.project.read()
    if run.state is not None:
        run.state.due = True
    health = run.engine.health(run.project, snapshot.ledger)
    return Reply(
        f"Status of {snapshot.ledger.project}.",
        views.status(snapshot.ledger, snapshot.version, health),
    )


@COMMANDS.add("project")
def log(run: Run, n: int = 0) -> Reply:
    """Show the latest changes, one line each, newest first.

    Args:
        n: How many; as many as the setting says when left out.
    """
    run.absorb()
    count = n if n > 0 else run.engine.settings(run.key).versions_shown
    records = run.project.history(count)
    return Reply(f"The latest {len(records)} changes of {run.project.slug}.", views.log(records))


@COMMANDS.add("project")
def diff(run: Run, version: str = "") -> Reply:
    """Show what changed since a version, entry by entry, with words marked.

    Args:
        version: A version from the log, such as 42-7c1e; the one before the last change when left
            out.
    """
    run.absorb()
    now = run.project.read()
    if not version:
        records = run.project.history(2)
        version = records[-1].version
    then = run.project.at(version)
    text = views.diff(then.ledger, now.ledger)
    return Reply(f"Changes from {then.version} to {now.version}.", text or "Nothing differs.")


@COMMANDS.add("project")
def undo(run: Run, version: str = "") -> Reply:
    """Take back the newest change that is not undone yet; what came after it stays.

    Again goes further back. The version of an undo brings back what it took away.

    Args:
        version: A version from the log, to take back that change instead.
    """
    run.absorb()
    undone = run.project.undo(version or None, run.stamp())
    if run.state is not None:
        run.state.changed = run.turn
    text = f"Undone: {clip(undone.record.subject)} ({undone.record.version})"
    effect = summary(undone.changes)
    notes = "".join(f" {notice}" for notice in undone.notices)
    return Reply(f"{text}. {effect[:1].upper()}{effect[1:]}.{notes}" if effect else f"{text}.{notes}")


@COMMANDS.add("project")
def purge(run: Run, ident: str) -> Reply:
    """Remove an entry for good, from the ledger and from its whole history.

    For a secret or a private fact. It is said twice: the first time it tells what it rewrites.

    Args:
        ident: Id of the entry, such as F12.
    """
    run.absorb()
    return run.engine.purge(run, ident)


@COMMANDS.add()
def doctor(run: Run) -> Reply:
    """Check git, the home, the settings and the project; say each problem and its cure."""
    from throughline_nb.engine.doctor import report  # noqa: PLC0415 - rarely needed, and not small

    problems, facts = report(run.engine, run.bound, run.key)
    many = f"{len(problems)} problem{'s' * (len(problems) != 1)} found."
    return Reply(many if problems else "No problems found.", "\n".join([*problems, *facts]))


@COMMANDS.add()
def help_(run: Run, command: str = "") -> Reply:
    """Show the commands, or one of them in full.

    Args:
        command: Name of a command.
    """
    if command:
        operation = COMMANDS.get(command.removeprefix("/tl").strip())
        lines = [f"/tl {operation.usage}", operation.help]
        lines += [operation.details] if operation.details else []
        lines += [f"  {param.name}: {param.help}" for param in operation.params]
        return Reply(f"Help for {operation.name}.", "\n".join(lines))
    wide = max(len(operation.usage) for operation in COMMANDS) + 4
    lines = [f"{'/tl ' + operation.usage:{wide}}  {operation.help}" for operation in COMMANDS]
    return Reply("The commands of throughLine.", "\n".join(lines))
