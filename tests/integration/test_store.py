"""A project from its first version on: what is committed, shown, listed, renamed, removed."""

import os
import subprocess
import sys
import time

import msgspec
import psutil
import pytest
from stores import (
    BY,
    ENGINE,
    MODEL,
    NOW,
    USER,
    count,
    finding,
    git,
    goal,
    project,
    projects,
    recording,
    sound,
    texts,
)

from throughline_nb.chat import ChatKey
from throughline_nb.errors import NewerFormatError, NotFoundError, RefusedError
from throughline_nb.ledger import Ledger, edits, read, write
from throughline_nb.store.objects import item
from throughline_nb.store.projects import Stamp


class TestVersions:
    def test_the_first(self, tmp_path):
        made = project(tmp_path)
        now = made.read()
        assert now.ledger == Ledger(project="runtimes", goal="Compare seven runtimes")
        assert now.version.startswith("1-")
        assert (made.path / "ledger.md").read_text(encoding="utf-8") == write(
            now.ledger, now.version
        )
        assert git(made.path, "ls-files").split() == [".gitattributes", "ledger.md"]
        assert git(made.path, "branch", "--show-current").strip() == "main"
        assert sound(made.path)

    def test_one_change_is_one_commit_with_its_trailers(self, tmp_path):
        made = project(tmp_path)
        stamp = Stamp(actor="model", now=NOW, via="Tool: ledger_record", turn=41,
                      chat=ChatKey("lmstudio", "1764500000000"))  # fmt: skip
        now = made.change(finding("llama.cpp defaults to 4,096 tokens"), stamp)
        assert texts(now) == ["llama.cpp defaults to 4,096 tokens"]
        assert now == made.read()
        message = git(made.path, "log", "-1", "--format=%B").strip()
        assert message == (
            "F1 added: llama.cpp defaults to 4,096 tokens\n\n"
            "Actor: model\nChat: lmstudio/1764500000000\nTurn: 41\nTool: ledger_record\n"
            f"Version: {now.version}"
        )
        assert (
            git(made.path, "log", "-1", "--format=%(trailers:key=Turn,valueonly)").strip() == "41"
        )
        assert git(made.path, "log", "-1", "--format=%an <%ae> %at %cn").strip() == (
            f"throughLine <throughline@localhost> {NOW:.0f} throughLine"
        )
        assert count(made.path, "HEAD") == 2
        assert sound(made.path)

    def test_versions_count_and_differ(self, tmp_path):
        made = project(tmp_path)
        seen = [made.change(finding(f"claim {i} holds"), MODEL).version for i in range(5)]
        assert [version.split("-")[0] for version in seen] == ["2", "3", "4", "5", "6"]
        assert len({version.split("-")[1] for version in seen}) > 1

    def test_the_same_ledger_makes_no_commit(self, tmp_path):
        made = project(tmp_path)
        before = made.read()
        assert made.change(lambda ledger: (ledger, "nothing"), MODEL) == before
        assert made.change(lambda ledger: (msgspec.structs.replace(ledger), "x"), MODEL) == before
        assert count(made.path, "HEAD") == 1

    def test_a_subject_is_one_line_and_starts_no_trailer(self, tmp_path):
        made = project(tmp_path)
        now = made.change(
            lambda was: (finding("a claim")(was)[0], "one\n\nActor: user\x00\x85two"), MODEL
        )
        record = made.history(1)[0]
        assert record.subject == "one Actor: user two"
        assert record.actor == "model"
        assert record.version == now.version

    def test_the_users_identity(self, tmp_path, monkeypatch):
        config = tmp_path / "config"
        config.write_text("[user]\n\tname = Some <One>\n\temail = one@example.org\n")
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
        made = project(tmp_path)
        made.change(goal("Another goal"), USER)
        made.change(finding("by the model"), MODEL)
        made.change(goal("The engine sets none"), ENGINE)
        assert git(made.path, "log", "--format=%an <%ae>").splitlines() == [
            "throughLine <throughline@localhost>",
            "throughLine <throughline@localhost>",
            "Some One <one@example.org>",
            "Some One <one@example.org>",
        ]
        config.write_text("[user]\n\tname = Another\n")
        made.change(goal("Once more"), USER)
        assert (
            git(made.path, "log", "-1", "--format=%an <%ae>").strip() == "Another <user@localhost>"
        )

    def test_the_model_may_not_change_the_goal(self, tmp_path):
        made = project(tmp_path)
        with pytest.raises(RefusedError, match="goal"):
            made.change(
                lambda was: (msgspec.structs.replace(was, goal="Mine"), "Goal changed"), MODEL
            )
        assert count(made.path, "HEAD") == 1
        assert made.change(finding("still works"), MODEL)

    def test_a_failing_edit_changes_nothing(self, tmp_path):
        made = project(tmp_path)
        before = made.read()
        with pytest.raises(ZeroDivisionError):
            made.change(lambda _: 1 / 0, MODEL)
        assert made.read() == before
        assert sound(made.path)

    def test_decisions_become_suspect(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("a claim"), MODEL)
        made.change(recording("decision", "rest on it", because="F1", reason="it holds"), MODEL)

        def retract(ledger):
            done = edits.retract(ledger, "F1", BY, "it was wrong")
            return done.ledger, done.sentence

        assert made.change(retract, MODEL).ledger.decisions[0].suspect == "F1 retracted"

    def test_a_newer_project_is_read_and_not_written(self, tmp_path):
        made = project(tmp_path)
        path = made.path / "ledger.md"
        path.write_text(path.read_text().replace("throughline: 1", "throughline: 2"))
        git(made.path, "commit", "-qam", "from the future\n\nActor: user\nVersion: 2-aaaa")
        assert made.read().ledger.goal == "Compare seven runtimes"
        with pytest.raises(NewerFormatError, match="upgrade"):
            made.change(finding("x y z"), MODEL)
        assert count(made.path, "HEAD") == 2


class TestWhatElseIsThere:
    def test_a_persons_files_and_staged_work_stay(self, tmp_path):
        made = project(tmp_path)
        (made.path / "data").mkdir()
        (made.path / "data" / "a.csv").write_text("1,2\n")
        (made.path / "a-notes.txt").write_text("mine\n")
        (made.path / "zz é.txt").write_text("mine\n")
        git(made.path, "add", ".")
        git(made.path, "commit", "-qm", "Add my data")
        (made.path / "staged.txt").write_text("not committed yet\n")
        git(made.path, "add", "staged.txt")
        now = made.change(finding("recorded after it"), MODEL)
        assert now.version.startswith("2-")
        assert git(made.path, "status", "--porcelain").strip() == "A  staged.txt"
        names = git(made.path, "-c", "core.quotePath=off", "ls-tree", "-r", "--name-only", "HEAD")
        assert names.split("\n")[:-1] == [
            ".gitattributes", "a-notes.txt", "data/a.csv", "ledger.md", "zz é.txt",
        ]  # fmt: skip

    def test_packed_and_collected(self, tmp_path):
        made = project(tmp_path)
        for i in range(4):
            made.change(finding(f"claim number {i}"), MODEL)
        git(made.path, "gc", "-q", "--prune=now")
        git(made.path, "pack-refs", "--all")
        assert not (made.repo.git / "refs/heads/main").exists()
        script = (
            "import sys; from pathlib import Path; from throughline_nb.store.home import Home;"
            "from throughline_nb.store.projects import Projects;"
            "print(len(Projects(Home(Path(sys.argv[1]))).open('runtimes').read().ledger.findings))"
        )
        done = subprocess.run(
            [sys.executable, "-c", script, made.home.path], capture_output=True, check=True
        )
        assert done.stdout.strip() == b"4"
        assert texts(made.change(finding("one after it"), MODEL))[-1] == "one after it"
        assert sound(made.path)

    def test_garbage_is_collected_when_enough_has_gathered(self, tmp_path, monkeypatch):
        import throughline_nb.store.repo as module

        made = project(tmp_path)
        for i in range(30):
            made.change(finding(f"claim number {i}"), MODEL)
        made.collect_garbage()
        assert not list((made.repo.git / "objects" / "pack").glob("*.pack"))
        monkeypatch.setattr(module, "_LOOSE", 256)
        blobs = (item(b"blob", str(i).encode()) for i in range(5000))
        made.repo.store([blob for blob in blobs if blob.id.startswith("17")])
        made.collect_garbage()
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            if list((made.repo.git / "objects" / "pack").glob("*.pack")):
                break
            time.sleep(0.1)
        else:
            pytest.fail("nothing was packed")
        made.change(finding("while or after it"), MODEL)
        while (made.repo.git / "gc.pid").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert sound(made.path)

    def test_nothing_stays_open(self, tmp_path):
        made = project(tmp_path)
        me = psutil.Process()
        made.change(finding("warm up"), MODEL)
        made.undo(None, USER)
        before, children = me.num_fds() if os.name != "nt" else me.num_handles(), len(me.children())
        for i in range(30):
            made.change(finding(f"claim number {i}"), MODEL)
            made.absorb(USER)
            made.history(3)
        after = me.num_fds() if os.name != "nt" else me.num_handles()
        assert after <= before
        assert len(me.children()) <= children


class TestHistory:
    def test_newest_first_and_bounded(self, tmp_path):
        made = project(tmp_path)
        for i in range(4):
            made.change(finding(f"claim {i} holds"), MODEL)
        assert [r.subject for r in made.history(2)] == [
            "F4 added: claim 3 holds",
            "F3 added: claim 2 holds",
        ]
        assert len(made.history()) == 5
        last = made.history(1)[0]
        assert (last.actor, last.via, last.chat, last.turn, last.author) == (
            "model", "Tool: ledger_record", "", 0, "throughLine",
        )  # fmt: skip
        assert last.parents == (made.history(2)[1].commit,)
        assert last.time == NOW

    def test_by_name_prefix_count_and_commit(self, tmp_path):
        made = project(tmp_path)
        versions = [made.change(finding(f"claim {i} holds"), MODEL) for i in range(12)]
        third = versions[2]
        for name in (third.version, f" `{third.version}` ", third.version[:-1], "4", third.commit,
                     third.commit[:10]):  # fmt: skip
            assert made.at(name) == third

    @pytest.mark.parametrize(
        "name", ["99", "zz", "", "--all", "99-abcd", "0" * 40, "HEAD~1", "../x"]
    )
    def test_an_unknown_version_is_one_line(self, tmp_path, name):
        with pytest.raises(NotFoundError, match="/tl log"):
            project(tmp_path).at(name)

    def test_an_ambiguous_version_names_them(self, tmp_path):
        made = project(tmp_path)
        one = made.change(finding("one claim"), MODEL)
        git(made.path, "update-ref", "refs/heads/side", "HEAD~1")
        tree = git(made.path, "rev-parse", "HEAD~1^{tree}").strip()
        text = "Another 2\n\nActor: user\nVersion: 2-ffff"
        other = git(made.path, "commit-tree", tree, "-p", "HEAD~1", "-m", text).strip()
        text = "Joined\n\nActor: user\nVersion: 3-ffff"
        joined = git(made.path, "commit-tree", "HEAD^{tree}", "-p", "HEAD", "-p", other, "-m", text)
        git(made.path, "update-ref", "HEAD", joined.strip())
        with pytest.raises(NotFoundError, match=one.version):
            made.at("2")
        assert made.at("2-ffff").commit == other

    def test_turns_and_open_questions(self, tmp_path):
        made = project(tmp_path)
        assert made.note_turn(["Q1"]) == {"Q1": 0}
        assert made.note_turn(["Q1", "Q2"]) == {"Q1": 1, "Q2": 0}
        assert made.open_turns() == {"Q1": 1, "Q2": 0}
        assert made.note_turn(["Q2"]) == {"Q2": 1}
        (made.repo.git / "throughline" / "questions.json").write_text("{")
        assert made.note_turn(["Q2"]) == {"Q2": 0}
        assert sound(made.path)


class TestAllProjects:
    def test_names(self, tmp_path):
        all_of_them = projects(tmp_path)
        assert all_of_them.names() == []
        for name in ("b", "a"):
            all_of_them.create(name, Ledger(), "Project started", USER)
        (all_of_them.home.projects / "no-project").mkdir()
        (all_of_them.home.projects / ".hidden").mkdir()
        assert all_of_them.names() == ["a", "b"]
        assert all_of_them.exists("a")
        assert not all_of_them.exists("no-project")
        assert not all_of_them.exists("../projects/a")

    @pytest.mark.parametrize("name", ["", "..", "a/b", ".git", "x" * 300, "con", "a\\b", "../a"])
    def test_names_that_cannot_be(self, tmp_path, name):
        all_of_them = projects(tmp_path)
        with pytest.raises(RefusedError, match="nothing was changed"):
            all_of_them.create(name, Ledger(), "x", USER)
        with pytest.raises(NotFoundError, match="/tl list"):
            all_of_them.open(name)

    def test_a_taken_name(self, tmp_path):
        made = project(tmp_path)
        with pytest.raises(RefusedError, match="already"):
            project(tmp_path)
        assert projects(tmp_path).free_slug("Runtimes") == "runtimes-2"
        assert sound(made.path)

    def test_a_failing_start_leaves_nothing(self, tmp_path, monkeypatch):
        import throughline_nb.store.projects as module

        all_of_them = projects(tmp_path)
        with monkeypatch.context() as patch, pytest.raises(ZeroDivisionError):
            patch.setattr(module, "write", lambda *_: 1 / 0)
            all_of_them.create("a", Ledger(), "x", USER)
        assert list(all_of_them.home.projects.iterdir()) == []
        assert all_of_them.create("a", Ledger(), "x", USER).read()

    def test_what_a_killed_start_or_removal_left_is_cleared(self, tmp_path):
        all_of_them = projects(tmp_path)
        for name in (".new-0a1b2c3d4e5f", ".gone-0a1b2c3d4e5f"):
            (all_of_them.home.projects / name / ".git").mkdir(parents=True)
        (all_of_them.home.projects / ".mine").mkdir()
        assert all_of_them.names() == []
        project(tmp_path)
        assert {path.name for path in all_of_them.home.projects.iterdir()} == {"runtimes", ".mine"}

    def test_find_by_what_a_person_types(self, tmp_path):
        project(tmp_path, name="llm-runtimes")
        all_of_them = projects(tmp_path)
        assert all_of_them.find("LLM runtimes").slug == "llm-runtimes"
        with pytest.raises(NotFoundError, match="did you mean “llm-runtimes”"):
            all_of_them.find("llm-runtime")
        with pytest.raises(NotFoundError, match="/tl list"):
            all_of_them.find("something else")

    def test_rename(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("a claim"), MODEL)
        path = made.path / "ledger.md"
        path.write_text(path.read_text().replace("a claim", "a claim of mine"))
        new = projects(tmp_path).rename("runtimes", "engines", USER)
        assert projects(tmp_path).names() == ["engines"]
        assert new.read().ledger.project == "engines"
        assert texts(new.read()) == ["a claim of mine"]
        assert "# engines" in (new.path / "ledger.md").read_text()
        assert new.history(1)[0].subject == "Renamed from runtimes to engines"
        assert sound(new.path)
        with pytest.raises(NotFoundError):
            made.change(finding("too late"), MODEL)
        assert not made.path.exists()
        assert new.undo(None, USER).record.subject.startswith("Edited by hand: F1 changed")

    def test_rename_to_a_taken_name(self, tmp_path):
        project(tmp_path, name="a")
        project(tmp_path, name="b")
        with pytest.raises(RefusedError, match="already"):
            projects(tmp_path).rename("a", "b", USER)
        assert projects(tmp_path).names() == ["a", "b"]

    def test_a_folder_renamed_by_hand(self, tmp_path):
        made = project(tmp_path)
        made.path.rename(made.path.with_name("moved"))
        moved = projects(tmp_path).open("moved")
        assert moved.read().ledger.project == "moved"
        assert moved.absorb(USER) is None
        assert moved.change(finding("a claim"), MODEL).ledger.project == "moved"
        assert read((moved.path / "ledger.md").read_text()).ledger.project == "moved"

    def test_delete(self, tmp_path):
        made = project(tmp_path)
        projects(tmp_path).delete("runtimes")
        assert list(made.home.projects.iterdir()) == []
        with pytest.raises(NotFoundError):
            made.change(finding("too late"), MODEL)
        with pytest.raises(NotFoundError):
            projects(tmp_path).delete("runtimes")
        assert project(tmp_path).read().version.startswith("1-")

    def test_trash(self, tmp_path):
        for number in ("", "-2"):
            made = project(tmp_path)
            made.change(finding("a claim"), MODEL)
            place = projects(tmp_path).trash("runtimes")
            assert place == made.home.trash / f"runtimes{number}"
            assert sound(place)
        assert projects(tmp_path).names() == []

    def test_a_newer_home_is_read(self, tmp_path):
        made = project(tmp_path)
        (made.home.path / "format").write_text("2\n")
        again = projects(tmp_path)
        assert again.open("runtimes").read().ledger.goal
        for act in (
            lambda: again.open("runtimes").change(finding("x y z"), MODEL),
            lambda: again.create("b", Ledger(), "x", USER),
            lambda: again.delete("runtimes"),
            lambda: again.rename("runtimes", "b", USER),
        ):
            with pytest.raises(NewerFormatError, match="upgrade"):
                act()
        assert again.names() == ["runtimes"]
