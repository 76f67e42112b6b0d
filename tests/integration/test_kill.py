"""Processes that are killed at any moment: nothing acknowledged is lost, the next write goes on."""

import os
import time

import pytest
from stores import MODEL, USER, count, finding, finish, git, project, projects, sound, start, texts

from throughline_nb.ledger import read
from throughline_nb.store import refs, workfile
from throughline_nb.store.project import Project
from throughline_nb.store.repo import Repo

ROUNDS = 100


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_hundred_rounds_of_two_killed_writers(tmp_path):
    made = project(tmp_path)
    acknowledged = set(finish(start("killed.py", made.home.path, made.slug, ROUNDS)).splitlines())
    assert len(acknowledged) > 3 * ROUNDS
    assert made.absorb(USER) is None
    now = made.read()
    assert acknowledged <= set(texts(now))
    assert len(now.ledger.findings) == count(made.path, "HEAD") - 1  # no hand edit was seen
    assert all(record.actor == "model" for record in made.history()[:-1])
    assert read((made.path / "ledger.md").read_text(encoding="utf-8")).ledger == now.ledger
    assert not list(made.path.glob("ledger.edit-not-applied-*"))
    assert texts(made.change(finding("the next write"), MODEL))[-1] == "the next write"
    assert sound(made.path)


class KilledError(BaseException):
    """Stands for the end of the process at this point."""


STEPS = {
    "before the objects": (Repo, "store"),
    "before the branch moves": (Repo, "advance"),
    "before the file": (Project, "show"),
    "before the record of the file": (workfile.WorkFile, "_remember"),
    "in the middle of the file": (workfile, "patiently"),
    "before the index": (Repo, "refresh_index"),
}


@pytest.mark.parametrize("after", [False, True], ids=["at", "right after"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "no exchange"])
def test_death_at_each_step(tmp_path, monkeypatch, step, after, exchange):
    if not exchange:
        monkeypatch.setattr(workfile, "exchange", lambda *_: False)
    made = project(tmp_path)
    made.change(finding("the first"), MODEL)
    owner, name = STEPS[step]
    real = getattr(owner, name)

    def die(*args, **kwargs):
        if after:
            real(*args, **kwargs)
        raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(owner, name, die)
        made.change(finding("the second"), MODEL)
    again = projects(tmp_path).open("runtimes")
    moved = step not in ("before the objects", "before the branch moves") or (
        after and step == "before the branch moves"
    )
    expected = ["the first", "the second"] if moved else ["the first"]
    assert texts(again.read()) == expected
    assert again.absorb(USER) is None
    assert texts(again.read()) == expected
    assert (
        read((again.path / "ledger.md").read_text(encoding="utf-8")).ledger == again.read().ledger
    )
    assert texts(again.change(finding("the third"), MODEL)) == [*expected, "the third"]
    assert count(again.path, "HEAD") == len(expected) + 2
    assert sound(again.path)


def test_death_between_exchange_and_record(tmp_path, monkeypatch):
    made = project(tmp_path)
    made.change(finding("the first"), MODEL)
    real = workfile.exchange

    def die(*names):
        real(*names)
        raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(workfile, "exchange", die)
        made.change(finding("the second"), MODEL)
    made = projects(tmp_path).open("runtimes")  # a new process knows nothing
    assert made.absorb(USER) is None
    assert texts(made.change(finding("the third"), MODEL))[1:] == ["the second", "the third"]
    assert count(made.path, "HEAD") == 4
    assert sound(made.path)


@pytest.mark.parametrize("name", ["written.json", "displaced", "turns", "questions.json"])
@pytest.mark.parametrize("content", [None, b"", b"\x00" * 40], ids=["gone", "empty", "zeros"])
def test_a_torn_memory_is_no_hand_edit(tmp_path, name, content):
    """After a power cut any file that is not synced may be gone, empty or old."""
    made = project(tmp_path)
    for word in ("one", "two"):
        made.change(finding(f"claim {word}"), MODEL)
    made.note_turn(["Q1"])
    memory = made.repo.git / "throughline" / name
    for path in list(memory.iterdir()) if memory.is_dir() else [memory]:
        if content is None:
            path.unlink()
        else:
            path.write_bytes(content)
    made = projects(tmp_path).open("runtimes")  # a new process knows nothing
    found = made.absorb(USER)
    assert found is None or found.changes == ()
    assert texts(made.change(finding("claim three"), MODEL))[-1] == "claim three"
    assert all(record.actor == "model" for record in made.history(3))


def test_a_file_several_versions_behind_is_no_hand_edit(tmp_path):
    made = project(tmp_path)
    made.change(finding("claim one"), MODEL)
    old = (made.path / "ledger.md").read_bytes()
    for word in ("two", "three"):
        made.change(finding(f"claim {word}"), MODEL)
    (made.path / "ledger.md").write_bytes(old)
    (made.repo.git / "throughline" / "written.json").unlink()
    made = projects(tmp_path).open("runtimes")  # a new process knows nothing
    assert made.absorb(USER) is None
    assert len(texts(made.read())) == 3
    assert sound(made.path)


class TestLocksLeftBehind:
    NAMES = ("index.lock", "HEAD.lock", "refs/heads/main.lock", "packed-refs.lock", "config.lock")

    @pytest.mark.parametrize("name", NAMES)
    def test_a_stale_one_is_swept(self, tmp_path, name):
        made = project(tmp_path)
        path = made.repo.git / name
        path.write_bytes(b"")
        os.utime(path, (time.time() - 10, time.time() - 10))
        made.change(finding("goes on"), MODEL)
        assert not path.exists()
        git(made.path, "commit", "-q", "--allow-empty", "-m", "and a person can commit")
        assert sound(made.path)

    @pytest.mark.parametrize("name", [name for name in NAMES if name != "refs/heads/main.lock"])
    def test_a_live_one_that_is_not_needed_is_left_alone(self, tmp_path, name):
        made = project(tmp_path)
        path = made.repo.git / name
        path.write_bytes(b"")
        assert texts(made.change(finding("goes on"), MODEL)) == ["goes on"]
        assert path.exists()

    def test_a_live_lock_of_the_branch_is_waited_for(self, tmp_path):
        made = project(tmp_path)
        path = made.repo.git / "refs/heads/main.lock"
        path.write_bytes(b"")
        begun = time.monotonic()
        assert texts(made.change(finding("goes on"), MODEL)) == ["goes on"]
        assert time.monotonic() - begun > refs.STALE_SECONDS / 2

    @pytest.mark.slow
    def test_one_that_stays_fresh_is_one_line(self, tmp_path):
        import threading

        from throughline_nb.errors import StoreError

        made = project(tmp_path)
        path, done = made.repo.git / "refs/heads/main.lock", threading.Event()

        def hold():
            while not done.wait(0.1):
                path.write_bytes(b"")

        path.write_bytes(b"")
        thread = threading.Thread(target=hold)
        thread.start()
        try:
            with pytest.raises(StoreError, match=r"git is at work.*try again"):
                made.change(finding("cannot"), MODEL)
        finally:
            done.set()
            thread.join()
        assert path.exists()
        assert texts(made.read()) == []

    def test_a_commit_whose_message_is_being_written_keeps_its_lock(self, tmp_path):
        made = project(tmp_path)
        lock = made.repo.git / "index.lock"
        lock.write_bytes(b"")
        (made.repo.git / "COMMIT_EDITMSG").write_text("half a mess")
        for path in (lock, made.repo.git / "COMMIT_EDITMSG"):
            os.utime(path, (time.time() - 60, time.time() - 60))
        made.change(finding("goes on"), MODEL)
        assert lock.exists()
        os.utime(lock, (time.time() - 7200, time.time() - 7200))
        made.change(finding("goes on again"), MODEL)
        assert not lock.exists()
