"""What sharing adds to the merge of two ledgers, and the merge whose side is chosen field by field."""

from random import Random

import msgspec
import pytest
from stores import USER

from tests.property.edit_scripts import edited, grown
from throughline_nb.ledger import Entry, Ledger, merge
from throughline_nb.ledger.merge_ids import renumbered as with_new_ids
from throughline_nb.store.sharing.reconciling import goals, renumbered, with_numbers, without


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("side", ["ours", "theirs"])
def test_a_chooser_that_always_says_one_side_is_that_side(seed, side):
    rng = Random(seed)
    base = grown(rng, 12)
    ours, theirs = edited(rng, base, 6, "o"), edited(rng, base, 6, "t")
    asked = []

    def chooser(ident, field):
        asked.append((ident, field))
        return side

    assert merge(base, ours, theirs, prefer=chooser) == merge(base, ours, theirs, prefer=side)
    known = {"Goal", "Plan", "Notes", "Project", "Front matter"}
    assert all(ident in known or ident[0].isalpha() for ident, _ in asked)


def test_each_field_may_have_a_side_of_its_own():
    base = Ledger(findings=(Entry(id="F1", text="a", source="x"),), next=(1, 1, 2, 1, 1, 1))
    ours, theirs = (
        msgspec.structs.replace(base, findings=(Entry(id="F1", text=text, source=source),))
        for text, source in (("ours", "their"), ("theirs", "our"))
    )
    sides = {"text": "ours", "source": "theirs"}
    merged = merge(base, ours, theirs, prefer=lambda _, field: sides[field]).ledger
    assert (merged.findings[0].text, merged.findings[0].source) == ("ours", "our")


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "proposed"),
    [
        ("", "one", "two", ["goal: two"]),
        ("old", "one", "two", ["goal: two"]),
        ("old", "old", "two", []),
        ("old", "one", "old", []),
        ("", "one", "", []),
        ("old", "“one”", '"one"', []),
        ("old", "same", "same", []),
    ],
)
def test_goals(base, ours, theirs, proposed):
    sides = [Ledger(goal=goal) for goal in (base, ours, theirs)]
    merged = merge(*sides, prefer="ours").ledger
    for _ in range(2):  # the second time it is there already
        merged, said = goals(*sides, merged, USER)
    assert [e.text for e in merged.proposals] == proposed
    assert said == []
    assert all(e.by == "user" and e.id == "P1" for e in merged.proposals)


def test_what_got_another_number():
    mine = Entry(id="F1", text="mine", added="1")
    before = Ledger(
        findings=(mine,),
        decisions=(Entry(id="D1", text="so", because="F1"),),
        next=(1, 1, 2, 2, 1, 1),
    )
    after = Ledger(
        findings=(Entry(id="F1", text="theirs"), Entry(id="F2", text="mine", was="F1", added="1")),
        decisions=(Entry(id="D1", text="so", because="F2"),),
        next=(1, 1, 3, 2, 1, 1),
    )
    assert renumbered(before, after) == {"F1": "F2"}
    assert renumbered(after, after) == {}
    assert with_numbers(before, {"F1": "F2"}).findings[0].id == "F2"
    moved = with_new_ids(before, {"F1": "F2"})
    assert (moved.findings[0].id, moved.decisions[0].because) == ("F2", "F2")


def test_what_another_machine_removed_for_good():
    ledger = Ledger(findings=(Entry(id="F1", text="secret"), Entry(id="F2", text="kept")))
    left, said = without(ledger, frozenset({"F1", "D9"}))
    assert [e.id for e in left.findings] == ["F2"]
    assert said[0].startswith("F1 was removed for good on another machine")
    assert without(ledger, frozenset({"D9"})) == (ledger, [])
