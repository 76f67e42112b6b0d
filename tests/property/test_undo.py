"""Undo and redo, on random changes in real repositories."""

import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from stores import BY, MODEL, USER, count, finding, git, goal, project, recording, sound, texts

from throughline_nb.errors import RefusedError, ThroughLineError
from throughline_nb.ledger import edits, read
from throughline_nb.ledger.edits import By

PERSON = By("user", "", "2026-10-18T08:00:00Z")
WORDS = st.text("abcdefghij klmnop", min_size=3, max_size=24).map(str.strip)
TEXTS = WORDS.filter(lambda text: len(text) > 2)


def _pair(done):
    return done.ledger, done.sentence


def _remove(n):
    def edit(ledger):
        found = list(ledger.entries())
        if not found:
            return ledger, ""
        return _pair(edits.remove(ledger, found[n % len(found)].id, PERSON))

    return edit


def _step(text, n):
    def edit(ledger):
        if ledger.plan and n % 2:
            step = ledger.plan[n % len(ledger.plan)].id
            return _pair(edits.plan(ledger, PERSON, step=step, status="doing", note=text))
        return _pair(edits.plan(ledger, PERSON, text=text))

    return edit


def _reword(text, n):
    def edit(ledger):
        if not ledger.findings:
            return ledger, ""
        ident = ledger.findings[n % len(ledger.findings)].id
        return _pair(edits.record(ledger, "finding", text, PERSON, ident=ident))

    return edit


NUMBERS = st.integers(0, 40)
CHANGES = st.one_of(
    TEXTS.map(lambda text: (finding(text), MODEL)),
    TEXTS.map(lambda text: (recording("question", text), MODEL)),
    TEXTS.map(lambda text: (recording("decision", text, because="F1"), MODEL)),
    TEXTS.map(lambda text: (goal(text), USER)),
    NUMBERS.map(lambda n: (_remove(n), USER)),
    st.tuples(TEXTS, NUMBERS).map(lambda given: (_step(*given), USER)),
    st.tuples(TEXTS, NUMBERS).map(lambda given: (_reword(*given), USER)),
)


def same(one, other):
    """Equal but for the numbers that are used up, which never go back."""
    return msgspec.structs.replace(one, next=()) == msgspec.structs.replace(other, next=())


def applied(made, changes):
    for edit, stamp in changes:
        try:
            made.change(edit, stamp)
        except ThroughLineError:  # a change that the ledger's rules refuse
            continue


few = settings(
    max_examples=settings.default.max_examples // 8, suppress_health_check=[HealthCheck.too_slow]
)


@pytest.mark.slow
@few
@given(st.lists(CHANGES, min_size=1, max_size=7))
def test_undo_again_and_again_reaches_the_start_and_redo_the_end(changes):
    with tempfile.TemporaryDirectory() as folder:
        made = project(Path(folder))
        applied(made, changes)
        versions = [made.at(record.version).ledger for record in made.history()]
        undone = []
        for before in versions[1:]:
            undone.append(made.undo(None, USER))
            assert same(made.read().ledger, before)
        with pytest.raises(RefusedError, match="Nothing is left to undo"):
            made.undo(None, USER)
        for after, each in zip(reversed(versions[:-1]), reversed(undone), strict=True):
            redone = made.undo(each.snapshot.version, USER)
            assert redone.record.version == each.snapshot.version
            assert same(made.read().ledger, after)
        assert made.read().ledger.next == versions[0].next
        assert count(made.path, "HEAD") == 3 * (len(versions) - 1) + 1
        assert (
            read((made.path / "ledger.md").read_text(encoding="utf-8")).ledger == made.read().ledger
        )
        assert sound(made.path)


@few
@given(st.lists(CHANGES, min_size=2, max_size=6), st.integers(0, 5))
def test_undo_and_redo_of_any_change_leaves_what_it_was(changes, which):
    with tempfile.TemporaryDirectory() as folder:
        made = project(Path(folder))
        applied(made, changes)
        records = made.history()[:-1]
        if not records:
            return
        target = records[which % len(records)]
        before = made.read().ledger
        undone = made.undo(target.version, USER)
        assert undone.record == target
        with pytest.raises(RefusedError, match="undone already"):
            made.undo(target.version, USER)
        redone = made.undo(undone.snapshot.version, USER)
        if not undone.notices and not redone.notices and target == records[0]:
            assert same(redone.snapshot.ledger, before)
        kept = {entry.id for entry in redone.snapshot.ledger.entries()}
        assert kept >= {entry.id for entry in before.entries()} - set(named(undone.changes))
        assert made.read().ledger.next == before.next


def named(changes):
    return {change.name for change in changes}


class TestWhichChange:
    def test_the_engines_own_are_skipped(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("by the model"), MODEL)
        made.change(
            recording("question", "by the engine"), msgspec.structs.replace(MODEL, actor="engine")
        )
        undone = made.undo(None, USER)
        assert undone.record.subject == "F1 added: by the model"
        assert len(undone.snapshot.ledger.questions) == 1

    def test_what_came_after_stays(self, tmp_path):
        made = project(tmp_path)
        first = made.change(finding("the first"), MODEL)
        made.change(finding("the second"), MODEL)
        made.undo(first.version, USER)
        assert texts(made.read()) == ["the second"]
        assert made.change(finding("the third"), MODEL).ledger.findings[-1].id == "F3"

    def test_a_redone_change_can_be_undone_again(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        for _ in range(3):
            undone = made.undo(None, USER)
            assert texts(undone.snapshot) == []
            redone = made.undo(undone.snapshot.version, USER)
            assert texts(redone.snapshot) == ["the first"]
        assert made.undo("2", USER).record.version.startswith("2-")
        assert texts(made.read()) == []

    def test_it_says_undoes_in_its_commit(self, tmp_path):
        made = project(tmp_path)
        now = made.change(finding("the first"), MODEL)
        undone = made.undo(None, USER)
        message = git(made.path, "log", "-1", "--format=%B")
        assert message.startswith("Undone: F1 added: the first\n")
        assert f"\nUndoes: {now.version}\n" in message
        assert made.history(1)[0].undoes == now.version
        redone = made.undo(undone.snapshot.version, USER)
        assert made.history(1)[0].subject == "Redone: F1 added: the first"
        made.undo(redone.snapshot.version, USER)
        assert made.history(1)[0].subject == "Undone: F1 added: the first"

    def test_a_hand_edit_is_one_change(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        path = made.path / "ledger.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(
            text.replace("the first", "the 1st").replace("## Plan\n", "## Plan\n\n- [ ] go\n"),
            encoding="utf-8",
        )
        undone = made.undo(None, USER)  # merged first, and the newest change then
        assert texts(undone.snapshot) == ["the first"]
        assert undone.snapshot.ledger.plan == ()
        assert {change.name for change in undone.changes} == {"F1", "S1"}

    def test_an_entry_changed_since_stays_and_it_is_said(self, tmp_path):
        made = project(tmp_path)
        now = made.change(finding("the first"), MODEL)
        made.change(
            lambda was: _pair(edits.record(was, "finding", "reworded", BY, ident="F1")), MODEL
        )
        undone = made.undo(now.version, USER)
        assert texts(undone.snapshot) == ["reworded"]
        assert undone.notices

    def test_nothing_to_undo(self, tmp_path):
        made = project(tmp_path)
        with pytest.raises(RefusedError, match="Nothing is left to undo"):
            made.undo(None, USER)
        with pytest.raises(RefusedError, match="start of a project"):
            made.undo("1", USER)
        assert count(made.path, "HEAD") == 1

    def test_far_back_in_a_long_history(self, tmp_path, monkeypatch):
        from throughline_nb.store import history

        monkeypatch.setattr(history, "_PAGE", 3)
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        for i in range(6):
            made.change(
                recording("question", f"what of {i}"),
                msgspec.structs.replace(MODEL, actor="engine"),
            )
        assert made.undo(None, USER).record.subject == "F1 added: the first"
