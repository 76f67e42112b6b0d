"""Messages as the history keeps them: taken from a host, compared, and with words taken out."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from throughline_nb.chat import plain, plain_text
from throughline_nb.ledger.fence import without_blocks
from throughline_nb.store.recall import journal
from throughline_nb.store.recall.indexing import content, mark
from throughline_nb.store.recall.journal import Record


def record_of(message: Any, seen: float | None = None) -> Record:
    """A message as the history keeps it; what JSON cannot hold becomes text.

    Raises:
        ValueError: Its turn is beyond 64 bits.
    """
    time = getattr(message, "time", None)
    if int(message.turn) not in journal.TURNS:
        raise ValueError(f"turn was {message.turn}; allowed: a number of 64 bits")
    record = Record(
        turn=int(message.turn),
        role=str(message.role),
        text=without_blocks(message.text or ""),
        time=float(time) if time is not None else seen,
        before=time is None and seen is not None,
        tool=getattr(message, "tool", None) or "",
        args=getattr(message, "args", None) or {},
        call_id=getattr(message, "call_id", None) or "",
        failed=bool(getattr(message, "failed", False)),
    )
    try:
        journal.encoded(record)
    except (ValueError, TypeError, OverflowError, RecursionError):  # half a surrogate pair, a set
        role, tool, call_id = map(plain_text, (record.role, record.tool, record.call_id))
        args = plain(record.args)
        return msgspec.structs.replace(
            record,
            role=role,
            tool=tool,
            call_id=call_id,
            text=plain_text(record.text),
            args=args if isinstance(args, dict) else {"": args},
        )
    return record


def replaced(record: Record, replace: Callable[[str], str]) -> Record:
    """A message with other words; itself where they are the same."""
    text = replace(record.text)
    args = {name: _replaced(value, replace) for name, value in record.args.items()}
    if (text, args) == (record.text, record.args):
        return record
    return msgspec.structs.replace(record, text=text, args=args, was=content(record))


def redacted(path: Path, replace: Callable[[str], str]) -> tuple[int, bytes | None]:
    """A history with other words, and without what was superseded.

    Returns:
        How many messages changed, and the new text; None where nothing did, superseded or not.
    """
    lines = path.read_bytes().splitlines(keepends=True)
    records = (record for line in lines if (record := journal.decoded(line)) is not None)
    if all(replaced(record, replace) is record for record in records):
        return 0, None
    changed, parts = 0, []
    for at, size in journal.living(path):
        record = journal.line_at(path, at, size)
        if record is not None:
            new = replaced(record, replace)
            changed += new is not record
            parts.append(journal.encoded(new))
    return changed, b"".join(parts)


def _replaced(value: Any, replace: Callable[[str], str]) -> Any:
    """An argument of a tool with other words, however deep they stand."""
    if isinstance(value, str):
        return replace(value)
    if isinstance(value, Mapping):
        return {replace(str(name)): _replaced(each, replace) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(each, replace) for each in value]
    return value


def differing(records: Sequence[Record], known: dict[int, str]) -> list[Record]:
    """What to append so that turns are as these records say, the later ones gone."""
    hashes: dict[int, str] = {}
    for record in records:
        hashes[record.turn] = mark(hashes.get(record.turn, ""), record)
    same = {turn for turn, hashed in hashes.items() if known.get(turn) == hashed}
    changed = sorted((hashes.keys() - same) | (known.keys() - hashes.keys()))
    if not changed:
        return []
    rest = [record for record in records if record.turn >= changed[0]]
    superseded = any(turn >= changed[0] for turn in known)
    return [Record(rewind=changed[0]), *rest] if superseded else rest
