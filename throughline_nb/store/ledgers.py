"""Parsed ledgers, kept by the id of their text: a text that was read once is not read again."""

import re
from typing import Final

import msgspec

from throughline_nb.ledger import Ledger, UnreadableLedger, read
from throughline_nb.ledger.model import FORMAT
from throughline_nb.store.objects import LEDGER_FILE, Commit
from throughline_nb.store.records import VERSION, Snapshot, is_ours
from throughline_nb.store.repo import Repo

_KEPT: Final = 48
"""Ledgers kept in a process; one of 150 entries takes up to 200 KB."""

_MARKERS: Final = (
    re.compile(r"Ledger version\W{1,4}([1-9][0-9]*-[0-9a-f]{4})\b(?![\s\S]*Ledger version)"),
    re.compile(r"<!-- throughLine ledger, version ([1-9][0-9]*-[0-9a-f]{4})\b"),
    re.compile(r"^version:\s*[\"']?([1-9][0-9]*-[0-9a-f]{4})\b", re.MULTILINE),
)
"""The three places of a version, the one that survives every editor first."""


class Parsed(msgspec.Struct, frozen=True):
    """One text of a ledger; ``format`` is above :data:`FORMAT` where a newer version wrote it."""

    ledger: Ledger
    format: int = FORMAT


_parsed: dict[str, Parsed] = {}


def load(repo: Repo, blob: str, base: Ledger | None = None) -> Parsed:
    """The ledger in a blob.

    Raises:
        UnreadableLedger: It is none.
    """
    found = _parsed.get(blob)
    if found is None:
        reading = read(text_of(repo.read(blob)), base)
        found = Parsed(reading.ledger, reading.format)
        remember(blob, found)
    return found


def remember(blob: str, parsed: Parsed) -> None:
    """Keep what a text says; also called for what was just written."""
    if len(_parsed) >= _KEPT:
        for old in list(_parsed)[: _KEPT // 2]:
            _parsed.pop(old, None)
    _parsed[blob] = parsed


def forget_ledgers() -> None:
    """Drop what this process keeps."""
    _parsed.clear()


def text_of(raw: bytes) -> str:
    """A file's text.

    Raises:
        UnreadableLedger: It is not UTF-8.
    """
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        raise UnreadableLedger("it is not UTF-8 text") from None


def engine_commit(repo: Repo, ident: str) -> Commit | None:
    """The last version that the engine made, at ``ident`` or before it by first parents."""
    commit = repo.commit(ident)
    while not is_ours(commit):
        if not commit.parents:
            return None
        commit = repo.commit(commit.parents[0])
    return commit


def snapshot(repo: Repo, commit: Commit, project: str) -> Snapshot:
    """The version that a commit made, under the project's present name.

    Raises:
        UnreadableLedger: It holds no ledger, or none that can be read.
    """
    blob = repo.file(commit.id)
    if blob is None:
        raise UnreadableLedger("it holds no ledger.md")
    ledger = load(repo, blob).ledger
    if ledger.project != project:
        ledger = msgspec.structs.replace(ledger, project=project)
    return Snapshot(ledger, commit.trailers.get("Version", ""), commit.id)


def last_readable(repo: Repo, head: str, project: str) -> Snapshot:
    """The last version that can be read, at ``head`` or before it.

    A person may have amended a version into something that is no ledger. Where the engine made no
    version yet, it is what the last commit says, and has no name.
    """
    commit = engine_commit(repo, head)
    while commit is not None:
        try:
            return snapshot(repo, commit, project)
        except UnreadableLedger:
            commit = engine_commit(repo, commit.parents[0]) if commit.parents else None
    try:
        return snapshot(repo, repo.commit(head), project)
    except UnreadableLedger:
        return Snapshot(Ledger(project=project), "", head)


def version_in(text: str) -> str | None:
    """The version that a text says it was written from."""
    for marker in _MARKERS:
        if found := marker.search(text):
            return found[1]
    return None


def find_version(repo: Repo, head: str, version: str) -> Commit | None:
    """The newest commit at or before ``head`` that made this version."""
    if not VERSION.fullmatch(version):
        return None
    ident = head
    for _ in range(32):
        commit = repo.commit(ident)
        if commit.trailers.get("Version") == version:
            return commit
        if not commit.parents:
            return None
        ident = commit.parents[0]
    return next(repo.log(f"--grep=^Version: {version}$", "--max-count=1", head), None)


def most_alike(repo: Repo, head: str, ledger: Ledger, versions: int = 64) -> Commit | None:
    """Among the latest versions, the one that shares the most entries with ``ledger``."""
    wanted = {(entry.id, entry.text) for entry in ledger.entries()}
    best, most = None, -1
    for commit in repo.log("--first-parent", f"--max-count={versions}", head):
        blob = repo.file(commit.id, LEDGER_FILE)
        if blob is None or not is_ours(commit):
            continue
        shared = sum((e.id, e.text) in wanted for e in load(repo, blob).ledger.entries())
        if shared > most:
            best, most = commit, shared
    return best
