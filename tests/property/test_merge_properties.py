"""What holds of every merge, whatever the three sides are."""

import re
from random import Random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.edit_scripts import edited, grown
from tests.property.strategies import ledgers
from throughline_nb.ledger import Ledger, merge
from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.merge_order import merge_order
from throughline_nb.ledger.model import SECTIONS, ids_in

SLOW_TO_DRAW = settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
MANY = settings(SLOW_TO_DRAW, max_examples=5 * settings.default.max_examples)
RULES = st.fixed_dictionaries(
    {
        "prefer": st.sampled_from(["ours", "theirs"]),
        "keeps_ids": st.sampled_from(["ours", "theirs", "older"]),
    }
)
MIRROR = {"ours": "theirs", "theirs": "ours", "older": "older"}


@st.composite
def triples(draw, *, changes=8, entries=12):
    """A base and two sides that changed it."""
    rng = Random(draw(st.integers(0, 2**32 - 1)))
    base = grown(rng, rng.randint(0, entries))
    return base, *(edited(rng, base, rng.randint(0, changes), tag) for tag in "ot")


def texts(ledger):
    """A ledger without ids and order, to compare merges that gave new ids differently."""
    named = {entry.id: entry.text for entry in ledger.entries()}

    def by_text(entry):
        references = {
            name: re.sub(
                r"\b[CSFDQP]\d+\b", lambda m: named.get(m.group(), m.group()), getattr(entry, name)
            )
            for name in ("because", "suspect", "step")
        }
        references["because"] = ", ".join(sorted(references["because"].split(", ")))
        return msgspec.structs.replace(entry, id=entry.id[0] + "1", was="", **references)

    return (
        ledger.project,
        ledger.goal,
        {attr.attr: sorted(map(by_text, ledger.list(attr.attr)), key=repr) for attr in SECTIONS},
        sorted(
            (named.get(block.place, block.place), sorted(block.text.split("\n\n")))
            for block in ledger.prose
        ),
        sorted(ledger.meta),
        ledger.next,
    )


@MANY
@given(triples(), RULES)
def test_what_one_side_changed_is_taken_as_it_is(sides, rules):
    base, changed, _ = sides
    assert merge(base, changed, base, **rules) == merge(base, base, changed, **rules)
    assert merge(base, changed, base, **rules).ledger == changed
    assert merge(base, changed, changed, **rules).ledger == changed
    assert merge(base, changed, base, **rules).notices == ()


@pytest.mark.slow
@SLOW_TO_DRAW
@given(ledgers(), ledgers(), RULES)
def test_a_side_that_changed_everything_is_taken_but_for_unchecked_states(base, other, rules):
    free = tuple(map(max, base.next, other.next))
    other = msgspec.structs.replace(other, next=free)
    merged = merge(base, base, other, **rules)
    assert merged == merge(base, other, base, **rules)
    assert merged.notices == ()
    at_base = {entry.id: entry for entry in base.findings}
    for entry, given_entry in zip(merged.ledger.findings, other.findings, strict=True):
        was = at_base.get(entry.id)
        if entry != given_entry:
            assert (was.text, was.source) != (entry.text, entry.source)
            assert entry.state in ("unverified", "verified")
            assert entry.missing == ""
    again = msgspec.structs.replace(merged.ledger, findings=())
    assert again == msgspec.structs.replace(other, findings=())


@MANY
@given(triples(), RULES)
def test_the_sides_may_be_swapped_where_nothing_conflicts(sides, rules):
    base, ours, theirs = sides
    merged = merge(base, ours, theirs, **rules)
    mirrored = merge(base, theirs, ours, **{k: MIRROR[v] for k, v in rules.items()})
    assert texts(merged.ledger) == texts(mirrored.ledger)
    if rules["keeps_ids"] != "older":
        assert merged.ledger == mirrored.ledger
    if not merged.notices:
        swapped = merge(base, theirs, ours, **rules)
        assert texts(swapped.ledger) == texts(merged.ledger)


@MANY
@given(triples(), RULES)
def test_nothing_that_a_side_wrote_is_lost(sides, rules):
    base, *written = sides
    merged = merge(base, *written, **rules)
    ledger, notices = merged.ledger, "\n".join(merged.notices)
    assert nothing_lost(base, written, ledger, notices) == []


WRITTEN = ("text", "status", "source", "reason", "answer", "note")


def nothing_lost(base, written, ledger, notices):
    """What a side wrote that neither stands in the merged ledger nor in a notice."""
    held = {getattr(entry, name) for entry in ledger.entries() for name in WRITTEN}
    held |= {ledger.goal, ledger.project}
    loose = {loosely(value) for value in held}
    prose = "\n\n".join(block.text for block in ledger.prose)
    lost = []
    for side in written:
        values = [("goal", side.goal)] if side.goal != base.goal else []
        for entry in side.entries():
            was = base.get(entry.id)
            values += [
                (f"{entry.id} {name}", getattr(entry, name))
                for name in WRITTEN
                if was is None or getattr(was, name) != getattr(entry, name)
            ]
        lost += [
            (name, value)
            for name, value in values
            if value not in held and loosely(value) not in loose and value not in notices
        ]
        lost += [
            (block.place, block.text)
            for block in side.prose
            if block not in base.prose and block.text not in prose and block.text not in notices
        ]
    return lost


@pytest.mark.slow
@SLOW_TO_DRAW
@given(ledgers(most=3), ledgers(most=3), RULES)
def test_two_ledgers_without_a_common_past_stand_side_by_side(ours, theirs, rules):
    merged = merge(Ledger(), ours, theirs, **rules)
    ids = [entry.id for entry in merged.ledger.entries()]
    assert len(set(ids)) == len(ids)
    lost = nothing_lost(Ledger(), (ours, theirs), merged.ledger, "\n".join(merged.notices))
    assert [value for name, value in lost if len(value) < 200] == []


@MANY
@given(triples(), RULES)
def test_the_result_is_a_ledger(sides, rules):
    base, ours, theirs = sides
    merged = merge(base, ours, theirs, **rules).ledger
    for at, section in enumerate(SECTIONS):
        entries = merged.list(section.attr)
        numbers = [entry.number for entry in entries]
        assert len(set(numbers)) == len(numbers)
        assert all(entry.section is section for entry in entries)
        if section.attr != "plan":
            assert numbers == sorted(numbers)
        used = [side.next[at] for side in sides]
        assert merged.next[at] >= max([*used, *(number + 1 for number in numbers)])
    standing = {entry.id for entry in merged.entries()}
    places = [block.place for block in merged.prose]
    assert len(set(places)) == len(places)
    assert all(place in standing for place in places if ids_in(place))


@MANY
@given(triples(), RULES)
def test_merging_again_changes_nothing(sides, rules):
    base, ours, theirs = sides
    merged = merge(base, ours, theirs, **rules).ledger
    assert merge(ours, merged, ours, **rules).ledger == merged
    again = merge(base, merged, merged, **rules)
    assert again.ledger == merged
    assert again.notices == ()


@MANY
@given(triples(), st.sampled_from(["ours", "theirs"]))
def test_undoing_a_change_that_nothing_followed_gives_what_was_before(sides, keeps_ids):
    before, after, _ = sides
    undone = merge(after, after, before, prefer="ours", keeps_ids=keeps_ids).ledger
    redone = merge(before, undone, after, prefer="ours", keeps_ids=keeps_ids).ledger
    assert text_and_order(undone) == text_and_order(before)
    assert text_and_order(redone) == text_and_order(after)


def text_and_order(ledger):
    """All but the states of findings, which are checked anew, and the free numbers."""
    entries = [msgspec.structs.replace(e, state="", missing="") for e in ledger.entries()]
    return ledger.project, ledger.goal, entries, ledger.prose, ledger.meta


orders = st.integers(0, 8).flatmap(lambda size: st.permutations(list("abcdefgh"[:size])))


@st.composite
def changed_order(draw, base, new):
    """``base`` with some moved, some left out, some put in."""
    kept = [ident for ident in base if draw(st.integers(0, 9))]
    if kept and draw(st.booleans()):
        kept.insert(
            draw(st.integers(0, len(kept) - 1)), kept.pop(draw(st.integers(0, len(kept) - 1)))
        )
    for ident in new[: draw(st.integers(0, len(new)))]:
        kept.insert(draw(st.integers(0, len(kept))), ident)
    return kept


@given(st.data(), orders, st.sampled_from(["ours", "theirs"]), st.booleans())
def test_an_order_is_merged_whole(data, base, prefer, ours_first):
    ours = data.draw(changed_order(base, "xyz"))
    theirs = data.draw(changed_order(base, "uvw"))
    merged, clash = merge_order(base, ours, theirs, prefer=prefer, ours_first=ours_first)
    assert sorted(merged) == sorted({*ours, *theirs})
    if not clash:
        swapped, also = merge_order(base, theirs, ours, prefer=prefer, ours_first=not ours_first)
        assert not also
        assert sorted(swapped) == sorted(merged)


@given(st.data(), orders, st.sampled_from(["ours", "theirs"]), st.booleans())
def test_the_order_of_the_only_side_that_changed_it_is_kept(data, base, prefer, ours_first):
    ours = data.draw(changed_order(base, "xyz"))
    for sides in ((ours, base), (base, ours)):
        merged, clash = merge_order(base, *sides, prefer=prefer, ours_first=ours_first)
        assert [ident for ident in merged if ident in ours] == ours
        assert not clash


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ("abcdX", "abcdY", "abcdXY"),
        ("aXbcd", "abcYd", "aXbcYd"),
        ("dabc", "abcd", "dabc"),
        ("dabc", "abXcd", "dabXc"),
        ("badc", "badc", "badc"),
        ("Xabcd", "abcdY", "XabcdY"),
        ("aXYbcd", "aUVbcd", "aXYUVbcd"),
        ("bacd", "abdc", "badc"),
        ("acd", "abXcd", "abXcd"),
    ],
)
def test_orders_that_a_person_would_merge_so(ours, theirs, expected):
    merged, clash = merge_order("abcd", ours, theirs, prefer="theirs", ours_first=True)
    assert "".join(merged) == expected
    assert not clash


def test_one_step_moved_to_two_places_is_a_clash():
    merged, clash = merge_order("abcde", "eabcd", "aebcd", prefer="ours", ours_first=True)
    assert "".join(merged) == "eabcd"
    assert clash
