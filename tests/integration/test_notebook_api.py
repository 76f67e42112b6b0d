"""The Python interface: a project for code, in a shell and in a script."""

import inspect

import pytest
from kernels import close, run_in, shell_in

import throughline_nb as tl
from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.errors import NotFoundError, RefusedError, ThroughLineError
from throughline_nb.hosts.notebook import binding, place


@pytest.fixture
def shell(monkeypatch, tmp_path):
    made = shell_in(monkeypatch, tmp_path)
    yield made
    close(made)


@pytest.fixture
def p(shell):
    project = tl.start("Measure memory")
    project.plan(text="Measure", status="doing")
    project.record("finding", "Peak was 6.1 GB.", source="user")
    return project


def test_what_is_recorded_is_the_users_and_says_what_it_became(p):
    done = p.record("finding", "The median was 5.0 GB.", source="https://example.org/a")
    assert done.id == "F2"
    assert done.plain.startswith("F2 added: The median was 5.0 GB.")
    assert "next:" not in done.plain
    assert p.ledger["F2"].by == "user"
    assert p.ledger.findings[1].origin == "turn 1 of notebook/unnamed"
    assert p.history(1)[0].actor == "user"
    assert p.record("finding", "The median was 5.0 GB.").plain.startswith("already F2")


def test_the_user_sets_what_the_model_proposes(p):
    p.goal("Measure the memory of three models")
    p.constraint("Only medians count")
    proposed = p.tools().call("ledger_record", {"kind": "constraint", "text": "Only on Linux"})
    assert proposed.startswith("P1 added")
    p.accept("P1")
    assert [entry.text for entry in p.ledger.constraints] == ["Only medians count", "Only on Linux"]
    assert p.ledger.goal == "Measure the memory of three models"
    fact = p.tools().call("ledger_record", {"kind": "finding", "text": "The user lives in Ulm."})
    assert "memory plugin" in fact
    with pytest.raises(RefusedError, match="text is empty"):
        p.record("finding", "")


def test_every_operation_on_a_project_is_a_method_with_the_help_of_the_registry(p):
    for operation in (*COMMANDS, *TOOLS):
        if operation.needs != "project":
            continue
        method = getattr(type(p), operation.name.removeprefix("ledger_"))
        if method.__module__ == "throughline_nb.hosts.notebook.api" and operation.name == "diff":
            continue
        signed = inspect.signature(method)
        assert list(signed.parameters) == ["self", *(param.name for param in operation.params)]
        assert method.__doc__.startswith(operation.help)
        for param in operation.params:
            assert f"{param.name}: {param.help}" in method.__doc__
    assert {"record", "plan", "resolve", "goal", "undo", "handoff", "view"} <= set(dir(p))


def test_wrong_arguments_are_one_line(p):
    for call, told in [
        (
            lambda: p.plan(stauts="done"),
            "ledger_plan has no argument 'stauts'; did you mean status?",
        ),
        (lambda: p.plan("S1", status="maybe"), "status was 'maybe'; allowed: todo, doing, done"),
        (lambda: p.goal("a", "b"), "goal takes text; 2 were given."),
        (lambda: p.goal("a", text="b"), "goal: text is given twice."),
        (lambda: p.at("99-ffff"), "There is no version “99-ffff”; `%tl log` lists them."),
        (lambda: p.to_frame("stories"), "section: 'stories' is not one of"),
        (lambda: p.cell("F1"), "No output of a cell is kept here for F1; its source is user."),
        (lambda: tl.open("nowhere-at-all"), "There is no project “nowhere-at-all”"),
        (lambda: p.recall("x"), "recall holds no chat of measure-memory yet"),
    ]:
        with pytest.raises(ThroughLineError) as error:
            call()
        assert told in str(error.value)
        assert error.value._render_traceback_() == [f"throughLine: {error.value}"]


def test_history_versions_and_differences(p):
    p.edit("F1", text="Peak was 6.4 GB.")
    history = p.history()
    assert [record.subject for record in history][:2] == [
        "F1 changed: Peak was 6.4 GB.",
        "F1 added: Peak was 6.1 GB.",
    ]
    then = p.at(history[1].version)
    assert then["F1"].text == "Peak was 6.1 GB."
    assert then.version == history[1].version
    with pytest.raises(KeyError):
        then["F9"]
    shown = p.diff(history[1].version, history[0].version)
    assert "[-6.1-] {+6.4+}" in shown.plain
    assert "<del>6.1</del> <ins>6.4</ins>" in shown.html
    assert p.diff().plain == shown.plain
    assert "Nothing differs" in p.diff(history[0].version).plain
    assert p.history(1)[0].version in repr(p.history(1))


def test_undo_takes_back_what_code_did(p):
    p.remove("F1")
    assert p.ledger.findings == ()
    assert "F1 added" in p.undo().plain
    assert p.ledger["F1"].text == "Peak was 6.1 GB."


def test_an_entry_is_edited_in_place_and_a_step_moved(p):
    p.plan(text="Write")
    p.move("S2")
    assert [step.id for step in p.ledger.plan] == ["S2", "S1"]
    p.edit("S1", note="on the laptop", status="done")
    assert (p.ledger["S1"].note, p.ledger["S1"].status) == ("on the laptop", "done")
    p.edit("S1", note="")
    assert p.ledger["S1"].note == ""
    with pytest.raises(RefusedError, match="no field 'state'"):
        p.edit("F1", state="verified")


def test_a_frame_has_a_row_an_entry(p):
    pandas = pytest.importorskip("pandas")
    p.record("finding", "The median was 5.0 GB.")
    frame = p.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["id"]) == ["F1", "F2"]
    assert list(frame.columns)[:4] == ["id", "text", "source", "state"]
    assert "from" in frame.columns
    assert list(p.to_frame("plan")["status"]) == ["doing"]


def test_without_pandas_it_says_what_else_there_is(p, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ThroughLineError, match="to_frame needs pandas"):
        p.to_frame()


def test_opening_binds_a_notebook_that_has_no_project_yet(shell):
    other = tl.start("Other")
    p = tl.start("Measure memory")
    assert tl.open().name == "measure-memory"
    assert tl.open("other").name == "other"
    assert tl.open().name == "measure-memory"
    tl.open("Other").record("finding", "So it is.", source="user")
    assert (len(other.ledger.findings), len(p.ledger.findings)) == (1, 0)
    binding.here().command("off")
    with pytest.raises(ThroughLineError, match="Which project"):
        tl.open()
    assert tl.open("other").name == tl.open().name == "other"
    assert [each.name for each in tl.projects()] == ["measure-memory", "other"]


def test_a_rename_is_followed(p):
    p.rename("Peak memory")
    assert p.name == "peak-memory"
    assert p.ledger.goal == "Measure memory"
    assert tl.open().name == "peak-memory"


def test_a_hand_edit_is_merged_and_told_once(p):
    file = p.store.path / "ledger.md"
    text = file.read_text(encoding="utf-8").replace("Peak was 6.1 GB.", "Peak was 6.2 GB.")
    file.write_text(text, encoding="utf-8", newline="\n")
    done = p.constraint("Only medians count")
    assert done.plain.startswith("Your edit of ledger.md was merged: F1 changed. C1 added")
    assert p.ledger["F1"].text == "Peak was 6.2 GB."
    assert p.constraint("Only on Linux").plain.startswith("C2 added")


def test_it_shows_itself(p):
    for thing in (p, p.ledger, p.history(), p.diff(), p.status(), p.log()):
        bundle = thing._repr_mimebundle_()
        assert {"text/plain", "text/markdown", "text/html"} <= bundle.keys()
        assert "application/json" not in bundle
        only = thing._repr_mimebundle_(include=["text/plain"])
        assert list(only) == ["text/plain"]
    assert "Peak was 6.1 GB." in p.ledger._repr_mimebundle_()["text/html"]
    assert p.ledger._repr_mimebundle_(include=["application/json"])["application/json"]["version"]


def test_a_script_is_no_chat(monkeypatch, shell):
    monkeypatch.setattr(place, "the_shell", lambda: None)
    p = tl.start("Measure memory")
    p.record("finding", "Peak was 6.1 GB.", source="user")
    assert (p.ledger["F1"].origin, p.ledger["F1"].state) == ("", "verified")
    assert p.chats() == ()
    p.record("finding", "It was 7.", source="cell")
    assert p.ledger["F2"].source == "cell"
    with pytest.raises(ThroughLineError, match="Which project"):
        tl.open()
    with pytest.raises(NotFoundError):
        tl.open("zzz")


def test_what_is_shown_at_a_cells_end_is_its_result(p, shell):
    shell.user_ns["p"] = p
    out, result = run_in(shell, "p.record('question', 'Which model?')")
    assert result.result.id == "Q1"
    assert "Q1 added" in out
