"""How a project and what a remote has lie to each other, and when they are two projects."""

from typing import TYPE_CHECKING, Literal

import msgspec

from throughline_nb.errors import RefusedError
from throughline_nb.ledger import Ledger
from throughline_nb.ledger.cascade import loosely
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing.remotes import published
from throughline_nb.store.sharing.views import View, is_ancestor, merge_bases, view

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

Kind = Literal["same", "ahead", "set back", "behind", "both", "rewritten", "unrelated"]


class UnrelatedError(RefusedError):
    """The remote holds a project with no common history; joining it is the user's to say.

    Attributes:
        theirs: Its ledger.
    """

    def __init__(self, where: str, theirs: Ledger) -> None:
        many = sum(1 for _ in theirs.entries())
        super().__init__(
            f"{where} holds another project with {many} entr{'y' if many == 1 else 'ies'} and no "
            "history in common with this one; nothing was changed: share to an empty place, or "
            "take that project by `throughline-nb clone`."
        )
        self.theirs = theirs


class Relation(msgspec.Struct, frozen=True):
    """How our branch and theirs lie to each other.

    Attributes:
        kind: In a word.
        bases: Best common ancestors.
    """

    kind: Kind
    bases: tuple[str, ...] = ()


def relation(repo: Repo, ours: str, theirs: str, known: str | None) -> Relation:
    """How two branches lie to each other.

    Args:
        repo: Where both are.
        ours: Our last commit.
        theirs: The remote's.
        known: The last commit known to have been common, or None.
    """
    bases = merge_bases(repo, ours, theirs)
    if ours == theirs:
        return Relation("same", bases)
    if bases == (theirs,):
        back = known is not None and known != theirs and is_ancestor(repo, theirs, known)
        return Relation("set back" if back else "ahead", bases)
    if bases == (ours,):
        return Relation("behind", bases)
    if known is not None and not is_ancestor(repo, known, theirs):
        return Relation("rewritten", bases)
    return Relation("both" if bases else "unrelated", bases)


def is_stranger(repo: Repo, project: "Project", seen: View) -> bool:
    """Whether a remote without common history holds nothing of what was shared before."""
    known = published(project.repo.git)
    before = view(repo, known, project.slug) if known else None
    if before is None:
        return True
    ours = {loosely(entry.text) for entry in before.ledger.entries()}
    return bool(ours) and not any(loosely(e.text) in ours for e in seen.ledger.entries())
