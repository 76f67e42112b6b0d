"""Several machines that share one project through a folder, with git itself."""

from stores import USER, project, projects

from throughline_nb.store.ledgers import forget_ledgers
from throughline_nb.store.projects import Stamp
from throughline_nb.store.repo import forget_caches
from throughline_nb.store.sharing import cloning, starting, syncing
from throughline_nb.store.sharing.addresses import address


def remote(tmp_path):
    return address(str(tmp_path / "remote"))


def two(tmp_path, *before):
    """A project on two machines, after the changes of ``before`` on the first."""
    first = project(tmp_path / "a")
    for edit, stamp in before:
        first.change(edit, stamp)
    starting.share(first, remote(tmp_path), USER)
    return first, another(tmp_path, "b")


def another(tmp_path, name):
    return cloning.clone(projects(tmp_path / name), remote(tmp_path), "", USER).project


def sync(*machines, times=1, now=USER.now):
    """Each in turn; what the last of them was told."""
    done = None
    for _ in range(times):
        for machine in machines:
            done = syncing.sync(machine, Stamp(actor="user", now=now))
    return done


def all_synced(*machines):
    """Sync until nothing moves; all are equal then."""
    sync(*machines, times=3)
    heads = {machine.repo.head() for machine in machines}
    assert len(heads) == 1
    ledgers = [machine.read().ledger for machine in machines]
    assert all(ledger == ledgers[0] for ledger in ledgers)
    return ledgers[0]


def restarted(machine):
    """The project as another process opens it."""
    forget_caches()
    forget_ledgers()
    return type(machine).open(machine.home, machine.slug)
