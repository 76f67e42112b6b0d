"""The pages build, and each can be reached."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_site_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", tmp_path / "trees", ROOT / "docs", tmp_path / "html"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr  # with -W, a warning is an error
    for page in [*(ROOT / "docs").glob("*.md"), *(ROOT / "notebooks").glob("*.ipynb")]:
        assert list((tmp_path / "html").rglob(f"{page.stem}.html"))
