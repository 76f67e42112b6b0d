"""``history.jsonl``: the messages of a chat in the order in which they were seen, append only.

One JSON object a line: a message, or ``{"rewind": 41}``, which says that turn 41 and all after it
were edited or regenerated. Lines that are no such object are passed over. A last line without its
newline was torn by a crash or a full disk; it is never read, and the next writer cuts it off.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from throughline_nb.errors import StoreError
from throughline_nb.store.files import BINARY, reason, write_all

NAME: Final = "history.jsonl"


TURNS: Final = range(-(2**63), 2**63)
"""Numbers of turns that SQLite can hold; a line with another is none of ours."""

_Turn = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]

_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


class Record(msgspec.Struct, omit_defaults=True):
    """A line of the file: a message, or a rewind.

    ``before`` says that ``time`` is when the message was met, not when it was said. ``was`` is the
    hash of what the host still has of a message whose words were purged here.
    """

    turn: _Turn = 0
    role: str = ""
    text: str = ""
    time: float | None = None
    before: bool = False
    tool: str = ""
    args: Mapping[str, Any] = {}
    call_id: str = ""
    failed: bool = False
    was: str = ""
    rewind: _Turn | None = None


_ENCODE: Final = msgspec.json.Encoder().encode
_DECODE: Final = msgspec.json.Decoder(Record).decode


def encoded(record: Record) -> bytes:
    """A line."""
    return _ENCODE(record) + b"\n"


def decoded(line: bytes) -> Record | None:
    """A line's record; None where it is none."""
    try:
        record = _DECODE(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return record if record.rewind is not None or record.role else None


def append(path: Path, data: bytes) -> None:
    """Write lines at the end; whole or not at all.

    Args:
        path: The file; made if it is not there.
        data: Whole lines.

    Raises:
        StoreError: The disk is full or the file cannot be written; it is as it was.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | BINARY | _NO_LINK, 0o666)
        try:
            size = os.fstat(handle).st_size
            end = whole(handle, size)
            if size != end:
                os.ftruncate(handle, end)
            os.lseek(handle, end, os.SEEK_SET)
            try:
                write_all(handle, data)
            except BaseException:
                os.ftruncate(handle, end)
                raise
        finally:
            os.close(handle)
    except OSError as error:
        raise StoreError(
            f"recall could not write {path} ({reason(error)}); what it held is kept, the newest "
            "messages are not in it: check permissions and free space."
        ) from error


def whole(handle: int, size: int) -> int:
    """Where the last whole line of an open file ends."""
    block = 1
    while size:
        start = max(0, size - block)
        os.lseek(handle, start, os.SEEK_SET)
        found = os.read(handle, size - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        size, block = start, 1 << 16
    return 0


def lines(path: Path, start: int = 0) -> Iterator[tuple[int, bytes]]:
    """Whole lines from a byte on, each with where it begins."""
    with path.open("rb") as file:
        file.seek(start)
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield start, line
            start += len(line)


def line_at(path: Path, at: int, size: int) -> Record | None:
    """The record of one line."""
    with path.open("rb") as file:
        file.seek(at)
        return decoded(file.read(size))


def living(path: Path) -> list[tuple[int, int]]:
    """Where the lines begin, and how long they are, that nothing superseded."""
    kept: list[tuple[int, int, int]] = []
    for at, line in lines(path):
        record = decoded(line)
        if record is None:
            continue
        if record.rewind is None:
            kept.append((record.turn, at, len(line)))
        else:
            kept = [item for item in kept if item[0] < record.rewind]
    return [(at, size) for _, at, size in kept]


def compact(path: Path, new: Path) -> None:
    """Write the lines that nothing superseded to another file, which must not be there.

    Raises:
        OSError: It could not be written.
    """
    with path.open("rb") as old, new.open("xb") as file:
        for at, size in living(path):
            old.seek(at)
            file.write(old.read(size))
    shutil.copymode(path, new)
