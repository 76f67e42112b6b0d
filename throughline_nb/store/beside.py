"""A second file of the project that the engine writes: ``handoff.md``, committed like the ledger.

What a person changed in it is kept beside before it is replaced.
"""

import os
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from throughline_nb.errors import StoreError
from throughline_nb.store.files import write_atomic
from throughline_nb.store.objects import object_id

if TYPE_CHECKING:
    from throughline_nb.store.project import Project

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
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return ""
    ident = object_id(b"blob", raw)
    if raw == data or ident in _written(project):
        return ""
    if ident == project.repo.file(project.repo.head(), HANDOFF):
        return ""  # git has it
    moment = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(now))
    copy, number = project.path / f"{KEPT}{moment}.md", 1
    while copy.exists():
        number += 1
        copy = project.path / f"{KEPT}{moment}-{number}.md"
    write_atomic(copy, raw)
    return copy.name


def put(project: "Project", data: bytes, blob: str) -> None:
    """Put ``data`` there, when it is committed; noted first, so that a kill is no hand edit."""
    with suppress(StoreError):
        write_atomic(_record(project), f"{blob}\n".encode("ascii"), durable=False)
    write_atomic(project.path / HANDOFF, data)
    project.repo.refresh_index(HANDOFF, blob)


def _written(project: "Project") -> list[str]:
    try:
        return _record(project).read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError):
        return []


def _record(project: "Project") -> Path:
    return project.repo.git / "throughline" / "handoff"
