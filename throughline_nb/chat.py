"""What a host hands in of a chat: keys, messages and the part of the history that is new.

History belongs to the host. The engine sees it as a stream of whole turns: a host says from
which turn on its messages differ from what it handed in before, and hands those over. A turn
that was edited or regenerated is thus simply handed in again, and replaces what stood there.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

import msgspec

Role = Literal["user", "assistant", "tool", "system"]

_DEPTH = 32
"""Levels of a tool's arguments; what lies deeper becomes text."""


class ChatKey(msgspec.Struct, frozen=True, order=True):
    """Which chat: the host's name and the host's own id of the conversation."""

    host: str
    id: str

    def __str__(self) -> str:
        return f"{self.host}/{self.id}"

    @classmethod
    def parse(cls, text: str) -> "ChatKey":
        """Read ``<host>/<id>``; the id may itself contain slashes."""
        host, _, ident = text.partition("/")
        return cls(host, ident)


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message of a turn.

    A tool call is a message of role ``assistant`` with ``tool`` and ``args``; its result is a
    message of role ``tool`` with the same ``tool`` and ``call_id``. ``time`` is when it was seen,
    in seconds since the epoch, or None. ``files`` are the names of files attached by the user.
    """

    turn: int
    role: Role
    text: str = ""
    time: float | None = None
    tool: str = ""
    args: Mapping[str, Any] = {}
    call_id: str = ""
    failed: bool = False
    files: tuple[str, ...] = ()


class History(msgspec.Struct, frozen=True):
    """What a host hands in before the current message.

    Attributes:
        turn: Number of the last complete turn of the chat; 0 for a new chat. The message at hand
            belongs to turn ``turn + 1``.
        changed: First turn whose messages differ from those handed in before; ``turn + 1`` when
            none does. After a restart of the host, 1.
        messages: ``messages(first)`` gives the messages of turns ``first`` to ``turn``, in order.
            It may be made while it is read, also after the turn; where it cannot be, it raises.
            The engine asks with ``changed`` or less, and mostly once.
    """

    turn: int
    changed: int
    messages: Callable[[int], Iterable[Message]]


def fingerprint(before: str, messages: Sequence[Message]) -> str:
    """Hash of a turn's messages chained to the hash of all turns before it (16 hex digits).

    A host that holds no memory of what it handed in compares these, to find ``History.changed``.
    """
    import hashlib  # noqa: PLC0415 - 3 ms, which `--help` need not wait for

    digest = hashlib.sha256(before.encode())
    for message in messages:
        said = (message.role, message.text, message.tool, message.args)
        digest.update(msgspec.json.encode((*said, message.failed, message.files)))
    return digest.hexdigest()[:16]


def storable(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages, with what JSON cannot hold in their place: one such must not end a chat.

    Half a surrogate pair (an emoji that was cut, a file name that is no UTF-8), a number beyond 64
    bits, or an object that is no JSON becomes text.
    """
    return tuple(message if _is_storable(message) else _as_json(message) for message in messages)


def _is_storable(message: Message) -> bool:
    text = message.text
    if type(text) is not str or not isinstance(message.args, Mapping):
        return False
    if text.isascii() and not message.tool and not message.files:
        return True
    try:
        msgspec.json.encode(message)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return False
    return True


def _as_json(message: Message) -> Message:
    args = plain(message.args)
    return Message(
        turn=message.turn,
        role=message.role,
        text=plain_text(message.text),
        time=message.time,
        tool=plain_text(message.tool),
        args=args if isinstance(args, dict) else {"": args},
        call_id=plain_text(message.call_id),
        failed=bool(message.failed),
        files=tuple(map(plain_text, message.files)),
    )


def plain(value: object, depth: int = 0) -> object:
    """A value as JSON can hold it: what it cannot becomes text."""
    if isinstance(value, Mapping) and depth < _DEPTH:
        return {plain_text(key): plain(each, depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple) and depth < _DEPTH:
        return [plain(each, depth + 1) for each in value]
    if value is None or isinstance(value, bool | float):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    return plain_text(value)


def plain_text(value: object) -> str:
    """A value as text that is UTF-8."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    try:
        text = value if isinstance(value, str) else str(value)
    except (ValueError, RecursionError):  # a number of too many digits, a tree that is too deep
        text = type(value).__name__
    return text.encode("utf-8", "replace").decode("utf-8")
