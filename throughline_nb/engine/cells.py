"""Cells as sources: what a run says of the findings that cite it, written as one engine's commit.

A host calls :meth:`Cells.seen` after each run of a cell. A run that no finding cites costs a look
at the ledger's last version, and leaves nothing.
"""

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.cells import Ran, claim, judged, source_of
from throughline_nb.ledger.delta import changes, clip, sentence
from throughline_nb.store import cells as stored
from throughline_nb.store.cells import Kept
from throughline_nb.store.project import Project
from throughline_nb.store.records import Stamp

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine


class Cells:
    """The runs that an engine's chats rest on."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._held: dict[ChatKey, dict[str, Kept]] = {}
        self._lock = threading.Lock()

    def seen(
        self, key: ChatKey, runs: Sequence[Ran], turn: int, projects: Iterable[str] = ()
    ) -> list[str]:
        """Judge the findings that cite cells which were just run.

        Args:
            key: The notebook.
            runs: The runs.
            turn: Execution count.
            projects: Names of projects, beside its own, in which it recorded findings.

        Returns:
            What changed, a sentence each, for the user.

        Raises:
            ThroughLineError: It could not be written; the next run tries again.
        """
        engine, told = self._engine, list[str]()
        chat = engine.chat(key)
        with chat.lock:
            own = engine.fresh(chat).project
            stamp = Stamp(actor="engine", now=engine.clock(), chat=key, turn=turn)
            for slug in dict.fromkeys([own, *projects]):
                if slug and engine.projects.exists(slug):
                    told += self._judge(key, engine.projects.open(slug), runs, stamp)
        return told

    def cited(self, key: ChatKey, projects: Iterable[str] = ()) -> set[str]:
        """Short ids of the cells that findings cite, by which a host knows what to hand in."""
        engine = self._engine
        chat = engine.chat(key)
        with chat.lock:
            own = engine.fresh(chat).project
        held = self._of(key)
        found: set[str] = set()
        for slug in dict.fromkeys([own, *projects]):
            if not slug or not engine.projects.exists(slug):
                continue
            for entry in engine.projects.open(slug).read().ledger.findings:
                if not entry.source.startswith("cell ") or entry.retracted:
                    continue
                kept = held.get(claim(entry))
                if kept is not None and kept.source == entry.source:
                    found.add(kept.ran.short)
                elif entry.source.endswith(f" of {key}"):
                    found.add(entry.source.split(" ", 2)[1])
        return found

    def of(self, key: ChatKey, entry: Entry) -> Kept | None:
        """The run by which a finding was verified in a notebook, where it is known."""
        return self._of(key).get(claim(entry))

    def redact(self, bound: Iterable[ChatKey], ident: str, without: Callable[[str], str]) -> None:
        """Take an entry's run out of what is kept, and its words out of all outputs.

        Args:
            bound: The notebooks and chats of the entry's project. Others may have recorded into it
                too; there only its words go.
            ident: Id of the entry.
            without: What takes its words out of a text.
        """
        its = set(bound)
        for key in {*its, *self._held, *(key for key, _ in self._engine.chats.states())}:
            held = self._of(key)
            kept = {
                each.claim: _without(each, without)
                for each in held.values()
                if key not in its or each.claim.partition(" ")[0] != ident
            }
            if kept != held:
                self._keep(key, kept)

    def drop(self, key: ChatKey) -> None:
        """Forget what is kept of a chat that leaves its project; its state's writer deletes it."""
        self._held.pop(key, None)

    def adopt(self, key: ChatKey, former: ChatKey) -> None:
        """Take over what a notebook left that now has another name."""
        left = self._of(former)
        if left:
            self._keep(key, left | self._of(key))

    # --- inside ----------------------------------------------------------------------------------

    def _of(self, key: ChatKey) -> dict[str, Kept]:
        with self._lock:
            if key not in self._held:
                self._held[key] = stored.load(self._engine.chats.folder(key))
            return self._held[key]

    def _keep(self, key: ChatKey, kept: dict[str, Kept]) -> None:
        out = self._engine.recalls.purged.without  # a cell may give again what was purged
        kept = {claim: _without(each, out) for claim, each in kept.items()}
        self._held[key] = kept
        folder = self._engine.chats.folder(key)
        if folder.is_dir():  # else the notebook has no name, and is forgotten with the process
            stored.save(folder, kept.values())

    def _judge(
        self, key: ChatKey, project: Project, runs: Sequence[Ran], stamp: Stamp
    ) -> list[str]:
        held = self._of(key)
        named = {source_of(run.cell, str(key)): run for run in runs}
        by_cell = {run.cell: run for run in runs}

        def run_of(entry: Entry) -> Ran | None:
            kept = held.get(claim(entry))
            if kept is not None and kept.source == entry.source:  # of a notebook renamed since, too
                return by_cell.get(kept.ran.cell)
            return named.get(entry.source)

        def edit(ledger: Ledger) -> tuple[Ledger, str]:
            findings = tuple(_checked(entry, run_of(entry), held) for entry in ledger.findings)
            after = msgspec.structs.replace(ledger, findings=findings)
            return after, _sentence(ledger, after)

        before = project.read().ledger
        cited = [(e, run) for e in before.findings if (run := run_of(e)) and not e.retracted]
        if not cited:
            return []
        after = edit(before)[0]
        if after != before:
            after = project.change(edit, stamp).ledger
        fresh = {e.id: e for e in after.findings}
        kept = dict(held)
        for entry, run in cited:
            new = fresh.get(entry.id)
            if new is not None and claim(new) == claim(entry):
                _note(kept, new, run)
        if kept != held:
            self._keep(key, kept)
        return [
            told
            for entry, _ in cited
            if (new := fresh.get(entry.id)) is not None and (told := _told(entry, new))
        ]


def _checked(entry: Entry, run: Ran | None, held: dict[str, Kept]) -> Entry:
    if run is None:
        return entry
    kept = held.get(claim(entry))
    known = kept is not None and kept.source == entry.source  # else it cites another cell now
    return judged(entry, run, kept.ran if kept is not None and known else None)


def _note(kept: dict[str, Kept], entry: Entry, run: Ran) -> None:
    """Keep the run that verified a finding, and beside it a later one that gave another output."""
    name = claim(entry)
    base = kept.get(name)
    base = base if base is not None and base.source == entry.source else None
    if entry.state == "verified":
        kept.pop(name, None)  # the latest stands last, so that it goes last
        kept[name] = Kept(name, entry.source, run)
    elif entry.state == "stale" and base is not None:
        kept[name] = msgspec.structs.replace(base, now=run)


def _told(old: Entry, new: Entry) -> str:
    if new.state == "stale" and new.reason != old.reason:
        return f"{new.id} is stale: {new.reason}."
    if new.missing and new.missing != old.missing:
        return f"{new.id}: {new.missing} not in what its cell gave."
    if new.state == "verified" and old.state == "stale":
        return f"{new.id} is verified again: its cell gave the same output."
    return ""


def _sentence(before: Ledger, after: Ledger) -> str:
    was = {entry.id: entry for entry in before.findings}
    new = [e for e in after.findings if was[e.id] is not e and was[e.id] != e]
    if len(new) == 1:
        why = f": {new[0].reason}" if new[0].state == "stale" else ""
        return clip(f"{new[0].id} {new[0].state}{why}")
    return sentence(changes(before, after))


def _without(kept: Kept, without: Callable[[str], str]) -> Kept:
    def cut(run: Ran) -> Ran:
        return msgspec.structs.replace(run, text=without(run.text))

    now = cut(kept.now) if kept.now is not None else None
    return msgspec.structs.replace(kept, ran=cut(kept.ran), now=now)
