"""What the engine does for a notebook: its key, its own projects, its cells, edits in place."""

import pytest
from stores import NOW, git

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine.operations import TOOLS
from throughline_nb.engine.session import Engine
from throughline_nb.errors import NotFoundError, RefusedError, ThroughLineError
from throughline_nb.ledger.amend import amend, move
from throughline_nb.ledger.cells import ran, source_of
from throughline_nb.ledger.edits import By
from throughline_nb.ledger.model import Entry, Ledger
from throughline_nb.store.home import Home

KEY = ChatKey("notebook", "measure.ipynb")
CELL = source_of("3f9a", str(KEY))


@pytest.fixture
def home(tmp_path):
    return Home(tmp_path / "home")


@pytest.fixture
def engine(home):
    made = Engine(home, lambda: NOW)
    made.command("start Measure memory", key=KEY)
    return made


def record(engine, text, source=CELL, project="", kind="finding", **given):
    given = {"kind": kind, "text": text, **({"source": source} if source else {}), **given}
    operation = TOOLS.get("ledger_record")
    arguments = operation.arguments(given).values()
    return engine.perform(
        "Tool: ledger_record",
        lambda run: operation.run(run, *arguments),
        key=KEY,
        project=project,
        turn=7,
    )


def seen(engine, output, cell="3f9a", projects=(), **how):
    return engine.cells.seen(KEY, [ran(cell, "print(peak)", output, **how)], 8, projects)


def finding(engine, ident="F1", project="measure-memory"):
    return engine.projects.open(project).read().ledger.get(ident)


def test_what_is_done_in_a_notebook_says_where_and_gives_the_id(engine):
    reply = record(engine, "Peak memory was 6.1 GB.")
    assert reply.id == "F1"
    entry = finding(engine)
    assert (entry.by, entry.origin) == ("user", "turn 7 of notebook/measure.ipynb")
    latest = engine.projects.open("measure-memory").history(1)[0]
    assert (latest.actor, latest.chat, latest.turn) == ("user", str(KEY), 7)


def test_a_finding_is_verified_after_the_run_and_stale_after_another(engine):
    record(engine, "Peak memory was 6.1 GB.")
    assert finding(engine).state == "unverified"
    assert seen(engine, "peak 6.1 GB") == []
    assert finding(engine).state == "verified"
    told = seen(engine, "peak 6.4 GB")
    assert told == ['F1 is stale: run again: "peak 6.1 GB" is now "peak 6.4 GB".']
    assert finding(engine).state == "stale"
    assert seen(engine, "peak 6.4 GB") == []
    project = engine.projects.open("measure-memory")
    assert "1 finding stale" in engine.health(project, project.read().ledger)
    assert seen(engine, "peak 6.1 GB") == ["F1 is verified again: its cell gave the same output."]
    assert (finding(engine).state, finding(engine).reason) == ("verified", "")


def test_each_judgement_is_one_commit_of_the_engine(engine):
    record(engine, "Peak memory was 6.1 GB.")
    for output in ("peak 6.1 GB", "peak 6.1 GB", "peak 6.4 GB", "peak 6.4 GB"):
        seen(engine, output)
    folder = engine.projects.open("measure-memory").path
    subjects = git(folder, "log", "--format=%s|%(trailers:key=Actor,valueonly,separator=)").split(
        "\n"
    )
    assert subjects[:2] == [
        'F1 stale: run again: "peak 6.1 GB" is now "peak 6.4 GB"|engine',
        "F1 verified|engine",
    ]
    assert len([line for line in subjects if line.endswith("|engine")]) == 2


def test_a_handoff_quotes_what_the_cell_gave(engine):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "loading the model\npeak memory 6.1 GB\nbye")
    engine.command("handoff", key=KEY)
    text = (engine.projects.open("measure-memory").path / "handoff.md").read_text(encoding="utf-8")
    assert "turn 7 of notebook/measure.ipynb:" in text
    assert "“peak memory 6.1 GB”" in text


def test_it_is_known_after_a_restart_of_the_kernel(engine, home):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "peak 6.1 GB")
    again = Engine(home, lambda: NOW)
    assert "is now" in seen(again, "peak 6.4 GB")[0]
    kept = again.cells.of(KEY, finding(again))
    assert (kept.ran.text, kept.now.text) == ("peak 6.1 GB", "peak 6.4 GB")


def test_a_figure_that_the_output_does_not_show_is_told_at_once(engine):
    record(engine, "Peak memory was 9.9 GB.")
    assert seen(engine, "peak 6.1 GB") == ["F1: 9.9 not in what its cell gave."]
    assert finding(engine).missing == "9.9"


def test_a_decision_that_rests_on_a_stale_finding_is_suspect(engine):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "6.1")
    record(engine, "Use 8 GB.", source="", kind="decision", because="F1")
    seen(engine, "6.4")
    assert finding(engine, "D1").suspect == "F1 stale"


def test_recorded_anew_with_the_new_figure_it_is_verified_by_the_next_run(engine):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "6.1")
    seen(engine, "6.4")
    record(engine, "Peak memory was 6.4 GB.", id="F1")
    assert (finding(engine).state, finding(engine).reason) == ("unverified", "")
    assert seen(engine, "6.4") == []
    assert finding(engine).state == "verified"


def test_an_edit_of_a_stale_finding_by_hand_takes_the_mark_off(engine):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "6.1")
    seen(engine, "6.4")
    file = engine.projects.open("measure-memory").path / "ledger.md"
    text = file.read_text(encoding="utf-8")
    assert '  - reason: run again: "6.1" is now "6.4"\n' in text
    file.write_text(text.replace("was 6.1 GB", "was 6.4 GB"), encoding="utf-8")
    engine.command("status", key=KEY)
    assert engine.to_tell(KEY) == ["Your edit of ledger.md was merged: F1 changed."]
    assert engine.to_tell(KEY) == []
    assert (finding(engine).state, finding(engine).reason) == ("unverified", "")


def test_recorded_again_from_another_cell_it_is_judged_by_that_one(engine):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "peak 6.1 GB of 8")
    record(engine, "Peak memory was 6.1 GB.", source=source_of("77b0", str(KEY)))
    assert finding(engine).state == "unverified"
    assert seen(engine, "6.1", cell="77b0") == []
    assert finding(engine).state == "verified"
    assert seen(engine, "peak 9 GB") == []
    assert "is now" in seen(engine, "6.4", cell="77b0")[0]


def test_other_cells_and_other_notebooks_change_nothing(engine):
    record(engine, "Peak memory was 6.1 GB.")
    record(engine, "Start-up was cold.", source="cell 3f9a of notebook/other.ipynb")
    seen(engine, "6.1 GB", cell="77b0")
    assert finding(engine).state == "unverified"
    seen(engine, "6.1 GB")
    assert [finding(engine, ident).state for ident in ("F1", "F2")] == ["verified", "unverified"]


def test_a_run_that_nothing_cites_leaves_nothing(engine, home):
    seen(engine, "peak 6.1 GB")
    assert not list(home.path.rglob("cells.json"))
    assert engine.cells.seen(ChatKey("notebook", "x.ipynb"), [ran("a", "b", "c")], 1) == []
    assert not engine.chats.folder(ChatKey("notebook", "x.ipynb")).exists()


def test_a_notebook_can_record_into_a_project_that_is_not_its_own(engine):
    engine.command("start Other matters")
    record(engine, "Peak memory was 6.1 GB.", project="other-matters")
    assert engine.fresh(engine.chat(KEY)).project == "measure-memory"
    assert finding(engine) is None
    seen(engine, "6.1 GB", projects=["other-matters"])
    assert finding(engine, project="other-matters").state == "verified"


def test_purge_takes_an_entry_out_of_the_kept_outputs(engine, home):
    record(engine, "The token is sk-7 6.1.")
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "The token is sk-7 6.1.\npeak memory 6.1 GB")
    file = engine.chats.folder(KEY) / "cells.json"
    assert b"sk-7" in file.read_bytes()
    for _ in range(2):
        engine.command("purge F1", key=KEY)
    assert b"sk-7" not in file.read_bytes()
    assert b"peak memory" in file.read_bytes()
    seen(engine, "The token is sk-7 6.1.\npeak memory 6.1 GB")  # the cell is run again
    assert b"sk-7" not in file.read_bytes()
    assert b"peak memory" in file.read_bytes()


def test_forget_deletes_the_kept_outputs(engine, home):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "6.1 GB")
    assert list(home.path.rglob("cells.json"))
    engine.command("forget measure-memory", key=KEY)
    assert not list(home.path.rglob("cells.json"))


def test_what_was_forgotten_does_not_come_back_with_the_next_project(engine, home):
    record(engine, "The token is sk-7 6.1.")
    seen(engine, "The token is sk-7 6.1.")
    engine.command("forget measure-memory", key=KEY)
    engine.command("start Another", key=KEY)
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "peak 6.1 GB")
    kept = [path.read_bytes() for path in home.path.rglob("cells.json")]
    assert len(kept) == 1
    assert b"sk-7" not in kept[0]


def test_purge_reaches_a_notebook_that_recorded_into_a_project_not_its_own(engine, home):
    engine.command("start Other matters")
    record(engine, "The token is sk-7 6.1.", project="other-matters")
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "The token is sk-7 6.1.", projects=["other-matters"])
    for _ in range(2):
        engine.command("purge F1", project="other-matters")
    kept = (engine.chats.folder(KEY) / "cells.json").read_bytes()
    assert b"sk-7" not in kept
    assert seen(engine, "peak 6.4 GB")[0].startswith("F1 is stale")


def test_a_damaged_record_of_cells_is_passed_over(engine, home):
    record(engine, "Peak memory was 6.1 GB.")
    seen(engine, "6.1 GB")
    (engine.chats.folder(KEY) / "cells.json").write_bytes(b'[{"claim": 3')
    again = Engine(home, lambda: NOW)
    assert seen(again, "6.1 GB") == []
    assert finding(again).state == "verified"


def test_the_model_acts_as_the_model(engine):
    answer = engine.call(KEY, "ledger_record", {"kind": "goal", "text": "More"}, turn=9)
    assert answer.startswith("P1 added")
    latest = engine.projects.open("measure-memory").history(1)[0]
    assert (latest.actor, latest.turn) == ("model", 9)
    assert engine.call(None, "ledger_view", {}, project="measure-memory").startswith("Project")
    assert engine.call(None, "ledger_view", {}).startswith("Not done: No project is named")


# --- the key -------------------------------------------------------------------------------------


def bound(engine, name, place, project="measure-memory"):
    key = engine.chats.at_place("notebook", name, place)
    engine.chat(key).state.place = place
    engine.command(f"open {project}", key=key)
    return key


def test_a_notebook_is_known_by_its_path(engine):
    first = bound(engine, "a.ipynb", "/one/a.ipynb")
    second = bound(engine, "a.ipynb", "/two/a.ipynb")
    assert [str(first), str(second)] == ["notebook/a.ipynb", "notebook/a-2.ipynb"]
    again = Engine(engine.home)
    assert again.chats.at_place("notebook", "a.ipynb", "/two/a.ipynb") == second
    again.command("off", key=first)
    assert again.chats.at_place("notebook", "a.ipynb", "/two/a.ipynb") == second
    assert again.chats.at_place("notebook", "A.ipynb", "/three/A.ipynb").id == "A-3.ipynb"


def test_a_notebook_without_a_name_leaves_nothing(engine, home):
    key = ChatKey("notebook", "unnamed")
    engine.chats.passing.add(key)
    engine.command("open measure-memory", key=key)
    engine.command("constraint Only medians count", key=key)
    record(engine, "Peak memory was 6.1 GB.")
    assert engine.fresh(engine.chat(key)).project == "measure-memory"
    assert engine.chats.bound("measure-memory") == [KEY]
    assert not engine.chats.folder(key).exists()


def test_the_command_recall_searches_the_chats_of_the_project(engine):
    with pytest.raises(ThroughLineError, match="recall holds no chat of measure-memory yet"):
        engine.command("recall quokka", key=KEY)
    talk = ChatKey("lmstudio", "1764500000000")
    engine.command("open measure-memory", key=talk)
    said = ["The quokka port is 11434.", *(f"Filler {n} " + "word " * 800 for n in range(40))]
    turns = [Message(turn=n + 1, role="user", text=text) for n, text in enumerate(said)]
    engine.turn(talk, "go on", History(len(turns), 1, lambda first: turns[first - 1 :]))
    engine.recalls.wait(talk, 30)
    reply = engine.command("recall quokka port", key=KEY)
    assert "lmstudio/1764500000000:" in reply.shown
    assert "11434" in reply.shown
    assert engine.command("recall zzyzx", key=KEY).text.startswith("Nothing in 1 chat")


# --- editing in place ----------------------------------------------------------------------------

BY = By("user", "turn 3 of notebook/a.ipynb", "2026-12-01T12:00:00Z")
LEDGER = Ledger(
    goal="G",
    constraints=(Entry(id="C1", text="Only medians"),),
    plan=tuple(Entry(id=f"S{n}", text=f"Step {n}", status="todo") for n in (1, 2, 3)),
    findings=(
        Entry(id="F1", text="It is 7", source="user", state="verified", missing="7", note="n"),
    ),
    decisions=(Entry(id="D1", text="Use 7", because="F1", suspect="F1 changed"),),
    questions=(Entry(id="Q1", text="Which?", answer="That"),),
    next=(2, 4, 2, 2, 2, 1),
)


def test_every_field_of_a_person_can_be_changed_and_emptied():
    after = amend(LEDGER, "C1", BY, text="Only  means").ledger
    assert after.constraints[0].text == "Only means"
    assert amend(LEDGER, "F1", BY, note="").ledger.findings[0].note == ""
    assert amend(LEDGER, "F1", BY, note="x").ledger.findings[0].state == "verified"
    changed = amend(LEDGER, "F1", BY, text="It is 8", source="https://example.org/a")
    new = changed.ledger.findings[0]
    assert (new.state, new.missing, new.origin) == ("unverified", "", BY.origin)
    assert changed.sentence == "F1 changed: It is 8"
    assert amend(LEDGER, "Q1", BY, answer="").ledger.questions[0].answer == ""
    assert amend(LEDGER, "D1", BY, because="F1, S2").ledger.decisions[0].suspect == ""
    assert amend(LEDGER, "S2", BY, status="done", note="ok").ledger.plan[1].status == "done"
    same = amend(LEDGER, "S2", BY, text="Step 2")
    assert same.ledger is LEDGER


@pytest.mark.parametrize(
    ("ident", "fields", "told"),
    [
        ("F1", {"text": " "}, "The text of F1 is empty"),
        ("F1", {"state": "verified"}, "A finding has no field 'state' to edit"),
        ("S1", {"status": "maybe"}, "'maybe' is not one of todo"),
        ("D1", {"because": "nothing"}, "because names no entry"),
        ("D1", {"because": "F9"}, "There is no entry F9"),
        ("F7", {"text": "x"}, "There is no entry F7"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(ident, fields, told):
    with pytest.raises((RefusedError, NotFoundError)) as error:
        amend(LEDGER, ident, BY, **fields)
    assert told in str(error.value)


def test_the_model_cannot_edit_what_is_the_users():
    with pytest.raises(RefusedError):
        amend(LEDGER, "C1", By("model"), text="Anything goes")


def test_a_step_can_be_moved_anywhere():
    def order(edited):
        return [step.id for step in edited.ledger.plan]

    assert order(move(LEDGER, "S3", "")) == ["S3", "S1", "S2"]
    assert order(move(LEDGER, "S1", "S2")) == ["S2", "S1", "S3"]
    assert move(LEDGER, "S1", "").ledger is LEDGER
