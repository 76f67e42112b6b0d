"""Messages of the history made passages of the cache, in slices that can be resumed."""

import hashlib
import time
import zlib
from pathlib import Path
from typing import Any, Final

import msgspec

from throughline_nb.store.recall import journal
from throughline_nb.store.recall.cache import Cache
from throughline_nb.store.recall.journal import Record
from throughline_nb.store.recall.passages import flags, indexed, spans

GAP: Final = 3 * 3600
"""Seconds without a message after which a new session begins."""

SESSION: Final = 40
"""Messages of a session where no times tell."""

ECHOES: Final = frozenset({"recall", "ledger_view"})
"""Tools whose results repeat what is indexed already, or stands in the ledger."""

_BATCH: Final = 64


def searchable(record: Record) -> str:
    """What of a message is indexed: its text, and a tool call's arguments."""
    if not record.args:
        return "" if record.tool in ECHOES else record.text
    given = ", ".join(
        f"{name}: {value if isinstance(value, str) else msgspec.json.encode(value).decode()}"
        for name, value in record.args.items()
    )
    return f"{record.text}\n{given}" if record.text else given


def content(record: Record) -> str:
    """Hash of a message as its host has it."""
    said = msgspec.json.encode((record.role, record.text, record.tool, dict(record.args)))
    return record.was or hashlib.blake2b(said, digest_size=8).hexdigest()


def mark(before: str, record: Record) -> str:
    """Hash of a turn's messages so far, to tell a turn that was edited."""
    return hashlib.blake2b(f"{before}{content(record)}".encode(), digest_size=8).hexdigest()


def index(cache: Cache, path: Path, seconds: float | None) -> bool:
    """Index what follows what is indexed; True when the end was reached.

    Args:
        cache: Where to.
        path: The history.
        seconds: When to stop; None to go on to the end.
    """
    deadline = None if seconds is None else time.perf_counter() + seconds
    with cache.change():
        for at, line in journal.lines(path, cache.state.done):
            record = journal.decoded(line)
            before = cache.state.begun
            if record is not None and not _message(cache, record, at, len(line), deadline):
                if not before:
                    cache.state.reached = at + len(line)
                    cache.state.reached_crc = zlib.crc32(line, cache.state.crc)
                return False
            cache.state.begun = 0
            cache.state.done = at + len(line)
            cache.state.crc = zlib.crc32(line, cache.state.crc)
            if deadline is not None and time.perf_counter() > deadline:
                return cache.state.done >= path.stat().st_size
    return True


def _message(cache: Cache, record: Record, at: int, size: int, deadline: float | None) -> bool:
    """Index one line; False where time ran out inside it."""
    state = cache.state
    if record.rewind is not None:
        cache.supersede(record.rewind)
        return True
    text = searchable(record)
    tool = bool(record.tool) or record.role == "tool"
    if not state.begun:
        _turn(cache, record, at, size)
        cache.role(record.role)
        if not tool:
            _session(cache, record)
    rows: list[tuple[Any, ...]] = []
    whole = True
    for start, stop in spans(text, state.begun):
        row = _row(cache, record, text[start:stop], (at, size, start, stop), tool=tool)
        if row is not None:
            rows.append(row)
        state.begun = stop
        if deadline is not None and len(rows) % 8 == 7 and time.perf_counter() > deadline:
            whole = stop >= len(text)
            break
        if len(rows) >= _BATCH:
            cache.add(rows)
            rows = []
    if rows:
        cache.add(rows)
    if not tool:
        cache.db.execute("UPDATE sessions SET last = ? WHERE id = ?", (state.chain, state.session))
    return whole


def _row(
    cache: Cache, record: Record, text: str, place: tuple[int, int, int, int], *, tool: bool
) -> tuple[Any, ...] | None:
    state = cache.state
    words = indexed(text, record.tool)
    length = words.count(" ") + 1 if words else 0
    if not length and tool:
        return None
    if tool:
        state.tools = number = state.tools - 1
    else:
        state.chain = number = state.chain + 1
        cache.db.execute(
            "UPDATE sessions SET length = length + ? WHERE id = ?", (length, state.session)
        )
    state.passages += 1
    state.length += length
    session = 0 if tool else state.session
    seen = record.time if not record.before else None
    return (
        *(number, record.turn, record.role, seen, flags(text, tool=tool), session, length, words),
        *place,
    )


def _turn(cache: Cache, record: Record, at: int, size: int) -> None:
    row = cache.db.execute(
        "SELECT first, mark FROM turns WHERE turn = ?", (record.turn,)
    ).fetchone()
    first, before = row or (at, "")
    cache.db.execute(
        "INSERT OR REPLACE INTO turns VALUES (?, ?, ?, ?)",
        (record.turn, first, at + size, mark(before, record)),
    )


def _session(cache: Cache, record: Record) -> None:
    """Begin a session after a gap, or after so many messages."""
    state = cache.state
    seen = record.time if not record.before else None
    row = cache.db.execute(
        "SELECT messages, time FROM sessions WHERE id = ?", (state.session,)
    ).fetchone()
    apart = row is None or row[0] >= SESSION
    if row is not None and row[1] is not None and seen is not None:
        apart = abs(seen - row[1]) > GAP or row[0] >= SESSION
    if apart:
        state.session += 1
        cache.db.execute(
            "INSERT INTO sessions VALUES (?, ?, ?, 0, 1, ?)",
            (state.session, state.chain + 1, state.chain, seen),
        )
    else:
        cache.db.execute(
            "UPDATE sessions SET messages = messages + 1, time = coalesce(?, time) WHERE id = ?",
            (seen, state.session),
        )
