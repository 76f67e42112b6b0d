"""Many writers of one project: processes, threads, and people who save at the wrong moment."""

import os
import threading
import time

import pytest
from stores import (
    MODEL,
    USER,
    count,
    finding,
    finish,
    git,
    project,
    projects,
    sound,
    start,
    texts,
)

from throughline_nb.ledger import read
from throughline_nb.store import displaced, workfile
from throughline_nb.store.projects import Project


def all_of(tags, number):
    return {f"{tag} measured {i} times" for tag in tags for i in range(number)}


def run_writers(made, tags, number):
    running = [start("writer.py", made.home.path, made.slug, number, tag) for tag in tags]
    for process in running:
        finish(process)


@pytest.mark.slow
def test_eight_processes_of_fifty_changes(tmp_path):
    made = project(tmp_path)
    tags = [f"p{i}" for i in range(8)]
    run_writers(made, tags, 50)
    now = made.read()
    assert set(texts(now)) == all_of(tags, 50)
    assert [entry.number for entry in now.ledger.findings] == list(range(1, 401))
    assert count(made.path, "HEAD") == 401
    assert now.version.startswith("401-")
    assert read((made.path / "ledger.md").read_text(encoding="utf-8")).ledger == now.ledger
    assert sound(made.path)


@pytest.mark.slow
def test_twelve_processes(tmp_path):
    made = project(tmp_path)
    tags = [f"p{i}" for i in range(12)]
    run_writers(made, tags, 8)
    assert set(texts(made.read())) == all_of(tags, 8)
    assert count(made.path, "HEAD") == 97
    assert sound(made.path)


def test_threads_of_one_process(tmp_path):
    made = project(tmp_path)

    def work(tag):
        mine = projects(tmp_path).open("runtimes")
        for i in range(10):
            mine.change(finding(f"{tag} measured {i} times"), MODEL)

    tags = ["a", "b", "c", "d"]
    running = [threading.Thread(target=work, args=(tag,)) for tag in tags]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert set(texts(made.read())) == all_of(tags, 10)
    assert count(made.path, "HEAD") == 41


def test_different_projects_do_not_wait(tmp_path):
    one, other = project(tmp_path, name="one"), project(tmp_path, name="other")
    inside, done = threading.Event(), threading.Event()

    def slow(ledger):
        inside.set()
        assert done.wait(10)
        return finding("at last")(ledger)

    thread = threading.Thread(target=one.change, args=(slow, MODEL))
    thread.start()
    assert inside.wait(10)
    other.change(finding("meanwhile"), MODEL)
    assert one.read().ledger.findings == ()  # reading takes no lock
    done.set()
    thread.join()
    assert texts(one.read()) == ["at last"]


@pytest.mark.slow
@pytest.mark.parametrize("way", ["replace", "inplace", "held"])
def test_an_editor_among_writers(tmp_path, way):
    made = project(tmp_path)
    writers = [start("writer.py", made.home.path, made.slug, 40, tag) for tag in ("p0", "p1")]
    editor = start("editor.py", made.path, 25, way, "person")
    saved = set(finish(editor).splitlines())
    for writer in writers:
        finish(writer)
    made.absorb(USER)
    now = set(texts(made.read()))
    assert all_of(["p0", "p1"], 40) <= now
    assert saved <= now
    assert not list(made.path.glob("ledger.edit-not-applied-*"))
    assert sound(made.path)


class Saves:
    """Saves a hand edit at a chosen moment inside a change."""

    def __init__(self, made, way="replace"):
        self.path = made.path / "ledger.md"
        self.way = way
        self.count = 0

    def save(self, text=None):
        self.count += 1
        text = text or self.path.read_text(encoding="utf-8")
        new = text.replace("## Decisions\n", f"- saved {self.count} times\n\n## Decisions\n", 1)
        if self.way == "replace":
            other = self.path.with_name("editor.swp")
            other.write_text(new, encoding="utf-8")
            other.replace(self.path)
        else:
            self.path.write_text(new, encoding="utf-8")


@pytest.mark.parametrize("way", ["replace", "inplace"])
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "no exchange"])
class TestASaveBetween:
    def test_look_and_commit(self, tmp_path, monkeypatch, way, exchange):
        self.prepare(monkeypatch, exchange)
        made = project(tmp_path)
        person = Saves(made, way)

        def edit(ledger):
            person.save()
            return finding("by the model")(ledger)

        made.change(edit, MODEL)
        assert sorted(texts(made.read())) == ["by the model", "saved 1 times"]
        assert sound(made.path)

    def test_commit_and_replacement(self, tmp_path, monkeypatch, way, exchange):
        self.prepare(monkeypatch, exchange)
        made = project(tmp_path)
        person = Saves(made, way)
        real = Project.show

        def show(self, tip, text):
            if person.count < 1:
                person.save()
            return real(self, tip, text)

        monkeypatch.setattr(Project, "show", show)
        made.change(finding("by the model"), MODEL)
        assert sorted(texts(made.read())) == ["by the model", "saved 1 times"]
        assert sound(made.path)

    def test_every_replacement_for_a_while(self, tmp_path, monkeypatch, way, exchange):
        self.prepare(monkeypatch, exchange)
        made = project(tmp_path)
        person = Saves(made, way)
        real = Project.show

        def show(self, tip, text):
            if person.count < 4:
                person.save()
            return real(self, tip, text)

        monkeypatch.setattr(Project, "show", show)
        made.change(finding("by the model"), MODEL)
        made.absorb(USER)
        assert set(texts(made.read())) >= {
            "by the model",
            *(f"saved {i} times" for i in range(1, 5)),
        }
        assert sound(made.path)

    def prepare(self, monkeypatch, exchange):
        if not exchange:
            monkeypatch.setattr(workfile, "exchange", lambda *_: False)


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")
@pytest.mark.parametrize("seconds", [0.1, 0.8], ids=["soon", "late"])
def test_an_editor_that_has_emptied_the_file_and_not_filled_it_yet(tmp_path, seconds):
    made = project(tmp_path)
    path = made.path / "ledger.md"
    text = path.read_text(encoding="utf-8")
    with path.open("r+", encoding="utf-8", newline="\n") as file:
        made.change(finding("the first"), MODEL)
        file.truncate()
        later = threading.Timer(
            seconds,
            lambda: (
                file.write(text.replace("## Decisions\n", "- by the person\n\n## Decisions\n", 1)),
                file.flush(),
            ),
        )
        later.start()
        made.absorb(USER)
        later.join()
    made.absorb(USER)
    assert sorted(texts(made.read())) == ["by the person", "the first"]
    assert made.absorb(USER) is None
    assert sound(made.path)  # and nothing was kept as unreadable


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")
@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "no exchange"])
class TestAnEditorThatHoldsTheFileOpen:
    """It opened a file that the engine replaced since, and fills that one."""

    @pytest.fixture
    def made(self, tmp_path, monkeypatch, exchange):
        if not exchange:
            monkeypatch.setattr(workfile, "exchange", lambda *_: False)
        return project(tmp_path)

    @pytest.mark.parametrize("changes", [1, 2, 3, 20])
    @pytest.mark.parametrize("other", [False, True], ids=["this process", "another process"])
    def test_however_often_it_was_replaced(self, tmp_path, made, changes, other):
        path = made.path / "ledger.md"
        text = path.read_text(encoding="utf-8")
        with path.open("r+", encoding="utf-8", newline="\n") as file:
            for i in range(changes):
                made.change(finding(f"claim number {i}"), MODEL)
            file.truncate()
            file.write(with_line(text, "by the person"))
        here = projects(tmp_path).open("runtimes") if other else made
        assert here.absorb(USER).changes[0].text == "by the person"
        assert set(texts(here.read())) == all_claims(changes) | {"by the person"}
        assert here.absorb(USER) is None
        assert sound(made.path)

    def test_two_of_them_and_one_saves_twice(self, made):
        path = made.path / "ledger.md"
        text = path.read_text(encoding="utf-8")
        with path.open("r+", encoding="utf-8", newline="\n") as one:
            made.change(finding("claim number 0"), MODEL)
            with path.open("r+", encoding="utf-8", newline="\n") as other:
                now = path.read_text(encoding="utf-8")
                made.change(finding("claim number 1"), MODEL)
                for file, was, line in ((one, text, "by the one"), (other, now, "by the other")):
                    file.truncate()
                    file.write(with_line(was, line))
                    file.flush()
                made.change(finding("claim number 2"), MODEL)
                other.seek(0)
                other.truncate()
                other.write(with_line(with_line(now, "by the other"), "once more"))
        made.absorb(USER)
        wanted = all_claims(3) | {"by the one", "by the other", "once more"}
        assert sorted(texts(made.read())) == sorted(wanted)  # each once
        assert made.absorb(USER) is None
        assert sound(made.path)

    def test_displaced_files_do_not_pile_up(self, made, monkeypatch):
        monkeypatch.setattr(displaced, "KEPT_SECONDS", 0.05)
        for i in range(5):
            made.change(finding(f"claim number {i}"), MODEL)
        time.sleep(0.1)
        for i in range(5, 7):
            made.change(finding(f"claim number {i}"), MODEL)
        kept = list((made.repo.git / "throughline" / "displaced").iterdir())
        assert 1 <= len(kept) <= 2

    def test_one_that_was_emptied_is_waited_for(self, made, monkeypatch):
        monkeypatch.setattr(displaced, "KEPT_SECONDS", 0.01)
        monkeypatch.setattr(displaced, "_SETTLING_SECONDS", 0.05)
        path = made.path / "ledger.md"
        text = path.read_text(encoding="utf-8")
        with path.open("r+", encoding="utf-8", newline="\n") as file:
            made.change(finding("claim number 0"), MODEL)
            file.truncate(0)
            for i in range(1, 4):
                time.sleep(0.02)
                made.change(finding(f"claim number {i}"), MODEL)
            file.write(with_line(text, "by the person"))
        assert made.absorb(USER).changes[0].text == "by the person"
        assert sound(made.path)


def all_claims(number):
    return {f"claim number {i}" for i in range(number)}


def with_line(text, line):
    return text.replace("## Decisions\n", f"- {line}\n\n## Decisions\n", 1)


def test_the_ledger_file_is_whole_at_every_moment(tmp_path):
    made = project(tmp_path)
    path = made.path / "ledger.md"
    torn, done = [], threading.Event()

    def look():
        while not done.is_set():
            text = path.read_text(encoding="utf-8")
            if not text.startswith("---") or "Ledger version" not in text[-200:]:
                torn.append(text)

    reader = threading.Thread(target=look)
    reader.start()
    for i in range(40):
        made.change(finding(f"claim number {i}"), MODEL)
    done.set()
    reader.join()
    assert torn == []


def test_a_person_commits_while_the_engine_writes(tmp_path):
    made = project(tmp_path)
    (made.path / "mine.txt").write_text("x")
    git(made.path, "add", "mine.txt")
    moved = []

    def edit(ledger):
        git(made.path, "commit", "-qm", "While the engine held its lock", "--", "mine.txt")
        moved.append(git(made.path, "rev-parse", "HEAD").strip())
        return finding("by the model")(ledger)

    from throughline_nb.errors import StoreError

    with pytest.raises(StoreError, match="try again"):
        made.change(edit, MODEL)
    assert git(made.path, "rev-parse", "HEAD").strip() == moved[0]
    assert texts(made.change(finding("by the model"), MODEL)) == ["by the model"]
    assert "mine.txt" in git(made.path, "ls-tree", "--name-only", "HEAD")
    assert sound(made.path)
