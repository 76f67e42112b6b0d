"""The history of a project: listing it, finding a version, taking a change back."""

import itertools
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from throughline_nb.errors import NotFoundError, RefusedError
from throughline_nb.ledger import Ledger, merge
from throughline_nb.ledger.delta import changes, clip
from throughline_nb.ledger.merge_ids import renumbered
from throughline_nb.store import gitrun
from throughline_nb.store.ledgers import engine_commit, find_version, snapshot
from throughline_nb.store.objects import Commit
from throughline_nb.store.records import Record, Snapshot, Stamp, Undone, is_ours, record
from throughline_nb.store.repo import Repo

if TYPE_CHECKING:
    from throughline_nb.store.handedit import Settled
    from throughline_nb.store.project import Project

_PAGE = 200
"""Changes looked at before all of a long history is listed."""

_WALKED = 64
"""Changes that are read in process; for more, a process of git's is faster."""

_OURS = ("--extended-regexp", "--grep=^Version: [1-9][0-9]*-[0-9a-f]{4}$")


def history(repo: Repo, n: int | None, *, first_parent: bool = True) -> list[Record]:
    """The latest ``n`` versions, newest first; all for None."""
    if first_parent and n is not None and n <= _WALKED:
        return list(itertools.islice(_walk(repo), n))
    arguments = [*_OURS]
    if first_parent:
        arguments.append("--first-parent")
    if n is not None:
        arguments.append(f"--max-count={max(n, 0)}")
    return [record(commit) for commit in repo.log(*arguments, repo.head()) if is_ours(commit)]


def _walk(repo: Repo) -> Iterator[Record]:
    """The versions from the last one on, read in process."""
    ident = repo.head()
    while True:
        commit = repo.commit(ident)
        if is_ours(commit):
            yield record(commit)
        if not commit.parents:
            return
        ident = commit.parents[0]


def before_last_change(repo: Repo, slug: str) -> Snapshot:
    """The last version whose ledger differs from that of today; the first if none does.

    A version that only wrote another file, such as ``handoff.md``, is no change of the ledger.

    Args:
        repo: The project's repository.
        slug: The project's name.
    """
    versions = (snapshot(repo, repo.commit(each.commit), slug) for each in _walk(repo))
    now = then = next(versions)
    for then in versions:
        if changes(then.ledger, now.ledger):
            break
    return then


def graph(repo: Repo, n: int, width: int) -> list[str]:
    """The newest commits as git draws them, with the raw hand edits that were merged.

    Args:
        repo: The project's repository.
        n: How many commits.
        width: Columns of a line.
    """
    shape = "%h  %ad  %<(12,trunc)%an  %s"
    done = gitrun.run(
        repo.git, "log", "--graph", "--date=format-local:%Y-%m-%d %H:%M", f"--format={shape}",
        f"--max-count={n}", repo.head(), "--",
    )  # fmt: skip
    lines = done.stdout.decode("utf-8", "replace").splitlines()
    return [line if len(line) <= width else f"{line[: width - 1]}…" for line in lines]


def find(repo: Repo, version: str) -> Commit:
    """The commit of a version.

    Args:
        repo: The project's repository.
        version: Its name, its count, the start of its name, or the id of a commit.

    Raises:
        NotFoundError: There is none, or several.
    """
    version = version.strip().strip("`").lower()
    head = repo.head()
    exact = find_version(repo, head, version)
    if exact is not None:
        return exact
    if re.fullmatch(r"[0-9]+(-[0-9a-f]{0,4})?", version):
        pattern = version if "-" in version else f"{version}-"
        found = list(repo.log(f"--grep=^Version: {pattern}[0-9a-f]*$", head))
        if names := list(dict.fromkeys(c.trailers.get("Version", "") for c in found)):
            if len(names) == 1:
                return found[0]
            raise NotFoundError(f"“{version}” fits {', '.join(names[:4])}; name one of them.")
    if re.fullmatch(r"[0-9a-f]{4,40}", version):
        done = gitrun.run(
            repo.git,
            "rev-parse",
            "--verify",
            "--quiet",
            f"{version}^{{commit}}",
            allowed=(0, 1, 128),
        )
        ident = done.stdout.decode("ascii").strip()
        commit = engine_commit(repo, ident) if ident else None
        if commit is not None:
            return commit
    raise NotFoundError(f"There is no version “{clip(version)}”; `/tl log` lists them.")


def undo(project: "Project", settled: "Settled", version: str | None, stamp: Stamp) -> Undone:
    """Take back one change; under the lock. See :meth:`Project.undo`."""
    repo = project.repo
    target = _named(repo, version) if version else _newest(project)
    after = snapshot(repo, repo.commit(target.commit), project.slug)
    before = _before(project, target)
    now = settled.tip.now
    numbers = _numbers(after.ledger, before, now.ledger)
    merged = merge(
        renumbered(after.ledger, numbers),
        now.ledger,
        renumbered(before, numbers),
        prefer="ours",
        keeps_ids="ours",
        merge_text=gitrun.merge_text,
    )
    ledger = project.finished(now.ledger, merged.ledger, "user")
    effect = changes(now.ledger, ledger)
    notices = merged.notices
    if not effect and not notices:
        notices = ("What it changed had been changed back already.",)
    made = project.publish(settled, ledger, _subject(target), stamp, undoes=target.version)
    return Undone(made, target, effect, notices)


def _numbers(after: Ledger, before: Ledger, now: Ledger) -> dict[str, str]:
    """New ids of entries that got another number since, as when two machines gave one away."""
    found = {}
    for entry in now.entries():
        old = (after.get(entry.was) or before.get(entry.was)) if entry.was else None
        if old is not None and (old.added, old.origin) == (entry.added, entry.origin):
            same = now.get(old.id)
            if same is None or (same.added, same.text) != (old.added, old.text):
                found[old.id] = entry.id
    return found


def _named(repo: Repo, version: str) -> Record:
    target = record(find(repo, version))
    by = _undone(history(repo, None)).get(target.version)
    if by is not None:
        raise RefusedError(
            f"{target.version} is undone already, by {by}; nothing was changed: `/tl undo {by}` "
            "brings it back."
        )
    if not target.parents:
        raise RefusedError("The start of a project cannot be undone; nothing was changed.")
    return target


def _newest(project: "Project") -> Record:
    """The newest change by user or model that is not undone and changed something."""
    for n in (_PAGE, None):
        records = history(project.repo, n)
        undone = _undone(records)
        for target in records:
            if target.actor == "engine" or target.undoes or target.version in undone:
                continue
            if target.parents and changes(_before(project, target), _after(project, target)):
                return target
        if n is None or len(records) < n:
            break
    raise RefusedError("Nothing is left to undo; nothing was changed.")


def _undone(records: list[Record]) -> dict[str, str]:
    """For each version that is undone, the undo that holds; ``records`` are newest first."""
    found: dict[str, str] = {}
    for each in records:
        if each.undoes and each.version not in found:
            found.setdefault(each.undoes, each.version)
    return found


def _before(project: "Project", target: Record) -> Ledger:
    repo = project.repo
    commit = engine_commit(repo, target.parents[0]) if target.parents else None
    return snapshot(repo, commit, project.slug).ledger if commit else Ledger(project=project.slug)


def _after(project: "Project", target: Record) -> Ledger:
    return snapshot(project.repo, project.repo.commit(target.commit), project.slug).ledger


def _subject(target: Record) -> str:
    for was, now in (("Undone: ", "Redone: "), ("Redone: ", "Undone: ")):
        if target.undoes and target.subject.startswith(was):
            return now + target.subject.removeprefix(was)
    return f"Undone: {target.subject}"
