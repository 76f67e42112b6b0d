"""Remotes that are gone, set back, rewritten, another project's, or hold something else."""

import pytest
from machines import all_synced, remote, sync, two
from stores import (
    MODEL,
    USER,
    finding,
    git,
    project,
    projects,
    sound,
    texts,
)

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.store import refs
from throughline_nb.store.sharing import cloning, starting, transport
from throughline_nb.store.sharing.addresses import address


def test_the_remote_is_gone(tmp_path):
    first, second = two(tmp_path)
    (tmp_path / "remote").rename(tmp_path / "away")
    first.change(finding("offline"), MODEL)
    with pytest.raises(StoreError, match="is not there; nothing was changed"):
        sync(first)
    assert texts(first.read()) == ["offline"]
    (tmp_path / "away").rename(tmp_path / "remote")
    assert [e.text for e in all_synced(first, second).findings] == ["offline"]


def test_the_remote_was_emptied(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL))
    git(tmp_path / "remote", "update-ref", "-d", "refs/heads/main")
    done = sync(first)
    assert any("was empty" in notice for notice in done.notices)
    all_synced(first, second)


def test_the_remote_was_set_back(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL), (finding("another"), MODEL))
    git(tmp_path / "remote", "update-ref", "refs/heads/main", "refs/heads/main~1")
    sync(second)
    assert [e.text for e in all_synced(first, second).findings] == ["a claim", "another"]


def rewrite(tmp_path, *work):
    """Somebody rewrites the remote's history in a plain clone of it."""
    clone = tmp_path / "elsewhere"
    git(tmp_path, "clone", "-q", "remote", str(clone))
    for command in work:
        git(clone, *command)
    git(clone, "push", "-qf", "origin", "main")


def test_a_rewritten_remote_is_taken_over_and_the_old_history_kept(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL), (finding("another"), MODEL))
    rewrite(tmp_path, ("reset", "-q", "--soft", "HEAD~2"), ("commit", "-qm", "squashed"))
    before = first.repo.head()
    first.change(finding("of the first"), MODEL)
    done = sync(first)
    assert any("rewritten" in n and refs.RESCUE in n for n in done.notices)
    kept = refs.list_refs(first.repo.git, refs.RESCUE)
    assert any(before in git(first.path, "rev-list", ident) for ident in kept.values())
    ledger = all_synced(first, second)
    assert [e.text for e in ledger.findings] == ["a claim", "another", "of the first"]
    assert before not in git(tmp_path / "remote", "rev-list", "--all")
    assert "rescue" not in git(tmp_path / "remote", "for-each-ref")


def test_a_rewritten_remote_that_lost_entries_gets_them_back(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL), (finding("another"), MODEL))
    rewrite(
        tmp_path,
        ("reset", "-q", "--hard", "HEAD~1"),
        ("commit", "-q", "--allow-empty", "-m", "something else"),
    )
    sync(first)
    assert [e.text for e in all_synced(first, second).findings] == ["a claim", "another"]


def test_a_rewritten_remote_with_nothing_new_here_makes_no_commit(tmp_path):
    first, _ = two(tmp_path, (finding("a claim"), MODEL))
    rewrite(tmp_path, ("commit", "-q", "--amend", "--reset-author", "--no-edit"))
    there = git(tmp_path / "remote", "rev-parse", "main").strip()
    assert there != first.repo.head()
    sync(first)
    assert first.repo.head() == there
    assert git(tmp_path / "remote", "rev-parse", "main").strip() == there
    assert sound(first.path)


def test_another_project_is_joined_only_where_that_is_said(tmp_path):
    first, _ = two(tmp_path, (finding("a claim"), MODEL))
    other = project(tmp_path / "o", goal="Sell bicycles", name="bicycles")
    other.change(finding("wheels are round"), MODEL)
    place = remote(tmp_path)
    found = starting.look(other, place, transport.unwatched)
    assert (found.what, found.name, found.entries) == ("other", "runtimes", 1)
    before = other.repo.head()
    with pytest.raises(RefusedError, match=r"holds another project .* `throughline-nb clone`"):
        starting.share(other, place, USER)
    assert other.repo.head() == before
    assert other.remotes() == []
    starting.share(other, place, USER, join=True)
    sync(first)
    assert sorted(texts(first.read())) == ["a claim", "wheels are round"]
    ledger = first.read().ledger
    assert len(ledger.proposals) == 1


def test_the_remote_became_another_project(tmp_path):
    first, _ = two(tmp_path, (finding("a claim"), MODEL))
    other = project(tmp_path / "o", goal="Sell bicycles", name="bicycles")
    other.change(finding("wheels are round"), MODEL)
    git(other.path, "push", "-qf", str(tmp_path / "remote"), "main")
    with pytest.raises(RefusedError, match="another project"):
        sync(first)
    assert texts(first.read()) == ["a claim"]


def commit_something(folder, name="README.md", branch="main"):
    folder.mkdir()
    git(folder, "init", "-q", f"--initial-branch={branch}")
    (folder / name).write_text("# something else\n", "utf-8")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "x")


@pytest.mark.parametrize("branch", ["main", "trunk"])
def test_a_remote_that_holds_something_else(tmp_path, branch):
    made = project(tmp_path / "a")
    commit_something(tmp_path / "work", branch=branch)
    git(tmp_path, "clone", "-q", "--bare", "work", "remote")
    before = git(tmp_path / "remote", "for-each-ref")
    with pytest.raises(RefusedError, match=r"holds something else .*nothing was changed"):
        starting.share(made, remote(tmp_path), USER)
    assert git(tmp_path / "remote", "for-each-ref") == before
    assert made.remotes() == []
    with pytest.raises(RefusedError):
        cloning.clone(projects(tmp_path / "b"), remote(tmp_path), "", USER)
    assert projects(tmp_path / "b").names() == []


@pytest.mark.parametrize(
    "where", ["a file in it", "a file", "no folder above", "the home", "above"]
)
def test_a_folder_that_cannot_be_the_remote(tmp_path, where):
    made = project(tmp_path / "a")
    place = tmp_path / "remote"
    if where == "a file in it":
        place.mkdir()
        (place / "letter.txt").write_text("dear", "utf-8")
    elif where == "a file":
        place.write_text("dear", "utf-8")
    elif where == "no folder above":
        place = tmp_path / "no" / "such" / "remote"
    elif where == "the home":
        place = made.home.path / "projects" / "shared"
    else:
        place = made.home.path.parent
    with pytest.raises((RefusedError, StoreError), match="nothing was changed"):
        starting.share(made, address(str(place)), USER)
    assert made.remotes() == []
    if where == "a file in it":
        assert [path.name for path in place.iterdir()] == ["letter.txt"]


def test_a_folder_that_somebody_works_in(tmp_path):
    made = project(tmp_path / "a")
    first = project(tmp_path / "o")
    with pytest.raises(StoreError, match="not a bare repository"):
        starting.share(made, address(str(_moved(first, tmp_path / "work"))), USER, join=True)


def _moved(made, place):
    made.path.rename(place)
    return place
