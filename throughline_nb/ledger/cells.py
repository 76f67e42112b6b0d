"""A notebook's cell as a source: what a run gave, and what a later run says of a finding.

A finding that cites a cell is verified when the output of that run is known; its figures must
stand in it. A later run with another output makes it ``stale``, with old and new in its reason; one
that gives the old output again makes it verified. Outputs are compared normalised: memory
addresses, durations and clock times differ from run to run, and say nothing.
"""

import difflib
import hashlib
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from throughline_nb.ledger.cascade import MARK, settled_reason
from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import Entry

TEXT_BYTES: Final = 2048
"""Bytes of an output that are kept."""

QUOTE_CHARACTERS: Final = 80
"""Where old and new are cut in the reason of a stale finding."""

_ANSI: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
_VOLATILE: Final = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b0x[0-9a-fA-F]{6,16}\b",
        r"(?:\d{4}-\d\d-\d\d[ T])?\b\d{1,2}(?::\d\d){2}(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?",
        r"(?<![\w.])\d+(?:[.,]\d+)?\s?(?:ns|µs|μs|us|ms|msecs?|milliseconds?)\b",
        r"(?<![\w.])\d+[.,]\d+\s?(?:s|secs?|min|h)\b|(?<![\w.])\d+ s\b",
        r"(?<![\w.])\d+(?:[.,]\d+)?\s(?:secs?|seconds?|minutes?|min|hours?)\b",
        r"(?<![\w.])\d+:\d\d<(?:\d+:\d\d|\?)",
        r"(?<![\w.])\d+(?:[.,]\d+)?\s?(?:it|B|kB|MB|GB)/s\b",
    )
)
"""What differs from run to run: addresses, clock times, durations, and a progress bar's figures."""


class Ran(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run of a cell.

    Attributes:
        cell: Its id, as the host gives it, else the hash of its source.
        source: Hash of its source (16 hex digits).
        output: Hash of its normalised output (16 hex digits).
        text: The output itself, at most :data:`TEXT_BYTES`.
        figures: The exact figures in the whole output, normalised; None where not all of it was
            seen, so that nothing can be said about figures.
        failed: Whether it ended with an error.
    """

    cell: str
    source: str
    output: str
    text: str = ""
    figures: tuple[str, ...] | None = None
    failed: bool = False

    @property
    def short(self) -> str:
        """The id as a source names it."""
        return short(self.cell)


def ran(cell: str, source: str, output: str, *, failed: bool = False, whole: bool = True) -> Ran:
    """What is kept of a run.

    Args:
        cell: Id of the cell; empty where the host gives none.
        source: Its source.
        output: Its output as plain text.
        failed: Whether it ended with an error.
        whole: Whether ``output`` is all that it gave.
    """
    from throughline_nb.ledger.figures import figures  # noqa: PLC0415 - patterns of 5 ms

    plain = _plain(output)
    text = plain.encode("utf-8", "replace")[:TEXT_BYTES].decode("utf-8", "ignore")
    return Ran(
        named(cell, source),
        _hash(source.strip()),
        _hash(normalised(plain)),
        text,
        tuple(figures(plain)) if whole else None,
        failed,
    )


def short(cell: str) -> str:
    """A cell's id as a source names it: a long random one by its first eight characters."""
    return cell if len(cell) <= len("load-data-2") else cell[:8].strip("-_")


def named(cell: str, source: str) -> str:
    """What a cell is known by: its id, else the hash of its source."""
    return cell or _hash(source.strip())


def source_of(cell: str, chat: str) -> str:
    """The source that cites a cell: ``cell 3f9a of notebook/analysis.ipynb``."""
    return f"cell {short(cell)} of {one_line(chat)}"


def normalised(output: str) -> str:
    """An output without what differs from run to run: addresses, durations, clock times."""
    text = _plain(output)
    for pattern in _VOLATILE:
        text = pattern.sub("…", text)
    return "\n".join(" ".join(line.split()) for line in text.strip().splitlines())


def claim(entry: Entry) -> str:
    """What ties a run to a finding as it is worded now; another text is another claim."""
    return f"{entry.id} {_hash(entry.text)}"


def judged(entry: Entry, now: Ran, base: Ran | None) -> Entry:
    """Give a finding the state that a run of the cell that it cites allows.

    Args:
        entry: The finding; one that is retracted stays as it is.
        now: The run.
        base: The run by which it was verified; None where none is known.

    Returns:
        The entry with its new ``state``, ``missing`` and ``reason``; the same where nothing
        changed.
    """
    if entry.retracted or (now.failed and base is None):
        return entry
    if base is None and entry.state == "stale":  # by a run elsewhere, of which nothing is known
        return entry
    if base is not None and (now.output, now.failed) != (base.output, base.failed):
        old, new = difference(base.text, now.text)
        why = f'{MARK}"{old}" is now "{new}"' if (old, new) != ("", "") else f"{MARK}it differs"
        kept = settled_reason(entry.reason)
        return _with(entry, "stale", entry.missing, f"{kept}; {why}" if kept else why)
    missing = entry.missing if now.figures is None else "; ".join(_missing(entry, now.figures))
    return _with(entry, "verified", missing, settled_reason(entry.reason))


def difference(old: str, new: str) -> tuple[str, str]:
    """The first lines that differ between two outputs, each cut to a quote."""
    was, now = _plain(old).strip().splitlines(), _plain(new).strip().splitlines()
    left, right = ([normalised(line) for line in lines] for lines in (was, now))
    for tag, a, b, c, d in difflib.SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag != "equal":
            return _quoted(was[a:b]), _quoted(now[c:d])
    return "", ""


def _quoted(lines: Sequence[str]) -> str:
    text = one_line(" / ".join(" ".join(line.split()) for line in lines if line.strip()))
    return clip(text, QUOTE_CHARACTERS).replace('"', "'") or "nothing"


def _plain(output: str) -> str:
    """Text without colours; of a line that was written over, what stood there last."""
    text = _ANSI.sub("", output).replace("\r\n", "\n")
    return "\n".join(line.rstrip("\r").rsplit("\r", 1)[-1].rstrip() for line in text.split("\n"))


def _missing(entry: Entry, figures: Sequence[str]) -> Sequence[str]:
    from throughline_nb.ledger.figures import missing  # noqa: PLC0415 - see above

    return missing(entry.text, figures)


def _with(entry: Entry, state: str, missing: str, reason: str) -> Entry:
    if (entry.state, entry.missing, entry.reason) == (state, missing, reason):
        return entry
    return msgspec.structs.replace(entry, state=state, missing=missing, reason=reason)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
