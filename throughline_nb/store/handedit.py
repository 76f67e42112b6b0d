"""Merging what a person wrote: a saved ``ledger.md``, or a commit of their own.

The edited bytes are committed first, on the version that they were written from, so that nothing
is lost even where reading fails; then a merge commit joins them to the branch.
"""

import time
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.errors import NewerFormatError
from throughline_nb.ledger import Entry, Ledger, UnreadableLedger, merge, read
from throughline_nb.ledger.delta import changes, sentence
from throughline_nb.ledger.model import FORMAT
from throughline_nb.ledger.sources import first_state
from throughline_nb.store import gitrun, refs
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
from throughline_nb.store.records import Absorbed, Snapshot, Stamp

if TYPE_CHECKING:
    from throughline_nb.store.projects import Project

_UNREAD = (
    "ledger.md in your commit {} could not be read ({}); the commit is kept, and the last version "
    "stands."
)


def pending(project: "Project") -> bool:
    """Whether there may be something to merge; a look without the lock."""
    repo, file = project.repo, project.file
    head = repo.head()
    blob = repo.file(head)
    known = engine_commit(repo, head)
    if known is None or (known.id != head and repo.file(known.id) != blob):
        return True
    raw = file.read()
    if raw is None or object_id(b"blob", raw) != blob:
        return True
    left = file.displaced()
    return left is not None and object_id(b"blob", left) not in _known(project, blob)


def absorb(project: "Project", stamp: Stamp) -> Absorbed | None:
    """Merge all that is pending; call under the project's lock.

    Returns:
        What was merged; None where there was nothing that a person should hear of.
    """
    before = project.read()
    notices = list(_own_commits(project, stamp))
    file = project.file
    left = file.displaced()
    if left is not None:
        if object_id(b"blob", left) not in _known(project, project.repo.file(project.repo.head())):
            notices += _edit(project, left, stamp)
        file.settle(left)
    for _ in range(8):  # each round someone saved between the look and the replacement
        raw = file.read_settled()
        blob = project.repo.file(project.repo.head()) or ""
        found = object_id(b"blob", raw) if raw is not None else ""
        if found == blob:
            break
        if raw is not None and found not in _known(project, blob):
            notices += _edit(project, raw, stamp)
        if project.show(found):
            break
    after = project.read()
    if after.commit == before.commit and not notices:
        return None
    return Absorbed(after, changes(before.ledger, after.ledger), tuple(notices))


def _known(project: "Project", blob: str | None) -> tuple[str, ...]:
    """Ids of texts that the engine wrote itself: never a hand edit."""
    written = project.file.written()
    return tuple(ident for ident in (blob, written.blob, written.displaced) if ident)


def _own_commits(project: "Project", stamp: Stamp) -> list[str]:
    """Merge commits that a person made on the branch since the last version."""
    repo = project.repo
    head = repo.head()
    ours = engine_commit(repo, head)
    if ours is not None and (ours.id == head or repo.file(ours.id) == repo.file(head)):
        return []
    blob = repo.file(head)
    base = snapshot(repo, ours, project.slug) if ours else Snapshot(Ledger(), "", "")
    parents = (ours.id, head) if ours else (head,)
    try:
        raw = repo.read(blob) if blob else b""
        after, notices = _merged(project, base.ledger, base.ledger, raw)
    except UnreadableLedger as error:
        notices = [_UNREAD.format(head[:8], error)]
        after = base.ledger
    after = sign(base.ledger, after, stamp.now)
    subject = sentence(changes(base.ledger, after)) or "Commit of your own joined"
    project.commit(base, after, subject, _as_user(stamp), parents=parents, tree=head)
    return notices


def _edit(project: "Project", raw: bytes, stamp: Stamp) -> list[str]:
    """Merge one saved text into HEAD."""
    repo = project.repo
    ours = project.read()
    try:
        base = _written_from(project, raw)
        base_ledger = snapshot(repo, base, project.slug).ledger
        after, notices = _merged(project, base_ledger, ours.ledger, raw)
    except UnreadableLedger as error:
        return [_rescue(project, raw, str(error), stamp)]
    after = project.finished(ours.ledger, sign(ours.ledger, after, stamp.now), "user")
    if after == ours.ledger:
        return notices
    author = gitrun.identity(repo.git)
    draft = repo.draft()
    edit = draft.commit(
        {LEDGER_FILE: draft.blob(raw)}, (base.id,), author, stamp.now, _raw_message(base)
    )
    subject = sentence(changes(ours.ledger, after))
    head = repo.head()
    project.commit(ours, after, subject, _as_user(stamp), parents=(head, edit), draft=draft)
    return notices


def _merged(project: "Project", base: Ledger, ours: Ledger, raw: bytes) -> tuple[Ledger, list[str]]:
    reading = read(text_of(raw), base)
    if reading.format > FORMAT:
        raise NewerFormatError(
            f"ledger.md of project “{project.slug}” is of a newer format; it was left as it is: "
            "upgrade throughLine."
        )
    done = merge(
        base, ours, reading.ledger, prefer="theirs", keeps_ids="ours",
        merge_text=project.repo.merge_text,
    )  # fmt: skip
    return done.ledger, [*reading.notices, *done.notices]


def _written_from(project: "Project", raw: bytes) -> Commit:
    """The version that a text was written from: its markers, else what was last written.

    Raises:
        UnreadableLedger: It is no ledger.
    """
    repo = project.repo
    head = repo.head()
    text = text_of(raw)
    for version in (version_in(text), project.file.written().version):
        found = find_version(repo, head, version) if version else None
        if found is not None:
            return found
    alike = most_alike(repo, head, read(text).ledger)
    return alike or engine_commit(repo, head) or repo.commit(head)


def _rescue(project: "Project", raw: bytes, why: str, stamp: Stamp) -> str:
    """Keep what cannot be read: beside the ledger, and below ``refs/throughline/rescue/``."""
    repo = project.repo
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(stamp.now))
    path = project.path / f"ledger.edit-not-applied-{moment}.md"
    number = 1
    while path.exists():
        number += 1
        path = project.path / f"ledger.edit-not-applied-{moment}-{number}.md"
    write_atomic(path, raw)
    head = repo.head()
    draft = repo.draft()
    commit = draft.commit(
        {LEDGER_FILE: draft.blob(raw)},
        (head,),
        gitrun.identity(repo.git),
        stamp.now,
        message("ledger.md that could not be read", [("Actor", "user")]),
    )
    draft.store()
    repo.advance(commit, None, f"{refs.RESCUE}/{moment}-{commit[:8]}")
    return (
        f"ledger.md as it was saved could not be read ({why}); it is kept as {path.name}, and the "
        "last version stands in its place."
    )


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
        if entry.kind != "step":
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
