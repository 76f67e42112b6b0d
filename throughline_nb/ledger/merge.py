"""Three-way merge of ledgers, by entry and field.

Plain text merge reports conflicts where there are none (both sides append to one list) and is at
times silently wrong (one id twice). Here the three sides are first lined up by id: entries that
are new on both sides under one id are told apart (:mod:`.merge_ids`), then each entry is merged
field by field (:mod:`.merge_entry`), then the order of the plan and what a person wrote between
the entries (:mod:`.merge_order`, :mod:`.merge_prose`). Where only one side changed, its change is
taken; where both did, a rule of the field decides and a notice says in words what was not taken.
No conflict marker ever stands in the result, and no merge waits for a person.
"""

import msgspec

from throughline_nb.ledger.merge_entry import (
    Merger,
    MergeText,
    Prefer,
    Preferred,
    edited,
    reset_state,
)
from throughline_nb.ledger.merge_ids import KeepsIds, tell_apart
from throughline_nb.ledger.merge_order import merge_order
from throughline_nb.ledger.merge_prose import merge_meta, merge_prose
from throughline_nb.ledger.model import (
    SECTIONS,
    Attr,
    Entry,
    Ledger,
    numbers_after,
)

__all__ = ["KeepsIds", "MergeText", "Merged", "Prefer", "Preferred", "merge"]


class Merged(msgspec.Struct, frozen=True):
    """Result of a merge.

    Attributes:
        ledger: The merged ledger.
        notices: One sentence for each decision between two sides that a person should know of.
    """

    ledger: Ledger
    notices: tuple[str, ...] = ()


def merge(
    base: Ledger,
    ours: Ledger,
    theirs: Ledger,
    *,
    prefer: Prefer = "theirs",
    keeps_ids: KeepsIds = "ours",
    merge_text: MergeText | None = None,
) -> Merged:
    """Merge what ``ours`` and ``theirs`` changed since ``base``.

    A hand edit prefers theirs and keeps our ids; undo (base: after, theirs: before) prefers ours;
    sync prefers the later change and keeps the published side's ids; the merge driver keeps the
    older. Between two sides that do not conflict, neither argument matters.

    Args:
        base: What both sides started from; an empty :class:`Ledger` for unrelated histories.
        ours: The one side, such as HEAD.
        theirs: The other side, such as a hand edit.
        prefer: Side that stands where both changed one thing in different ways, or a function
            that says it for an id (or ``Goal``, ``Plan``, ``Notes``) and the name of a field.
        keeps_ids: Which of two new entries under one id keeps it: that of ``ours`` or ``theirs``,
            or the ``older`` (smaller ``added``, then text). The other gets the next free number.
        merge_text: ``merge_text(base, ours, theirs)`` merges running text (note, reason, prose),
            or returns None on a conflict; without it every such case is one.

    Returns:
        The merged ledger, and notices for people.
    """
    if ours is base and theirs is base:
        return Merged(base)
    merger = Merger(prefer, merge_text)
    free = tuple(map(max, *map(numbers_after, (base, ours, theirs))))
    apart = tell_apart(base, ours, theirs, keeps_ids, free)
    merger.notices += apart.notices
    ours, theirs = apart.ours, apart.theirs
    first = theirs if keeps_ids == "theirs" else ours
    lists = {
        section.attr: _section(base, ours, theirs, section.attr, merger, first=first)
        for section in SECTIONS
    }
    merged = Ledger(
        project=merger.atomic(
            "Project", "", base.project, ours.project, theirs.project, name="The project's name"
        ),
        goal=merger.atomic("Goal", "", base.goal, ours.goal, theirs.goal, name="The goal"),
        prose=(),
        meta=merge_meta(base.meta, ours.meta, theirs.meta, merger),
        next=apart.next,
        **lists,
    )
    merged = msgspec.structs.replace(merged, prose=merge_prose(base, ours, theirs, merged, merger))
    for side in (ours, theirs):
        if merged == side:
            merged = side
            break
    return Merged(merged, tuple(merger.notices))


def _section(
    base: Ledger, ours: Ledger, theirs: Ledger, attr: Attr, merger: Merger, *, first: Ledger
) -> tuple[Entry, ...]:
    """Merge one list of entries; ``first`` is the side whose insertions come first."""
    old, our, their = base.list(attr), ours.list(attr), theirs.list(attr)
    if their in (our, old):
        return _settled(attr, old, our)
    if old == our:
        return _settled(attr, old, their)
    at_base = {entry.id: entry for entry in old}
    at_ours = {entry.id: entry for entry in our}
    at_theirs = {entry.id: entry for entry in their}
    found: dict[str, Entry] = {}
    for ident in {**at_ours, **at_theirs}:
        entry = _entry(at_base.get(ident), at_ours.get(ident), at_theirs.get(ident), merger)
        if entry is not None:
            found[ident] = entry
    if attr != "plan":
        return tuple(sorted(found.values(), key=lambda entry: entry.number))
    order, clash = merge_order(
        tuple(at_base),
        tuple(at_ours),
        tuple(at_theirs),
        prefer=merger.side("Plan"),
        ours_first=first is ours,
    )
    if clash:
        merger.say("The plan was reordered on both sides; one order was kept.")
    return tuple(found[ident] for ident in order if ident in found)


def _entry(
    base: Entry | None, ours: Entry | None, theirs: Entry | None, merger: Merger
) -> Entry | None:
    """Merge one entry, or say that it is gone (None)."""
    if ours is None or theirs is None:
        kept = ours or theirs
        if base is None or kept is None:
            return kept
        if not edited(base, kept):
            return None
        merger.say(f"{kept.id} was deleted on one side and changed on the other; it stays.")
        return reset_state(base, kept, (kept,))
    if base is None:
        return merger.both_new(ours, theirs)
    return merger.entry(base, ours, theirs)


def _settled(attr: Attr, old: tuple[Entry, ...], new: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """``new``, with findings whose text or source changed since ``old`` unverified again."""
    if attr != "findings" or old == new:
        return new
    at_base = {entry.id: entry for entry in old}
    entries = []
    for entry in new:
        base = at_base.get(entry.id)
        same = base is None or base is entry
        entries.append(entry if same or base is None else reset_state(base, entry, (entry,)))
    settled = tuple(entries)
    return new if settled == new else settled
