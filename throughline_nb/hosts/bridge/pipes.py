"""Standard input and output for the protocol alone.

The bridge keeps the two pipes under descriptors of its own, which no child process inherits, and
puts something harmless in their old places: what a library prints, or a child process writes, ends
up beside the errors, and a child that reads its input finds it empty.
"""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import BinaryIO, Final

LIMIT: Final = 32 * 1024 * 1024
"""Bytes of the longest line. A page of a history has about one MiB, and the longest text that a
plugin sends has four million characters."""


def take_over() -> tuple[BinaryIO, int]:
    """Move the pipes away from descriptors 0 and 1.

    Returns:
        The input, and the descriptor of the output.
    """
    with contextlib.suppress(OSError, ValueError, AttributeError):  # there may be no stdout at all
        sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        os.dup2(2, 1)
    except OSError:  # no standard error: pythonw, a host that closed it
        hole = os.open(os.devnull, os.O_WRONLY)
        os.dup2(hole, 1)
        os.close(hole)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - of Windows alone

        for number in (source, sink):
            msvcrt.setmode(number, os.O_BINARY)
    return os.fdopen(source, "rb", buffering=1 << 16), sink


def lines(stream: BinaryIO, limit: int = LIMIT) -> Iterator[bytes | None]:
    """Whole lines of a stream until it ends; None for one that is too long, which is left out.

    A last line without its end is half of a message whose sender is gone, and is left out as well.
    """
    while line := stream.readline(limit + 1):
        if line.endswith(b"\n"):
            yield line
        elif len(line) > limit:
            del line
            while (rest := stream.readline(1 << 16)) and not rest.endswith(b"\n"):
                pass
            yield None


def write_line(sink: int, data: bytes) -> None:
    """Write a message and the end of its line, whole.

    Raises:
        OSError: The other side is gone.
    """
    left = memoryview(data + b"\n")
    while left:
        left = left[os.write(sink, left) :]
