"""Memory by length of the history, each length in a process of its own."""

import json
import subprocess
import sys

from .conftest import ROOT
from .harness import report

ROUNDS = 3


def _measure(messages):
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.memory", str(messages)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    return json.loads(done.stdout)


def test_memory(benchmark):
    long, short = [], []
    benchmark.pedantic(
        lambda: long.append(_measure(30_000)),
        setup=lambda: short.append(_measure(300)),
        rounds=ROUNDS,
    )
    for key, name, scale in (
        ("memory-turn", "turn", 1 / 1024),
        ("memory-restart", "resident", 1 / 1024**2),
    ):
        values = [[one[name] for one in each] for each in (long, short)]
        report(benchmark, key, *values, scale=scale)
