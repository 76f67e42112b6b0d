"""The other pages of the panel, clicked: history, health, recall, projects, sharing."""

import shutil
import subprocess

import ipywidgets as w
import pytest
from browser.sample import sample
from kernels import close, shell_in
from panels import Clicks

import throughline_nb as tl
from throughline_nb.hosts.notebook import binding
from throughline_nb.store import marks


@pytest.fixture
def shell(monkeypatch, tmp_path):
    made = shell_in(monkeypatch, tmp_path)
    yield made
    close(made)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The home of the sample, made once."""
    home = tmp_path_factory.mktemp("sample") / "home"
    sample(home, recall=True)
    sample(home, name="other", ident="1764500000001", recall=True)
    return home


@pytest.fixture
def p(shell, made, tmp_path):
    shutil.copytree(made, tmp_path / "home")
    return tl.open("llm-runtimes")


@pytest.fixture
def panel(p):
    made = Clicks()
    yield made
    made.close()


# --- history ----------------------------------------------------------------------------------


def test_a_line_a_change_with_when_and_who(p, panel):
    panel.click("History")
    (versions,) = panel.all(w.Select)
    labels = [label for label, _ in versions.options]
    assert len(labels) == 25
    assert versions.description == f"Versions, newest first (25 of {len(p.history())})"
    first = p.history(1)[0]
    assert labels[0].split()[1] == "model"
    assert first.subject[:40] in labels[0]
    panel.click("Show older versions")
    assert len(panel.all(w.Select)[0].options) == len(p.history())
    assert "Show older versions" not in panel.names()


def test_any_version_is_seen_as_it_was(p, panel):
    panel.click("History", "Older", "Older")
    record = p.history(3)[2]
    assert record.version in panel.text
    panel.field("Show").value = "Ledger as it was"
    assert "The ledger as it was at" in panel.text
    assert "Nothing here can be edited." in panel.text
    then = p.at(record.version)
    assert all(entry.text.split("`")[0] in panel.text for entry in then.decisions)
    assert len(then.proposals) == 0
    panel.click("Newer", "Newer")
    assert "proposals" in panel.text.lower()
    assert panel.button("Newer").disabled


def test_two_versions_are_compared_with_words_marked(p, panel):
    base = p.history(1)[0].version
    p.edit("F1", text="Alder is licensed under Apache.")
    p.edit("D3", reason="nightlies change weekly")
    panel.click("History")
    assert "Reason" not in panel.text
    assert "<del>daily</del> <ins>weekly</ins>" in panel.text
    assert "Apache" not in panel.text.split("tl-change", 1)[1]
    options = panel.field("Compare with").options
    panel.fill(Compare_with=next(each for each in options if each.startswith(base)))
    assert "2 changes from" in panel.text
    assert "<del>MIT.</del> <ins>Apache.</ins>" in panel.text
    panel.fill(Compare_with="99-ffff")
    assert "There is no version “99-ffff”" in panel.text


def test_the_first_version_compares_with_nothing(p, panel):
    panel.click("History", "Show older versions")
    (versions,) = panel.all(w.Select)
    versions.value = versions.options[-1][1]
    assert "The first version." in panel.text
    assert panel.button(f"Undo {versions.value}").disabled


def test_any_change_is_undone_and_redone(p, panel):
    p.edit("F1", text="Alder is licensed under Apache.")
    wanted = p.history(1)[0].version
    p.edit("F2", note="looked twice")
    panel.click("History", "Older", f"Undo {wanted}")
    assert p.ledger["F1"].text == "Alder is licensed under MIT."
    assert p.ledger["F2"].note == "looked twice"
    assert "Undone: F1 changed" in panel.said
    panel.click(f"Undo {wanted}")
    assert "is undone already" in panel.said


def test_a_version_that_is_looked_at_stays_when_another_comes(p, panel):
    panel.click("History", "Older")
    picked = panel.all(w.Select)[0].value
    p.constraint("No cloud")
    panel.panel.refresh()
    assert panel.all(w.Select)[0].value == picked


# --- health -----------------------------------------------------------------------------------


def test_health_names_each_thing_and_offers_what_helps(p, panel):
    assert "5 things need a look" in panel.text
    panel.click("Health (5)")
    for said in (
        "8,192 is not in its source", "cited, but no chat opened it", "has no source",
        "rests on F6 not read", "6 of 10 findings verified.",
    ):  # fmt: skip
        assert said in panel.text, said
    assert {"Edit F9", "Retract F6", "Retract F4", "Edit F8", "Confirm D2"} <= set(panel.names())


@pytest.mark.parametrize(
    ("click", "subject"),
    [("Confirm D2", "D2 confirmed"), ("Retract F4", "F4 retracted")],
)
def test_what_helps_is_done_at_once(p, panel, click, subject):
    panel.click("Health (5)", click)
    assert p.history(1)[0].subject.startswith(subject)
    assert p.history(1)[0].actor == "user"
    assert click not in panel.names()
    assert "Health (4)" in panel.names()


def test_an_editor_or_answer_is_opened_where_it_stands(p, panel):
    panel.click("Health (5)", "Edit F9")
    assert panel.panel.tab == "Ledger"
    assert "8,192" in panel.field("Finding").value
    while p.store.note_turn(["Q1"])["Q1"] < 30:
        pass
    panel.panel.refresh()
    panel.click("Cancel F9", "Health (6)")
    assert "open for 30 turns" in panel.text
    panel.click("Answer Q1")
    assert panel.panel.tab == "Ledger"
    assert panel.field("Answer Q1").value == ""


def test_no_step_in_hand_is_begun(p, panel):
    p.plan("S4", status="blocked", note="waits")
    panel.panel.refresh()
    panel.click("Health (6)", "Begin S5")
    assert p.ledger["S5"].status == "doing"


def test_doctor_reports_in_the_panel(p, panel):
    panel.click("Health (5)", "Doctor")
    assert "git" in panel.text


def test_all_is_well_is_said(shell):
    p = tl.start("Small")
    panel = Clicks(p)
    panel.click("Health")
    assert "All is well" in panel.text
    panel.close()


# --- recall -----------------------------------------------------------------------------------


def test_passages_come_as_one_types_with_turn_speaker_and_time(p, panel):
    panel.click("Recall")
    for typed in ("d", "default", "default context figure"):
        panel.fill(Search_what_was_said=typed)
    assert "best first" in panel.text
    assert "<b>turn 20</b>" in panel.text
    assert "<mark>default</mark>" in panel.text
    panel.fill(Search_what_was_said="zzzz")
    assert "Nothing in 1 chat answers" in panel.text
    panel.fill(Search_what_was_said="")
    assert "Nothing in" not in panel.text


def test_a_turn_is_opened_in_full(p, panel):
    panel.click("Recall")
    panel.fill(Search_what_was_said="max_position_embeddings")
    panel.click("Open turn 20")
    assert "<h3>Turn 20 " in panel.text
    assert "[20 assistant" in panel.text
    panel.click("Close turn 20")
    assert "[20 assistant" not in panel.text


def test_any_chat_of_the_project_is_searched_alone_or_all(p, panel):
    engine = binding.here().engine
    key = next(key for key in engine.chats.bound("other") if key.host == "lmstudio")
    engine.rebind(key, "llm-runtimes")
    panel.click("Recall")
    choice = panel.field("In")
    assert choice.options[0] == ("All 2 chats", "all")
    panel.fill(Search_what_was_said="max_position_embeddings")
    assert "in 2 chats, best first" in panel.text
    opening = [name for name in panel.names() if name.startswith("Open turn")]
    assert len(set(opening)) == len(opening)
    assert "Open turn 20 of lmstudio/1764500000001" in opening
    choice.value = str(key)
    assert "in 1 chat, best first" in panel.text


def test_a_project_without_a_long_chat_says_so(shell):
    panel = Clicks(tl.start("Small"))
    panel.click("Recall")
    panel.fill(Search_what_was_said="x")
    assert "Recall holds no chat of this project yet" in panel.text
    panel.close()


def test_the_words_of_a_chat_are_shown_as_text(shell, tmp_path):
    chat = sample(tmp_path / "home", recall=True)
    chat.say("<img src=x onerror=alert(1)> uncommonword")
    chat.answer()
    chat.say("Go on.")
    panel = Clicks(tl.open("llm-runtimes"))
    panel.click("Recall")
    panel.fill(Search_what_was_said="uncommonword")
    assert "&lt;img" in panel.text
    assert "<img" not in panel.text
    panel.close()


# --- projects and chats -----------------------------------------------------------------------


def test_it_says_which_project_is_open_and_which_chats_it_has(p, panel):
    panel.click("Projects and chats")
    assert "open here" in panel.text
    assert "lmstudio/1764500000000" in panel.text
    assert "this notebook" in panel.text
    panel.click("Open other")
    assert binding.here().project.slug == "other"
    assert "<h2>other</h2>" in panel.text
    assert panel.panel.tab == "Ledger"


def test_a_project_is_started_renamed_and_left(shell):
    panel = Clicks()
    assert panel.names() == ["Projects and chats", "Start project"]
    panel.fill(New_goal="Measure memory")
    panel.click("Start project")
    assert binding.here().project.slug == "measure-memory"
    assert "Project measure-memory started." in panel.said
    assert "Ledger" in panel.names()
    panel.click("Projects and chats")
    panel.fill(New_name="Peak memory")
    panel.click("Rename project")
    assert binding.here().project.slug == "peak-memory"
    panel.click("Projects and chats", "Unbind this notebook")
    assert binding.here().project is None
    assert "Ledger" not in panel.names()
    assert "Open peak-memory" in panel.names()
    panel.close()


def test_orphans_and_the_trash_are_shown_and_brought_back(shell, tmp_path):
    tl.start("Left behind")
    tl.start("Thrown away")
    tl.start("Mine")
    engine = binding.here().engine
    now = engine.clock()
    marks.update(engine.home, lambda m: marks.Marks(orphans={"left-behind": now - 2 * 86400.0}))
    engine.projects.trash("thrown-away")
    marks.update(
        engine.home,
        lambda m: marks.Marks(
            orphans=m.orphans, trash={"thrown-away": marks.Trashed("thrown-away", now)}
        ),
    )
    panel = Clicks()
    panel.click("Projects and chats")
    assert "orphaned 2 days ago: its last chat was deleted" in panel.text
    assert "in 5 days" in panel.text
    panel.click("Open thrown-away")
    assert engine.projects.exists("thrown-away")
    panel.click("Projects and chats", "Open left-behind")
    assert marks.load(engine.home).orphans == {}
    panel.close()


# --- sharing ----------------------------------------------------------------------------------


def test_a_project_is_shared_and_synced_and_says_how_far_both_are_apart(p, panel, tmp_path):
    remote = tmp_path / "shared.git"
    subprocess.run(["git", "init", "--quiet", "--bare", str(remote)], check=True)
    panel.click("Share")
    assert "No remote yet" in panel.text
    panel.fill(Remote=str(remote))
    panel.click("Share project")
    assert "Nothing is sent yet." in panel.said
    assert "What would leave this machine" in panel.said
    panel.click("Share project")
    assert "shared.git" in panel.text
    p.constraint("No cloud")
    panel.panel.refresh()
    assert "Share (1 ahead)" in panel.names()
    panel.click("Sync project")
    assert "Share" in panel.names()
    assert "last sync just now" in panel.text
    panel.fill(Remote="")
    panel.click("Share project")
    assert "share needs remote" in panel.said


def test_the_handoff_is_seen_before_it_is_written(p, panel):
    panel.click("Share", "Preview handoff")
    assert "<h1>Handoff: llm-runtimes</h1>" in panel.text
    assert not (p.store.path / "handoff.md").exists()
    panel.click("Write handoff")
    assert (p.store.path / "handoff.md").exists()


def test_without_sharing_there_is_no_such_page(p, monkeypatch):
    from throughline_nb.hosts.notebook.panel import share

    monkeypatch.setattr(share, "NAMES", ("no-such-command",))
    panel = Clicks(p)
    assert "Share" not in panel.names()
    panel.close()
