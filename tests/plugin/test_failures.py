"""Whatever becomes of the engine, the chat goes on, and the status line says what to do."""

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from throughline_nb.store.files import lock
from throughline_nb.store.home import Home

from .standin import PATIENCE, WAIT, Chat, Host, Reply, eventually, request, result, wait_gone
from .toolchain import bundle

UNCHANGED = "your message went on unchanged"
Record = Callable[..., None]


@pytest.fixture
def chat(host: Host) -> Chat:
    """A chat with a project, and an engine that runs."""
    chat = Chat(host, "1764500000000")
    chat.say("/tl start Compare seven runtimes")
    return chat


@pytest.fixture
def engine(chat: Chat, host: Host) -> Iterator[psutil.Process]:
    """The engine of that chat; goes on in the end where a test stopped it."""
    (process,) = host.engines()
    yield process
    with contextlib.suppress(psutil.NoSuchProcess):
        process.resume()


@pytest.fixture
def held(lmstudio: Path) -> Path:
    """The lock of the project; whoever holds it keeps the engine waiting."""
    return Home(lmstudio / "throughline").locks / "compare-seven-runtimes.lock"


def went_on(reply: Reply, text: str) -> str:
    """The message is as it was; the status line says why."""
    assert reply.kind == "complete"
    assert reply.text == text
    assert reply.status.startswith("throughLine")
    assert reply.icons[-1] == "error"
    return reply.status


def pretend(folder: Path, code: str) -> dict[str, str]:
    """An environment in which `python -m throughline_nb` is a program of the test's own."""
    package = folder / "pretend" / "throughline_nb"
    package.mkdir(parents=True, exist_ok=True)
    (package / "__init__.py").write_text("", encoding="utf-8", newline="\n")
    (package / "__main__.py").write_text(code, encoding="utf-8", newline="\n")
    return {"PYTHONPATH": str(package.parent), "PATH": os.environ["PATH"]}


def test_a_message_that_is_aborted(chat: Chat, host: Host, engine: psutil.Process) -> None:
    engine.suspend()
    sent = chat.send("Never mind", keep=False)
    host.do("abort", taskId=host.event("task", 1)["taskId"])
    begin = time.monotonic()
    reply = Reply(sent.result(WAIT))
    assert (reply.kind, reply.status) == ("aborted", "")
    assert time.monotonic() - begin < 10
    engine.resume()
    assert "[throughLine" in chat.say("This one counts").text
    assert host.engines() == [engine]


def test_a_command_has_no_time_out_but_can_be_aborted(
    chat: Chat, host: Host, held: Path, engine: psutil.Process
) -> None:
    chat.all = {"turn_seconds": 2}
    with lock(held):
        sent = chat.send("/tl goal Compare eight runtimes", keep=False)
        time.sleep(2.5)
        assert not sent.done()
        host.do("abort", taskId=host.event("task", 1)["taskId"])
        assert Reply(sent.result(WAIT)).kind == "aborted"
    assert host.engines() == [engine]


def test_one_chat_that_waits_holds_up_no_other(chat: Chat, host: Host, held: Path) -> None:
    other = Chat(host, "1764500000009")
    other.say("/tl start Another matter")
    with lock(held):
        sent = chat.send("/tl goal Compare eight runtimes")
        reply = other.say("How far are we?")
        assert "[throughLine" in reply.text
        assert not sent.done()
    assert "was carried out" in Reply(sent.result(WAIT)).text


def test_the_host_is_lost(chat: Chat, host: Host, engine: psutil.Process) -> None:
    assert host.plugin is not None
    host.do("drop")
    host.plugin.wait(WAIT)
    wait_gone(engine)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, getattr(signal, "SIGKILL", 15)])
def test_the_engine_ends_with_the_plugin(host: Host, engine: psutil.Process, how: int) -> None:
    assert host.plugin is not None
    host.plugin.send_signal(how)
    host.plugin.wait(WAIT)
    wait_gone(engine)


def test_the_engine_is_killed_in_the_middle_of_a_turn(
    chat: Chat, host: Host, engine: psutil.Process
) -> None:
    engine.suspend()
    sent = chat.send("What is next?")
    time.sleep(0.2)
    engine.kill()
    status = went_on(Reply(sent.result(WAIT)), "What is next?")
    assert "the engine stopped" in status
    assert "throughline-nb doctor" in status
    assert "[throughLine" in chat.say("And now?").text, "it was started again"
    (fresh,) = host.engines()
    assert fresh != engine


def test_the_engine_is_killed_in_the_middle_of_a_tool_call(
    chat: Chat, host: Host, engine: psutil.Process
) -> None:
    tools = chat.session()
    engine.suspend()
    call = tools.start("ledger_view")
    time.sleep(0.2)
    engine.kill()
    found = call.result(WAIT)
    assert found["type"] == "toolCallComplete"
    assert found["result"].startswith("Not done: throughLine does not answer")
    assert "Goal" in tools.call("ledger_view"), "the same session goes on with a new engine"


def test_the_engine_was_killed_between_two_messages(
    chat: Chat, host: Host, engine: psutil.Process
) -> None:
    engine.kill()
    eventually(lambda: host.engines() == [])
    reply = chat.say("And now?")
    assert "[throughLine" in reply.text
    assert reply.icons == ["done"]


def test_an_engine_that_hangs_lets_the_message_go_in_time(
    chat: Chat, host: Host, engine: psutil.Process
) -> None:
    engine.suspend()
    chat.all = {"turn_seconds": 1}
    reply = chat.say("What is next?")
    assert "no answer within 1 s" in went_on(reply, "What is next?")
    assert 900 < reply.ms < 5000
    assert chat.tools() == []
    engine.resume()
    chat.all = {"turn_seconds": PATIENCE}
    late = chat.say("And now?")
    assert "Goal: Compare seven runtimes" in late.text, "what did not arrive comes again"
    assert host.engines() == [engine]


def test_a_tool_call_that_is_aborted_before_its_turn_is_not_carried_out(
    chat: Chat, host: Host, held: Path
) -> None:
    tools = chat.session()
    with lock(held):
        first = tools.start("ledger_record", kind="finding", text="This one", source="user")
        tools.start("ledger_record", kind="finding", text="Never mind", source="user")
        host.do("abortCall", sessionId=tools.id, callId=host.event("call", 1)["callId"])
        time.sleep(0.3)
    assert first.result(WAIT)["type"] == "toolCallComplete"
    ledger = tools.call("ledger_view")
    assert "This one" in ledger
    assert "Never mind" not in ledger


CASES: dict[str, tuple[dict[str, Any], str]] = {
    "no interpreter": ({"python": "/nowhere/python"}, "/nowhere/python could not be started"),
    "a folder": ({"python": str(Path(sys.executable).parent)}, "could not be started"),
    "empty": ({"python": ""}, "is not set up on this machine"),
    "newer": ({"format": 2}, "is of a newer version than this plugin"),
}


@pytest.mark.parametrize("case", CASES)
def test_no_engine(bare_host: Host, plugin: Path, record: Record, case: str) -> None:
    changed, said = CASES[case]
    record(**changed)
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001")
    for text in ("/tl start Something", "Hello"):
        status = went_on(chat.say(text), text)
        assert said in status
        assert UNCHANGED in status
        assert "`throughline-nb lmstudio install`" in status
        assert chat.tools() == []
    record()  # what the line asks for
    assert "was carried out" in chat.say("/tl start Something").text


@pytest.mark.skipif(sys.platform == "win32", reason="no executable bit there")
def test_an_interpreter_that_is_not_executable(
    bare_host: Host, plugin: Path, record: Record, tmp_path: Path
) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\n", encoding="utf-8", newline="\n")
    record(python=str(program))
    bare_host.run(plugin)
    assert "EACCES" in went_on(Chat(bare_host, "1764500000001").say("Hello"), "Hello")


def test_no_record_and_a_damaged_one(
    bare_host: Host, plugin: Path, record: Record, lmstudio: Path
) -> None:
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001")
    file = lmstudio / "throughline" / "bridge.json"
    assert f"{file} is missing" in went_on(chat.say("Hello"), "Hello")
    file.write_text("{", encoding="utf-8")
    assert f"{file} cannot be read" in went_on(chat.say("Hello"), "Hello")
    record()
    assert "was carried out" in chat.say("/tl start Something").text


def test_an_interpreter_of_the_settings_wins(host: Host, tmp_path: Path) -> None:
    chat = Chat(host, "1764500000001")
    chat.all["python"] = str(tmp_path / "nowhere")
    assert f"{tmp_path / 'nowhere'} could not" in went_on(chat.say("Hello"), "Hello")
    chat.all["python"] = sys.executable
    assert "was carried out" in chat.say("/tl start Something").text
    (first,) = host.engines()
    del chat.all["python"]
    assert "[throughLine" in chat.say("Hello").text
    wait_gone(first)


PRETENDERS = {
    "garbage": ("import sys; print('Hello!', flush=True); sys.stdin.read()", "no message"),
    "another answer": (
        "import sys, json\nfor line in sys.stdin: print(json.dumps([1]), flush=True)",
        "no message",
    ),
    "no end of line": (
        "import sys\nsys.stdout.write('x' * 40_000_000); sys.stdout.flush(); sys.stdin.read()",
        "no message",
    ),
    "ends at once": ("raise SystemExit('No module named msgspec')", "No module named msgspec"),
    "crashes": ("import os; os.abort()", "SIGABRT" if os.name != "nt" else "ended with"),
}


@pytest.mark.parametrize("case", PRETENDERS)
def test_an_engine_that_is_none(
    bare_host: Host, plugin: Path, record: Record, tmp_path: Path, case: str
) -> None:
    code, said = PRETENDERS[case]
    record(env=pretend(tmp_path, code))
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001")
    lines = [went_on(chat.say("Hello"), "Hello") for _ in range(3)]
    assert "the engine stopped" in lines[0]
    assert said in lines[0]
    assert "2 times in a row" in lines[2], "it is left alone for a while"
    eventually(lambda: bare_host.engines() == [])
    record()
    eventually(lambda: "was carried out" in chat.say("/tl start Something").text)


TALKS = """
import json, sys
def send(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["method"] == "turn":
        said = {"request": asked["id"], "text": "throughLine: reading", "unlimited": True}
        send(method="progress", params=said)
        status = asked["params"]["text"]
        result = {"text": asked["params"]["text"], "status": status, "name": "", "held": None}
        send(id=asked["id"], result=result)
    else:
        send(id=asked["id"], result={"tools": [], "notices": []})
"""


def test_what_long_work_says_stands_until_it_is_done(
    bare_host: Host, plugin: Path, record: Record, tmp_path: Path
) -> None:
    record(env=pretend(tmp_path, TALKS))
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001")
    reply = chat.say("throughLine: fine")
    assert reply.icons == ["loading", "done"]
    assert reply.status == "throughLine: fine"
    silent = chat.say("")
    assert silent.icons == ["loading"]
    assert silent.status == "", "with nothing to say the line goes"


def test_an_engine_of_another_protocol(
    bare_host: Host, plugin: Path, record: Record, tmp_path: Path
) -> None:
    refusal = {"code": -32001, "message": "upgrade this plugin"}
    answer = json.dumps({"jsonrpc": "2.0", "id": 1, "error": refusal})
    record(env=pretend(tmp_path, f"input(); print({answer!r}, flush=True); input()"))
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001")
    assert "throughLine: upgrade this plugin" in went_on(chat.say("Hello"), "Hello")


@pytest.mark.skipif(sys.platform == "win32", reason="a limit of file sizes is POSIX's")
def test_a_disk_that_takes_no_more(
    bare_host: Host, plugin: Path, record: Record, tmp_path: Path
) -> None:
    code = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
sys.path[:] = [each for each in sys.path if "pretend" not in each]
del sys.modules["throughline_nb"]
runpy.run_module("throughline_nb", run_name="__main__", alter_sys=True)
"""
    record(env={**pretend(tmp_path, code), "THROUGHLINE_HOME": str(tmp_path / "full")})
    bare_host.run(plugin)
    chat = Chat(bare_host, "1764500000001", {"heavy_turn_calls": 1})
    started = chat.say("/tl start Something")
    assert started.kind == "complete"
    assert "did not work" in started.text
    for text in ("Hello", "What is next?"):
        reply = chat.say(text)
        assert (reply.kind, reply.text) == ("complete", text)
        chat.add(request("1", "web_search", {}), result("1", "ten results"))
    assert "throughLine" in chat.say("Go on").status, "the project cannot start by itself"


def test_what_runs_without_a_chat_is_untouched(host: Host) -> None:
    chat = Chat(host, "1764500000020")
    reply = Reply(chat.send("Summarise this: /tl start nothing", bare=True).result(WAIT))
    assert reply.text == "Summarise this: /tl start nothing"
    assert reply.updates == []
    assert host.do("session")["tools"] == []
    assert host.engines() == [], "nobody asked for an engine"
    host.check()


def test_the_plugin_runs_as_a_module_too(bare_host: Host, packages: Path, record: Record) -> None:
    record()
    bare_host.run(bundle(kind=".mjs"))
    assert "was carried out" in Chat(bare_host, "1764500000001").say("/tl start Something").text
