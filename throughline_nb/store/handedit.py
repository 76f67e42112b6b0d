"""Merging what a person wrote: a saved ``ledger.md``, or a commit of their own.

The edited bytes are committed first, on the version that they were written from, so that nothing
is lost even where reading fails; then a merge commit joins them to the branch.
"""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.errors import NewerFormatError, RefusedError
from throughline_nb.ledger import Entry, Ledger, UnreadableLedger, merge, read, write
from throughline_nb.ledger.delta import changes, sentence
from throughline_nb.ledger.model import FORMAT, SECTIONS
from throughline_nb.ledger.sources import first_state
from throughline_nb.store import gitrun, purge, refs
from throughline_nb.store.files import write_atomic
from throughline_nb.store.ledgers import (
    engine_commit,
    find_version,
    most_alike,
    snapshot,
    text_of,
    version_in,
)
from throughline_nb.store.objects import LEDGER_FILE, Commit, message, object_id
from throughline_nb.store.records import Absorbed, Stamp, Tip
from throughline_nb.store.sharing import unmerged

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

_UNREAD = (
    "ledger.md in your commit {} could not be read ({}); the commit is kept, and the last version "
    "stands."
)


class Settled(msgspec.Struct, frozen=True):
    """What stands when all that was pending is merged.

    Attributes:
        tip: The branch.
        text: What stands in ``ledger.md``; None if it could not be put there.
        absorbed: What was merged; None where there was nothing that a person should hear of.
    """

    tip: Tip
    text: bytes | None
    absorbed: Absorbed | None


def pending(project: "Project") -> bool:
    """Whether there may be something to merge; a look without the lock."""
    tip = project.tip()
    if not tip.now.version:
        return True
    if tip.head != tip.now.commit and project.repo.file(tip.now.commit) != tip.blob:
        return True
    raw = project.file.read()
    if raw is None or not project.stands(tip, raw):
        return True
    return next(project.file.left_over(tip.blob), None) is not None


def absorb(project: "Project", stamp: Stamp) -> Settled:
    """Merge all that is pending; call under the project's lock."""
    before = tip = project.tip()
    notices: list[str] = []
    tip = _own_commits(project, tip, stamp, notices)
    file = project.file
    raw = None
    for _ in range(8):  # each round someone saved between the look and the replacement
        for left in file.left_over(tip.blob):
            tip = _edit(project, tip, left.text, stamp, notices)
            file.displaced.settle(left)
        raw = file.read()
        if project.stands(tip, raw):
            break
        ident = object_id(b"blob", raw) if raw is not None else ""
        if raw is not None and ident != before.blob and not file.is_ours(ident, tip.blob):
            raw = file.read_settled() or raw
            tip = _edit(project, tip, raw, stamp, notices)
        raw = project.show(tip, raw)
        if purge.purged(project.repo.git):
            file.displaced.drop()  # one may be a copy from before
        if raw is not None:
            break
    absorbed = None
    if tip.now.commit != before.now.commit or notices:
        effect = changes(before.now.ledger, tip.now.ledger)
        absorbed = Absorbed(tip.now, effect, tuple(notices))
    return Settled(tip, raw, absorbed)


def _own_commits(project: "Project", tip: Tip, stamp: Stamp, notices: list[str]) -> Tip:
    """Merge commits that a person made on the branch since the last version."""
    repo, base = project.repo, tip.now
    if base.commit == tip.head and base.version:
        return tip
    if base.version and repo.file(base.commit) == (tip.blob or None):
        return tip
    parents = (base.commit, tip.head) if base.version else (tip.head,)
    start = base.ledger if base.version else Ledger(project=project.slug)
    try:
        raw = repo.read(tip.blob) if tip.blob else b""
        after, found = _merged(project, start, start, raw)
    except UnreadableLedger as error:
        after, found = start, [_UNREAD.format(tip.head[:8], error)]
        if len(repo.commit(tip.head).parents) > 1:  # a merge that was committed with its markers
            from throughline_nb.store.sharing.views import view  # noqa: PLC0415 - uses this module

            seen = view(repo, tip.head, project.slug)
            after = _without_purged(project, seen.ledger)[0] if seen is not None else after
    notices += found
    after = project.finished(start, sign(start, after, stamp.now), "user")
    subject = sentence(changes(start, after)) or "Commit of your own joined"
    return project.commit(tip, after, subject, _as_user(stamp), parents=parents, files_of=tip.head)


def _edit(project: "Project", tip: Tip, raw: bytes, stamp: Stamp, notices: list[str]) -> Tip:
    """Merge one saved text into the branch."""
    repo, ours = project.repo, tip.now.ledger
    if unmerged.MARK in raw:
        raw = unmerged.resolved(project, raw, stamp.now) or raw
    try:
        base = _written_from(project, tip.head, raw)
        start = snapshot(repo, base, project.slug).ledger
        after, found = _merged(project, start, ours, raw)
    except UnreadableLedger as error:
        notices.append(_rescue(project, tip, raw, str(error), stamp))
        return tip
    notices += found
    after = project.finished(ours, sign(ours, after, stamp.now), "user")
    if after == ours:
        return tip
    draft = repo.draft()
    if purge.purged(repo.git):
        clean, left_out = _without_purged(project, read(text_of(raw), start).ledger)
        if left_out:  # then not even the edit as it was saved is kept
            raw = write(clean, version_in(text_of(raw))).encode("utf-8")
    edit = draft.commit(
        {LEDGER_FILE: draft.blob(raw)},
        (base.id,),
        gitrun.identity(repo.git),
        stamp.now,
        _raw_message(base),
    )
    subject = f"Edited by hand: {sentence(changes(ours, after))}"
    parents = (tip.head, edit)
    try:
        return project.commit(tip, after, subject, _as_user(stamp), parents=parents, draft=draft)
    except RefusedError as error:
        notices.append(_rescue(project, tip, raw, str(error).split(";")[0], stamp))
        return tip


def _merged(project: "Project", base: Ledger, ours: Ledger, raw: bytes) -> tuple[Ledger, list[str]]:
    reading = read(text_of(raw), base)
    theirs, notices = _without_purged(project, reading.ledger)
    if reading.format > FORMAT:
        raise NewerFormatError(
            f"ledger.md of project “{project.slug}” is of a newer format; it was left as it is: "
            "upgrade throughLine."
        )
    done = merge(
        base, ours, theirs, prefer="theirs", keeps_ids="ours",
        merge_text=gitrun.merge_text,
    )  # fmt: skip
    return done.ledger, [*reading.notices, *notices, *done.notices]


def _without_purged(project: "Project", theirs: Ledger) -> tuple[Ledger, list[str]]:
    """A text may be older than a purge; ids are never given twice, so they tell."""
    gone = purge.purged(project.repo.git)
    back = [entry.id for entry in theirs.entries() if entry.id in gone]
    if not back:
        return theirs, []
    lists = {
        section.attr: tuple(e for e in theirs.list(section.attr) if e.id not in gone)
        for section in SECTIONS
    }
    notice = f"{', '.join(back)} was removed for good before, and is left out again."
    return msgspec.structs.replace(theirs, **lists), [notice]


def _written_from(project: "Project", head: str, raw: bytes) -> Commit:
    """The version that a text was written from: its markers, else what was last written.

    Raises:
        UnreadableLedger: It is no ledger.
    """
    repo = project.repo
    text = text_of(raw)
    for version in (version_in(text), project.file.written().version):
        found = find_version(repo, head, version) if version else None
        if found is not None:
            return found
    alike = most_alike(repo, head, read(text).ledger)
    return alike or engine_commit(repo, head) or repo.commit(head)


def _rescue(project: "Project", tip: Tip, raw: bytes, why: str, stamp: Stamp) -> str:
    """Keep what cannot be read: beside the ledger, and below ``refs/throughline/rescue/``."""
    repo = project.repo
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(stamp.now))
    path = beside_name(project, raw, stamp.now)
    write_atomic(path, raw)
    draft = repo.draft()
    commit = draft.commit(
        {LEDGER_FILE: draft.blob(raw)},
        (tip.head,),
        gitrun.identity(repo.git),
        stamp.now,
        message("ledger.md that could not be read", [("Actor", "user")]),
    )
    draft.store()
    with repo.explained():  # a ref of that name holds the same commit: it was saved twice
        refs.swap(repo.git, f"{refs.RESCUE}/{moment}-{commit[:8]}", commit, None)
    return (
        f"ledger.md as it was saved could not be read ({why}); it is kept as {path.name}, and the "
        "last version stands in its place."
    )


def beside_name(project: "Project", raw: bytes, now: float) -> Path:
    """Where a text that is not applied is kept, beside the ledger."""
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    path = project.path / f"ledger.edit-not-applied-{moment}.md"
    number = 1
    while path.exists() and path.read_bytes() != raw:
        number += 1
        path = project.path / f"ledger.edit-not-applied-{moment}-{number}.md"
    return path


def sign(before: Ledger, after: Ledger, now: float) -> Ledger:
    """Fill what a person leaves out: who wrote an entry and when, and the state of a new one."""
    added = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    was = {entry.id: entry for entry in before.entries()}
    step = before.current.id if before.current else ""

    def signed(entry: Entry) -> Entry:
        old = was.get(entry.id)
        if old is not None:
            return entry if old.text == entry.text else msgspec.structs.replace(entry, by="user")
        fill = {"by": entry.by or "user", "added": entry.added or added}
        if entry.kind not in {"step", "constraint"}:
            fill["step"] = entry.step or step
        elif not entry.status:
            fill["status"] = "todo"
        if entry.kind == "finding" and not entry.state:
            fill["state"] = first_state(entry.source)
        return msgspec.structs.replace(entry, **fill)

    lists = {
        attr: tuple(map(signed, after.list(attr)))
        for attr in ("constraints", "plan", "findings", "decisions", "questions", "proposals")
        if after.list(attr) != before.list(attr)
    }
    return msgspec.structs.replace(after, **lists) if lists else after


def _as_user(stamp: Stamp) -> Stamp:
    return Stamp(actor="user", now=stamp.now)


def _raw_message(base: Commit) -> str:
    version = base.trailers.get("Version", "")
    return message(f"ledger.md edited by hand, from version {version}", [("Actor", "user")])
