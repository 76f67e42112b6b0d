"""What the index believes of the history is checked against it, whatever was done to either.

Each thing that may happen behind recall's back is followed by each thing that recall may be asked
next, in the same process and after a restart. Then it must say of the history just what an index
says that is made of a copy of it.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from throughline_nb.chat import Message
from throughline_nb.errors import StoreError
from throughline_nb.store.recall import Recall, journal, searching

ROOT = Path(__file__).resolve().parents[2]
TURNS = 12
LONG = " ".join(f"oldword{n}" for n in range(6000))


def said(turn, text, role="user", **fields):
    return Message(turn=turn, role=role, text=text, **fields)


def some(last, first=1):
    return [said(n, f"Topic number{n} concerns the valve w{n}x.") for n in range(first, last + 1)]


def _lines(recall):
    return recall.history.read_bytes().splitlines(keepends=True)


def _in_place(old, new):
    def edit(recall):
        data = recall.history.read_bytes().replace(old, new)
        with recall.history.open("r+b") as file:
            file.write(data)
            file.truncate()
        later = recall.history.stat().st_mtime_ns + 1_000_000
        os.utime(recall.history, ns=(later, later))

    return edit


def _added(line):
    def add(recall):
        with recall.history.open("ab") as file:
            file.write(line)

    return add


def _sql(*statements):
    def execute(recall):
        with closing(sqlite3.connect(recall.folder / "recall.cache.sqlite")) as db:
            for statement in statements:
                db.execute(statement)
            db.commit()

    return execute


def _without_cache(recall):
    for path in recall.folder.glob("recall.cache*"):
        path.unlink()


def _exchanged(recall):
    recall.history.unlink()
    lines = [{"turn": n, "role": "user", "text": f"Pump {n} w{n}x z"} for n in range(1, 40)]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    recall.history.write_text(text, encoding="utf-8", newline="\n")


def _half_then_another(recall):
    """A long message is half indexed, and then its line is another."""
    recall.append([said(TURNS + 1, LONG)], seconds=0.0)
    before = _lines(recall)[:TURNS]
    line = b'{"turn":13,"role":"user","text":"the cryptograph was replaced by w13x"}\n'
    recall.history.write_bytes(b"".join(before) + line)


def _half_then_its_end(recall):
    recall.append([said(TURNS + 1, LONG)], seconds=0.0)
    _in_place(b"oldword5999", b"newword5999 w13x")(recall)


HAPPENINGS = {
    "nothing": lambda _: None,
    "torn": _added(b'{"turn":13,"role":"user","text":"half of a crypt'),
    "torn in the midst of a character": _added('{"turn":13,"role":"user","text":"é'.encode()[:-1]),
    "a turn beyond 64 bits": _added(b'{"turn":99999999999999999999,"role":"user","text":"x"}\n'),
    "a rewind beyond 64 bits": _added(b'{"rewind":99999999999999999999}\n'),
    "a turn below 64 bits": _added(b'{"turn":-99999999999999999999,"role":"user","text":"x"}\n'),
    "a time beyond all": _added(b'{"turn":12,"role":"user","text":"late w13x","time":1e300}\n'),
    "arguments beyond 64 bits": _added(
        b'{"turn":12,"role":"user","args":{"n":99999999999999999999}}\n'
    ),
    "a foreign line": _added(b"[1, 2]\n\xff\n"),
    "another's message": _added(b'{"turn":13,"role":"user","text":"of another w13x"}\n'),
    "longer in place": _in_place(b"number2 ", b"a much longer number2 than it was "),
    "shorter in place": _in_place(b"concerns the valve w3x", b"w3x"),
    "other words in place": _in_place(b"valve", b"bolts"),
    "cut off": lambda recall: recall.history.write_bytes(b"".join(_lines(recall)[:5])),
    "empty": lambda recall: recall.history.write_bytes(b""),
    "deleted": lambda recall: recall.history.unlink(),
    "exchanged": _exchanged,
    "all deleted": lambda recall: shutil.rmtree(recall.folder),
    "a message half indexed, then another": _half_then_another,
    "a message half indexed, then its end": _half_then_its_end,
    "cache deleted": _without_cache,
    "cache cut": lambda recall: (recall.folder / "recall.cache.sqlite").write_bytes(b"SQLite for"),
    "turns dropped": _sql("DROP TABLE turns"),
    "words dropped": _sql("DROP TABLE words"),
    "state emptied": _sql("DELETE FROM state"),
    "passages elsewhere": _sql(
        "UPDATE passages SET at = 0, size = (SELECT size FROM passages ORDER BY id LIMIT 1)"
    ),
    "turns elsewhere": _sql("UPDATE turns SET first = 0, last = 9"),
}

NEXT = {
    "append": lambda recall: recall.append([said(14, "and it goes on w14x")]),
    "update": lambda recall: recall.update(some(13, 9)),
    "rewind": lambda recall: recall.rewind(8),
    "search": lambda recall: recall.search("w3x valve"),
    "turn": lambda recall: recall.turn(3),
    "build": lambda recall: recall.build(),
    "slices": lambda recall: [recall.build(0.0) for _ in range(3)],
}


@pytest.mark.parametrize("again", [False, True], ids=["same process", "restarted"])
@pytest.mark.parametrize("then", NEXT)
@pytest.mark.parametrize("happening", HAPPENINGS)
def test_it_says_what_the_history_says(tmp_path, happening, then, again):
    recall = Recall(tmp_path / "chat")
    recall.append(some(TURNS))
    HAPPENINGS[happening](recall)
    if again:
        recall.close()
        recall = Recall(tmp_path / "chat")
    NEXT[then](recall)
    if then == "update":
        assert [[m.text for m in recall.turn(n)] for n in range(9, 14)] == [
            [m.text] for m in some(13, 9)
        ]
    if then == "append":
        assert recall.turn(14)[-1].text == "and it goes on w14x"
    _agrees(recall, tmp_path / "copy")
    recall.close()


def _agrees(recall, folder):
    anew = Recall(folder)
    folder.mkdir()
    if recall.exists:
        data = recall.history.read_bytes()
        assert all(map(journal.decoded, data.splitlines(keepends=True)[TURNS + 2 :]))
        (folder / "history.jsonl").write_bytes(data)
    assert recall.build() == anew.build()
    for turn in range(16):
        assert recall.turn(turn) == anew.turn(turn)
    assert recall.last == anew.last
    for word in [f"w{turn}x" for turn in (1, 2, 3, 8, 12, 13, 14)] + [
        "valve",
        "cryptograph",
        "oldword5990",
    ]:
        found = [
            sorted((p.turn, p.text) for p in each.search(word, 3000) if word in p.text)
            for each in (recall, anew)
        ]
        assert found[0] == found[1]
    anew.close()


def test_a_record_is_never_glued_to_a_torn_one(tmp_path):
    recall = Recall(tmp_path / "chat")
    recall.append(some(3))
    HAPPENINGS["torn"](recall)
    for number in range(4, 7):
        recall.close()
        recall.search("w3x")
        recall.append([said(number, "whole again")])
        assert [m.text for m in recall.turn(number)] == ["whole again"]
        HAPPENINGS["torn"](recall)
    assert len([line for line in _lines(recall) if line.endswith(b"\n")]) == 6


def test_two_that_build_in_slices_index_each_line_once(tmp_path):
    one, two = Recall(tmp_path / "chat"), Recall(tmp_path / "chat")
    one.append(some(400), seconds=0.0)
    done = False
    while not done:
        one.build(0.0)
        done = two.build(0.0)
    assert [p.turn for p in one.search("w399x") if "w399x" in p.text] == [399]
    state = one._index.use(lambda cache: cache.read())
    assert state.passages == 400


@pytest.mark.parametrize("what", ["rewind", "compact", "edit", "delete"])
def test_a_search_is_of_one_moment(tmp_path, monkeypatch, what):
    """Another process writes between the steps of a search, which takes no lock."""
    recall, other = Recall(tmp_path / "chat"), Recall(tmp_path / "chat")
    recall.append([*some(400), said(401, "secret draft " * 9000)])
    real, done = searching.candidates, []

    def late(*given):
        found = real(*given)
        if not done:
            done.append(1)
            other.rewind(401 if what == "compact" else 3)
            if what == "edit":
                _in_place(b"number1 ", b"a longer number1 ")(other)
            elif what == "delete":
                other.delete()
        return found

    monkeypatch.setattr(searching, "candidates", late)
    found = [p.turn for p in recall.search("w2x") if "w2x" in p.text]
    assert found in ([2], []) if what == "delete" else found == [2]
    monkeypatch.undo()
    assert [p.turn for p in recall.search("w2x") if "w2x" in p.text] == [2] * (what != "delete")
    assert [p.turn for p in recall.search("w300x") if "w300x" in p.text] == [300] * (
        what == "compact"
    )


class TestBeyond:
    """Numbers and characters that a database or UTF-8 cannot hold."""

    @pytest.mark.parametrize("turn", [10**20, -(10**20), 2**63])
    def test_turns_beyond_64_bits(self, tmp_path, turn):
        recall = Recall(tmp_path / "chat")
        recall.append(some(3))
        assert recall.turn(turn) == []
        recall.rewind(turn)
        assert recall.last == 3
        for write in (recall.append, recall.update):
            with pytest.raises(ValueError, match="64 bits"):
                write([said(turn, "x")])

    @pytest.mark.parametrize("way", ["append", "update"])
    @pytest.mark.parametrize("field", ["text", "role", "tool", "call_id", "args"])
    def test_half_a_pair(self, tmp_path, field, way):
        recall = Recall(tmp_path / "chat")
        odd = "cut \ud83d emoji cryptograph"
        given = {"turn": 1, "role": "user", "text": "words"} | {
            field: {odd: odd, "set": {1}} if field == "args" else odd
        }
        getattr(recall, way)([Message(**given)])
        recall.update([Message(**given)])
        assert len(recall.turn(1)) == 1
        if field in {"text", "args", "tool"}:
            assert recall.search("cryptograph")


class TestLinks:
    """What a link in a chat's folder leads to is neither written, read nor deleted."""

    @pytest.fixture(autouse=True)
    def _links(self, tmp_path):
        try:
            (tmp_path / "link").symlink_to(tmp_path / "nothing")
        except OSError:
            pytest.skip("this system makes no links")

    @pytest.mark.parametrize(
        "name",
        [
            "history.jsonl",
            "recall.lock",
            "recall.cache.sqlite",
            "recall.cache.sqlite-wal",
            "recall.cache.sqlite-shm",
            ".history.jsonl.new",
        ],
    )
    def test_of_each_file(self, tmp_path, name):
        recall = Recall(tmp_path / "chat")
        recall.append(some(3))
        recall.close()
        (recall.folder / name).unlink(missing_ok=True)
        mine = tmp_path / "mine"
        if name.endswith("sqlite"):
            with closing(sqlite3.connect(mine)) as db:
                db.execute("CREATE TABLE passages (a)")
        else:
            mine.write_bytes(b'{"turn":1,"role":"user","text":"mine w9x"}\nmy last line')
        before = mine.read_bytes()
        (recall.folder / name).symlink_to(mine)
        if name == "history.jsonl":
            assert not recall.exists
            assert recall.search("w9x") == []
            for write in (recall.append, recall.update):
                with pytest.raises(StoreError, match="is a link"):
                    write(some(4))
        else:
            recall.append([said(4, "secret draft " * 9000), said(5, "x")])
            recall.rewind(4)
            assert recall.build()
            assert recall.search("w3x")
            assert b"secret" not in recall.history.read_bytes()
        recall.delete()
        assert mine.read_bytes() == before
        assert not recall.folder.exists()

    def test_a_folder_or_pipe_in_its_place(self, tmp_path):
        recall = Recall(tmp_path / "chat")
        recall.history.mkdir(parents=True)
        with pytest.raises(StoreError, match="no file"):
            recall.append(some(1))
        assert recall.search("w1x") == []


class TestCompacting:
    def wasteful(self, tmp_path):
        recall = Recall(tmp_path / "chat")
        recall.append([*some(20), said(21, "secret draft " * 9000)])
        recall.rewind(21, seconds=1.0)
        recall.append([said(21, "the final text")])
        assert recall.wasteful
        return recall

    def test_done_once(self, tmp_path):
        recall = self.wasteful(tmp_path)
        assert recall.build()
        assert not recall.wasteful
        assert b"secret" not in recall.history.read_bytes()
        assert [m.text for m in recall.turn(21)] == ["the final text"]
        assert not list(recall.folder.glob(".*"))

    @pytest.mark.parametrize("where", ["compact", "replace"])
    def test_where_it_fails_nothing_is_lost(self, tmp_path, monkeypatch, where):
        recall = self.wasteful(tmp_path)
        before = recall.history.read_bytes()
        tried = []

        def full(*given):
            tried.append(given)
            raise OSError(28, "No space left on device")

        if where == "compact":
            monkeypatch.setattr("throughline_nb.store.recall.journal.compact", full)
        else:
            monkeypatch.setattr("throughline_nb.store.recall.recall.patiently", full)
        for _ in range(5):
            assert recall.build(0.02)
            assert recall.complete
        assert recall.search("w3x")
        assert len(tried) == 1
        assert recall.history.read_bytes() == before
        monkeypatch.undo()
        assert Recall(recall.folder).build()
        assert b"secret" not in recall.history.read_bytes()
        assert recall.search("w3x")[0].turn == 3

    def test_where_it_grows_meanwhile_it_waits(self, tmp_path, monkeypatch):
        recall = self.wasteful(tmp_path)
        other, real = Recall(recall.folder), journal.compact

        def late(*given):
            real(*given)
            if not other.turn(22):
                other.append([said(22, "in the meantime")])

        monkeypatch.setattr("throughline_nb.store.recall.journal.compact", late)
        for _ in range(3):
            recall.build()
        assert [m.text for m in recall.turn(22)] == ["in the meantime"]
        assert b"secret" not in recall.history.read_bytes()

    def test_a_cache_of_before_is_not_believed_after_a_kill(self, tmp_path):
        """Killed between the new history and the removal of the cache of the old one."""
        recall = self.wasteful(tmp_path)
        recall.close()
        program = f"""
import os
from pathlib import Path
from throughline_nb.store.recall import Recall
from throughline_nb.store.recall.recall import Recall as Inner
Inner._forget = lambda self: os._exit(9)
Recall(Path({str(recall.folder)!r})).build()
"""
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=False)
        assert done.returncode == 9
        assert b"secret" not in recall.history.read_bytes()
        assert recall.search("w3x")[0].turn == 3
        recall.close()
        assert not [p for p in recall.folder.iterdir() if b"secret draft" in p.read_bytes()]
