"""Recall in the engine: when it starts, what it offers, and what it leaves on the disk."""

import threading

import pytest

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine.session import Engine
from throughline_nb.errors import ThroughLineError
from throughline_nb.store.home import Home
from throughline_nb.store.recall import Recall

KEY = ChatKey("lmstudio", "1764500000000")
FILLER = "We went over the table of servers once more and nothing in it had to be changed. " * 8


class Talk:
    """A long chat."""

    def __init__(self, home, **settings):
        self.engine = Engine(Home(home), clock=lambda: 1_764_500_000.0)
        self.settings = {"recall_tokens": 2000, **settings}
        self.turns: list[list[Message]] = []
        self.changed = 1

    def say(self, text, answer=FILLER, **settings):
        turn = len(self.turns) + 1
        history = History(turn - 1, min(self.changed, turn), self.messages)
        outcome = self.engine.turn(KEY, text, history, settings={**self.settings, **settings})
        self.turns.append(
            [
                Message(turn=turn, role="user", text=outcome.text),
                Message(turn=turn, role="assistant", text=answer),
            ]
        )
        self.changed = turn
        self.engine.recalls.wait(KEY, 30)
        return outcome

    def messages(self, first):
        return [message for said in self.turns[first - 1 :] for message in said]

    def names(self):
        return [tool.name for tool in self.engine.tools(KEY)]

    def ask(self, **given):
        return self.engine.call(KEY, "recall", given)


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path / "home")


def lengthen(talk, turns=20):
    for number in range(turns):
        talk.say(f"Message {number} on servers")


def test_a_short_chat_leaves_nothing_and_is_offered_nothing(talk, tmp_path):
    talk.say("The Korvex server listens on port 8,471.")
    assert talk.names() == []
    assert not list((tmp_path / "home").rglob("history.jsonl"))
    assert not list((tmp_path / "home").rglob("state.json"))
    assert "shorter" in talk.ask(query="Korvex")


def test_past_the_threshold_a_fact_is_found_again_without_a_project(talk):
    talk.say("The Korvex server listens on port 8,471.")
    lengthen(talk)
    assert talk.names() == ["recall"]
    answer = talk.ask(query="which port does Korvex use?")
    assert "[1 user 10:53] The Korvex server listens on port 8,471." in answer
    assert "2025-11-30:" in answer
    shown = talk.say("/tl recall 8471").text
    assert "[1 user 10:53] The Korvex server" in shown


def test_with_a_project_all_tools_are_offered(talk):
    talk.say("/tl start Compare servers")
    lengthen(talk)
    assert talk.names()[-1] == "recall"
    assert "ledger_view" in talk.names()
    assert "background state" not in talk.ask(turn=4)
    assert "Compare servers" not in talk.ask(query="Goal Compare Health Project")


def test_a_turn_in_full_comes_in_pages(talk):
    lengthen(talk)
    talk.say("Long answer please", answer="\n".join(f"Line {n} of the answer" for n in range(900)))
    talk.say("go on")
    first = talk.ask(turn=21)
    assert "Page 1 of" in first
    assert "Line 899 of" in talk.ask(turn=21, page=int(first.split("Page 1 of ")[1].split(";")[0]))
    assert "allowed: 1 to" in talk.ask(turn=21, page=99)
    assert "allowed: a turn that was" in talk.ask(turn=2100)
    assert "needs query" in talk.ask()


def test_a_regenerated_turn_replaces_what_was_found(talk):
    lengthen(talk)
    talk.say("Which colour?", answer="The banner is vermilion.")
    talk.say("go on")
    assert "vermilion" in talk.ask(query="banner vermilion")
    talk.turns[20][1] = Message(turn=21, role="assistant", text="The banner is turquoise.")
    del talk.turns[21:]
    talk.changed = 21
    talk.say("go on")
    assert "turquoise" in talk.ask(query="banner colour")
    assert "is vermilion" not in talk.ask(query="banner vermilion")


def test_a_restart_goes_on_with_what_was_built(talk, tmp_path):
    lengthen(talk)
    history = next((tmp_path / "home").rglob("history.jsonl"))
    before = history.read_bytes()
    again = Talk(tmp_path / "home")
    again.turns = talk.turns
    assert again.names() == ["recall"]
    again.say("after the restart")
    assert history.read_bytes().startswith(before)
    assert history.read_bytes().count(b"Message 3 on servers") == 1


def test_an_edit_during_the_first_build_is_not_missed(talk, monkeypatch):
    go = threading.Event()
    build = Recall.build

    def slow(self, seconds=None):
        go.wait(10)
        return build(self, seconds)

    wait = talk.engine.recalls.wait
    monkeypatch.setattr(talk.engine.recalls, "wait", lambda *_: None)
    talk.settings["recall_tokens"] = 1_000_000
    lengthen(talk)
    monkeypatch.setattr(Recall, "build", slow)
    talk.settings["recall_tokens"] = 2000
    talk.say("past the threshold now")
    assert talk.names() == []
    with pytest.raises(ThroughLineError, match="still being built"):
        talk.engine.command("recall servers", key=KEY)
    talk.turns[2][1] = Message(turn=3, role="assistant", text="The banner is turquoise.")
    talk.changed = 3
    talk.say("during the build")
    go.set()
    wait(KEY, 10)
    talk.say("after the build")
    wait(KEY, 10)
    assert talk.names() == ["recall"]
    assert "turquoise" in talk.ask(query="banner")


def test_switched_off_it_is_deleted(talk, tmp_path):
    lengthen(talk)
    assert list((tmp_path / "home").rglob("history.jsonl"))
    talk.say("hello", recall=False)
    assert talk.names() == []
    assert not [path for path in (tmp_path / "home").rglob("*") if "1764500000000" in str(path)]
    assert "switched off" in talk.ask(query="servers")


def test_nothing_found_names_the_nearest_words(talk):
    talk.say("The quantisation of the Korvex weights is settled.")
    lengthen(talk)
    assert "Nothing in this chat" in talk.ask(query="zzyzx")
    answer = talk.ask(query="korvax qantisation")
    assert "Korvex" in answer


def test_a_full_disk_is_told_and_the_turn_goes_on(talk, monkeypatch):
    lengthen(talk)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("throughline_nb.store.recall.journal.write_all", full)
    outcome = talk.say("one more")
    assert outcome.text == "one more"
    assert "no space left" in outcome.status
    monkeypatch.undo()
    assert talk.say("and again").status == ""
    assert "one more" in talk.ask(query="one more", turn=0) or talk.ask(turn=21)


def test_the_command_in_a_short_chat_says_why_not(talk):
    with pytest.raises(ThroughLineError, match="shorter"):
        talk.engine.command("recall port", key=KEY)


def test_forget_deletes_recall_data_at_once_where_there_is_no_project(talk, tmp_path):
    lengthen(talk)
    assert "deleted" in talk.engine.command("forget", key=KEY).text
    assert not list((tmp_path / "home").rglob("history.jsonl"))
    with pytest.raises(ThroughLineError, match="nothing was deleted"):
        talk.engine.command("forget", key=KEY)
    talk.say("it does not come back by itself")
    assert not list((tmp_path / "home").rglob("history.jsonl"))
    talk.say("/tl start Compare servers")
    talk.say("but with a project")
    assert list((tmp_path / "home").rglob("history.jsonl"))


def test_forget_names_recall_and_deletes_it_with_the_project(talk, tmp_path):
    talk.say("/tl start Compare servers")
    lengthen(talk)
    assert "recall holds" in talk.engine.command("forget", key=KEY).text
    assert list((tmp_path / "home").rglob("history.jsonl"))
    talk.engine.command("forget compare-servers", key=KEY)
    assert not list((tmp_path / "home").rglob("history.jsonl"))


def test_purge_takes_an_entry_out_of_recall_and_it_stays_out(talk, tmp_path):
    talk.say("/tl start Compare servers")
    secret = "The key of the archive is marigold-7731-lantern."
    talk.say(f"Please note: {secret} Thank you.")
    recorded = {"kind": "finding", "text": secret, "source": "user"}
    assert "F1" in talk.engine.call(KEY, "ledger_record", recorded)
    talk.turns[-1].append(
        Message(turn=2, role="assistant", tool="ledger_record", args=recorded, call_id="1")
    )
    lengthen(talk)
    history = next((tmp_path / "home").rglob("history.jsonl"))
    assert history.read_bytes().count(b"marigold") == 2
    talk.engine.command("purge F1", key=KEY)
    assert "2 messages" in talk.engine.command("purge F1", key=KEY).text
    assert b"marigold" not in history.read_bytes()
    again = Talk(tmp_path / "home")
    again.turns = talk.turns  # the host hands its own copy in once more
    again.say("after the restart")
    again.say("and once more")
    assert b"marigold" not in history.read_bytes()
    assert "Message 3 on servers" in again.ask(query="message 3 servers")
    assert not [p for p in history.parent.iterdir() if b"marigold" in p.read_bytes()]


def test_two_engines_keep_one_history_of_a_chat(talk, tmp_path):
    lengthen(talk)
    other = Talk(tmp_path / "home")
    other.turns = talk.turns  # one chat, handed to either of them in turn
    for number in range(6):
        each = (talk, other)[number % 2]
        each.changed = 1 if number < 2 else len(each.turns) - 1
        each.say(f"Turnabout {number}", answer=f"Reply{number}x.")
    history = next((tmp_path / "home").rglob("history.jsonl")).read_text(encoding="utf-8")
    assert [history.count(f"Turnabout {number}") for number in range(5)] == [1] * 5
    assert history.count("Message 7 on") == 1
    for each in (talk, other):
        assert "Reply4x" in each.ask(query="Reply4x")
