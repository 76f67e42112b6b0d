"""What a person saves or commits is merged, and nothing of it is lost."""

import os

import pytest
from stores import (
    MODEL,
    USER,
    count,
    finding,
    git,
    goal,
    project,
    recording,
    sound,
    texts,
)

from throughline_nb.errors import StoreError
from throughline_nb.ledger import write
from throughline_nb.store.handedit import sign
from throughline_nb.store.ledgers import version_in


def three(tmp_path):
    made = project(tmp_path)
    for word in ("one", "two", "three"):
        made.change(finding(f"claim {word} holds"), MODEL)
    return made


def replace(made, old, new):
    path = made.path / "ledger.md"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def without_markers(made):
    """As an editor leaves it that drops front matter, comments and the last line."""
    path = made.path / "ledger.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text[text.index("# runtimes") : text.rindex("Ledger version")], encoding="utf-8"
    )


class TestASavedFile:
    def test_nothing_saved_is_nothing_to_merge(self, tmp_path):
        made = three(tmp_path)
        assert made.absorb(USER) is None
        assert count(made.path, "HEAD") == 4

    def test_an_edit_is_a_commit_on_its_version_and_a_merge(self, tmp_path):
        made = three(tmp_path)
        before = made.read()
        replace(made, "claim two holds", "claim 2 holds")
        saved = (made.path / "ledger.md").read_bytes()
        absorbed = made.absorb(USER)
        assert [change.sentence for change in absorbed.changes] == ["F2 changed: claim 2 holds"]
        assert absorbed.snapshot == made.read()
        assert absorbed.snapshot.ledger.findings[1].by == "user"
        first, edit = made.history(1)[0].parents
        assert first == before.commit
        assert git(made.path, "rev-parse", f"{edit}^").strip() == before.commit
        assert git(made.path, "show", f"{edit}:ledger.md").encode() == saved
        assert (
            git(made.path, "log", "-1", "--format=%(trailers:key=Actor,valueonly)").strip()
            == "user"
        )
        assert made.history(1)[0].subject == "Edited by hand: F2 changed: claim 2 holds"
        assert sound(made.path)
        assert made.absorb(USER) is None

    def test_a_change_merges_what_was_saved_before_it(self, tmp_path):
        made = three(tmp_path)
        replace(made, "## Decisions\n", "## Decisions\n\n- leave vLLM out\n")
        now = made.change(finding("a fourth"), MODEL)
        assert texts(now)[-1] == "a fourth"
        decision = now.ledger.decisions[0]
        assert (decision.id, decision.text, decision.by, decision.added) == (
            "D1", "leave vLLM out", "user", "2026-09-21T14:13:20Z",
        )  # fmt: skip
        assert len(made.history()) == 6

    def test_an_edit_of_an_older_version(self, tmp_path):
        made = three(tmp_path)
        path = made.path / "ledger.md"
        old = path.read_text(encoding="utf-8")
        written_from = made.read()
        made.change(finding("recorded while the editor was open"), MODEL)
        path.write_text(old.replace("claim one holds", "claim 1 holds"), encoding="utf-8")
        absorbed = made.absorb(USER)
        assert texts(absorbed.snapshot) == [
            "claim 1 holds", "claim two holds", "claim three holds",
            "recorded while the editor was open",
        ]  # fmt: skip
        edit = made.history(1)[0].parents[1]
        assert git(made.path, "rev-parse", f"{edit}^").strip() == written_from.commit
        assert sound(made.path)

    def test_an_older_version_saved_without_a_change_is_none(self, tmp_path):
        made = three(tmp_path)
        path = made.path / "ledger.md"
        old = path.read_bytes()
        now = made.change(finding("later"), MODEL)
        path.write_bytes(old)
        assert made.absorb(USER) is None
        assert made.read() == now
        assert sound(made.path)

    def test_a_new_layout_is_no_change_and_written_back(self, tmp_path):
        made = three(tmp_path)
        path = made.path / "ledger.md"
        canonical = path.read_bytes()
        path.write_bytes(canonical.replace(b"\n", b"\r\n").replace(b"- **F", b"* **F"))
        assert made.absorb(USER) is None
        assert path.read_bytes() == canonical
        assert len(made.history()) == 4
        assert sound(made.path)

    def test_without_its_markers_the_last_written_version_counts(self, tmp_path):
        made = three(tmp_path)
        without_markers(made)
        replace(made, "claim two holds", "claim 2 holds")
        assert [c.name for c in made.absorb(USER).changes] == ["F2"]

    def test_without_markers_and_memory_the_most_alike_counts(self, tmp_path):
        made = three(tmp_path)
        without_markers(made)
        replace(made, "claim two holds", "claim 2 holds")
        (made.repo.git / "throughline" / "written.json").unlink()
        assert [c.name for c in made.absorb(USER).changes] == ["F2"]

    def test_the_goal_is_the_users(self, tmp_path):
        made = three(tmp_path)
        replace(made, "Compare seven runtimes", "Compare eight runtimes")
        assert made.absorb(MODEL).snapshot.ledger.goal == "Compare eight runtimes"
        assert made.history(1)[0].actor == "user"

    def test_both_changed_one_text(self, tmp_path):
        made = three(tmp_path)
        path = made.path / "ledger.md"
        old = path.read_text(encoding="utf-8")
        made.change(goal("Compare nine runtimes"), USER)
        path.write_text(old.replace("seven", "eight"), encoding="utf-8")
        absorbed = made.absorb(USER)
        assert absorbed.snapshot.ledger.goal == "Compare eight runtimes"
        assert "nine" in " ".join(absorbed.notices)

    def test_a_note_that_both_changed_is_merged_by_words(self, tmp_path):
        made = project(tmp_path)
        note = "five of seven were checked on the slow machine"
        made.change(recording("finding", "a claim"), MODEL)

        def noting(text):
            from msgspec.structs import replace as put

            return lambda was: (put(was, findings=(put(was.findings[0], note=text),)), "noted")

        made.change(noting(note), MODEL)
        path = made.path / "ledger.md"
        old = path.read_text(encoding="utf-8")
        made.change(noting(note.replace("slow", "fast")), MODEL)
        path.write_text(old.replace("five of", "six of"), encoding="utf-8")
        merged = made.absorb(USER).snapshot.ledger.findings[0]
        assert merged.note == "six of seven were checked on the fast machine"

    def test_a_file_that_is_gone_is_written_anew(self, tmp_path):
        made = three(tmp_path)
        text = (made.path / "ledger.md").read_bytes()
        (made.path / "ledger.md").unlink()
        assert made.absorb(USER) is None
        assert (made.path / "ledger.md").read_bytes() == text
        assert sound(made.path)

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"\xff\xfe\x00l\x00e",
            b"\x89PNG\r\n\x1a\n\x00\x00",
            b"just some text\n",
            b"<<<<<<< HEAD\n## Goal\n=======\n## Goal\n>>>>>>> x\n",
            b"# x\n" * 4_000_000,
        ],
        ids=["empty", "utf-16", "binary", "no section", "conflict markers", "over 10 MB"],
    )
    def test_what_cannot_be_read_is_kept_twice(self, tmp_path, raw):
        made = three(tmp_path)
        path = made.path / "ledger.md"
        text = path.read_bytes()
        path.write_bytes(raw)
        absorbed = made.absorb(USER)
        kept = list(made.path.glob("ledger.edit-not-applied-*.md"))
        assert [one.read_bytes() for one in kept] == [raw]
        assert kept[0].name in absorbed.notices[0]
        assert absorbed.changes == ()
        assert path.read_bytes() == text
        ref = git(
            made.path, "for-each-ref", "--format=%(refname)", "refs/throughline/rescue"
        ).split()
        shown = made.repo.read(made.repo.file(git(made.path, "rev-parse", *ref).strip()))
        assert shown == raw
        assert made.absorb(USER) is None
        assert texts(made.change(finding("goes on"), MODEL))[-1] == "goes on"

    def test_one_unreadable_text_saved_twice_in_one_second(self, tmp_path):
        made = project(tmp_path)
        for _ in range(2):
            (made.path / "ledger.md").write_bytes(b"\xff\xfe\x00 no ledger")
            assert "could not be read" in made.absorb(USER).notices[0]
        assert len(list(made.path.glob("ledger.edit-not-applied-*.md"))) == 1
        assert texts(made.change(finding("goes on"), MODEL)) == ["goes on"]

    def test_two_unreadable_saves_in_one_second(self, tmp_path):
        made = three(tmp_path)
        for raw in (b"first", b"second"):
            (made.path / "ledger.md").write_bytes(raw)
            made.absorb(USER)
        kept = sorted(made.path.glob("ledger.edit-not-applied-*.md"))
        assert {one.read_bytes() for one in kept} == {b"first", b"second"}

    def test_a_folder_in_its_place_is_one_line(self, tmp_path):
        made = three(tmp_path)
        (made.path / "ledger.md").unlink()
        (made.path / "ledger.md").mkdir()
        with pytest.raises(StoreError, match="cannot be read"):
            made.absorb(USER)

    @pytest.mark.skipif(os.name == "nt", reason="modes of POSIX")
    def test_a_private_file_stays_private(self, tmp_path):
        made = three(tmp_path)
        (made.path / "ledger.md").chmod(0o600)
        made.change(finding("recorded"), MODEL)
        assert (made.path / "ledger.md").stat().st_mode & 0o777 == 0o600


class TestTheMarkers:
    def test_each_place_alone(self):
        assert version_in("---\nversion: 42-7c1e\n---\n") == "42-7c1e"
        assert version_in("<!-- throughLine ledger, version 42-7c1e. Edit -->") == "42-7c1e"
        assert version_in("Ledger version `42-7c1e` · next C2") == "42-7c1e"
        assert version_in("Ledger version \\`42-7c1e\\` · next") == "42-7c1e"
        assert version_in("nothing of the kind 42-7c1e") is None

    def test_the_last_line_counts_most(self):
        text = "---\nversion: 1-aaaa\n---\n- Ledger version 2-bbbb\n\nLedger version `3-cccc`\n"
        assert version_in(text) == "3-cccc"

    def test_as_written(self, tmp_path):
        now = three(tmp_path).read()
        assert version_in(write(now.ledger, now.version)) == now.version


class TestCommitsOfTheirOwn:
    def test_a_commit_without_our_trailers_is_a_hand_edit(self, tmp_path):
        made = three(tmp_path)
        before = made.read()
        replace(made, "claim two holds", "claim 2 holds")
        git(made.path, "commit", "-qam", "Say it in figures")
        theirs = git(made.path, "rev-parse", "HEAD").strip()
        assert made.read() == before
        absorbed = made.absorb(USER)
        assert [change.name for change in absorbed.changes] == ["F2"]
        assert made.history(1)[0].parents == (before.commit, theirs)
        assert len(made.history()) == 5
        assert sound(made.path)
        assert made.absorb(USER) is None
        undone = made.undo(None, USER)
        assert texts(undone.snapshot) == texts(before)

    def test_several_commits_with_files(self, tmp_path):
        made = three(tmp_path)
        replace(made, "claim two holds", "claim 2 holds")
        git(made.path, "commit", "-qam", "One")
        (made.path / "more.txt").write_text("mine")
        git(made.path, "add", "more.txt")
        git(made.path, "commit", "-qm", "Two")
        replace(made, "claim one holds", "claim 1 holds")
        git(made.path, "commit", "-qam", "Three")
        now = made.change(finding("and the model"), MODEL)
        assert texts(now) == [
            "claim 1 holds",
            "claim 2 holds",
            "claim three holds",
            "and the model",
        ]
        assert "more.txt" in git(made.path, "ls-tree", "--name-only", "HEAD")
        assert sound(made.path)

    def test_a_commit_and_a_save_on_top(self, tmp_path):
        made = three(tmp_path)
        replace(made, "claim two holds", "claim 2 holds")
        git(made.path, "commit", "-qam", "One")
        replace(made, "claim one holds", "claim 1 holds")
        assert {change.name for change in made.absorb(USER).changes} == {"F1", "F2"}
        assert sound(made.path)

    def test_a_revert(self, tmp_path):
        made = three(tmp_path)
        git(made.path, "revert", "--no-edit", "HEAD")
        assert [c.sentence for c in made.absorb(USER).changes] == ["F3 removed: claim three holds"]
        assert sound(made.path)

    def test_a_commit_that_removes_the_ledger(self, tmp_path):
        made = three(tmp_path)
        git(made.path, "rm", "-q", "ledger.md")
        git(made.path, "commit", "-qm", "Away with it")
        absorbed = made.absorb(USER)
        assert "could not be read" in absorbed.notices[0]
        assert len(texts(made.read())) == 3
        assert sound(made.path)

    def test_a_commit_that_is_no_ledger(self, tmp_path):
        made = three(tmp_path)
        (made.path / "ledger.md").write_text("<<<<<<< ours\n=======\n>>>>>>> theirs\n")
        git(made.path, "commit", "-qam", "Oops")
        assert len(texts(made.read())) == 3
        assert "could not be read" in made.absorb(USER).notices[0]
        assert len(texts(made.change(finding("a fourth"), MODEL))) == 4
        assert sound(made.path)

    def test_a_reset_goes_back(self, tmp_path):
        made = three(tmp_path)
        git(made.path, "reset", "-q", "--hard", "HEAD~1")
        assert made.absorb(USER) is None
        assert len(texts(made.read())) == 2
        assert texts(made.change(finding("another third"), MODEL))[-1] == "another third"
        assert sound(made.path)

    def test_an_amended_commit_of_ours(self, tmp_path):
        made = three(tmp_path)
        replace(made, "claim two holds", "claim 2 holds")
        git(made.path, "commit", "-q", "--amend", "--no-edit", "-a")
        assert made.absorb(USER) is None
        assert texts(made.read())[1] == "claim 2 holds"
        assert len(texts(made.change(finding("a fourth"), MODEL))) == 4

    @pytest.mark.parametrize("raw", [b"", b"no ledger at all"])
    def test_a_version_of_ours_amended_into_no_ledger(self, tmp_path, raw):
        made = three(tmp_path)
        (made.path / "ledger.md").write_bytes(raw)
        git(made.path, "commit", "-q", "--amend", "--no-edit", "-a")
        assert len(texts(made.read())) == 2  # the version before it
        assert "could not be read" in made.absorb(USER).notices[0]
        assert len(texts(made.change(finding("goes on"), MODEL))) == 3
        assert sound(made.path)

    def test_a_merge_of_a_branch_uses_the_driver(self, tmp_path, monkeypatch):
        import sys

        from throughline_nb.store import driver as module

        made = three(tmp_path)
        program = made.home.path / "driver.py"
        program.write_text(
            "import sys; from pathlib import Path\n"
            "from throughline_nb.store.driver import merge_driver\n"
            "sys.exit(merge_driver(*map(Path, sys.argv[1:4])))\n"
        )
        assert f"{sys.executable} -m throughline_nb merge-driver %O %A %B" in module.command()
        assert "merge-driver %O %A %B" in git(made.path, "config", "merge.throughline.driver")
        git(
            made.path,
            "config",
            "merge.throughline.driver",
            f"'{sys.executable}' '{program}' %O %A %B",
        )
        git(made.path, "branch", "side")
        replace(made, "claim two holds", "claim 2 holds")
        made.change(finding("from here"), MODEL)
        git(made.path, "switch", "-q", "side")
        replace(made, "claim one holds", "claim 1 holds")
        replace(made, "claim three holds", "claim 3 holds")
        git(made.path, "commit", "-qam", "On the side")
        git(made.path, "switch", "-q", "main")
        git(made.path, "merge", "-q", "--no-edit", "side")
        absorbed = made.absorb(USER)
        assert texts(absorbed.snapshot) == [
            "claim 1 holds",
            "claim 2 holds",
            "claim 3 holds",
            "from here",
        ]
        assert sound(made.path)

    def test_a_driver_that_cannot_read_reports_a_conflict(self, tmp_path, capsys):
        from throughline_nb.store.driver import merge_driver

        made = three(tmp_path)
        good, bad = tmp_path / "good.md", tmp_path / "bad.md"
        good.write_bytes((made.path / "ledger.md").read_bytes())
        bad.write_bytes(b"no ledger")
        before = good.read_bytes()
        assert merge_driver(good, good, bad) == 1
        assert good.read_bytes() == before
        assert "could not be merged" in capsys.readouterr().err

    def test_a_repository_that_the_engine_never_wrote_to(self, tmp_path):
        made = three(tmp_path)
        text = (made.path / "ledger.md").read_text()
        other = made.home.projects / "cloned"
        other.mkdir()
        git(other, "init", "-q", "-b", "main")
        (other / "ledger.md").write_text(text)
        git(other, "add", ".")
        git(other, "commit", "-qm", "From somewhere")
        from stores import projects

        cloned = projects(tmp_path).open("cloned")
        assert len(texts(cloned.read())) == 3
        absorbed = cloned.absorb(USER)
        assert absorbed.snapshot.version.startswith("1-")
        assert absorbed.snapshot.ledger.project == "cloned"
        assert len(texts(cloned.change(finding("a fourth"), MODEL))) == 4
        assert sound(other)


def test_signing_fills_only_what_is_missing(tmp_path):
    made = three(tmp_path)
    before = made.read().ledger
    replace(made, "## Plan\n", "## Plan\n\n- [ ] ask the vendor\n")
    after = made.absorb(USER).snapshot.ledger
    assert (after.plan[0].status, after.plan[0].by, after.plan[0].step) == ("todo", "user", "")
    assert sign(after, after, 0.0) is after
    assert after.findings == before.findings
