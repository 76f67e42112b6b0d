"""What an engine holds of a chat in memory, beside what stands on the disk."""

import threading
from collections.abc import Mapping
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
