"""What proves a finding: the turn in which its source was read, and the passage that says it.

The passage is cut from the history that came with the turn, else from recall; where neither has
it, only the turn is known.
"""

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec

from throughline_nb.chat import ChatKey, Message
from throughline_nb.engine.quotes import Passages, best_passage
from throughline_nb.engine.registry import TOOLS
from throughline_nb.engine.run import Run
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger import Entry
from throughline_nb.ledger.fence import without_blocks
from throughline_nb.ledger.proofs import proofs_of, unwrapped
from throughline_nb.ledger.sources import Proof, Source, index, parse

if TYPE_CHECKING:
    from throughline_nb.chat import History

QUOTED: Final = 200
"""Findings that get a quote, the newest; the file stays one that can be read."""

_ORIGIN = re.compile(r"turn ([0-9]{1,9}) of (.+)")


class Evidence(msgspec.Struct, frozen=True):
    """What is known of one finding's proof.

    Attributes:
        chat: The chat that read the source, ``<host>/<id>``; empty where none is known to have.
        turn: The turn in which it did, or 0.
        quote: The passage, or empty.
        time: When it was said, in seconds since the epoch, or None.
    """

    chat: str = ""
    turn: int = 0
    quote: str = ""
    time: float | None = None


def evidence_for(run: Run, findings: Sequence[Entry], *, live: bool = True) -> dict[str, Evidence]:
    """The evidence of findings, by their ids.

    Args:
        run: Where it is asked for.
        findings: The findings.
        live: Whether passages may be cut from the history that came with the turn.
    """
    chats = dict.fromkeys([*([run.key] if run.key else []), *_bound(run)])
    proofs = {key: index(run.engine.chats.proofs(key, lambda _: True)) for key in chats}
    turns = _Turns(run, live=live)
    quoted = {entry.id for entry in findings[-QUOTED:]}
    evidence: dict[str, Evidence] = {}
    for done, e in enumerate(findings):
        run.engine.watch("Looking for quotes", done, len(findings))
        evidence[e.id] = _cell(run, chats, e) or _evidence(e, proofs, turns, quote=e.id in quoted)
    run.engine.watch("Looking for quotes", len(findings), len(findings))
    return evidence


class _Turns:
    """The texts of turns, each asked for once."""

    def __init__(self, run: Run, *, live: bool) -> None:
        self._run = run
        self._without = run.engine.recalls.purged.without
        self.page_tools = run.engine.settings(run.key).page_tools
        self._kept: dict[tuple[ChatKey, int], Sequence[Any]] = {}
        self._live: dict[int, list[Any]] | None = None if live else {}
        self._pages: dict[tuple[ChatKey, int], list[tuple[frozenset[str], str]]] = {}
        self._passages: dict[tuple[ChatKey, int, str, tuple[str, ...]], Passages] = {}

    def messages(self, key: ChatKey, turn: int) -> Sequence[Any]:
        """The messages of a turn, as far as they are at hand."""
        if (key, turn) not in self._kept:
            self._kept[key, turn] = self._history().get(turn) or () if key == self._run.key else ()
            if not self._kept[key, turn]:
                self._kept[key, turn] = self._recalled(key, turn)
        return self._kept[key, turn]

    def best(self, key: ChatKey, turn: int, entry: Entry) -> str:
        """The passage of a turn that says a finding; what many rest on is taken apart once."""
        source = parse(entry.source)
        kept = (key, turn, source.kind, source.keys)
        if kept not in self._passages:
            texts = map(self._without, self._texts(key, turn, source))
            self._passages[kept] = Passages(texts)
        return self._passages[kept].best(entry.text)

    def _texts(self, key: ChatKey, turn: int, source: Source) -> list[str]:
        """What a source of that kind can have said: a page's result, the user, or the whole turn.

        What our own tools answered proves nothing: they repeat the claim.
        """
        if source.kind in {"url", "file"}:
            read = self._read(key, turn)
            return [text for keys, text in read if not keys.isdisjoint(source.keys)]
        roles = ("user",) if source.kind == "user" else ("user", "assistant", "tool")
        messages = self.messages(key, turn)
        said = [m for m in messages if m.role in roles and m.tool not in TOOLS]
        return [without_blocks(message.text) for message in said]

    def _read(self, key: ChatKey, turn: int) -> list[tuple[frozenset[str], str]]:
        """What each call of a turn read: the keys of the sources, and the text."""
        if (key, turn) not in self._pages:
            messages = self.messages(key, turn)
            self._pages[key, turn] = [
                (
                    frozenset(
                        proof.key for proof in proofs_of(_pair(call, result), self.page_tools)
                    ),
                    shown if isinstance(shown := unwrapped(result.text), str) else result.text,
                )
                for call in messages
                if call.role == "assistant" and call.tool and call.tool not in TOOLS
                for result in messages
                if result.role == "tool" and result.call_id == call.call_id
            ]
        return self._pages[key, turn]

    def _history(self) -> dict[int, list[Any]]:
        if self._live is None:
            self._live = {}
            history: History | None = (
                self._run.engine.chat(self._run.key).history if self._run.key else None
            )
            for message in history.messages(1) if history is not None else ():
                self._live.setdefault(message.turn, []).append(message)
        return self._live

    def _recalled(self, key: ChatKey, turn: int) -> Sequence[Any]:
        from throughline_nb.store.recall import Recall  # noqa: PLC0415 - only where it is needed

        try:
            return Recall(self._run.engine.chats.folder(key)).turn(turn)
        except ThroughLineError:  # not built, or damaged: the turn is known all the same
            return ()


def _bound(run: Run) -> list[ChatKey]:
    return run.engine.chats.bound(run.project.slug)


def _cell(run: Run, chats: Iterable[ChatKey], entry: Entry) -> Evidence | None:
    """What a notebook's cell gave in the run by which a finding was verified."""
    for key in chats if entry.source.startswith("cell ") else ():
        kept = run.engine.cells.of(key, entry)
        origin = _ORIGIN.fullmatch(entry.origin)
        if kept is not None and kept.source == entry.source and origin is not None:
            return Evidence(
                str(key),
                int(origin[1]),
                best_passage([run.engine.recalls.purged.without(kept.ran.text)], entry.text),
            )
    return None


def _evidence(
    entry: Entry, proofs: dict[ChatKey, dict[str, Proof]], turns: _Turns, *, quote: bool
) -> Evidence:
    key, turn = _place(entry, proofs)
    if key is None or not turn:
        return Evidence()
    if not quote:
        return Evidence(str(key), turn)
    time = None
    messages = turns.messages(key, turn)
    best = turns.best(key, turn, entry)
    if best:
        time = next((m.time for m in messages if m.time is not None), None)
    return Evidence(str(key), turn, best, time)


def _pair(call: Any, result: Any) -> list[Message]:
    return [
        Message(
            turn=m.turn, role=m.role, text=m.text, tool=m.tool, args=m.args, call_id=m.call_id,
            failed=m.failed,
        )
        for m in (call, result)
    ]  # fmt: skip


def _place(entry: Entry, proofs: dict[ChatKey, dict[str, Proof]]) -> tuple[ChatKey | None, int]:
    """The chat and turn in which the source stood; the chat that recorded it is asked first."""
    origin = _ORIGIN.fullmatch(entry.origin)
    own = ChatKey.parse(origin[2]) if origin else None
    source = parse(entry.source)
    if source.kind == "user" and own is not None and origin is not None:
        return own, int(origin[1])
    first = [own] if own in proofs else []
    for key in [*first, *(key for key in proofs if key != own)]:
        for name in source.keys if key is not None else ():
            proof = proofs[key].get(name) if key is not None else None
            if proof is not None and (proof.kind != "turn" or key == own):
                return key, proof.turn
    return None, 0
