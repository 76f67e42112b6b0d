"""What the engine does for hosts that hand over a history in parts, and restart."""

import re
import threading

import pytest
from chat_host import ChatHost

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine import intake
from throughline_nb.engine.session import Engine
from throughline_nb.errors import StoreError, ThroughLineError
from throughline_nb.store.cleanup import clean
from throughline_nb.store.home import Home

URL = "https://example.org/ports"


@pytest.fixture
def host(tmp_path):
    made = ChatHost(Engine(Home(tmp_path / "home")))
    made.say("/tl start Compare servers")
    made.answer()
    return made


def restarted(host):
    host.engine = Engine(host.engine.home)
    host.changed = 1


def long(host, turns=6):
    for number in range(turns):
        host.say(f"Message {number}")
        host.tool("read_webpage", f"Server {number} listens on port {7000 + number}.", url=URL)
        host.answer()


def proved(host, monkeypatch):
    """Turns that are proved during a message."""
    seen = []
    real = intake.proofs_of

    def noting(messages, tools):
        seen.append(messages[0].turn)
        return real(messages, tools)

    with monkeypatch.context() as patched:
        patched.setattr(intake, "proofs_of", noting)
        host.say("go on")
    return seen


def test_after_a_restart_the_same_history_is_not_proved_anew(host, monkeypatch):
    long(host)
    host.say("and")
    restarted(host)
    assert proved(host, monkeypatch) == [8]
    host.tool("ledger_record", kind="finding", text="Server 3 listens on 7,003", source=URL)
    host.say("check")
    assert "(verified" in host.engine.call(host.key, "ledger_view", {})


@pytest.mark.parametrize("turn", [1, 4, 7])
@pytest.mark.parametrize("what", ["text", "result", "file", "failure", "gone"])
def test_after_a_restart_a_changed_history_is_taken_in_anew(host, monkeypatch, turn, what):
    long(host)
    host.say("and")
    messages = host.turns[turn - 1]
    if what == "gone":
        del messages[1:]
    else:
        at = {"text": -1, "result": 2, "file": 0, "failure": 2}[what] if len(messages) > 3 else 0
        old = messages[at]
        messages[at] = Message(
            turn=turn,
            role=old.role,
            text=old.text + " edited" * (what in ("text", "result")),
            tool=old.tool,
            args=old.args,
            call_id=old.call_id,
            failed=what == "failure",
            files=("a.pdf",) if what == "file" else (),
        )
    restarted(host)
    assert proved(host, monkeypatch) == list(range(1, 9))


@pytest.mark.parametrize("bound", [False, True])
def test_a_history_that_breaks_off_is_taken_in_again(host, bound):
    long(host)
    other = ChatHost(host.engine, "another")
    other.turns = host.turns
    if bound:
        host.engine.command("open compare-servers", key=other.key)

    def broken(first):
        for message in other.history().messages(first):
            if message.turn == 5:
                raise ThroughLineError("The host went away.")
            yield message

    outcome = host.engine.turn(other.key, "go on", History(len(other.turns), 1, broken))
    assert outcome.text.startswith("go on")
    assert "The host went away" in outcome.status
    assert host.engine.chat(other.key).state.turn < 5
    if not bound:
        host.engine.command("open compare-servers", key=other.key)
    other.say("again")
    chats = host.engine.chats
    state, first = chats.load(other.key), chats.load(host.key)
    assert state.turn == len(other.turns) - 1
    assert state.recent[-2].mark == first.recent[-1].mark
    before = [each for each in chats.proofs(other.key, lambda _: True) if each.turn <= first.turn]
    assert before == chats.proofs(host.key, lambda _: True)


def test_proofs_that_could_not_be_written_are_taken_again(host, monkeypatch):
    host.say("Read it")
    host.tool("read_webpage", "It listens on port 8,471.", url=URL)
    host.tool("ledger_record", kind="finding", text="The port is 8,471", source=URL)

    def full(*_):
        raise StoreError("no space left on device")

    monkeypatch.setattr(host.engine.chats, "add_proofs", full)
    assert "no space" in host.say("one").status
    assert "no space" in host.say("two").status
    monkeypatch.undo()
    host.say("three")
    assert "(verified" in host.engine.call(host.key, "ledger_view", {})


def test_an_outcome_that_did_not_arrive_is_told_again(host):
    host.say("one")
    assert "Digest" not in host.say("two").text
    host.engine.undelivered(host.key)
    restarted(host)
    assert "Digest" in host.say("three").text
    other = ChatKey("lmstudio", "2")
    host.engine.undelivered(other)
    assert not host.engine.chats.folder(other).exists()


class TestDeletedChats:
    """Windows deletes no file that is open, so a deleted chat's recall is let go of first."""

    @pytest.fixture
    def host(self, host):
        host.say("x" * 40_000, settings={"recall_tokens": 1000})
        host.answer()
        host.say("go on", settings={"recall_tokens": 1000})
        host.engine.recalls.wait(host.key, 30)
        assert host.engine.recalls.ready(host.key)
        return host

    @staticmethod
    def cleaned(engine, key, exists=False):
        """As the cleaning beside the turns does it."""
        from throughline_nb.engine.cleaning import _Unless

        gone = _Unless(engine, lambda asked: exists if asked == key else None)
        return [a.kind for a in clean(engine.home, gone, engine.clock(), engine.settings())]

    def test_its_recall_is_closed_and_its_folder_goes(self, host):
        recall = host.engine.recalls.of(host.key)
        assert recall.search("x") is not None
        assert recall._index._cache is not None
        assert self.cleaned(host.engine, host.key)
        assert recall._index._cache is None
        assert not host.engine.chats.folder(host.key).exists()

    def test_one_that_exists_stays_open(self, host):
        recall = host.engine.recalls.of(host.key)
        assert recall.search("x") is not None
        assert self.cleaned(host.engine, host.key, exists=True) == []
        assert recall._index._cache is not None

    def test_one_that_is_being_written_waits(self, host, monkeypatch):
        monkeypatch.setattr(type(host.engine.recalls._held(host.key)), "busy", True)
        assert self.cleaned(host.engine, host.key) == []
        assert host.engine.chats.folder(host.key).exists()


def test_a_long_history_is_proved_a_part_a_turn(host, monkeypatch):
    """Meanwhile what is proved already verifies, and what is not yet is not said to be not read."""
    monkeypatch.setattr(intake, "PROVED_AT_ONCE", 1000)
    other = ChatHost(host.engine, "another")
    for number in range(1, 41):
        url = f"{URL}/{number}"
        text = f"Server {number} listens on port {7000 + number}. " + "x" * 100
        call = {"turn": number, "tool": "read_webpage", "call_id": str(number)}
        other.turns.append(
            [
                Message(turn=number, role="user", text=f"Message {number}"),
                Message(role="assistant", args={"url": url}, **call),
                Message(role="tool", text=text, **call),
            ]
        )
    host.engine.command("open compare-servers", key=other.key)
    for number in (1, 40, 99):
        claim = f"Server {number} listens on {7000 + number}"
        source = f"{URL}/{number}"
        host.engine.call(
            other.key,
            "ledger_record",
            {"kind": "finding", "text": claim, "source": source},
            turn=40,
        )
    states, counts = [], []
    for _ in range(9):
        counts.append(len(proved(other, monkeypatch)))
        view = other.engine.call(other.key, "ledger_view", {})
        states.append(re.findall(r"(?m)^F\d+\..*?\((verified|unverified|not read)", view))
    assert max(counts) < 10
    assert sum(counts) == 40 + 8  # and those that were said meanwhile
    assert states[0] == ["verified", "unverified", "unverified"]
    assert states[-1] == ["verified", "verified", "not read"]
    assert ["verified", "unverified", "not read"] not in states


def test_tools_asked_for_during_a_turn_leave_it_its_state(host):
    """The file may be newer than what is known to be written, for a moment in the turn's own save."""
    chat = host.engine.chat(host.key)
    file = host.engine.chats.folder(host.key) / "state.json"
    seen = []

    def look():
        file.write_bytes(file.read_bytes() + b" ")
        seen.append([tool.name for tool in host.engine.tools(host.key)])

    with chat.lock:
        before = chat.state
        thread = threading.Thread(target=look)
        thread.start()
        thread.join(10)
        assert chat.state is before
    assert "ledger_view" in seen[0]
    assert [tool.name for tool in host.engine.tools(host.key)] == seen[0]
    assert chat.state is not before
