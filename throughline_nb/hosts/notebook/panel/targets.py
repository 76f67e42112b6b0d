"""What an editor edits: the fields of an entry, or the goal."""

from collections.abc import Mapping
from typing import Final, Protocol

from throughline_nb.hosts.notebook.panel.parts import label_of
from throughline_nb.hosts.notebook.panel.words import readable
from throughline_nb.ledger import Ledger, edits
from throughline_nb.ledger.amend import amend, editable
from throughline_nb.ledger.edits import By, Edited

GOAL: Final = "goal"

Values = Mapping[str, str]


class Target(Protocol):
    """What an editor edits."""

    name: str

    def read(self, ledger: Ledger) -> Values | None:
        """The fields as they stand; None where it is gone."""

    def write(self, ledger: Ledger, by: By, values: Values) -> Edited:
        """The ledger with these fields changed."""

    def label(self, field: str) -> str:
        """What a field is called."""


class OfEntry:
    """The fields of an entry that a person edits."""

    def __init__(self, name: str, entry_kind: str, fields: tuple[str, ...]) -> None:
        self.name = name
        self.kind = entry_kind
        self.fields = editable(fields)

    def read(self, ledger: Ledger) -> Values | None:
        """See :meth:`Target.read`."""
        entry = ledger.get(self.name)
        return None if entry is None else {name: getattr(entry, name) for name in self.fields}

    def write(self, ledger: Ledger, by: By, values: Values) -> Edited:
        """See :meth:`Target.write`."""
        return amend(ledger, self.name, by, **values)

    def label(self, field: str) -> str:
        """See :meth:`Target.label`."""
        return label_of(field, self.kind)


class OfGoal:
    """The goal."""

    name = GOAL

    def read(self, ledger: Ledger) -> Values | None:
        """See :meth:`Target.read`."""
        return {GOAL: ledger.goal}

    def write(self, ledger: Ledger, by: By, values: Values) -> Edited:
        """See :meth:`Target.write`."""
        return edits.set_goal(ledger, values[GOAL], by)

    def label(self, field: str) -> str:
        """See :meth:`Target.label`."""
        return readable(field)


def target_of(name: str, ledger: Ledger) -> Target | None:
    """What an editor of this name edits; None where it is gone."""
    if name == GOAL:
        return OfGoal()
    entry = ledger.get(name)
    return None if entry is None else OfEntry(name, entry.kind, entry.section.fields)
