"""What a ``ledger.json`` of the earlier LM Studio plugin says, read liberally.

That plugin wrote its ledger as JSON, without a fixed schema over its versions: sections are lists
of texts or objects, or objects by id; names are in camel or snake case. So names are looked up in
the lists of :mod:`throughline_nb.store.legacy_values`, and whatever has no place in today's ledger
is kept in the entry's note, or in the Notes. Ids stay where they are valid; an entry without one
keeps the id that it gets here in every later snapshot.
"""

import re
from typing import Any

import msgspec

from throughline_nb.ledger import read, write
from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import SECTIONS, Entry, Ledger, Prose, Section, numbers_after
from throughline_nb.store import legacy_values as old


class Snapshot(msgspec.Struct, frozen=True):
    """One state of the ledger as the earlier plugin kept it.

    Attributes:
        ledger: The ledger.
        time: When it was written, in seconds since the epoch, or None where it does not say.
        sentence: What it says about itself, or empty.
    """

    ledger: Ledger
    time: float | None = None
    sentence: str = ""


class Reader:
    """Reads the snapshots of one project, oldest first.

    Args:
        project: Name of the project.
    """

    def __init__(self, project: str) -> None:
        self._project = project
        self._next = (1,) * len(SECTIONS)
        self._given: dict[tuple[str, str], str] = {}

    def snapshot(self, value: Any) -> Snapshot:
        """One decoded ``ledger.json``.

        Raises:
            ValueError: It is no ledger: no JSON object with a goal or one of the sections.
        """
        outer = old.snaked(value)
        _, inner = old.first(outer, old.WRAPPERS)
        top = old.snaked(inner) or outer
        names = {
            section.attr: old.first(top, old.SECTIONS[section.attr])[0] for section in SECTIONS
        }
        if not any(names.values()) and not any(name in top for name in old.GOAL):
            raise ValueError("no goal and no section")
        self._count(top)
        goal, said = old.first(top, old.GOAL)
        ledger = Ledger(project=self._project, goal=one_line(old.words(said)))
        for section in SECTIONS:
            entries = self._entries(section, list(old.items(top.get(names[section.attr]))))
            ledger = msgspec.structs.replace(ledger, **{section.attr: entries})
        self._next = tuple(map(max, self._next, numbers_after(ledger)))
        used = {goal, *names.values(), *old.PLAIN, *old.COUNTERS, *old.TIMES, *old.SENTENCES}
        return Snapshot(
            msgspec.structs.replace(ledger, prose=_notes(top, used), next=self._next),
            next(filter(None, (old.seconds(v) for v in _values(outer, top, old.TIMES))), None),
            next(
                (one_line(v) for v in _values(outer, top, old.SENTENCES) if isinstance(v, str)), ""
            ),
        )

    def _count(self, top: dict[str, Any]) -> None:
        """Take in the numbers that the plugin had used up, by letter or by section."""
        _, counters = old.first(top, old.COUNTERS)
        for name, number in old.snaked(counters).items():
            for at, section in enumerate(SECTIONS):
                ours = (section.letter.casefold(), *old.SECTIONS[section.attr], section.kind)
                if name in ours and isinstance(number, int) and 0 < number < 10**9:
                    self._raise(at, number)

    def _raise(self, at: int, number: int) -> None:
        free = max(self._next[at], number)
        self._next = (*self._next[:at], free, *self._next[at + 1 :])

    def _entries(self, section: Section, items: list[dict[str, Any]]) -> tuple[Entry, ...]:
        wanted = {old.ident(item.get("id"), section) for item in items}
        taken: set[str] = set()
        entries: list[Entry] = []
        for item in items:
            name, said = old.first(item, old.TEXT)
            text = one_line(old.words(said))
            if not text:
                continue
            ident = old.ident(item.get("id"), section)
            if not ident or ident in taken:
                ident = self._new_id(section, item, text, wanted | taken)
            taken.add(ident)
            if "id" in item:
                self._given.setdefault((section.letter, str(item["id"]).casefold()), ident)
            entries.append(self._entry(section, ident, name, text, item))
        if section.attr != "plan":
            entries.sort(key=lambda entry: entry.number)
        return tuple(entries)

    def _new_id(self, section: Section, item: dict[str, Any], text: str, taken: set[str]) -> str:
        """The id that an entry without a valid one got before, else the next free one."""
        said = item.get("id")
        name = loosely(text) if said is None or old.ident(said, section) else str(said).casefold()
        known = self._given.get((section.letter, name), "")
        if known and known not in taken:
            return known
        at = SECTIONS.index(section)
        while f"{section.letter}{self._next[at]}" in taken:
            self._raise(at, self._next[at] + 1)
        ident = f"{section.letter}{self._next[at]}"
        self._raise(at, self._next[at] + 1)
        self._given[section.letter, name] = ident
        return ident

    def _entry(
        self, section: Section, ident: str, name: str, text: str, item: dict[str, Any]
    ) -> Entry:
        used = {"id", name}
        fields: dict[str, str] = {}
        if section.attr == "proposals":
            text, name = old.proposal(item, text)
            used.add(name)
        for field, names in old.FIELDS.items():
            if field in section.fields:
                found, value = old.first(item, (n for n in names if n not in used))
                fields[field] = old.field(field, value)
                if fields[field]:
                    used.add(found)
        fields["origin"], said = old.origin(item)
        state, told = old.state(section, item)
        used |= said | told
        if section.attr in ("plan", "findings"):
            fields["status" if section.attr == "plan" else "state"] = state
        elif state and not fields.get("answer"):
            fields["answer"] = state
        if fields.get("because"):
            fields["because"] = self._because(fields["because"])
        left = [n for n, value in item.items() if n not in used and value not in (None, "", [], {})]
        kept = [f"{n}: {old.words(item[n])}" for n in left]
        if "id" in item and old.ident(item["id"], section) != ident:
            kept.append(f"id: {old.words(item['id'])}")
        fields["note"] = one_line("; ".join(filter(None, [fields.get("note", ""), *kept])))
        return Entry(id=ident, text=text, **{k: v for k, v in fields.items() if v})

    def _because(self, words: str) -> str:
        """Ids as they are now, of ids as they were."""
        found: dict[str, None] = {}
        for word in re.split(r"[\s,;]+", words):
            given = (self._given.get((letter, word.casefold()), "") for letter in "FDQCSP")
            found[next(filter(None, given), "") or old.any_id(word) or word] = None
        return ", ".join(found)


def _values(outer: dict[str, Any], top: dict[str, Any], names: tuple[str, ...]) -> list[Any]:
    return [scope[name] for scope in (outer, top) for name in names if name in scope]


def _notes(top: dict[str, Any], used: set[str]) -> tuple[Prose, ...]:
    """The plugin's notes, and what has no place in a ledger."""
    name, notes = old.first(top, old.NOTES)
    lines = [notes.strip()] if isinstance(notes, str) else []
    if isinstance(notes, list):
        lines = [f"- {one_line(old.words(note))}" for note in notes]
        name = name if lines else ""
    elif not lines:
        name = ""
    left = [
        f"- {other}: {one_line(old.words(value))}"
        for other, value in top.items()
        if other not in used and other != name and value not in (None, "", [], {})
    ]
    text = "\n\n".join(filter(None, ["\n".join(lines), "\n".join(left)]))
    text = "\n".join(text.splitlines()).strip()
    if not text:
        return ()
    alone = Ledger(prose=(Prose("notes", text),))
    if read(write(alone)).ledger == alone:
        return alone.prose
    # Notes that hold a heading of ours would be read as that section: a bullet a line is none.
    return (
        Prose("notes", "\n".join(f"- {line}" for line in map(one_line, text.splitlines()) if line)),
    )
