"""A second file of the project that the engine writes: ``handoff.md``, committed like the ledger.

What a person changed in it is kept beside before it is replaced, and so is what they save at the
moment when it is, or into the file that it displaced.
"""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from throughline_nb.errors import StoreError
from throughline_nb.store.files import reason, write_atomic
from throughline_nb.store.objects import object_id
from throughline_nb.store.redact import PLACEHOLDER
from throughline_nb.store.workfile import WorkFile

if TYPE_CHECKING:
    from throughline_nb.store.project import Project
    from throughline_nb.store.redact import Redactor

HANDOFF: Final = "handoff.md"
KEPT: Final = "handoff.edit-kept-"
"""How the name of a kept copy begins."""


def keep_edit(project: "Project", data: bytes, now: float) -> str:
    """Keep what stands in the file if it is neither ``data`` nor what the engine wrote.

    Returns:
        Name of the copy; empty where there was nothing to keep.

    Raises:
        StoreError: The file is a link or no file; nothing was changed.
    """
    path = project.path / HANDOFF
    if os.path.lexists(path) and (path.is_symlink() or not path.is_file()):
        raise StoreError(
            f"{path} is no plain file; nothing was changed: move it away, then say it again."
        )
    kept = _keep_late(project, now)
    raw = _file(project).read()
    return (_kept(project, raw, now) if raw not in (None, data) else "") or kept


def put(project: "Project", data: bytes, blob: str) -> str:
    """Put ``data`` there, when it is committed.

    Returns:
        Name of a copy of what someone saved since :func:`keep_edit`; mostly empty.

    Raises:
        StoreError: The file cannot be replaced; git has the new text.
    """
    file, now = _file(project), time.time()
    raw = file.read()
    kept = _kept(project, raw, now) if raw not in (None, data) else ""
    try:
        calm = file.replace(data, blob, "", raw)
    except OSError as error:
        raise StoreError(
            f"{file.path} could not be replaced ({reason(error)}); the new one is committed, and "
            "the old one was kept: close the programs that have it open."
        ) from error
    project.repo.refresh_index(HANDOFF, blob)
    return kept if calm else _keep_late(project, now) or kept


def without_words(project: "Project", redactor: "Redactor", ours: str) -> None:
    """Take purged words out of the file and the kept copies; a person's own text stays otherwise.

    A file that the engine wrote is removed where it names the entry, to be written anew.

    Args:
        project: The project, after its history was rewritten.
        redactor: What knows the words.
        ours: Id of the text that the engine wrote there last; empty for none.
    """
    path = project.path / HANDOFF
    for copy in project.path.glob(f"{KEPT}*"):
        redact(copy, redactor)
    if path.is_symlink() or not path.is_file():
        return
    raw = path.read_bytes()
    clean = redactor.file(raw)
    if object_id(b"blob", raw) == ours:
        if clean != raw or redactor.concerns(raw):
            path.unlink()
    elif clean != raw:
        if not _says_nothing(clean):
            _copied(project, clean, time.time())
        path.unlink()


def redact(path: Path, redactor: "Redactor") -> None:
    """Take purged words out of a copy of a person's text; one that held nothing else goes."""
    if path.is_file() and not path.is_symlink():
        raw = path.read_bytes()
        clean = redactor.file(raw)
        if clean != raw and _says_nothing(clean):
            path.unlink()
        elif clean != raw:
            write_atomic(path, clean)


def written(project: "Project") -> str:
    """Id of the text that the engine wrote there last, or that stands in a last version of it."""
    return _file(project).written().blob or next(_committed(project)) or ""


def is_written(data: bytes) -> bool:
    """Whether a committed text looks like one that the engine wrote, all of it from a ledger."""
    return data.startswith(b"# Handoff: ") and b"\nWritten by throughLine on " in data[:2000]


def _says_nothing(clean: bytes) -> bool:
    """Whether all that a file said was purged."""
    said = clean.replace(b"\0", b"").replace(PLACEHOLDER.encode(), b"")
    return not said.strip(b"\xff\xfe\xef\xbb\xbf \t\r\n")


def _file(project: "Project") -> WorkFile:
    return WorkFile(project.path, HANDOFF, "handoff")


def _keep_late(project: "Project", now: float) -> str:
    """Keep what someone wrote into a file that was displaced; the name of the last copy."""
    file, kept = _file(project), ""
    for left in file.left_over(""):
        kept = _kept(project, left.text, now) or kept
        file.displaced.settle(left)
    return kept


def _kept(project: "Project", raw: bytes | None, now: float) -> str:
    """Copy a text unless it is the engine's, or git or a copy has it; the copy's name."""
    if raw is None:
        return ""
    ident = object_id(b"blob", raw)
    if ident == _file(project).written().blob or ident in _committed(project):
        return ""
    with suppress(OSError):
        if any(copy.read_bytes() == raw for copy in project.path.glob(f"{KEPT}*")):
            return ""
    return _copied(project, raw, now)


def _copied(project: "Project", raw: bytes, now: float) -> str:
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    copy, number = project.path / f"{KEPT}{moment}.md", 1
    while copy.exists():
        number += 1
        copy = project.path / f"{KEPT}{moment}-{number}.md"
    write_atomic(copy, raw)
    return copy.name


def _committed(project: "Project") -> Iterator[str | None]:
    """Ids of the file's text in the last version and in those that it was made from."""
    head = project.repo.head()
    yield project.repo.file(head, HANDOFF)
    for parent in project.repo.commit(head).parents:
        yield project.repo.file(parent, HANDOFF)
