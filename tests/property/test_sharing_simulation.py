"""Up to five machines that share a project, as their users, models and deaths have it.

Every step is one of: a model records, a user sets goal or constraint, somebody edits the file by
hand, a sync, a sync in which another machine is faster, a death at some step of the next write or
sync. In the end all sync, and then: all ledgers are equal; every entry that was acknowledged is
there unless somebody deleted it; all words that were ever written stand in the history; no id
stands twice; what was published keeps its number; and every merge on the way is git's own of one
blob a field, where git finds no conflict.
"""

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sharing_in_process import fetch, is_ancestor, merge_bases, push
from stores import NOW, project

from tests.property.git_oracle import Git, explode
from tests.property.sharing_world import ACTIONS, MACHINES, Failpoints, World
from tests.property.test_merge_oracle import one_side_deleted_what_the_other_changed, settled
from throughline_nb.store import files
from throughline_nb.store.projects import Stamp
from throughline_nb.store.sharing import (
    merging,
    relations,
    starting,
    transport,
    views,
)
from throughline_nb.store.sharing.addresses import address

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
RUNS = 1000 if DEEP else 200
SIMULATION = Path(__file__).parents[1] / "bench" / "simulation.json"
WITH_GIT = 60 if DEEP else 6
STEPS = st.lists(
    st.tuples(st.integers(0, MACHINES - 1), st.sampled_from(ACTIONS), st.integers(0, 2**16)),
    min_size=8,
    max_size=18,
)


@pytest.fixture(scope="module")
def root():
    """A folder in memory where the system has one: a thousand small repositories are made in it."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory, prefix="throughline-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def template(root):
    folder = root / "template"
    made = project(folder / "m")
    starting.share(made, address(str(folder / "remote")), Stamp(actor="user", now=NOW))
    return folder


@pytest.fixture
def quick(monkeypatch):
    """No waiting for the disk: no power is cut here, only processes end."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(files, "sync_together", lambda _: None)
    monkeypatch.setattr("throughline_nb.store.loose.sync_together", lambda _: None)


@pytest.fixture
def in_process(monkeypatch):
    monkeypatch.setattr(transport, "fetch", fetch)
    monkeypatch.setattr(transport, "push", push)
    for module in (views, relations):
        monkeypatch.setattr(module, "merge_bases", merge_bases)
        monkeypatch.setattr(module, "is_ancestor", is_ancestor)


@pytest.fixture
def merges(monkeypatch):
    found = []
    real = merging.merge

    def merge(base, ours, theirs, **how):
        done = real(base, ours, theirs, **how)
        found.append((base, ours, theirs, done.ledger))
        return done

    monkeypatch.setattr(merging, "merge", merge)
    return found


def play(folder, template, machines, steps, failpoints):
    world = World(folder, template, machines, failpoints)
    for machine, action, seed in steps:
        world.step(machine, action, seed)
    world.settle()
    return world


@pytest.mark.slow
def test_all_machines_agree_and_nothing_is_lost(
    tmp_path_factory, root, template, monkeypatch, quick, in_process, merges
):
    failpoints = Failpoints(monkeypatch)
    runs = []

    @settings(
        max_examples=RUNS,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(st.integers(2, MACHINES), STEPS)
    def run(machines, steps):
        folder = root / str(len(runs))
        runs.append(machines)
        try:
            play(folder, template, machines, steps, failpoints)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    run()
    assert len(runs) >= RUNS
    assert failpoints.deaths > RUNS / 10
    found = {
        "runs": len(runs),
        "deaths": failpoints.deaths,
        "merges": len(merges),
        "as git": as_git_merges(tmp_path_factory, merges),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }
    if DEEP:  # for docs/benchmarks.md
        SIMULATION.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8", newline="\n")


def as_git_merges(tmp_path_factory, merges):
    """Each merge on the way against git's own of one blob a field."""
    answered = 0
    for start in range(0, len(merges), 100):
        batch = merges[start : start + 100]
        git = Git(tmp_path_factory.mktemp("oracle"))
        answers = git.merge_trees([tuple(map(explode, each[:3])) for each in batch])
        for (base, ours, theirs, merged), answer in zip(batch, answers, strict=True):
            if answer is None or any(
                one_side_deleted_what_the_other_changed(entry, ours, theirs)
                for entry in base.entries()
            ):
                continue
            answered += 1
            entries = {path.rsplit("/", 1)[0] for path in answer if path.count("/") == 2}
            assert settled(explode(merged), base, False, entries) == settled(
                answer, base, False, entries
            )
    assert answered > len(merges) / 10
    return answered


@pytest.mark.slow
def test_the_same_with_git_itself(root, template, monkeypatch, quick):
    """The steps that the simulation takes, with git's own fetch and push."""
    failpoints = Failpoints(monkeypatch)
    rng = Random("with git")
    for number in range(WITH_GIT):
        machines = rng.randint(2, 3)
        steps = [
            (rng.randrange(machines), rng.choice(ACTIONS), rng.getrandbits(16)) for _ in range(8)
        ]
        steps.insert(4, (0, "kill", number))
        folder = root / f"git{number}"
        folder.mkdir()
        play(folder, template, machines, steps, failpoints)
    assert failpoints.deaths
