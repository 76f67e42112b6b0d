"""What a person waits for at every start stays out of it: heavy libraries load when used."""

import json
import subprocess
import sys

import pytest

HEAVY = {
    "git", "gitdb", "mistune", "ipywidgets", "IPython", "ipykernel", "numpy", "frontmatter", "yaml",
    "tqdm",
}  # fmt: skip
NOT_FOR_HELP = {
    "throughline_nb.engine.session",
    "throughline_nb.ledger.figures",
    "throughline_nb.ledger.personal",
    "throughline_nb.store.project",
    "throughline_nb.store.projects",
    "concurrent.futures",
    "filelock",
    "logging",
    "sqlite3",
    "subprocess",
    "tomllib",
}
"""Modules that take milliseconds, which the names and help texts of the commands need none of."""

LIST_MODULES = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
HELP = f"""
import sys
sys.argv = ["throughline-nb", "--help"]
from throughline_nb.hosts.cli import main
try:
    main()
finally:
    {LIST_MODULES}
"""


def loaded(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=False, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(json.loads(done.stderr))


@pytest.mark.parametrize("module", ["throughline_nb", "throughline_nb.ledger"])
def test_import_is_light(module):
    _, modules = loaded(f"import {module}; {LIST_MODULES}")
    assert "throughline_nb" in modules
    assert not modules & HEAVY


def test_help_is_light():
    shown, modules = loaded(HELP)
    assert "Usage: throughline-nb" in shown
    assert {"throughline_nb", "click"} <= modules
    assert not modules & (HEAVY | NOT_FOR_HELP)


def test_the_check_sees_a_heavy_import():
    _, modules = loaded(f"import throughline_nb, mistune; {LIST_MODULES}")
    assert modules & HEAVY == {"mistune"}
