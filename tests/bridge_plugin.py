"""A small plugin for tests: it starts the real bridge as a child process and speaks to it on pipes.

It keeps chats as LM Studio does and sends of their history what the bridge does not have, as
``docs/protocol.md`` says.
"""

import contextlib
import hashlib
import itertools
import json
import os
import queue
import subprocess
import sys
import threading

PAGE = 1 << 20
GIVEN = 1 << 18
"""Bytes of messages that come along with a turn; more are asked for."""


class RefusedError(Exception):
    """The bridge answered with an error."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data")


class Pending:
    """A request whose answer is not there yet."""

    def __init__(self, ident):
        self.ident = ident
        self.history = None
        self._answer = queue.SimpleQueue()

    def settle(self, answer):
        self._answer.put(answer)

    def wait(self, seconds=20):
        answer = self._answer.get(timeout=seconds)
        if "error" in answer:
            raise RefusedError(answer["error"])
        return answer["result"]


class Plugin:
    """The other end of the pipes.

    Args:
        folder: Stands for the user's folder; throughLine's home is ``tl`` in it.
        command: What is started; the bridge where it is empty.
        env: More for the environment.
    """

    def __init__(self, folder, *, command=(), env=None, hello=True, settings=None, version=None):
        folder.mkdir(parents=True, exist_ok=True)
        self.home = folder / "tl"
        environment = {k: v for k, v in os.environ.items() if not k.startswith("THROUGHLINE")}
        environment |= {"HOME": str(folder), "USERPROFILE": str(folder)}
        environment |= {"THROUGHLINE_HOME": str(self.home), **(env or {})}
        self.written = folder / "stderr.txt"
        self.errors = self.written.open("ab")
        self.process = subprocess.Popen(
            command or [sys.executable, "-m", "throughline_nb", "bridge"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            env=environment,
        )
        self.lines = []
        self.unasked = queue.SimpleQueue()
        self.progress = []
        self.asked = []
        self.silent = False
        self._ids = itertools.count(1)
        self._pending = {}
        self._writing = threading.Lock()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if hello:
            from throughline_nb import __version__

            self.welcome = self.request(
                "hello", protocol=1, plugin=version or __version__, settings=settings or {}
            )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(10)
        self._reader.join(10)
        for stream in (self.process.stdin, self.process.stdout, self.errors):
            with contextlib.suppress(OSError):
                stream.close()

    def end(self, seconds=10):
        """End the input; the exit code."""
        self.process.stdin.close()
        return self.process.wait(seconds)

    @property
    def stderr(self):
        return self.written.read_text(encoding="utf-8", errors="replace")

    def raw(self, data):
        with self._writing:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def send(self, message):
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def begin(self, method, params, history=None):
        pending = Pending(next(self._ids))
        pending.history = history
        self._pending[pending.ident] = pending
        self.send({"id": pending.ident, "method": method, "params": params})
        return pending

    def request(self, method, /, **params):
        return self.begin(method, params).wait()

    def cancel(self, pending):
        self.send({"method": "cancel", "params": {"id": pending.ident}})

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(line)
            message = json.loads(line)
            if message.get("method") == "history":
                self.asked.append(message["params"])
                if not self.silent:
                    self._give(message["id"], message["params"])
            elif message.get("method") == "progress":
                self.progress.append(message["params"])
            elif message.get("id") in self._pending:
                self._pending[message["id"]].settle(message)
            else:
                self.unasked.put(message)

    def _give(self, ident, params):
        chat = self._pending[params["request"]].history
        result = chat.page(params["first"], params["skip"])
        self.raw(b'{"jsonrpc":"2.0","id":%d,"result":%s}\n' % (ident, result))


class Conversation:
    """One chat, and what a plugin remembers of it.

    Args:
        plugin: The plugin; another one may take its place.
        ident: The chat's id.
    """

    def __init__(self, plugin, ident="1764500000000", **settings):
        self.plugin = plugin
        self.ident = ident
        self.settings = settings
        self.turns = []
        self.forget()

    def forget(self):
        """As a plugin that was started anew."""
        self.held = None
        self.known = []

    def heads(self):
        heads = [""]
        for turn in self.turns:
            data = heads[-1].encode() + json.dumps(turn).encode()
            heads.append(hashlib.sha256(data).hexdigest()[:16])
        return heads

    def history(self):
        heads = self.heads()
        last = len(self.turns)
        same = 0
        if self.held is not None:
            while same < min(self.held["turn"], last) and heads[same + 1] == self.known[same + 1]:
                same += 1
        self.known = heads
        messages = [message for turn in self.turns[same:] for message in turn]
        small = len(messages) < 1000 and len(json.dumps(messages)) < GIVEN
        return {
            "turn": last,
            "head": heads[last],
            "changed": same + 1,
            "base": self.held["head"] if self.held else "",
            "messages": messages if small else None,
        }

    def page(self, first, skip):
        rest = [message for turn in self.turns[first - 1 :] for message in turn][skip:]
        parts, size = [], 0
        for message in rest:
            data = json.dumps(message).encode()
            if parts and size + len(data) > PAGE:
                break
            parts.append(data)
            size += len(data)
        more = len(parts) < len(rest)
        turn = rest[len(parts)]["turn"] - 1 if more else len(self.turns)
        head = self.known[turn]
        tail = json.dumps({"more": more, "turn": turn, "head": head}).encode()
        return b'{"messages":[%s],%s' % (b",".join(parts), tail[1:])

    def begin(self, text, **settings):
        """Send a message; the request under way."""
        self.sent = self.history()
        params = {"chat": self.ident, "text": text, "history": self.sent}
        params["settings"] = {**self.settings, **settings}
        return self.plugin.begin("turn", params, self)

    def say(self, text, *, files=(), **settings):
        """Send a message; what becomes of it."""
        try:
            result = self.begin(text, **settings).wait()
        except RefusedError as error:
            self.held = (error.data or {}).get("held")
            raise
        self.held = result["held"]
        self.turns.append([])
        attached = [{"type": "file", "name": name} for name in files]
        self._add("user", {"type": "text", "text": result["text"]}, *attached)
        return result

    def answer(self, text="Fine."):
        self._add("assistant", {"type": "text", "text": text})

    def exchange(self, text, answer="Fine.", **settings):
        result = self.say(text, **settings)
        self.answer(answer)
        return result

    def tool(self, name, result="", **arguments):
        """The model calls a tool; one that is offered is executed."""
        if name in self.offered():
            result = self.call(name, **arguments)
        ident = str(len(self.turns[-1]))
        asked = {"type": "toolCallRequest", "id": ident, "name": name, "arguments": arguments}
        self._add("assistant", asked)
        given = {"type": "toolCallResult", "id": ident, "content": json.dumps(result)}
        self._add("tool", given)
        return result

    def call(self, name, /, **arguments):
        return self.plugin.request(
            "call", chat=self.ident, tool=name, arguments=arguments, settings=self.settings
        )["text"]

    def offered(self):
        tools = self.plugin.request("tools", chat=self.ident, settings=self.settings)["tools"]
        return [tool["name"] for tool in tools]

    def _add(self, role, *parts):
        self.turns[-1].append({"turn": len(self.turns), "role": role, "parts": list(parts)})
