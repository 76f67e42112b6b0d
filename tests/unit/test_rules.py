"""Who may change what, personal facts, and when a step may be done."""

import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.errors import RefusedError
from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.rules import may_change, may_finish, protect, refuse_personal

DATA = Path(__file__).parents[1] / "data"


def statements(name):
    text = (DATA / name).read_text(encoding="utf-8")
    return [line for line in text.split("\n") if line and not line.startswith("#")]


REFUSED = statements("personal_facts_refused.txt")
PASSED = statements("personal_facts_passed.txt")


@pytest.mark.parametrize("text", REFUSED)
def test_a_personal_fact_is_refused_in_one_line(text):
    with pytest.raises(RefusedError, match="memory plugin") as refusal:
        refuse_personal(text)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", PASSED)
def test_what_belongs_to_a_project_passes(text):
    refuse_personal(text)


def test_there_are_enough_statements():
    assert len(set(REFUSED)) >= 60
    assert len(set(PASSED)) >= 120


@pytest.mark.parametrize("text", REFUSED)
def test_in_quotes_or_as_an_example_it_passes(text):
    refuse_personal(f"If the form says: `{text}`, the field is shown")


@given(st.text())
def test_any_text_is_judged(text):
    try:
        refuse_personal(text)
    except RefusedError:
        assert text.strip()


def test_a_long_text_is_judged_quickly():
    for text in (
        "the user " * 20_000,
        "my " * 30_000,
        "The user has a " + "very " * 20_000,
        "ユーザーは" * 20_000,
    ):
        refuse_personal("the user")
        start = time.process_time()
        refuse_personal(text)
        assert time.process_time() - start < 2


@pytest.mark.parametrize("what", ["goal", "constraint", "constraints", "proposal", "proposals"])
def test_the_model_may_only_propose(what):
    with pytest.raises(RefusedError) as refusal:
        may_change("model", what)
    assert "Nothing was changed." in str(refusal.value)
    may_change("user", what)
    may_change("engine", what)


@pytest.mark.parametrize("what", ["finding", "findings", "step", "plan", "decision", "questions"])
def test_the_rest_is_anyones(what):
    for actor in ("model", "user", "engine"):
        may_change(actor, what)


BEFORE = Ledger(
    goal="goal",
    constraints=(Entry(id="C1", text="rule", by="user"),),
    plan=(Entry(id="S1", text="step", status="doing"),),
    proposals=(
        Entry(id="P1", text="goal: by the model", by="model"),
        Entry(id="P2", text="goal: by the engine", by="engine"),
    ),
)
AGAINST_THE_RULES = {
    "goal": {"goal": "other"},
    "goal gone": {"goal": ""},
    "constraint added": {"constraints": (*BEFORE.constraints, Entry(id="C2", text="x"))},
    "constraint changed": {"constraints": (Entry(id="C1", text="other", by="user"),)},
    "constraint noted": {"constraints": (Entry(id="C1", text="rule", by="user", note="not now"),)},
    "constraint gone": {"constraints": ()},
    "proposal settled": {"proposals": BEFORE.proposals[:1]},
    "proposal changed": {"proposals": (BEFORE.proposals[0], Entry(id="P2", text="goal: x"))},
}
WITHIN_THE_RULES = {
    "nothing": {},
    "step": {"plan": (Entry(id="S1", text="step", status="done"),)},
    "finding": {"findings": (Entry(id="F1", text="x"),)},
    "proposal added": {"proposals": (*BEFORE.proposals, Entry(id="P3", text="goal: y"))},
    "own proposal taken back": {"proposals": BEFORE.proposals[1:]},
}


@pytest.mark.parametrize("name", AGAINST_THE_RULES)
def test_no_write_of_the_model_changes_what_is_the_users(name):
    after = msgspec.structs.replace(BEFORE, **AGAINST_THE_RULES[name])
    with pytest.raises(RefusedError):
        protect(BEFORE, after, "model")
    assert protect(BEFORE, after, "user") is after
    assert protect(BEFORE, after, "engine") is after


@pytest.mark.parametrize("name", WITHIN_THE_RULES)
def test_what_the_model_may_change_goes_through(name):
    after = msgspec.structs.replace(BEFORE, **WITHIN_THE_RULES[name])
    assert protect(BEFORE, after, "model") is after


def test_a_step_is_done_when_something_was_recorded_during_it_or_a_note_says_what_came_of_it():
    with pytest.raises(RefusedError, match="S1 is not marked done"):
        may_finish(BEFORE, "S1", "  ")
    may_finish(BEFORE, "S1", "no vendor answered")
    recorded = (Entry(id="F1", text="x", step="S1"),)
    may_finish(msgspec.structs.replace(BEFORE, findings=recorded), "S1", "")
    with pytest.raises(RefusedError):
        may_finish(msgspec.structs.replace(BEFORE, findings=recorded), "S10", "")
