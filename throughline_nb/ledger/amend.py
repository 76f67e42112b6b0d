"""What a person edits in place: any field of any entry, and the place of a step.

The model's tools add to these rules; a person may change every field that a person can write into
``ledger.md``, and by the same operation, so that both ways give the same.
"""

import msgspec

from throughline_nb.errors import RefusedError
from throughline_nb.ledger import delta, rules
from throughline_nb.ledger.edits import By, Edited, find
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import STATUSES, Entry, Ledger, ids_in
from throughline_nb.ledger.sources import first_state, parse

_KEPT = ("state", "missing", "suspect", "was", "step", "by", "origin", "added")
"""Fields that follow from the others, or that the engine keeps."""


def editable(kind_fields: tuple[str, ...]) -> tuple[str, ...]:
    """Of the fields of a kind, those that a person edits; its text leads."""
    return ("text", *(name for name in kind_fields if name not in _KEPT))


def amend(ledger: Ledger, ident: str, by: By, **fields: str) -> Edited:
    """Change fields of an entry; those that are not named stay, an empty one is taken out.

    Args:
        ledger: The ledger.
        ident: Id of the entry.
        by: Who, where, when.
        fields: New values by the name of the field: ``text``, and what the entry's kind has.

    Raises:
        RefusedError: A field is not one of its kind, or its value does not fit.
        NotFoundError: There is no such entry, or no such entry that a decision could rest on.
    """
    entry = find(ledger, ident)
    if entry.kind in {"constraint", "proposal"}:
        rules.may_change(by.actor, entry.kind)
    allowed = editable(entry.section.fields)
    for name in fields:
        if name not in allowed:
            raise RefusedError(
                f"A {entry.kind} has no field {delta.clip(name, 60)!r} to edit; nothing was "
                f"changed: {', '.join(allowed)}."
            )
    new = {name: one_line(value) for name, value in fields.items()}
    new = {name: value for name, value in new.items() if value != getattr(entry, name)}
    _check(ledger, entry, new)
    if "source" in new:
        new["source"] = str(parse(new["source"]))
    if "text" in new:
        new["by"] = by.actor
    if entry.kind == "finding" and ("text" in new or "source" in new) and not entry.retracted:
        new |= {"state": first_state(new.get("source", entry.source)), "missing": ""}
        new["origin"] = by.origin or entry.origin
    if entry.kind == "decision" and new:
        new["suspect"] = ""
    changed = msgspec.structs.replace(entry, **new)
    if changed == entry:
        return Edited(ledger, f"{entry.id} is already so", entry.id)
    return _listed(ledger, entry.id, [changed if e is entry else e for e in _beside(ledger, entry)])


def move(ledger: Ledger, ident: str, behind: str = "") -> Edited:
    """Give a step another place: behind another one, or first where none is named."""
    step = find(ledger, ident, "step")
    rest = [entry for entry in ledger.plan if entry is not step]
    at = rest.index(find(ledger, behind, "step")) + 1 if behind else 0
    return _listed(ledger, step.id, [*rest[:at], step, *rest[at:]])


def _check(ledger: Ledger, entry: Entry, new: dict[str, str]) -> None:
    if new.get("text") == "":
        raise RefusedError(f"The text of {entry.id} is empty; it stays as it is.")
    if new.get("status", STATUSES[0]) not in STATUSES:
        raise RefusedError(
            f"status: {delta.clip(new['status'], 60)!r} is not one of {', '.join(STATUSES)}; "
            f"{entry.id} stays as it is."
        )
    if new.get("because"):
        named = ids_in(new["because"].upper())
        if not named:
            raise RefusedError("because names no entry; give ids such as F12, D3.")
        for ident in named:
            if ident not in entry.rests_on:
                find(ledger, ident)
        new["because"] = ", ".join(named)


def _beside(ledger: Ledger, entry: Entry) -> tuple[Entry, ...]:
    return ledger.list(entry.section.attr)


def _listed(ledger: Ledger, ident: str, entries: list[Entry]) -> Edited:
    attr = entries[0].section.attr
    lists: dict[str, tuple[Entry, ...]] = {attr: tuple(entries)}
    if lists[attr] == ledger.list(attr):
        return Edited(ledger, f"{ident} is already so", ident)
    after = msgspec.structs.replace(ledger, **lists)
    return Edited(after, delta.sentence(delta.changes(ledger, after)), ident)
