"""LM Studio's chats as a list: name, size, project, without reading the chats themselves.

A conversation file can have tens of MiB. Its name stands before the messages in the files that
were seen, so the first 64 KiB are read, field by field; only where it is not there is the whole
file decoded, and of that the name alone.
"""

import json
import os
import time
from collections.abc import Iterator
from json.decoder import scanstring  # type: ignore[attr-defined]
from pathlib import Path
from typing import Any, Final

import msgspec
from tqdm.auto import tqdm

from throughline_nb.chat import ChatKey
from throughline_nb.errors import NotFoundError
from throughline_nb.hosts.lmstudio.files import HOST, SUFFIX, conversations
from throughline_nb.store.chats import Chats
from throughline_nb.store.home import Home

HEAD_BYTES: Final = 64 * 1024
BAR_SECONDS: Final = 2.0
"""How long the list takes before a progress bar shows."""

UNREADABLE: Final = "(cannot be read)"
NAMELESS: Final = "(no name)"

_KIB: Final = 1024
_DECODER: Final = json.JSONDecoder()


class Listed(msgspec.Struct, frozen=True):
    """One chat.

    Attributes:
        path: Its file.
        name: Its name in the app; :data:`NAMELESS` or :data:`UNREADABLE` where there is none.
        folder: Folder of the app that it lies in, or empty.
        size: Bytes of the file.
        changed: When the file was last written, in seconds since the epoch.
        project: Slug of the bound project; empty where there is none.
        off: Whether the user said ``/tl off`` there.
    """

    path: Path
    name: str
    folder: str
    size: int
    changed: float
    project: str = ""
    off: bool = False

    @property
    def line(self) -> str:
        """As a person reads it."""
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.changed))
        project = self.project or ("off" if self.off else "-")
        name = " ".join(f"{self.folder}/{self.name}".lstrip("/").split())
        return f"{when}  {_shown(self.size):>9}  {project:24}  {name}"


def chats(folder: Path, home: Home) -> list[Listed]:
    """All chats of LM Studio, the latest changed first.

    Args:
        folder: Its conversations.
        home: Where the state of chats is.

    Raises:
        NotFoundError: The folder is missing or cannot be read.
    """
    states = {key: state for key, state in Chats(home).states() if key.host == HOST}
    found: list[Listed] = []
    try:
        paths = list(conversations(folder))
    except OSError as error:
        raise NotFoundError(
            f"{folder} cannot be read ({error.strerror}); nothing was changed: start LM Studio "
            "once, or check permissions."
        ) from error
    for path in tqdm(paths, delay=BAR_SECONDS, unit="chat", leave=False):
        try:
            stat = path.stat()
        except OSError:  # deleted or moved at this moment
            continue
        state = states.get(ChatKey(HOST, path.name.removesuffix(SUFFIX)))
        where = path.parent.relative_to(folder).as_posix()
        found.append(
            Listed(
                path=path,
                name=chat_name(path),
                folder="" if where == "." else where,
                size=stat.st_size,
                changed=stat.st_mtime,
                project=state.project if state else "",
                off=state.off if state else False,
            )
        )
    return sorted(found, key=lambda chat: (-chat.changed, chat.path))


class _Named(msgspec.Struct):
    name: Any = None


_NAMED: Final = msgspec.json.Decoder(_Named)


def chat_name(path: Path) -> str:
    """The name of the chat in a conversation file; never an error."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
            for name, value in _fields(head.decode("utf-8-sig", "replace")):
                if name == "name":
                    return _name(value)
            data = (head + file.read()).removeprefix(b"\xef\xbb\xbf")
        try:
            return _name(_NAMED.decode(data).name)
        except msgspec.MsgspecError:  # half a surrogate pair, which the slow reader takes
            return _name(json.loads(data.decode(errors="replace")).get("name"))
    except (OSError, ValueError, AttributeError, RecursionError):
        return UNREADABLE


def _name(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        return NAMELESS
    return value.encode(errors="replace").decode()


def _fields(text: str) -> Iterator[tuple[str, Any]]:
    """The fields of a JSON object, as far as they are whole; ends quietly where one is not."""
    at = _blank(text, 0)
    if text[at : at + 1] != "{":
        return
    at += 1
    while True:
        at = _blank(text, at)
        if text[at : at + 1] != '"':
            return
        try:
            name, at = scanstring(text, at + 1)
            at = _blank(text, at)
            if text[at : at + 1] != ":":
                return
            value, at = _DECODER.raw_decode(text, _blank(text, at + 1))
        except (ValueError, RecursionError):
            return
        at = _blank(text, at)
        if text[at : at + 1] not in (",", "}"):  # a number may have been cut here
            return
        yield name, value
        if text[at] == "}":
            return
        at += 1


def _blank(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t", "\n", "\r"):
        at += 1
    return at


def _shown(size: int) -> str:
    """A size with its unit."""
    if size < _KIB * _KIB:
        return f"{max(1, round(size / _KIB))} KiB"
    return f"{size / _KIB / _KIB:.1f} MiB"


def lines(found: list[Listed], folder: Path) -> Iterator[str]:
    """The list as a person reads it, with the way to replay one of them."""
    if not found:
        yield f"No chats yet in {folder}."
        return
    projects = len({chat.project for chat in found} - {""})
    total = _shown(sum(chat.size for chat in found))
    yield (
        f"{len(found)} chat{'s' * (len(found) != 1)} in {folder}, {total}, "
        f"{projects} project{'s' * (projects != 1)}."
    )
    for chat in found:
        yield chat.line
        yield f"{'':29}{os.path.relpath(chat.path, folder)}"
