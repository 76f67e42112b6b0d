"""Up to five machines that share a project, as their users, models and deaths have it.

Every step is one of: a model records, a user sets goal or constraint, somebody edits the file by
hand, a sync, a sync in which another machine is faster, a death at some step of the next write or
sync. In the end all sync, and then: all
ledgers are equal; what was acknowledged is there, or was changed or removed by somebody, and then
its words stand in the history; no id stands twice; what was published keeps its number; and every
merge on the way is git's own of one blob a field, where git finds no conflict.
"""

import json
import os
import re
import shutil
import tempfile
import time
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sharing_in_process import fetch, is_ancestor, merge_bases, push
from stores import NOW, project, projects

from tests.property.git_oracle import Git, explode
from tests.property.test_merge_oracle import one_side_deleted_what_the_other_changed, settled
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger import edits
from throughline_nb.ledger.edits import By
from throughline_nb.store import files
from throughline_nb.store.ledgers import forget_ledgers
from throughline_nb.store.loose import LooseObjects
from throughline_nb.store.project import Project
from throughline_nb.store.projects import Stamp
from throughline_nb.store.repo import Repo, forget_caches
from throughline_nb.store.sharing import (
    incoming,
    merging,
    relations,
    starting,
    syncing,
    transport,
    trees,
    views,
)
from throughline_nb.store.sharing.addresses import address
from throughline_nb.store.workfile import WorkFile

DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
RUNS = 1000 if DEEP else 200
SIMULATION = Path(__file__).parents[1] / "bench" / "simulation.json"
WITH_GIT = 60 if DEEP else 6
MACHINES = 5
ACTIONS = (
    *("record", "record", "retract", "user", "hand", "hand"),
    *("sync", "sync", "sync", "race", "kill"),
)

STEPS = st.lists(
    st.tuples(st.integers(0, MACHINES - 1), st.sampled_from(ACTIONS), st.integers(0, 2**16)),
    min_size=8,
    max_size=18,
)


class KilledError(BaseException):
    """The end of a process."""


class Failpoints:
    """Counts the steps of a write or a sync, and dies at one of them."""

    PLACES = (
        (LooseObjects, "write"),
        (Repo, "advance"),
        (Repo, "refresh_index"),
        (Project, "show"),
        (WorkFile, "replace"),
        (WorkFile, "_remember"),
        (incoming.Incoming, "accept"),
        (incoming.Incoming, "fetch"),
        (incoming, "patiently"),
        (transport, "push"),
        (trees, "bring"),
        (syncing, "note"),
        (files, "patiently"),
    )

    def __init__(self, monkeypatch):
        self.left = 0
        self.deaths = 0
        for owner, name in self.PLACES:
            monkeypatch.setattr(owner, name, self._around(getattr(owner, name)))

    def _around(self, real):
        def step(*args, **kwargs):
            self._pass()
            done = real(*args, **kwargs)
            self._pass()
            return done

        return step

    def _pass(self):
        if self.left:
            self.left -= 1
            if not self.left:
                self.deaths += 1
                raise KilledError


class World:
    """All machines and the remote, and what is known of what happened."""

    def __init__(self, folder, template, machines, failpoints):
        self.failpoints = failpoints
        self.remote = folder / "remote"
        shutil.copytree(template / "remote", self.remote)
        self.homes = []
        for n in range(machines):
            home = folder / f"m{n}"
            shutil.copytree(template / "m", home)
            config = home / "home" / "projects" / "runtimes" / ".git" / "config"
            text = config.read_text().replace(str(template / "remote"), str(self.remote))
            config.write_text(text)
            self.homes.append(projects(home))
        self.open = [home.open("runtimes") for home in self.homes]
        self.clock = NOW + 1000
        self.count = 0
        self.tokens = {}  # of entries that must be there in the end
        self.words = set()  # that must be there, or in the history
        self.typed = [set() for _ in range(machines)]  # words in files that nobody has read yet
        self.numbers = {}  # of what was published
        self.said = []

    # --- what happens

    def step(self, machine, action, seed):
        machine %= len(self.open)
        self.clock += 60
        rng = Random(seed)
        try:
            getattr(self, f"do_{action}")(machine, rng)
        except KilledError:
            self.revive(machine)
        except ThroughLineError as error:  # a rule refused it: nothing was acknowledged
            self.said.append(str(error))
        self.failpoints.left = 0

    def revive(self, machine):
        self.failpoints.left = 0
        forget_caches()
        forget_ledgers()
        self.open[machine] = self.homes[machine].open("runtimes")

    def stamp(self, actor):
        return Stamp(actor=actor, now=self.clock)

    def token(self):
        self.count += 1
        return f"tok{self.count}x"

    def by(self, actor="model"):
        added = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock))
        return By(actor, "turn 3 of lmstudio/1", added)

    def change(self, machine, edit, actor="model"):
        def apply(ledger):
            done = edit(ledger)
            return done.ledger, done.sentence

        self.open[machine].change(apply, self.stamp(actor))
        self.typed[machine].clear()

    def do_record(self, machine, rng):
        token, kind = (
            self.token(),
            rng.choice(("finding", "finding", "decision", "question", "step")),
        )
        text = f"{token} holds of {rng.randint(1, 9)} runtimes"
        ledger = self.open[machine].read().ledger
        if kind == "step":
            self.change(machine, lambda led: edits.plan(led, self.by(), text=text))
        elif kind == "decision":
            because = rng.choice([e.id for e in ledger.findings] or [""])
            self.change(
                machine,
                lambda led: edits.record(led, kind, text, self.by(), because=because, reason="so"),
            )
        else:
            self.change(machine, lambda led: edits.record(led, kind, text, self.by()))
        self.tokens[token] = True
        self.words.add(token)

    def do_retract(self, machine, rng):
        found = [e for e in self.open[machine].read().ledger.findings if not e.retracted]
        if found:
            ident = rng.choice(found).id
            self.change(
                machine,
                lambda led: edits.retract(led, ident, self.by(), "old"),
            )

    def do_user(self, machine, rng):
        token = self.token()
        if rng.random() < 0.4:
            text = f"Compare runtimes {token}"
            self.change(machine, lambda led: edits.set_goal(led, text, self.by("user")), "user")
        else:
            text = f"Rule {token} counts"
            self.change(machine, lambda led: edits.constrain(led, text, self.by("user")), "user")
            self.tokens[token] = True
        self.words.add(token)

    def do_hand(self, machine, rng):
        """Save an edit; it counts as acknowledged once it is saved."""
        path = self.open[machine].file.path
        lines = path.read_text(encoding="utf-8").splitlines()
        entries = [
            n for n, line in enumerate(lines) if re.match(r"- (\[.\] )?\*\*[CSFDQP]\d", line)
        ]
        kind, token = rng.randint(0, 4), self.token()
        if kind <= 1 or not entries:
            at = next(n for n, line in enumerate(lines) if line == "## Findings")
            lines[at + 1 : at + 1] = ["", f"- {token} was seen"]
            self.tokens[token] = True
            self.words.add(token)
        elif kind <= 3:
            at = rng.choice(entries)
            lines[at] += f" {token}"
            self.words.add(token)
        else:
            at = rng.choice(entries)
            end = next(
                (n for n in range(at + 1, len(lines)) if not lines[n].startswith("  ")), len(lines)
            )
            for gone in re.findall(r"tok\d+x", lines[at]):
                self.tokens.pop(gone, None)
                if gone in self.typed[machine]:  # typed and deleted again before anybody looked
                    self.words.discard(gone)
            del lines[at:end]
        self.typed[machine].add(token)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    def do_sync(self, machine, _rng):
        done = syncing.sync(self.open[machine], self.stamp("user"))
        self.typed[machine].clear()
        self.said += done.notices
        self.published(done.head)
        self.check(self.open[machine].read().ledger)

    def do_race(self, machine, rng):
        """Another machine is faster, between the fetch of a sync and its push."""
        others = [n for n in range(len(self.open)) if n != machine]
        real, rival = transport.push, rng.choice(others)

        def push(*args, **kwargs):
            transport.push = real
            self.do_record(rival, rng)
            self.do_sync(rival, rng)
            return real(*args, **kwargs)

        transport.push = push
        try:
            self.do_record(machine, rng)
            self.do_sync(machine, rng)
        finally:
            transport.push = real

    def do_kill(self, machine, rng):
        self.failpoints.left = rng.randint(1, 60)
        if rng.random() < 0.75:
            self.do_sync(machine, rng)
        else:
            self.do_record(machine, rng)

    # --- what must hold

    def published(self, head):
        """What stands on the remote now has its number for ever."""
        for entry in self.ledger(head).entries():
            for token in re.findall(r"^(?:Rule )?(tok\d+x)", entry.text):
                assert self.numbers.setdefault(token, entry.id) == entry.id, (token, entry.id)

    def ledger(self, head):
        for each in self.open:
            try:
                return views.view(each.repo, head, "runtimes").ledger
            except ThroughLineError:
                continue
        raise AssertionError(head)

    def check(self, ledger):
        ids = [entry.id for entry in ledger.entries()]
        assert len(ids) == len(set(ids))

    def settle(self):
        for _ in range(2):  # the last one of the first round has everything
            for machine in range(len(self.open)):
                self.clock += 60
                self.do_sync(machine, None)
        heads = {each.repo.head() for each in self.open}
        assert len(heads) == 1
        ledgers = [each.read().ledger for each in self.open]
        assert all(ledger == ledgers[0] for ledger in ledgers)
        for each in self.open:
            assert each.file.read() == each.repo.read(each.tip().blob)
            assert each.absorb(self.stamp("user")) is None
        self.check(ledgers[0])
        texts = " ".join(entry.text for entry in ledgers[0].entries())
        lost = [token for token in self.tokens if token not in texts]
        assert not lost, (lost, self.said)
        kept = self.history()
        assert not [word for word in self.words if word not in kept]

    def history(self):
        """All texts of the ledger that the branch reaches, and what stands beside."""
        made = self.open[0]
        found = []
        seen, waiting = set(), [made.repo.head()]
        while waiting:
            at = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            commit = made.repo.commit(at)
            waiting += commit.parents
            blob = made.repo.file(at)
            found.append(made.repo.read(blob).decode() if blob else "")
        found += [path.read_text() for m in self.open for path in m.path.glob("ledger.edit-*")]
        return "\n".join(found)


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
