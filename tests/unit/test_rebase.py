"""A change chosen on one version, carried out on a later one."""

import pytest

from throughline_nb.errors import RefusedError
from throughline_nb.ledger import Ledger, edits
from throughline_nb.ledger.amend import amend
from throughline_nb.ledger.edits import By
from throughline_nb.ledger.rebase import rebased

USER = By("user", "turn 3 of notebook/a.ipynb", "2026-10-17T12:04:09Z")
MODEL = By("model", "turn 4 of lmstudio/1", "2026-10-17T12:05:09Z")


@pytest.fixture
def base():
    ledger = edits.set_goal(Ledger(project="x"), "Measure", USER).ledger
    for text in ("Peak was 6.1 GB.", "The median was 5.0 GB."):
        ledger = edits.record(ledger, "finding", text, MODEL, source="https://example.org/a").ledger
    return ledger


def mine(**fields):
    return lambda ledger: amend(ledger, "F1", USER, **fields)


def test_on_the_version_that_was_seen_it_is_the_operation_itself(base):
    done = rebased(base, base, mine(text="Peak was 6.4 GB."))
    assert done.edited == amend(base, "F1", USER, text="Peak was 6.4 GB.")
    assert done.notices == ()


def test_what_others_changed_stands_beside_it(base):
    now = amend(base, "F1", MODEL, source="https://example.org/b").ledger
    now = edits.record(now, "question", "Which?", MODEL).ledger
    done = rebased(base, now, mine(text="Peak was 6.4 GB."))
    entry = done.edited.ledger.get("F1")
    assert (entry.text, entry.source) == ("Peak was 6.4 GB.", "https://example.org/b")
    assert done.edited.ledger.questions == now.questions
    assert done.edited.sentence == "F1 changed: Peak was 6.4 GB."
    assert done.notices == ()


def test_where_both_changed_one_thing_what_was_chosen_stands_and_a_notice_tells(base):
    now = amend(base, "F1", MODEL, text="Peak was 7.7 GB.").ledger
    done = rebased(base, now, mine(text="Peak was 6.4 GB."))
    assert done.edited.ledger.get("F1").text == "Peak was 6.4 GB."
    assert len(done.notices) == 1
    assert "Peak was 7.7 GB." in done.notices[0]


def test_the_same_change_on_both_sides_is_none(base):
    now = amend(base, "F1", MODEL, text="Peak was 6.4 GB.").ledger
    done = rebased(base, now, mine(text="Peak was 6.4 GB."))
    assert done.edited.ledger.get("F1").text == "Peak was 6.4 GB."
    assert done.notices == ()


def test_an_entry_that_was_removed_comes_back_with_a_notice(base):
    now = edits.remove(base, "F1", USER).ledger
    done = rebased(base, now, mine(text="Peak was 6.4 GB."))
    assert done.edited.ledger.get("F1").text == "Peak was 6.4 GB."
    assert done.notices == ("F1 was deleted on one side and changed on the other; it stays.",)


def test_what_is_refused_on_the_version_that_was_seen_is_refused(base):
    now = edits.set_goal(base, "Measure twice", USER).ledger
    with pytest.raises(RefusedError, match="The text of F1 is empty"):
        rebased(base, now, mine(text=" "))
