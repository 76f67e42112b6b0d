"""What a turn takes in of a chat's history: counts, the place of our digest, and proofs.

Each turn brings only what is new. Of pages and files that were read, an index is held in memory;
what stands in a turn's own text is looked up on disk when a finding cites that turn.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import History, Message, fingerprint, storable
from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.delta import changes, sentence
from throughline_nb.ledger.fence import has_digest, tokens, without_blocks
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.proofs import proofs_of
from throughline_nb.ledger.sources import Proof, check, index, parse
from throughline_nb.store.chats import RECENT, ChatState, TurnCount
from throughline_nb.store.project import Project
from throughline_nb.store.records import Stamp

if TYPE_CHECKING:
    from throughline_nb.engine.held import Chat
    from throughline_nb.engine.session import Engine

COMMAND = re.compile(r"\s*/tl(?:\s+(\S.*)?)?", re.DOTALL | re.IGNORECASE)
"""A message that is a command of ours, and what follows ``/tl``."""

OPEN_STATES = ("unverified", "not read")
"""States of a finding whose source is still to be checked."""

SLICE = 256
"""Turns whose proofs are written together when a long history comes in at once."""


PROVED_AT_ONCE = 2_000_000
"""Characters whose proofs are taken in one turn, which takes it half a second; more wait for the
next turns. Until all are taken, no finding is said to be not read."""


def reconcile(engine: "Engine", chat: "Chat", history: History) -> None:
    """Take in what is new of the history; a turn that changed supersedes what was kept of it.

    Of a history that is long and all new to the engine, proofs are taken a part a turn.
    """
    state = chat.state
    known = state.turn
    first = state.rewind(state.turn + 1 if _as_before(state, history) else history.changed)
    prove = min(first, state.proved + 1) if state.project else first
    found: dict[int, tuple[Proof, ...]] = {}
    if state.project and state.turn < known:
        found[state.turn + 1] = ()
        chat.pages = None
    try:
        if prove <= history.turn:
            page_tools = engine.settings(chat.key).page_tools
            for turn, messages, proving in _turns(history, prove, first):
                if turn >= first:
                    _count(state, turn, messages)
                if state.project and proving and turn > state.proved:
                    found[turn] = tuple(proofs_of(messages, page_tools))
                    state.proved = turn
                    if len(found) >= SLICE:
                        _keep(engine, chat, found)
            state.turn = max(state.turn, history.turn)
        _keep(engine, chat, found)
    except BaseException:  # what was not written down is proved again
        state.proved = min(state.proved, *(turn - 1 for turn in found), state.turn)
        raise


def _turns(
    history: History, prove: int, first: int
) -> Iterator[tuple[int, tuple[Message, ...], bool]]:
    """Turns from ``prove`` on, and whether there is room to prove them; all from ``first`` on."""
    room = PROVED_AT_ONCE
    for turn, group in groupby(history.messages(prove), key=lambda message: message.turn):
        if room <= 0 and turn < first:
            break
        messages = storable(tuple(group))
        yield turn, messages, room > 0
        room -= sum(len(message.text) for message in messages)
    else:
        return
    for turn, group in groupby(history.messages(first), key=lambda message: message.turn):
        yield turn, storable(tuple(group)), False


def _as_before(state: ChatState, history: History) -> bool:
    """Whether a history that is handed in whole, after a restart, is the one that was taken in."""
    if history.changed > 1 or not 0 < state.turn <= history.turn or not state.recent:
        return False
    mark = ""
    for turn, group in groupby(history.messages(1), key=lambda message: message.turn):
        if turn > state.turn:
            break
        mark = fingerprint(mark, storable(tuple(group)))
    return mark == state.recent[-1].mark


def _keep(engine: "Engine", chat: "Chat", found: dict[int, tuple[Proof, ...]]) -> None:
    """Write proofs down in the order of their turns, and add what was read to the index."""
    if not found:
        return
    engine.chats.add_proofs(chat.key, dict(sorted(found.items())))
    pages = [proof for proofs in found.values() for proof in proofs if _is_page(proof)]
    if pages:
        chat.checked = ""
        if chat.pages is not None:
            chat.pages = index([*chat.pages.values(), *pages])
    found.clear()


def _is_page(proof: Proof) -> bool:
    return proof.kind != "turn"


def _count(state: ChatState, turn: int, messages: tuple[Message, ...]) -> None:
    total = state.tokens
    before = state.recent[-1].mark if state.recent else ""
    calls = 0
    command = False
    for message in messages:
        if message.role == "user":
            command = is_command(message)
            if has_digest(message.text):
                state.digest, state.digest_turn = total, turn
        calls += message.role == "assistant" and bool(message.tool)
        total += tokens(message.text)
    count = TurnCount(
        turn=turn,
        calls=calls,
        tokens=total,
        mark=fingerprint(before, messages),
        command=command,
        recorded=state.changed == turn,
    )
    state.recent = [*state.recent[-RECENT + 1 :], count]
    state.turn = turn


def is_command(message: Message) -> bool:
    """Whether a stored user message is a command of ours, or nothing but what we made of one."""
    said = without_blocks(message.text)
    return COMMAND.fullmatch(said) is not None or (said != message.text and not said.strip())


def verify(engine: "Engine", chat: "Chat", project: Project, turn: int) -> None:
    """Check the sources of findings against what this chat has read; one commit of the engine.

    Nothing is done while neither the ledger changed nor a page or file was read.
    """
    snapshot = project.read()
    if chat.checked == snapshot.commit:
        return
    waiting = [entry for entry in snapshot.ledger.findings if _is_open(entry)]
    behind = chat.state.proved < chat.state.turn
    if waiting:
        proofs = _proofs_for(engine, chat, waiting)
        mine, turns = f" of {one_line(str(chat.key))}", 0 if behind else chat.state.turn

        def checked(entry: Entry) -> Entry:
            return check(entry, proofs, own_chat=entry.origin.endswith(mine), turns=turns)

        def edit(ledger: Ledger) -> tuple[Ledger, str]:
            findings = tuple(
                checked(entry) if _is_open(entry) else entry for entry in ledger.findings
            )
            after = msgspec.structs.replace(ledger, findings=findings)
            return after, sentence(changes(ledger, after))

        if any(checked(entry) != entry for entry in waiting):
            stamp = Stamp(actor="engine", now=engine.clock(), chat=chat.key, turn=turn)
            snapshot = project.change(edit, stamp)
    chat.checked = "" if behind else snapshot.commit


def _is_open(entry: Entry) -> bool:
    """Whether there is something to find out: its source, or figures that stood nowhere yet."""
    return entry.state in OPEN_STATES or (entry.state == "verified" and bool(entry.missing))


def _proofs_for(engine: "Engine", chat: "Chat", waiting: list[Entry]) -> dict[str, Proof]:
    """The index of what was read, with the turns that findings cite."""
    if chat.pages is None:
        chat.pages = index(engine.chats.proofs(chat.key, _is_page))
    sources = (parse(entry.source) for entry in waiting)
    cited = {key for source in sources if source.kind == "turn" for key in source.keys}
    if not cited:
        return chat.pages
    return chat.pages | index(engine.chats.proofs(chat.key, lambda proof: proof.key in cited))
