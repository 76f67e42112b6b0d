"""A person's own git work in a project: nothing is lost, and the next change goes through."""

import shutil

import pytest
from stores import MODEL, USER, finding, git, project, projects, sound, texts

from throughline_nb.store.ledgers import forget_ledgers
from throughline_nb.store.repo import forget_caches

CLAIMS = [f"claim {n}" for n in range(5)]


def reset_hard(path):
    git(path, "reset", "-q", "--hard", "HEAD~3")
    return CLAIMS[:2]


def reset_mixed(path):
    git(path, "reset", "-q", "HEAD~3")
    return CLAIMS[:2]


def amend_to_garbage(path):
    (path / "ledger.md").write_text("no ledger", encoding="utf-8")
    git(path, "commit", "-qa", "--amend", "--no-edit")
    return CLAIMS[:4]


def amend_without_the_ledger(path):
    git(path, "rm", "-q", "ledger.md")
    git(path, "commit", "-q", "--amend", "--no-edit")
    return CLAIMS[:4]


def commit_without_the_ledger(path):
    git(path, "rm", "-q", "ledger.md")
    git(path, "commit", "-qm", "gone")
    return CLAIMS


def squash(path):
    git(path, "reset", "-q", "--soft", "HEAD~3")
    git(path, "commit", "-qm", "squashed")
    return CLAIMS


def drop_one(path):
    git(path, "rebase", "-q", "--onto", "HEAD~2", "HEAD~1")
    return [*CLAIMS[:3], CLAIMS[4]]


def revert_one(path):
    git(path, "revert", "--no-edit", "HEAD~1")
    return [*CLAIMS[:3], CLAIMS[4]]


def delete_the_index(path):
    (path / ".git" / "index").unlink()
    return CLAIMS


def break_the_index(path):
    (path / ".git" / "index").write_bytes(b"garbage")
    return CLAIMS


def pack_and_prune(path):
    git(path, "reflog", "expire", "--expire=now", "--all")
    git(path, "gc", "-q", "--prune=now", "--aggressive")
    return CLAIMS


def start_anew(path):
    git(path, "checkout", "-q", "--orphan", "anew")
    git(path, "commit", "-qm", "one")
    git(path, "branch", "-qM", "anew", "main")
    return CLAIMS


def shallow_copy(path):
    copy = path.with_name(".copy")
    git(path.parent, "clone", "-q", "--depth", "1", path.as_uri(), str(copy))
    shutil.rmtree(path)
    copy.rename(path)
    return CLAIMS


def spoof(path):
    (path / "ledger.md").write_text("nothing", encoding="utf-8")
    git(path, "commit", "-qa", "-m", "x\n\nActor: model\nVersion: 9-aaaa")
    return CLAIMS


@pytest.mark.parametrize("fresh", [False, True], ids=["same process", "new process"])
@pytest.mark.parametrize(
    "work",
    [
        reset_hard, reset_mixed, amend_to_garbage, amend_without_the_ledger,
        commit_without_the_ledger, squash, drop_one, revert_one, delete_the_index,
        break_the_index, pack_and_prune, start_anew, shallow_copy, spoof,
    ],
)  # fmt: skip
def test_own_work_is_taken_as_it_is(tmp_path, work, fresh):
    made = project(tmp_path)
    for claim in CLAIMS:
        made.change(finding(claim), MODEL)
    expected = work(made.path)
    if fresh:
        forget_caches()
        forget_ledgers()
        made = projects(tmp_path).open("runtimes")
    made.absorb(USER)
    assert texts(made.read()) == expected
    assert made.read().ledger.goal == "Compare seven runtimes"
    made.change(finding("one more"), MODEL)
    assert texts(made.read()) == [*expected, "one more"]
    assert made.history(64)[0].subject.endswith("one more")
    made.undo(None, USER)
    assert texts(made.read()) == expected
    assert sound(made.path)
