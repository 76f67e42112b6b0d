"""What the LM Studio plugin adds to a turn and to a tool call, through LM Studio's own SDK.

The stand-in host of ``tests/plugin`` times each message from the frame that it sends to the one
that it gets. A plugin that does nothing but pull the history is what the SDK costs by itself.
"""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from plugin.standin import Chat as StandInChat
from plugin.standin import Host, Session, assistant, request, result, user
from plugin.toolchain import HERE, PLUGIN, bundle

from throughline_nb.chat import Message
from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home

from .chats import KEY, LEDGER_KB, Chat, Stored, fill
from .harness import WALL, report
from .ledgers import sized

ROUNDS = {300: 40, 3000: 30, 30_000: 15}
CALLS = 200
WARM = 3

pytestmark = pytest.mark.benchmark(timer=WALL)


def _wire(message: Message) -> dict[str, Any]:
    if message.role == "user":
        return user(message.text)
    if message.role == "tool":
        return result(message.call_id, message.text)
    if message.tool:
        return request(message.call_id, message.tool, message.args)
    return assistant(message.text)


@contextmanager
def _hosted(user: Path, source: Path, env: dict[str, str] | None = None) -> Iterator[Host]:
    user.mkdir(parents=True, exist_ok=True)
    host = Host(user)
    host.run(bundle(source), env)
    try:
        yield host
    finally:
        host.close()


@contextmanager
def _whole(user: Path) -> Iterator[Host]:
    """The plugin, with an engine whose chat has a project with a 50 KB ledger."""
    home = user / ".lmstudio" / "throughline"
    home.mkdir(parents=True)
    fill(Engine(Home(home)), KEY, sized(LEDGER_KB))
    env = {"PATH": os.environ["PATH"], "HOME": str(user), "THROUGHLINE_HOME": str(home)}
    record = {"format": 1, "python": sys.executable, "home": str(home), "env": env}
    (home / "bridge.json").write_text(json.dumps(record), encoding="utf-8", newline="\n")
    with _hosted(user, PLUGIN / "src" / "index.ts") as host:
        yield host


def _chat(host: Host, messages: int) -> StandInChat:
    chat = StandInChat(host, KEY.id, {"recall": False})
    chat.put([_wire(message) for message in Stored(messages)])
    return chat


@pytest.mark.parametrize("messages", ROUNDS)
def test_plugin_turn(benchmark, folder, messages):
    inside = Chat(folder / "inside", messages)
    inside.hand_in_all()
    text = next(iter(Stored(1))).text
    whole, plain, engine = [], [], []
    with (
        _whole(folder / "whole") as host,
        _hosted(folder / "plain", HERE / "plain" / "index.ts") as other,
    ):
        ours, nothing = _chat(host, messages), _chat(other, messages)

        def turn():
            if len(whole) % 2:
                reply, untouched = ours.say(text), nothing.say(text)
            else:
                untouched, reply = nothing.say(text), ours.say(text)
            assert reply.text.count("[throughLine: ") == 1, reply.status
            assert untouched.text == text
            given = inside.next_turn()
            begin = WALL()
            inside.say(given)
            engine.append(WALL() - begin)
            whole.append(reply.ms / 1000)
            plain.append(untouched.ms / 1000)

        benchmark.pedantic(turn, rounds=ROUNDS[messages], warmup_rounds=WARM)
    whole, plain, engine = whole[WARM:], plain[WARM:], engine[WARM:]
    rest = [max(a - b - c, 0.0) for a, b, c in zip(whole, plain, engine, strict=True)]
    report(benchmark, f"plugin-{messages}", whole, plain)
    report(benchmark, f"plugin-bridge-{messages}", rest, plain)
    report(benchmark, f"plugin-engine-{messages}", engine, plain)


def test_plugin_call(benchmark, folder):
    whole, echoed = [], []
    with (
        _whole(folder / "whole") as host,
        _hosted(
            folder / "echo", HERE / "echo" / "index.ts", {"ECHO_PYTHON": sys.executable}
        ) as other,
    ):
        ours = _chat(host, 20)
        ours.say("Go on.")
        tools = ours.session()
        echo = Session(other, other.do("session", working="/chats/1"))
        engine = Engine(Home(folder / "inside"))
        fill(engine, KEY, sized(LEDGER_KB))
        said = engine.call(KEY, "ledger_view", {"section": "goal"})

        def call():
            found = tools.start("ledger_view", section="goal").result(10)
            back = echo.start("echo", text=said).result(10)
            begin = WALL()
            engine.call(KEY, "ledger_view", {"section": "goal"})
            whole.append(found["ms"] / 1000 - (WALL() - begin))
            echoed.append(back["ms"] / 1000)
            assert found["result"] == back["result"] == said

        benchmark.pedantic(call, rounds=CALLS, warmup_rounds=WARM)
    report(benchmark, "plugin-call", whole[WARM:], echoed[WARM:])
