"""One chat on disk: its state of constant size, its proofs that only grow."""

import pytest

from throughline_nb.chat import ChatKey, Message, fingerprint
from throughline_nb.ledger.sources import Proof
from throughline_nb.store.chats import PROOFS, Chats, ChatState, TurnCount
from throughline_nb.store.home import Home

KEY = ChatKey("lmstudio", "1764500000000")


@pytest.fixture
def chats(tmp_path):
    return Chats(Home(tmp_path))


def proof(turn, key="https://example.org/"):
    return Proof("url", f"{key}{turn}", turn, ("4096",))


def keys(chats):
    return [found.key[-1] for found in chats.proofs(KEY, lambda _: True)]


def test_a_state_comes_back(chats):
    state = ChatState(key=str(KEY), project="x", turn=3, recent=[TurnCount(3, 2, 100, "ab")])
    chats.save(KEY, state)
    assert chats.load(KEY) == state
    assert list(chats.states()) == [(KEY, state)]
    assert chats.bound("x") == [KEY]


def test_an_unbound_chat_leaves_nothing_but_the_users_own_off(chats, tmp_path):
    chats.save(KEY, ChatState(key=str(KEY), turn=3))
    assert list(tmp_path.iterdir()) == []
    chats.save(KEY, ChatState(key=str(KEY), off=True))
    assert chats.load(KEY).off
    chats.save(KEY, ChatState(key=str(KEY)))
    assert not list(tmp_path.rglob("state.json"))


def test_what_another_process_wrote_is_read_again(chats, tmp_path):
    held = ChatState(key=str(KEY), project="x")
    chats.save(KEY, held)
    assert chats.current(KEY, held) is held
    Chats(Home(tmp_path)).save(KEY, ChatState(key=str(KEY), project="other", turn=7))
    assert chats.current(KEY, held).project == "other"
    Chats(Home(tmp_path)).delete(KEY)
    assert chats.current(KEY, held).project == ""


def test_a_damaged_state_is_kept_beside(chats):
    chats.save(KEY, ChatState(key=str(KEY), project="x"))
    file = chats.folder(KEY) / "state.json"
    file.write_bytes(b'{"project": ')
    assert chats.load(KEY).project == ""
    assert (file.parent / "state.damaged.json").read_bytes() == b'{"project": '


def test_a_later_line_supersedes_its_turn_and_those_after_it(chats):
    chats.add_proofs(KEY, {1: [proof(1)], 2: [proof(2)], 3: [proof(3)]})
    assert keys(chats) == ["1", "2", "3"]
    chats.add_proofs(KEY, {2: ()})
    assert keys(chats) == ["1"]
    chats.add_proofs(KEY, {2: [proof(9)]})
    assert keys(chats) == ["1", "9"]


def test_a_torn_line_costs_only_itself(chats):
    chats.add_proofs(KEY, {1: [proof(1)]})
    file = chats.folder(KEY) / PROOFS
    with file.open("ab") as torn:
        torn.write(b'{"turn": 2, "proo')
    chats.add_proofs(KEY, {3: [proof(3)]})
    assert keys(chats) == ["1", "3"]


@pytest.mark.parametrize(("turn", "first", "left"), [(9, 9, 8), (6, 6, 5), (5, 5, 4), (1, 1, 0)])
def test_rewind_forgets_a_turn_and_all_after_it(turn, first, left):
    recent = [TurnCount(n, tokens=n * 10) for n in range(1, 9)]
    state = ChatState(turn=8, proved=8, recent=recent, digest=30, digest_turn=5)
    assert state.rewind(turn) == first
    assert (state.turn, state.proved, state.tokens) == (left, left, left * 10)
    assert state.digest == (30 if left >= 5 else -1)


def test_rewind_beyond_what_is_remembered_asks_for_everything():
    state = ChatState(turn=100, recent=[TurnCount(n) for n in range(37, 101)])
    assert state.rewind(20) == 1
    assert (state.turn, state.recent) == (0, [])


def test_a_fingerprint_tells_histories_apart():
    one = [Message(turn=1, role="user", text="Hello")]
    two = [Message(turn=1, role="user", text="Hullo")]
    assert fingerprint("", one) == fingerprint("", one) != fingerprint("", two)
    assert fingerprint("x", one) != fingerprint("", one)
