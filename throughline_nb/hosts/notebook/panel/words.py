"""How the panel says things: names of buttons, times, who did it, differences.

Names and helps come from the registry and the ledger's own tables.
"""

import time
from html import unescape
from re import sub
from typing import Final

from throughline_nb.engine import views
from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.hosts.notebook.display import inline, marks
from throughline_nb.ledger.model import LABELS, Entry
from throughline_nb.store.records import Record

WHO: Final = {"user": "you", "model": "the model", "engine": "throughLine"}
"""Actors in a sentence to the user."""


def readable(name: str) -> str:
    """A name of ours as a label: ``open question`` is ``Open question``."""
    name = LABELS.get(name, name)
    return name[:1].upper() + name[1:]


def verb(command: str, *what: str) -> str:
    """The text of a button for a command: ``Accept P1``."""
    return " ".join([readable(COMMANDS.get(command).name), *what])


def hint(tool: str, name: str) -> str:
    """What an argument of a tool is, as its help says."""
    return next((param.help for param in TOOLS.get(tool).params if param.name == name), "")


def plain(text: str) -> str:
    """One line of a ledger without its marks, for a label that shows no HTML."""
    return unescape(sub(r"<[^>]*>", "", inline(text)))


def ago(then: float, now: float) -> str:
    """How long something is past, in words."""
    seconds = max(0.0, now - then)
    for unit, size in (("day", 86400), ("h", 3600), ("min", 60)):
        count = int(seconds // size)
        if count:
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''} ago"
    return "just now"


def clock(seconds: float, now: float) -> str:
    """A time: the hour of today, else with its day."""
    at = time.localtime(seconds)
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    form = "%H:%M" if time.strftime("%Y-%m-%d", at) == today else "%Y-%m-%d %H:%M"
    return time.strftime(form, at)


def by(record: Record) -> str:
    """Who made a change, and where: ``the model in turn 42``."""
    where = ""
    if record.via.startswith("Command: "):
        command = record.via.removeprefix("Command: ")
        where = " in the panel" if command == "panel" else f" with {command.replace('/tl', '%tl')}"
    elif record.turn:
        where = f" in turn {record.turn}"
    return f"{WHO[record.actor]}{where}"


def turn_of(entry: Entry) -> str:
    """The turn in which an entry was recorded, as ``turn 41``; empty where there is none."""
    return entry.origin.partition(" of ")[0]


def marked(old: str, new: str) -> str:
    """HTML of a text with its changed words marked."""
    return marks(views.shortened(views.words(old, new)))


def count(number: int, noun: str) -> str:
    """``1 chat``, ``3 chats``."""
    return f"{number} {noun}{'s' * (number != 1)}"
