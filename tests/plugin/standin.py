"""LM Studio for the tests: the stand-in host, the plugin that it runs, and chats in it."""

import itertools
import json
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import psutil

from .toolchain import HERE, node, ready

WAIT = 60.0
PATIENCE = 30
"""What tests give a message where its time is not their matter: machines can be busy."""


class MalformedFrameError(AssertionError):
    """A frame does not fit the SDK's schemas."""


class Host:
    """The stand-in host, and at most one plugin.

    Args:
        user: The user's home, in which the plugin looks for LM Studio's folder.
    """

    def __init__(self, user: Path) -> None:
        self.user = user
        self.malformed: list[str] = []
        self.events: dict[str, list[dict[str, Any]]] = {}
        self.plugin: subprocess.Popen[bytes] | None = None
        self._ids = itertools.count(1)
        self._open: dict[int, Future[Any]] = {}
        self._changed = threading.Condition()
        command = [node(), str(HERE / "host.mjs"), str(ready())]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.port = self.event("listening")["port"]

    def run(self, bundle: Path, env: Mapping[str, str] | None = None) -> None:
        """Start a plugin with the little that LM Studio gives it, and wait until it is ready."""
        given = {
            "LMS_PLUGIN_BASE_URL": f"ws://127.0.0.1:{self.port}",
            "LMS_PLUGIN_CLIENT_IDENTIFIER": "plugin",
            "LMS_PLUGIN_CLIENT_PASSKEY": "key",
            "HOME": str(self.user),
            **(env or {}),
        }
        if os.name == "nt":
            given["USERPROFILE"] = str(self.user)
        with (self.user / "plugin.log").open("ab") as log:
            self.plugin = subprocess.Popen(
                [node(), str(bundle)], env=given, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.event("ready")

    def ask(self, op: str, **given: Any) -> Future[Any]:
        """Have the host do something."""
        ident = next(self._ids)
        future: Future[Any] = Future()
        self._open[ident] = future
        line = json.dumps({"id": ident, "op": op, **given})
        assert self._process.stdin is not None
        with self._changed:
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
        return future

    def do(self, op: str, **given: Any) -> Any:
        """Have it do something, and wait for the result."""
        result = self.ask(op, **given).result(WAIT)
        self.check()
        return result

    def check(self) -> None:
        """Raise where a frame was malformed."""
        if self.malformed:
            raise MalformedFrameError("; ".join(self.malformed))

    def event(self, name: str, index: int = 0) -> dict[str, Any]:
        """Wait for something that the host tells."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.events.get(name, ())) > index, WAIT), (
                name
            )
            return self.events[name][index]

    def engines(self) -> list[psutil.Process]:
        """The engine processes of the plugin."""
        if self.plugin is None or self.plugin.poll() is not None:
            return []
        return psutil.Process(self.plugin.pid).children()

    def close(self) -> None:
        """End plugin and host; nothing of them may be left."""
        engines = self.engines()
        if self.plugin is not None:
            self.plugin.terminate()
            self.plugin.wait(WAIT)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(WAIT)
        self._reader.join(WAIT)
        self._process.stdout.close()
        for engine in engines:
            wait_gone(engine)
        self.check()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            message = json.loads(line)
            if (ident := message.get("id")) is not None:
                future = self._open.pop(ident)
                if "error" in message:
                    future.set_exception(RuntimeError(message["error"]))
                else:
                    future.set_result(message["result"])
                continue
            with self._changed:
                if message["event"] == "malformed":
                    self.malformed.append(f"{message['why']} ({message['frame']})")
                self.events.setdefault(message["event"], []).append(message)
                self._changed.notify_all()


class Reply:
    """What became of a message.

    Attributes:
        text: The message as the model gets it.
        status: The status line that stands in the end; empty for none.
        kind: ``complete``, ``aborted`` or ``error``.
    """

    def __init__(self, found: Mapping[str, Any]) -> None:
        self.kind: str = found["type"]
        self.content: list[dict[str, Any]] = (found.get("processed") or {}).get("content", [])
        self.text = "".join(part["text"] for part in self.content if part["type"] == "text")
        self.updates: list[dict[str, Any]] = found["updates"]
        self.ms: float = found["ms"]
        shown: dict[str, str] = {}
        self.icons: list[str] = []
        for update in self.updates:
            if update["type"] == "status.remove":
                shown.pop(update["id"])
            else:
                shown[update["id"]] = update["state"]["text"]
                self.icons.append(update["state"]["status"])
        assert len(shown) <= 1, "more than one status line"
        self.status = next(iter(shown.values()), "")


class Chat:
    """A chat in the host; its history grows by what is said in it.

    Args:
        host: The host.
        ident: LM Studio's id of the chat.
        config: The chat's own values of the settings form.
    """

    def __init__(self, host: Host, ident: str, config: Mapping[str, Any] | None = None) -> None:
        self.host = host
        self.ident = ident
        self.working = str(host.user / ".lmstudio" / "working-directories" / ident)
        self.config = dict(config or {})
        self.all: dict[str, Any] = {"turn_seconds": PATIENCE}

    def send(
        self, text: str, *, files: Sequence[str] = (), keep: bool = True, **more: Any
    ) -> Future[Any]:
        """Send a message; the future is what :class:`Reply` reads."""
        parts = [{"type": "text", "text": text}, *map(file_part, files)]
        return self.host.ask(
            "preprocess",
            working=self.working,
            input={"role": "user", "content": parts},
            config=self.config,
            globalConfig=self.all,
            keep=keep,
            **more,
        )

    def say(self, text: str, answer: str | None = "Noted.", **more: Any) -> Reply:
        """Send a message, and have the model answer it."""
        reply = Reply(self.send(text, **more).result(WAIT))
        self.host.check()
        if answer is not None:
            self.add(assistant(answer))
        return reply

    def add(self, *messages: Mapping[str, Any]) -> None:
        """Add messages to the stored history."""
        self.host.do("chat", working=self.working, add=list(messages))

    def put(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace the stored history, as editing and regenerating do."""
        self.host.do("chat", working=self.working, messages=list(messages))

    def stored(self) -> list[dict[str, Any]]:
        """The stored history."""
        found: list[dict[str, Any]] = self.host.do("chat", working=self.working)["messages"]
        return found

    def session(self) -> "Session":
        """What the tools provider offers for one generation."""
        given = {"config": self.config, "globalConfig": self.all}
        return Session(self.host, self.host.do("session", working=self.working, **given))

    def tools(self) -> list[str]:
        """Names of the tools that are offered."""
        session = self.session()
        session.discard()
        return session.names

    def read(self, url: str, page: str, name: str = "read_webpage") -> None:
        """Add a call of a page-reading tool and its result to the stored history."""
        ident = f"call-{abs(hash((url, page))) % 10**9}"
        self.add(request(ident, name, {"url": url}), result(ident, page))


class Session:
    """A session of the tools provider."""

    def __init__(self, host: Host, found: Mapping[str, Any]) -> None:
        self.host = host
        self.id: str = found["sessionId"]
        self.kind: str = found["type"]
        self.definitions: list[dict[str, Any]] = found["tools"] or []
        self.names = [each["function"]["name"] for each in self.definitions]

    def start(self, name: str, **parameters: Any) -> Future[Any]:
        """Call a tool and do not wait."""
        return self.host.ask("call", sessionId=self.id, name=name, parameters=parameters)

    def call(self, name: str, **parameters: Any) -> str:
        """Call a tool; what the model gets."""
        found = self.start(name, **parameters).result(WAIT)
        self.host.check()
        assert found["type"] == "toolCallComplete", found
        assert isinstance(found["result"], str)
        return found["result"]

    def discard(self) -> None:
        """End it."""
        self.host.do("discard", sessionId=self.id)


def user(text: str) -> dict[str, Any]:
    """A stored message of the user."""
    return {"role": "user", "content": [{"type": "text", "text": text}]}


def assistant(text: str) -> dict[str, Any]:
    """A stored message of the model."""
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def request(ident: str, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A stored call of a tool."""
    call = {"id": ident, "type": "function", "name": name, "arguments": dict(arguments)}
    return {
        "role": "assistant",
        "content": [{"type": "toolCallRequest", "toolCallRequest": call}],
    }


def result(ident: str, content: str) -> dict[str, Any]:
    """The stored result of a call."""
    part = {"type": "toolCallResult", "toolCallId": ident, "content": content}
    return {"role": "tool", "content": [part]}


def file_part(name: str) -> dict[str, Any]:
    """An attached file."""
    return {
        "type": "file",
        "name": name,
        "identifier": f"file-{name}",
        "sizeBytes": 1234,
        "fileType": "text/plain",
    }


def wait_gone(process: psutil.Process) -> None:
    """Wait for the end of a process whose parent may be gone: one that nobody reaped has ended."""

    def gone() -> bool:
        try:
            return process.status() == psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return True

    eventually(gone)


def eventually(check: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait until something holds."""
    until = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < until, "it did not come true"
        time.sleep(0.02)
