"""What no plugin should send, and what no host should do: the bridge says so once and goes on."""

import json
import subprocess
import sys
import time

import psutil
import pytest
from bridge_plugin import Conversation, Plugin, RefusedError

from throughline_nb.hosts.bridge import messages as wire

HISTORY = {"turn": 0, "head": "", "changed": 1, "base": "", "messages": []}


@pytest.fixture
def plugin(tmp_path):
    with Plugin(tmp_path) as made:
        yield made


def request(ident=7, method="tools", params=None, **more):
    given = {"chat": "1", "settings": {}} if params is None else params
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": given, **more})


def turn(**changes):
    return {"chat": "1", "text": "hello", "history": HISTORY, "settings": {}, **changes}


def message(*parts, **changes):
    return {"turn": 1, "role": "user", "parts": list(parts), **changes}


def with_messages(*messages):
    return turn(history={**HISTORY, "turn": 1, "head": "a", "messages": list(messages)})


LINES = [
    (b"garbage", wire.PARSE, None),
    (b"{", wire.PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools","params":{"chat":"1"', wire.PARSE, None),
    (b"\x00\x00\x00", wire.PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"to\x00ols"}', wire.PARSE, None),
    (b"\xff\xfe\x00", wire.PARSE, None),
    (b'{"jsonrpc":"2.0","id":7,"method":"tools","params":' + b"[" * 100_000, wire.PARSE, None),
    (b'{"a":' * 100_000, wire.REQUEST, None),
    (b"[]", wire.REQUEST, None),
    (b"null", wire.REQUEST, None),
    (b"17", wire.REQUEST, None),
    (b"[" + request().encode() + b"]", wire.REQUEST, None),
    (b'{"jsonrpc":"1.0","id":7,"method":"tools"}', wire.REQUEST, 7),
    (b'{"id":7,"method":"tools"}', wire.REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":7.5,"method":"tools"}', wire.REQUEST, None),
    (b'{"jsonrpc":"2.0","id":null,"method":"tools"}', wire.REQUEST, None),
    (b'{"jsonrpc":"2.0","id":7}', wire.REQUEST, 7),
    (b'{"jsonrpc":"2.0","id":99,"result":{}}', wire.REQUEST, 99),
    (request(extra=1), wire.REQUEST, 7),
    (request(method="turns"), wire.METHOD, 7),
    (request(method=""), wire.METHOD, 7),
    (request(params=[]), wire.PARAMS, 7),
    (request(params={}), wire.PARAMS, 7),
    (request(params={"chat": "1", "settings": {}, "more": 1}), wire.PARAMS, 7),
    (request(params={"chat": 1, "settings": {}}), wire.PARAMS, 7),
    (request(params={"chat": "1", "settings": []}), wire.PARAMS, 7),
    *(
        (request(params={"chat": chat, "settings": {}}), wire.PARAMS, 7)
        for chat in ("..", ".", "", "a/b", "a\\b", "../../x", "a\x00b", "a\nb", "x" * 256)
    ),
    (request(method="call", params={"chat": None, "tool": "recall"}), wire.PARAMS, 7),
    (request(method="turn", params={"chat": "1", "text": "x"}), wire.PARAMS, 7),
    (request(method="turn", params=turn(text=None)), wire.PARAMS, 7),
    (request(method="turn", params=turn(history={**HISTORY, "turn": -1})), wire.PARAMS, 7),
    (request(method="turn", params=turn(history={**HISTORY, "changed": 0})), wire.PARAMS, 7),
    (request(method="turn", params=turn(history={**HISTORY, "head": "x" * 99})), wire.PARAMS, 7),
    *(
        (request(method="turn", params=with_messages(each)), wire.PARAMS, 7)
        for each in (
            message(role="robot"),
            message(parts="hello"),
            message({"type": "video", "text": "x"}),
            message({"type": "text"}),
            message({"type": "text", "text": "x", "more": 1}),
            message({"type": "toolCallRequest", "name": "x", "arguments": "y"}),
            message(turn="1"),
        )
    ),
    (request(method="hello", params={"protocol": "1", "plugin": "1"}), wire.PARAMS, 7),
    (request(method="shutdown", params={"now": True}), wire.PARAMS, 7),
    (b'{"jsonrpc":"2.0","method":"stop","params":{}}', wire.METHOD, None),
    (b'{"jsonrpc":"2.0","method":"cancel","params":{}}', wire.PARAMS, None),
    (request(method="x" * 40_000_000), wire.REQUEST, None),
]  # fmt: skip


def test_each_line_that_is_wrong_is_one_error_and_the_bridge_goes_on(plugin):
    chat = Conversation(plugin, "1")
    chat.exchange("/tl start Compare servers")
    for line, code, ident in LINES:
        before = len(plugin.lines)
        plugin.raw((line if isinstance(line, bytes) else line.encode()) + b"\n")
        told = plugin.unasked.get(timeout=20)
        shown = line[:80]
        assert told["error"]["code"] == code, shown
        assert told["id"] == ident, shown
        assert "\n" not in told["error"]["message"], shown
        assert len(told["error"]["message"]) < 400, shown
        assert len(plugin.lines) == before + 1, shown
    assert chat.exchange("go on")["text"].startswith("go on\n\n[throughLine: ")
    assert not list(plugin.home.rglob("*..*"))
    assert plugin.end() == 0
    assert plugin.stderr == ""
    assert "Traceback" not in (plugin.home / "logs" / "throughline.log").read_text("utf-8")


def test_a_wrong_field_is_named(plugin):
    params = with_messages(message({"type": "text", "text": 17}))
    with pytest.raises(RefusedError, match=r"history\.messages\[0\]\.parts\[0\]\.text"):
        plugin.request("turn", **params)


def test_empty_lines_and_carriage_returns_are_nothing(plugin):
    plugin.raw(b"\n\r\n  \n" + request(ident=8).encode() + b"\r\n")
    assert plugin.unasked.get(timeout=10)["result"] == {"tools": []}


def test_half_a_surrogate_pair_costs_a_question_mark(plugin):
    """A cut emoji would shut its chat out for good, since it stays in the history."""
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    chat.exchange("An emoji: 😀, and a half: \ud83d", "Another half: \ude00 and a NUL: \x00")
    chat.tool("ledger_record", kind="finding", text="\ud83d is half", source="user")
    assert chat.exchange("and \ud83d")["text"].startswith("and ?\n\n")
    assert "F1. ? is half" in chat.call("ledger_view")
    assert plugin.stderr == ""


def test_half_a_line_at_the_end_is_no_message(plugin):
    plugin.raw(request().encode())
    assert plugin.end() == 0
    assert len(plugin.lines) == 1


def test_a_request_twice_under_way_is_refused(plugin):
    plugin.silent = True
    chat = Conversation(plugin)
    chat.turns = [[{"turn": 1, "role": "user", "parts": []}]]
    history = {**chat.history(), "messages": None}
    plugin.send({"id": 50, "method": "turn", "params": turn(history=history)})
    plugin.send({"id": 50, "method": "turn", "params": turn(history=history)})
    assert plugin.unasked.get(timeout=10)["error"]["code"] == wire.REQUEST


NOISY = """
import os, subprocess, sys
from throughline_nb.engine.session import Engine
offered = Engine.tools
def noisy(self, key, **given):
    print("noise of a library")
    os.write(1, b"noise on the descriptor\\n")
    child = "import sys; print('noise of a child', repr(sys.stdin.read()))"
    subprocess.run([sys.executable, "-c", child], check=True)
    return offered(self, key, **given)
Engine.tools = noisy
from throughline_nb.hosts.cli import main
sys.argv = ["throughline-nb", "bridge"]
main()
"""


def test_standard_output_carries_the_protocol_alone(tmp_path):
    with Plugin(tmp_path, command=[sys.executable, "-c", NOISY]) as plugin:
        assert plugin.request("tools", chat="1", settings={}) == {"tools": []}
        assert len(plugin.lines) == 2
        assert plugin.end() == 0
        for noise in ("noise on the descriptor", "noise of a child ''"):
            assert noise in plugin.stderr


def hang(plugin, ident="hung"):
    """A turn that waits for a history which does not come."""
    plugin.silent = True
    chat = Conversation(plugin, ident)
    chat.turns = [[{"turn": 1, "role": "user", "parts": [{"type": "text", "text": "x" * 300_000}]}]]
    before = len(plugin.asked)
    pending = chat.begin("hello")
    while len(plugin.asked) == before:
        time.sleep(0.01)
    return chat, pending


def test_a_turn_that_hangs_holds_up_no_other_chat_and_no_tools(plugin):
    chat, _ = hang(plugin)
    for number in range(40):
        hang(plugin, f"hung-{number}")
    other = Conversation(plugin, "other")
    begin = time.perf_counter()
    other.exchange("/tl start Compare servers")
    other.tool("ledger_record", kind="question", text="Which?")
    assert chat.offered() == []
    assert time.perf_counter() - begin < 5


@pytest.mark.parametrize("how", ["end of input", "shutdown"])
def test_the_engine_ends_while_a_turn_hangs(plugin, how):
    hang(plugin)
    begin = time.perf_counter()
    if how == "shutdown":
        assert plugin.request("shutdown") == {}
    else:
        plugin.process.stdin.close()
    assert plugin.process.wait(10) == 0
    assert time.perf_counter() - begin < 3
    assert plugin.stderr == ""


PLUGIN = """
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-m", "throughline_nb", "bridge"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
)
hello = b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"plugin":"0"}}'
child.stdin.write(hello + b"\\n")
child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
child.wait()
"""


def test_the_engine_ends_with_a_plugin_that_is_killed(tmp_path):
    with subprocess.Popen([sys.executable, "-c", PLUGIN], stdout=subprocess.PIPE) as host:
        engine = psutil.Process(int(host.stdout.readline()))
        assert engine.is_running()
        host.kill()
    until = time.monotonic() + 10
    while engine.is_running() and engine.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < until
        time.sleep(0.02)


NOBODY_READS = """
import subprocess, sys
child = subprocess.Popen(
    [sys.executable, "-m", "throughline_nb", "bridge"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE,
)
for number in range(3000):
    child.stdin.write(b"garbage " * 20 + b"\\n")
child.stdin.close()
sys.exit(child.wait(20))
"""


def test_the_engine_ends_where_nobody_reads_what_it_says(tmp_path):
    """The pipe is full, and every thread that wants to answer waits."""
    with Plugin(tmp_path, command=[sys.executable, "-c", NOBODY_READS], hello=False) as host:
        assert host.process.wait(30) == 0


def test_a_turn_under_way_is_finished_in_the_grace(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    given = {"kind": "question", "text": "Was it kept?"}
    params = {"chat": chat.ident, "tool": "ledger_record", "arguments": given, "settings": {}}
    plugin.begin("call", params)
    assert plugin.end() == 0
    ledger = next(plugin.home.rglob("ledger.md")).read_text(encoding="utf-8")
    assert "Was it kept?" in ledger


def test_a_cancelled_request_that_has_not_begun_is_not_carried_out(plugin):
    chat, pending = hang(plugin)
    call = plugin.begin("call", {"chat": "hung", "tool": "ledger_view", "arguments": {}})
    plugin.cancel(call)
    plugin.silent = False
    plugin._give(1, plugin.asked[-1])
    assert "hello" in pending.wait()["text"]
    with pytest.raises(RefusedError) as refused:
        call.wait()
    assert refused.value.code == wire.CANCELLED
    assert chat.offered() == []


def test_a_cancelled_turn_takes_the_history_in_and_tells_its_digest_with_the_next(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    chat.exchange("First")
    header = chat.exchange("Second")["text"]
    assert "Digest" not in header
    chat.turns[-1][1]["parts"][0]["text"] = "y" * 300_000
    plugin.silent = True
    pending = chat.begin("Third")
    while not plugin.asked:
        time.sleep(0.01)
    plugin.cancel(pending)
    plugin.silent = False
    plugin._give(1, plugin.asked[0])
    with pytest.raises(RefusedError) as refused:
        pending.wait()
    assert refused.value.code == wire.CANCELLED
    held = refused.value.data["held"]
    assert held == {"turn": 3, "head": chat.known[3]}
    chat.held = held
    asked = len(plugin.asked)
    assert "Digest of project" in chat.exchange("Third again")["text"]
    assert len(plugin.asked) == asked


def test_a_cancel_that_comes_after_the_answer_is_understood(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    chat.exchange("First")
    pending = chat.begin("Second")
    assert "Digest" not in pending.wait()["text"]
    plugin.cancel(pending)
    plugin.request("call", chat=chat.ident, tool="ledger_view", arguments={}, settings={})
    chat.forget()
    assert "Digest" in chat.exchange("Second")["text"]


def test_commands_lift_the_time_out_and_long_histories_say_how_far_they_are(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    assert plugin.progress == [{"request": 2, "text": "", "unlimited": True}]
    chat.exchange("go on")
    assert len(plugin.progress) == 1
    plugin.silent = True
    for number in range(30):
        chat.turns.append([])
        chat._add("user", {"type": "text", "text": f"{number} " + "words " * 15_000})
    pending = chat.begin("hello")
    told = answer = 0
    while told < 1:
        if len(plugin.asked) > answer:
            time.sleep(0.3)
            plugin._give(answer + 1, plugin.asked[answer])
            answer += 1
        told = len(plugin.progress) - 1
        time.sleep(0.01)
    plugin.silent = False
    for number in range(answer, len(plugin.asked)):
        plugin._give(number + 1, plugin.asked[number])
    assert pending.wait()["held"]["turn"] == 32
    assert plugin.progress[1]["text"].startswith("throughLine: reading this chat, turn ")
    assert not plugin.progress[1]["unlimited"]
