"""The ``/tl`` commands that share a project through a git remote or as one file, and cloning."""

from pathlib import Path
from typing import TYPE_CHECKING

from throughline_nb.engine.registry import COMMANDS
from throughline_nb.engine.run import Reply, Run
from throughline_nb.ledger.delta import summary
from throughline_nb.ledger.fence import neutral

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine
    from throughline_nb.store.sharing.syncing import Synced

BUNDLE = "--bundle"


@COMMANDS.add("project")
def share(run: Run, remote: str) -> Reply:
    """Share the project through a git remote; the first time it is said twice.

    The first time it tells what would leave this machine. `--bundle FILE` in place of the remote
    writes the project with its history into one file, for somebody without a server.

    Args:
        remote: A folder, an ssh address (user@host:path) or an https address; or --bundle FILE.
    """
    from throughline_nb.store.asked import said_again  # noqa: PLC0415 - the help does not need it
    from throughline_nb.store.sharing import starting  # noqa: PLC0415 - as above
    from throughline_nb.store.sharing.addresses import address  # noqa: PLC0415 - as above
    from throughline_nb.store.sharing.leaving import leaving  # noqa: PLC0415 - as above
    from throughline_nb.store.sharing.remotes import name_of, urls  # noqa: PLC0415 - as above
    from throughline_nb.store.sharing.transport import shown  # noqa: PLC0415 - as above

    file = _bundle(remote)
    if file is not None:
        return _write(run, file)
    place = address(remote)
    run.absorb()
    project, git = run.project, run.project.repo.git
    if urls(git).get(name_of(git)) == place.url:
        return _told(run, starting.share(project, place, run.stamp(), watch=run.engine.watch))
    found = starting.look(project, place, run.engine.watch)
    if not said_again(git, f"share {found.what} {place.url}", run.now):
        there = {
            "empty": "",
            "known": " The project is there already; both sides are merged.",
            "other": f" Another project is there, {neutral(found.name)}, with {found.entries} "
            "entries and no history in common: both would become one. To keep them apart, name an "
            "empty place.",
        }[found.what]
        moved = " It takes the place of the remote that there is." if name_of(git) else ""
        lines = "\n".join(f"  {line}" for line in leaving(project).lines)
        return Reply(
            f"Nothing is sent yet. This shares {project.slug} with {shown(place)}, and so with all "
            f"who can read there.{there}{moved} To do it, say it again: /tl share {shown(place)}",
            f"What would leave this machine:\n{lines}",
        )
    done = starting.share(
        project, place, run.stamp(), join=found.what == "other", watch=run.engine.watch
    )
    return _told(run, done)


@COMMANDS.add("project")
def sync(run: Run, source: str = "") -> Reply:
    """Exchange changes with the remote: fetch, merge by entry and field, push.

    Args:
        source: --bundle FILE merges a file that somebody sent, and sends nothing; nothing for the
            remote.
    """
    from throughline_nb.engine.registry import UsageError, shown  # noqa: PLC0415 - as in share
    from throughline_nb.store.sharing import bundles, syncing  # noqa: PLC0415 - as in share

    file = _bundle(source)
    if file is not None:
        return _told(
            run, bundles.take_bundle(run.project, file, run.stamp(), run.engine.watch), sent=False
        )
    if source:
        raise UsageError(f"sync: source was {shown(source)}; allowed: --bundle FILE, or nothing.")
    return _told(run, syncing.sync(run.project, run.stamp(), watch=run.engine.watch))


def cloned(engine: "Engine", text: str, name: str = "") -> Reply:
    """Take a project from a remote or a bundle.

    Args:
        engine: The engine.
        text: The remote's address, or the bundle's file.
        name: Name of the project here; its own if empty.

    Raises:
        ThroughLineError: It did not work; nothing was kept.
    """
    from throughline_nb.store.records import Stamp  # noqa: PLC0415 - as in share
    from throughline_nb.store.sharing.addresses import address  # noqa: PLC0415 - as in share
    from throughline_nb.store.sharing.cloning import clone  # noqa: PLC0415 - as in share

    stamp = Stamp(actor="user", now=engine.clock(), via="Command: /tl clone")
    made = clone(engine.projects, address(text), name, stamp, engine.watch)
    ledger = made.project.read().ledger
    many = sum(1 for _ in ledger.entries())
    told = " ".join(neutral(each) for each in made.notices)
    return Reply(
        f"Project {made.project.slug} is here, with {many} entr{'y' if many == 1 else 'ies'} and "
        f"its history: /tl open {made.project.slug} opens it in a chat.{told and f' {told}'}",
        name=made.project.slug,
    )


def _bundle(text: str) -> Path | None:
    """The file behind ``--bundle``, None where that is not what was typed."""
    from throughline_nb.store.sharing.bundles import bundle_path  # noqa: PLC0415 - as in share

    word, _, rest = text.strip().partition(" ")
    word, equals, value = word.partition("=")
    return bundle_path(f"{value} {rest}" if equals else rest) if word == BUNDLE else None


def _write(run: Run, file: Path) -> Reply:
    from throughline_nb.store.sharing.bundles import write_bundle  # noqa: PLC0415 - as in share
    from throughline_nb.store.sharing.leaving import leaving  # noqa: PLC0415 - as in share

    run.absorb()
    size, notices = write_bundle(run.project, file, run.stamp())
    run.told += notices
    lines = "\n".join(f"  {line}" for line in leaving(run.project).lines)
    amount = f"{size / 1000:,.0f} KB" if size < 10**6 else f"{size / 10**6:,.1f} MB"
    return Reply(
        f"{run.project.slug} is written to {file} ({amount}); who has the file takes it by "
        f"`throughline-nb clone`, or by /tl sync {BUNDLE} where the project is already.",
        f"What it holds:\n{lines}",
    )


def _told(run: Run, done: "Synced", *, sent: bool = True) -> Reply:
    """The line for the user, and what the chats that are bound have to hear."""
    for absorbed in done.absorbed:
        run.heard(absorbed)
    if done.came:
        news = f"Shared changes were merged: {summary(done.came)}"
        if done.renumbered:
            news += f" (renumbered: {', '.join(done.renumbered)})"
        _tell_chats(run, f"{news}.")
    line = done.line if sent else done.line.replace("Synced with", "Merged from", 1)
    return Reply(" ".join([neutral(line), *(neutral(each) for each in done.notices)]))


def _tell_chats(run: Run, news: str) -> None:
    """Have the next digest of every chat with the project say what came from elsewhere."""
    engine = run.engine
    for key in engine.chats.bound(run.project.slug):
        chat = engine.chat(key)
        if key == run.key and run.state is not None:
            run.state.due = True
        elif chat.lock.acquire(blocking=False):  # else its turn under way sees what changed
            try:
                state = engine.fresh(chat)
                state.due = True
                engine.keep(key, state)
            finally:
                chat.lock.release()
        chat.notices.append(news)
