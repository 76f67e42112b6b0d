"""Merging what a remote has into the project: by id and field, as one commit.

git supplies the history, the base and the merge of running text; the ledgers are merged by
:func:`throughline_nb.ledger.merge`. What the remote has is published, so its ids keep their
numbers. Where a remote was rewritten, what is here goes on top of it instead of beside it, so that
what was taken out there does not come back; the branch as it was is kept below
``refs/throughline/rescue/``, which is never sent.
"""

import re
import time
from typing import TYPE_CHECKING, Final

import msgspec

from throughline_nb.ledger import Ledger, merge
from throughline_nb.ledger.delta import Change, changes, summary
from throughline_nb.ledger.merge_ids import KeepsIds
from throughline_nb.store import gitrun, handedit, purge, refs
from throughline_nb.store.handedit import Settled
from throughline_nb.store.records import VERSION, Stamp, Tip
from throughline_nb.store.repo import Draft, Repo
from throughline_nb.store.sharing import trees
from throughline_nb.store.sharing.incoming import Incoming
from throughline_nb.store.sharing.later import Later
from throughline_nb.store.sharing.reconciling import goals, renumbered, with_numbers, without
from throughline_nb.store.sharing.redacting import cleaned
from throughline_nb.store.sharing.relations import (
    Kind,
    Relation,
    UnrelatedError,
    is_stranger,
    relation,
)
from throughline_nb.store.sharing.remotes import published
from throughline_nb.store.sharing.views import View, base_ledger, refuse_foreign, view

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

_PURGED = re.compile(r"((?:[CSFDQP][1-9][0-9]*)(?:, [CSFDQP][1-9][0-9]*)*) removed for good")
_TWICE: Final = "Two new entries had the id"


class Taken(msgspec.Struct, frozen=True):
    """What taking in did.

    Attributes:
        kind: How the two sides lay.
        head: The branch now.
        came: What changed here.
        went: What the remote gets, when it is sent.
        merged: Whether both sides had changes.
        renumbered: ``F12 is now F14``, for entries of this machine.
        notices: What a person should know.
        replaces: Id of the remote's commit that only a push by force replaces; else empty.
    """

    kind: Kind
    head: str
    came: tuple[Change, ...] = ()
    went: tuple[Change, ...] = ()
    merged: bool = False
    renumbered: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    replaces: str = ""


def take_in(
    project: "Project",
    settled: Settled,
    coming: Incoming,
    theirs: str,
    stamp: Stamp,
    *,
    where: str,
    join: bool = False,
    keeps_ids: KeepsIds = "theirs",
) -> Taken:
    """Merge what was fetched; under the project's lock, with nothing pending.

    Args:
        project: The project.
        settled: Where it stands.
        coming: What was fetched.
        theirs: Id of the remote's last commit.
        stamp: Who, when and where.
        where: The remote, as a message names it.
        join: Whether a project with no common history is to be joined.
        keeps_ids: Which side's new entries keep their ids; theirs are published.

    Raises:
        RefusedError: The remote holds something else.
        UnrelatedError: It holds another project, and ``join`` is not said.
        NewerFormatError: A newer version wrote it.
    """
    ours = settled.tip.head
    source: Repo = coming
    fetched = theirs
    clean = cleaned(project, coming, theirs)
    if clean is not None:
        source, theirs = project.repo, clean.head
    told = list(clean.notices) if clean is not None else []
    lies = relation(source, ours, theirs, published(project.repo.git))
    replaces = fetched if clean is not None else ""
    if lies.kind in ("same", "ahead", "set back"):
        if clean is None:
            coming.accept()  # for the tracking branch, which may name what is not here
        went = _between(source, theirs, settled.tip.now.ledger, project.slug, lies)
        return Taken(lies.kind, ours, went=went, notices=tuple(told), replaces=replaces)
    seen = view(source, theirs, project.slug)
    if seen is None:
        raise refuse_foreign(where)
    if lies.kind == "unrelated" and not join:
        raise UnrelatedError(where, seen.ledger)
    if lies.kind == "rewritten" and not lies.bases and is_stranger(source, project, seen):
        raise UnrelatedError(where, seen.ledger)
    if not seen.whole:
        told.append(
            "The last commit of the remote holds no ledger that can be read; what it was made "
            "from was merged."
        )
    if clean is None:
        coming.accept()
    purge.readmit(project.repo.git, frozenset(entry.id for entry in seen.ledger.entries()))
    merging = _Merging(project, settled, theirs, stamp, told)
    taken = merging.follow() if lies.kind == "behind" else merging.join(seen, lies, keeps_ids)
    return msgspec.structs.replace(taken, kind=lies.kind, replaces=replaces)


class _Merging:
    """A merge under way, under the project's lock, with the objects let in."""

    def __init__(
        self, project: "Project", settled: Settled, theirs: str, stamp: Stamp, told: list[str]
    ) -> None:
        self._project = project
        self._repo = project.repo
        self._tip = settled.tip
        self._text = settled.text
        self._theirs = theirs
        self._stamp = stamp
        self._told = told

    def follow(self) -> Taken:
        """Nothing was changed here: the branch moves to theirs."""
        self._repo.advance(self._theirs, self._tip.head)
        tip = self._shown(self._project.tip())
        came = changes(self._tip.now.ledger, tip.now.ledger)
        return Taken("behind", tip.head, came=came, notices=tuple(self._told))

    def join(self, seen: View, lies: Relation, keeps_ids: KeepsIds) -> Taken:
        """Both were changed: one commit joins them."""
        before, rewritten = self._tip.now.ledger, lies.kind == "rewritten"
        after = self._project.finished(before, self._merged(seen, lies, keeps_ids), "user")
        numbers = renumbered(before, after)
        came = changes(with_numbers(before, numbers), after)
        draft = self._repo.draft()
        tree = self._tree(draft, lies)
        if rewritten:
            self._told.append(_rescue(self._project, self._tip.head, self._stamp))
        unchanged = after == seen.ledger and tree == self._repo.commit(self._theirs).tree
        if rewritten and unchanged:
            self._repo.advance(self._theirs, self._tip.head)
            made = self._project.tip()
        else:
            said = f"Merged what was shared: {summary(came)}" if came else "Merged what was shared"
            made = self._project.commit(
                _above(self._tip, seen.version),
                after,
                said,
                msgspec.structs.replace(self._stamp, actor="engine"),
                parents=(self._theirs,) if rewritten else (self._tip.head, self._theirs),
                draft=draft,
                onto=tree,
            )
        made = self._shown(made)
        return Taken(
            lies.kind,
            made.head,
            came=came,
            went=changes(seen.ledger, after),
            merged=True,
            renumbered=tuple(f"{old} is now {new}" for old, new in numbers.items()),
            notices=tuple(dict.fromkeys(self._told)),
        )

    def _merged(self, seen: View, lies: Relation, keeps_ids: KeepsIds) -> Ledger:
        """The merged ledger."""
        repo, slug = self._repo, self._project.slug
        ours, theirs = self._tip.now.ledger, seen.ledger
        base = base_ledger(repo, self._tip.head, self._theirs, slug, lies.bases)
        if lies.kind == "rewritten":
            if base is None:
                known = view(repo, published(repo.git) or "", slug)
                base = known.ledger if known is not None else None
            ours, gone = without(ours, _removed(repo, self._theirs, self._tip.head))
            self._told += gone
        start = base or Ledger(project=slug)
        later = Later(repo, self._tip.head, self._theirs, lies.bases, slug)
        done = merge(
            start, ours, theirs, prefer=later, keeps_ids=keeps_ids, merge_text=gitrun.merge_text
        )
        ledger, proposed = goals(start, ours, theirs, done.ledger, self._stamp)
        self._told += [n for n in done.notices if not n.startswith(_TWICE)]
        self._told += proposed
        return ledger

    def _tree(self, draft: Draft, lies: Relation) -> str:
        """The merged tree of the other files."""
        ours, theirs = self._repo.commit(self._tip.head), self._repo.commit(self._theirs)
        base = self._repo.commit(lies.bases[0]).tree if len(lies.bases) == 1 else ""
        newer = "ours" if ours.time >= theirs.time else "theirs"
        tree, clashes = trees.merge_trees(
            self._repo, draft, base, ours.tree, theirs.tree, later=newer
        )
        self._told += [
            f"{name} was changed on both machines; the later one stands, the other is in the "
            "history."
            for name in clashes
        ]
        return tree

    def _shown(self, tip: Tip) -> Tip:
        """Bring folder and ledger to the branch, and merge what somebody saved meanwhile."""
        before, after = (self._repo.commit(each.head).tree for each in (self._tip, tip))
        self._told += trees.bring(self._project, before, after, self._stamp.now)
        if self._project.show(tip, self._text) is None or tip.now.commit != tip.head:
            late = handedit.absorb(self._project, self._stamp)
            self._told += late.absorbed.notices if late.absorbed is not None else ()
            return late.tip
        return tip


def _between(
    repo: Repo, theirs: str, ours: Ledger, project: str, lies: Relation
) -> tuple[Change, ...]:
    if lies.kind == "same":
        return ()
    seen = view(repo, theirs, project)
    return changes(seen.ledger if seen is not None else Ledger(project=project), ours)


def _removed(repo: Repo, theirs: str, ours: str) -> frozenset[str]:
    """Entries that another machine removed for good since."""
    found: set[str] = set()
    for commit in repo.log("--grep=removed for good$", theirs, f"^{ours}"):
        if match := _PURGED.fullmatch(commit.subject):
            found.update(match[1].split(", "))
    return frozenset(found)


def _rescue(project: "Project", head: str, stamp: Stamp) -> str:
    """Keep the branch as it was."""
    git = project.repo.git
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(stamp.now))
    name = f"{refs.RESCUE}/{moment}-{head[:8]}"
    with project.repo.explained():
        refs.swap(git, name, head, None)
    return (
        "The remote's history was rewritten; what is here stands on top of it, and the history as "
        f"it was is kept under {name}."
    )


def _above(tip: Tip, version: str) -> Tip:
    """The tip, counted from the higher of two versions, so that the count always goes up."""
    here, there = VERSION.fullmatch(tip.now.version), VERSION.fullmatch(version)
    if there is None or (here is not None and int(here[1]) >= int(there[1])):
        return tip
    return msgspec.structs.replace(tip, now=msgspec.structs.replace(tip.now, version=version))
