"""What the generator writes and the tests read: ledgers, edits, and what editors made of them.

Everything made lies below `made/`. A save of an edited ledger is kept as the lines in which it
differs from the same editor's save of the ledger as it was, so that the folder stays small and
shows what an editor does to an edit.
"""

import difflib
import hashlib
from pathlib import Path

import msgspec

from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import Ledger

HERE = Path(__file__).parent
INPUTS = HERE / "inputs"
MADE = HERE / "made"
LEDGERS = ("hostile", "odd", "medium")
"""Ledgers that every editor saves unchanged; the medium one is also edited."""
VERSION = "17-c0de"
"""The version that the inputs are written with."""


class Replacement(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of the text: ``find``, which occurs once, becomes ``put``."""

    find: str
    put: str


class Expected(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an edit of the text means for the ledger.

    Attributes:
        goal: The new goal, if it changed.
        fields: New values of fields, by id.
        added: New entries, by id; fields that the engine fills are left out.
        removed: Ids that are gone.
        order: Ids of the plan in their new order, if that changed or grew.
        prose: Words that now stand in running text, by place.
        notice: Whether a notice must say what was done.
    """

    goal: str | None = None
    fields: dict[str, dict[str, str]] = {}
    added: dict[str, dict[str, str]] = {}
    removed: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    prose: dict[str, str] = {}
    notice: bool = False


class Edit(msgspec.Struct, frozen=True):
    """One thing that a person does to `ledger.md` in a text editor.

    Attributes:
        kind: Name of the kind of edit.
        means: The same in words.
        changes: What is typed.
        expected: What it means.
    """

    kind: str
    means: str
    changes: tuple[Replacement, ...]
    expected: Expected

    def apply(self, text: str) -> str:
        """``text`` with the edit made.

        Raises:
            ValueError: Something to replace does not occur exactly once.
        """
        for change in self.changes:
            if text.count(change.find) != 1:
                raise ValueError(f"{self.kind}: {change.find!r} is not there exactly once")
            text = text.replace(change.find, change.put)
        return text


class Saved(msgspec.Struct, frozen=True):
    """An edited ledger as an editor saved it.

    Attributes:
        kind: The edit's kind.
        input: SHA-256 of the text that the editor opened.
        output: SHA-256 of what it saved.
        lines: Stretches of lines that differ from the editor's save of the unchanged ledger: first
            line, line behind the last, and the lines that stand there instead.
    """

    kind: str
    input: str
    output: str
    lines: tuple[tuple[int, int, tuple[str, ...]], ...]


class Chain(msgspec.Struct, frozen=True):
    """A ledger saved by one editor after the other.

    Attributes:
        number: Number of the chain, and of its file.
        wild: Whether it was drawn from all configurations, also of editors that destroy text.
        editors: Configurations in the order in which they saved.
        refused: Configurations that could not open what the one before them saved.
    """

    number: int
    wild: bool
    editors: tuple[str, ...]
    refused: tuple[str, ...] = ()


class Made(msgspec.Struct, frozen=True):
    """Where one fixture comes from.

    Attributes:
        file: The fixture, below `made/`.
        tool: Package that made it.
        version: The package's version.
        packages: Versions of other packages that took part.
        command: What was run; ``FOLDER`` and ``FILE`` stand for what was opened.
        input: SHA-256 of the text that was opened.
    """

    file: str
    tool: str
    version: str
    packages: dict[str, str]
    command: str
    input: str


def digest(text: str) -> str:
    """SHA-256 of ``text`` in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def load_ledger(name: str) -> Ledger:
    """A ledger of `inputs/`, its texts made one line each as the engine does."""
    ledger = msgspec.json.decode((INPUTS / f"{name}.json").read_bytes(), type=Ledger)
    return msgspec.structs.replace(
        ledger,
        goal=one_line(ledger.goal),
        **{
            attr: tuple(_one_line(entry) for entry in getattr(ledger, attr))
            for attr in ("constraints", "plan", "findings", "decisions", "questions", "proposals")
        },
    )


def load_edits() -> tuple[Edit, ...]:
    """The person-made edits."""
    return msgspec.json.decode((INPUTS / "edits.json").read_bytes(), type=tuple[Edit, ...])


def load_saved(name: str) -> dict[str, str]:
    """The edited ledgers that one editor saved, by the edit's kind."""
    unchanged = read_made(f"medium/{name}.md")
    lines = read_made(f"edits/{name}.jsonl").splitlines()
    records = (msgspec.json.decode(line, type=Saved) for line in lines)
    return {record.kind: undo_difference(unchanged, record) for record in records}


def load_chains() -> tuple[Chain, ...]:
    """Which editors each chain went through."""
    return msgspec.json.decode(read_made("chains.json"), type=tuple[Chain, ...])


def read_made(file: str) -> str:
    """A fixture's text, its line ends as the editor left them."""
    return (MADE / file).read_bytes().decode("utf-8")


def difference(unchanged: str, kind: str, opened: str, saved: str) -> Saved:
    """``saved`` as a difference from the same editor's save without an edit."""
    old = unchanged.split("\n")
    new = saved.split("\n")
    matcher = difflib.SequenceMatcher(a=old, b=new, autojunk=False)
    lines = tuple(
        (start, stop, tuple(new[new_start:new_stop]))
        for tag, start, stop, new_start, new_stop in matcher.get_opcodes()
        if tag != "equal"
    )
    return Saved(kind, digest(opened), digest(saved), lines)


def undo_difference(unchanged: str, record: Saved) -> str:
    """What the editor saved, whole.

    Raises:
        ValueError: The difference does not fit.
    """
    lines = unchanged.split("\n")
    for start, stop, put in reversed(record.lines):
        lines[start:stop] = put
    text = "\n".join(lines)
    if digest(text) != record.output:
        raise ValueError(f"{record.kind}: the fixture does not fit the save without an edit")
    return text


def _one_line(entry):
    changed = {
        name: one_line(value)
        for name in entry.__struct_fields__
        if (value := getattr(entry, name)) and one_line(value) != value
    }
    return msgspec.structs.replace(entry, **changed) if changed else entry
