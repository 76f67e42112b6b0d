"""Removing an entry for good: the repository is built anew without it, then takes the old's place.

Rewriting in place would leave the text in reflogs, unreachable objects, packs, the index and the
displaced file. So every commit that a ref of the project's own reaches is written again into a
fresh repository beside, with the entry's text taken out of ledgers, other files and messages; what
is not copied is gone with the old folder.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from throughline_nb.errors import StoreError
from throughline_nb.ledger import Ledger, UnreadableLedger, read, write
from throughline_nb.store import beside, gitrun, refs
from throughline_nb.store.files import (
    exchange,
    patiently,
    remove_tree,
    sync_folder,
    write_atomic,
)
from throughline_nb.store.ledgers import forget_ledgers, text_of, version_in
from throughline_nb.store.loose import LooseObjects
from throughline_nb.store.objects import (
    LEDGER_FILE,
    Commit,
    Item,
    TreeEntry,
    format_tree,
    item,
    object_id,
    parse_tree,
)
from throughline_nb.store.records import Stamp
from throughline_nb.store.redact import Redactor
from throughline_nb.store.repo import Repo, forget_caches

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

PURGED = "throughline/purged"
SHARED = "throughline/purged-shared"
NEW = ".git.purged"
OLD = ".git.before"

_COPIED = (
    *("config", "description", "info/exclude", "info/attributes"),
    *("throughline/turns", "throughline/questions.json", "throughline/handoff/written.json"),
)
_BATCH = 64
_OWN = ("--exclude=refs/remotes/*", "--exclude=refs/stash", "--all")


def mentions(repo: Repo, ident: str) -> int:
    """In how many versions an entry stands."""
    redactor = Redactor([ident])
    return sum(redactor.names(data) for _, data in _ledgers(repo))


def learned(repo: Repo, idents: list[str]) -> Redactor:
    """What knows all that entries ever said."""
    redactor = Redactor(idents)
    for _, data in reversed(_ledgers(repo)):  # the oldest first: each is read against the last
        redactor.learn(data)
    return redactor


def purge(project: "Project", idents: list[str], stamp: Stamp) -> None:
    """Remove entries from ledger and history; under the lock, with nothing pending.

    Raises:
        StoreError: It cannot be done whole; nothing was changed.
    """
    finish(project.path)
    repo = project.repo
    redactor = learned(repo, idents)
    building = project.home.projects / f".purge-{project.slug}"
    remove_tree(building)
    try:
        building.mkdir(parents=True)
        fresh = Repo.create(building)
        rebuild = Rebuild(repo, fresh, redactor)
        rebuild.run()
        _copy(project.repo.git, fresh.git)
        (fresh.git / PURGED).parent.mkdir(exist_ok=True)
        for name, old, new in (
            (PURGED, purged(repo.git), idents),
            (SHARED, purged_and_shared(repo.git), _left(repo, idents)),
        ):
            known = "\n".join(sorted({*old, *new}))
            (fresh.git / name).write_text(known, encoding="ascii", newline="\n")
        # killed after the swap, the ledger.md that stands there is no hand edit
        project.file.hand_over(fresh.git, project.tip())
        successor = type(project)(project.home, building.name)
        tip = successor.tip()
        sentence = f"{', '.join(idents)} removed for good"
        ledger = project.finished(project.read().ledger, tip.now.ledger, "user")
        successor.commit(tip, ledger, sentence, stamp)
        gitrun.run(fresh.git, "-c", "core.fsync=all", "repack", "-a", "-d", "--quiet")
        _verify(fresh, redactor)
        was, now, ours = _files(repo), _files(fresh), beside.written(project)
        fresh.git.rename(project.path / NEW)
        sync_folder(project.path)
    except OSError as error:
        raise StoreError(
            f"The history of “{project.slug}” could not be rewritten ({error.strerror}); nothing "
            "was changed: check free space and permissions."
        ) from error
    finally:
        remove_tree(building)
    with repo.explained():
        _swap(project.path)
    forget_caches()
    forget_ledgers()
    _clean_folder(project, redactor, was, now, ours)


def purged(git: Path) -> frozenset[str]:
    """Ids of the entries that were purged here; an older copy must not bring them back."""
    return _noted(git, PURGED)


def purged_and_shared(git: Path) -> frozenset[str]:
    """Those that had left this machine before, so that a remote may still have them.

    Another machine may have given the id of one that had not left to an entry of its own.
    """
    return _noted(git, SHARED)


def _noted(git: Path, name: str) -> frozenset[str]:
    try:
        text = (git / name).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return frozenset()
    return frozenset(text.split())


def readmit(git: Path, idents: frozenset[str]) -> None:
    """Let entries with these ids in again: another machine gave them to entries of its own."""
    known = purged(git)
    if known & idents - purged_and_shared(git):
        kept = sorted(known - (idents - purged_and_shared(git)))
        write_atomic(git / PURGED, "\n".join(kept).encode("ascii"))


def _left(repo: Repo, idents: list[str]) -> list[str]:
    """Those of the entries that stand in a history that left this machine."""
    known = refs.list_refs(repo.git, "refs/")
    sent = [
        ident
        for name, ident in known.items()
        if name.startswith(("refs/remotes/", "refs/throughline/published", "refs/throughline/bund"))
    ]
    if not sent:
        return []
    texts = [data for _, data in _ledgers(repo, *sent)]
    return [ident for ident in idents if any(Redactor([ident]).names(data) for data in texts)]


def finish(path: Path) -> None:
    """Complete, or drop, a purge that was killed; under the lock."""
    new, old, git = (os.path.join(path, name) for name in (NEW, OLD, ".git"))  # noqa: PTH118
    if os.path.exists(new):  # noqa: PTH110 - this and the next are on every change's path
        if os.path.exists(git):  # noqa: PTH110
            remove_tree(Path(new))
        else:
            os.rename(new, git)  # noqa: PTH104
    if os.path.exists(old) and os.path.exists(git):  # noqa: PTH110
        remove_tree(Path(old))


class Rebuild:
    """Copies commits into a fresh repository, in the order in which they were made."""

    def __init__(self, old: Repo, new: Repo, redactor: Redactor) -> None:
        self._old = old
        self._new = new
        self._redactor = redactor
        self._objects = LooseObjects(new.git / "objects")
        self._commits: dict[str, str] = {}
        self._trees: dict[str, str] = {}
        self._blobs: dict[tuple[str, bytes], str | None] = {}
        self._items: list[Item] = []
        self._held: dict[str, bytes] = {}
        self._last: Ledger | None = None  # what most of the next version repeats

    def run(self) -> None:
        """Copy all that the project's own refs reach, and the refs."""
        own = refs.list_refs(self._old.git, "refs/")
        spoilt = [n for n, i in own.items() if n.startswith(refs.RESCUE) and self._spoilt(i)]
        without = [f"--exclude={name}" for name in spoilt]
        # packing them afterwards is durable
        self._copy(list(self._old.log("--topo-order", "--reverse", *without, *_OWN)), durable=False)
        self._name(own, spoilt)

    def _copy(self, commits: list[Commit], *, durable: bool) -> None:
        for start in range(0, len(commits), _BATCH):
            batch = commits[start : start + _BATCH]
            self._fetch(batch)
            for commit in batch:
                self._commit(commit)
            self._objects.write(self._items, durable=durable)
            self._items.clear()

    def branch(self, ident: str) -> str:
        """Copy one history, durably, and no refs.

        Returns:
            Id of its last commit as it is now.
        """
        self._copy(list(self._old.log("--topo-order", "--reverse", ident)), durable=True)
        return self._commits[ident]

    def _name(self, own: dict[str, str], spoilt: list[str]) -> None:
        for name, ident in own.items():
            if name in spoilt or name.startswith(("refs/remotes/", "refs/stash", "refs/notes/")):
                continue
            new = self._commits.get(ident) or self._tagged(name)
            if new is not None:
                refs.swap(self._new.git, name, new, None)

    def _fetch(self, commits: list[Commit]) -> None:
        """Read what the next commits need with two processes of git's."""
        trees = [commit.tree for commit in commits]
        self._held = dict(self._old.read_many([*(commit.id for commit in commits), *trees]))
        files = {
            entry.id: None
            for tree in trees
            for entry in parse_tree(self._read(tree))
            if entry.mode.startswith(b"100") and (entry.id, entry.name) not in self._blobs
        }
        self._held |= self._old.read_many(files)

    def _read(self, ident: str) -> bytes:
        held = self._held.get(ident)
        return self._old.read(ident) if held is None else held

    def _commit(self, commit: Commit) -> None:
        raw = self._read(commit.id)
        head, _, message = raw.partition(b"\n\n")
        lines = []
        signature = False
        for line in head.split(b"\n"):
            key, _, value = line.partition(b" ")
            signature = key in (b"gpgsig", b"gpgsig-sha256") or (signature and key == b"")
            if signature:  # it signs what is no longer there
                continue
            if key == b"tree":
                lines.append(b"tree " + self._tree(commit.tree).encode())
            elif key == b"parent":
                lines.append(b"parent " + self._commits[value.decode()].encode())
            else:
                lines.append(line)
        text = self._redactor.message(message.decode("utf-8", "replace"))
        data = b"\n".join(lines) + b"\n\n" + text.encode("utf-8")
        self._commits[commit.id] = self._put(item(b"commit", data))

    def _tree(self, ident: str) -> str:
        if ident not in self._trees:
            kept = []
            for entry in parse_tree(self._read(ident)):
                new: str | None
                if entry.mode == b"160000":
                    new = entry.id
                elif entry.mode == b"40000":
                    new = self._tree(entry.id)
                else:
                    new = self._blob(entry.id, entry.name)
                if new is not None:
                    kept.append(TreeEntry(entry.mode, entry.name, new))
            self._trees[ident] = self._put(item(b"tree", format_tree(kept)))
        return self._trees[ident]

    def _blob(self, ident: str, name: bytes) -> str | None:
        key = ident, name
        if key not in self._blobs:
            data: bytes | None = self._read(ident)
            if data is not None and self._redactor.concerns(data):
                data = self._without(data, name)
            self._blobs[key] = None if data is None else self._put(item(b"blob", data))
        return self._blobs[key]

    def _without(self, data: bytes, name: bytes) -> bytes | None:
        if name == beside.HANDOFF.encode():  # one of ours may quote what says the same otherwise
            return None if beside.is_written(data) else self._redactor.file(data)
        if name == LEDGER_FILE.encode():
            try:
                text = text_of(data)
                ledger = read(text, self._last).ledger
                self._last = ledger
                return write(self._redactor.ledger(ledger), version_in(text)).encode("utf-8")
            except UnreadableLedger:
                pass
        return self._redactor.data(data)

    def _tagged(self, name: str) -> str | None:
        """What an annotated tag names; the tag itself becomes a plain one."""
        done = gitrun.run(
            self._old.git, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}", allowed=(0, 1)
        )
        return self._commits.get(done.stdout.decode("ascii").strip())

    def _spoilt(self, ident: str) -> bool:
        blob = self._old.file(ident)
        return blob is not None and self._redactor.concerns(self._old.read(blob))

    def _put(self, made: Item) -> str:
        self._items.append(made)
        return made.id


def _ledgers(repo: Repo, *heads: str) -> list[tuple[str, bytes]]:
    """Every text that ``ledger.md`` ever had, by id; below these commits if any are named."""
    done = gitrun.run(repo.git, "rev-list", "--objects", *(heads or _OWN), "--", LEDGER_FILE)
    idents = [
        line.split(b" ", 1)[0].decode()
        for line in done.stdout.splitlines()
        if line.endswith(b" " + LEDGER_FILE.encode())
    ]
    return list(repo.read_many(idents))


def _copy(old: Path, new: Path) -> None:
    for name in _COPIED:
        if (old / name).is_file():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            (new / name).write_bytes((old / name).read_bytes())


def _verify(fresh: Repo, redactor: Redactor) -> None:
    done = gitrun.run(fresh.git, "rev-list", "--objects", "--all")
    idents = [line.split(b" ", 1)[0].decode() for line in done.stdout.splitlines()]
    for start in range(0, len(idents), _BATCH):
        for ident, data in fresh.read_many(idents[start : start + _BATCH]):
            if redactor.left_in(data):
                raise StoreError(
                    f"The text would still stand in object {ident[:12]}; nothing was changed: "
                    "change the entry's text by hand first, then purge again."
                )


def _swap(path: Path) -> None:
    git, new, old = path / ".git", path / NEW, path / OLD
    if exchange(git, new):
        remove_tree(new)
    else:
        patiently(lambda: git.rename(old))
        patiently(lambda: new.rename(git))
        remove_tree(old)
    sync_folder(path)


def _files(repo: Repo) -> dict[str, str]:
    """Ids of all files of the last commit, by path."""
    done = gitrun.run(repo.git, "ls-tree", "-r", "-z", refs.MAIN)
    parts = (line.partition("\t") for line in os.fsdecode(done.stdout).split("\0") if line)
    return {path: head.split(" ")[2] for head, _, path in parts}


def _clean_folder(
    project: "Project", redactor: Redactor, was: dict[str, str], now: dict[str, str], ours: str
) -> None:
    """What lies beside: the ledger, files as they were committed, a handoff, unread hand edits."""
    repo = project.repo
    tip = project.tip()
    write_atomic(project.file.path, repo.read(tip.blob))
    beside.without_words(project, redactor, ours)
    for name, ident in now.items():
        path = project.path / name
        if was.get(name, ident) == ident or not path.is_file():
            continue
        if object_id(b"blob", path.read_bytes()) == was[name]:  # else it is a person's draft
            write_atomic(path, repo.read(ident))
    for path in project.path.glob("ledger.edit-not-applied-*.md"):
        beside.redact(path, redactor)
    gitrun.run(repo.git, "read-tree", refs.MAIN)
    gitrun.run(repo.git, "update-index", "-q", "--refresh", allowed=(0, 1))
