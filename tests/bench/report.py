"""The table of results, on the terminal and as ``docs/benchmarks.md``."""

import contextlib
import datetime as dt
import itertools
import json
import platform
import sqlite3
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from .figures import BY_KEY, FIGURES, Figure, Measured

SIMULATION: Final = Path(__file__).with_name("simulation.json")
LIBRARIES: Final = ("mistune", "msgspec", "GitPython", "click", "filelock", "pytest-benchmark")


def passed(measured: Measured) -> bool:
    """Whether the ratio is within the figure's target."""
    return measured.ratio <= BY_KEY[measured.key].target


def console(results: Iterable[Measured]) -> str:
    """One line a figure: target beside result."""
    lines = []
    for result in results:
        figure = BY_KEY[result.key]
        lines.append(
            f"{'ok    ' if passed(result) else 'MISSED'} {figure.key:<15} "
            f"{_ratio(result.ratio):>6} (target {_ratio(figure.target)}, ±{result.spread:.0%})  "
            f"{_amount(result.subject)} against {_amount(result.peer)} {figure.unit}"
        )
    return "\n".join(lines)


def document(results: Mapping[str, Measured], machine: Mapping[str, Any]) -> str:
    """The page of the documentation; every figure must have its result.

    Args:
        results: By the figures' keys.
        machine: What pytest-benchmark found out about this machine.
    """
    lines = [
        "# Speed and memory",
        "",
        "Written by `make bench`, which ends with an error where a target is missed. A result is",
        "a ratio: what is measured to a floor or a peer of the same run. Both take turns, the",
        "ratio is taken in each round, and its median is the result; ± is half the distance",
        "between its quartiles. Only ratios are judged; the medians behind them are those of the",
        "machine named here.",
        "",
        *(f"- {name}: {value}" for name, value in _machine(machine)),
        f"- date: {dt.datetime.now(tz=dt.UTC):%Y-%m-%d}",
    ]
    for group, figures in itertools.groupby(FIGURES, key=lambda figure: figure.group):
        lines += ["", f"## {group}", ""]
        lines += ["| measured | against | target | result | | medians | rounds |"]
        lines += ["|---|---|---:|---:|---|---:|---:|"]
        lines += [_row(figure, results[figure.key]) for figure in figures]
    return "\n".join([*lines, *_simulation()]) + "\n"


def _simulation() -> Iterator[str]:
    """What came of the last deep run of the simulated machines, which ``make deep`` writes."""
    with contextlib.suppress(FileNotFoundError):
        found = json.loads(SIMULATION.read_text(encoding="utf-8"))
        yield from (
            "",
            "## Sharing: simulated machines",
            "",
            "Not a speed: what `make deep` last found in `tests/property/test_sharing_simulation.py`.",
            "Up to five machines share a project; every step is a change by a model or a user, a hand",
            "edit, a sync, or a death at some step of either.",
            "",
            "| what | result |",
            "|---|---:|",
            f"| runs, all of which converged with nothing lost and no id twice | {found['runs']:,} |",
            f"| deaths in them | {found['deaths']:,} |",
            f"| merges of two machines' ledgers | {found['merges']:,} |",
            f"| of those answered by git's own merge of one blob a field, and equal | {found['as git']:,} |",
            f"| date | {found['date']} |",
        )


def _row(figure: Figure, result: Measured) -> str:
    cells = (
        figure.subject,
        figure.peer,
        f"≤ {_ratio(figure.target)}",
        f"**{_ratio(result.ratio)}** ±{result.spread:.0%}",
        "met" if passed(result) else "missed",
        f"{_amount(result.subject)} / {_amount(result.peer)} {figure.unit}",
        str(result.rounds),
    )
    return f"| {' | '.join(cells)} |"


def _ratio(value: float) -> str:
    return f"{value:.3f}×" if value < 0.1 else f"{value:.2f}×"


def _amount(value: float) -> str:
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def _machine(found: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    cpu = found["cpu"]
    yield "CPU", cpu.get("brand_raw") or platform.processor() or platform.machine()
    yield "cores", str(cpu.get("count", "unknown"))
    yield "OS", ", ".join((*_distribution(), f"{_kernel()} ({platform.machine()})"))
    yield "Python", f"{platform.python_implementation()} {platform.python_version()}"
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True)
    yield "git", git.stdout.strip().removeprefix("git version ")
    yield "SQLite", sqlite3.sqlite_version
    yield "libraries", ", ".join(f"{name} {version(name)}" for name in LIBRARIES)


def _distribution() -> Iterator[str]:
    with contextlib.suppress(OSError, AttributeError):
        yield platform.freedesktop_os_release()["PRETTY_NAME"]


def _kernel() -> str:
    return f"{platform.system()} {'.'.join(platform.release().split('.')[:2])}"
