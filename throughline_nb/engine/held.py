"""What an engine holds of a chat in memory, beside what stands on the disk."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from throughline_nb.chat import ChatKey, History
from throughline_nb.ledger.sources import Proof
from throughline_nb.store.chats import ChatState


class Chat:
    """A chat in memory: its state, its proofs, what the next header has to say."""

    def __init__(self, key: ChatKey, state: ChatState) -> None:
        self.key = key
        self.state = state
        self.lock = threading.RLock()
        self.pages: dict[str, Proof] | None = None
        self.checked = ""
        self.merged: list[str] = []
        self.notices: list[str] = []
        self.overrides: Mapping[str, Any] = {}
        self.history: History | None = None

    @contextmanager
    def if_idle(self) -> Iterator[bool]:
        """Hold the chat unless a turn or call is under way; gives whether it is held."""
        held = self.lock.acquire(blocking=False)
        try:
            yield held
        finally:
            if held:
                self.lock.release()
