"""Messages as the history keeps them: taken from a host, compared, and with words taken out."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from throughline_nb.ledger.fence import without_blocks
from throughline_nb.store.recall.indexing import content, mark
from throughline_nb.store.recall.journal import Record


def record_of(message: Any, seen: float | None = None) -> Record:
    """A message as the history keeps it."""
    time = getattr(message, "time", None)
    args: Mapping[str, Any] = getattr(message, "args", None) or {}
    return Record(
        turn=int(message.turn),
        role=str(message.role),
        text=without_blocks(message.text or ""),
        time=float(time) if time is not None else seen,
        before=time is None and seen is not None,
        tool=getattr(message, "tool", None) or "",
        args=args,
        call_id=getattr(message, "call_id", None) or "",
        failed=bool(getattr(message, "failed", False)),
    )


def replaced(record: Record, replace: Callable[[str], str]) -> Record:
    """A message with other words; itself where they are the same."""
    args = msgspec.json.encode(record.args).decode()
    text, given = replace(record.text), replace(args) if record.args else args
    if (text, given) == (record.text, args):
        return record
    try:
        kept = msgspec.json.decode(given, type=dict[str, Any])
    except msgspec.MsgspecError:
        kept = {}
    return msgspec.structs.replace(record, text=text, args=kept, was=content(record))


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
