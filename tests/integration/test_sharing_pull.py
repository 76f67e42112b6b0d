"""A person's own ``git pull``, with the merge driver and without it, and what it may leave behind."""

import shutil

import pytest
from machines import all_synced, another, remote, restarted, sync, two
from stores import MODEL, USER, finding, git, goal, projects, sound, texts

from throughline_nb.errors import StoreError
from throughline_nb.store import refs
from throughline_nb.store.problems import project_problems

MARKS = ("<<<<<<<", "=======", ">>>>>>>")


def diverged(tmp_path):
    """Two machines that changed one field and added an entry each; the first has synced."""
    first, second = two(tmp_path, (finding("a claim"), MODEL))
    first.change(goal("Compare eight runtimes"), USER)
    first.change(finding("of the first"), MODEL)
    second.change(goal("Compare nine runtimes"), USER)
    second.change(finding("of the second"), MODEL)
    sync(first)
    return first, second


def without_driver(machine):
    """As in a plain `git clone` by a person, which no throughLine has opened."""
    config = machine.path / ".git" / "config"
    text = config.read_text("utf-8")
    at = text.index('[merge "throughline"]')
    config.write_text(text[:at] + text[at:].split("[", 2)[0], "utf-8")
    (machine.path / ".git" / "info" / "attributes").unlink()
    (machine.path / ".gitattributes").write_text("", "utf-8")
    git(machine.path, "commit", "-qam", "no attributes")


@pytest.mark.parametrize(
    "how", [(), ("--rebase",), ("--no-rebase",)], ids=["plain", "rebase", "merge"]
)
def test_a_plain_pull_merges_through_our_driver(tmp_path, how):
    first, second = diverged(tmp_path)
    git(second.path, "pull", "-q", *how)
    text = (second.path / "ledger.md").read_text("utf-8")
    assert not any(mark in text for mark in MARKS)
    second.absorb(USER)
    assert sorted(texts(second.read())) == ["a claim", "of the first", "of the second"]
    git(second.path, "push", "-q")
    ledger = all_synced(first, second)
    assert len({e.id for e in ledger.findings}) == 3
    assert sound(second.path)


def test_what_a_person_pushed_and_pulled_is_known_without_a_sync(tmp_path):
    first, second = diverged(tmp_path)
    git(second.path, "pull", "-q", "--no-rebase")
    git(second.path, "push", "-q")
    git(first.path, "pull", "-q")
    first.absorb(USER)
    assert sorted(texts(first.read())) == ["a claim", "of the first", "of the second"]


def test_markers_of_a_pull_without_the_driver_are_resolved_from_gits_three_sides(tmp_path):
    first, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--no-rebase", ok=False)
    assert MARKS[0] in (second.path / "ledger.md").read_text("utf-8")
    opened = restarted(second)
    opened.absorb(USER)
    assert not any(mark in (second.path / "ledger.md").read_text("utf-8") for mark in MARKS)
    assert sorted(texts(opened.read())) == ["a claim", "of the first", "of the second"]
    assert not list(second.path.glob("ledger.edit-not-applied-*"))
    assert not (second.path / ".git" / "MERGE_HEAD").exists()
    assert len(git(second.path, "log", "--merges", "--format=%h").split()) >= 1
    all_synced(first, opened)


def test_what_was_typed_between_the_markers_is_kept_beside(tmp_path):
    _, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--no-rebase", ok=False)
    path = second.path / "ledger.md"
    path.write_text(
        path.read_text("utf-8").replace("=======\n", "typed by hand\n=======\n", 1), "utf-8"
    )
    restarted(second).absorb(USER)
    kept = list(second.path.glob("ledger.edit-not-applied-*"))
    assert [True for each in kept if "typed by hand" in each.read_text("utf-8")]


def test_markers_that_were_resolved_by_hand_are_the_persons(tmp_path):
    _, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--no-rebase", ok=False)
    path = second.path / "ledger.md"
    path.write_text(git(second.path, "show", ":2:ledger.md"), "utf-8")
    with pytest.raises(StoreError, match=r"A merge is under way .*git commit"):
        restarted(second).absorb(USER)
    git(second.path, "commit", "-qam", "resolved")
    opened = restarted(second)
    opened.absorb(USER)
    assert sorted(texts(opened.read())) == ["a claim", "of the second"]


def test_markers_that_were_committed_are_merged_from_the_parents(tmp_path):
    first, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--no-rebase", ok=False)
    git(second.path, "commit", "-qam", "whatever")
    opened = restarted(second)
    said = opened.absorb(USER)
    assert sorted(texts(opened.read())) == ["a claim", "of the first", "of the second"]
    assert any("could not be read" in notice for notice in said.notices)
    all_synced(first, opened)


def test_markers_that_were_committed_and_pushed(tmp_path):
    first, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--no-rebase", ok=False)
    git(second.path, "commit", "-qam", "whatever")
    git(second.path, "push", "-q")
    first.change(finding("meanwhile"), MODEL)
    sync(first)
    assert sorted(texts(first.read())) == ["a claim", "meanwhile", "of the first", "of the second"]


def test_a_rebase_that_stopped_at_markers_goes_on(tmp_path):
    first, second = diverged(tmp_path)
    without_driver(second)
    git(second.path, "pull", "-q", "--rebase", ok=False)
    opened = restarted(second)
    for _ in range(4):
        if refs.under_way(second.path / ".git") is None:
            break
        with pytest.raises(StoreError, match=r"A rebase is under way .*--continue"):
            opened.change(finding("must wait"), MODEL)
        assert not any(mark in (second.path / "ledger.md").read_text("utf-8") for mark in MARKS)
        git(second.path, "rebase", "--continue", ok=False)
    opened = restarted(second)
    opened.absorb(USER)
    assert sorted(texts(opened.read())) == ["a claim", "of the first", "of the second"]
    all_synced(first, opened)


def test_markers_of_a_stash(tmp_path):
    _, second = two(tmp_path, (finding("a claim"), MODEL), (finding("another"), MODEL))
    path = second.path / "ledger.md"
    path.write_text(path.read_text("utf-8").replace("a claim", "a claim, by hand"), "utf-8")
    git(second.path, "stash", "-q")
    without_driver(second)
    path.write_text(path.read_text("utf-8").replace("a claim", "a claim, otherwise"), "utf-8")
    git(second.path, "commit", "-qam", "otherwise")
    git(second.path, "stash", "pop", "-q", ok=False)
    assert MARKS[0] in path.read_text("utf-8")
    opened = restarted(second)
    opened.absorb(USER)
    assert not any(mark in path.read_text("utf-8") for mark in MARKS)
    assert texts(opened.read())[0].startswith("a claim, ")
    assert texts(opened.read())[1:] == ["another"]
    assert not list(second.path.glob("ledger.edit-not-applied-*"))
    assert opened.absorb(USER) is None


@pytest.mark.parametrize("damage", ["attributes that lie", "no attributes", "another driver"])
def test_the_driver_stands_whatever_was_pulled(tmp_path, damage):
    first, second = diverged(tmp_path)
    text = {
        "attributes that lie": "ledger.md merge=union -text eol=crlf filter=evil\n",
        "no attributes": "",
        "another driver": "* merge=binary\nledger.md merge=binary\n",
    }[damage]
    (first.path / ".gitattributes").write_text(text, "utf-8")
    git(first.path, "commit", "-qam", "attributes")
    sync(first)
    opened = restarted(second)
    git(opened.path, "pull", "-q", "--no-rebase")
    opened.absorb(USER)
    assert sorted(texts(opened.read())) == ["a claim", "of the first", "of the second"]


def test_a_plain_clone_by_a_person_becomes_a_project_when_it_is_opened(tmp_path):
    first, _ = two(tmp_path, (finding("a claim"), MODEL))
    home = projects(tmp_path / "c")
    home.home.ensure_writable()
    home.home.projects.mkdir(parents=True)
    git(home.home.projects, "clone", "-q", str(tmp_path / "remote"), "mine")
    mine = home.open("mine")
    mine.change(finding("of mine"), MODEL)
    first.change(finding("of the first"), MODEL)
    sync(first, mine, first)
    assert texts(first.read()) == texts(mine.read()) == ["a claim", "of the first", "of mine"]
    first.change(goal("Compare eight runtimes"), USER)
    mine.change(goal("Compare nine runtimes"), USER)
    sync(first)
    git(mine.path, "pull", "-q", "--no-rebase")
    assert not any(mark in (mine.path / "ledger.md").read_text("utf-8") for mark in MARKS)


def test_a_detached_head_is_refused_with_the_way_out(tmp_path):
    first, second = diverged(tmp_path)
    git(second.path, "checkout", "-q", "--detach")
    (second.path / "notes.txt").write_text("x", "utf-8")
    git(second.path, "add", ".")
    git(second.path, "commit", "-qm", "on no branch")
    lost = git(second.path, "rev-parse", "HEAD").strip()
    with pytest.raises(StoreError, match=r"detached HEAD.*git switch main"):
        sync(restarted(second))
    assert lost in refs.list_refs(second.path / ".git", refs.RESCUE).values()
    git(second.path, "switch", "-q", "main")
    all_synced(first, restarted(second))


def test_a_shallow_clone_is_made_whole(tmp_path):
    first, second = diverged(tmp_path)
    copy = tmp_path / "copy"
    git(tmp_path, "clone", "-q", "--depth", "1", (tmp_path / "remote").as_uri(), str(copy))
    shutil.rmtree(second.path)
    copy.rename(second.path)
    opened = restarted(second)
    opened.change(finding("of the shallow one"), MODEL)
    first.change(finding("more"), MODEL)
    sync(first)
    assert any("shallow" in problem.what for problem in project_problems(opened))
    sync(opened)
    assert not (opened.path / ".git" / "shallow").exists()
    all_synced(first, opened)
    assert sound(opened.path)
    assert not any("shallow" in problem.what for problem in project_problems(opened))


def test_three_machines_where_one_only_pulls(tmp_path):
    first, second = diverged(tmp_path)
    third = another(tmp_path, "c")
    third.change(finding("of the third"), MODEL)
    git(third.path, "pull", "-q", "--rebase")
    git(third.path, "push", "-q")
    ledger = all_synced(first, second, third)
    found = ["a claim", "of the first", "of the second", "of the third"]
    assert sorted(e.text for e in ledger.findings) == found
    assert remote(tmp_path).folder.is_dir()
