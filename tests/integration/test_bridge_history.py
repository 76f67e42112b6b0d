"""What the bridge holds of a chat follows the plugin's, whatever happens to either."""

import json
import random
import time

import msgspec
import psutil
import pytest
from bridge_plugin import Conversation, Plugin

from throughline_nb.chat import ChatKey, Message, fingerprint
from throughline_nb.hosts.bridge.messages import WireMessage
from throughline_nb.hosts.bridge.translate import Translator
from throughline_nb.ledger.fence import tokens
from throughline_nb.ledger.proofs import proofs_of
from throughline_nb.store.chats import Chats
from throughline_nb.store.home import Home
from throughline_nb.store.settings import Settings

KEY = ChatKey("lmstudio", "1764500000000")


def stored(chat, turns):
    """The messages of each turn as the engine sees them."""
    wire = msgspec.convert([m for turn in chat.turns[:turns] for m in turn], list[WireMessage])
    by_turn = {}
    for message in Translator().messages(wire):
        by_turn.setdefault(message.turn, []).append(message)
    return by_turn


def check(chat, home, turns):
    """What stands on the disk is what a host would get that handed in the history once, whole."""
    by_turn = stored(chat, turns)
    mark, total, proofs = "", 0, []
    for turn in range(1, turns + 1):
        mark = fingerprint(mark, by_turn[turn])
        total += sum(tokens(message.text) for message in by_turn[turn])
        proofs += proofs_of(by_turn[turn], Settings().page_tools)
    chats = Chats(Home(home))
    state = chats.load(KEY)
    assert state.turn == turns
    assert state.tokens == total
    assert (state.recent[-1].mark if state.recent else "") == mark
    assert chats.proofs(KEY, lambda _: True) == proofs


def live(chat, rng, steps, restart):
    """A random life of a chat; after each message the engine's view is checked."""
    for _ in range(steps):
        what = rng.random()
        turns = len(chat.turns)
        if what < 0.15 and turns > 3:  # back to an earlier turn
            del chat.turns[rng.randint(2, turns) :]
        elif what < 0.3:  # a message is edited
            message = rng.choice(rng.choice(chat.turns))
            part = message["parts"][0]
            name = "text" if "text" in part else "content" if "content" in part else "name"
            part[name] += f" ({rng.randint(1000, 9999)})"
        elif what < 0.4:  # regenerated
            del chat.turns[-1][1:]
            chat.answer(f"Another answer: {rng.randint(1000, 9999)}.")
        elif what < 0.5:
            restart(chat)
        elif what < 0.55:  # only the plugin's memory is gone
            chat.forget()
        text = f"The mark of it is {rng.randint(1000, 9999)}. " + "x" * rng.choice((3, 3, 90_000))
        turns = len(chat.turns)
        chat.say(text)
        check(chat, chat.plugin.home, turns)
        if rng.random() < 0.5:
            url = f"https://example.org/{rng.randint(1, 99)}"
            chat.tool("read_webpage", f"It says {rng.randint(1000, 9999)}.", url=url)
        chat.answer(f"So it is {rng.randint(1000, 9999)}.")


@pytest.mark.parametrize("seed", range(4))
def test_any_life_of_a_chat_with_restarts_of_the_engine(tmp_path, seed):
    plugins = [Plugin(tmp_path)]

    def restart(chat):
        plugins[-1].process.kill()
        plugins[-1].close()
        plugins.append(Plugin(tmp_path))
        chat.plugin = plugins[-1]

    chat = Conversation(plugins[0], settings={"recall": False})
    chat.exchange("/tl start Compare servers")
    chat.exchange("Begin")
    try:
        live(chat, random.Random(seed), 25, restart)
        assert plugins[-1].end() == 0
        assert plugins[-1].stderr == ""
    finally:
        plugins[-1].close()


@pytest.mark.parametrize("seed", range(4))
def test_any_life_of_a_chat_with_two_plugins(tmp_path, seed):
    """Each has an engine of its own and sees the chat as LM Studio has it; both share a home."""
    with Plugin(tmp_path) as one, Plugin(tmp_path) as two:
        memories = {}

        def turn_to_the_other(chat):
            memories[chat.plugin] = chat.held, chat.known
            chat.plugin = two if chat.plugin is one else one
            chat.held, chat.known = memories.get(chat.plugin, (None, []))

        chat = Conversation(one, settings={"recall": False})
        chat.exchange("/tl start Compare servers")
        chat.exchange("Begin")
        live(chat, random.Random(seed), 25, turn_to_the_other)


def test_a_changed_past_costs_what_comes_after_it(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin)
        chat.exchange("/tl start Compare servers")
        for number in range(30):
            chat.exchange(f"Message {number} " + "x" * 1000)
        chat.turns[28][1]["parts"][0]["text"] = "Edited, and the mark is 7,731."
        chat.exchange("go on")
        assert chat.sent["changed"] == 29
        assert plugin.asked == []
        check(chat, plugin.home, 31)
        del chat.turns[10:]
        chat.exchange("back there")
        assert chat.sent["changed"] == 11
        assert plugin.asked == []
        check(chat, plugin.home, 10)


def test_a_whole_history_is_asked_for_once_and_page_by_page(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin, recall_tokens=1_000_000)
        chat.exchange("/tl start Compare servers")
        for number in range(40):
            chat.turns.append([])
            chat._add("user", {"type": "text", "text": f"{number} " + "words " * 20_000})
            chat._add("assistant", {"type": "text", "text": f"The mark is {7000 + number}."})
        chat.exchange("go on")
        skips = [params["skip"] for params in plugin.asked]
        assert skips[0] == 0
        assert skips == sorted(set(skips))
        assert len(skips) > 3
        for _ in range(3):  # proofs of so much text are taken a part a turn
            chat.exchange("go on")
        check(chat, plugin.home, 44)
        chat.forget()
        chat.exchange("the plugin was started anew")
        check(chat, plugin.home, 45)


def test_one_turn_larger_than_a_page_comes_in_several(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin, recall=False)
        chat.exchange("/tl start Compare servers")
        chat.say("Read all of them")
        for number in range(30):
            url = f"https://example.org/{number}"
            page = f"Server {number} listens on port {7000 + number}. " + "x" * 120_000
            chat.tool("read_webpage", page, url=url)
        chat.answer()
        chat.exchange("go on")
        assert len(plugin.asked) > 2
        check(chat, plugin.home, 2)
        chat.tool(
            "ledger_record", kind="finding", text="Port 7,029", source="https://example.org/29"
        )
        chat.exchange("go on")
        assert "(verified" in chat.call("ledger_view")


def test_a_plugin_that_does_not_hand_over_its_history_is_told(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin)
        chat.exchange("/tl start Compare servers")
        chat.turns.append([])
        chat._add("user", {"type": "text", "text": "x" * 300_000})
        plugin.silent = True
        pending = chat.begin("go on")
        ident = wait_for_ask(plugin)
        plugin.send({"id": ident, "error": {"code": -32603, "message": "the chat is gone"}})
        result = pending.wait()
        assert result["text"].startswith("go on")
        assert "earlier messages could not be read (the chat is gone)" in result["status"]
        chat.held = result["held"]
        plugin.silent = False
        assert chat.exchange("go on")["status"] == "throughLine: compare-servers"
        check(chat, plugin.home, 2)


@pytest.mark.parametrize(
    "page",
    [
        {"messages": [], "more": False, "turn": 0},
        {"messages": [{"turn": 1}], "more": False, "turn": 1, "head": ""},
        {"messages": [], "more": False, "turn": 0, "head": "", "next": 2},
        [],
        None,
    ],
)
def test_a_page_that_is_none_is_told(tmp_path, page):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin)
        chat.turns.append([])
        chat._add("user", {"type": "text", "text": "x" * 300_000})
        plugin.silent = True
        pending = chat.begin("go on")
        plugin.send({"id": wait_for_ask(plugin), "result": page})
        result = pending.wait()
        assert result["text"] == "go on"
        assert "could not be read" in result["status"]
        assert result["held"] is None


def wait_for_ask(plugin):
    until = time.monotonic() + 10
    while not plugin.asked:
        assert time.monotonic() < until
        time.sleep(0.01)
    line = next(line for line in reversed(plugin.lines) if b'"history"' in line)
    return json.loads(line)["id"]


def test_the_bridge_keeps_no_text_of_a_chat(tmp_path):
    """After long chats, three times over, the process is no larger than their counts need."""
    with Plugin(tmp_path) as plugin:
        process = psutil.Process(plugin.process.pid)
        sizes = []
        for ident in ("1", "2", "3"):
            chat = Conversation(plugin, ident, recall=False)
            for number in range(60):
                chat.turns.append([])
                chat._add("user", {"type": "text", "text": f"{number} " + "word, " * 40_000})
            chat.exchange("go on")
            del chat
            sizes.append(process.memory_info().rss)
        text = 60 * 6 * 40_000
        assert sizes[2] - sizes[0] < text / 4


def test_messages_are_paired_and_unwrapped():
    wire = msgspec.convert(
        [
            {"turn": 0, "role": "system", "parts": [{"type": "text", "text": "Be brief."}]},
            {"turn": 1, "role": "user", "parts": []},
            {
                "turn": 1,
                "role": "assistant",
                "parts": [
                    {"type": "text", "text": "Let me "},
                    {"type": "text", "text": "look."},
                    {
                        "type": "toolCallRequest",
                        "id": "a",
                        "name": "fetch",
                        "arguments": {"url": "u"},
                    },
                    {"type": "toolCallRequest", "name": "other", "arguments": None},
                ],
            },
            {
                "turn": 1,
                "role": "tool",
                "parts": [
                    {
                        "type": "toolCallResult",
                        "id": "a",
                        "content": '[{"type":"text","text":"A"}]',
                    },
                    {"type": "toolCallResult", "content": '"B"'},
                ],
            },
            {
                "turn": 2,
                "role": "user",
                "parts": [
                    {"type": "text", "text": "one"},
                    {"type": "file", "name": "f.pdf"},
                    {"type": "file", "name": "f.pdf"},
                    {"type": "text", "text": "two"},
                ],
            },
            {
                "turn": 2,
                "role": "tool",
                "parts": [{"type": "toolCallResult", "id": "a", "content": "x"}],
            },
        ],
        list[WireMessage],
    )
    assert list(Translator().messages(wire)) == [
        Message(turn=0, role="system", text="Be brief."),
        Message(turn=1, role="user"),
        Message(turn=1, role="assistant", text="Let me look."),
        Message(turn=1, role="assistant", tool="fetch", args={"url": "u"}, call_id="1:a"),
        Message(turn=1, role="assistant", tool="other", call_id="1:"),
        Message(turn=1, role="tool", tool="fetch", text="A", call_id="1:a"),
        Message(turn=1, role="tool", tool="other", text="B", call_id="1:"),
        Message(turn=2, role="user", text="one\ntwo", files=("f.pdf",)),
        Message(turn=2, role="tool", text="x", call_id="2:a"),
    ]
