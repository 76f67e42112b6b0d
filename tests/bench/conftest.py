"""What the benchmarks share: a folder on the disk that the repository is on."""

import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder():
    """A folder on a real disk; the system's temporary one may be memory, where fsync is free."""
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix="bench-", dir=build))
    yield made
    shutil.rmtree(made, ignore_errors=True)
