"""What one message slot of an LM Studio conversation file holds, read tolerantly.

The format is undocumented and changes with the app. So every level is decoded by itself: what does
not look as expected is left out and counted, and its neighbours are read all the same. The records
here mirror the file (names in camel case there) and let every leaf be anything; nothing outside
this module and :mod:`throughline_nb.hosts.lmstudio.files` sees them.

Known forms: a slot ``{versions, currentlySelected}``; a version ``singleStep`` (user, system, old
assistants) with ``content`` and, as plugins stored it, ``preprocessed`` (one build: ``processed``);
a version ``multiStep`` (assistant) with ``steps``: ``contentBlock`` with parts ``text``,
``toolCallRequest``, ``toolCallResult``; ``toolStatus``; and steps that are only for display.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import Raw

from throughline_nb.chat import Message, Role

DISPLAY_STEPS: Final = ("debugInfoBlock", "status", "citationBlock", "artifactDownload")
"""Steps without anything that was said or done; skipped without being counted."""

FAILED: Final = ("toolCallFailed", "toolCallDenied")
"""Types of ``statusState.status`` of a call that did not succeed."""

NAME_CHARACTERS: Final = 60
"""Where the name of what was skipped is cut."""

_QUOTED_AT_MOST: Final = 3
"""How often a tool's result may be wrapped in JSON; two layers were seen."""


class Slot(msgspec.Struct, rename="camel"):
    """A place in the chat: the versions that regenerating or editing left there."""

    versions: list[Raw] = []
    currently_selected: Any = None


class Version(msgspec.Struct, rename="camel"):
    """One version of a message."""

    role: Any = None
    content: Any = None
    preprocessed: Any = None
    processed: Any = None
    steps: list[Raw] | None = None


class Step(msgspec.Struct, rename="camel"):
    """One step of an answer."""

    type: Any = None
    content: Any = None
    style: Any = None
    should_include_in_context: Any = None
    call_id: Any = None
    status_state: Any = None


class Part(msgspec.Struct, rename="camel"):
    """One part of a message's or a step's content."""

    type: Any = None
    text: Any = None
    is_structural: Any = None
    name: Any = None
    call_id: Any = None
    tool_call_id: Any = None
    tool_call_request_id: Any = None
    tool_call_request: Any = None
    parameters: Any = None
    arguments: Any = None
    content: Any = None
    file_identifier: Any = None
    identifier: Any = None

    @property
    def ident(self) -> str:
        """The id that joins a call and its result; unique only within one answer."""
        for ident in (self.call_id, self.tool_call_id, self.tool_call_request_id):
            if ident is not None:
                return str(ident)
        return ""


_SLOT: Final = msgspec.json.Decoder(Slot)
_VERSION: Final = msgspec.json.Decoder(Version)
_STEP: Final = msgspec.json.Decoder(Step)


def slot(raw: Raw, skipped: Counter[str]) -> tuple[list[Version], int]:
    """The readable versions of a slot, and the index of the one that is shown.

    An index that is missing or out of range means the last version.
    """
    try:
        found = _SLOT.decode(raw)
    except msgspec.ValidationError:
        skipped["message"] += 1
        return [], -1
    shown = found.currently_selected
    if type(shown) is not int or not 0 <= shown < len(found.versions):
        shown = len(found.versions) - 1
    versions: list[Version] = []
    selected = -1
    for index, text in enumerate(found.versions):
        try:
            version = _VERSION.decode(text)
        except msgspec.ValidationError:
            skipped["version"] += 1
            continue
        if index <= shown:
            selected = len(versions)
        versions.append(version)
    return versions, max(selected, 0)


def text_and_files(content: Any, skipped: Counter[str]) -> tuple[str, tuple[str, ...]]:
    """What a user's content says, and the names of the files attached to it."""
    texts: list[str] = []
    files: list[str] = []
    for part in _parts(content, skipped):
        if part.type == "text" and isinstance(part.text, str):
            texts.append(part.text)
        elif part.type == "file":
            name = part.name or part.file_identifier or part.identifier
            if isinstance(name, str):
                files.append(name)
        else:
            skipped[f"part {part.type}"[:NAME_CHARACTERS]] += 1
    return "\n".join(texts), tuple(dict.fromkeys(files))


def stored(version: Version) -> Any:
    """The content that plugins stored in place of what was typed, or None."""
    for value in (version.preprocessed, version.processed):
        content = value.get("content") if isinstance(value, Mapping) else value
        if isinstance(content, list) and content:
            nested = [item.get("content") for item in content if isinstance(item, Mapping)]
            lists = [item for item in nested if isinstance(item, list)]
            if lists and len(lists) == len(content):  # messages, each with a content of its own
                return [part for parts in lists for part in parts]
            return content
        if isinstance(content, str) and content:
            return content
    return None


def answer(version: Version, turn: int, where: str, skipped: Counter[str]) -> tuple[Message, ...]:
    """An answer as messages: texts, calls and results in their order.

    Args:
        version: The version of the answer.
        turn: Number of the turn that it belongs to.
        where: Put before each call's id, which is unique only within one answer.
        skipped: Counts what could not be read.
    """
    if version.steps is None:
        said, _ = text_and_files(version.content, skipped)
        return (Message(turn=turn, role="assistant", text=said),) if said else ()
    steps = list(_steps(version.steps, skipped))
    failed = frozenset(str(step.call_id) for step in steps if _failed(step))
    reader = _AnswerReader(turn=turn, where=where, failed=failed, skipped=skipped)
    messages: list[Message] = []
    for step in steps:
        if step.type == "contentBlock":
            messages += reader.block(step)
        elif step.type != "toolStatus" and step.type not in DISPLAY_STEPS:
            skipped[f"step {step.type}"[:NAME_CHARACTERS]] += 1
    return tuple(messages)


def unwrap(content: Any) -> str:
    """The text of a tool's result, stored plain, JSON-quoted, or as a JSON array of parts."""
    for _ in range(_QUOTED_AT_MOST):
        if isinstance(content, list):
            texts = _texts(content)
            return msgspec.json.encode(content).decode() if texts is None else texts
        if not isinstance(content, str):
            return "" if content is None else msgspec.json.encode(content).decode()
        inner = _quoted(content)
        if inner is None:
            break
        content = inner
    return content if isinstance(content, str) else unwrap(content)


def _quoted(text: str) -> str | list[Any] | None:
    bare = text.strip()
    if not (bare.startswith('"') and bare.endswith('"')) and not (
        bare.startswith("[") and bare.endswith("]")
    ):
        return None
    try:
        value = msgspec.json.decode(bare)
    except msgspec.DecodeError:
        return None
    if isinstance(value, str):
        return value
    return value if isinstance(value, list) and _texts(value) is not None else None


def _texts(parts: Sequence[Any]) -> str | None:
    """The texts of an array of parts joined, or None if this is another array."""
    texts: list[str] = []
    for part in parts:
        if not isinstance(part, Mapping) or not isinstance(part.get("type"), str):
            return None
        if part["type"] == "resource" and isinstance(part.get("resource"), Mapping):
            part = part["resource"]  # noqa: PLW2901 - a resource holds its text one layer down
        if isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "\n".join(texts) if texts else None


def _parts(content: Any, skipped: Counter[str]) -> Iterator[Part]:
    if isinstance(content, str):
        yield Part(type="text", text=content)
        return
    for item in content if isinstance(content, list) else ():
        if isinstance(item, str):
            yield Part(type="text", text=item)
            continue
        try:
            yield msgspec.convert(item, Part)
        except msgspec.ValidationError:
            skipped["part"] += 1


def _steps(steps: Iterable[Raw], skipped: Counter[str]) -> Iterator[Step]:
    for raw in steps:
        try:
            yield _STEP.decode(raw)
        except msgspec.ValidationError:
            skipped["step"] += 1


def _failed(step: Step) -> bool:
    state = step.status_state if step.type == "toolStatus" else None
    status = state.get("status") if isinstance(state, Mapping) else None
    return isinstance(status, Mapping) and status.get("type") in FAILED


class _AnswerReader(msgspec.Struct, kw_only=True):
    """Reads the blocks of one answer; knows which calls failed and what they were of."""

    turn: int
    where: str
    failed: frozenset[str]
    skipped: Counter[str]
    names: dict[str, str] = {}

    def block(self, step: Step) -> Iterator[Message]:
        """The messages of one content block."""
        thinking = isinstance(step.style, Mapping) and step.style.get("type") == "thinking"
        silent = thinking or step.should_include_in_context is False
        said: list[str] = []
        for part in _parts(step.content, self.skipped):
            if part.type == "text":
                if not silent and not part.is_structural and isinstance(part.text, str):
                    said.append(part.text)
            elif part.type in ("toolCallRequest", "toolCallResult"):
                # A block that a plugin took out of the context still shows what was called.
                yield from self._said(said)
                said = []
                yield self._tool(part)
            else:
                self.skipped[f"part {part.type}"[:NAME_CHARACTERS]] += 1
        yield from self._said(said)

    def _said(self, texts: Sequence[str]) -> Iterator[Message]:
        text = "".join(texts)
        if text.strip():
            yield Message(turn=self.turn, role="assistant", text=text)

    def _tool(self, part: Part) -> Message:
        if isinstance(part.tool_call_request, Mapping):  # as the SDK nests it
            request = part.tool_call_request
            part = Part(
                type=part.type,
                call_id=request.get("id"),
                name=request.get("name"),
                arguments=request.get("arguments"),
            )
        ident = part.ident
        role: Role = "tool"
        text, args = "", _arguments(None)
        if part.type == "toolCallRequest":
            role = "assistant"
            self.names[ident] = part.name if isinstance(part.name, str) else ""
            args = _arguments(part.arguments if part.parameters is None else part.parameters)
        else:
            text = unwrap(part.content)
        return Message(
            turn=self.turn,
            role=role,
            text=text,
            tool=part.name if isinstance(part.name, str) else self.names.get(ident, ""),
            args=args,
            call_id=f"{self.where}:{ident}",
            failed=ident in self.failed,
        )


def _arguments(value: Any) -> Mapping[str, Any]:
    if isinstance(value, str):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return {}
    return value if isinstance(value, Mapping) else {}
