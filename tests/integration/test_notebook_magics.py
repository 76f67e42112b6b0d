"""The extension in a shell of this process: what it registers, takes, shows and completes."""

import subprocess
import sys

import pytest
from IPython.core.completer import provisionalcompleter
from kernels import close, run_in, shell_in

from throughline_nb.engine.operations import COMMANDS
from throughline_nb.hosts.notebook import binding, place
from throughline_nb.hosts.notebook.magics import first_line


@pytest.fixture
def shell(monkeypatch, tmp_path):
    made = shell_in(monkeypatch, tmp_path)
    yield made
    close(made)


@pytest.fixture
def loaded(shell):
    run_in(shell, "%load_ext throughline_nb")
    return shell


def registered(shell):
    """How many of each thing of ours a shell holds."""
    ours = "throughline"
    return {
        "line": sum(name == "tl" for name in shell.magics_manager.magics["line"]),
        "cell": sum(name == "tl" for name in shell.magics_manager.magics["cell"]),
        "transformer": [t.__module__.split("_")[0] for t in shell.input_transformers_cleanup].count(ours),
        "matcher": sum(ours in m.__qualname__ for m in shell.Completer.custom_matchers),
        "hook": [c.__module__.split("_")[0] for c in shell.events.callbacks["post_run_cell"]].count(ours),
    }  # fmt: skip


def callbacks(shell):
    return {name: len(each) for name, each in shell.events.callbacks.items()}


def failure(result):
    return result.error_in_exec or result.error_before_exec


# --- loading -------------------------------------------------------------------------------------


def test_loading_registers_one_of_each_and_nothing_else(shell):
    before = callbacks(shell)
    out, result = run_in(shell, "%load_ext throughline_nb")
    assert result.success
    assert len(out.strip().splitlines()) == 1
    assert "%tl start" in out
    assert registered(shell) == dict.fromkeys(("line", "cell", "transformer", "matcher", "hook"), 1)
    after = callbacks(shell)
    assert after.pop("post_run_cell") == before.pop("post_run_cell") + 1
    assert after == before


def test_after_a_reload_there_is_exactly_one_of_each(loaded):
    run_in(loaded, "%reload_ext throughline_nb")
    run_in(loaded, "%reload_ext throughline_nb")
    assert set(registered(loaded).values()) == {1}
    assert "No projects yet" in run_in(loaded, "%tl list")[0]


def test_unloading_leaves_nothing(loaded):
    run_in(loaded, "%unload_ext throughline_nb")
    assert set(registered(loaded).values()) == {0}


def test_loading_starts_no_git_and_leaves_no_file(shell, tmp_path, monkeypatch):
    def refused(*_args, **_given):
        raise AssertionError("a process was started")

    monkeypatch.setattr("subprocess.Popen", refused)
    run_in(shell, "%load_ext throughline_nb")
    run_in(shell, "1 + 1")
    assert not (tmp_path / "home").exists()
    assert not place.begun


def test_loading_imports_no_engine():
    code = (
        "import sys\n"
        "from IPython.core.interactiveshell import InteractiveShell\n"
        "shell = InteractiveShell.instance()\n"
        "before = set(sys.modules)\n"
        "shell.run_line_magic('load_ext', 'throughline_nb')\n"
        "shell.run_cell('1', store_history=True)\n"
        "print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    )
    new = set(done.stdout.split("\n")[-2].split())
    assert "throughline_nb.hosts.notebook.magics" in new
    assert not {name for name in new if name.startswith("throughline_nb.engine")}
    assert not new & {"git", "gitdb", "mistune", "ipywidgets", "sqlite3", "frontmatter", "pandas"}


# --- what can be typed ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "becomes"),
    [
        ("/tl status", "get_ipython().run_line_magic('tl', 'status')"),
        ("\n  \n/tl goal It's 5 \"x\"?", "get_ipython().run_line_magic('tl', 'goal It\\'s 5 \"x\"?')"),
        ("/tl", "get_ipython().run_line_magic('tl', '')"),
        ("%tl recall which port?", "get_ipython().run_line_magic('tl', 'recall which port?')"),
        ("/tlx", "/tlx"),
        ("/tmp/tl status", "/tmp/tl status"),
        ('"""\n/tl status\n"""', '"""\n/tl status\n"""'),
        ("x = 1\n/tl status", "x = 1\n/tl status"),
        ("%%tl goal\ntext", "%%tl goal\ntext"),
        ("", ""),
    ],
)  # fmt: skip
def test_only_the_first_line_that_is_not_blank_is_taken(cell, becomes):
    assert "".join(first_line(cell.splitlines(keepends=True))).strip() == becomes.strip()


def test_a_line_within_a_text_is_left_alone(loaded):
    _, result = run_in(loaded, 'text = """\n/tl start no\n"""\ntext')
    assert result.result == "\n/tl start no\n"
    assert "No projects yet" in run_in(loaded, "%tl list")[0]


def test_a_cell_goes_on_after_a_command(loaded):
    out, result = run_in(loaded, "/tl start Compare\nx = 41 + 1\nx")
    assert "Project compare started" in out
    assert result.result == 42


def test_a_text_is_taken_as_it_is_typed(loaded):
    run_in(loaded, "/tl start Costs")
    run_in(loaded, "name = 'x'")
    out, _ = run_in(loaded, "%tl goal Is {name} under $name and 5 $?")
    assert "Goal changed: Is {name} under $name and 5 $?" in out
    out, _ = run_in(loaded, "%%tl goal\nA longer text\n\nof two paragraphs")
    assert "A longer text of two paragraphs" in out


def test_every_command_is_offered(loaded):
    run_in(loaded, "/tl start Compare")
    shown, _ = run_in(loaded, "%tl help")
    for command in COMMANDS:
        assert f"%tl {command.usage}" in shown
        out, result = run_in(loaded, f"%tl help {command.name}")
        assert result.success
        assert command.help in out


def test_bare_is_status_or_help(loaded):
    assert "The commands of throughLine" in run_in(loaded, "%tl")[0]
    run_in(loaded, "%tl start Compare seven runtimes")
    assert "Goal: Compare seven runtimes" in run_in(loaded, "/tl")[0]


def test_the_turn_is_the_execution_count(loaded):
    for n in range(3):
        run_in(loaded, f"{n}")
    run_in(loaded, "%tl start Compare")
    run_in(loaded, "%tl constraint Only medians count")
    records = binding.here().project.history()
    assert [record.turn for record in records] == [6, 5]
    assert {record.chat for record in records} == {"notebook/unnamed"}
    assert {record.actor for record in records} == {"user"}


def test_an_edit_by_hand_is_merged_and_told(loaded):
    run_in(loaded, "%tl start Compare")
    file = binding.here().project.path / "ledger.md"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("Compare", "Compare nine"), encoding="utf-8", newline="\n")
    out, _ = run_in(loaded, "%tl status")
    assert out.startswith("Your edit of ledger.md was merged: Goal changed.")
    assert "Your edit" not in run_in(loaded, "%tl status")[0]


# --- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cell", "told"),
    [
        ("%tl statsu", "There is no command 'statsu'; did you mean status?"),
        ("%tl goal x", "This chat has no project; %tl start <goal> makes one, %tl open <name>"),
        (
            "/tl open nowhere",
            "There is no project “nowhere”; `%tl list` shows those that there are.",
        ),
        ("%tl log many", "log: n was 'many'; allowed: a whole number."),
    ],
)
def test_a_mistake_is_one_line_and_fails_the_cell(loaded, cell, told):
    out, result = run_in(loaded, cell)
    assert not result.success
    assert told in out
    assert out.strip().count("\n") == 0
    assert "Traceback" not in out
    assert failure(result)._render_traceback_() == [f"throughLine: {failure(result)}"]


def test_an_unexpected_error_is_one_line_too(loaded, monkeypatch, caplog):
    def broken(*_args, **_given):
        raise KeyError("kaput")

    monkeypatch.setattr("throughline_nb.engine.session.Engine.command", broken)
    out, result = run_in(loaded, "%tl list")
    assert not result.success
    assert out.strip().count("\n") == 0
    assert "unexpected error (KeyError: 'kaput')" in out
    assert "kaput" in caplog.text


def test_a_failure_after_a_cell_does_not_disturb_it(loaded, monkeypatch, capsys):
    run_in(loaded, "%tl start Compare")

    def broken(*_args):
        raise OSError("kaput")

    monkeypatch.setattr("throughline_nb.hosts.notebook.binding.Here.seen", broken)
    out, result = run_in(loaded, "print(7)")
    assert result.success
    assert (out, capsys.readouterr().err) == ("7\n", "")


# --- completion ----------------------------------------------------------------------------------


def complete(shell, text):
    """What the shell offers at the end of a cell."""
    shell.Completer.use_jedi = False
    with provisionalcompleter():
        return [each.text for each in shell.Completer.completions(text, len(text))]


@pytest.fixture
def filled(loaded):
    run_in(loaded, "%tl start Measure memory")
    run_in(loaded, "%tl start Compare runtimes")
    run_in(
        loaded,
        "import throughline_nb as tl\n"
        "p = tl.open()\n"
        "p.plan(text='Read'); p.plan(text='Write')\n"
        "p.record('finding', 'It is 7.', source='user')\n"
        "p.record('question', 'Which?'); p.record('question', 'When?'); p.resolve('Q1', 'That.')\n"
        "t = {tool.__name__: tool for tool in p.tools()}\n"
        "t['ledger_record']('goal', 'More')",
    )
    return loaded


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("%tl st", ["start", "status"]),
        ("/tl un", ["undo"]),
        ("\n/tl und", ["undo"]),
        ("%%tl go", ["goal"]),
        ("x = 1\n%tl und", ["undo"]),
        ("%tl open m", ["measure-memory"]),
        ("%tl open ", ["compare-runtimes", "measure-memory"]),
        ("%tl accept ", ["P1"]),
        ("%tl purge F", ["F1"]),
        ("%tl help dif", ["diff"]),
        ("p.plan('", ["S1", "S2"]),
        ("p.plan('S1', status='do", ["doing", "done"]),
        ("p.record(kind='dec", ["decision"]),
        ("p.resolve('", ["Q2"]),
        ("p.plan(text='x', after='S", ["S1", "S2"]),
        ("p = tl.open('comp", ["compare-runtimes"]),
    ],
)
def test_what_can_come_next_is_offered(filled, typed, offered):
    assert complete(filled, typed) == offered


def test_versions_are_offered(filled):
    newest = binding.here().project.history(1)[0].version
    assert newest in complete(filled, "%tl diff ")
    assert complete(filled, f"%tl undo {newest[:-1]}") == [newest]


def test_every_command_is_offered_behind_the_magic(filled):
    assert {command.name for command in COMMANDS} <= set(complete(filled, "%tl "))


@pytest.mark.parametrize(
    "typed", ["%tl goal any text st", "x = 1\n/tl st", "%tl rename m", "%tl nope x", "print('S"]
)
def test_nothing_of_ours_is_offered_elsewhere(filled, typed):
    assert not {"status", "start", "measure-memory", "S1"} & set(complete(filled, typed))


def test_a_failure_offers_nothing(filled, monkeypatch):
    def broken(*_):
        raise OSError("kaput")

    monkeypatch.setattr("throughline_nb.store.projects.Projects.names", broken)
    assert "measure-memory" not in complete(filled, "%tl open m")
