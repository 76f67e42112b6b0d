"""``python -m tests.bench``: run all benchmarks, judge them, write ``docs/benchmarks.md``.

Arguments go to pytest, such as ``-k cold``; then only what was measured is judged, and the
document stays as it is.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import click
import pytest

from .figures import FIGURES, Measured
from .report import console, document, passed

FOLDER = Path(__file__).resolve().parent
DOCUMENT = FOLDER.parents[1] / "docs" / "benchmarks.md"


def main(arguments: list[str]) -> int:
    """Run, print, write; returns 1 where a target was missed or a benchmark failed."""
    os.chdir(FOLDER.parents[1])
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / "benchmarks.json"
        status = pytest.main(
            [
                str(FOLDER),
                *("-o", "addopts=", "-o", "python_files=bench_*.py"),
                *(
                    "-q",
                    "-p",
                    "no:cacheprovider",
                    "--no-header",
                    "-W",
                    "ignore:Not saving anything",
                ),
                *("--benchmark-only", "--benchmark-quiet", f"--benchmark-json={found}"),
                *arguments,
            ]
        )
        run = json.loads(found.read_text(encoding="utf-8")) if found.exists() else {}
    measured = {
        key: Measured(**values)
        for bench in run.get("benchmarks", ())
        for key, values in bench["extra_info"].items()
    }
    results = [measured[figure.key] for figure in FIGURES if figure.key in measured]
    click.echo(f"\n{console(results)}")
    if status != pytest.ExitCode.OK:
        click.echo("A benchmark failed; docs/benchmarks.md stays as it was.")
        return 1
    if not arguments:
        absent = [figure.key for figure in FIGURES if figure.key not in measured]
        if absent:
            click.echo(f"Not measured: {', '.join(absent)}; docs/benchmarks.md stays as it was.")
            return 1
        DOCUMENT.parent.mkdir(exist_ok=True)
        DOCUMENT.write_text(document(measured, run["machine_info"]), encoding="utf-8", newline="\n")
        click.echo("Written: docs/benchmarks.md")
    missed = [result.key for result in results if not passed(result)]
    if missed:
        click.echo(f"Target missed: {', '.join(missed)}")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
