"""``recall.cache.sqlite``: what a search needs, made from ``history.jsonl`` and disposable.

A contentless FTS5 table holds the tokens; beside it stands where each passage lies in the history.
One row of ``state`` says how much of which history is indexed, and is written in the same
transaction as the passages. Anything that does not fit, SQLite's errors included, has the cache
made again. What was superseded is taken out at once: FTS5's ``delete`` command is given the tokens
that it was fed with, which also SQLite 3.40 of Debian 12 can do with a contentless table.
"""

import contextlib
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from throughline_nb.store.recall.ranking import Candidate

NAME: Final = "recall.cache.sqlite"
FORMAT: Final = 2

_SCHEMA: Final = """
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), value BLOB NOT NULL);
CREATE TABLE passages (
  id INTEGER PRIMARY KEY, turn INTEGER NOT NULL, role TEXT NOT NULL, time REAL,
  flags INTEGER NOT NULL, session INTEGER NOT NULL, length INTEGER NOT NULL,
  tokens TEXT NOT NULL, at INTEGER NOT NULL, size INTEGER NOT NULL,
  start INTEGER NOT NULL, stop INTEGER NOT NULL);
CREATE INDEX passages_turn ON passages (turn);
CREATE TABLE turns (turn INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,
  mark TEXT NOT NULL);
CREATE TABLE sessions (id INTEGER PRIMARY KEY, first INTEGER NOT NULL, last INTEGER NOT NULL,
  length INTEGER NOT NULL, messages INTEGER NOT NULL, time REAL);
CREATE TABLE words (word TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE roles (role TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE VIRTUAL TABLE found USING fts5 (tokens, content='', columnsize=1,
  tokenize="unicode61 remove_diacritics 0 categories 'L* N* C* S* M* P*'");
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (found, row);
"""
_BEGINNING: Final = 200
_ONE_LETTER: Final = 400
"""Tokens that are looked at where a word, or a single letter, is the beginning of others."""

_TABLES: Final = "vocabulary found roles words sessions turns passages state".split()
_COLUMNS: Final = "id, turn, role, time, flags, session, length, ' ' || tokens || ' '"


class State(msgspec.Struct):
    """How far the cache has come.

    Attributes:
        format: Of the cache.
        done: Bytes of the history that are indexed.
        crc: CRC-32 of these bytes.
        begun: Character of the message at ``done`` up to which its passages are indexed.
        reached: Where the line of that message ends; it stands only where ``begun`` does.
        reached_crc: CRC-32 of the bytes up to there.
        stamp: What the file system said of the history when that was so.
        passages: How many there are.
        length: Tokens in all of them.
        chain: Number of the last passage of the conversation.
        tools: Number of the last passage of a tool, negative.
        session: Number of the session that is going on.
        dead: Bytes of the history that were superseded.
    """

    format: int = FORMAT
    done: int = 0
    crc: int = 0
    begun: int = 0
    reached: int = 0
    reached_crc: int = 0
    stamp: tuple[int, int, int] = (0, 0, 0)
    passages: int = 0
    length: int = 0
    chain: int = 0
    tools: int = 0
    session: int = 0
    dead: int = 0


class MisfitError(sqlite3.DatabaseError):
    """The cache says something else of the history than the history itself."""


class Cache:
    """One open cache.

    Args:
        path: The file; None to hold it in memory.

    Raises:
        sqlite3.Error: It cannot be opened, or is no database.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.db = sqlite3.connect(
            str(path or ":memory:"), timeout=5, isolation_level=None, check_same_thread=False
        )
        try:
            self.db.execute("PRAGMA journal_mode=WAL")
            self.db.execute("PRAGMA synchronous=OFF")
            self.identity = _identity(path)
            self._words: set[str] = set()
            self._alike: dict[int, list[str]] | None = None
            self._row: bytes | None = None
            self.state = self.read()
        except BaseException:
            self.db.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self.db.close()

    @property
    def moved(self) -> bool:
        """Whether another file stands in its place, or none."""
        return self.path is not None and _identity(self.path) != self.identity

    def read(self) -> State:
        """The state as the file has it; an empty one makes the tables anew."""
        with contextlib.suppress(sqlite3.OperationalError, msgspec.MsgspecError):
            row = self._read()
            if row is not None:
                state = msgspec.json.decode(row, type=State)
                if state.format == FORMAT:
                    self._known(row)
                    return state
        self.clear()
        return self.state

    def clear(self) -> None:
        """Forget everything."""
        with self.change(anew=True):
            for name in _TABLES:
                self.db.execute(f"DROP TABLE IF EXISTS {name}")
            for statement in _SCHEMA.split(";\n"):
                if statement.strip():
                    self.db.execute(statement)
            self.state = State()
        self._words.clear()
        self._alike = None

    @contextlib.contextmanager
    def change(self, *, anew: bool = False) -> Any:
        """A transaction, which writes the state too; what fails leaves file and state as before.

        Args:
            anew: Whether nothing of what stands there is built upon.
        """
        before = msgspec.structs.replace(self.state) if hasattr(self, "state") else None
        self.db.execute("BEGIN IMMEDIATE")
        try:
            if not anew:
                self._ensure_ours()
            yield
            blob = msgspec.json.encode(self.state)
            self.db.execute("INSERT OR REPLACE INTO state VALUES (1, ?)", (blob,))
            self.db.execute("COMMIT")
            self._row = blob
        except BaseException:
            if before is not None:
                self.state = before
            self._words.clear()
            self._alike = None
            with contextlib.suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")
            raise

    def _read(self) -> bytes | None:
        row = self.db.execute("SELECT value FROM state").fetchone()
        return row[0] if row else None

    def _ensure_ours(self) -> None:
        if self._read() != self._row:
            raise sqlite3.OperationalError("locked: another process goes on with it")

    def _known(self, row: bytes) -> None:
        """Take a state for what stands there; words may be others where it is not ours."""
        if row != self._row:
            self._row = row
            self._words.clear()
            self._alike = None

    # --- writing, inside a change --------------------------------------------------------------

    def add(self, rows: Sequence[tuple[Any, ...]]) -> None:
        """Add passages, by the columns of their table."""
        self.db.executemany("INSERT INTO passages VALUES (?,?,?,?,?,?,?,?,?,?,?,?)", rows)
        self.db.executemany(
            "INSERT INTO found (rowid, tokens) VALUES (?, ?)", [(row[0], row[7]) for row in rows]
        )
        for row in rows:
            new = set(row[7].split()).difference(self._words)
            if new:
                self.db.executemany("INSERT OR IGNORE INTO words VALUES (?)", [(w,) for w in new])
                self._words |= new
                self._alike = None
        if len(self._words) > 200_000:
            self._words.clear()

    def role(self, role: str) -> None:
        """Note a role."""
        self.db.execute("INSERT OR IGNORE INTO roles VALUES (?)", (role,))

    def supersede(self, turn: int) -> None:
        """Take out a turn and all after it."""
        state = self.state
        rows = self.db.execute(
            "SELECT id, tokens, length FROM passages WHERE turn >= ?", (turn,)
        ).fetchall()
        self.db.executemany(
            "INSERT INTO found (found, rowid, tokens) VALUES ('delete', ?, ?)",
            [row[:2] for row in rows],
        )
        self.db.execute("DELETE FROM passages WHERE turn >= ?", (turn,))
        first, last = self.db.execute(
            "SELECT min(first), max(last) FROM turns WHERE turn >= ?", (turn,)
        ).fetchone()
        state.dead += (last or 0) - (first or 0)
        self.db.execute("DELETE FROM turns WHERE turn >= ?", (turn,))
        state.passages -= len(rows)
        state.length -= sum(row[2] for row in rows)
        row = self.db.execute(
            "SELECT id, session FROM passages WHERE id > 0 ORDER BY id DESC LIMIT 1"
        ).fetchone()
        state.chain, session = row or (0, 0)
        row = self.db.execute("SELECT min(id) FROM passages WHERE id < 0").fetchone()
        state.tools = row[0] or 0
        self.db.execute("DELETE FROM sessions WHERE first > ? AND id > ?", (state.chain, session))
        self.db.execute(
            "UPDATE sessions SET last = ?1, length = coalesce("
            "(SELECT sum(length) FROM passages WHERE id BETWEEN first AND ?1), 0) WHERE last > ?1",
            (state.chain,),
        )
        state.session = self.db.execute("SELECT max(id) FROM sessions").fetchone()[0] or 0

    @contextlib.contextmanager
    def snapshot(self) -> Any:
        """Read everything as it stands now, whatever another process writes meanwhile."""
        self.db.execute("BEGIN")
        try:
            yield
        finally:
            with contextlib.suppress(sqlite3.Error):
                self.db.execute("COMMIT")

    # --- reading -------------------------------------------------------------------------------

    def sessions(self) -> dict[int, tuple[int, int, int]]:
        """Per session its first and last passage and its length."""
        rows = self.db.execute("SELECT id, first, last, length FROM sessions")
        return {row[0]: row[1:] for row in rows}

    def roles(self) -> list[str]:
        """All roles."""
        return [row[0] for row in self.db.execute("SELECT role FROM roles")]

    def count(self, token: str) -> int:
        """In how many passages a token stands."""
        row = self.db.execute("SELECT doc FROM vocabulary WHERE term = ?", (token,)).fetchone()
        return row[0] if row else 0

    def beginning(self, letters: str) -> list[str]:
        """Tokens that begin so, the alphabet's first; those of a single letter mostly all."""
        rows = self.db.execute(
            "SELECT word FROM words WHERE word >= ? AND word < ? LIMIT ?",
            (letters, letters + "\U0010ffff", _BEGINNING if len(letters) > 1 else _ONE_LETTER),
        )
        return [row[0] for row in rows]

    def alike(self, token: str) -> Iterable[str]:
        """Tokens of letters among which similar ones may be: about as long, a part in common."""
        if self._alike is None:
            self._alike = {}
            for (word,) in self.db.execute("SELECT word FROM words"):
                if word.isalpha():
                    self._alike.setdefault(len(word), []).append(word)
        first, middle, end = token[0], token[1:4], token[-3:]
        for length, words in self._alike.items():
            if len(token) > 3 and length > len(token):
                yield from [w for w in words if token in w]
            if 0.5 * len(token) <= length <= 2 * len(token) + 1:
                yield from [w for w in words if w[0] == first or middle in w or end in w]

    def best(self, terms: Sequence[str], limit: int) -> list[Candidate]:
        """The best passages with any of the tokens, by FTS5's own BM25."""
        match = " OR ".join(f'"{term}"' for term in terms)
        rows = self.db.execute(
            f"SELECT {_COLUMNS} FROM passages WHERE id IN "
            "(SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?)",
            (match, limit),
        )
        return [Candidate(*row) for row in rows]

    def fetch(self, ids: Sequence[int]) -> list[Candidate]:
        """The passages with these numbers."""
        marks = ",".join("?" * len(ids))
        rows = self.db.execute(f"SELECT {_COLUMNS} FROM passages WHERE id IN ({marks})", ids)
        return [Candidate(*row) for row in rows]

    def place(self, number: int) -> tuple[int, int, int, int, int]:
        """Where a passage lies: turn, byte and length of its line, first and last character."""
        row = self.db.execute(
            "SELECT turn, at, size, start, stop FROM passages WHERE id = ?", (number,)
        ).fetchone()
        return tuple(row) if row else (0, 0, 0, 0, 0)


def _identity(path: Path | None) -> tuple[int, int]:
    if path is None:
        return 0, 0
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino
