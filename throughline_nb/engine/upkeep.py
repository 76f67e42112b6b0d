"""The ``/tl`` commands that remove for good, check, and explain."""

from collections.abc import Callable

from throughline_nb.engine.registry import COMMANDS, UsageError, shown
from throughline_nb.engine.run import Reply, Run
from throughline_nb.errors import NotFoundError, StoreError
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

    For a secret or a private fact. It is said twice: the first time it tells what it rewrites. Its
    words also go from what recall holds of any chat, and stay out of recall and of handoffs when a
    chat that still has them is read again. Words that say the same in another way stay.

    Args:
        id: Id of the entry, such as F12.
    """
    from throughline_nb.store.asked import said_again  # noqa: PLC0415 - the help does not need it

    run.absorb()
    project, ident = run.project, id_.strip().strip("*[]().#`").upper()
    if not is_id(ident):
        raise UsageError(f"purge: id was {shown(id_)}; allowed: the id of an entry, such as F12.")
    found = project.mentions(ident)
    if not found and project.purged(ident):  # part of it may have failed, or was not there yet
        told = _out_of_copies(run, ident, run.engine.recalls.purged.without)
        return Reply(f"{ident} was removed from {project.slug} before.{_told(told)}")
    if not found:
        raise NotFoundError(f"{ident} stands nowhere in {project.slug} or its history.")
    if not said_again(project.repo.git, f"purge {ident}", run.now):
        kept = " Its remote keeps what it has." if project.remotes() else ""
        return Reply(
            f"Nothing is removed yet. This removes {ident} from {project.slug} and rewrites the "
            f"{found} versions of its history that hold it; they get new commit ids.{kept} "
            f"To do it, say it again: /tl purge {ident}"
        )
    redactor = project.redactor([ident])
    handed = (project.path / "handoff.md").is_file()
    run.engine.recalls.purged.add(
        redactor.texts
    )  # first: what a host hands in again is looked through
    project.purge([ident], run.stamp())
    told = _out_of_copies(run, ident, redactor.text)
    if handed and not (project.path / "handoff.md").exists():  # it held the entry
        from throughline_nb.engine.handoff import write_handoff  # noqa: PLC0415 - as above

        write_handoff(run, live=False)
    return Reply(f"{ident} is removed from {project.slug} and from its whole history.{_told(told)}")


def _out_of_copies(run: Run, ident: str, without: Callable[[str], str]) -> int:
    """Take a purged entry out of what is kept of chats: of any, since one may have been unbound.

    Returns:
        How many messages that recall holds had it.

    Raises:
        StoreError: It is not out of all of them; all others were done.
    """
    engine, told, failed = run.engine, 0, []
    for key in dict.fromkeys([*([run.key] if run.key else []), *engine.chats.kept()]):
        try:
            told += engine.recalls.redact(key, without)
        except StoreError as error:
            failed.append(f"{key} ({error})")
    engine.cells.redact(engine.chats.bound(run.project.slug), ident, without)
    if failed:
        raise StoreError(
            f"{ident} is removed from {run.project.slug}, but not from what recall holds of "
            f"{'; '.join(failed)}. To finish it: /tl purge {ident}"
        )
    return told


def _told(many: int) -> str:
    return f" It is taken out of {many} message{'s' * (many != 1)} that recall holds." * bool(many)


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
