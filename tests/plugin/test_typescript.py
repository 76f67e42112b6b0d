"""The TypeScript alone: strict types, and its own tests under node."""

import subprocess
from pathlib import Path

import pytest

from .toolchain import PLUGIN, bundle_test, node

TESTS = sorted((PLUGIN / "test").glob("*.test.ts"))


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", check=False, timeout=120
    )


def test_the_types_are_right(packages: Path) -> None:
    program = packages / "node_modules" / "typescript" / "bin" / "tsc"
    done = run(packages, node(), str(program))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("source", TESTS, ids=[test.name for test in TESTS])
def test_its_own_tests_pass(packages: Path, source: Path) -> None:
    done = run(packages, node(), "--test", "--test-reporter=spec", str(bundle_test(source)))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 0" not in done.stdout


def test_every_source_is_small(packages: Path) -> None:
    for file in [*PLUGIN.glob("src/*.ts"), *PLUGIN.glob("test/*.ts")]:
        assert len(file.read_text(encoding="utf-8").splitlines()) < 400, file.name


def test_the_lock_file_names_no_download_host() -> None:
    text = (PLUGIN / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in text
    assert '"@lmstudio/sdk": "1.5.0"' in text
