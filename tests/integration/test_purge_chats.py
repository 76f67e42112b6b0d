"""What was purged stays out of all that is kept of chats, whatever a host hands in again."""

import pytest
from chat_host import ChatHost
from stores import NOW, everything
from test_recall_engine import KEY, Talk, lengthen

from throughline_nb.chat import ChatKey, Message
from throughline_nb.engine.session import Engine
from throughline_nb.errors import StoreError
from throughline_nb.store.home import Home

SECRET = "The key of the archive is marigold-7731-lantern."


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path / "home")


def with_secret(talk):
    talk.say("/tl start Compare servers")
    talk.say("A first question")
    talk.say(f"Please note: {SECRET} Thank you.")
    talk.engine.call(KEY, "ledger_record", {"kind": "finding", "text": SECRET, "source": "user"})


def purge(talk, **where):
    for _ in range(2):
        said = talk.engine.command("purge F1", **(where or {"key": KEY}))
    return said.text


def left(tmp_path):
    """Names of the files below the home in which the secret stands."""
    files = (file for file in (tmp_path / "home").rglob("*") if file.is_file())
    return [file.name for file in files if b"marigold" in file.read_bytes().lower()]


def edited(talk, turn):
    """An earlier answer is edited in its place; what follows stays."""
    talk.turns[turn - 1][1] = Message(turn=turn, role="assistant", text="Edited by hand.")
    talk.changed = turn


def test_an_earlier_turn_is_edited(talk, tmp_path):
    with_secret(talk)
    lengthen(talk)
    assert left(tmp_path)
    assert "1 message that recall holds" in purge(talk)
    assert left(tmp_path) == []
    edited(talk, 2)
    talk.say("go on")
    assert left(tmp_path) == []
    assert "Edited by hand" in talk.ask(turn=2)
    assert "Please note: [purged]. Thank you." in talk.ask(turn=3)


@pytest.mark.parametrize("restarted", [False, True])
def test_purged_before_recall_began(talk, tmp_path, restarted):
    with_secret(talk)
    purge(talk)
    if restarted:
        before, talk = talk, Talk(tmp_path / "home")
        talk.turns = before.turns
    lengthen(talk)
    assert left(tmp_path) == []
    assert "Please note: [purged]. Thank you." in talk.ask(turn=3)


def test_a_chat_that_is_bound_no_longer(talk, tmp_path):
    with_secret(talk)
    lengthen(talk)
    talk.say("/tl off")
    assert "1 message" in purge(talk, project="compare-servers")
    edited(talk, 2)
    talk.say("go on")
    assert left(tmp_path) == []


def test_a_chat_whose_state_is_damaged(talk, tmp_path):
    with_secret(talk)
    lengthen(talk)
    folder = talk.engine.chats.folder(KEY)
    talk.engine.recalls.close(KEY)
    (folder / "state.json").write_text("{")
    purge(talk, project="compare-servers")
    assert left(tmp_path) == []


def test_what_a_tool_was_given_however_deep(talk, tmp_path):
    with_secret(talk)
    purge(talk)
    talk.say("write it")
    common = {"turn": len(talk.turns), "tool": "write_file", "call_id": "1"}
    args = {"path": "a", "parts": [{"text": f'first\n{SECRET}\n"last"', SECRET: 1}, 7, None]}
    talk.turns[-1].append(Message(role="assistant", args=args, **common))
    talk.turns[-1].append(Message(role="tool", text=f"wrote\n{SECRET.upper()}", **common))
    lengthen(talk)
    assert left(tmp_path) == []
    shown = talk.ask(turn=len(talk.turns) - 20)
    assert '"path":"a"' in shown
    assert "first" in shown
    assert "last" in shown


def test_what_failed_is_finished_when_it_is_said_again(talk, tmp_path, monkeypatch):
    with_secret(talk)
    lengthen(talk)

    def full(*_, **__):
        raise StoreError("history.jsonl could not be written (no space left on device)")

    with monkeypatch.context() as patched:
        patched.setattr("throughline_nb.store.recall.recall.Recall.redact", full)
        with pytest.raises(StoreError, match="To finish it: /tl purge F1"):
            purge(talk)
    assert left(tmp_path)
    said = talk.engine.command("purge F1", key=KEY).text
    assert said.startswith("F1 was removed from compare-servers before. It is taken out of 1 mess")
    assert left(tmp_path) == []
    assert talk.engine.command("purge F1", key=KEY).text == (
        "F1 was removed from compare-servers before."
    )


def test_a_history_without_the_words_is_not_written_again(talk, tmp_path):
    with_secret(talk)
    other = ChatKey("lmstudio", "1764600000000")
    recall = talk.engine.recalls._held(other).recall
    recall.append([Message(turn=1, role="user", text="hello")])
    file = talk.engine.chats.folder(other) / "history.jsonl"
    before = file.stat()
    lengthen(talk)
    purge(talk)
    assert (file.stat().st_ino, file.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_handoff_quotes_around_it(tmp_path):
    engine = Engine(Home(tmp_path / "home"), lambda: NOW)
    host = ChatHost(engine)
    host.say("/tl start Compare runtimes")
    host.answer()
    host.say(f"Note this: the port is 8471. {SECRET} and the port is 8471, {SECRET.lower()}")
    host.answer()
    host.say("go on")
    host.tool("ledger_record", kind="finding", text=SECRET, source="user")
    host.tool("ledger_record", kind="finding", text="the port is 8471", source="turn 2")
    host.answer()
    for _ in range(2):
        host.say("/tl purge F1")
        host.answer()
    path = engine.projects.open(engine.projects.names()[0]).path
    host.say("/tl handoff")
    assert b"marigold" not in everything(path)
    assert left(tmp_path) == []
    assert "the port is 8471" in (path / "handoff.md").read_text(encoding="utf-8")
