"""One chat on disk: its binding and counts in ``state.json``, its proofs in ``proofs.jsonl``.

The state is small and of constant size, however long the chat is: it is written anew each turn.
Proofs grow with what was read, so they are appended, a line a turn; a turn that was edited or
regenerated is superseded by the line that comes later. Neither is fsynced: the host can always
hand the history in again. A chat with no project leaves nothing, but for the user's own
``/tl off``.
"""

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.errors import StoreError
from throughline_nb.ledger.sources import Proof
from throughline_nb.store import cells
from throughline_nb.store.files import BINARY, reason, write_all
from throughline_nb.store.home import Home, safe_name, write_atomic

FORMAT = 1
PROOFS = "proofs.jsonl"
RECENT = 64
"""Turns whose counts are kept; when more are superseded, the whole history is asked for again."""


class TurnCount(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of one complete turn.

    Attributes:
        turn: Its number.
        calls: Tool calls in it.
        tokens: Estimated tokens of the chat up to its end.
        mark: Fingerprint of the chat up to its end (:func:`throughline_nb.chat.fingerprint`).
        command: Whether the user's message was a command of ours.
        recorded: Whether the ledger was changed during it.
    """

    turn: int
    calls: int = 0
    tokens: int = 0
    mark: str = ""
    command: bool = False
    recorded: bool = False


class ChatState(msgspec.Struct, kw_only=True, omit_defaults=True):
    """What the engine remembers of a chat.

    Attributes:
        key: The chat, ``<host>/<id>``.
        project: Slug of the bound project, or empty.
        off: Whether the user said ``/tl off``.
        automatic: Whether the project started by itself.
        turn: Last complete turn that was handed in.
        proved: Last turn whose proofs were taken.
        recent: Counts of the last :data:`RECENT` turns.
        changed: Turn in which a tool or command last changed the ledger.
        digest: Tokens of the chat where our last digest stands in its history, or -1.
        digest_turn: Turn of that digest.
        due: Whether a digest is due whatever the history shows.
        shown: Version of the ledger that the chat was last shown.
        recall: Whether recall holds a copy of the chat.
        forgotten: Whether the user had it deleted; until a project is bound it stays so.
        place: Path of the file that the chat is, such as a notebook's, where its host has no id of
            its own for it; empty elsewhere. It never leaves this machine.
    """

    format: int = FORMAT
    key: str = ""
    project: str = ""
    off: bool = False
    automatic: bool = False
    turn: int = 0
    proved: int = 0
    recent: list[TurnCount] = []
    changed: int = 0
    digest: int = -1
    digest_turn: int = 0
    due: bool = False
    shown: str = ""
    recall: bool = False
    forgotten: bool = False
    place: str = ""

    @property
    def tokens(self) -> int:
        """Estimated tokens of the history so far."""
        return self.recent[-1].tokens if self.recent else 0

    def rewind(self, turn: int) -> int:
        """Forget ``turn`` and all after it; returns the first turn to hand in again."""
        if turn > self.turn:
            return self.turn + 1
        kept = [count for count in self.recent if count.turn < turn]
        first = kept[-1].turn + 1 if kept else 1
        self.recent, self.turn = kept, first - 1
        self.proved = min(self.proved, self.turn)
        if self.digest_turn >= first:
            self.digest, self.digest_turn = -1, 0
        return first


class _ProofLine(msgspec.Struct, frozen=True):
    turn: int
    proofs: tuple[Proof, ...] = ()


class Chats:
    """The chats below a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._saved: dict[ChatKey, bytes] = {}
        self._folders: dict[ChatKey, Path] = {}
        self._written: dict[ChatKey, tuple[int, int, int] | None] = {}
        self.passing: set[ChatKey] = set()
        """Chats that have no name to be found again by: they end with the process."""

    def folder(self, key: ChatKey) -> Path:
        """Where the chat's files are; never outside the home, whatever the id holds."""
        if key not in self._folders:
            self._folders[key] = self._home.chats / safe_name(key.host) / safe_name(key.id)
        return self._folders[key]

    def load(self, key: ChatKey) -> ChatState:
        """The chat's state; a new one when there is none.

        A damaged file is kept beside it as ``state.damaged.json``.
        """
        file = self.folder(key) / "state.json"
        self._written[key] = _look(file)
        try:
            return msgspec.json.decode(file.read_bytes(), type=ChatState)
        except OSError:
            return ChatState(key=str(key))
        except msgspec.MsgspecError:
            with contextlib.suppress(OSError):
                file.replace(file.with_name("state.damaged.json"))
            self._written[key] = None
            return ChatState(key=str(key))

    def save(self, key: ChatKey, state: ChatState) -> None:
        """Write the state of a chat that is bound, silenced or recalled; else leave nothing."""
        if key in self.passing:
            return
        folder = self.folder(key)
        if not state.project:
            with contextlib.suppress(OSError):  # they are of no use, and are left out elsewhere
                (folder / PROOFS).unlink(missing_ok=True)
            cells.delete(folder)
        if not (state.project or state.off or state.recall):
            self.delete(key)
            return
        file = f"{self._made(key)}/state.json"
        data = msgspec.json.encode(state)
        if data == self._saved.get(key) and _look(file) == self._written.get(key):
            return  # as it stands, which is so for all calls of a turn but the first
        try:
            write_atomic(file, data, durable=False)
        except StoreError:
            if folder.is_dir():
                raise
            self._made(key)  # the chat was deleted and its folder cleaned up at this moment
            write_atomic(file, data, durable=False)
        self._written[key], self._saved[key] = _look(file), data

    def current(self, key: ChatKey, held: ChatState) -> ChatState:
        """``held``, unless another process wrote the state since then, or took it away."""
        unchanged = _look(f"{self.folder(key)}/state.json") == self._written.get(key)
        return held if unchanged else self.load(key)

    def _made(self, key: ChatKey) -> Path:
        self._home.ensure_writable()
        folder = self.folder(key)
        if not os.path.isdir(folder):  # noqa: PTH112 - on the path of every turn
            with _explained(folder):
                folder.mkdir(parents=True, exist_ok=True)
        return folder

    def delete(self, key: ChatKey) -> None:
        """Remove the chat's folder, and its host's when that is empty."""
        folder = self.folder(key)
        self._written.pop(key, None)
        shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):
            folder.parent.rmdir()

    def states(self, host: str = "") -> Iterator[tuple[ChatKey, ChatState]]:
        """Every chat that has a state on disk, of one host or of all."""
        below = safe_name(host) if host else "*"
        for file in sorted(self._home.chats.glob(f"{below}/*/state.json")):
            try:
                state = msgspec.json.decode(file.read_bytes(), type=ChatState)
            except (OSError, msgspec.MsgspecError):
                continue
            yield ChatKey.parse(state.key), state

    def kept(self) -> Iterator[ChatKey]:
        """Every chat that has a folder, be it bound or not, with a readable state or without."""
        keys = {safe_name(key.id): key for key, _ in self.states()}
        for folder in sorted(self._home.chats.glob("*/*/")):
            key = keys.get(folder.name, ChatKey(folder.parent.name, folder.name))
            if self.folder(key) == folder and not folder.is_symlink():
                yield key

    def with_file(self, *patterns: str) -> Iterator[ChatKey]:
        """Every chat that has a file of such a name, one folder after another as it is asked."""
        for folder in (each for host in _listed(self._home.chats) for each in _listed(host)):
            if any(fnmatch(file.name, each) for file in _listed(folder) for each in patterns):
                key = ChatKey(folder.parent.name, folder.name)
                with contextlib.suppress(OSError, msgspec.MsgspecError):
                    data = (folder / "state.json").read_bytes()
                    key = ChatKey.parse(msgspec.json.decode(data, type=ChatState).key)
                if self.folder(key) == folder:
                    yield key

    def at_place(self, host: str, name: str, place: str) -> ChatKey:
        """The key of the chat that a file is: that of its place, else a free one by its name.

        Args:
            host: The chat's host.
            name: Name of the file.
            place: Its absolute path.
        """
        known = {key.id.casefold(): (key, state.place) for key, state in self.states(host)}
        for key, where in known.values():
            if same_place(where, place):
                return key
        stem, dot, suffix = name.rpartition(".")
        number, ident = 1, name
        while ident.casefold() in known:
            number += 1
            ident = f"{stem or suffix}-{number}{dot if stem else ''}{suffix if stem else ''}"
        return ChatKey(host, ident)

    def bound(self, slug: str) -> list[ChatKey]:
        """The chats bound to a project."""
        return [key for key, state in self.states() if state.project == slug]

    def add_proofs(self, key: ChatKey, found: Mapping[int, Sequence[Proof]]) -> None:
        """Append proofs by turn; each turn supersedes what was kept of it and of later turns."""
        folder = self._made(key)
        line = b"".join(
            msgspec.json.encode(_ProofLine(turn, tuple(proofs))) + b"\n"
            for turn, proofs in found.items()
        )
        with _explained(folder):
            self._append(key, folder, line)

    def _append(self, key: ChatKey, folder: Path, line: bytes) -> None:
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | BINARY
        try:
            handle = os.open(f"{folder}/{PROOFS}", flags, 0o666)
        except FileNotFoundError:  # as in save
            handle = os.open(f"{self._made(key)}/{PROOFS}", flags, 0o666)
        try:
            if os.fstat(handle).st_size:  # a killed process may have left half a line
                os.lseek(handle, -1, os.SEEK_END)
                line = line if os.read(handle, 1) == b"\n" else b"\n" + line
            write_all(handle, line)
        finally:
            os.close(handle)

    def _proof_lines(self, key: ChatKey) -> Iterator[_ProofLine]:
        with contextlib.suppress(OSError), (self.folder(key) / PROOFS).open("rb") as lines:
            for raw in lines:
                with contextlib.suppress(msgspec.MsgspecError):
                    yield msgspec.json.decode(raw, type=_ProofLine)

    def proofs(self, key: ChatKey, wanted: Callable[[Proof], bool]) -> list[Proof]:
        """The proofs that are wanted, in the order of their turns; a torn line is passed over."""
        found: list[tuple[int, list[Proof]]] = []
        for line in self._proof_lines(key):
            while found and found[-1][0] >= line.turn:
                found.pop()
            kept = [proof for proof in line.proofs if wanted(proof)]
            if kept:
                found.append((line.turn, kept))
        return [proof for _, proofs in found for proof in proofs]


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:  # no folder, or gone meanwhile
        return []


def same_place(one: str, other: str) -> bool:
    """Whether two absolute paths name one file, as this system compares them."""
    return os.path.normcase(one) == os.path.normcase(other)


@contextlib.contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Say in one line what the system refused."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{folder} could not be written ({reason(error)}); what the ledger holds is kept: "
            "check permissions and free space."
        ) from error


def _look(file: Path | str) -> tuple[int, int, int] | None:
    """What tells one write of a file from another; None where there is none."""
    try:
        found = os.stat(file)  # noqa: PTH116 - on the path of every turn
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size
