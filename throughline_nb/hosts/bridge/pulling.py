"""The history of one turn: what came with the message, and what is asked for page by page.

The engine asks for the messages from a turn on, mostly those that came along. What it needs beyond
is pulled from the plugin, one page ahead of what is read. What was pulled is kept, compressed,
while someone may read it once more: recall copies a long history after the turn was answered, when
the plugin no longer has it. When the last reader is done, it is gone; no chat's text stays here.
"""

import inspect
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Final

from throughline_nb.chat import History, Message
from throughline_nb.errors import ThroughLineError
from throughline_nb.hosts.bridge.messages import (
    AskHistory,
    GivenHistory,
    Held,
    Ident,
    Page,
    Progress,
    RpcError,
    decoded,
)
from throughline_nb.hosts.bridge.rpc import Asked, Peer
from throughline_nb.hosts.bridge.translate import Translator

PATIENCE: Final = 0.5
"""Seconds after which a history that is still being read is told to the user."""


class HistoryError(ThroughLineError):
    """The plugin did not hand over the messages that it has."""


class Pulled:
    """The messages from one turn on.

    Args:
        fetch: Asks for the messages behind the first so many.
        first: The turn.
    """

    def __init__(self, fetch: Callable[[int, int], Asked], first: int) -> None:
        self.first = first
        self.ends: list[Held] = []
        self._fetch = fetch
        self._pages: list[bytes] = []
        self._count = 0
        self._asked: Asked | None = None
        self._complete = False
        self._failed: HistoryError | None = None
        self._lock = threading.Lock()
        self._readers: weakref.WeakSet[Generator[Message, None, None]] = weakref.WeakSet()

    def messages(self, first: int) -> Iterator[Message]:
        """The messages of turns ``first`` on, which is :attr:`first` or later."""
        reader = self._read(first)
        self._readers.add(reader)
        return reader

    def finish(self) -> None:
        """Fetch the rest, if someone reads or will read it."""
        while not self._complete and any(
            inspect.getgeneratorstate(each) != inspect.GEN_CLOSED for each in self._readers
        ):
            self._page(len(self._pages))

    def _read(self, first: int) -> Generator[Message, None, None]:
        translator = Translator()
        with self._lock:  # a page may end within the turn behind its last whole one
            at = sum(end.turn + 1 < first for end in self.ends)
        while (page := self._page(at)) is not None:
            for message in translator.messages(page.messages):
                if message.turn >= first:
                    yield message
            at += 1

    def _page(self, at: int) -> Page | None:
        with self._lock:
            if at < len(self._pages):
                return decoded(zlib.decompress(self._pages[at]), Page, "a page of the history")
            if self._complete:
                return None
            return self._next()

    def _next(self) -> Page:
        if self._failed is not None:
            raise self._failed
        try:
            asked = self._asked or self._fetch(self.first, self._count)
            self._asked = None
            raw = asked.wait()
            page = decoded(raw, Page, "a page of the history")
        except RpcError as error:
            self._failed = HistoryError(
                f"the chat's earlier messages could not be read ({error.message}); they are "
                "taken in with the next message."
            )
            raise self._failed from error
        self._count += len(page.messages)
        self._complete = not (page.more and page.messages)
        if not self._complete:
            self._asked = self._fetch(self.first, self._count)
        self._pages.append(zlib.compress(raw, 1))
        self.ends.append(Held(page.turn, page.head))
        return page


class TurnHistory:
    """What the engine is handed with one message.

    Args:
        given: What the plugin says of the history.
        held: What the engine holds of the chat, or None.
        peer: The plugin.
        request: Id of its request.
    """

    def __init__(self, given: GivenHistory, held: Held | None, peer: Peer, request: Ident) -> None:
        self._given = given
        self._peer = peer
        self._request = request
        self._pulled: list[Pulled] = []
        self._since = time.monotonic()
        self._told = self._since
        agreed = held is not None and held.head == given.base and given.changed <= held.turn + 1
        self._here = _whole(given) and (agreed or given.changed == 1)
        self._changed = given.changed if agreed else 1

    @property
    def history(self) -> History:
        """For the engine."""
        return History(self._given.turn, self._changed, self._messages)

    def finish(self) -> None:
        """Fetch what is still to be read after the answer.

        Raises:
            HistoryError: The plugin does not hand it over.
        """
        for pulled in self._pulled:
            pulled.finish()

    def held(self, turn: int) -> Held | None:
        """What the engine holds now, when it took in so many turns."""
        given = self._given
        if turn == given.turn:
            return Held(turn, given.head)
        ends = [end for pulled in self._pulled for end in pulled.ends if 0 < end.turn <= turn]
        return max(ends, key=lambda end: end.turn, default=None)

    def _messages(self, first: int) -> Iterable[Message]:
        given = self._given.messages
        if given is not None and self._here and first >= self._changed:
            return (message for message in Translator().messages(given) if message.turn >= first)
        for pulled in self._pulled:
            if pulled.first <= first:
                return pulled.messages(first)
        pulled = Pulled(self._fetch, first)
        self._pulled.append(pulled)
        return pulled.messages(first)

    def _fetch(self, first: int, skip: int) -> Asked:
        now = time.monotonic()
        if now - self._since > PATIENCE and now - self._told > PATIENCE:
            self._told = now
            reached = max((end.turn for pulled in self._pulled for end in pulled.ends), default=0)
            text = f"throughLine: reading this chat, turn {reached} of {self._given.turn}"
            self._peer.notify("progress", Progress(self._request, text))
        return self._peer.ask("history", AskHistory(self._request, first, skip))


def _whole(given: GivenHistory) -> bool:
    """Whether all messages from ``changed`` on came along."""
    if not given.messages:
        return given.messages is not None and given.changed == given.turn + 1
    return given.messages[-1].turn == given.turn
