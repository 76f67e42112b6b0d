"""Two people at once: what was changed elsewhere meanwhile is merged and shown, never overwritten."""

import threading
import time

import pytest
from kernels import close, shell_in
from panels import Clicks

import throughline_nb as tl

LIMIT = 2.0
"""Seconds within which a change made elsewhere must be seen."""


@pytest.fixture
def p(monkeypatch, tmp_path):
    shell = shell_in(monkeypatch, tmp_path)
    project = tl.start("Measure memory")
    project.plan(text="Measure", status="doing")
    project.record("finding", "Peak was 6.1 GB.", source="https://example.org/a")
    project.record("finding", "The median was 5.0 GB.", source="user")
    yield project
    close(shell)


@pytest.fixture
def panel(p):
    made = Clicks()
    yield made
    made.close()


def model(p, **given):
    answer = p.tools().call("ledger_record", given)
    assert not answer.startswith("Not done"), answer


def hand_edit(p, old, new):
    file = p.store.path / "ledger.md"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


def test_another_field_changed_meanwhile_stands_beside_mine(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.1 GB at 8k.")
    model(p, id="F1", source="https://example.org/b")
    panel.click("Save F1")
    entry = p.ledger["F1"]
    assert (entry.text, entry.source) == ("Peak was 6.1 GB at 8k.", "https://example.org/b")
    assert p.history(1)[0].actor == "user"


def test_another_entry_changed_meanwhile_needs_no_word(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    model(p, id="F2", text="The median was 5.5 GB.")
    panel.click("Save F1")
    assert [e.text for e in p.ledger.findings] == ["Peak was 6.4 GB.", "The median was 5.5 GB."]
    assert "while you were typing" not in panel.text


def test_the_same_text_changed_meanwhile_is_asked_about_before_it_is_saved(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    model(p, id="F1", text="Peak was 7.7 GB.")
    before = len(p.history())
    panel.click("Save F1")
    assert "Nothing is saved yet: choose above." in panel.said
    assert "The model changed F1 while you were typing" in panel.text
    assert "<del>6.1</del> <ins>7.7</ins>" in panel.text
    assert panel.field("Finding").value == "Peak was 6.4 GB."
    assert len(p.history()) == before
    assert p.ledger["F1"].text == "Peak was 7.7 GB."


def test_keep_mine(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    model(p, id="F1", text="Peak was 7.7 GB.", source="https://example.org/b")
    panel.panel.refresh()
    panel.click("Keep mine")
    assert "Keep mine" not in panel.names()
    panel.click("Save F1")
    entry = p.ledger["F1"]
    assert (entry.text, entry.source) == ("Peak was 6.4 GB.", "https://example.org/b")
    history = p.history(2)
    assert [record.actor for record in history] == ["user", "model"]
    assert p.at(history[1].version)["F1"].text == "Peak was 7.7 GB."


def test_use_theirs(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.", Note="on the laptop")
    model(p, id="F1", text="Peak was 7.7 GB.")
    panel.panel.refresh()
    panel.click("Use theirs")
    assert panel.field("Finding").value == "Peak was 7.7 GB."
    assert panel.field("Note").value == "on the laptop"
    panel.click("Save F1")
    assert (p.ledger["F1"].text, p.ledger["F1"].note) == ("Peak was 7.7 GB.", "on the laptop")


def test_a_second_change_after_keep_mine_is_asked_about_again(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    model(p, id="F1", text="Peak was 7.7 GB.")
    panel.panel.refresh()
    panel.click("Keep mine")
    model(p, id="F1", text="Peak was 8.8 GB.")
    panel.click("Save F1")
    assert p.ledger["F1"].text == "Peak was 8.8 GB."
    assert "Keep mine" in panel.names()


def test_notes_of_both_sides_are_merged_word_by_word(p, panel):
    p.edit("F1", note="measured on one laptop with nothing else running")
    panel.panel.refresh()
    panel.click("Edit F1")
    panel.fill(Note="measured twice on one laptop with nothing else running")
    p.edit("F1", note="measured on one laptop with nothing else running, cold")
    panel.click("Save F1")
    assert p.ledger["F1"].note == "measured twice on one laptop with nothing else running, cold"


def test_an_entry_removed_meanwhile_comes_back_only_when_asked_for(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    p.remove("F1")
    panel.panel.refresh()
    assert "F1 was removed while you were typing" in panel.text
    assert panel.field("Finding").value == "Peak was 6.4 GB."
    panel.click("Keep mine", "Save F1")
    assert p.ledger["F1"].text == "Peak was 6.4 GB."


def test_an_entry_removed_meanwhile_can_be_let_go(p, panel):
    panel.click("Edit F1")
    panel.fill(Finding="Peak was 6.4 GB.")
    p.remove("F1")
    panel.panel.refresh()
    panel.click("Use theirs")
    assert "Save F1" not in panel.names()
    assert p.ledger.get("F1") is None


def test_nothing_is_removed_that_is_no_longer_what_was_seen(p, panel):
    for name in ("Remove F1", "Retract F1"):
        panel.click("Edit F1")
        model(p, id="F1", text=f"Peak was {len(name)} GB.")
        panel.click(name)
        assert "was changed meanwhile; nothing was done" in panel.said
        assert not p.ledger["F1"].retracted
        panel.click("Cancel F1")


def test_the_goal_is_merged_too(p, panel):
    panel.click("Edit goal")
    panel.fill(Goal="Measure the memory of three models")
    p.goal("Measure time")
    panel.click("Save goal")
    assert "Goal was changed while you were typing" in panel.text
    assert p.ledger.goal == "Measure time"
    panel.click("Keep mine", "Save goal")
    assert p.ledger.goal == "Measure the memory of three models"


def test_an_open_field_is_never_set(p, panel):
    panel.click("Edit F1")
    fields = [panel.field(name) for name in ("Finding", "Source", "Note")]
    before = panel.panel.ledger.sections["findings"]._slot.children
    set_to = []
    for field in fields:
        field.observe(lambda change: set_to.append(change["new"]), "value")
    for n in range(3):
        model(p, id="F1", text=f"Peak was {n} GB.", source=f"https://example.org/{n}")
        p.record("finding", f"Another {n}.")
        panel.panel.refresh()
    assert set_to == []
    assert panel.panel.ledger.sections["findings"]._slot.children == before


def test_rows_that_did_not_change_are_left_alone(p, panel):
    row = panel.panel.ledger.sections["findings"].rows["F2"]
    sent = []
    row.text.observe(lambda change: sent.append(change["new"]), "value")
    widget = row.widget
    model(p, id="F1", text="Peak was 7.7 GB.")
    panel.panel.refresh()
    assert sent == []
    assert panel.panel.ledger.sections["findings"].rows["F2"].widget is widget
    assert "Peak was 7.7 GB." in panel.text


# --- following --------------------------------------------------------------------------------


@pytest.fixture
def followed(panel, capsys):
    panel.panel._ipython_display_()
    yield panel
    capsys.readouterr()


def seen_within(panel, said):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if said in panel.text:
            return True
        time.sleep(0.02)
    return False


def test_a_change_by_a_chat_is_seen_within_two_seconds(p, followed):
    model(p, kind="finding", text="It was 7.")
    assert seen_within(followed, "It was 7.")


def test_a_hand_edit_is_merged_and_seen_within_two_seconds(p, followed):
    followed.click("Edit F1")
    followed.fill(Finding="Peak was 6.4 GB.")
    hand_edit(p, "The median was 5.0 GB.", "The median was 5.5 GB.")
    assert seen_within(followed, "The median was 5.5 GB.")
    assert seen_within(followed, "Your edit of ledger.md was merged: F2 changed.")
    assert followed.field("Finding").value == "Peak was 6.4 GB."
    followed.click("Save F1")
    assert [e.text for e in p.store.read().ledger.findings] == [
        "Peak was 6.4 GB.",
        "The median was 5.5 GB.",
    ]


def test_a_file_that_cannot_be_read_is_told_and_the_panel_goes_on(p, followed):
    (p.store.path / "ledger.md").write_bytes(b"\xff\x00 no ledger")
    assert seen_within(followed, "could not be read")
    p.record("finding", "It was 7.")
    assert seen_within(followed, "It was 7.")


def test_the_notebooks_own_project_is_followed_wherever_it_goes(p, followed):
    tl.start("Other matters")
    assert seen_within(followed, "other-matters")
    tl.open("other-matters").rename("another")
    assert seen_within(followed, "<h2>another</h2>")


def test_following_starts_no_process(p, followed, monkeypatch):
    import subprocess

    started = []
    original = subprocess.Popen.__init__

    def counted(self, *args, **kwargs):
        started.append(args)
        original(self, *args, **kwargs)

    monkeypatch.setattr(subprocess.Popen, "__init__", counted)
    time.sleep(1.3)
    assert started == []


def test_the_thread_ends_with_the_panel(p):
    panel = Clicks()
    panel.panel._ipython_display_()
    assert any(each.name == "throughline-panel" for each in threading.enumerate())
    panel.close()
    assert not any(each.name == "throughline-panel" for each in threading.enumerate())
