"""Records of the bridge's protocol (``docs/protocol.md``), and how a line becomes one.

JSON-RPC 2.0, one message a line. Decoding is strict: what is missing, of another type or not known
is refused with a sentence that names it. The one thing that is mended is half a surrogate pair,
which JavaScript writes where it cut an emoji, and which would otherwise shut a chat out for good.
"""

import json
from typing import Annotated, Any, Final, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, UnsetType

from throughline_nb.chat import Role

T = TypeVar("T")

PROTOCOL: Final = 1
"""Version of the protocol; another one is refused in ``hello``."""

PARSE, REQUEST, METHOD, PARAMS, DEFECT = -32700, -32600, -32601, -32602, -32603
"""Codes that JSON-RPC 2.0 defines (jsonrpc.org/specification, section 5.1)."""

VERSION, NO_HELLO = -32001, -32002
CANCELLED: Final = -32800
"""The code of a request that was cancelled, as in the Language Server Protocol."""

Ident = int | str
"""Id of a request."""

ChatId = Annotated[str, Meta(pattern=r"\A(?!\.{1,2}\Z)[^/\\\x00-\x1f\x7f]{1,255}\Z")]
"""LM Studio's id of a chat; it is the name of a folder there, so it holds no separator."""

Head = Annotated[str, Meta(max_length=64)]
"""What the plugin calls its history up to a turn: a chained hash, which the engine only compares.
Empty before the first turn."""

Turn = Annotated[int, Meta(ge=0, le=2**53)]


class RpcError(Exception):
    """A request that is answered with an error.

    Args:
        code: As in JSON-RPC.
        message: One sentence for the status line.
        data: More for the plugin, or None.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Fault(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The error of an answer."""

    code: int
    message: str
    data: Any = UNSET


class Envelope(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line: a request, a notification (no id) or an answer."""

    jsonrpc: Literal["2.0"]
    id: int | str | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw = Raw()
    result: Raw = Raw()
    error: Fault | UnsetType = UNSET


class Request(msgspec.Struct, frozen=True):
    """A line that goes out and wants an answer, or a notification if ``id`` is unset."""

    method: str
    params: Any
    id: Ident | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class Answer(msgspec.Struct, frozen=True):
    """An answer that goes out."""

    id: Ident | None
    result: Any = UNSET
    error: Fault | UnsetType = UNSET
    jsonrpc: Literal["2.0"] = "2.0"


class _Params(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    pass


# --- a message of the history ---------------------------------------------------------------------


class TextPart(_Params, frozen=True, tag="text"):
    """Text of a message."""

    text: str


class FilePart(_Params, frozen=True, tag="file"):
    """A file that the user attached."""

    name: str


class RequestPart(_Params, frozen=True, tag="toolCallRequest"):
    """A call of a tool."""

    name: str
    id: str = ""
    arguments: dict[str, Any] | None = None


class ResultPart(_Params, frozen=True, tag="toolCallResult"):
    """What a tool answered; it is of the call with the same id in the same turn."""

    content: str
    id: str = ""


Part = TextPart | FilePart | RequestPart | ResultPart


class WireMessage(_Params, frozen=True):
    """One message as the plugin sends it: the SDK's own shape, reduced to data."""

    turn: Turn
    role: Role
    parts: tuple[Part, ...]


# --- plugin to engine -----------------------------------------------------------------------------


class Hello(_Params, frozen=True):
    """The plugin's first request."""

    protocol: int
    plugin: str
    settings: dict[str, Any] = {}


class GivenHistory(_Params, frozen=True):
    """What the plugin says of a chat's history with a message.

    Attributes:
        turn: The last complete turn, N.
        head: The plugin's hash after it.
        changed: The first turn that differs from the history behind ``base``; N + 1 for none.
        base: The hash of the last turn that the engine said it holds.
        messages: Those of turns ``changed`` to N, or None for "ask for them".
    """

    turn: Turn
    head: Head
    changed: Annotated[int, Meta(ge=1, le=2**53)]
    base: Head
    messages: tuple[WireMessage, ...] | None


class TurnParams(_Params, frozen=True):
    """A user's message that is to be preprocessed."""

    chat: ChatId | None
    text: str
    history: GivenHistory
    settings: dict[str, Any] = {}


class ToolsParams(_Params, frozen=True):
    """Which tools is the model offered?"""

    chat: ChatId | None
    settings: dict[str, Any] = {}


class CallParams(_Params, frozen=True):
    """The model calls a tool; its arguments are checked by the tool, for the model to read."""

    chat: ChatId
    tool: str
    arguments: Any = None
    settings: dict[str, Any] = {}


class Nothing(_Params, frozen=True):
    """No parameters."""


class Cancel(_Params, frozen=True):
    """The plugin no longer waits for a request."""

    id: Ident


# --- engine to plugin -----------------------------------------------------------------------------


class Held(msgspec.Struct, frozen=True):
    """Up to which turn the engine took a chat in, and the plugin's hash of it there."""

    turn: int
    head: str


class Welcome(msgspec.Struct, frozen=True):
    """The answer to :class:`Hello`."""

    engine: str
    notices: list[str] = []
    protocol: int = PROTOCOL


class TurnResult(msgspec.Struct, frozen=True):
    """The answer to :class:`TurnParams`."""

    text: str
    status: str = ""
    name: str = ""
    held: Held | None = None


class ToolDefinition(msgspec.Struct, frozen=True):
    """A tool as LM Studio shows it to the model."""

    name: str
    description: str
    parameters: dict[str, Any]


class ToolsResult(msgspec.Struct, frozen=True):
    """The answer to :class:`ToolsParams`."""

    tools: list[ToolDefinition]


class CallResult(msgspec.Struct, frozen=True):
    """The answer to :class:`CallParams`."""

    text: str


class AskHistory(msgspec.Struct, frozen=True):
    """Engine to plugin: the messages from a turn on, without the first ``skip`` of them."""

    request: Ident
    first: int
    skip: int


class Page(_Params, frozen=True):
    """The plugin's answer: some messages, and the last turn that they complete.

    Attributes:
        messages: At least one where ``more`` is set.
        more: Whether others follow.
        turn: The last turn that is complete with this page; ``first - 1`` for none.
        head: The plugin's hash after that turn.
    """

    messages: tuple[WireMessage, ...]
    more: bool
    turn: Turn
    head: Head


class Progress(msgspec.Struct, frozen=True):
    """Engine to plugin: a request takes its time; ``unlimited`` lifts the plugin's time-out."""

    request: Ident
    text: str = ""
    unlimited: bool = False


# --- decoding -------------------------------------------------------------------------------------


class _OnlyId(msgspec.Struct):
    id: int | str | None = None


_ENVELOPE: Final = msgspec.json.Decoder(Envelope)
_ONLY_ID: Final = msgspec.json.Decoder(_OnlyId)
encode: Final = msgspec.json.Encoder().encode


def envelope(line: bytes | None) -> Envelope:
    """Decode a line; parameters and results stay as they are.

    Args:
        line: The line; None for one that was too long.

    Raises:
        RpcError: It is no JSON, or no message; ``data`` is its id if that could be read.
    """
    if line is None:
        raise RpcError(REQUEST, "a line was too long and left out")
    try:
        try:
            return _ENVELOPE.decode(line)
        except msgspec.ValidationError:
            raise
        except ValueError:
            return _ENVELOPE.decode(_mended(line))
    except msgspec.ValidationError as error:
        said = f"this is no message of the bridge: {_short(error)}"
        raise RpcError(REQUEST, said, _id(line)) from error
    except (ValueError, RecursionError) as error:
        raise RpcError(PARSE, f"a line was no JSON: {_short(error)}") from error


def decoded(raw: Raw | bytes, wanted: type[T], what: str) -> T:
    """Decode parameters or a result.

    Args:
        raw: As JSON; empty stands for ``{}``.
        wanted: Type of the record.
        what: What it belongs to, for the error.

    Raises:
        RpcError: It does not fit.
    """
    data = bytes(raw) or b"{}"
    try:
        try:
            return msgspec.json.decode(data, type=wanted)
        except msgspec.ValidationError:
            raise
        except ValueError:
            return msgspec.json.decode(_mended(data), type=wanted)
    except (ValueError, RecursionError) as error:
        raise RpcError(PARAMS, f"{what} was not understood: {_short(error)}") from error


def _mended(data: bytes) -> bytes:
    """JSON with a question mark for each half of a surrogate pair, which Python's reader takes.

    Raises:
        ValueError: It is no JSON either way.
    """
    value = json.loads(data.decode())
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode(errors="replace")


def _id(line: bytes) -> Ident | None:
    try:
        return _ONLY_ID.decode(line).id
    except (ValueError, RecursionError):
        return None


def _short(error: BaseException) -> str:
    said = (str(error) or type(error).__name__)[:200]
    return "".join(sign if sign.isprintable() else " " for sign in said)
