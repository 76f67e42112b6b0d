"""Notebooks in real kernels: the binding, and cells as sources."""

import json
from pathlib import Path

import pytest
from kernels import Kernel, said

from throughline_nb.hosts.notebook.place import gone, place_of
from throughline_nb.store.chats import Chats
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Projects

LOAD = "%load_ext throughline_nb"
API = "import throughline_nb as tl\np = tl.open()"


def home(tmp_path):
    return Home(tmp_path / "home")


def findings(tmp_path, project):
    return Projects(home(tmp_path)).open(project).read().ledger.findings


def keys(tmp_path):
    return {str(key): state.project for key, state in Chats(home(tmp_path)).states()}


def notebook_file(folder, name):
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text("{}", encoding="utf-8")
    return str(path)


# --- which notebook this is ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "env", "path"),
    [
        ({"__vsc_ipynb_file__": "/w/vs.ipynb"}, {}, "/w/vs.ipynb"),
        ({}, {"JPY_SESSION_NAME": "/w/lab.ipynb"}, "/w/lab.ipynb"),
        ({}, {"JPY_SESSION_NAME": "/w/RTC:lab.ipynb"}, "/w/lab.ipynb"),
        ({}, {"JPY_SESSION_NAME": "console-1-f3a2"}, ""),
        ({"__vsc_ipynb_file__": "/w/vs.ipynb"}, {"THROUGHLINE_NOTEBOOK": "/w/said.ipynb"}, "/w/said.ipynb"),
        ({}, {"THROUGHLINE_NOTEBOOK": " "}, ""),
        ({}, {}, ""),
    ],
)  # fmt: skip
def test_the_host_says_which_notebook_it_is(names, env, path):
    expected = str(Path(path).absolute()) if path else ""
    assert place_of(names, env) == expected


def test_a_relative_path_is_made_absolute(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    told = place_of({}, {"THROUGHLINE_NOTEBOOK": "sub/a.ipynb"})
    assert told == str(tmp_path / "sub" / "a.ipynb")


def test_a_file_whose_folder_is_away_is_not_gone(tmp_path):
    assert gone(str(tmp_path / "a.ipynb"))
    assert not gone(str(tmp_path / "drive" / "a.ipynb"))
    assert not gone(notebook_file(tmp_path, "a.ipynb"))


@pytest.mark.parametrize("variable", ["JPY_SESSION_NAME", "THROUGHLINE_NOTEBOOK"])
def test_it_survives_a_restart_of_the_kernel(tmp_path, variable):
    path = notebook_file(tmp_path / "work", "analysis.ipynb")
    with Kernel(tmp_path, **{variable: path}) as kernel:
        kernel.run(LOAD)
        assert "Project compare started" in said(kernel.run("%tl start Compare"))
    assert keys(tmp_path) == {"notebook/analysis.ipynb": "compare"}
    with Kernel(tmp_path, **{variable: path}) as kernel:
        assert "works on compare" in said(kernel.run(LOAD))
        assert "Goal: Compare" in said(kernel.run("%tl"))
        kernel.run("%tl off")
    assert keys(tmp_path) == {"notebook/analysis.ipynb": ""}


def test_in_vs_code_it_is_known_by_its_file(tmp_path):
    path = notebook_file(tmp_path / "work", "vs.ipynb")
    with Kernel(tmp_path) as kernel:
        kernel.run(f"__vsc_ipynb_file__ = {path!r}\n{LOAD}")
        kernel.run("%tl start Compare")
    assert keys(tmp_path) == {"notebook/vs.ipynb": "compare"}


def test_without_a_name_its_own_cell_binds_it_again_and_nothing_is_left(tmp_path):
    for cell in ("%tl start Compare", "%tl open compare"):
        with Kernel(tmp_path) as kernel:
            kernel.run(LOAD)
            kernel.run(cell)
            kernel.run("%tl constraint Only medians count")
            assert "C1 Only medians" in said(kernel.run("%tl"))
    assert keys(tmp_path) == {}
    assert not (tmp_path / "home" / "chats").exists()


def test_after_a_rename_its_own_cell_binds_it_again_with_its_cells(tmp_path):
    old = notebook_file(tmp_path / "work", "Untitled.ipynb")
    record = "print('peak', peak)\np.record('finding', 'Peak was 6.1 GB.', source='cell')"
    with Kernel(tmp_path, JPY_SESSION_NAME=old) as kernel:
        kernel.run(f"{LOAD}\npeak = 6.1")
        kernel.run("%tl start Compare")
        kernel.run(API)
        kernel.run(record, "3f9a")
    new = str(Path(old).rename(Path(old).with_name("analysis.ipynb")))
    with Kernel(tmp_path, JPY_SESSION_NAME=new) as kernel:
        kernel.run(f"{LOAD}\npeak = 6.4")
        assert "no project" in said(kernel.run("%tl goal x", fails=True))
        kernel.run("%tl open compare")
        shown = said(kernel.run("print('peak', peak)", "3f9a"))
        assert 'F1 is stale: run again: "peak 6.1" is now "peak 6.4".' in shown
    assert keys(tmp_path) == {"notebook/analysis.ipynb": "compare"}
    assert findings(tmp_path, "compare")[0].source == "cell 3f9a of notebook/Untitled.ipynb"


def test_nothing_starts_by_itself_and_nobody_is_reminded(tmp_path):
    with Kernel(tmp_path) as kernel:
        kernel.run(LOAD)
        for n in range(8):
            assert said(kernel.run(f"print({n})")) == f"{n}\n"
    assert not (tmp_path / "home").exists()


def test_a_project_of_a_notebook_never_becomes_an_orphan(tmp_path):
    from throughline_nb.chat import ChatKey
    from throughline_nb.engine.session import Engine
    from throughline_nb.store.cleanup import clean
    from throughline_nb.store.settings import Settings

    path = notebook_file(tmp_path / "work", "a.ipynb")
    with Kernel(tmp_path, JPY_SESSION_NAME=path) as kernel:
        kernel.run(f"{LOAD}\n%tl start Compare")
    Path(path).unlink()
    engine = Engine(home(tmp_path))
    engine.command("open compare", key=ChatKey("lmstudio", "1"))
    for days in (0, 8, 60):
        clean(
            engine.home,
            lambda key: key.host != "lmstudio",
            engine.clock() + days * 86400,
            Settings(),
        )
    assert engine.projects.names() == ["compare"]
    assert keys(tmp_path) == {"notebook/a.ipynb": "compare"}


# --- cells as sources ----------------------------------------------------------------------------


@pytest.fixture
def kernel(tmp_path):
    with Kernel(tmp_path, JPY_SESSION_NAME=notebook_file(tmp_path / "work", "m.ipynb")) as made:
        made.run(f"{LOAD}\n%tl start Measure")
        made.run(API)
        yield made


def first(tmp_path):
    return findings(tmp_path, "measure")[0]


def test_a_cell_that_is_run_again_with_another_output_makes_its_finding_stale(kernel, tmp_path):
    cell = "print('peak', peak, 'at', object())\np.record('finding', 'Peak was 6.1 GB.', source='cell')"
    kernel.run("peak = 6.1")
    shown = said(kernel.run(cell, "3f9a"))
    assert "source cell 3f9a of notebook/m.ipynb" in shown
    assert (first(tmp_path).state, first(tmp_path).missing) == ("verified", "")
    for _ in range(2):  # what it records and says is no output of its own
        assert "already F1" in said(kernel.run(cell, "3f9a"))
        assert first(tmp_path).state == "verified"
    kernel.run("peak = 6.4")
    shown = said(kernel.run(cell, "3f9a"))
    assert "F1 is stale: run again" in shown
    assert "peak 6.1 at" in first(tmp_path).reason
    assert "peak 6.4 at" in first(tmp_path).reason
    assert "1 finding stale" in said(kernel.run("%tl"))
    both = said(kernel.run("p.cell('F1')"))
    assert both.index("peak 6.1") < both.index("Run again, it gave:") < both.index("peak 6.4")
    kernel.run("peak = 6.1")
    assert "verified again" in said(kernel.run(cell, "3f9a"))


def test_everything_that_a_cell_gives_is_its_output(kernel, tmp_path):
    for n, cell in enumerate(
        [
            "print({figure})",
            "{figure}",
            "from IPython.display import display\ndisplay({figure})\nNone",
            "import sys\nsys.stdout.write('{figure}\\n');",
            "display(1)\nclear_output()\ndisplay({figure})\nNone",
            "async def f():\n    return {figure}\nawait f()",
        ]
    ):
        kernel.run("from IPython.display import clear_output, display")
        text = f"Figure {n * 10 + 0.5}."
        record = f"_ = p.record('finding', {text!r}, source='cell')\n"
        kernel.run(record + cell.format(figure=n * 10 + 0.5), f"cell-{n}")
        entry = findings(tmp_path, "measure")[n]
        assert (entry.state, entry.missing) == ("verified", ""), cell
        kernel.run(cell.format(figure=777), f"cell-{n}")
        assert findings(tmp_path, "measure")[n].state == "stale", cell


def test_what_a_cell_warns_of_is_not_its_output(kernel, tmp_path):
    cell = "import sys\nprint(n, file=sys.stderr)\nprint('7')\n_ = p.record('finding', 'It is 7.', source='cell')"
    for n in (1, 2):
        kernel.run(f"n = {n}")
        kernel.run(cell, "3f9a")
    assert first(tmp_path).state == "verified"


def test_a_figure_that_is_not_in_the_output_is_told(kernel, tmp_path):
    shown = said(kernel.run("print(6.4)\n_ = p.record('finding', 'It is 6.1.', source='cell')"))
    assert "F1: 6.1 not in what its cell gave." in shown
    assert first(tmp_path).missing == "6.1"


def test_a_host_without_cell_ids_knows_a_cell_by_its_source(kernel, tmp_path):
    cell = "print(peak)\n_ = p.record('finding', 'Peak was 6.1 GB.', source='cell')"
    kernel.run("peak = 6.1")
    kernel.run(cell)
    assert first(tmp_path).state == "verified"
    kernel.run("peak = 6.4")
    kernel.run(cell + "\n# another cell")
    assert first(tmp_path).source != ""
    kernel.run("peak = 6.1")
    kernel.run(cell)
    assert first(tmp_path).state == "verified"


def test_an_address_for_an_id_is_passed_over(kernel, tmp_path):
    kernel.run(
        "_ = p.record('finding', 'So.', source='cell')", "vscode-notebook-cell:/w/a.ipynb#W0s"
    )
    assert "vscode" not in first(tmp_path).source
    assert first(tmp_path).source.startswith("cell ")


def test_an_earlier_cell_can_be_cited_by_its_number(kernel, tmp_path):
    kernel.run("print('peak 6.1 GB')", "3f9a")
    count = len(kernel.notebook.cells)
    kernel.run(f"p.record('finding', 'Peak was 6.1 GB.', source='In[{count}]')", "77b0")
    assert first(tmp_path).source == "cell 3f9a of notebook/m.ipynb"
    assert (first(tmp_path).state, first(tmp_path).missing) == ("verified", "")
    kernel.run("print('peak 6.4 GB')", "3f9a")
    assert first(tmp_path).state == "stale"


def test_a_cell_that_fails_verifies_nothing(kernel, tmp_path):
    kernel.run(
        "print(6.1)\np.record('finding', 'It is 6.1.', source='cell')\n1/0", "3f9a", fails=True
    )
    assert first(tmp_path).state == "unverified"
    kernel.run("print(6.1)", "3f9a")
    assert first(tmp_path).state == "verified"
    kernel.run("print(6.1)\n1/0", "3f9a", fails=True)
    assert "ZeroDivisionError" in first(tmp_path).reason


def test_the_model_can_cite_a_cell_too(kernel, tmp_path):
    kernel.run(
        "print('peak 6.1 GB')\n"
        '_ = p.tools().call(\'ledger_record\', \'{"kind": "finding", "text": "Peak was 6.1 GB.", '
        '"source": "this cell"}\')',
        "3f9a",
    )
    assert (first(tmp_path).by, first(tmp_path).state) == ("model", "verified")


def test_it_works_without_the_extension(tmp_path):
    path = notebook_file(tmp_path / "work", "m.ipynb")
    with Kernel(tmp_path, JPY_SESSION_NAME=path) as kernel:
        kernel.run("import throughline_nb as tl\np = tl.start('Measure')")
        kernel.run("print(6.1)\n_ = p.record('finding', 'It is 6.1.', source='cell')", "3f9a")
        assert first(tmp_path).state == "verified"
        kernel.run("print(6.4)", "3f9a")
        assert first(tmp_path).state == "stale"


def test_outputs_and_errors_are_saved_as_what_they_are(kernel):
    shown = kernel.run("%tl status")[0]
    assert shown.output_type == "display_data"
    assert set(shown.data) == {
        "text/plain",
        "text/markdown",
        "text/html",
        "application/vnd.throughline+json",
    }
    assert shown.data["application/vnd.throughline+json"]["ledger"]["goal"] == "Measure"
    json.dumps(shown.data["application/vnd.throughline+json"])
    failed = kernel.run("p.record('finding', '')", fails=True)[0]
    assert failed.output_type == "error"
    assert failed.traceback == [f"throughLine: {failed.evalue}"]
    assert len(failed.evalue.splitlines()) == 1
