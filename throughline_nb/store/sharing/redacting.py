"""What was removed for good here does not come back from a remote that still has it.

The remote's history is written again without the entry before it is let in. The rewriting gives the
same commits as the purge itself gave, so what both have in common is still common.
"""

from typing import TYPE_CHECKING

import msgspec

from throughline_nb.store import gitrun, purge
from throughline_nb.store.objects import LEDGER_FILE
from throughline_nb.store.purge import Rebuild
from throughline_nb.store.redact import Redactor
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing.incoming import Incoming

if TYPE_CHECKING:
    from throughline_nb.store.project import Project


class Cleaned(msgspec.Struct, frozen=True):
    """A history without what was removed for good.

    Attributes:
        head: Id of its last commit, which is in the project's database.
        notices: What a person should know.
    """

    head: str
    notices: tuple[str, ...]


def cleaned(project: "Project", coming: Incoming, theirs: str) -> Cleaned | None:
    """Write a fetched history again without purged entries; None where it has none of them."""
    gone = sorted(purge.purged_and_shared(project.repo.git))
    if not gone:
        return None
    redactor = Redactor(gone)
    ledgers = list(reversed(_ledgers(coming, theirs)))
    named = [ident for ident in gone if any(Redactor([ident]).names(data) for data in ledgers)]
    if not named:
        return None
    for data in ledgers:
        redactor.learn(data)
    head = Rebuild(coming, project.repo, redactor).branch(theirs)
    many = ", ".join(named)
    return Cleaned(
        head,
        (f"{many} was removed for good here; the remote still has it, and it is left out.",),
    )


def _ledgers(repo: Repo, ident: str) -> list[bytes]:
    """Every text that ``ledger.md`` had in a history, the newest first."""
    done = gitrun.run(repo.git, "rev-list", "--objects", ident, "--", LEDGER_FILE)
    wanted = [
        line.split(b" ", 1)[0].decode()
        for line in done.stdout.splitlines()
        if line.endswith(b" " + LEDGER_FILE.encode())
    ]
    return [data for _, data in repo.read_many(wanted)]
