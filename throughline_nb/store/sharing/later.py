"""Which of two changes of one field came later, read from the history of both sides."""

from collections.abc import Iterator
from typing import Final

from throughline_nb.ledger import Ledger
from throughline_nb.ledger.merge_entry import Preferred
from throughline_nb.store.objects import Commit
from throughline_nb.store.repo import Repo
from throughline_nb.store.sharing.views import view

_FAR: Final = 128
"""Versions that are looked at on a side; a change that lies further back counts as that old."""


class Later:
    """Says for a field that both sides changed which change is the later one.

    Every machine decides alike: by the times that stand in the commits, then by what the field
    says. Only asked where both sides changed one field, which is rare.

    Args:
        repo: Where both sides are.
        ours: Our last commit.
        theirs: Theirs.
        bases: What both started from; the walk ends there.
        project: Name of the project here.
    """

    def __init__(
        self, repo: Repo, ours: str, theirs: str, bases: tuple[str, ...], project: str
    ) -> None:
        self._repo = repo
        self._tips = (ours, theirs)
        self._bases = frozenset(bases)
        self._project = project

    def __call__(self, ident: str, field: str) -> Preferred:
        """The side whose change of the field came later."""
        ours, theirs = (self._changed(tip, ident, field) for tip in self._tips)
        return "ours" if ours >= theirs else "theirs"

    def _changed(self, tip: str, ident: str, field: str) -> tuple[int, str]:
        """When the field came to say what it says, and that."""
        commit = self._repo.commit(tip)
        now = self._value(tip, ident, field)
        for _ in range(_FAR):
            if commit.id in self._bases:
                break
            before = next(
                (each for each in self._parents(commit)
                 if self._value(each.id, ident, field) == now), None
            )  # fmt: skip
            if before is None or before.id in self._bases:
                break
            commit = before
        return commit.time, now or ""

    def _parents(self, commit: Commit) -> Iterator[Commit]:
        return (self._repo.commit(parent) for parent in commit.parents)

    def _value(self, ident_of_commit: str, ident: str, field: str) -> str | None:
        seen = view(self._repo, ident_of_commit, self._project)
        return None if seen is None else _said(seen.ledger, ident, field)


def _said(ledger: Ledger, ident: str, field: str) -> str:
    """What a field says; everything of its kind where it is no entry's."""
    if ident == "Goal":
        return ledger.goal
    if ident == "Plan":
        return " ".join(entry.id for entry in ledger.plan)
    if ident == "Front matter":
        return repr(ledger.meta)
    entry = ledger.get(ident)
    if entry is None:
        return repr(ledger.prose)
    return str(getattr(entry, field, "")) if field else ""
