"""What sharing adds to the merge of two ledgers: goals, numbers, and what was removed for good."""

import time

import msgspec

from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.model import SECTIONS, numbers_after
from throughline_nb.store.records import Stamp


def goals(
    base: Ledger, ours: Ledger, theirs: Ledger, merged: Ledger, stamp: Stamp
) -> tuple[Ledger, list[str]]:
    """Two users' goals: one is the goal, the other is proposed."""
    sides = (ours.goal, theirs.goal)
    if not all(sides) or base.goal in sides or loosely(ours.goal) == loosely(theirs.goal):
        return merged, []
    lost = theirs.goal if merged.goal == ours.goal else ours.goal
    text = f"goal: {lost}"
    if any(loosely(each.text) == loosely(text) for each in merged.proposals):
        return merged, []
    at = next(n for n, section in enumerate(SECTIONS) if section.attr == "proposals")
    free = list(numbers_after(merged))
    entry = Entry(
        id=f"P{free[at]}",
        text=text,
        reason="the goal that was set on another machine",
        by="user",
        added=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stamp.now)),
    )
    free[at] += 1
    ledger = msgspec.structs.replace(merged, proposals=(*merged.proposals, entry), next=tuple(free))
    return ledger, [f"{entry.id} proposes the other goal: /tl accept {entry.id} takes it."]


def renumbered(before: Ledger, after: Ledger) -> dict[str, str]:
    """New ids of the entries of this machine that got another number."""
    found: dict[str, str] = {}
    for entry in after.entries():
        old = before.get(entry.was) if entry.was else None
        same = before.get(entry.id)
        known = same is not None and same.was == entry.was
        if old is not None and not known and loosely(old.text) == loosely(entry.text):
            found[entry.was] = entry.id
    return found


def with_numbers(ledger: Ledger, numbers: dict[str, str]) -> Ledger:
    """A ledger with new numbers for some entries, to tell what else changed."""
    if not numbers:
        return ledger
    lists = {
        section.attr: tuple(
            msgspec.structs.replace(entry, id=numbers[entry.id], was=entry.id)
            if entry.id in numbers
            else entry
            for entry in ledger.list(section.attr)
        )
        for section in SECTIONS
    }
    return msgspec.structs.replace(ledger, **lists)


def without(ledger: Ledger, gone: frozenset[str]) -> tuple[Ledger, list[str]]:
    """A ledger without entries that another machine removed for good, and a notice of it."""
    named = [entry.id for entry in ledger.entries() if entry.id in gone]
    if not named:
        return ledger, []
    lists = {
        section.attr: tuple(e for e in ledger.list(section.attr) if e.id not in gone)
        for section in SECTIONS
    }
    notice = (
        f"{', '.join(named)} was removed for good on another machine, and is gone from the ledger "
        f"here; /tl purge {named[0]} takes it out of this machine's history, too."
    )
    return msgspec.structs.replace(ledger, **lists), [notice]
