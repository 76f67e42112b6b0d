"""Reading, merging and writing a ledger of 1,000 entries, against mistune's tree of its file.

Each round has its own texts, so that a cache helps only where the figure says warm.
"""

import random
import re
import sys

import mistune
import msgspec
import pytest

from throughline_nb.ledger import Ledger, merge, read, write
from throughline_nb.ledger.model import Entry

from .harness import CPU, Timed, alternate
from .ledgers import ledger, resaved, sentence, url

ROUNDS = 15
ENTRIES = 1000
VERSION = "41-7c1e"
EDITED = 5

pytestmark = pytest.mark.benchmark(timer=CPU)


class Files:
    """Ledgers and their files, a new one each round, and mistune's tree of the same file."""

    def __init__(self):
        self.round = 0
        self.tree = mistune.create_markdown(renderer=None)
        self.text = ""

    def new(self) -> Ledger:
        self.round += 1
        return ledger(ENTRIES, f"round {self.round}")

    def peer(self) -> Timed:
        return Timed(lambda _: self.tree(self.text))


def test_cold_read(benchmark):
    files = Files()
    made: list[Ledger] = []

    def fresh():
        made[:] = [files.new()]
        files.text = write(made[0], VERSION)
        forget()

    got = []
    subject = Timed(lambda _: got.append(read(files.text)))
    alternate(benchmark, subject, {"read-cold": files.peer()}, rounds=ROUNDS, prepare=fresh)
    assert got[-1].ledger == made[0]
    assert got[-1].version == VERSION


def test_hand_edit_warm(benchmark):
    _hand_edit(benchmark, "edit-warm", lambda text: text)


def test_hand_edit_resaved(benchmark):
    _hand_edit(benchmark, "edit-resaved", resaved)


def _hand_edit(benchmark, key, save):
    """A person edits 5 findings while the model records another one."""
    files = Files()
    base = files.new()
    clean = write(base, VERSION)
    ours = with_finding(base, "recorded meanwhile")
    write(ours, "42-0aa1")
    read(clean, base)
    wanted = {}

    def edit():
        files.round += 1
        text, changed = clean, {}
        for n in range(EDITED):
            entry = base.findings[(files.round * 37 + n * 113) % len(base.findings)]
            changed[entry.id] = f"{entry.number}: what the user found in round {files.round}."
            line = next(x for x in clean.split("\n") if x.startswith(f"- **{entry.id}** "))
            text = text.replace(line, f"- **{entry.id}** {changed[entry.id]}")
        wanted.clear()
        wanted.update(changed)
        files.text = save(text)

    got = []

    def absorb(_):
        reading = read(files.text, base)
        got[:] = [reading, merge(base, ours, reading.ledger)]

    alternate(benchmark, Timed(absorb), {key: files.peer()}, rounds=ROUNDS, prepare=edit)
    reading, merged = got
    assert reading.version == VERSION
    assert {e.id: e.text for e in merged.ledger.findings if e not in ours.findings} == wanted
    rest = [e for e in merged.ledger.entries() if e.id not in wanted]
    assert rest == [e for e in ours.entries() if e.id not in wanted]


def test_write_whole(benchmark):
    files = Files()
    texts = []

    made = []

    def fresh():
        made[:] = [files.new()]
        files.text = write(made[0], VERSION)
        forget()

    subject = Timed(lambda new: texts.append(write(new, VERSION)), lambda: copied(made[0]))
    alternate(benchmark, subject, {"write-whole": files.peer()}, rounds=ROUNDS, prepare=fresh)
    assert texts[-1] == files.text


def test_write_one_changed(benchmark):
    files = Files()
    base = files.new()
    files.text = write(base, VERSION)
    texts = []

    def changed():
        files.round += 1
        at = files.round * 31 % len(base.findings)
        entry = msgspec.structs.replace(base.findings[at], text=f"changed in round {files.round}")
        findings = (*base.findings[:at], entry, *base.findings[at + 1 :])
        return msgspec.structs.replace(base, findings=findings)

    subject = Timed(lambda made: texts.append(write(made, "42-0aa1")), changed)
    alternate(benchmark, subject, {"write-one": files.peer()}, rounds=ROUNDS)
    assert f"changed in round {files.round}\n" in texts[-1]
    assert len(re.findall(r"(?m)^- (?:\[[ x]\] )?\*\*[CSFDQP]", texts[-1])) == ENTRIES


def with_finding(base: Ledger, text: str) -> Ledger:
    """The ledger with one more finding."""
    rng = random.Random(text)
    entry = Entry(
        id=base.next_id("finding"),
        text=f"{text}: {sentence(rng)}",
        source=url(rng, 1),
        state="unverified",
        by="model",
        origin="turn 900 of lmstudio/1764500000000",
        added="2026-10-30T10:00:00Z",
    )
    free = tuple(n + (i == 2) for i, n in enumerate(base.next))
    return msgspec.structs.replace(base, findings=(*base.findings, entry), next=free)


def copied(made: Ledger) -> Ledger:
    """The same ledger, of objects and texts that nothing has seen before."""
    return msgspec.json.decode(msgspec.json.encode(made), type=Ledger)


def forget() -> None:
    """Empty every cache that the ledger's modules keep in functions."""
    for name, module in list(sys.modules.items()):
        if name.startswith("throughline_nb.ledger"):
            for value in list(vars(module).values()):
                if callable(getattr(value, "cache_clear", None)):
                    value.cache_clear()
