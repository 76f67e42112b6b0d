"""The ledger as records: one frozen :class:`Ledger` of frozen :class:`Entry` records.

Every field of an entry is one line of text in the file, so every field is a string here, and what
reads, writes and merges entries needs no case for a kind: the table :data:`SECTIONS` says which
fields each kind has, and in which order they stand. Nothing here knows a path, a clock or git.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal

import msgspec

Actor = Literal["model", "user", "engine"]
Attr = Literal["constraints", "plan", "findings", "decisions", "questions", "proposals"]

FORMAT: Final = 1
"""Number of the file format (front matter ``throughline: 1``)."""

STATUSES: Final = ("todo", "doing", "done", "blocked")
STATES: Final = ("unverified", "verified", "not read", "stale", "retracted")
PROPOSABLE: Final = ("goal", "constraint")

ENGINE_FIELDS: Final = ("step", "by", "origin", "added")
"""Fields that the engine fills on every kind of entry, and that a person may leave out."""


class Section(msgspec.Struct, frozen=True):
    """One list of entries of a ledger.

    Attributes:
        attr: Attribute of :class:`Ledger` that holds the entries.
        kind: What one entry is called, as tools and sentences name it.
        letter: First character of the ids.
        title: Heading in the file.
        fields: Fields below an entry's text, in the order in which the file has them.
    """

    attr: Attr
    kind: str
    letter: str
    title: str
    fields: tuple[str, ...]


_TAIL: Final = ("note", "was", *ENGINE_FIELDS)

SECTIONS: Final = (
    Section("constraints", "constraint", "C", "Constraints", _TAIL),
    Section("plan", "step", "S", "Plan", ("status", *_TAIL)),
    Section(
        "findings", "finding", "F", "Findings", ("source", "state", "missing", "reason", *_TAIL)
    ),
    Section("decisions", "decision", "D", "Decisions", ("reason", "because", "suspect", *_TAIL)),
    Section("questions", "question", "Q", "Open questions", ("answer", *_TAIL)),
    Section("proposals", "proposal", "P", "Proposals", ("reason", *_TAIL)),
)
BY_ATTR: Final = {section.attr: section for section in SECTIONS}
BY_LETTER: Final = {section.letter: section for section in SECTIONS}
BY_KIND: Final = {section.kind: section for section in SECTIONS}

LABELS: Final = {"origin": "from"}
"""Fields whose name in the file is not a Python identifier."""

_ID = re.compile(r"([CSFDQP])([1-9][0-9]*)")


class Entry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry. ``text`` is one logical line; a field that is not set is the empty string.

    Attributes:
        id: Letter of the kind and a number that is never used again, such as ``F12``.
        text: The claim, step, choice, question or rule. A proposal's starts with ``goal:`` or
            ``constraint:``.
        status: Of a step, one of :data:`STATUSES`.
        source: Of a finding: URL, path, ``user``, ``turn 41`` or ``cell 3f9a of notebook/x.ipynb``.
        state: Of a finding, one of :data:`STATES`.
        missing: Of a finding: the exact figures that its source does not show, ``; `` between them.
        reason: Why: of a decision, a retraction or a proposal.
        because: Of a decision: ids that it rests on, ``, `` between them.
        suspect: Of a decision: ids among those that no longer hold, and why not.
        answer: Of a question that is closed.
        note: A short note; unknown bullets that a person adds below an entry join it.
        was: The id that the entry had before a merge renumbered it.
        step: Step in hand when the entry was recorded.
        by: Who last wrote the text: ``model``, ``user`` or ``engine``.
        origin: Where it was recorded: ``turn 41 of lmstudio/1764500000000`` (``from`` in the file).
        added: When, UTC, as ``2026-10-17T12:04:09Z``.
    """

    id: str
    text: str
    status: str = ""
    source: str = ""
    state: str = ""
    missing: str = ""
    reason: str = ""
    because: str = ""
    suspect: str = ""
    answer: str = ""
    note: str = ""
    was: str = ""
    step: str = ""
    by: str = ""
    origin: str = ""
    added: str = ""

    @property
    def section(self) -> Section:
        """The section that the id's letter names."""
        return BY_LETTER[self.id[0]]

    @property
    def kind(self) -> str:
        """What the entry is, such as ``finding``."""
        return self.section.kind

    @property
    def number(self) -> int:
        """The number in the id."""
        return int(self.id[1:])

    @property
    def rests_on(self) -> tuple[str, ...]:
        """Ids in ``because``, in order."""
        return ids_in(self.because)

    @property
    def proposes(self) -> tuple[str, str]:
        """Of a proposal: what it proposes (``goal`` or ``constraint``) and the proposed text."""
        what, _, text = self.text.partition(":")
        if what.strip().lower() in PROPOSABLE:
            return what.strip().lower(), text.strip()
        return "constraint", self.text  # as a person writes one by hand

    @property
    def retracted(self) -> bool:
        """Whether this is a finding that no longer counts."""
        return self.state == "retracted"


class Prose(msgspec.Struct, frozen=True):
    """Running text that a person wrote into the file; it stays as it is, and where it is.

    Each place occurs once in a ledger, and places follow one another in the order of the file.

    Attributes:
        place: ``top`` (below the title), an attribute of :class:`Ledger` such as ``goal`` or
            ``findings`` (below that heading, before the entries), an entry's id (behind it),
            ``after findings`` (a section of the person's own behind it, with its heading), or
            ``notes`` (the section Notes).
        text: Markdown, without blank lines at its ends.
    """

    place: str
    text: str


class Ledger(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of one problem.

    Attributes:
        project: Name of the project (its slug).
        goal: One paragraph: what the project must produce.
        plan: Steps in their own order; every other list is in the order of its numbers.
        prose: What a person wrote between the entries, in the order of the file.
        meta: Front matter of the person's own, as pairs of strings.
        next: The next free number of each of :data:`SECTIONS`; above every number ever used.
    """

    project: str = ""
    goal: str = ""
    constraints: tuple[Entry, ...] = ()
    plan: tuple[Entry, ...] = ()
    findings: tuple[Entry, ...] = ()
    decisions: tuple[Entry, ...] = ()
    questions: tuple[Entry, ...] = ()
    proposals: tuple[Entry, ...] = ()
    prose: tuple[Prose, ...] = ()
    meta: tuple[tuple[str, str], ...] = ()
    next: tuple[int, ...] = (1,) * len(SECTIONS)

    def entries(self) -> Iterator[Entry]:
        """All entries, in the order of the file."""
        for section in SECTIONS:
            yield from self.list(section.attr)

    def list(self, attr: Attr) -> tuple[Entry, ...]:
        """The entries of one section."""
        entries: tuple[Entry, ...] = getattr(self, attr)
        return entries

    def get(self, ident: str) -> Entry | None:
        """The entry with this id, or None."""
        section = BY_LETTER.get(ident[:1])
        if section is None:
            return None
        return next((e for e in self.list(section.attr) if e.id == ident), None)

    def next_id(self, kind: str) -> str:
        """The id that the next entry of this kind gets."""
        section = BY_KIND[kind]
        return f"{section.letter}{self.next[SECTIONS.index(section)]}"

    @property
    def current(self) -> Entry | None:
        """The step in hand: the first that is ``doing``, else the first ``todo``."""
        for status in ("doing", "todo"):
            for step in self.plan:
                if step.status == status:
                    return step
        return None

    @property
    def empty(self) -> bool:
        """Whether neither user nor model recorded anything."""
        return not (
            self.goal or self.prose or any(entry.by != "engine" for entry in self.entries())
        )


def is_id(text: str) -> bool:
    """Whether ``text`` is an entry's id, such as ``F12``."""
    return _ID.fullmatch(text) is not None


@lru_cache(maxsize=4096)
def ids_in(text: str) -> tuple[str, ...]:
    """The ids named in ``text``, in order, each once."""
    return tuple(dict.fromkeys(m.group() for m in re.finditer(rf"\b{_ID.pattern}\b", text)))


def numbers_after(ledger: Ledger) -> tuple[int, ...]:
    """``ledger.next`` raised above every id that stands in the ledger."""
    return tuple(
        max([free, *(entry.number + 1 for entry in ledger.list(section.attr))])
        for section, free in zip(SECTIONS, ledger.next, strict=True)
    )
