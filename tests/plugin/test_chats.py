"""The plugin with the real SDK and the real engine: what a person does in LM Studio."""

import re
import subprocess
from pathlib import Path

import pytest

from .standin import Chat, Host, Reply, assistant, eventually, file_part, request, result, user

URL = "https://docs.example.org/runtimes/context"
PAGE = "The default context is 4,096 tokens. A server flag changes it."
LEDGER_TOOLS = ["ledger_view", "ledger_plan", "ledger_record", "ledger_resolve"]


@pytest.fixture
def host(shared_host: Host) -> Host:
    """One host for all these chats, as a person has it."""
    return shared_host


@pytest.fixture
def lmstudio(shared_host: Host) -> Path:
    """Its LM Studio's folder."""
    return shared_host.user / ".lmstudio"


def ledger_of(lmstudio: Path, slug: str) -> str:
    return (lmstudio / "throughline" / "projects" / slug / "ledger.md").read_text(encoding="utf-8")


def heavy_turn(chat: Chat, text: str) -> Reply:
    """A turn in which the model calls another plugin's tool three times."""
    reply = chat.say(text, answer=None)
    for n in range(3):
        ident = f"{len(chat.stored())}-{n}"
        chat.add(
            request(ident, "web_search", {"query": f"{text} {n}"}), result(ident, "ten results")
        )
    chat.add(assistant("Ten results each."))
    return reply


def test_a_first_message_that_needs_a_name_gets_the_projects(host: Host) -> None:
    chat = Chat(host, "1764500000000")
    reply = chat.say("/tl start Compare seven inference runtimes")
    assert reply.kind == "complete"
    assert "was carried out" in reply.text
    assert reply.status.startswith("throughLine: compare-seven-inference-runtimes")
    assert reply.icons == ["done"]
    assert host.do("chat", working=chat.working)["names"] == ["compare-seven-inference-runtimes"]


def test_a_chat_that_has_a_name_keeps_it(host: Host) -> None:
    chat = Chat(host, "1764500000001")
    host.do("chat", working=chat.working, naming=False)
    chat.say("/tl start Compare eight inference runtimes")
    assert host.do("chat", working=chat.working)["names"] == []


def test_a_chat_with_no_project_is_left_alone(host: Host, lmstudio: Path) -> None:
    chat = Chat(host, "1764500000002")
    for text in ("Good morning", "What is a monad?", "Thanks \ud83d, bye 👋"):
        reply = chat.say(text)
        assert (reply.kind, reply.updates) == ("complete", [])
        assert reply.text == text
        assert chat.tools() == []
    assert not (lmstudio / "throughline" / "chats" / "lmstudio" / chat.ident).exists()


def test_a_whole_project_over_thirty_turns_and_two_chats(host: Host, lmstudio: Path) -> None:
    slug = "compare-seven-runtimes"
    chat = Chat(host, "1764500000003")
    chat.say("/tl start Compare seven runtimes")
    chat.say("/tl constraint Only primary sources count")
    digest = chat.say("Let us plan it.", answer=None)
    assert "Goal: Compare seven runtimes" in digest.text
    assert "Only primary sources count" in digest.text
    tools = chat.session()
    assert tools.names[:4] == LEDGER_TOOLS
    for n in range(1, 9):
        tools.call("ledger_plan", text=f"Look at runtime {n}")
    tools.discard()
    chat.add(assistant("Eight steps."))
    for n in range(1, 9):  # three turns a step
        chat.say(f"Go on with runtime {n}.", answer=None)
        tools = chat.session()
        tools.call("ledger_plan", step=f"S{n}", status="doing")
        tools.discard()
        chat.read(f"{URL}/{n}", PAGE)
        chat.add(assistant("I read its page."))
        chat.say("Record it.", answer=None)
        tools = chat.session()
        text = f"Runtime {n} has a default context of 4,096 tokens."
        assert f"F{n}" in tools.call(
            "ledger_record", kind="finding", text=text, source=f"{URL}/{n}"
        )
        assert "done" in tools.call("ledger_plan", step=f"S{n}", status="done")
        tools.discard()
        chat.add(assistant("Recorded."))
        shown = chat.say("What is next?")
        assert f"{n} of 8 done" in shown.text
        assert f"step {n + 1} of 8" in shown.status or n == 8
    assert len([m for m in chat.stored() if m["role"] == "user"]) == 27
    other = Chat(host, "1764500000004")
    assert f"/tl open {slug}" not in other.say("What are my projects?").status
    opened = other.say(f"/tl open {slug}")
    assert slug in opened.status
    digest = other.say("Where were we?", answer=None)
    assert "8 of 8 done" in digest.text
    assert "Runtime 8 has a default context" in digest.text
    tools = other.session()
    tools.call(
        "ledger_record", kind="decision", text="Take runtime 3", because=["F3"], reason="fast"
    )
    tools.discard()
    back = chat.say("Anything new?")
    assert "D1 added" in back.text
    ledger = ledger_of(lmstudio, slug)
    assert ledger.count("state: verified") == 8
    folder = lmstudio / "throughline" / "projects" / slug
    git = ["git", "-C", str(folder), "log", "--format=%s"]
    log = subprocess.run(git, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(log) >= 8 * 4 + 2
    assert len(host.engines()) == 1


def test_tools_are_those_of_the_chat(host: Host) -> None:
    small = {"recall_tokens": 100}
    nothing, recalling, all_of_them = (
        Chat(host, f"176450000001{n}", config) for n, config in enumerate(({}, small, small))
    )
    long_text = [user("Tell me of the harbour"), assistant("The harbour of Lindal is deep. " * 60)]
    for chat in (nothing, recalling, all_of_them):
        chat.put(long_text)
        chat.say("Go on." if chat is not all_of_them else "/tl start Harbours")
        chat.say("And then?")
    assert nothing.tools() == []
    assert recalling.tools() == ["recall"]
    assert all_of_them.tools() == [*LEDGER_TOOLS, "recall"]
    tools = recalling.session()
    assert "harbour of Lindal" in tools.call("recall", query="harbour Lindal")


def test_parallel_tool_calls_of_two_chats_are_all_carried_out(host: Host, lmstudio: Path) -> None:
    chats = [Chat(host, f"176450000003{n}") for n in range(2)]
    for n, chat in enumerate(chats):
        chat.say(f"/tl start Project number {n}")
    sessions = [chat.session() for chat in chats]
    calls = [
        session.start(
            "ledger_record", kind="finding", text=f"Fact {n} of {session.id}", source="user"
        )
        for n in range(8)
        for session in sessions
    ]
    for call in calls:
        found = call.result(60)
        assert found["type"] == "toolCallComplete"
        assert re.search(r"F\d added", found["result"])
    for n in range(2):
        assert len(re.findall(r"\*\*F\d\*\*", ledger_of(lmstudio, f"project-number-{n}"))) == 8
    host.check()


def test_a_regenerated_past_replaces_what_stood_there(host: Host) -> None:
    chat = Chat(host, "1764500000040", {"recall_tokens": 100})
    past = [
        message
        for n in range(1, 13)
        for message in (
            user(f"Question {n}"),
            assistant(f"Answer {n} names the lake Vestra{n}. " * 9),
        )
    ]
    chat.put(past)
    chat.say("Go on.")
    chat.say("And on.")
    tools = chat.session()
    assert "Vestra7" in tools.call("recall", query="lake Vestra7")
    replaced = [*chat.stored()[:13], assistant("Now it names the lake Ombrel. " * 9)]
    chat.put(replaced)  # turn 7 was regenerated, what came after it is gone
    chat.say("Go on from here.")
    chat.say("And on.")
    found = tools.call("recall", query="lake Ombrel")
    assert "[7 assistant] Now it names the lake Ombrel" in found
    assert "Answer 9 names" not in tools.call("recall", query="lake Vestra9")
    assert "Answer 5 names" in tools.call("recall", query="lake Vestra5")


def test_three_thousand_messages(host: Host) -> None:
    chat = Chat(host, "1764500000050")
    past = [
        message
        for n in range(1, 1501)
        for message in (
            user(f"Question {n}"),
            assistant(f"Answer {n}: item{n}x is in row {n}. " * 10),
        )
    ]
    chat.put(past)
    first = chat.say("Go on.")
    assert first.kind == "complete"
    start = chat.say("/tl start Rows")
    assert "was carried out" in start.text
    digest = chat.say("And then?")
    assert "[throughLine" in digest.text
    eventually(lambda: "recall" in chat.tools())  # its first build goes on beside the chat
    tools = chat.session()
    assert "item750x" in tools.call("recall", query="item750x")
    assert "[throughLine" in chat.say("Last one.").text


def test_an_attachment_survives(host: Host) -> None:
    chat = Chat(host, "1764500000060")
    chat.say("/tl start Read reports")
    reply = chat.say("Read this report.", files=["report.txt", "table.csv"])
    assert reply.text.startswith("Read this report.\n\n[throughLine")
    assert reply.content[1:] == [file_part("report.txt"), file_part("table.csv")]
    untouched = Chat(host, "1764500000061").say("Read this too.", files=["note.txt"])
    assert untouched.content[1:] == [file_part("note.txt")]


def test_an_attached_file_proves_a_finding(host: Host, lmstudio: Path) -> None:
    chat = Chat(host, "1764500000062")
    chat.say("/tl start Prove by files")
    chat.say("Read this report.", files=["report.txt"], answer=None)
    tools = chat.session()
    tools.call("ledger_record", kind="finding", text="Sales fell", source="report.txt")
    chat.add(assistant("Recorded."))
    chat.say("Go on.")
    assert "state: verified" in ledger_of(lmstudio, "prove-by-files")


@pytest.mark.parametrize("typed", ["/compact", "/compress hard", "/usage", "/throughput"])
def test_other_plugins_commands_pass_untouched(host: Host, typed: str) -> None:
    chat = Chat(host, f"17645000001{len(typed)}")
    chat.say(f"/tl start Something {typed[1:]}")
    reply = chat.say(typed)
    assert (reply.kind, reply.text) == ("complete", typed)


def test_several_texts_of_a_message_stay_as_they_are_where_nothing_is_added(host: Host) -> None:
    chat = Chat(host, "1764500000071")
    injected = {"type": "text", "text": "Citations that another plugin put in."}
    typed = {"type": "text", "text": "What does it say?"}
    given = {"role": "user", "content": [injected, typed]}
    found = host.do("preprocess", working=chat.working, input=given)
    assert found["processed"] == given


def test_settings_hold_for_their_chat(host: Host) -> None:
    starting = Chat(host, "1764500000080")
    quiet = Chat(host, "1764500000081", {"automatic_start": False})
    heavier = Chat(host, "1764500000082", {"heavy_turn_calls": 4})
    for chat in (starting, quiet, heavier):
        heavy_turn(chat, "Compare the harbours of the north")
        heavy_turn(chat, "And of the south")
        third = chat.say("And of the east")
        assert bool(third.status) == (chat is starting), third.status


def test_the_form_has_its_fields_in_both_places(host: Host) -> None:
    registered = host.event("ready")["registered"]
    chat, everywhere = (
        {field["fullKey"]: field for field in registered[name]["fields"]}
        for name in ("setConfigSchematics", "setGlobalConfigSchematics")
    )
    assert {"automatic_start", "recall"} <= chat.keys()
    assert {"turn_seconds", "python"} <= everywhere.keys()
    assert not chat.keys() & everywhere.keys()
    assert host.event("ready")["channels"] == ["setPromptPreprocessor", "setToolsProvider"]


def test_two_hundred_sessions_opened_and_discarded(host: Host) -> None:
    chats = [Chat(host, f"17645000009{n:02}") for n in range(10)]
    for n, chat in enumerate(chats):
        chat.say(f"/tl start Topic {n}")
    for n in range(200):
        chat = chats[n % 10]
        if n % 4 == 3:
            host.do("hasty", working=chat.working)
        else:
            assert chat.tools() == LEDGER_TOOLS
    assert len(host.engines()) == 1
    assert chats[0].say("Still there?").kind == "complete"
    frames = host.do("frames")
    assert frames["plugin"] > 200
    assert frames["host"] > 400
