"""Operations on a ledger, and the rules that they keep on every path."""

import pytest

from throughline_nb.errors import NotFoundError, RefusedError
from throughline_nb.ledger import Ledger, edits
from throughline_nb.ledger.cascade import settle
from throughline_nb.ledger.edits import By
from throughline_nb.ledger.model import Entry

MODEL = By("model", "turn 3 of lmstudio/17", "2026-10-17T12:04:09Z")
USER = By("user", "", "2026-10-17T12:05:00Z")
EMPTY = Ledger(project="llm-runtimes")


def add(ledger, kind, text, by=MODEL, **fields):
    edited = edits.record(ledger, kind, text, by, **fields)
    return edited.ledger, edited


def test_a_finding_carries_who_where_when_and_the_step_in_hand():
    ledger = edits.plan(EMPTY, MODEL, text="Collect", status="doing").ledger
    ledger, edited = add(ledger, "finding", "It listens on 11434.", source="https://example.org/a")
    entry = ledger.findings[0]
    assert edited.sentence == "F1 added: It listens on 11434."
    assert (entry.id, entry.state, entry.step, entry.by) == ("F1", "unverified", "S1", "model")
    assert entry.origin == "turn 3 of lmstudio/17"
    assert entry.added == "2026-10-17T12:04:09Z"
    assert ledger.next_id("finding") == "F2"


def test_ids_are_never_used_again():
    ledger, _ = add(EMPTY, "question", "Which one?")
    ledger = edits.remove(ledger, "Q1", USER).ledger
    ledger, edited = add(ledger, "question", "Which other?")
    assert edited.id == "Q2"


@pytest.mark.parametrize(
    "again", ["It listens on 11434.", "it listens  on 11434", "“It listens on 11434.”"]
)
def test_recording_the_same_again_changes_nothing(again):
    ledger, _ = add(EMPTY, "finding", "It listens on 11434.", source="https://example.org/a")
    same, edited = add(ledger, "finding", again, source="https://EXAMPLE.org/a/#top")
    assert same is ledger
    assert edited.sentence == "already F1"
    same, edited = add(ledger, "finding", again)
    assert same is ledger


def test_the_same_with_another_source_changes_the_source():
    ledger, _ = add(EMPTY, "finding", "It listens on 11434.", source="https://example.org/a")
    ledger, edited = add(ledger, "finding", "It listens on 11434.", source="https://example.org/b")
    assert edited.id == "F1"
    assert len(ledger.findings) == 1
    assert ledger.findings[0].source == "https://example.org/b"


def test_after_a_retraction_the_same_is_a_new_entry():
    ledger, _ = add(EMPTY, "finding", "It listens on 11434.")
    ledger = edits.retract(ledger, "F1", MODEL, "old default").ledger
    assert ledger.findings[0].reason == "old default"
    ledger, edited = add(ledger, "finding", "It listens on 11434.")
    assert edited.id == "F2"


def test_a_changed_text_is_unverified_again_and_its_author_is_who_changed_it():
    ledger, _ = add(EMPTY, "finding", "It listens on 11434.", by=USER, source="user")
    assert ledger.findings[0].state == "verified"
    ledger = edits.record(
        ledger, "finding", "It listens on 11435.", MODEL, source="https://example.org", ident="f1"
    ).ledger
    entry = ledger.findings[0]
    assert (entry.state, entry.by, entry.text) == ("unverified", "model", "It listens on 11435.")


@pytest.mark.parametrize("kind", ["goal", "constraint"])
def test_the_model_only_proposes_goal_and_constraints(kind):
    ledger, edited = add(EMPTY, kind, "Only primary sources count.")
    assert (ledger.goal, ledger.constraints) == ("", ())
    assert edited.id == "P1"
    assert ledger.proposals[0].proposes == (kind, "Only primary sources count.")
    with pytest.raises(RefusedError):
        edits.accept(ledger, "P1", MODEL)
    after = edits.accept(ledger, "P1", USER).ledger
    assert after.proposals == ()
    assert (after.goal or after.constraints[0].text) == "Only primary sources count."


@pytest.mark.parametrize(
    "operation",
    [
        lambda ledger: edits.set_goal(ledger, "Another", MODEL),
        lambda ledger: edits.constrain(ledger, "Another", MODEL),
        lambda ledger: edits.remove(ledger, "C1", MODEL),
        lambda ledger: edits.retract(ledger, "C1", MODEL),
        lambda ledger: edits.reject(ledger, "P1", MODEL),
        lambda ledger: edits.retract(ledger, "P2", MODEL),
    ],
)
def test_no_operation_lets_the_model_touch_goal_constraints_or_the_users_word(operation):
    ledger = edits.constrain(EMPTY, "Rule", USER).ledger
    ledger, _ = add(ledger, "goal", "A goal")
    ledger, _ = add(ledger, "constraint", "A rule")
    with pytest.raises((RefusedError, NotFoundError)):
        operation(edits.reject(ledger, "P2", USER).ledger)


def test_done_needs_something_recorded_or_a_note():
    ledger = edits.plan(EMPTY, MODEL, text="Collect", status="doing").ledger
    with pytest.raises(RefusedError, match="S1"):
        edits.plan(ledger, MODEL, step="S1", status="done")
    assert edits.plan(ledger, MODEL, step="S1", status="done", note="none exist").ledger
    assert edits.plan(ledger, MODEL, step="S1", status="done", refuse_empty_done=False).ledger
    assert edits.plan(ledger, USER, step="S1", status="done").ledger.plan[0].status == "done"
    ledger, _ = add(ledger, "finding", "Found it.")
    assert edits.plan(ledger, MODEL, step="S1", status="done").ledger.plan[0].status == "done"


def test_a_new_step_is_not_done_before_anything_came_of_it():
    with pytest.raises(RefusedError, match="S1"):
        edits.plan(EMPTY, MODEL, text="Collect", status="done")
    assert edits.plan(EMPTY, MODEL, text="Collect", status="done", note="seven of them").id == "S1"
    assert edits.plan(EMPTY, USER, text="Collect", status="done").ledger.plan[0].status == "done"


def test_a_step_is_placed_behind_another():
    ledger = EMPTY
    for text in ("One", "Two"):
        ledger = edits.plan(ledger, MODEL, text=text).ledger
    ledger = edits.plan(ledger, MODEL, text="Between", after="S1").ledger
    assert [step.id for step in ledger.plan] == ["S1", "S3", "S2"]
    edited = edits.plan(ledger, MODEL, step="S1", after="S2")
    assert [step.id for step in edited.ledger.plan] == ["S3", "S2", "S1"]
    assert edited.sentence == "Plan reordered"


def test_a_resolved_question_can_become_a_finding_in_one_change():
    ledger, _ = add(EMPTY, "question", "Which port?")
    edited = edits.resolve(ledger, "Q1", "It is 11434.", MODEL, as_finding=True, source="user")
    assert edited.ledger.questions[0].answer == "It is 11434."
    assert edited.ledger.findings[0].text == "It is 11434."
    assert edited.sentence == "Q1 answered: It is 11434. (F1 added)"


def test_personal_facts_of_the_model_are_refused_and_the_users_own_pass():
    with pytest.raises(RefusedError, match="memory"):
        edits.record(EMPTY, "finding", "The user lives in a small town.", MODEL)
    assert edits.record(EMPTY, "finding", "The user lives in a small town.", USER).id == "F1"


@pytest.mark.parametrize(
    ("change", "mark"),
    [
        (lambda led: edits.retract(led, "F1", MODEL, "wrong").ledger, "F1 retracted"),
        (lambda led: edits.record(led, "finding", "Else.", MODEL, ident="F1").ledger, "F1 changed"),
        (lambda led: edits.remove(led, "F1", USER).ledger, "F1 removed"),
    ],
)
def test_a_decision_is_suspect_when_what_it_rests_on_falls(change, mark):
    ledger, _ = add(EMPTY, "finding", "It listens on 11434.")
    ledger, _ = add(ledger, "decision", "Use the default port", because="F1")
    fallen = settle(ledger, change(ledger))
    assert fallen.decisions[0].suspect == mark
    assert settle(fallen, edits.constrain(fallen, "More", USER).ledger).decisions[0].suspect == mark
    accepted = settle(fallen, edits.accept(fallen, "D1", USER).ledger)
    assert accepted.decisions[0].suspect == ""
    assert (
        settle(accepted, edits.constrain(accepted, "More", USER).ledger)
        == edits.constrain(accepted, "More", USER).ledger
    )
    again = edits.record(fallen, "decision", "Use the default port", MODEL, because="F1")
    assert settle(fallen, again.ledger).decisions[0].suspect == ""


def test_unknown_ids_are_told_with_what_there_is():
    ledger, _ = add(EMPTY, "finding", "One.")
    with pytest.raises(NotFoundError, match="F1"):
        edits.find(ledger, "F9", "finding")
    with pytest.raises(NotFoundError, match="finding, not a question"):
        edits.find(ledger, "F1", "question")
    with pytest.raises(RefusedError, match="because"):
        edits.record(ledger, "decision", "Do it", MODEL, because="the docs")


@pytest.mark.parametrize(
    ("text", "constraint", "goal"),
    [
        ("Use only MIT code", "Use only MIT code", "Old"),
        ("note: use only MIT code", "note: use only MIT code", "Old"),
        ("constraint: Use only MIT code", "Use only MIT code", "Old"),
        ("Goal: New", None, "New"),
    ],
)
def test_a_proposal_is_accepted_as_it_was_read(text, constraint, goal):
    proposal = Entry(id="P1", text=text, by="user")
    before = Ledger(goal="Old", proposals=(proposal,), next=(1, 1, 1, 1, 1, 2))
    after = edits.accept(before, "P1", By("user")).ledger
    assert after.goal == goal
    assert [entry.text for entry in after.constraints] == ([constraint] if constraint else [])
    assert not after.proposals


@pytest.mark.parametrize("kind", ["goal", "constraint"])
@pytest.mark.parametrize("text", ["Other words", "note: other words"])
def test_a_proposal_that_is_reworded_proposes_the_same_kind(kind, text):
    first = edits.record(Ledger(goal="Old"), kind, "Some words", By("model")).ledger
    after = edits.record(first, "proposal", text, By("model"), ident="P1").ledger
    assert after.proposals[0].proposes == (kind, text)
