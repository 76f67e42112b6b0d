"""The demo's end: the project is shared through a folder, and a second machine works on it, too."""

from pathlib import Path

from throughline_nb.engine.session import Engine
from throughline_nb.engine.sharing import cloned
from throughline_nb.hosts.replay import Screen
from throughline_nb.store.home import Home

PROJECT = "llm-runtimes"


def two_machines(engine: Engine, screen: Screen, folder: Path) -> None:
    """Share, clone, change on both sides, sync."""
    screen.heading("Shared: a second machine takes the project, and both work on it")
    other = Engine(Home(folder / "second-machine"), engine.clock)
    remote = folder / "team-drive"

    def typed(here: Engine, line: str) -> None:
        reply = here.command(line, project=PROJECT)
        who = "you" if here is engine else "other"
        screen.labelled(who, f"/tl {line}".replace(str(folder), "…"), "33")
        screen.labelled("", reply.text.replace(str(folder), "…"))
        if line.startswith("share") and reply.shown:
            screen.block(reply.shown.replace(str(folder), "…"))

    typed(engine, f"share {remote}")
    typed(engine, f"share {remote}")
    screen.labelled("other", "throughline-nb clone …/team-drive", "33")
    screen.labelled("", cloned(other, str(remote)).text)
    typed(engine, "constraint Only runtimes with a release in 2026")
    typed(other, "constraint Name the licence of each runtime")
    typed(other, "sync")
    typed(engine, "sync")
    typed(other, "sync")
    ledgers = [each.projects.find(PROJECT).read().ledger for each in (engine, other)]
    same = "equal" if ledgers[0] == ledgers[1] else "different"
    screen.labelled("ledgers", f"{same} on both machines")
