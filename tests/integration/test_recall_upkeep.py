"""Recall beside the turns: switched off, purged, compacted, damaged, in a home that is only read."""

import sqlite3
import time
from typing import ClassVar

import pytest
from test_recall_engine import FILLER, KEY, Talk, lengthen

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine.session import Engine
from throughline_nb.store.chats import ChatState
from throughline_nb.store.home import Home
from throughline_nb.store.recall import Recall

SECRET = "The key of the archive is marigold-7731-lantern."


def said(turn, text, role="user"):
    return Message(turn=turn, role=role, text=text)


@pytest.fixture
def talk(tmp_path):
    return Talk(tmp_path / "home")


def history_file(tmp_path):
    return next((tmp_path / "home").rglob("history.jsonl"))


def left_of_recall(tmp_path):
    return [
        path
        for path in (tmp_path / "home" / "chats").rglob("*")
        if path.name.lstrip(".").startswith(("history.jsonl", "recall."))
    ]


class TestDuringTheFirstBuild:
    """What stops it does not wait for all of it."""

    TURNS = 6000

    def messages(self, first):
        for turn in range(first, self.TURNS + 1):
            yield said(turn, f"t{turn} {SECRET if turn == 5990 else FILLER}")

    @pytest.fixture
    def begun(self, tmp_path):
        engine = Engine(Home(tmp_path / "home"))
        engine.command("start Compare servers", key=KEY)
        recorded = {"kind": "finding", "text": SECRET, "source": "user"}
        assert "F1" in engine.call(KEY, "ledger_record", recorded)
        self.turn(engine, 1)
        while not engine.recalls._held(KEY).recall.exists:
            time.sleep(0.001)
        assert engine.recalls._held(KEY).busy
        return engine

    def turn(self, engine, changed, **settings):
        return engine.turn(
            KEY, "hello", History(self.TURNS, changed, self.messages), settings=settings
        )

    def test_switched_off(self, begun, tmp_path):
        begin = time.perf_counter()
        self.turn(begun, self.TURNS + 1, recall=False)
        assert time.perf_counter() - begin < 1
        assert left_of_recall(tmp_path) == []

    def test_forgotten(self, begun, tmp_path):
        begun.command("forget", key=KEY)
        begin = time.perf_counter()
        begun.command("forget compare-servers", key=KEY)
        assert time.perf_counter() - begin < 1
        assert left_of_recall(tmp_path) == []

    def test_purged_and_gone_on_with(self, begun, tmp_path):
        begun.command("purge F1", key=KEY)
        begin = time.perf_counter()
        begun.command("purge F1", key=KEY)
        assert time.perf_counter() - begin < 2
        self.turn(begun, self.TURNS + 1)
        begun.recalls.wait(KEY, 60)
        self.turn(begun, self.TURNS + 1)
        begun.recalls.wait(KEY, 60)
        held = begun.recalls.of(KEY)
        assert held.last == self.TURNS
        assert b"marigold" not in history_file(tmp_path).read_bytes()
        assert history_file(tmp_path).read_bytes().count(b"t3 We went") == 1
        assert [m.text[:3] for m in held.turn(3)] == ["t3 "]


class TestSwitchedOff:
    def chats(self, tmp_path, count=4):
        engine = Engine(Home(tmp_path / "home"))
        for number in range(count):
            key = ChatKey("lmstudio", str(number))
            engine.chats.save(key, ChatState(key=str(key), recall=True))
            recall = Recall(engine.chats.folder(key))
            recall.append([said(1, "hello")])
            recall.close()
        return engine

    def off(self, tmp_path):
        (tmp_path / "home" / "settings.toml").write_text("recall = false\n", encoding="utf-8")

    def hello(self, engine, **settings):
        history = History(0, 1, lambda _: [])
        return engine.turn(ChatKey("lmstudio", "new"), "hello", history, settings=settings)

    def test_nothing_stays_of_chats_that_are_not_opened(self, tmp_path):
        self.chats(tmp_path)
        self.off(tmp_path)
        engine = Engine(Home(tmp_path / "home"))
        assert [self.hello(engine).status for _ in range(4)] == [""] * 4
        assert list((tmp_path / "home").rglob("*[0-3]*")) == []

    def test_also_by_a_command(self, tmp_path):
        self.chats(tmp_path)
        self.off(tmp_path)
        engine = Engine(Home(tmp_path / "home"))
        for _ in range(4):
            engine.command("list")
        assert left_of_recall(tmp_path) == []

    def test_while_the_engine_runs(self, tmp_path):
        engine = self.chats(tmp_path)
        self.hello(engine)
        assert len(left_of_recall(tmp_path)) > 4
        self.off(tmp_path)
        for _ in range(4):
            self.hello(engine)
        assert left_of_recall(tmp_path) == []

    @pytest.mark.parametrize("name", ["history.jsonl", "recall.cache.sqlite"])
    def test_whatever_of_it_is_left(self, tmp_path, name):
        engine = self.chats(tmp_path, 2)
        for path in left_of_recall(tmp_path):
            if path.name != name:
                path.unlink()
        (engine.chats.folder(ChatKey("lmstudio", "1")) / "state.json").write_bytes(b"{")
        (engine.chats.folder(ChatKey("lmstudio", "0")) / ".history.jsonl.new").write_bytes(b"x")
        self.off(tmp_path)
        for _ in range(2):
            self.hello(engine)
        assert left_of_recall(tmp_path) == []

    def test_what_else_is_kept_of_a_chat_stays(self, tmp_path):
        engine = self.chats(tmp_path, 1)
        key = ChatKey("lmstudio", "0")
        engine.command("start Compare servers", key=key)
        self.off(tmp_path)
        again = Engine(Home(tmp_path / "home"))
        self.hello(again)
        assert left_of_recall(tmp_path) == []
        state = again.chats.load(key)
        assert (state.project, state.recall) == ("compare-servers", False)

    def test_in_slices(self, tmp_path, monkeypatch):
        engine = self.chats(tmp_path, 4)
        monkeypatch.setattr("throughline_nb.engine.recalls.SLICE", 0.0)
        self.off(tmp_path)
        counts = []
        for _ in range(5):
            self.hello(engine)
            counts.append(len(list((tmp_path / "home").rglob("history.jsonl"))))
        assert counts == [3, 2, 1, 0, 0]

    def test_not_where_only_one_chat_is_switched_off(self, tmp_path):
        engine = self.chats(tmp_path)
        before = left_of_recall(tmp_path)
        self.hello(engine, recall=False)
        assert left_of_recall(tmp_path) == before

    def test_not_where_the_hosts_form_has_it_on(self, tmp_path):
        engine = self.chats(tmp_path)
        before = left_of_recall(tmp_path)
        self.off(tmp_path)
        engine.form = {"recall": True}
        self.hello(engine, recall=True)
        assert left_of_recall(tmp_path) == before

    def test_one_that_cannot_be_deleted_stops_neither_turn_nor_others(self, tmp_path, monkeypatch):
        from throughline_nb.errors import StoreError

        engine = self.chats(tmp_path)
        self.off(tmp_path)
        real = Recall.delete

        def delete(self):
            if self.folder.name == "1":
                raise StoreError("in use")
            real(self)

        monkeypatch.setattr(Recall, "delete", delete)
        assert [self.hello(engine).status for _ in range(4)] == [""] * 4
        assert {path.parent.name for path in left_of_recall(tmp_path)} == {"1"}


class TestCompacting:
    def rewritten(self, talk):
        lengthen(talk)
        talk.say("long", answer="Draft paragraph about the bridge. " * 9000)
        talk.say("go on")
        del talk.turns[20:]
        talk.changed = 21

    def test_superseded_text_goes_while_the_process_lives(self, talk, tmp_path):
        self.rewritten(talk)
        talk.say("again")
        assert b"Draft paragraph" not in history_file(tmp_path).read_bytes()
        assert talk.names() == ["recall"]
        for number in range(3):
            assert talk.say(f"again {number}").status == ""
        assert "Message 3 on servers" in talk.ask(query="message 3 servers")
        assert "again 0" in talk.ask(turn=22)

    def test_where_it_fails_nothing_changes(self, talk, tmp_path, monkeypatch):
        tried = []

        def full(*given):
            tried.append(given)
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("throughline_nb.store.recall.journal.compact", full)
        self.rewritten(talk)
        for each in (talk, Talk(tmp_path / "home")):
            each.turns = talk.turns
            for number in range(4):
                assert each.say(f"again {number}").status == ""
                assert each.names() == ["recall"]
            assert "Message 3 on servers" in each.ask(query="message 3 servers")
        assert len(tried) == 2  # once a process, until there is more to be gained


class TestDamage:
    """Whatever was done to the history by hand, turns go on, and recall is there again."""

    HAPPENINGS: ClassVar = {
        "deleted": lambda file: file.unlink(),
        "emptied": lambda file: file.write_bytes(b""),
        "cut": lambda file: file.write_bytes(file.read_bytes()[:2000]),
        "torn": lambda file: file.write_bytes(
            file.read_bytes() + b'{"turn":20,"role":"user","text":"half of a crypt'
        ),
        "a turn beyond 64 bits": lambda file: file.write_bytes(
            file.read_bytes() + b'{"turn":99999999999999999999,"role":"user","text":"x"}\n'
        ),
        "a rewind beyond 64 bits": lambda file: file.write_bytes(
            file.read_bytes() + b'{"rewind":99999999999999999999}\n'
        ),
        "another's lines": lambda file: file.write_bytes(b"my notes\n" * 500),
        "bytes": lambda file: file.write_bytes(bytes(range(256)) * 40),
        "other words": lambda file: file.write_bytes(
            file.read_bytes().replace(b"table of servers", b"list of machines and more")
        ),
        "turns taken out": lambda file: file.write_bytes(
            b"".join(file.read_bytes().splitlines(keepends=True)[::3])
        ),
    }

    @pytest.mark.parametrize("restarted", [False, True], ids=["same process", "restarted"])
    @pytest.mark.parametrize("happening", HAPPENINGS)
    def test_of_the_history(self, talk, tmp_path, happening, restarted):
        talk.say("/tl start Compare servers")
        lengthen(talk)
        talk.engine.recalls.close(KEY)
        self.HAPPENINGS[happening](history_file(tmp_path))
        if restarted:
            again = Talk(tmp_path / "home")
            again.turns = talk.turns
            talk = again
        for number in range(4):
            outcome = talk.say(f"after {number}")
            assert "unexpected" not in outcome.status
            assert "background state" in outcome.text
        assert "recall" in talk.names()
        assert "after 2" in talk.ask(turn=24)
        held = talk.engine.recalls.of(KEY)
        assert [len(held.turn(turn)) for turn in range(22, 25)] == [2, 2, 2]
        assert max(len(held.turn(turn)) for turn in range(1, 22)) <= 2


class TestOnlyRead:
    """A home that cannot be written: the index is made in memory, and then offered."""

    @pytest.fixture
    def reader(self, talk, tmp_path, monkeypatch):
        lengthen(talk)
        talk.engine.recalls.close(KEY)
        real = sqlite3.connect

        def connect(path, **given):
            if path != ":memory:":
                raise sqlite3.OperationalError("attempt to write a readonly database")
            return real(path, **given)

        monkeypatch.setattr("throughline_nb.store.recall.cache.sqlite3.connect", connect)
        return Talk(tmp_path / "home")

    def offered(self, reader):
        """What is offered once what the first question began is done."""
        for _ in range(1000):
            if names := reader.names():
                return names
            reader.engine.recalls.wait(KEY, 30)
        return []

    def test_offered_and_asked(self, reader):
        assert self.offered(reader) == ["recall"]
        assert "Message 3" in reader.ask(query="message 3 servers")
        reader.engine.recalls.close(KEY)
        assert self.offered(reader) == ["recall"]

    def test_a_long_one_is_offered_when_it_is_built(self, reader, monkeypatch):
        monkeypatch.setattr("throughline_nb.engine.recalls.SLICE", 0.0)
        assert reader.names() == []
        assert self.offered(reader) == ["recall"]
        assert "Message 3" in reader.ask(query="message 3 servers")
