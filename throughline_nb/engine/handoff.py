"""``/tl handoff``: a file from which a person or another model can go on without the chat."""

from throughline_nb.engine.registry import COMMANDS
from throughline_nb.engine.run import Reply, Run


@COMMANDS.add("project")
def handoff(run: Run) -> Reply:
    """Write handoff.md, from which somebody else can go on: brief, ledger, evidence, history."""
    run.absorb()
    kept = write_handoff(run)
    also = f" Your own edit of it is kept as {kept}." if kept else ""
    return Reply(f"Written: {run.project.path / 'handoff.md'}.{also}")


def text_of(run: Run, *, live: bool = True) -> str:
    """The text of the file, as it would be written now.

    Args:
        run: The run.
        live: Whether passages may be cut from the history that came with the turn.
    """
    from throughline_nb.engine.evidence import evidence_for  # noqa: PLC0415 - the help needs none
    from throughline_nb.engine.handoff_text import CHANGES, handoff_text  # noqa: PLC0415

    project = run.project
    now = project.read()
    records = project.history(CHANGES + 1)
    standing = [entry for entry in now.ledger.findings if not entry.retracted]
    health = run.engine.health(project, now.ledger)
    evidence = evidence_for(run, standing, live=live)
    return handoff_text(now, health, evidence, records, run.now)


def write_handoff(run: Run, *, live: bool = True) -> str:
    """Write the file and commit it.

    Args:
        run: The run.
        live: Whether passages may be cut from the history that came with the turn.

    Returns:
        Name of the file in which an edit by hand was kept; empty where there was none.
    """
    return run.project.write_handoff(text_of(run, live=live).encode("utf-8"), run.stamp())
