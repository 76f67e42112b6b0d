"""From the SDK's messages to the engine's: one message a text, a call or a result.

A wire message holds parts: texts, files, calls of tools and their results. The engine's
:class:`~throughline_nb.chat.Message` is one of these. Results carry only the id of their call, and
ids are unique only within a turn, so the names are paired here.
"""

from collections.abc import Iterable, Iterator

from throughline_nb.chat import Message
from throughline_nb.hosts.bridge.messages import (
    FilePart,
    RequestPart,
    ResultPart,
    TextPart,
    WireMessage,
)
from throughline_nb.hosts.lmstudio.format import unwrap


class Translator:
    """Reads a history in its order; remembers the calls of the turn at hand."""

    def __init__(self) -> None:
        self._turn = 0
        self._names: dict[str, str] = {}

    def messages(self, wire: Iterable[WireMessage]) -> Iterator[Message]:
        """The messages of the engine."""
        for message in wire:
            if message.turn != self._turn:
                self._turn = message.turn
                self._names.clear()
            yield from self._parts(message)

    def _parts(self, message: WireMessage) -> Iterator[Message]:
        parts = message.parts
        if len(parts) == 1 and type(parts[0]) is TextPart:
            yield Message(turn=message.turn, role=message.role, text=parts[0].text)
            return
        texts: list[str] = []
        files: list[str] = []
        for part in parts:
            if isinstance(part, TextPart):
                texts.append(part.text)
            elif isinstance(part, FilePart):
                files.append(part.name)
            else:
                yield from self._said(message, texts, files)
                texts, files = [], []
                yield self._tool(message, part)
        # A user's message counts even where it is empty: it begins its turn.
        yield from self._said(message, texts, files, begins=message.role == "user")

    @staticmethod
    def _said(
        message: WireMessage, texts: list[str], files: list[str], *, begins: bool = False
    ) -> Iterator[Message]:
        text = ("\n" if message.role == "user" else "").join(texts)
        if text.strip() or files or begins:
            yield Message(
                turn=message.turn,
                role=message.role,
                text=text,
                files=tuple(dict.fromkeys(files)),
            )

    def _tool(self, message: WireMessage, part: RequestPart | ResultPart) -> Message:
        call = f"{message.turn}:{part.id}"
        if isinstance(part, RequestPart):
            self._names[part.id] = part.name
            return Message(
                turn=message.turn,
                role="assistant",
                tool=part.name,
                args=part.arguments or {},
                call_id=call,
            )
        return Message(
            turn=message.turn,
            role="tool",
            text=unwrap(part.content),
            tool=self._names.get(part.id, ""),
            call_id=call,
        )
