"""`make bench` judges ratios, says which target was missed, and ends with 1 then."""

import json
import platform
from pathlib import Path

import pytest
from bench import __main__ as program
from bench.figures import FIGURES, Measured
from bench.harness import Timed, alternate
from bench.report import document, passed

MACHINE = {"node": "a-host-name", "cpu": {"brand_raw": "Some CPU", "count": 3}}


def measured(share):
    return {
        figure.key: Measured(
            key=figure.key,
            ratio=figure.target * share,
            spread=0.05,
            subject=figure.target * share,
            peer=1.0,
            rounds=9,
        )
        for figure in FIGURES
    }


def run(monkeypatch, tmp_path, results, *, arguments=(), status=pytest.ExitCode.OK):
    """Run the program with these results in place of measured ones."""

    def measure(arguments):
        file = next(a for a in arguments if a.startswith("--benchmark-json=")).partition("=")[2]
        benchmarks = [
            {"extra_info": {key: {n: getattr(r, n) for n in r.__struct_fields__}}}
            for key, r in results.items()
        ]
        content = {"benchmarks": benchmarks, "machine_info": MACHINE}
        Path(file).write_text(json.dumps(content), encoding="utf-8")
        return status

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(program.pytest, "main", measure)
    monkeypatch.setattr(program, "DOCUMENT", tmp_path / "docs" / "benchmarks.md")
    return program.main(list(arguments))


def test_all_targets_met(monkeypatch, tmp_path, capsys):
    assert run(monkeypatch, tmp_path, measured(0.99)) == 0
    text = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert text.count("| met |") == len(FIGURES)
    assert "missed |" not in text
    assert "MISSED" not in capsys.readouterr().out


@pytest.mark.parametrize("key", [figure.key for figure in FIGURES])
def test_one_target_missed(monkeypatch, tmp_path, capsys, key):
    results = measured(0.99) | {key: measured(1.01)[key]}
    assert not passed(results[key])
    assert run(monkeypatch, tmp_path, results) == 1
    assert f"Target missed: {key}\n" in capsys.readouterr().out
    text = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert text.count("missed |") == 1


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_part_leaves_the_document(monkeypatch, tmp_path, share):
    results = {"import": measured(share)["import"]}
    assert run(monkeypatch, tmp_path, results, arguments=["-k", "import"]) == int(share > 1)
    assert not (tmp_path / "docs").exists()


def test_failure_leaves_the_document(monkeypatch, tmp_path):
    failed = pytest.ExitCode.TESTS_FAILED
    assert run(monkeypatch, tmp_path, measured(0.5), status=failed) == 1
    assert run(monkeypatch, tmp_path, {"import": measured(0.5)["import"]}) == 1
    assert not (tmp_path / "docs").exists()


def test_document_names_the_machine_but_not_which():
    text = document(measured(0.5), MACHINE)
    for name in ("Some CPU", "cores: 3", platform.python_version(), "git: 2", "SQLite: 3"):
        assert name in text
    assert "a-host-name" not in text
    assert str(Path.home()) not in text


class Fixture:
    """What the harness uses of pytest-benchmark's fixture, with a clock of its own."""

    def __init__(self):
        self.now = 0.0
        self.extra_info = {}
        self.stats = self
        self.data = []

    def _timer(self):
        return self.now

    def pedantic(self, target, *, setup, teardown, rounds, warmup_rounds):
        for number in range(rounds + warmup_rounds):
            args, _ = setup()
            begin = self.now
            target(*args)
            if number >= warmup_rounds:
                self.data.append(self.now - begin)
            teardown(*args)


def test_rounds_alternate_and_the_median_of_ratios_counts():
    fixture, order = Fixture(), []
    speeds = iter([1, 1, 2, 2, 30, 30, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8])

    def work(name, units):
        def action(_):
            order.append(name)
            fixture.now += units * next(speeds)

        return Timed(action)

    alternate(fixture, work("subject", 3), {"import": work("peer", 2)}, rounds=6, warmup=2)
    assert order[:4] == ["peer", "subject", "subject", "peer"]
    found = fixture.extra_info["import"]
    assert found["rounds"] == 6
    assert found["ratio"] == pytest.approx(1.5)
    assert found["spread"] == pytest.approx(0)
    assert found["subject"] == pytest.approx(3 * 6.5 * 1000)
