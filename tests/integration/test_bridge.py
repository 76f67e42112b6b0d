"""The bridge as a child process on real pipes: a plugin's conversation with it, and the settings."""

import json
import re
from pathlib import Path

import pytest
from bridge_plugin import Conversation, Plugin, RefusedError

from throughline_nb import __version__
from throughline_nb.engine.operations import TOOLS
from throughline_nb.hosts.bridge import messages as wire

PAGE = "https://example.org/notes"


@pytest.fixture
def plugin(tmp_path):
    with Plugin(tmp_path) as made:
        yield made


def test_hello_tells_versions_and_leaves_nothing(plugin):
    assert plugin.welcome == {"protocol": 1, "engine": __version__, "notices": []}
    assert plugin.end() == 0
    assert plugin.stderr == ""
    assert not plugin.home.exists()


def test_a_project_from_its_start_to_a_restart(tmp_path):
    with Plugin(tmp_path) as plugin:
        chat = Conversation(plugin)
        assert chat.offered() == []
        started = chat.exchange("/tl start Compare three servers")
        assert started["name"] == "compare-three-servers"
        assert started["status"] == "throughLine: compare-three-servers"
        assert started["text"].startswith("[throughLine: ")
        assert chat.offered() == [tool.name for tool in TOOLS if tool.needs == "project"]
        first = chat.say("What ports do they use?")["text"]
        assert first.startswith("What ports do they use?\n\n[throughLine: background state")
        chat.tool("read_webpage", "The Korvex server listens on port 8,471.", url=PAGE)
        claim = {"kind": "finding", "text": "Korvex listens on port 8,471", "source": PAGE}
        assert "F1" in chat.tool("ledger_record", **claim)
        assert "next:" in chat.tool("ledger_plan", text="Find the ports")
        chat.answer("It listens on 8,471.")
        second = chat.exchange("And the others?")
        assert "F1 added" in second["text"]
        assert plugin.asked == []  # all of it came along
        assert plugin.end() == 0
    with Plugin(tmp_path) as again:
        chat.plugin = again
        third = chat.exchange("/tl status")
        assert "F1. Korvex listens on port 8,471" in third["text"]
        assert "(verified; source" in third["text"]
        assert [params["first"] for params in again.asked] == [1]
        assert again.end() == 0


def test_tools_are_described_by_the_registry(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    tools = plugin.request("tools", chat=chat.ident, settings={})["tools"]
    for tool in tools:
        known = TOOLS.get(tool["name"])
        assert tool["description"].startswith(known.help)
        assert known.details in tool["description"]
        assert tool["parameters"] == known.schema()


def test_without_a_chat_nothing_happens(plugin):
    history = {"turn": 0, "head": "", "changed": 1, "base": "", "messages": []}
    result = plugin.request("turn", chat=None, text="/tl start x", history=history, settings={})
    assert result == {"text": "/tl start x", "status": "", "name": "", "held": None}
    assert plugin.request("tools", chat=None, settings={}) == {"tools": []}
    assert not plugin.home.exists()


def test_recall_is_offered_where_a_chat_is_long(plugin):
    chat = Conversation(plugin, recall_tokens=2000)
    chat.exchange("The Korvex server listens on port 8,471.")
    for number in range(25):
        chat.exchange(f"Message {number} on servers", "The table was gone over once more. " * 12)
    wait_for(lambda: chat.offered() == ["recall"])
    assert "8,471" in chat.call("recall", query="which port does Korvex use?")
    assert "8,471" in chat.exchange("/tl recall Korvex port")["text"]


def test_a_history_that_crosses_the_threshold_is_copied_after_the_answer(plugin):
    """The plugin has let go of it by then: what is needed must have been fetched before."""
    chat = Conversation(plugin)
    for number in range(60):
        chat.exchange(f"Message {number}: the mark is {7000 + number}", "It was noted. " * 40)
    asked = len(plugin.asked)
    chat.exchange("Now it is long", recall_tokens=1000)
    chat.settings["recall_tokens"] = 1000
    assert len(plugin.asked) > asked
    wait_for(lambda: chat.offered() == ["recall"])
    assert "7003" in chat.call("recall", query="mark 7003")
    assert "7059" in chat.call("recall", query="mark 7059")


def test_settings_hold_in_turns_tools_and_calls_of_their_chat_alone(plugin):
    one = Conversation(plugin, "1", refuse_empty_done=False, digest_tokens=200)
    other = Conversation(plugin, "2")
    for chat in (one, other):
        chat.exchange("/tl start Compare servers of chat " + chat.ident)
        for number in range(30):
            chat.tool("ledger_plan", text=f"Step {number} looks at one more server in its turn")
        chat.tool("ledger_plan", step="S1", status="doing")
        answer = chat.tool("ledger_plan", step="S1", status="done")
        assert answer.startswith("Not done") == (chat is other)
    short, long = (len(chat.exchange("go on")["text"]) for chat in (one, other))
    assert short < long


def test_the_global_form_holds_where_a_chat_says_nothing(tmp_path):
    with Plugin(tmp_path, settings={"refuse_empty_done": False, "orphan_days": "soon"}) as plugin:
        chat = Conversation(plugin)
        chat.exchange("/tl start Compare servers")
        chat.tool("ledger_plan", text="A step", status="doing")
        assert "done" in chat.tool("ledger_plan", step="S1", status="done")
        shown = chat.exchange("/tl doctor")["text"]
        assert "refuse_empty_done = off (lmstudio's form)" in shown
        assert "lmstudio's form: orphan_days = 'soon' is not used" in shown


def test_what_a_model_gives_wrongly_is_one_line(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    for tool, arguments in (
        ("ledger_recrod", {}),
        ("ledger_record", {"kind": "dream", "text": "x"}),
        ("ledger_record", ["finding"]),
        ("ledger_record", None),
        ("ledger_view", "all"),
    ):
        given = {"chat": chat.ident, "tool": tool, "arguments": arguments, "settings": {}}
        told = plugin.request("call", **given)["text"]
        assert told.startswith("Not done: ")
        assert "\n" not in told


def test_another_version_of_the_plugin_is_told_once(tmp_path):
    with Plugin(tmp_path, version="9.9.9") as plugin:
        assert "9.9.9" in plugin.welcome["notices"][0]
        chat = Conversation(plugin)
        told = chat.exchange("hello")["status"]
        assert told.startswith("throughLine: the plugin is of version 9.9.9 and the engine")
        assert "throughline-nb lmstudio install" in told
        assert chat.exchange("hello again")["status"] == ""


@pytest.mark.parametrize(("protocol", "who"), [(0, "this plugin"), (2, "Python package")])
def test_another_protocol_is_one_clear_error(tmp_path, protocol, who):
    with Plugin(tmp_path, hello=False) as plugin:
        with pytest.raises(RefusedError, match=who) as refused:
            plugin.request("hello", protocol=protocol, plugin="9.9.9", settings={})
        assert refused.value.code == wire.VERSION
        with pytest.raises(RefusedError, match="hello") as refused:
            plugin.request("tools", chat="1", settings={})
        assert refused.value.code == wire.NO_HELLO
        assert plugin.request("hello", protocol=1, plugin="9.9.9", settings={})["protocol"] == 1


def test_our_words_are_never_taken_for_the_users(plugin):
    """Blocks of ours in the history are no figures that the user gave, and no text to find."""
    chat = Conversation(plugin, recall_tokens=500)
    chat.exchange("/tl start Count to 8,471 by Friday")
    for number in range(20):
        chat.exchange(f"Message {number} on counting", "Counted once more without a result. " * 8)
    chat.tool("ledger_record", kind="finding", text="The count is 8,471", source="turn 5")
    shown = chat.exchange("/tl status")["text"]
    assert "8,471 not in its source" in shown
    wait_for(lambda: "recall" in chat.offered())
    assert "background state" not in chat.call("recall", turn=3)


def test_foreign_commands_and_attachments_pass(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Read the paper")
    assert chat.exchange("/compact now")["text"] == "/compact now"
    chat.say("Read it", files=["paper.pdf"])
    chat.tool("ledger_record", kind="finding", text="It is a paper", source="paper.pdf")
    chat.answer()
    assert "(verified; source" in chat.exchange("/tl status")["text"]


def test_the_page_on_the_protocol_names_every_field_and_code():
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([A-Za-z]+)`", page))
    for record in (
        wire.Hello, wire.Welcome, wire.TurnParams, wire.GivenHistory, wire.TurnResult, wire.Held,
        wire.ToolsParams, wire.ToolDefinition, wire.CallParams, wire.AskHistory, wire.Page,
        wire.WireMessage, wire.TextPart, wire.FilePart, wire.RequestPart, wire.ResultPart,
        wire.Progress, wire.Cancel,
    ):  # fmt: skip
        assert set(record.__struct_fields__) <= named, record.__name__
        tag = record.__struct_config__.tag
        assert tag is None or tag in named
    for name in ("PARSE", "REQUEST", "METHOD", "PARAMS", "DEFECT", "VERSION", "NO_HELLO"):
        assert f"| {getattr(wire, name)} |" in page
    assert f"| {wire.CANCELLED} |" in page


def wait_for(true, seconds=20):
    import time

    until = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < until, "it never came"
        time.sleep(0.02)


def test_every_line_is_a_message_of_the_protocol(plugin):
    chat = Conversation(plugin)
    chat.exchange("/tl start Compare servers")
    chat.tool("ledger_record", kind="question", text="Which?")
    for line in plugin.lines:
        assert line.endswith(b"\n")
        assert json.loads(line)["jsonrpc"] == "2.0"
