"""What the store hands out: snapshots, records of changes, and what a merge or an undo did."""

import os
import re
from typing import Final

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.ledger.delta import Change
from throughline_nb.ledger.model import Actor, Ledger
from throughline_nb.store.objects import Commit, message

VERSION: Final = re.compile(r"([1-9][0-9]*)-([0-9a-f]{4})")


class Stamp(msgspec.Struct, frozen=True, kw_only=True):
    """Who changes the ledger, when and where.

    Attributes:
        actor: Who acts.
        now: Time in seconds since the epoch.
        via: A trailer of its own, such as ``Tool: ledger_record`` or ``Command: /tl goal``.
        chat: The chat, if there is one.
        turn: Its turn, counted from 1; 0 outside a chat.
    """

    actor: Actor
    now: float
    via: str = ""
    chat: ChatKey | None = None
    turn: int = 0


class Snapshot(msgspec.Struct, frozen=True):
    """One version of a project.

    Attributes:
        ledger: What it says.
        version: Its name, such as ``42-7c1e``.
        commit: Id of its commit.
        notices: Of a change: what merging a hand edit before it had to say.
    """

    ledger: Ledger
    version: str
    commit: str
    notices: tuple[str, ...] = ()


class Tip(msgspec.Struct, frozen=True):
    """Where the branch stands, read once under the lock.

    Attributes:
        head: Id of its last commit, which may be a person's own.
        blob: Id of the text of that commit's ledger; empty for none.
        now: The last version.
    """

    head: str
    blob: str
    now: Snapshot


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One change in the history.

    Attributes:
        commit: Id of the commit.
        version: Name of the version that it made.
        subject: The change in one sentence.
        actor: Who made it.
        chat: ``<host>/<id>``, or empty.
        turn: Turn of that chat, or 0.
        via: ``Tool: …`` or ``Command: …``, or empty.
        undoes: Version that it took back, or empty.
        time: Seconds since the epoch.
        author: Name in the commit.
        parents: Ids of its parents; the first is the version before.
    """

    commit: str
    version: str
    subject: str
    actor: Actor
    chat: str
    turn: int
    via: str
    undoes: str
    time: float
    author: str
    parents: tuple[str, ...]


class Absorbed(msgspec.Struct, frozen=True):
    """A hand edit, or a person's own commit, that was merged."""

    snapshot: Snapshot
    changes: tuple[Change, ...]
    notices: tuple[str, ...]


class Undone(msgspec.Struct, frozen=True):
    """A change that was taken back; ``record`` is that change."""

    snapshot: Snapshot
    record: Record
    changes: tuple[Change, ...]
    notices: tuple[str, ...]


def is_ours(commit: Commit) -> bool:
    """Whether the engine made this version; else it is a person's own commit."""
    trailers = commit.trailers
    return "Actor" in trailers and VERSION.fullmatch(trailers.get("Version", "")) is not None


def record(commit: Commit) -> Record:
    """Read a commit of ours as a record."""
    trailers = commit.trailers
    actor: Actor = "user"
    if trailers.get("Actor") == "model":
        actor = "model"
    elif trailers.get("Actor") == "engine":
        actor = "engine"
    via = next((f"{key}: {trailers[key]}" for key in ("Tool", "Command") if key in trailers), "")
    turn = trailers.get("Turn", "")
    return Record(
        commit=commit.id,
        version=trailers.get("Version", ""),
        subject=commit.subject,
        actor=actor,
        chat=trailers.get("Chat", ""),
        turn=int(turn) if turn.isdecimal() else 0,
        via=via,
        undoes=trailers.get("Undoes", ""),
        time=float(commit.time),
        author=commit.author.name,
        parents=commit.parents,
    )


def describe(subject: str, stamp: Stamp, version: str, undoes: str = "") -> str:
    """The message of a commit: the sentence, and the trailers."""
    key, _, value = stamp.via.partition(": ")
    via = [(key, value)] if key in ("Tool", "Command") else []
    return message(
        subject,
        [
            ("Actor", stamp.actor),
            ("Chat", str(stamp.chat) if stamp.chat else ""),
            ("Turn", str(stamp.turn) if stamp.turn else ""),
            *via,
            ("Version", version),
            ("Undoes", undoes),
        ],
    )


def next_version(version: str) -> str:
    """A new name: the count goes up by one; the rest tells two machines apart."""
    found = VERSION.fullmatch(version)
    return f"{int(found[1]) + 1 if found else 1}-{os.urandom(2).hex()}"
