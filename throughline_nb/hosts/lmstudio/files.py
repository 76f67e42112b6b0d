"""LM Studio's own conversation files: where they lie, and what was said in one.

``conversations/**/<id>.conversation.json`` under LM Studio's home; chats in folders of the app lie
in subfolders, and a file's stem is the chat's id. The files are LM Studio's: they are read, never
written. How a message looks in them is in :mod:`throughline_nb.hosts.lmstudio.format`.
"""

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Raw

from throughline_nb.chat import ChatKey, Message
from throughline_nb.errors import NotFoundError, UnreadableFileError
from throughline_nb.hosts.lmstudio import format as form
from throughline_nb.store.home import lmstudio_home

__all__ = [
    "Answer",
    "Conversation",
    "LMStudioChats",
    "Listing",
    "Prompt",
    "TurnVersions",
    "conversations",
    "lmstudio_home",
    "read_conversation",
]

HOST: Final = "lmstudio"
SUFFIX: Final = ".conversation.json"
_LATEST: Final = 253_402_300_800_000
"""First millisecond of the year 10000, which no clock of a computer shows."""


class Prompt(msgspec.Struct, frozen=True):
    """One version of a user's message.

    Attributes:
        typed: What the user typed.
        stored: What plugins made of it, which is what the model saw; else the same.
        files: Names of the files attached.
    """

    typed: str
    stored: str
    files: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True):
    """One answer of the model: the versions that regenerating left, oldest first.

    Attributes:
        versions: Each a sequence of messages: texts, tool calls, results.
        selected: Index of the version that the chat shows.
    """

    versions: tuple[tuple[Message, ...], ...]
    selected: int

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages that the chat shows."""
        return self.versions[self.selected]


class TurnVersions(msgspec.Struct, frozen=True):
    """One turn: a user's message and all that answers it.

    Attributes:
        turn: Its number in the chat, from 1.
        prompts: Versions of the user's message, oldest first.
        selected: Index of the one that the chat shows.
        answers: What followed, in order; mostly one.
    """

    turn: int
    prompts: tuple[Prompt, ...]
    selected: int
    answers: tuple[Answer, ...] = ()

    @property
    def prompt(self) -> Prompt:
        """The user's message that the chat shows."""
        return self.prompts[self.selected]

    @property
    def user(self) -> Message:
        """The user's message as history has it: what plugins stored."""
        return Message(
            turn=self.turn, role="user", text=self.prompt.stored, files=self.prompt.files
        )

    @property
    def messages(self) -> tuple[Message, ...]:
        """The whole turn as the chat shows it."""
        return (self.user, *(message for answer in self.answers for message in answer.messages))


class Conversation(msgspec.Struct, frozen=True):
    """One chat of LM Studio.

    Attributes:
        key: The chat's key; its id is the file's stem.
        name: The chat's name in the app, or empty.
        created: When it was created, in seconds since the epoch, or None.
        model: Identifier of the model used last, or empty.
        turns: All turns, in order.
        skipped: What could not be read and how often, such as ``("step citation", 2)``.
    """

    key: ChatKey
    name: str
    created: float | None
    model: str
    turns: tuple[TurnVersions, ...]
    skipped: tuple[tuple[str, int], ...] = ()


class _File(msgspec.Struct, rename="camel"):
    messages: list[Raw]
    name: Any = None
    created_at: Any = None
    last_used_model: Any = None


_FILE: Final = msgspec.json.Decoder(_File)


def read_conversation(path: Path) -> Conversation:
    """Read one conversation file.

    Args:
        path: The file.

    Raises:
        NotFoundError: There is no such file.
        UnreadableFileError: It cannot be opened, is not JSON, or is no conversation.
    """
    if not path.is_file():
        raise NotFoundError(f"There is no conversation file at {path}; give the path of one.")
    try:
        file = _decode(path.read_bytes())
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise UnreadableFileError(
            f"{path.name} cannot be opened ({why}); nothing was changed, check who may read it."
        ) from error
    except msgspec.ValidationError as error:
        raise UnreadableFileError(
            f"{path.name} is JSON, but not an LM Studio conversation (no list of messages); "
            "nothing was changed."
        ) from error
    except ValueError as error:
        raise UnreadableFileError(
            f"{path.name} is not complete JSON; nothing was changed, try again when LM Studio "
            "has written it."
        ) from error
    skipped: Counter[str] = Counter()
    model = file.last_used_model
    identifier = model.get("identifier") if isinstance(model, Mapping) else None
    return Conversation(
        key=ChatKey(HOST, path.name.removesuffix(SUFFIX)),
        name=file.name if isinstance(file.name, str) else "",
        created=_seconds(file.created_at),
        model=identifier if isinstance(identifier, str) else "",
        turns=tuple(_turns(file.messages, skipped)),
        skipped=tuple(sorted(skipped.items())),
    )


def conversations(folder: Path) -> Iterator[Path]:
    """All conversation files under ``folder``, at any depth, sorted; links are not followed.

    Raises:
        OSError: A folder cannot be read, so that what lies in it is unknown.
    """

    def fail(error: OSError) -> None:
        raise error

    for root, folders, names in os.walk(folder, onerror=fail, followlinks=False):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if name.endswith(SUFFIX) and not path.is_symlink():
                yield path


class Listing(msgspec.Struct, frozen=True):
    """The chats that LM Studio has, as its folder of conversations was listed once.

    Attributes:
        ids: Ids of all chats; None where that is not known: the folder is missing, empty, or not
            readable as a whole.
        place: What tells the folder from another one that takes its name.
        linked: Whether a folder in it is a link. Links are not followed, so a chat that was not
            found may lie behind one.
        folders: Path of the folder that a chat lies in, relative to the folder of conversations,
            by the chat's id; empty for those that lie in it directly.
    """

    ids: frozenset[str] | None
    place: str = ""
    linked: bool = False
    folders: Mapping[str, str] = {}

    def __call__(self, key: ChatKey) -> bool | None:
        """Whether the chat exists; None where that is not known."""
        if key.host != HOST or self.ids is None:
            return None
        if key.id in self.ids:
            return True
        return None if self.linked else False


class LMStudioChats:
    """Tells which of LM Studio's chats still exist, by the names of their files alone.

    Args:
        folder: Where its conversations lie; ``conversations/`` in its home if None.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else lmstudio_home() / "conversations"

    def __call__(self, key: ChatKey) -> bool | None:
        """Whether the chat exists now; None where that is not known."""
        return self.snapshot()(key)

    def snapshot(self) -> Listing:
        """List the folder now.

        It is listed twice, since a chat that is moved to another folder of the app at that moment
        could be missed once.
        """
        first = self._listed()
        if first.ids is None:
            return first
        second = self._listed()
        if second.ids is None or second.place != first.place:
            return Listing(None)
        folders = {**first.folders, **second.folders}
        linked = first.linked or second.linked
        return Listing(first.ids | second.ids, first.place, linked, folders)

    def _listed(self) -> Listing:
        folders: dict[str, str] = {}
        waiting = [""]
        linked = False
        try:
            found = self.folder.stat()
            while waiting:
                below = waiting.pop()
                with os.scandir(self.folder / below) as entries:
                    for entry in entries:
                        if entry.name.endswith(SUFFIX):
                            folders[entry.name.removesuffix(SUFFIX)] = below
                        elif entry.is_dir(follow_symlinks=False):
                            waiting.append(f"{below}/{entry.name}" if below else entry.name)
                        elif entry.is_symlink():
                            linked = linked or not entry.is_file()
        except OSError:
            return Listing(None)
        if not folders:
            return Listing(None)
        return Listing(frozenset(folders), f"{found.st_dev}:{found.st_ino}", linked, folders)


def _decode(data: bytes) -> _File:
    data = data.removeprefix(b"\xef\xbb\xbf")
    try:
        data.decode()
        return _FILE.decode(data)
    except msgspec.ValidationError:
        raise
    except ValueError:
        # An emoji cut in two between tokens is stored as half a surrogate pair, which is JSON but
        # no text. The slow reader takes it, and what cannot be text becomes a question mark.
        value = json.loads(data.decode(errors="replace"))
        return _FILE.decode(json.dumps(value, ensure_ascii=False).encode(errors="replace"))


def _seconds(milliseconds: object) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 <= milliseconds < _LATEST else None


def _turns(slots: list[Raw], skipped: Counter[str]) -> Iterator[TurnVersions]:
    turn: TurnVersions | None = None
    answers: list[Answer] = []
    for number, raw in enumerate(slots):
        versions, shown = form.slot(raw, skipped)
        role = versions[shown].role if versions else None
        if role == "user":
            if turn is not None:
                yield msgspec.structs.replace(turn, answers=tuple(answers))
            prompts = tuple(_prompt(version, skipped) for version in versions)
            turn = TurnVersions((turn.turn if turn else 0) + 1, prompts, shown)
            answers = []
        elif role == "assistant" and turn is not None:
            read = tuple(
                form.answer(version, turn.turn, f"{number}.{index}", skipped)
                for index, version in enumerate(versions)
            )
            answers.append(Answer(read, shown))
        elif versions and role != "system":
            skipped[f"message of {role}"[: form.NAME_CHARACTERS]] += 1
    if turn is not None:
        yield msgspec.structs.replace(turn, answers=tuple(answers))


def _prompt(version: form.Version, skipped: Counter[str]) -> Prompt:
    typed, files = form.text_and_files(version.content, skipped)
    content = form.stored(version)
    if content is None:
        return Prompt(typed, typed, files)
    kept, more = form.text_and_files(content, Counter())
    return Prompt(typed, kept or typed, tuple(dict.fromkeys((*files, *more))))
