"""Recall on the disk: what a crash, another program, a full disk or a second process does to it."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from throughline_nb.chat import Message
from throughline_nb.errors import StoreError
from throughline_nb.ledger.fence import fenced
from throughline_nb.store.recall import Recall

ROOT = Path(__file__).resolve().parents[2]


def said(turn, text, role="user", **fields):
    return Message(turn=turn, role=role, text=text, **fields)


def some(count, start=1):
    return [
        said(n, f"Topic number{n} concerns the valve w{n}x.") for n in range(start, start + count)
    ]


@pytest.fixture
def recall(tmp_path):
    made = Recall(tmp_path / "chat")
    made.append(some(30))
    yield made
    made.close()


def turns(recall, query, budget=1500):
    """The turns that were found and say one of the query's words, not only stand beside one."""
    words = query.lower().split()
    found = recall.search(query, budget)
    return [each.turn for each in found if any(word in each.text.lower() for word in words)]


def test_outsiders_hand_in_any_object(tmp_path):
    recall = Recall(tmp_path / "chat")
    recall.append([SimpleNamespace(turn=1, role="user", time=None, text="the bolt", tool=None)])
    recall.append([SimpleNamespace(turn=1, role="tool", time=5.0, text="a nut", tool="fetch")])
    found = recall.search("bolt nut fetch")
    assert {(p.turn, p.role, p.time, p.text) for p in found} == {
        (1, "user", None, "the bolt"),
        (1, "tool", 5.0, "a nut"),
    }
    assert all(p.score > 0 for p in found)


def test_a_turn_in_parts_is_one_turn(recall):
    recall.append([said(31, "first part")])
    recall.append([said(32, "something else")])
    recall.append([said(31, "second part", "assistant")])
    assert [m.text for m in recall.turn(31)] == ["first part", "second part"]
    assert recall.turn(99) == []


def test_rewound_turns_are_gone_and_may_come_again(recall):
    recall.rewind(20)
    assert turns(recall, "w25x") == []
    assert 19 in turns(recall, "w19x")
    recall.append([said(20, "the new twenty")])
    assert turns(recall, "twenty") == [20]
    assert len(recall.turn(20)) == 1


def test_update_takes_only_what_differs(recall):
    before = recall.history.read_bytes()
    recall.update(some(30))
    assert recall.history.read_bytes() == before
    changed = some(30)
    changed[24] = said(25, "this was edited")
    recall.update(changed[20:])
    assert recall.history.read_bytes().startswith(before)
    assert turns(recall, "w25x") == []
    assert turns(recall, "edited") == [25]
    assert 30 in turns(recall, "w30x")
    recall.update(some(3))  # the history got shorter
    assert turns(recall, "w30x") == []
    assert recall.last == 3


def test_the_same_message_twice_is_found_twice_but_a_tools_output_once(recall):
    recall.append([said(31, "the gasket is red"), said(32, "the gasket is red")])
    assert {31, 32} <= set(turns(recall, "gasket red"))
    page = "the flange measures 44 mm"
    recall.append([said(n, page, "tool", tool="fetch") for n in (33, 34)])
    assert len({33, 34} & set(turns(recall, "flange measures"))) == 1


def test_our_own_blocks_are_left_out(recall):
    recall.append([said(31, "my question\n\n" + fenced(["Goal: hidden treasure"]))])
    assert turns(recall, "treasure") == []
    assert b"treasure" not in recall.history.read_bytes()


def test_a_tools_name_and_arguments_are_found(recall):
    call = said(
        31, "", "assistant", tool="read_page", args={"url": "https://pumps.example.org/spec"}
    )
    recall.append([call, said(31, "rated at 7 bar", "tool", tool="read_page")])
    assert 31 in turns(recall, "pumps.example.org")
    assert 31 in turns(recall, "read_page bar")
    assert {p.tool for p in recall.search("read_page")} >= {"read_page"}


def test_superseded_text_is_compacted_away(recall):
    recall.append([said(31, "secret draft " * 9000)])
    recall.rewind(31)
    recall.append([said(31, "the final text")])
    assert recall.build()
    assert b"secret draft" not in recall.history.read_bytes()
    assert turns(recall, "final text")[0] == 31
    assert 7 in turns(recall, "w7x")


class TestDamage:
    def test_a_torn_last_line_is_not_read_and_cut_off_by_the_next_writer(self, recall):
        with recall.history.open("ab") as file:
            file.write(b'{"turn":31,"role":"user","text":"half of a cryptograph')
        for reader in (recall, Recall(recall.folder)):
            assert turns(reader, "cryptograph") == []
            assert 3 in turns(reader, "w3x")
        recall.append([said(31, "whole")])
        assert b"cryptograph" not in recall.history.read_bytes()
        assert turns(Recall(recall.folder), "whole") == [31]

    @pytest.mark.parametrize("how", ["cut", "foreign", "empty", "other tables", "gone", "newer"])
    def test_a_cache_that_is_none_is_made_again(self, recall, how):
        recall.close()
        cache = recall.folder / "recall.cache.sqlite"
        data = cache.read_bytes()
        if how == "cut":
            cache.write_bytes(data[: len(data) // 3])
        elif how == "foreign":
            cache.write_bytes(b"This is a letter, not a database.\n" * 400)
        elif how == "empty":
            cache.write_bytes(b"")
        elif how == "gone":
            cache.unlink()
        else:
            db = sqlite3.connect(cache)
            if how == "newer":
                state = json.loads(db.execute("SELECT value FROM state").fetchone()[0])
                state["format"] = 99
                db.execute("UPDATE state SET value = ?", (json.dumps(state).encode(),))
            else:
                db.execute("DROP TABLE passages")
            db.commit()
            db.close()
        for reader in (Recall(recall.folder), Recall(recall.folder)):
            assert turns(reader, "w3x")[0] == 3
            reader.append([said(31, "and it goes on")])
            assert 31 in turns(reader, "goes on")
            reader.close()

    def test_a_cache_cut_under_an_open_one_is_made_again(self, recall):
        recall.close()
        assert 3 in turns(recall, "w3x")
        cache = recall.folder / "recall.cache.sqlite"
        other = sqlite3.connect(cache)
        other.execute("DROP TABLE turns")
        other.commit()
        other.close()
        recall.append([said(31, "after the fault")])
        assert turns(recall, "fault") == [31]
        assert 3 in turns(recall, "w3x")

    def test_a_history_edited_behind_its_back_is_indexed_anew(self, recall):
        text = recall.history.read_text(encoding="utf-8")
        recall.history.write_text(text.replace("w7x", "q7q"), encoding="utf-8", newline="\n")
        os.utime(recall.history, (time.time() + 5, time.time() + 5))
        for reader in (recall, Recall(recall.folder)):
            assert turns(reader, "q7q") == [7]
            assert 7 not in turns(reader, "w7x")

    @pytest.mark.parametrize("keep", [0, 1, 12])
    def test_a_history_that_got_shorter(self, recall, keep):
        kept = recall.history.read_bytes().splitlines(keepends=True)[:keep]
        recall.history.write_bytes(b"".join(kept))
        assert turns(recall, "w29x") == []
        recall.append([said(13, "a new start")])
        assert turns(recall, "new start")[0] == 13
        assert len(recall.history.read_bytes().splitlines()) == keep + 1

    def test_a_history_that_is_gone(self, recall):
        recall.history.unlink()
        assert recall.search("w3x") == []
        assert not recall.complete
        recall.append([said(1, "anew it begins")])
        assert turns(recall, "anew") == [1]
        assert turns(recall, "w3x") == []

    def test_lines_of_another_program_are_passed_over(self, recall):
        with recall.history.open("ab") as file:
            file.write(b'[1, 2]\nnot json\n{"a": 1}\n\xff\xfe\n{"turn": "x", "role": "user"}\n')
            file.write(b'{"turn": 31, "role": "user", "text": "but this one counts"}\n')
        assert turns(recall, "counts") == [31]
        assert 3 in turns(Recall(recall.folder), "w3x")


class TestContent:
    def test_nul_bytes_and_half_pairs(self, recall):
        recall.append([said(31, "valvular\x00after \ud83d cut"), said(32, "\x00")])
        assert 31 in turns(recall, "valvular")
        assert "valvular\x00after" in recall.turn(31)[0].text

    def test_five_megabytes(self, recall):
        lines = [f"entry{n % 4000} of the log, as the server wrote it down" for n in range(110_000)]
        lines[70_000] = "entry177777 is the one that matters"
        text = "\n".join(lines)
        assert len(text) > 5_000_000
        recall.append([said(31, text, "tool", tool="read_file")], seconds=0.02)
        assert not recall.complete
        begin = time.perf_counter()
        steps = 0
        while not recall.build(0.05):
            steps += 1
            assert time.perf_counter() - begin < 60
        assert steps > 3
        found = recall.search("entry177777")
        assert found[0].turn == 31
        assert "entry177777" in found[0].text
        assert recall.turn(31)[0].text == text

    @pytest.mark.parametrize("text", ["", " \n ", "the of and", "?!", "🎉" * 300, "a" * 100_000])
    def test_odd_messages_and_queries(self, recall, text):
        recall.append([said(31, text)])
        assert isinstance(recall.search(text), list)
        assert recall.turn(31)[0].text == text

    @pytest.mark.parametrize(
        "query", ['"', "a AND (b", "NEAR(", "*", "tokens:x", "' OR 1=1 --", "\x00"]
    )
    def test_a_query_is_never_syntax(self, recall, query):
        assert isinstance(recall.search(query), list)
        assert isinstance(recall.nearest(query), list)

    def test_nothing_found_has_nearest_words(self, recall):
        recall.append([said(31, "the hydraulic accumulator leaks")])
        assert "hydraul" in recall.nearest("hidraulyk")
        assert recall.search("zzzz") == []


class TestDisk:
    def test_a_full_disk_keeps_what_was_held(self, recall, monkeypatch):
        before = recall.history.read_bytes()

        def full(handle, data):
            os.write(handle, data[:10])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("throughline_nb.store.recall.journal.write_all", full)
        with pytest.raises(StoreError, match="no space left on device"):
            recall.append(some(1, 31))
        assert recall.history.read_bytes() == before
        assert 3 in turns(recall, "w3x")
        monkeypatch.undo()
        recall.append(some(1, 31))
        assert 31 in turns(recall, "w31x")

    @pytest.mark.skipif(os.name == "nt", reason="limits of POSIX")
    def test_a_limit_on_the_size_of_files(self, tmp_path):
        """The history may grow to 64 KB, no file further: as a full disk, for SQLite too."""
        program = f"""
import resource, signal, sys
from pathlib import Path
from throughline_nb.chat import Message
from throughline_nb.errors import StoreError
from throughline_nb.store.recall import Recall
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
recall = Recall(Path({str(tmp_path / "chat")!r}))
recall.append([Message(turn=1, role="user", text="the first valve")])
resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
errors = 0
for turn in range(2, 60):
    try:
        recall.append([Message(turn=turn, role="user", text=f"t{{turn}} " + "word " * 400)])
    except StoreError as error:
        errors += 1
        assert str(error).count(".") >= 1
print(errors, recall.search("first valve")[0].turn)
"""
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 0, done.stderr
        errors, turn = map(int, done.stdout.split())
        assert errors > 10
        assert turn == 1
        again = Recall(tmp_path / "chat")
        assert 1 in turns(again, "first valve")
        again.append([said(99, "there is room again")])
        assert turns(again, "room again")[0] == 99

    def test_a_home_that_is_only_read(self, recall, monkeypatch):
        """Modes do not stop an administrator, so the calls are made to fail."""
        recall.close()

        def refuse(*_, **__):
            raise sqlite3.OperationalError("attempt to write a readonly database")

        real = sqlite3.connect
        monkeypatch.setattr(
            "throughline_nb.store.recall.cache.sqlite3.connect",
            lambda path, **given: real(path, **given) if path == ":memory:" else refuse(),
        )
        monkeypatch.setattr("throughline_nb.store.recall.journal.os.open", self.denied)
        monkeypatch.setattr("throughline_nb.store.recall.recall.lock", self.locked)
        reader = Recall(recall.folder)
        assert 3 in turns(reader, "w3x")
        with pytest.raises(StoreError, match="could not"):
            reader.append(some(1, 31))
        assert 3 in turns(reader, "w3x")

    @staticmethod
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    @staticmethod
    def locked(*_, **__):
        raise StoreError("it could not be locked.")

    def test_a_folder_that_cannot_be_made(self, tmp_path):
        (tmp_path / "chat").write_text("a file in its place", encoding="utf-8")
        recall = Recall(tmp_path / "chat")
        with pytest.raises(StoreError, match="check permissions"):
            recall.append(some(1))
        assert recall.search("w1x") == []

    def test_deleted_nothing_is_left(self, recall):
        assert 3 in turns(recall, "w3x")
        recall.delete()
        assert not recall.folder.exists()
        assert recall.search("w3x") == []
        recall.delete()


def test_the_first_build_is_in_slices_and_goes_on_after_a_restart(tmp_path):
    recall = Recall(tmp_path / "chat")
    begin = time.perf_counter()
    recall.append([said(n, f"w{n}x and more words " * 8) for n in range(1, 3000)], seconds=0.0)
    assert not recall.complete
    longest = 0.0
    for _ in range(5):
        begin = time.perf_counter()
        recall.build(0.01)
        longest = max(longest, time.perf_counter() - begin)
    done, size = recall.progress
    assert 0 < done < size
    recall.close()
    again = Recall(tmp_path / "chat")
    assert again.progress == (done, size)
    assert again.build()
    assert again.complete
    assert turns(again, "w2999x")[0] == 2999
    assert turns(again, "w2x")[0] == 2


def test_two_processes_write_one_history(tmp_path):
    program = f"""
import sys
from pathlib import Path
from throughline_nb.chat import Message
from throughline_nb.store.recall import Recall
recall = Recall(Path({str(tmp_path / "chat")!r}))
for n in range(60):
    turn = 2 * n + int(sys.argv[1])
    recall.append([Message(turn=turn, role="user", text=f"who{{sys.argv[1]}} w{{turn}}x")])
    assert turn in [p.turn for p in recall.search(f"w{{turn}}x")], turn
"""
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(each)], cwd=ROOT) for each in (1, 2)
    ]
    assert [each.wait(60) for each in running] == [0, 0]
    recall = Recall(tmp_path / "chat")
    for turn in range(1, 121):
        assert turns(recall, f"w{turn}x")[0] == turn
    assert len(recall.history.read_bytes().splitlines()) == 120


def test_a_writer_killed_at_any_moment_leaves_a_history_that_can_be_read(tmp_path):
    program = f"""
from pathlib import Path
from throughline_nb.chat import Message
from throughline_nb.store.recall import Recall
recall = Recall(Path({str(tmp_path / "chat")!r}))
turn = recall.last
while True:
    turn += 1
    if turn % 9 == 0:
        recall.rewind(turn - 2)
        turn -= 2
        recall.append([Message(turn=turn, role="user", text=f"w{{turn}}x again")])
        turn += 1
    recall.append([Message(turn=turn, role="user", text=f"w{{turn}}x " + "word " * 200)])
    print(turn, flush=True)
    if turn % 9 == 8:
        turn += 1
"""
    for wait in (0.0, 0.02, 0.07):
        running = subprocess.Popen(
            [sys.executable, "-c", program], cwd=ROOT, stdout=subprocess.PIPE, text=True
        )
        last = int(running.stdout.readline())
        time.sleep(wait)
        running.kill()
        rest = running.communicate()[0].split()
        last = int(rest[-1]) if rest and running.returncode else last
        recall = Recall(tmp_path / "chat")
        assert last in turns(recall, f"w{last}x")
        recall.close()


@pytest.mark.slow
def test_three_hundred_thousand_messages(tmp_path):
    recall = Recall(tmp_path / "chat")
    words = [f"{a}{b}{c}" for a in "bdfgk" for b in "aeiou" for c in ("lt", "rn", "sk", "mp")]
    recall.append(
        [
            said(
                n, f"w{n}x {words[n % 97]} {words[n * 7 % 89]} {words[n * 3 % 83]} {words[n % 11]}"
            )
            for n in range(1, 300_001)
        ],
    )
    assert recall.complete
    begin = time.process_time()
    recall.append([said(300_001, "the last drop")])
    assert time.process_time() - begin < 0.5
    begin = time.process_time()
    assert turns(recall, "w250000x")[0] == 250_000
    assert turns(recall, f"{words[3]} {words[5]} {words[8]} last drop")
    assert time.process_time() - begin < 5
