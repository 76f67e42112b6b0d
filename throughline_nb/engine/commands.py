"""The ``/tl`` commands that read or change a ledger, each defined once.

A command works the same in a chat, a notebook and at the command line: the
:class:`~throughline_nb.engine.run.Run` says where it is.
"""

from throughline_nb.engine import views
from throughline_nb.engine.registry import COMMANDS
from throughline_nb.engine.run import Reply, Run
from throughline_nb.ledger import edits
from throughline_nb.ledger.delta import clip, stated, summary


@COMMANDS.add("project")
def goal(run: Run, text: str) -> Reply:
    """Set the goal: what the project must produce.

    Args:
        text: The goal, one paragraph.
    """
    edited, _ = run.change(lambda ledger, by: edits.set_goal(ledger, text, by))
    return Reply(stated(edited.sentence))


@COMMANDS.add("project")
def constraint(run: Run, text: str) -> Reply:
    """Add a rule that holds for this project; only you can set one.

    Args:
        text: The rule, one sentence.
    """
    edited, _ = run.change(lambda ledger, by: edits.constrain(ledger, text, by))
    return Reply(stated(edited.sentence))


@COMMANDS.add("project")
def accept(run: Run, id_: str) -> Reply:
    """Accept a proposal of the model, or confirm a suspect decision.

    A decision is suspect while something that it rests on was retracted or changed.

    Args:
        id: Id of the proposal or decision, such as P1.
    """
    edited, _ = run.change(lambda ledger, by: edits.accept(ledger, id_, by))
    return Reply(stated(edited.sentence))


@COMMANDS.add("project")
def reject(run: Run, id_: str) -> Reply:
    """Reject a proposal of the model.

    Args:
        id: Id of the proposal, such as P1.
    """
    edited, _ = run.change(lambda ledger, by: edits.reject(ledger, id_, by))
    return Reply(stated(edited.sentence))


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
    many = f"latest {len(records)} changes" if len(records) != 1 else "latest change"
    return Reply(
        f"The {many} of {run.project.slug}.",
        views.log(records, run.now, str(run.key) if run.key else ""),
    )


@COMMANDS.add("project")
def diff(run: Run, version: str = "") -> Reply:
    """Show what changed since a version, entry by entry, with words marked.

    Args:
        version: A version from the log, such as 42-7c1e; the one before the last change when left
            out.
    """
    run.absorb()
    now = run.project.read()
    then = run.project.at(version) if version else run.project.before_last_change()
    text = views.diff(then.ledger, now.ledger)
    return Reply(f"Changes from {then.version} to {now.version}.", text or "Nothing differs.")


@COMMANDS.add("project")
def undo(run: Run, version: str = "") -> Reply:
    """Take back the newest change that is not undone yet; what came after it stays.

    Said again, it goes further back. Given the version of an undo, it brings back what that took
    away.

    Args:
        version: A version from the log, to take back that change instead.
    """
    run.absorb()
    undone = run.project.undo(version or None, run.stamp())
    if run.state is not None:
        run.state.changed = run.turn
    done = f"Undone: {clip(undone.record.subject)} ({undone.record.version})."
    effect = summary(undone.changes)
    return Reply(" ".join([done, *([f"{effect}."] if effect else []), *undone.notices]))
