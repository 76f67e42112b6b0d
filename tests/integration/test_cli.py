"""The command line as a person uses it: real processes, a home of its own."""

import os
import subprocess
import sys

import pytest

from throughline_nb.engine.operations import COMMANDS


@pytest.fixture
def run(tmp_path):
    def call(*arguments, cwd=None, code=0, **env):
        environment = {**os.environ, "THROUGHLINE_HOME": str(tmp_path / "home"), **env}
        done = subprocess.run(
            [sys.executable, "-m", "throughline_nb", *arguments],
            cwd=cwd or tmp_path,
            env=environment,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout if code == 0 else done.stderr

    call.home = tmp_path / "home"
    return call


def test_a_project_from_start_to_undo(run):
    assert run("start", "Compare", "seven", "runtimes") == (
        "Project compare-seven-runtimes started.\n"
    )
    project = ("--project", "compare-seven-runtimes")
    assert run(*project, "constraint", "Only primary sources") == (
        "C1 added: Only primary sources.\n"
    )
    folder = run.home / "projects" / "compare-seven-runtimes"
    assert "C1 Only primary sources" in run("status", cwd=folder)
    assert "C1 added: Only primary sources" in run("log", "1", cwd=folder)
    assert "C1 removed" in run("undo", cwd=folder)
    assert "compare-seven-runtimes: Compare seven runtimes" in run("list")


def test_a_hand_edit_is_merged_by_the_next_command(run):
    run("start", "Compare runtimes")
    folder = run.home / "projects" / "compare-runtimes"
    file = folder / "ledger.md"
    text = file.read_text(encoding="utf-8")
    text = text.replace(
        "## Findings\n", "## Findings\n\n- It listens on 11434. (https://example.org)\n"
    )
    file.write_text(text, encoding="utf-8", newline="\n")
    shown = run("status", cwd=folder)
    assert "F1. It listens on 11434." in shown
    assert "source https://example.org" in shown
    assert "Edited by hand" in run("log", cwd=folder)


def test_what_became_of_an_edit_is_told_once(run):
    run("start", "Compare runtimes")
    folder = run.home / "projects" / "compare-runtimes"
    file = folder / "ledger.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("## Plan\n", "## Plan\n\n- [ ] Look\n"), encoding="utf-8")
    assert run("status", cwd=folder).startswith("Your edit of ledger.md was merged: S1 added.")
    assert run("status", cwd=folder).startswith("Status of")
    text = file.read_text(encoding="utf-8").replace("status: todo", "status: bogus")
    file.write_text(text, encoding="utf-8")
    assert "bogus" in run("status", cwd=folder).splitlines()[0]
    file.write_text("", encoding="utf-8")
    assert "ledger.edit-not-applied" in run("status", cwd=folder).splitlines()[0]


def test_the_home_is_found_from_a_projects_folder(run, tmp_path):
    home = tmp_path / "elsewhere"
    run("--home", str(home), "start", "Compare runtimes")
    folder = home / "projects" / "compare-runtimes"
    assert "C1 added" in run("constraint", "Only primary sources", cwd=folder)
    assert "C1" in run("status", cwd=folder)


def test_commands_are_named_as_they_are_typed_here(run):
    run("start", "Compare runtimes")
    folder = run.home / "projects" / "compare-runtimes"
    assert "/tl" not in run("help") + run("purge", "F1", cwd=folder, code=1) + run("list")
    assert "throughline-nb forget compare-runtimes" in run("forget", cwd=folder)


def test_a_purge_is_said_twice_by_two_processes(run):
    run("start", "Compare runtimes")
    folder = run.home / "projects" / "compare-runtimes"
    run("constraint", "The key is hunter2", cwd=folder)
    assert "say it again" in run("purge", "C1", cwd=folder)
    assert "C1" in run("status", cwd=folder)
    assert "removed" in run("purge", "C1", cwd=folder)
    assert "hunter2" not in run("log", cwd=folder)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("goal", "x"), "No project is named"),
        (("--project", "nowhere", "goal", "x"), "There is no project “nowhere”"),
        (("replay", "nothing.json"), "nothing.json"),
        (("log", "many"), "allowed: a whole number"),
        (("--home", "__file__", "list"), "is no folder"),
    ],
)
def test_an_error_is_one_line(run, arguments, told):
    said = run(*(__file__ if each == "__file__" else each for each in arguments), code=1)
    assert told in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("undoo",), "Did you mean 'undo'"),
        (("goal",), "Missing argument"),
        (("list", "x"), "extra"),
    ],
)
def test_a_wrong_call_is_one_line_too(run, arguments, told):
    said = run(*arguments, code=2)
    assert told in said
    assert said.count("\n") == 1


def test_no_git_is_one_line(run, tmp_path):
    said = run("start", "x", code=1, PATH=str(tmp_path))
    assert said.startswith("throughline-nb: git was not found on PATH")
    assert said.count("\n") == 1


def test_help_lists_every_command_and_off_is_a_chats_own(run):
    shown = run("--help")
    names = {operation.name for operation in COMMANDS if operation.needs != "chat"}
    listed = {
        line.split()[0] for line in shown.splitlines() if line.startswith("  ") and line[2] != " "
    }
    assert names <= listed
    assert "off" not in listed


@pytest.mark.parametrize("operation", [*COMMANDS], ids=lambda operation: operation.name)
def test_every_command_has_its_help(run, operation):
    if operation.needs != "chat":
        shown = " ".join(run(operation.name, "--help").split())
        assert operation.help in shown


def test_nothing_is_written_before_there_is_something_to_write(run):
    run("list")
    run("doctor")
    run("help")
    assert not run.home.exists()


def test_a_console_that_knows_few_characters(run, tmp_path):
    run("start", "七つの推論ランタイムを比べる")
    environment = {**os.environ, "THROUGHLINE_HOME": str(run.home), "PYTHONIOENCODING": "cp1252"}
    done = subprocess.run(
        [sys.executable, "-m", "throughline_nb", "list"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        check=True,
    )
    assert "???" in done.stdout.decode("cp1252")


def test_the_graph_shows_raw_hand_edits(run):
    run("start", "Compare runtimes")
    folder = run.home / "projects" / "compare-runtimes"
    file = folder / "ledger.md"
    text = file.read_text(encoding="utf-8")
    text = text.replace("## Findings\n", f"## Findings\n\n- It listens, {'and ' * 60}so on.\n")
    file.write_text(text, encoding="utf-8", newline="\n")
    shown = run("log", "--graph", cwd=folder)
    assert "|\\" in shown
    assert "ledger.md edited by hand, from version" in shown
    assert max(map(len, shown.splitlines())) < 100
    assert len(run("log", "1", "--graph", cwd=folder).splitlines()) <= 2
    assert "No project is named" in run("log", "--graph", code=1)


def test_a_dry_run_names_what_would_go_and_cleaning_does_it(run, tmp_path):
    user = tmp_path / "user"
    conversations = user / ".lmstudio" / "conversations"
    conversations.mkdir(parents=True)
    env = {"HOME": str(user), "USERPROFILE": str(user)}
    folder = run.home / "chats" / "lmstudio" / "1764500000000"
    run("start", "Compare runtimes", **env)
    folder.mkdir(parents=True)
    state = '{"key": "lmstudio/1764500000000", "project": "compare-runtimes"}'
    (folder / "state.json").write_text(state, encoding="utf-8")
    said = run("clean", **env)
    assert "No chat is taken for deleted" in said
    assert "Nothing to clean up." in said
    (conversations / "2.conversation.json").write_text("{}", encoding="utf-8")
    would = run("clean", "--dry-run", **env)
    assert would.startswith("Would remove chat lmstudio/1764500000000: its conversation was gone")
    assert "Would mark project compare-runtimes as an orphan" in would
    assert folder.is_dir()
    done = run("clean", **env)
    assert done.startswith("Removed chat lmstudio/1764500000000")
    assert len(done.splitlines()) == 2
    assert not folder.exists()
    assert run("clean", **env) == "Nothing to clean up.\n"


def test_a_named_home_that_is_not_lm_studios_loses_no_chat(run, tmp_path):
    user = tmp_path / "user"
    conversations = user / ".lmstudio" / "conversations"
    conversations.mkdir(parents=True)
    (conversations / "2.conversation.json").write_text("{}", encoding="utf-8")
    env = {"HOME": str(user), "USERPROFILE": str(user)}
    other = tmp_path / "replayed"
    run("--home", str(other), "start", "Compare runtimes", **env)
    folder = other / "chats" / "lmstudio" / "1764500000000"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text('{"project": "compare-runtimes"}', encoding="utf-8")
    for words in (["clean"], ["clean", "--dry-run"], ["list"]):
        said = run("--home", str(other), *words, **env)
        assert "Removed" not in said
        assert ("No chat is taken for deleted" in said) == (words[0] == "clean")
    assert (folder / "state.json").is_file()
    folder = run.home / "chats" / "lmstudio" / "1764500000000"
    folder.mkdir(parents=True)
    (folder / "state.json").write_text("{}", encoding="utf-8")
    assert "Removed chat" in run("--home", str(run.home), "clean", **env)
