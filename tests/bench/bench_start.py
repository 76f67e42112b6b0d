"""Start of a process: what importing the package and asking for help cost."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from .harness import WALL, Timed, alternate

ROUNDS = 25

pytestmark = pytest.mark.benchmark(timer=WALL)


def _process(*command: str) -> Timed:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COV_"))}

    def run(_):
        subprocess.run(
            command,
            check=True,
            stdout=subprocess.DEVNULL,
            stdin=subprocess.DEVNULL,
            env=environment,
        )

    return Timed(run)


def _script() -> str:
    name = "throughline-nb.exe" if os.name == "nt" else "throughline-nb"
    return str(Path(sysconfig.get_path("scripts")) / name)


def test_import(benchmark):
    subject = _process(sys.executable, "-c", "import throughline_nb")
    floor = _process(sys.executable, "-c", "pass")
    alternate(benchmark, subject, {"import": floor}, rounds=ROUNDS)


def test_help(benchmark):
    floor = _process(sys.executable, "-c", "pass")
    alternate(benchmark, _process(_script(), "--help"), {"help": floor}, rounds=ROUNDS)
