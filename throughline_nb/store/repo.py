"""One project's git repository: read and written in process, so that a change costs no process.

Objects are written as git writes them, synced, and only then does the branch move from the value
that was read to the new one. git itself is run for what is rare: making a repository, merging
running text, listing a long history, unpacking, collecting garbage. The only module that imports
GitPython; it reads and writes the index, which keeps a person's ``git status`` clean.
"""

import io
import os
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NoReturn, TypeVar

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store import gitrun, refs
from throughline_nb.store.files import BINARY, patiently, reason, write_all
from throughline_nb.store.loose import DamagedError, LooseObjects
from throughline_nb.store.objects import (
    LEDGER_FILE,
    Commit,
    Item,
    Person,
    TreeEntry,
    format_commit,
    format_tree,
    item,
    parse_commit,
    parse_tree,
    replace_file,
)

_T = TypeVar("_T")

ATTRIBUTES: Final = b"ledger.md text eol=lf merge=throughline\n"

_CACHE: Final = 4096
"""Commits and trees kept parsed in a process, by id; each is a few hundred bytes."""

_LOOSE: Final = 2000
"""Loose objects from which on they are packed: some 700 changes."""

_commits: dict[str, Commit] = {}
_trees: dict[str, tuple[TreeEntry, ...]] = {}


class Repo:
    """The repository in the folder ``path``.

    Nothing stays open between two calls. A caller that writes holds the project's lock.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.git = path / ".git"
        self._loose = LooseObjects(self.git / "objects")

    @classmethod
    def create(cls, path: Path) -> "Repo":
        """Make an empty repository in the folder ``path``, which is there."""
        gitrun.require()
        gitrun.run(
            None,
            "-c",
            "init.defaultRefFormat=files",
            "init",
            "--quiet",
            "--template=",
            "--object-format=sha1",
            f"--initial-branch={refs.BRANCH}",
            str(path),
            cwd=path,
        )
        return cls(path)

    # What stands there

    def head(self) -> str:
        """The id of the last commit on the project's branch, whatever is checked out.

        Raises:
            StoreError: There is none.
        """
        found = refs.read_ref(self.git, refs.MAIN)
        if found is None:
            at = refs.head(self.git)
            found = refs.read_ref(self.git, at) if at.startswith("refs/") else at or None
        if found is None:
            raise StoreError(
                f"{self.path} holds no commit yet, or is no git repository: run "
                "`throughline-nb doctor`, or move the folder away."
            )
        return found

    def commit(self, ident: str) -> Commit:
        """One commit."""
        found = _commits.get(ident)
        if found is None:
            loose = self._loose.read(ident)
            if loose is None:  # packed: one process fetches what is likely to be asked next
                for commit in self.log("--max-count=64", ident):
                    _keep(_commits, commit.id, commit)
                    found = commit if commit.id == ident else found
                return found or self._lacking(ident)
            try:
                found = self._grafted(parse_commit(ident, loose[1]))
            except ValueError as error:
                raise DamagedError(self._loose.path(ident)) from error
            _keep(_commits, ident, found)
        return found

    def tree(self, ident: str) -> tuple[TreeEntry, ...]:
        """The top folder of a commit, by the tree's id."""
        found = _trees.get(ident)
        if found is None:
            try:
                found = parse_tree(self.read(ident))
            except ValueError as error:
                raise DamagedError(self._loose.path(ident)) from error
            _keep(_trees, ident, found)
        return found

    def file(self, commit: str, name: str = LEDGER_FILE) -> str | None:
        """The id of a file's blob in a commit, None where it has none."""
        raw = name.encode()
        for entry in self.tree(self.commit(commit).tree):
            if entry.name == raw and entry.mode.startswith(b"100"):
                return entry.id
        return None

    def read(self, ident: str) -> bytes:
        """The content of an object.

        Raises:
            DamagedError: It is cut short.
            StoreError: It is not there.
        """
        try:
            found = self._loose.read(ident)
        except DamagedError:
            mended = self._mend(ident)
            if mended is None:
                raise
            return mended
        if found is not None:
            return found[1]
        for _, data in self.read_many([ident]):
            return data
        return self._lacking(ident)

    def _lacking(self, ident: str) -> NoReturn:
        raise StoreError(
            f"{self.path} lacks object {ident[:12]}; nothing was changed: run `git fsck` there, "
            "and bring .git back from a backup or another copy."
        )

    def _mend(self, ident: str) -> bytes | None:
        """A damaged text whose copy still stands in ``ledger.md``; it is stored again."""
        with suppress(OSError, StoreError):
            copy = item(b"blob", (self.path / LEDGER_FILE).read_bytes())
            if copy.id == ident:
                self.store([copy])
                return copy.data
        return None

    def read_many(self, idents: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        """Contents of objects that git has, packed ones too, by one process of git's."""
        wanted = list(idents)
        done = gitrun.run(
            self.git, "cat-file", "--batch", data="".join(f"{i}\n" for i in wanted).encode()
        )
        stream = io.BytesIO(done.stdout)
        for ident in wanted:
            head = stream.readline().split()
            if len(head) == 3 and head[2].isdigit():
                yield ident, stream.read(int(head[2]))
                stream.read(1)

    def log(self, *arguments: str) -> Iterator[Commit]:
        """Commits as ``git rev-list`` lists them, newest first."""
        done = gitrun.run(self.git, "rev-list", "--header", *arguments, "--")
        for part in done.stdout.split(b"\0"):
            ident, _, data = part.partition(b"\n")
            if data:
                commit = self._grafted(parse_commit(ident.decode("ascii"), _unindented(data)))
                yield _commits.get(commit.id, commit)

    def _grafted(self, commit: Commit) -> Commit:
        """The commit, without the parents that a shallow copy of the project does not have."""
        try:
            with open(f"{self.git}/shallow", encoding="ascii") as file:  # noqa: PTH123 - speed
                ends = file.read().split()
        except OSError:
            return commit
        return msgspec.structs.replace(commit, parents=()) if commit.id in ends else commit

    def size(self, ident: str) -> int:
        """Bytes of an object, known before they are read."""
        found = self._loose.size(ident)
        return found or int(gitrun.run(self.git, "cat-file", "-s", ident).stdout)

    # Writing, in this order: objects, branch, index

    def draft(self) -> "Draft":
        """Begin to collect objects that are written together."""
        return Draft(self)

    def store(self, items: Iterable[Item], also: Sequence[int] = ()) -> None:
        """Write objects durably, and sync open files with them."""
        with self.explained():
            self._loose.write(items, also=also)

    def advance(self, new: str, old: str | None, name: str = refs.MAIN) -> None:
        """Move the branch.

        Raises:
            StoreError: Someone moved it since it was read.
        """
        with self.explained():
            if not refs.swap(self.git, name, new, old):
                raise StoreError(
                    f"{self.path} was changed by git at the same moment; nothing was changed "
                    "here: try again."
                )

    def refresh_index(self, name: str, blob: str) -> None:
        """Tell the index that ``name`` in the work folder is ``blob``; best effort."""
        try:
            with open(f"{self.git}/index", "rb") as file:  # noqa: PTH123 - speed
                sound = file.read(4) == b"DIRC"
        except FileNotFoundError:
            sound = False
        except OSError:
            return
        with suppress(OSError, ValueError, AssertionError, struct.error, StoreError):
            if not sound:  # deleted or broken: every file belongs into it
                with suppress(FileNotFoundError):
                    os.unlink(f"{self.git}/index")  # noqa: PTH108 - as below
                gitrun.run(self.git, "read-tree", refs.MAIN)
                gitrun.run(self.git, "update-index", "-q", "--refresh", allowed=(0, 1))
            self._refresh_index(name, blob)

    def _refresh_index(self, name: str, blob: str) -> None:
        from git.index.fun import read_cache, write_cache  # noqa: PLC0415 - late: 120 ms, needs git
        from git.index.typ import IndexEntry  # noqa: PLC0415 - as above

        path = f"{self.git}/index"
        held = f"{path}.lock"
        handle = os.open(held, os.O_WRONLY | os.O_CREAT | os.O_EXCL | BINARY, 0o644)
        try:
            try:
                entries = {}
                with suppress(FileNotFoundError), open(path, "rb") as file:  # noqa: PTH123 - speed
                    entries = read_cache(io.BytesIO(file.read()))[1]
                entries = {key: entry for key, entry in entries.items() if key[0] != name}
                found = os.stat(f"{self.path}/{name}")  # noqa: PTH116 - as above
                entries[name, 0] = IndexEntry(
                    (
                        0o100644, bytes.fromhex(blob), 0, name,
                        _nanoseconds(found.st_ctime_ns), _nanoseconds(found.st_mtime_ns),
                        found.st_dev & 0xFFFFFFFF, found.st_ino & 0xFFFFFFFF,
                        found.st_uid & 0xFFFFFFFF, found.st_gid & 0xFFFFFFFF,
                        found.st_size & 0xFFFFFFFF,
                    )
                )  # fmt: skip
                stream = io.BytesIO()
                write_cache([entries[key] for key in sorted(entries, key=_index_order)], stream)
                write_all(handle, stream.getvalue())
            finally:
                os.close(handle)
            patiently(lambda: os.replace(held, path))  # noqa: PTH105 - as above
        except BaseException:
            with suppress(OSError):
                os.unlink(held)  # noqa: PTH108 - as above
            raise

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say in one line what the system refused."""
        try:
            yield
        except OSError as error:
            raise StoreError(
                f"{self.git} could not be written ({reason(error)}); nothing was changed: check "
                "its owner, its permissions and the free space."
            ) from error

    # What git does better

    def collect_garbage(self) -> None:
        """Start ``git gc --auto`` in the background if enough loose objects have gathered."""
        try:
            gathered = len(os.listdir(f"{self.git}/objects/17"))  # noqa: PTH208 - names only
        except OSError:
            return
        if gathered * 256 < _LOOSE:  # git itself estimates from this one folder
            return
        arguments = ("-c", f"gc.auto={_LOOSE}", "-c", "gc.autoDetach=true", "gc", "--auto")
        with suppress(StoreError):
            gitrun.start(self.git, *arguments, "--quiet")


class Draft:
    """Objects that are written together, with one wait for the disk."""

    def __init__(self, repo: Repo) -> None:
        self._repo = repo
        self._items: list[Item] = []

    def blob(self, data: bytes) -> str:
        """Add a file's content."""
        return self._add(b"blob", data)

    def commit(
        self,
        files: Mapping[str, str | None],
        parents: tuple[str, ...],
        author: Person,
        time: float,
        message: str,
        *,
        onto: str | None = None,
    ) -> str:
        """Add a commit.

        Args:
            files: Blob ids by name, None for a file that goes; every other file is the first
                parent's (or ``onto``'s, the id of a tree).
            parents: Ids of its parents.
            author: Who made it.
            time: When, in seconds since the epoch.
            message: Subject, blank line, trailers.
            onto: A tree to start from.
        """
        tree = onto or (self._repo.commit(parents[0]).tree if parents else None)
        entries = self._repo.tree(tree) if tree else ()
        for name, blob in files.items():
            entries = replace_file(entries, name, blob)
        ident = self.tree(entries)
        raw = format_commit(ident, parents, author, time, message)
        commit = self._add(b"commit", raw)
        _keep(_commits, commit, parse_commit(commit, raw))
        return commit

    def tree(self, entries: Iterable[TreeEntry]) -> str:
        """Add a folder."""
        data = format_tree(entries)
        ident = self._add(b"tree", data)
        _keep(_trees, ident, parse_tree(data))
        return ident

    def store(self, also: Sequence[int] = ()) -> None:
        """Write all of it durably, and sync open files with it."""
        self._repo.store(self._items, also)

    def _add(self, kind: bytes, data: bytes) -> str:
        made = item(kind, data)
        self._items.append(made)
        return made.id


def forget_caches() -> None:
    """Drop what this process keeps of commits and trees."""
    _commits.clear()
    _trees.clear()


def _keep(cache: dict[str, _T], ident: str, value: _T) -> None:
    if len(cache) >= _CACHE:
        for old in list(cache)[: _CACHE // 2]:
            cache.pop(old, None)
    cache[ident] = value


def _unindented(data: bytes) -> bytes:
    # rev-list --header prints raw commits with the message indented by four spaces
    head, _, message = data.partition(b"\n\n")
    lines = (line.removeprefix(b"    ") for line in message.split(b"\n"))
    return head + b"\n\n" + b"\n".join(lines)


def _nanoseconds(time: int) -> bytes:
    return struct.pack(">LL", (time // 10**9) & 0xFFFFFFFF, time % 10**9)


def _index_order(key: tuple[str | os.PathLike[str], int]) -> tuple[bytes, int]:
    return os.fsencode(key[0]), key[1]
