"""A turn with two new messages and nothing to change in the ledger, by length of the history."""

import json

import msgspec
import pytest

from .chats import CHARACTERS, KEY, Chat, Stored
from .harness import CPU, Timed, alternate

ROUNDS = 60

pytestmark = pytest.mark.benchmark(timer=CPU)


def _started(home, messages):
    chat = Chat(home, messages)
    assert chat.hand_in_all().text.count("[throughLine") == 1
    return chat


def _turn(chat):
    return Timed(chat.say, chat.next_turn)


def _check(chat, version):
    """Every turn was taken in and added a block; the ledger is as it was."""
    state = chat.engine.chats.load(KEY)
    assert state.turn == chat.before + len(chat.after) - 1
    assert state.shown == version
    assert chat.engine.projects.open(state.project).read().version == version
    assert all(turn[0].text.count("[throughLine: ") == 1 for turn in chat.after)
    assert len(chat.after) > ROUNDS


def test_turn_3000(benchmark, folder):
    chat = _started(folder, 3000)
    version = chat.engine.chats.load(KEY).shown
    lines = [json.dumps(msgspec.to_builtins(message)) for message in Stored(3000)]
    assert sum(len(m.text) == CHARACTERS for m in Stored(3000)) > 2800

    def decode(_):
        for line in lines:
            json.loads(line)

    def warm():
        chat.say(chat.next_turn())  # what the 1.6 MB pushed out of the processor's caches is back
        return chat.next_turn()

    alternate(benchmark, Timed(chat.say, warm), {"turn-3000": Timed(decode)}, rounds=ROUNDS)
    _check(chat, version)


def test_turn_growth(benchmark, folder):
    long, short = _started(folder / "long", 30_000), _started(folder / "short", 300)
    versions = [chat.engine.chats.load(KEY).shown for chat in (long, short)]
    alternate(benchmark, _turn(long), {"turn-growth": _turn(short)}, rounds=ROUNDS)
    for chat, version in zip((long, short), versions, strict=True):
        _check(chat, version)
