"""Every action of the panel's first page, clicked; each is one commit of the user."""

import time

import ipywidgets as w
import pytest
from kernels import close, shell_in
from panels import Clicks

import throughline_nb as tl


@pytest.fixture
def p(monkeypatch, tmp_path):
    shell = shell_in(monkeypatch, tmp_path)
    project = tl.start("Measure memory")
    project.plan(text="Collect `models`", status="doing")
    project.plan(text="Measure")
    project.record("finding", "Peak was 6.1 GB.", source="https://example.org/a")
    project.record("finding", "The median was 5.0 GB.")
    project.record("decision", "Use 8 GB", reason="peak and room", because="F1")
    project.record("question", "Which model?")
    project.constraint("Only medians count")
    project.tools().call("ledger_record", {"kind": "constraint", "text": "Only on Linux"})
    project.tools().call("ledger_record", {"kind": "goal", "text": "Measure it twice"})
    yield project
    close(shell)


@pytest.fixture
def panel(p):
    made = Clicks()
    yield made
    made.close()


def latest(p):
    record = p.history(1)[0]
    return record.subject, record.actor


def test_it_shows_the_whole_ledger(panel):
    for said in (
        "Measure memory", "Peak was 6.1 GB.", "no source", "because F1", "Which model?",
        "Only medians count", "proposes a constraint", "Only on Linux", "proposes a goal",
        "0 of 2 done · now S1",
    ):  # fmt: skip
        assert said in panel.text, said
    assert 'href="https://example.org/a"' in panel.text
    assert panel.names(w.Checkbox) == ["Collect models", "Measure"]
    assert [name for name in panel.names() if name.startswith("Edit F")] == ["Edit F2", "Edit F1"]


@pytest.mark.parametrize(
    ("clicks", "fields", "subject"),
    [
        (["Accept P1"], {}, "P1 accepted: C2 added: Only on Linux"),
        (["Reject P2"], {}, "P2 rejected: goal: Measure it twice"),
        (["Edit goal", "Save goal"], {"Goal": "Measure all"}, "Goal changed: Measure all"),
        (["Edit S1", "Save S1"], {"Status": "blocked"}, "S1 blocked"),
        (["Edit S1", "Save S1"], {"Note": "two left"}, "S1 changed: note two left"),
        (["Edit S2", "Move S2 up"], {}, "Plan reordered"),
        (["Edit S1", "Move S1 down"], {}, "Plan reordered"),
        (["Edit F1", "Save F1"], {"Finding": "Peak was 6.4 GB."}, "F1 changed: Peak was 6.4 GB."),
        (["Edit F2", "Save F2"], {"Source": "user"}, "F2 changed: source user"),
        (["Edit F1", "Retract F1"], {"Reason": "too old"}, "F1 retracted: too old"),
        (["Edit F2", "Remove F2"], {}, "F2 removed: The median was 5.0 GB."),
        (["Edit D1", "Save D1"], {"Because": "F2"}, "D1 changed: because F2"),
        (["Edit Q1", "Save Q1"], {"Question": "Which ones?"}, "Q1 changed: Which ones?"),
        (["Save answer Q1"], {"Answer Q1": "the small one"}, "Q1 answered: the small one"),
        (["Edit C1", "Save C1"], {"Constraint": "Means"}, "C1 changed: Means"),
        (["Edit C1", "Remove C1"], {}, "C1 removed: Only medians count"),
        (["Edit P1", "Save P1"], {"Proposal": "constraint: Linux"}, "P1 changed: constraint: Linux"),
        (["Add step", "Save step"], {"Step": "Write", "After": "S1"}, "S3 added: Write; Plan"),
        (["Add finding", "Save finding"], {"Finding": "It was 7.", "Source": "user"}, "F3 added: It"),
        (["Add decision", "Save decision"], {"Decision": "Go", "Because": "F2"}, "D2 added: Go"),
        (["Add question", "Save question"], {"Question": "Why?"}, "Q2 added: Why?"),
        (["Add constraint", "Save constraint"], {"Constraint": "No cloud"}, "C2 added: No cloud"),
        (["Undo last change"], {}, "Undone: P2 added"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)  # fmt: skip
def test_each_action_is_one_commit_of_the_user(p, panel, clicks, fields, subject):
    before = len(p.history())
    panel.click(*clicks[:-1])
    for name, value in fields.items():
        panel.field(name).value = value
    panel.click(clicks[-1])
    said, actor = latest(p)
    assert actor == "user"
    first, _, also = subject.partition("; ")
    assert first in said or also in said, said
    assert len(p.history()) == before + 1
    assert "tl-told" in panel.said, panel.said
    assert "<pre>" not in panel.said


def test_a_step_is_ticked_and_unticked(p, panel):
    panel.field("Measure").value = True
    assert latest(p) == ("S2 done", "user")
    assert "1 of 2 done" in panel.text
    panel.field("Measure").value = False
    assert latest(p) == ("S2 todo", "user")
    assert p.ledger["S2"].status == "todo"


def test_an_entry_that_is_closed_as_it_is_makes_no_commit(p, panel):
    before = len(p.history())
    for clicks in (["Edit F1", "Cancel F1"], ["Edit F1", "Save F1"], ["Add step", "Cancel step"]):
        panel.click(*clicks)
    assert len(p.history()) == before
    assert "Save F1" not in panel.names()


def test_an_empty_field_is_taken_out_and_an_empty_text_is_refused(p, panel):
    panel.click("Edit F1")
    panel.fill(Source="")
    panel.click("Save F1")
    assert p.ledger["F1"].source == ""
    panel.click("Edit F1")
    panel.fill(Finding=" ")
    panel.click("Save F1")
    assert "The text of F1 is empty; it stays as it is." in panel.said
    assert 'role="alert"' in panel.said
    assert "Save F1" in panel.names()


def test_what_cannot_be_is_told_in_one_sentence_and_nothing_is_lost(p, panel):
    panel.click("Edit D1")
    panel.fill(Because="F99")
    panel.click("Save D1")
    assert "There is no entry F99" in panel.said
    assert panel.field("Because").value == "F99"
    panel.click("Cancel D1", "Add finding", "Save finding")
    assert "text is empty" in panel.said
    panel.click("Cancel finding", "Save answer Q1")
    assert "answer is empty" in panel.said


def test_a_suspect_decision_says_why_and_is_confirmed(p, panel):
    p.edit("F1", text="Peak was 9.9 GB.")
    panel.panel.refresh()
    assert "suspect: F1 changed" in panel.text
    panel.click("Edit D1", "Accept D1")
    assert p.ledger["D1"].suspect == ""
    assert "suspect:" not in panel.text


def test_what_rests_on_an_entry_is_said_in_its_editor(panel):
    panel.click("Edit F1")
    assert "D1 rests on F1: a changed text marks it suspect" in panel.text


def test_findings_are_filtered_by_words_and_state(p, panel):
    for n in range(8):
        p.record("finding", f"Run {n} was fine.", source="user")
    panel.panel.refresh()
    panel.fill(Filter_findings="run 3")
    assert [name for name in panel.names() if name.startswith("Edit F")] == ["Edit F6"]
    panel.fill(Filter_findings="unverified")
    assert [name for name in panel.names() if name.startswith("Edit F")] == ["Edit F2", "Edit F1"]
    panel.fill(Filter_findings="nothing like it")
    assert [name for name in panel.names() if name.startswith("Edit F")] == []


def test_html_of_a_ledger_stays_text(p, panel):
    p.record("finding", "<img src=x onerror=alert(1)> and [a](javascript:alert(1))")
    p.plan(text="<script>alert(1)</script> it")
    panel.panel.refresh()
    assert "<img" not in panel.text
    assert "<script" not in panel.text
    assert 'href="javascript' not in panel.text
    assert "<script>alert(1)</script> it" in panel.names(w.Checkbox)


def test_an_answer_is_kept_while_questions_come_and_go(p, panel):
    p.record("question", "Second?")
    p.record("question", "Third?")
    panel.panel.refresh()
    field = panel.field("Answer Q2")
    field.value = "half an ans"
    before = panel.panel.ledger.sections["questions"]._before.children
    p.resolve("Q1", "the small one")
    p.remove("Q3")
    p.record("question", "Fourth?")
    panel.panel.refresh()
    assert panel.field("Answer Q2") is field
    assert field.value == "half an ans"
    now = panel.panel.ledger.sections["questions"]._before.children
    assert now[: len(before)] == before  # a child in front of it would rebuild the field's view
    assert "Answer Q3" not in panel.names(w.Text)
    panel.click("Save answer Q2")
    assert p.ledger["Q2"].answer == "half an ans"
    assert "Answer Q4" in panel.names(w.Text)


@pytest.mark.parametrize(
    ("clicks", "field", "save", "words"),
    [
        ([], "Answer Q1", "Save answer Q1", ["half", "half an answer"]),
        (["Add question"], "Question", "Save question", ["Is it", "Is it large?"]),
        (["Edit F1"], "Finding", "Save F1", ["A", "A finding in other words"]),
    ],
)
def test_letters_that_come_after_the_click_are_saved(p, panel, clicks, field, save, words):
    """The browser holds them back until it hears of the last one; a click it sends at once."""
    panel.click(*clicks)
    typed = panel.field(field)
    typed.set_state({"value": words[0]})  # as from the browser
    panel.click(save)
    time.sleep(0.1)
    typed.set_state({"value": words[1]})
    until = time.monotonic() + 10
    while words[1] not in str(latest(p)) and time.monotonic() < until:
        time.sleep(0.05)
    assert words[1] in str(latest(p))


def test_a_panel_that_is_taken_away_saves_what_was_clicked_before(p, panel):
    panel.field("Answer Q1").set_state({"value": "the small one"})
    panel.click("Save answer Q1")
    panel.close()
    assert p.ledger["Q1"].answer == "the small one"


def test_an_empty_ledger_says_what_appears_where(p):
    started = tl.start()
    panel = Clicks(started)
    for said in (
        "No goal yet.", "No steps yet.", "Nothing found yet.", "Nothing is blocking.",
        "No decisions yet.", "No rules yet.",
    ):  # fmt: skip
        assert said in panel.text
    assert panel.button("Undo last change").disabled
    panel.click("Write the goal")
    panel.fill(Goal="Measure")
    panel.click("Save goal")
    assert started.ledger.goal == "Measure"
    panel.close()
