"""The canonical writer: the same ledger always gives the same bytes.

An entry's rendered block is cached, because most writes change one entry of many, and because the
reader recognises an unchanged block by these bytes.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from throughline_nb.ledger.front import write_front
from throughline_nb.ledger.inline import escape, escape_heading, escape_paragraph
from throughline_nb.ledger.model import (
    BY_LETTER,
    FORMAT,
    LABELS,
    SECTIONS,
    Entry,
    Ledger,
    Section,
    is_id,
)

GOAL_TITLE: Final = "Goal"
NOTES_TITLE: Final = "Notes"
NO_GOAL: Final = "(none)"
"""Stands for an empty goal where prose follows, which would else be read as the goal."""

_CACHED_ENTRIES: Final = 8192

_LISTS: Final = tuple(section.attr for section in SECTIONS)
_PLACES: Final = frozenset(
    ("top", "goal", "after goal", *_LISTS, *(f"after {attr}" for attr in _LISTS), "notes")
)
_FIELDS: Final = {
    section.letter: tuple((name, LABELS.get(name, name)) for name in section.fields)
    for section in SECTIONS
}


def write(ledger: Ledger, version: str | None = None) -> str:
    r"""The ledger as the text of ``ledger.md``.

    Args:
        ledger: What to write; lists in their own order.
        version: Name of this write, of letters, digits, ``.``, ``_`` and ``-``. It is put at three
            places, since each is lost in some editor. Without it the text holds none of the three.

    Returns:
        Markdown with ``\n`` line ends; reading it gives the same ledger.
    """
    return "\n\n".join(_blocks(ledger, version)) + "\n"


@lru_cache(maxsize=_CACHED_ENTRIES)
def render(entry: Entry) -> str:
    """One entry's block: its line, and one line a field that is set; no line end behind it."""
    letter = entry.id[0]
    box = ("[x] " if entry.status == "done" else "[ ] ") if letter == "S" else ""
    lines = [f"- {box}**{entry.id}** {escape(entry.text)}".rstrip(" ")]
    for name, label in _FIELDS[letter]:
        value = getattr(entry, name)
        if value:
            lines.append(f"  - {label}: {escape(value)}")
    return "\n".join(lines)


def last_line(ledger: Ledger, version: str | None) -> str:
    """The line that closes the file: its version, and the numbers that come next."""
    name = f"Ledger version `{version}`" if version else "Ledger"
    numbers = (f"{s.letter}{n}" for s, n in zip(SECTIONS, ledger.next, strict=True))
    return f"{name} · next {' '.join(numbers)}"


def _blocks(ledger: Ledger, version: str | None) -> Iterator[str]:
    prose = _prose_by_place(ledger)
    front = [("throughline", str(FORMAT))]
    if ledger.project:
        front.append(("project", ledger.project))
    if version:
        front.append(("version", version))
    yield write_front((*front, *ledger.meta))
    if version:
        yield (
            f"<!-- throughLine ledger, version {version}. "
            "Edit freely; your changes are merged on the next turn. -->"
        )
    if ledger.project:
        yield f"# {escape_heading(ledger.project)}"
    yield from prose.get("top", ())
    yield f"## {GOAL_TITLE}"
    about = prose.get("goal", ())
    if ledger.goal or about:
        yield escape_paragraph(ledger.goal) if ledger.goal else NO_GOAL
    yield from about
    yield from prose.get("after goal", ())
    for section in SECTIONS:
        yield f"## {section.title}"
        yield from prose.get(section.attr, ())
        yield from _list(ledger, section, prose)
        yield from prose.get(f"after {section.attr}", ())
    if "notes" in prose:
        yield f"## {NOTES_TITLE}"
        yield from prose["notes"]
    yield last_line(ledger, version)


def _list(ledger: Ledger, section: Section, prose: dict[str, list[str]]) -> Iterator[str]:
    entries = ledger.list(section.attr)
    if not entries:
        return
    if not prose:
        yield "\n".join(map(render, entries))
        return
    together: list[str] = []
    for entry in entries:
        together.append(render(entry))
        behind = prose.get(entry.id)
        if behind:
            yield "\n".join(together)
            yield from behind
            together = []
    if together:
        yield "\n".join(together)


def _prose_by_place(ledger: Ledger) -> dict[str, list[str]]:
    """Prose by place; behind an entry that is gone, it moves to the entry before it."""
    places: dict[str, list[str]] = {}
    for piece in ledger.prose:
        place = piece.place
        if is_id(place):
            if ledger.get(place) is None:
                place = place_before(ledger, place)
        elif place not in _PLACES:
            place = "notes"
        places.setdefault(place, []).append(piece.text)
    return places


def place_before(ledger: Ledger, ident: str) -> str:
    """Where prose behind the entry ``ident`` stands once that entry is gone."""
    section = BY_LETTER[ident[0]]
    number = int(ident[1:])
    before = [entry.id for entry in ledger.list(section.attr) if entry.number < number]
    return before[-1] if before else section.attr
