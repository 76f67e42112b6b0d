"""The ``/tl`` commands that remove for good, check, and explain."""

from throughline_nb.engine.registry import COMMANDS, UsageError, shown
from throughline_nb.engine.run import Reply, Run
from throughline_nb.errors import NotFoundError
from throughline_nb.ledger.model import is_id


@COMMANDS.add()
def forget(run: Run, name: str = "") -> Reply:
    """Delete this chat's project and its recall now, with all history. It is said twice.

    Args:
        name: Name of the project, given the second time to confirm.
    """
    if run.bound is None and run.key is not None and run.state is not None:
        if not run.engine.recalls.forget(run.key):
            raise UsageError("This chat has no project and no recall data; nothing was deleted.")
        run.state.recall, run.state.off, run.state.forgotten = False, True, True
        return Reply("What recall held of this chat is deleted; it starts no project by itself.")
    project = run.project
    chats = [key for key in run.engine.chats.bound(project.slug) if key != run.key]
    if name.strip() != project.slug:
        ledger = project.read().ledger
        also = f", and unbinds {len(chats)} other chat{'s' * (len(chats) != 1)}" if chats else ""
        kept = "; its remote keeps a copy" if project.remotes() else ""
        if run.key is not None and run.engine.recalls.holds(run.key):
            also += ", and what recall holds of this chat"
        return Reply(
            f"Nothing is deleted yet. This deletes project {project.slug} with "
            f"{sum(1 for _ in ledger.entries())} entries and its history{also}{kept}. "
            f"To do it: /tl forget {project.slug}"
        )
    run.engine.projects.delete(project.slug)
    for key in chats:
        run.engine.rebind(key, "")
    if run.state is not None and run.key is not None:
        run.engine.unbind(run.state)
        run.engine.recalls.forget(run.key)
        run.state.recall, run.state.off, run.state.forgotten = False, True, True
    return Reply(f"Project {project.slug} is deleted, with its history.")


@COMMANDS.add("project")
def purge(run: Run, id_: str) -> Reply:
    """Remove an entry for good, from the ledger and from its whole history.

    For a secret or a private fact. It is said twice: the first time it tells what it rewrites.

    Args:
        id: Id of the entry, such as F12.
    """
    from throughline_nb.store.asked import said_again  # noqa: PLC0415 - the help does not need it

    run.absorb()
    project, ident = run.project, id_.strip().strip("*[]().#`").upper()
    if not is_id(ident):
        raise UsageError(f"purge: id was {shown(id_)}; allowed: the id of an entry, such as F12.")
    found = project.mentions(ident)
    if not found:
        raise NotFoundError(f"{ident} stands nowhere in {project.slug} or its history.")
    if not said_again(project.repo.git, f"purge {ident}", run.now):
        kept = " Its remote keeps what it has." if project.remotes() else ""
        return Reply(
            f"Nothing is removed yet. This removes {ident} from {project.slug} and rewrites the "
            f"{found} versions of its history that hold it; they get new commit ids.{kept} "
            f"To do it, say it again: /tl purge {ident}"
        )
    without = project.without([ident])
    handed = (project.path / "handoff.md").is_file()
    project.purge([ident], run.stamp())
    keys = run.engine.chats.bound(project.slug)
    told = sum(run.engine.recalls.redact(key, without) for key in keys)
    run.engine.cells.redact(keys, ident, without)
    if handed and not (project.path / "handoff.md").exists():  # it held the entry
        from throughline_nb.engine.handoff import write_handoff  # noqa: PLC0415 - as above

        write_handoff(run, live=False)
    also = (
        f" It is taken out of {told} message{'s' * (told != 1)} that recall holds." if told else ""
    )
    return Reply(f"{ident} is removed from {project.slug} and from its whole history.{also}")


@COMMANDS.add()
def doctor(run: Run) -> Reply:
    """Check git, the home, the settings and the project; say each problem and its cure."""
    from throughline_nb.engine.doctor import report  # noqa: PLC0415 - rarely needed, not small

    problems, facts = report(run.engine, run.bound, run.key)
    many = f"{len(problems)} problem{'s' * (len(problems) != 1)} found."
    parts = ["\n".join(problems), "\n".join(facts)]
    return Reply(
        many if problems else "No problems found.", "\n\n".join(part for part in parts if part)
    )


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
    listed = [each for each in COMMANDS if run.key is not None or each.needs != "chat"]
    wide = max(len(each.usage) for each in listed) + 4
    lines = [f"{'/tl ' + each.usage:{wide}}  {each.help}" for each in listed]
    return Reply("The commands of throughLine.", "\n".join(lines))
