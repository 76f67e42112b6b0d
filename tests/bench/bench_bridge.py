"""The engine as a child process: how long it takes to be there, and what a long chat costs it.

The plugin here is the tests' own: a few lines that answer from pages made beforehand, so that what
is measured is the bridge and the engine.
"""

import itertools
import sys
import time
from pathlib import Path

import msgspec
import psutil
import pytest
from bridge_plugin import PAGE, Conversation, Plugin

from throughline_nb.engine.session import Engine
from throughline_nb.store.home import Home

from .bench_start import _process
from .chats import KEY, LEDGER_KB, Stored, fill
from .harness import WALL, Timed, alternate, report
from .ledgers import sized

MESSAGES = 30_000
ROUNDS = 3
STARTS = 25
TURN_SECONDS = 2.0
"""What a message waits for a turn, by default (``throughline_nb.store.settings``)."""

MOST_MEGABYTES = 120
SETTINGS = {"turn_seconds": 60}

pytestmark = pytest.mark.benchmark(timer=WALL)


def _wire(message):
    if message.role == "tool":
        part = {"type": "toolCallResult", "id": message.call_id, "content": message.text}
    elif message.tool:
        part = {"type": "toolCallRequest", "id": message.call_id, "name": message.tool}
        part["arguments"] = message.args
    else:
        part = {"type": "text", "text": message.text}
    return {"turn": message.turn, "role": message.role, "parts": [part]}


class LongChat(Conversation):
    """A chat of so many messages, encoded beforehand, whose plugin knows nothing of the engine."""

    def __init__(self, plugin, messages=MESSAGES):
        super().__init__(plugin, KEY.id, **SETTINGS)
        stored = Stored(messages)
        self.encoded = [(each.turn, msgspec.json.encode(_wire(each))) for each in stored]
        self.last = stored.turns

    def history(self):
        head = f"head-{self.last}"
        return {"turn": self.last, "head": head, "changed": 1, "base": "", "messages": None}

    def page(self, first, skip):
        rest = [each for each in self.encoded if each[0] >= first][skip:]
        count, size = 0, 0
        while count < len(rest) and size < PAGE:
            size += len(rest[count][1])
            count += 1
        more = count < len(rest)
        turn = rest[count][0] - 1 if more else self.last
        told = msgspec.json.encode({"more": more, "turn": turn, "head": f"head-{turn}"})
        return b'{"messages":[%s],%s' % (b",".join(data for _, data in rest[:count]), told[1:])


def _peak(plugin):
    """Peak resident set of the engine in MB; where a system does not tell it, the set now."""
    if sys.platform == "linux":
        status = Path(f"/proc/{plugin.process.pid}/status").read_text(encoding="ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    memory = psutil.Process(plugin.process.pid).memory_info()
    return getattr(memory, "peak_wset", memory.rss) / 1024**2


@pytest.mark.parametrize("key", ["bridge-start", "bridge-loaded"])
def test_start(benchmark, folder, key):
    begun = []

    def start(_):
        plugin = Plugin(folder / "user")
        begun.append(plugin)
        if key == "bridge-loaded":
            plugin.request("tools", chat="1", settings={})

    def end():
        while begun:
            begun.pop().close()

    floor = _process(sys.executable, "-c", "pass")
    alternate(benchmark, Timed(start, end), {key: floor}, rounds=STARTS)
    end()


@pytest.mark.parametrize("case", ["new", "bound", "restart"])
def test_first_turn(benchmark, folder, case):
    """A chat that was never seen; one that was just bound to a project; the latter seen before."""
    users = (folder / f"user-{number}" for number in itertools.count())
    seconds, sizes = [], []

    def prepared():
        user = next(users)
        if case != "new":
            fill(Engine(Home(user / "tl")), KEY, sized(LEDGER_KB))
        if case == "restart":
            _first_turn(user)
        return (user,), {}

    def measured(user):
        taken, size = _first_turn(user, bound=case != "new")
        seconds.append(taken)
        sizes.append(size)

    benchmark.pedantic(measured, setup=prepared, rounds=ROUNDS)
    report(benchmark, f"bridge-{case}", seconds, [TURN_SECONDS] * ROUNDS)
    report(benchmark, f"bridge-memory-{case}", sizes, [MOST_MEGABYTES] * ROUNDS, scale=1)


def _first_turn(user, *, bound=True):
    """Seconds of the first turn, and the engine's peak when recall is built as well."""
    with Plugin(user) as plugin:
        chat = LongChat(plugin)
        begin = WALL()
        result = chat.begin("go on").wait(60)
        seconds = WALL() - begin
        assert result["held"] == {"turn": chat.last, "head": f"head-{chat.last}"}
        assert result["text"].count("[throughLine: ") == bound
        until = WALL() + 300
        while "recall" not in chat.offered():
            assert WALL() < until
            time.sleep(0.1)
        assert chat.call("recall", turn=chat.last)
        size = _peak(plugin)
        assert plugin.end() == 0
    return seconds, size
