"""The repository below a project: objects, branches, the index, and git's own view of them."""

import os
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from stores import MODEL, count, finding, git, project, sound

from throughline_nb.errors import StoreError
from throughline_nb.store import gitrun, objects, refs, repo
from throughline_nb.store.objects import Person, TreeEntry, item

SOME = Person("Some One", "one@example.org")


@pytest.fixture
def empty(tmp_path):
    return repo.Repo.create(tmp_path)


class TestObjects:
    @pytest.mark.parametrize("data", [b"", b"x", b"\x00" * 100_000, "ünïcödé\n".encode()])
    def test_git_reads_what_is_written(self, empty, data):
        blob = item(b"blob", data)
        empty.store([blob])
        assert empty.read(blob.id) == data
        shown = subprocess.run(
            ["git", "cat-file", "blob", blob.id], cwd=empty.path, capture_output=True, check=True
        )
        assert shown.stdout == data
        path = empty.git / "objects" / blob.id[:2] / blob.id[2:]
        if os.name != "nt":
            assert path.stat().st_mode & 0o777 == 0o444
        assert list(path.parent.iterdir()) == [path]

    def test_what_stands_is_not_written_again_but_made_young(self, empty):
        blob = item(b"blob", b"x")
        empty.store([blob])
        path = empty.git / "objects" / blob.id[:2] / blob.id[2:]
        os.utime(path, (1_000_000_000, 1_000_000_000))
        inode = path.stat().st_ino
        empty.store([blob, blob])
        assert path.stat().st_ino == inode
        assert path.stat().st_mtime > 1_700_000_000  # gc prunes what is old

    def test_many_packed_at_once(self, empty):
        blobs = [item(b"blob", f"{i}".encode()) for i in range(200)]
        empty.store(blobs)
        tree = "".join(f"100644 blob {blob.id}\t{i}\n" for i, blob in enumerate(blobs))
        (empty.path / "list").write_text(tree, newline="\n")
        with (empty.path / "list").open("rb") as file:
            made = subprocess.run(
                ["git", "mktree"], cwd=empty.path, stdin=file, capture_output=True, check=True
            )
        git(empty.path, "tag", "keep", made.stdout.decode().strip())
        git(empty.path, "repack", "-q", "-a", "-d")
        git(empty.path, "prune-packed")
        wanted = [blob.id for blob in blobs]
        assert dict(empty.read_many(wanted)) == {blob.id: blob.data for blob in blobs}
        assert empty.read(wanted[7]) == b"7"

    def test_what_is_not_there(self, empty):
        with pytest.raises(StoreError, match="lacks object 00000"):
            empty.read("0" * 40)

    @given(
        name=st.text(max_size=20), email=st.text(max_size=20), when=st.integers(-5, 4_000_000_000),
        subject=st.text(max_size=40), value=st.text(max_size=20),
    )  # fmt: skip
    def test_commits_read_back(self, name, email, when, subject, value):
        text = objects.message(subject, [("Actor", "user"), ("Chat", value), ("Version", "1-aaaa")])
        raw = objects.format_commit("a" * 40, ["b" * 40, "c" * 40], Person(name, email), when, text)
        commit = objects.parse_commit("d" * 40, raw)
        assert commit.parents == ("b" * 40, "c" * 40)
        assert commit.tree == "a" * 40
        assert commit.time == max(when, 0)
        assert "\n" not in commit.subject
        assert commit.trailers["Actor"] == "user"
        assert commit.trailers["Version"] == "1-aaaa"
        assert set(commit.trailers) <= {"Actor", "Chat", "Version"}

    @given(
        st.dictionaries(
            st.text(
                st.characters(exclude_characters="/\x00", codec="utf-8"), min_size=1, max_size=9
            ),
            st.booleans(),
            max_size=8,
        )
    )
    @settings(max_examples=40)
    def test_trees_are_sorted_as_git_sorts(self, names):
        entries = [
            TreeEntry(b"40000" if folder else b"100644", name.encode(), "a" * 40)
            for name, folder in names.items()
            if name not in (".", "..")
        ]
        data = objects.format_tree(entries)
        assert sorted(objects.parse_tree(data), key=repr) == sorted(entries, key=repr)
        assert objects.format_tree(objects.parse_tree(data)) == data

    def test_a_tree_git_agrees_with(self, empty):
        blob = item(b"blob", b"x")
        inner = item(b"tree", objects.format_tree([TreeEntry(b"100644", b"f", blob.id)]))
        names = [
            (b"100644", b"a.b"),
            (b"40000", b"a"),
            (b"100644", b"a0"),
            (b"100755", "é".encode()),
        ]
        entries = [TreeEntry(m, n, inner.id if m == b"40000" else blob.id) for m, n in names]
        tree = item(b"tree", objects.format_tree(entries))
        empty.store([blob, inner, tree])
        assert git(empty.path, "fsck", "--strict", "--no-dangling") == ""
        assert [entry.name for entry in empty.tree(tree.id)] == [b"a.b", b"a", b"a0", "é".encode()]

    @pytest.mark.parametrize("data", [b"100644 a", b"100644 a\x00short", b"nonsense"])
    def test_a_tree_that_is_cut_short(self, data):
        with pytest.raises(ValueError, match=r"cut short|not found"):
            objects.parse_tree(data)

    def test_a_persons_strange_commit(self, empty):
        raw = b"tree %s\nauthor nobody\nencoding latin1\n\n\xff\xfe\n" % (b"a" * 40)
        commit = objects.parse_commit("d" * 40, raw)
        assert commit.author == Person("", "")
        assert commit.trailers == {}


class TestBranches:
    def commit(self, empty, parents=(), text="x"):
        draft = empty.draft()
        ident = draft.commit({"a": draft.blob(text.encode())}, parents, SOME, 1.0, text)
        draft.store()
        return ident

    def test_it_moves_only_from_the_value_that_was_read(self, empty):
        one = self.commit(empty)
        two = self.commit(empty, (one,), "y")
        empty.advance(one, None)
        assert empty.head() == one
        with pytest.raises(StoreError, match="at the same moment"):
            empty.advance(two, None)
        with pytest.raises(StoreError, match="at the same moment"):
            empty.advance(two, two)
        assert empty.head() == one
        empty.advance(two, one)
        assert git(empty.path, "rev-parse", "main").strip() == two
        assert not list(empty.git.rglob("*.lock"))

    def test_packed(self, empty):
        one = self.commit(empty)
        two = self.commit(empty, (one,), "y")
        empty.advance(one, None)
        git(empty.path, "pack-refs", "--all")
        assert not (empty.git / refs.MAIN).exists()
        assert empty.head() == one
        assert refs.list_refs(empty.git, "refs/") == {refs.MAIN: one}
        empty.advance(two, one)
        assert empty.head() == two
        assert refs.list_refs(empty.git, "refs/") == {refs.MAIN: two}
        assert git(empty.path, "rev-parse", "main").strip() == two

    def test_only_branches_below_are_listed(self, empty):
        one = self.commit(empty)
        for name in ("refs/heads/main", "refs/heads/deep/er", "refs/throughline/rescue/x"):
            git(empty.path, "update-ref", name, one)
        (empty.git / "refs/heads/main.lock").write_text("")
        assert set(refs.list_refs(empty.git, "refs/heads/")) == {
            "refs/heads/main",
            "refs/heads/deep/er",
        }
        assert set(refs.list_refs(empty.git, refs.RESCUE)) == {"refs/throughline/rescue/x"}

    def test_while_git_packs_the_branch(self, empty):
        last = self.commit(empty)
        empty.advance(last, None)
        packing = subprocess.Popen(
            "while :; do git pack-refs --all; done" if os.name != "nt" else "exit",
            shell=True, cwd=empty.path, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            for i in range(60):
                new = self.commit(empty, (last,), f"{i}")
                empty.advance(new, last)
                last = new
                assert empty.head() == last
        finally:
            packing.terminate()
            packing.wait()
        assert count(empty.path, "main") == 61


class TestMergingText:
    def test_both_sides(self):
        base = "five of seven were checked on the slow machine"
        ours = base.replace("five", "six")
        theirs = base.replace("slow", "fast")
        assert gitrun.merge_text(base, ours, theirs) == ours.replace("slow", "fast")

    def test_a_conflict_is_none(self):
        assert gitrun.merge_text("one word", "two word", "three word") is None

    @pytest.mark.parametrize(
        "text", ["", " ", "a  b", " a ", "a\nb", "a\n\n b \n", "\n", "ünï\u2028x"]
    )
    def test_what_nobody_changed_stays_to_the_byte(self, text):
        assert gitrun.merge_text(text, text, text) == text
        assert gitrun.merge_text(text, text, f"{text} z") == f"{text} z"

    def test_lines(self):
        base = "first line here\n\nsecond line here\nthird"
        assert gitrun.merge_text(
            base, base.replace("first", "1st"), base.replace("third", "3rd")
        ) == base.replace("first", "1st").replace("third", "3rd")


class TestTheIndex:
    def test_other_entries_and_their_flags_stay(self, tmp_path):
        made = project(tmp_path)
        for name in ("aa", "zz", "skip"):
            (made.path / name).write_text(name)
        git(made.path, "add", ".")
        git(made.path, "commit", "-qm", "Files")
        git(made.path, "update-index", "--skip-worktree", "skip")
        git(made.path, "update-index", "--assume-unchanged", "aa")
        made.change(finding("recorded"), MODEL)
        shown = git(made.path, "ls-files", "-v")
        assert shown.splitlines() == ["H .gitattributes", "h aa", "H ledger.md", "S skip", "H zz"]
        assert sound(made.path)

    def test_names_that_are_not_ascii(self, tmp_path):
        made = project(tmp_path)
        (made.path / "größe 東京.txt").write_text("x")
        git(made.path, "add", ".")
        made.change(finding("recorded"), MODEL)
        shown = git(made.path, "status", "--porcelain", "-z")
        assert shown == "A  größe 東京.txt\0"


class TestRunning:
    def test_what_git_said_is_one_line(self, empty):
        with pytest.raises(StoreError, match=r"git rev-parse failed.*doctor") as error:
            gitrun.run(empty.git, "rev-parse", "--verify", "no-such")
        assert "\n" not in str(error.value)

    def test_a_folder_that_is_gone(self, tmp_path):
        with pytest.raises(StoreError, match="could not be run"):
            gitrun.run(tmp_path / "none" / ".git", "status")
