"""The notebooks of the repository: each runs from a clean home, without network, and shows it."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from kernels import Kernel, execute, kernel_env, said
from model_server import model_server

FOLDER = Path(__file__).parents[2] / "notebooks"
OFFLINE = Path(__file__).parents[1] / "programs" / "offline"
EXAMPLES = sorted(FOLDER.glob("*.ipynb"))

SHOWN = {
    "01-tour": [
        "throughLine is ready",
        "F3: 8,192 not in what its cell gave.",
        "D1 is suspect: F2 retracted",
        "P1 accepted: C2 added",
        "Undone: P1 accepted",
        "# Handoff: ",
        "%tl undo [version]",
    ],
    "02-hand-edits-and-history": [
        "Your edit of ledger.md was merged: C1, F3 added; S1 done; F1 changed; F2 retracted.",
        "F3. Server C is under Apache-2.0 (unverified; source https://example.org/c/LICENSE)",
        "[>] S2 Measure the peak memory",
        "~ S2 changed: Measure the {+peak+} memory",
        "ledger.md edited by hand, from version",
    ],
    "03-recall-and-sources": [
        "not in its source: 8,192",
        "(not read; source https://example.org/b)",
        "Server A listens on port 11434; its context",
        'F3 is stale: run again: "cache 0.54 GB" is now "cache 0.66 GB".',
        "F3 is verified again",
    ],
    "04-model-with-tools": [
        "ledger_record(kind: Literal[",
        "P1 accepted: C1 added",
        "Set THROUGHLINE_TRY_LMSTUDIO=1",
    ],
    "05-sharing": [
        "Nothing is sent yet.",
        "What would leave this machine:",
        "went: Goal set; F1, D1 added.",
        "renumbered: C1 is now C2.",
        "P1 proposes the other goal",
        "came: C2, P1 added.",
        "True",
        "names a helper program",
        "holds a password or token",
    ],
}
"""What a reader is to find in the outputs."""


def environment(tmp_path, **variables):
    found = [str(OFFLINE), *filter(None, [os.environ.get("PYTHONPATH", "")])]
    return kernel_env(tmp_path, PYTHONPATH=os.pathsep.join(found), **variables)


def text_of(notebook):
    return "\n".join(said(cell.outputs) for cell in notebook.cells if cell.cell_type == "code")


def test_there_are_the_five():
    assert [path.stem for path in EXAMPLES] == sorted(SHOWN)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_kept_without_outputs_and_says_what_to_look_at(path):
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)
    assert "widgets" not in notebook.metadata
    prose = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    assert prose[0].startswith("# ")
    assert sum("ook at**" in text for text in prose) >= 2


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_from_a_clean_home_without_network(path, tmp_path):
    shown = text_of(execute(path, environment(tmp_path, OPENAI_BASE_URL="http://127.0.0.1:9/v1")))
    for each in SHOWN[path.stem]:
        assert each in shown
    assert not (tmp_path / "home").exists()  # each works in a folder of its own
    left = {file.name for file in (tmp_path / "user").rglob("*")} - {"ipython", "runtime"}
    assert not [name for name in left if "throughline" in name.lower()]


def test_the_page_on_notebooks_is_true(tmp_path):
    page = (FOLDER.parent / "docs" / "notebook.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    assert len(cells) >= 9
    with Kernel(tmp_path) as kernel:
        shown = [said(kernel.run(cell)) for cell in cells]
    assert "Project measure-the-memory-of-a-small started" in shown[1]
    assert "F2 added: Peak memory is 5.6 GB." in shown[6]
    assert "allowed: finding, decision" in shown[9]
    assert "stale" not in "".join(shown)


def test_the_cells_of_the_readme_bind_a_notebook_and_verify_a_finding(tmp_path):
    page = (FOLDER.parent / "README.md").read_text(encoding="utf-8")
    cells = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    with Kernel(tmp_path) as kernel:
        for cell in cells:
            kernel.run(cell)
        assert "F1. Peak memory was 6.1 GB. (verified;" in said(kernel.run("%tl"))


def test_a_model_server_gets_the_tools_and_its_calls_are_executed(tmp_path):
    script = [
        [
            ("ledger_plan", {"text": "Collect the ports", "status": "doing"}),
            ("ledger_record", {"kind": "finding", "text": "Server A: 11434.", "source": "user"}),
        ],
        [("ledger_record", {"kind": "constraint", "text": "Only default ports count"})],
        "I recorded one finding and proposed a constraint.",
    ]
    with model_server(script) as server:
        env = environment(tmp_path, OPENAI_BASE_URL=server.url)
        shown = text_of(execute(FOLDER / "04-model-with-tools.ipynb", env))
        assert len(server.received) == 3
    assert "I recorded one finding and proposed a constraint." in shown
    assert "F1. Server A: 11434. (verified)" in shown
    assert "No model server" not in shown
    assert "Server B listens" not in shown  # the calls by hand are left out
