"""Whatever is wrong with git, its configuration or the folder: the right result, or one line."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from stores import (
    MODEL,
    USER,
    count,
    finding,
    git,
    goal,
    project,
    projects,
    sound,
    texts,
)

from throughline_nb.errors import StoreError, ThroughLineError
from throughline_nb.ledger import Ledger
from throughline_nb.store import gitrun, ledgers, repo

needs_posix = pytest.mark.skipif(os.name == "nt", reason="users, modes and programs of POSIX")


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def forget():
    """As in a new process."""
    repo.forget_caches()
    ledgers.forget_ledgers()


def one_line(error):
    return "\n" not in str(error.value) and len(str(error.value)) < 400


def works(made):
    """A whole round: a change, a hand edit, an undo, all in git and in the file."""
    before = len(made.history())
    made.change(finding("recorded by the model"), MODEL)
    path = made.path / "ledger.md"
    path.write_text(
        path.read_text(encoding="utf-8").replace("by the model", "by a tool"), encoding="utf-8"
    )
    assert made.absorb(USER).changes[0].text == "recorded by a tool"
    made.change(goal("Another goal"), USER)
    assert made.undo(None, USER).changes[0].name == "Goal"
    assert len(made.history()) == before + 4
    assert texts(made.read())[-1] == "recorded by a tool"
    return sound(made.path)


HOSTILE = """
[user]
\tuseConfigOnly = true
[core]
\thooksPath = {hooks}
\texcludesFile = {excludes}
\tattributesFile = {attributes}
\tautocrlf = true
\tsafecrlf = true
\tfsmonitor = {monitor}
\tpager = false
\teditor = false
\tlogAllRefUpdates = always
\tquotePath = true
[commit]
\tgpgSign = true
\ttemplate = {template}
\tcleanup = scissors
[tag]
\tgpgSign = true
[gpg]
\tprogram = false
[init]
\tdefaultBranch = trunk
\ttemplateDir = {init}
\tdefaultObjectFormat = sha256
\tdefaultRefFormat = reftable
[log]
\tshowSignature = true
[i18n]
\tcommitEncoding = ISO-8859-1
\tlogOutputEncoding = ISO-8859-1
[merge]
\tconflictStyle = zdiff3
[extensions]
\tobjectFormat = sha256
[index]
\tversion = 4
[gc]
\tauto = 1
[color]
\tui = always
"""


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """A person's global configuration in which everything that can refuse does."""
    folder = tmp_path / "person"
    for name in ("pre-commit", "commit-msg", "prepare-commit-msg", "reference-transaction",
                 "post-commit", "post-index-change", "pre-auto-gc", "pre-merge-commit"):  # fmt: skip
        script(folder / "hooks" / name, f"echo {name} >> '{folder}/ran'; exit 1")
        script(folder / "init" / "hooks" / name, f"echo {name} >> '{folder}/ran'; exit 1")
    script(folder / "monitor", f"echo monitor >> '{folder}/ran'; exit 1")
    (folder / "excludes").write_text("*.md\n*\n")
    (folder / "attributes").write_text("* text eol=crlf filter=none\n*.md -text merge=union\n")
    (folder / "template").write_text("fill me in\n")
    text = HOSTILE.format(
        hooks=folder / "hooks", excludes=folder / "excludes", attributes=folder / "attributes",
        monitor=folder / "monitor", template=folder / "template", init=folder / "init",
    )  # fmt: skip
    (folder / ".gitconfig").write_text(text)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def neutral_git(folder, *arguments):
    return git(folder, *arguments, GIT_CONFIG_GLOBAL=os.devnull, GIT_CONFIG_NOSYSTEM="1")


@needs_posix
class TestThePersonsConfiguration:
    def test_it_neither_stops_nor_changes_a_write(self, tmp_path, hostile, monkeypatch):
        made = project(tmp_path)
        before = len(made.history())
        now = made.change(finding("recorded, ünïcödé 漢字"), MODEL)
        made.change(goal("Anöther göal"), USER)
        made.undo(None, USER)
        made.collect_garbage()
        assert len(made.history()) == before + 3
        assert made.at(now.version) == now
        assert made.history(2)[1].subject == "Goal changed: Anöther göal"
        assert not (hostile / "ran").exists()
        assert b"\r" not in (made.path / "ledger.md").read_bytes()
        assert (
            made.repo.read(made.repo.file("main" and made.repo.head()))
            == (made.path / "ledger.md").read_bytes()
        )
        monkeypatch.setenv("HOME", str(tmp_path))
        assert sound(made.path)
        assert (
            neutral_git(made.path, "log", "-1", "--format=%an <%ae>").strip()
            == "user <user@localhost>"
        )
        assert neutral_git(made.path, "rev-parse", "--show-object-format").strip() == "sha1"
        assert neutral_git(made.path, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
        assert not (made.repo.git / "hooks").exists()

    def test_a_whole_round(self, tmp_path, hostile, monkeypatch):
        made = project(tmp_path)
        before = len(made.history())
        made.change(finding("recorded by the model"), MODEL)
        path = made.path / "ledger.md"
        path.write_text(
            path.read_text(encoding="utf-8").replace("by the model", "by a tool"), encoding="utf-8"
        )
        assert made.absorb(USER).changes[0].text == "recorded by a tool"
        assert made.purge(["F1"], USER).ledger.findings == ()
        assert len(made.history()) == before + 3
        assert not (hostile / "ran").exists()
        monkeypatch.setenv("HOME", str(tmp_path))
        assert sound(made.path)

    def test_a_persons_status_is_clean_under_it(self, tmp_path, hostile):
        made = project(tmp_path)
        made.change(finding("recorded"), MODEL)
        status = subprocess.run(
            ["git", "-c", "core.hooksPath=", "-c", "core.fsmonitor=false", "-c", "color.ui=false",
             "status", "--porcelain", "--untracked-files=no"],
            cwd=made.path, capture_output=True, text=True, check=False,
            env={k: v for k, v in os.environ.items() if not k.startswith("GIT_")},
        )  # fmt: skip
        assert (status.returncode, status.stdout) == (0, "")

    def test_an_index_of_version_4_is_left_to_git(self, tmp_path):
        made = project(tmp_path)
        (made.path / "mine.txt").write_text("x")
        git(made.path, "add", "mine.txt")
        git(made.path, "update-index", "--index-version", "4")
        assert texts(made.change(finding("recorded"), MODEL)) == ["recorded"]
        assert "A  mine.txt" in git(made.path, "status", "--porcelain")
        assert not (made.repo.git / "index.lock").exists()

    @pytest.mark.parametrize(
        "text", ["[user\n", "[user]\nname = \x00", "[include]\npath = /no/such\n"]
    )
    def test_a_broken_configuration_gives_a_neutral_name(self, tmp_path, monkeypatch, text):
        (tmp_path / ".gitconfig").write_text(text)
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.delenv("GIT_CONFIG_GLOBAL", raising=False)
        made = project(tmp_path)
        assert made.change(goal("Another"), USER)
        assert made.history(1)[0].author == "user"

    @pytest.mark.parametrize("name", ["a <b> c", "  ", "x\\n\\nActor: model", "<>"])
    def test_a_name_cannot_break_a_commit(self, tmp_path, monkeypatch, name):
        config = tmp_path / "config"
        config.write_text(f'[user]\n\tname = "{name}"\n\temail = "<x>@y\\nz"\n')
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(config))
        made = project(tmp_path)
        made.change(goal("Another"), USER)
        assert made.history(1)[0].actor == "user"
        assert sound(made.path)


class TestTheEnvironment:
    def test_an_inherited_repository(self, tmp_path, monkeypatch):
        other = tmp_path / "other"
        other.mkdir()
        git(other, "init", "-q", "-b", "main")
        (other / "a").write_text("a")
        git(other, "add", "a")
        git(other, "commit", "-qm", "theirs")
        head = git(other, "rev-parse", "HEAD")
        for name, value in {
            "GIT_DIR": other / ".git", "GIT_WORK_TREE": other, "GIT_INDEX_FILE": other / ".git/index",
            "GIT_OBJECT_DIRECTORY": other / ".git/objects", "GIT_COMMON_DIR": other / ".git",
            "GIT_NAMESPACE": "x", "GIT_PREFIX": "y/", "GIT_CEILING_DIRECTORIES": tmp_path,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": other, "GIT_DEFAULT_HASH": "sha256",
            "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.bare", "GIT_CONFIG_VALUE_0": "true",
            "GIT_CONFIG_PARAMETERS": "'core.hooksPath'='/x'", "GIT_TEMPLATE_DIR": other,
            "GIT_AUTHOR_NAME": "nobody", "GIT_AUTHOR_DATE": "nonsense", "GIT_LITERAL_PATHSPECS": "1",
            "GIT_TRACE": "1", "GIT_EXEC_PATH": str(other), "GIT_QUARANTINE_PATH": "/x",
            "GIT_CONFIG": "/no/such",
        }.items():  # fmt: skip
            monkeypatch.setenv(name, str(value))
        made = project(tmp_path)
        assert works(made)
        made.purge(["F1"], USER)
        assert sound(made.path)
        assert git(other, "rev-parse", "HEAD") == head
        assert git(other, "status", "--porcelain") == ""
        assert "nobody" not in git(made.path, "log", "--format=%an")

    def test_an_empty_home_and_no_identity(self, tmp_path):
        made = project(tmp_path)
        env = {
            "PATH": os.environ["PATH"],
            "HOME": "",
            "SYSTEMROOT": os.environ.get("SYSTEMROOT", ""),
        }
        code = (
            "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path\n"
            "from stores import *\n"
            "made = projects(Path(sys.argv[1])).open('runtimes')\n"
            "made.change(goal('Another'), USER)\n"
        )
        folder = Path(__file__).parents[1]
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path), str(folder)], env=env, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert git(made.path, "log", "-1", "--format=%an <%ae> %cn <%ce>").strip() == (
            "user <user@localhost> user <user@localhost>"
        )

    def test_ssh_and_askpass_are_kept(self, monkeypatch):
        for name in ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "SSH_ASKPASS"):
            monkeypatch.setenv(name, "mine")
        monkeypatch.setenv("GIT_EDITOR", "mine")
        env = gitrun.environment()
        assert {k for k, v in env.items() if v == "mine"} == {
            "GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "SSH_ASKPASS",
        }  # fmt: skip
        assert env["GIT_TERMINAL_PROMPT"] == "0"

    def test_a_project_inside_another_repository(self, tmp_path):
        git(tmp_path, "init", "-q", "-b", "outer")
        (tmp_path / "file").write_text("theirs")
        git(tmp_path, "add", "file")
        git(tmp_path, "commit", "-qm", "outer")
        made = project(tmp_path)
        assert works(made)
        assert count(tmp_path, "HEAD") == 1
        assert any("another git repository" in problem.what for problem in made.problems())

    def test_no_git(self, tmp_path, monkeypatch):
        made = project(tmp_path)
        made.change(finding("recorded"), MODEL)
        monkeypatch.setattr(gitrun, "_checked", set())
        monkeypatch.setenv("PATH", str(tmp_path))
        forget()
        assert texts(projects(tmp_path).open("runtimes").read()) == ["recorded"]
        for act in (
            lambda: made.change(finding("cannot be"), MODEL),
            lambda: projects(tmp_path).create("new", Ledger(), "x", USER),
            made.history,
        ):
            with pytest.raises(
                StoreError, match=r"git was not found on PATH.*install git"
            ) as error:
                act()
            assert one_line(error)
        assert projects(tmp_path).names() == ["runtimes"]
        assert made.problems()[0].what == "git was not found on PATH"

    @needs_posix
    def test_an_old_git(self, tmp_path, monkeypatch):
        made = project(tmp_path)
        script(tmp_path / "bin" / "git", "echo git version 2.25.1")
        monkeypatch.setattr(gitrun, "_checked", set())
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(
            StoreError, match=r"git 2\.25\.1 at .* is too old.*install git 2\.36"
        ) as error:
            made.change(finding("cannot be"), MODEL)
        assert one_line(error)
        assert "too old" in made.problems()[0].what


class TestThePersonsOwnWork:
    """Writes are refused in one line that says what to do; reading goes on."""

    def refused(self, made, cure):
        before = git(made.path, "for-each-ref"), (made.path / "ledger.md").read_bytes()
        for act in (
            lambda: made.change(finding("cannot be"), MODEL),
            lambda: made.absorb(USER),
            lambda: made.undo(None, USER),
            lambda: made.purge(["F1"], USER),
        ):
            with pytest.raises(StoreError, match=cure) as error:
                act()
            assert one_line(error)
        assert (git(made.path, "for-each-ref"), (made.path / "ledger.md").read_bytes()) == before
        assert texts(made.read())[0] == "the first"
        assert cure in " ".join(problem.cure for problem in made.problems())

    def begun(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        return made

    def test_a_detached_head(self, tmp_path):
        made = self.begun(tmp_path)
        git(made.path, "checkout", "-q", "--detach")
        self.refused(made, "git switch main")
        git(made.path, "switch", "-q", "main")
        assert works(made)

    def test_another_branch(self, tmp_path):
        made = self.begun(tmp_path)
        git(made.path, "switch", "-q", "-c", "try")
        path = made.path / "ledger.md"
        path.write_text(path.read_text().replace("the first", "something else"))
        git(made.path, "commit", "-qam", "On my branch")
        self.refused(made, "git switch main")
        git(made.path, "switch", "-q", "main")
        assert works(made)

    def test_a_branch_renamed(self, tmp_path):
        made = self.begun(tmp_path)
        git(made.path, "branch", "-m", "master")
        self.refused(made, "git branch -m main")
        git(made.path, "branch", "-m", "main")
        assert works(made)

    def conflicting(self, made):
        path = made.path / "ledger.md"
        git(made.path, "config", "merge.throughline.driver", "false")
        git(made.path, "switch", "-q", "-c", "side")
        path.write_text(path.read_text().replace("the first", "on the side"))
        git(made.path, "commit", "-qam", "Side")
        git(made.path, "switch", "-q", "main")
        made.change(finding("meanwhile"), MODEL)

    @pytest.mark.parametrize(
        ("begin", "end", "cure"),
        [
            (("merge", "side"), ("merge", "--abort"), "git merge --abort"),
            (("rebase", "side"), ("rebase", "--abort"), "git rebase --continue"),
            (("cherry-pick", "side"), ("cherry-pick", "--abort"), "git cherry-pick --continue"),
        ],
        ids=["merge", "rebase", "cherry-pick"],
    )
    def test_something_under_way(self, tmp_path, begin, end, cure):
        made = self.begun(tmp_path)
        self.conflicting(made)
        git(made.path, *begin, ok=False)
        self.refused(made, cure)
        git(made.path, *end)
        assert works(made)

    def test_a_revert_under_way(self, tmp_path):
        made = self.begun(tmp_path)
        git(made.path, "revert", "--no-commit", "HEAD")
        self.refused(made, "git revert --continue")
        git(made.path, "revert", "--abort")
        assert works(made)


def damage(made, ident, content=b""):
    path = made.repo.git / "objects" / ident[:2] / ident[2:]
    path.chmod(0o644)
    path.write_bytes(content)
    forget()


class TestDamage:
    @pytest.mark.parametrize("what", ["commit", "tree", "blob"])
    @pytest.mark.parametrize(
        "content", [b"", b"\x00" * 64, b"x\x9c\x03"], ids=["empty", "zeros", "cut"]
    )
    def test_an_object_of_the_last_version(self, tmp_path, what, content):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        ident = {
            "commit": made.repo.head(),
            "tree": made.repo.commit(made.repo.head()).tree,
            "blob": made.repo.file(made.repo.head()),
        }[what]
        damage(made, ident, content)
        acts = [made.read, lambda: made.absorb(USER), lambda: made.change(finding("next"), MODEL)]
        if what == "blob":  # ledger.md holds the same text, which is put back
            for act in acts:
                act()
            assert texts(made.read()) == ["the first", "next"]
            assert sound(made.path)
            return
        for act in acts:
            with pytest.raises(StoreError, match=r"damaged.*git fsck") as error:
                act()
            assert one_line(error)
        assert any("damaged" in p.what for p in made.problems())

    def test_a_damaged_text_that_stands_nowhere_else(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        blob = made.repo.file(made.repo.head())
        (made.path / "ledger.md").write_text("changed", encoding="utf-8")
        damage(made, blob)
        with pytest.raises(StoreError, match=r"damaged.*git fsck") as error:
            made.change(finding("next"), MODEL)
        assert one_line(error)
        assert (made.path / "ledger.md").read_text(encoding="utf-8") == "changed"

    def test_an_older_object_stops_only_what_needs_it(self, tmp_path):
        made = project(tmp_path)
        first = made.change(finding("the first"), MODEL)
        made.change(finding("the second"), MODEL)
        damage(made, made.repo.file(first.commit))
        assert len(texts(made.change(finding("the third"), MODEL))) == 3
        with pytest.raises(StoreError, match="damaged"):
            made.at(first.version)
        assert any("git fsck" in problem.what for problem in made.problems())

    def test_an_empty_leftover_of_an_object_that_is_written_again(self, tmp_path):
        made = project(tmp_path)
        now = made.change(finding("the first"), MODEL)
        blob = made.repo.file(now.commit)
        data = made.repo.read(blob)
        damage(made, blob)
        from throughline_nb.store.objects import item

        made.repo.store([item(b"blob", data)])
        assert made.repo.read(blob) == data
        assert sound(made.path)

    def test_a_damaged_branch_file(self, tmp_path):
        made = project(tmp_path)
        (made.repo.git / "refs/heads/main").write_bytes(b"\x00" * 41)
        with pytest.raises(StoreError, match="damaged") as error:
            made.read()
        assert one_line(error)
        assert any("damaged" in problem.what for problem in made.problems())

    def test_a_repository_without_a_commit(self, tmp_path):
        folder = projects(tmp_path).home.projects / "empty"
        folder.mkdir(parents=True)
        git(folder, "init", "-q", "-b", "main")
        with pytest.raises(StoreError, match="no commit yet") as error:
            projects(tmp_path).open("empty").read()
        assert one_line(error)

    def test_a_damaged_index_does_not_stop_a_write(self, tmp_path):
        made = project(tmp_path)
        (made.repo.git / "index").write_bytes(b"DIRC garbage")
        assert texts(made.change(finding("goes on"), MODEL)) == ["goes on"]
        (made.repo.git / "index").unlink()
        assert texts(made.change(finding("and on"), MODEL)) == ["goes on", "and on"]


NOBODY = 65534


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="root becomes another user here")
class TestOtherUsers:
    """Run as another user, in a folder that belongs to root."""

    def run(self, tmp_path, code):
        for folder in (tmp_path, *tmp_path.parents):
            folder.chmod(folder.stat().st_mode | 0o055)
        head = (
            f"import os; os.setgid({NOBODY}); os.setuid({NOBODY}); os.environ['HOME'] = '/'\n"
            "from throughline_nb.errors import ThroughLineError\n"
            "made = projects(Path(sys.argv[1])).open('runtimes')\n"
        )
        early = (
            "import sys; sys.path.insert(0, sys.argv[2]); from pathlib import Path\n"
            "from stores import *\n"
            "warm = project(Path(sys.argv[1]) / 'warm')\n"  # loads what nobody may read later
            "warm.change(finding('anything'), MODEL); warm.undo(None, USER); warm.problems()\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", early + head + code, str(tmp_path), str(Path(__file__).parents[1])],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def test_a_read_only_git(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        for path in (made.home.path, made.home.locks):
            path.chmod(0o777)
        for path in made.home.locks.iterdir():
            path.chmod(0o666)
        out = self.run(
            tmp_path,
            "print(texts(made.read()))\n"
            "try: made.change(finding('cannot'), MODEL)\n"
            "except ThroughLineError as error: print(error)\n"
            "for problem in made.problems(): print(problem.what)\n",
        )
        lines = out.splitlines()
        assert lines[0] == "['the first']"
        assert "could not be written (permission denied)" in lines[1]
        assert "nothing was changed" in lines[1]
        assert any("cannot be written" in line for line in lines[2:])
        assert any("belongs to another user" in line for line in lines[2:])
        assert count(made.path, "HEAD") == 2
        assert sound(made.path)

    def test_a_foreign_owner(self, tmp_path):
        made = project(tmp_path)
        made.change(finding("the first"), MODEL)
        for path in (made.home.path, *made.home.path.rglob("*")):
            path.chmod(0o777 if path.is_dir() else 0o666)
        out = self.run(
            tmp_path,
            "print(texts(made.change(finding('the second'), MODEL)))\n"
            "print(len(made.history()))\n"
            "print(texts(made.undo(None, USER).snapshot))\n",
        )
        assert out.splitlines() == ["['the first', 'the second']", "3", "['the first']"]
        assert sound(made.path)


def test_a_full_disk_is_one_line_and_leaves_no_trace(tmp_path, monkeypatch):
    made = project(tmp_path)
    made.change(finding("the first"), MODEL)

    def full(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StoreError, match="no space left") as error:
            made.change(finding("cannot"), MODEL)
    assert one_line(error)
    assert texts(made.read()) == ["the first"]
    assert works(made)


def test_a_healthy_project_has_no_problems(tmp_path):
    made = project(tmp_path)
    works(made)
    assert made.problems() == []


def test_problems_name_locks_and_kept_edits(tmp_path):
    made = project(tmp_path)
    (made.path / "ledger.md").write_bytes(b"\xff\xff")
    made.absorb(USER)
    stale, fresh = made.repo.git / "index.lock", made.repo.git / "HEAD.lock"
    for path in (stale, fresh):
        path.write_bytes(b"")
    os.utime(stale, (time.time() - 60, time.time() - 60))
    said = [problem.what for problem in made.problems()]
    assert any(what.startswith("index.lock is left over") for what in said)
    assert any("HEAD.lock is held" in what for what in said)
    assert any("1 hand edit(s) could not be read" in what for what in said)
    assert all(problem.cure for problem in made.problems())


def test_problems_name_a_missing_driver(tmp_path):
    made = project(tmp_path)
    git(made.path, "config", "--remove-section", "merge.throughline")
    (made.path / ".gitattributes").unlink()
    said = " ".join(problem.what for problem in made.problems())
    assert "merge driver" in said
    assert ".gitattributes" in said
    assert "merge driver" not in " ".join(
        problem.what for problem in projects(tmp_path).open("runtimes").problems()
    )


def test_a_lock_held_too_long_is_one_line(tmp_path, monkeypatch):
    from throughline_nb.store import project as module

    made = project(tmp_path)
    real = module.lock
    monkeypatch.setattr(module, "lock", lambda path: real(path, timeout=0.2))
    inside, done = threading.Event(), threading.Event()

    def slow(ledger):
        inside.set()
        assert done.wait(10)
        return finding("at last")(ledger)

    thread = threading.Thread(target=made.change, args=(slow, MODEL))
    thread.start()
    assert inside.wait(10)
    try:
        with pytest.raises(StoreError, match=r"“runtimes” is in use.*try again") as error:
            made.change(finding("cannot"), MODEL)
        assert one_line(error)
    finally:
        done.set()
        thread.join()
    assert issubclass(StoreError, ThroughLineError)


def test_the_configured_driver_is_kept_while_it_stands(tmp_path):
    made = project(tmp_path)
    mine = f"'{sys.executable}' -m throughline_nb merge-driver %O %A %B --mine"
    git(made.path, "config", "merge.throughline.driver", mine)
    projects(tmp_path).open("runtimes")
    assert git(made.path, "config", "merge.throughline.driver").strip() == mine
    git(
        made.path,
        "config",
        "merge.throughline.driver",
        "/no/python -m throughline_nb merge-driver %O",
    )
    projects(tmp_path).open("runtimes")
    assert sys.executable in git(made.path, "config", "merge.throughline.driver")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_in_the_place_of_the_ledger_holds_nothing_up(tmp_path):
    made = project(tmp_path)
    (made.path / "ledger.md").unlink()
    os.mkfifo(made.path / "ledger.md")
    with pytest.raises(StoreError, match="not a regular file"):
        made.absorb(USER)
    (made.path / "ledger.md").unlink()
    made.absorb(USER)
    assert (made.path / "ledger.md").read_text(encoding="utf-8").startswith("---")
