"""The machines of the simulation: what happens to them, how they die, and what must hold."""

import re
import shutil
import time
from random import Random

from stores import NOW, projects

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
    syncing,
    transport,
    trees,
    views,
)
from throughline_nb.store.workfile import WorkFile

MACHINES = 5
ACTIONS = (
    *("record", "record", "retract", "user", "hand", "hand"),
    *("sync", "sync", "sync", "race", "kill"),
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
