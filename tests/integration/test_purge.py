"""After a purge no trace of an entry's text is left in the project's folder."""

import pytest
from stores import (
    BY,
    MODEL,
    NOW,
    USER,
    everything,
    finding,
    git,
    project,
    projects,
    recording,
    sound,
    texts,
)

from throughline_nb.errors import StoreError
from throughline_nb.ledger import edits
from throughline_nb.ledger.edits import By
from throughline_nb.store import purge
from throughline_nb.store.projects import Stamp
from throughline_nb.store.redact import Redactor

SECRET = "the staging token is tr0ub4dor_and_3 *truly* <https://example.org/x?key=tr0ub4dor>"
TRACES = (
    b"tr0ub4dor",
    "tr0ub4dor".encode("utf-16-le"),
    "tr0ub4dor".encode("utf-16-be"),
    b"tr0ub4dor\\_and",
)


def traces(made):
    held = everything(made.path)
    return [trace for trace in TRACES if trace in held]


def secretive(tmp_path):
    """The secret in every place that one can reach."""
    made = project(tmp_path)
    made.change(finding("an ordinary claim"), MODEL)
    made.change(finding(SECRET), MODEL)
    made.change(
        recording("decision", "use it", because="F2", reason=f"we know that {SECRET}"), MODEL
    )
    made.change(finding("another claim"), MODEL)
    return made


def test_from_ledger_history_messages_and_reflog(tmp_path):
    made = secretive(tmp_path)
    git(made.path, "reset", "-q", "--hard", "HEAD~1")
    git(made.path, "reset", "-q", "--hard", "HEAD@{1}")
    before = made.history()
    assert traces(made)
    assert "tr0ub4dor" in git(made.path, "log", "--format=%s")
    now = made.purge(["F2"], USER)
    assert traces(made) == []
    assert texts(now) == ["an ordinary claim", "another claim"]
    assert "tr0ub4dor" not in git(made.path, "log", "--all", "--format=%B")
    after = made.history()
    assert [r.version for r in after[1:]] == [r.version for r in before]
    assert after[0].subject == "F2 removed for good"
    assert [r.subject for r in after[1:]][-3:] == [
        "F2 added", "F1 added: an ordinary claim", before[-1].subject,
    ]  # fmt: skip
    assert [(r.actor, r.time, r.author, r.via) for r in after[1:]] == [
        (r.actor, r.time, r.author, r.via) for r in before
    ]
    assert sound(made.path)


def test_ids_are_not_used_again_and_work_goes_on(tmp_path):
    made = secretive(tmp_path)
    made.purge(["F2"], USER)
    assert made.change(finding("the next"), MODEL).ledger.findings[-1].id == "F4"
    assert made.undo(None, USER).record.subject == "F4 added: the next"
    assert made.undo(None, USER).record.subject == "F3 added: another claim"
    assert made.at("2").ledger.findings[0].text == "an ordinary claim"
    assert traces(made) == []
    assert sound(made.path)


def test_from_hand_edits_read_and_unread(tmp_path):
    made = secretive(tmp_path)
    path = made.path / "ledger.md"
    text = path.read_text(encoding="utf-8")
    path.write_text(
        text.replace("use it", "use it well").replace("tr0ub4dor_and_3", "TR0UB4DOR and 3"),
        encoding="utf-8",
    )
    made.absorb(USER)
    path.write_bytes(SECRET.encode("utf-16"))
    made.absorb(USER)
    path.write_bytes(b"nothing of the kind")
    made.absorb(Stamp(actor="user", now=NOW + 5))
    assert len(git(made.path, "for-each-ref", "refs/throughline/rescue").splitlines()) == 2
    made.purge(["F2"], USER)
    assert traces(made) == []
    assert b"TR0UB4DOR" not in everything(made.path)
    assert len(git(made.path, "for-each-ref", "refs/throughline/rescue").splitlines()) == 1
    kept = list(made.path.glob("ledger.edit-not-applied-*"))
    assert [one.read_bytes() for one in kept] == [b"nothing of the kind"]
    assert made.read().ledger.decisions[0].text == "use it well"
    assert git(made.path, "log", "-1", "--format=%P", "HEAD~1").count(" ") == 1  # the merge stands
    assert sound(made.path) is False  # the kept edit is not git's
    assert git(made.path, "status", "--porcelain").split() == ["??", kept[0].name]


def test_from_packs_branches_tags_stash_and_other_files(tmp_path):
    made = secretive(tmp_path)
    (made.path / "handoff.md").write_text(f"# Handoff\n\n- {SECRET}\n")
    (made.path / "notes").mkdir()
    (made.path / "notes" / "mine.txt").write_text(f"before\nI heard that {SECRET}.\nafter\n")
    (made.path / "run.sh").write_text("echo nothing\n")
    (made.path / "run.sh").chmod(0o755)
    git(made.path, "add", ".")
    git(made.path, "commit", "-qm", f"My notes\n\nOn how {SECRET}")
    made.change(finding("after my commit"), MODEL)
    git(made.path, "branch", "side")
    git(made.path, "tag", "plain")
    git(made.path, "tag", "-a", "told", "-m", SECRET)
    (made.path / "notes" / "mine.txt").write_text(SECRET)
    git(made.path, "stash", "-q")
    git(made.path, "notes", "add", "-m", SECRET)
    git(made.path, "gc", "-q")
    made.purge(["F2"], USER)
    assert traces(made) == []
    assert set(git(made.path, "for-each-ref", "--format=%(refname)").split()) == {
        "refs/heads/main", "refs/heads/side", "refs/tags/plain", "refs/tags/told",
    }  # fmt: skip
    shown = git(made.path, "show", "HEAD:notes/mine.txt")
    assert shown == "before\nI heard that [purged].\nafter\n"
    assert not (made.path / "handoff.md").exists()
    assert "run.sh" in git(made.path, "ls-files", "--stage").split("100755")[1]
    assert git(made.path, "log", "-1", "--format=%B", "HEAD~2").startswith(
        "My notes\n\nOn how [purged]"
    )


def test_the_working_copy_of_another_file_is_left_to_the_person(tmp_path):
    made = secretive(tmp_path)
    (made.path / "mine.txt").write_text("a draft")
    made.purge(["F2"], USER)
    assert (made.path / "mine.txt").read_text() == "a draft"


def test_what_a_proposal_became(tmp_path):
    made = project(tmp_path)
    made.change(recording("constraint", "never say xyzzy-plugh aloud"), MODEL)
    made.change(lambda was: _pair(edits.accept(was, "P1", By("user"))), USER)
    assert b"plugh" in everything(made.path)
    assert made.read().ledger.constraints[0].id == "C1"
    made.purge(["C1"], USER)
    assert b"plugh" not in everything(made.path)
    assert made.read().ledger.constraints == ()
    assert sound(made.path)


def test_retraction_answer_and_undo(tmp_path):
    made = secretive(tmp_path)
    made.change(
        lambda was: _pair(edits.retract(was, "F2", BY, "no longer tr0ub4dor at all")), MODEL
    )
    made.undo(None, USER)
    made.undo(made.history(1)[0].version, USER)
    made.purge(["F2"], USER)
    assert traces(made) == []
    assert [r.subject for r in made.history(4)][1:] == [
        "Redone: F2 retracted", "Undone: F2 retracted", "F2 retracted",
    ]  # fmt: skip


def test_several_at_once_and_a_short_text(tmp_path):
    made = project(tmp_path)
    made.change(finding("zq7"), MODEL)
    made.change(finding("an ordinary claim of which zq7 is no part"), MODEL)
    made.change(finding(SECRET), MODEL)
    now = made.purge(["F1", "F3"], USER)
    assert traces(made) == []
    assert len(texts(now)) == 1
    assert made.history(1)[0].subject == "F1, F3 removed for good"
    assert [r.subject for r in made.history()][2:5] == [
        "F2 added: an ordinary claim of which zq7 is no part", "F1 added",
        "Project started: Compare seven runtimes",
    ]  # fmt: skip


def test_an_entry_deleted_long_ago(tmp_path):
    made = secretive(tmp_path)
    made.change(lambda was: _pair(edits.remove(was, "F2", By("user"))), USER)
    assert made.mentions("F2") == 3
    made.purge(["F2"], USER)
    assert made.mentions("F2") == 0
    assert traces(made) == []


def test_mentions_count_versions(tmp_path):
    made = secretive(tmp_path)
    assert made.mentions("F1") == 4
    assert made.mentions("F3") == 1
    assert made.mentions("F30") == 0


def test_an_older_copy_does_not_bring_it_back(tmp_path):
    made = secretive(tmp_path)
    path = made.path / "ledger.md"
    old = path.read_text(encoding="utf-8")  # still open in an editor
    made.purge(["F2"], USER)
    made.purge(["D1"], USER)
    path.write_text(old, encoding="utf-8")
    absorbed = made.absorb(USER)
    assert absorbed.changes == ()
    assert "F2, D1 was removed for good" in absorbed.notices[0]
    assert traces(made) == []
    path.write_text(old.replace("an ordinary claim", "a rare claim"), encoding="utf-8")
    absorbed = made.absorb(USER)
    assert texts(absorbed.snapshot) == ["a rare claim", "another claim"]
    assert traces(made) == []
    assert sound(made.path)


def test_configuration_and_counts_stay(tmp_path):
    made = secretive(tmp_path)
    git(made.path, "config", "remote.origin.url", "ssh://example.org/x")
    git(made.path, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    git(made.path, "update-ref", "refs/remotes/origin/main", "HEAD")
    (made.repo.git / "info").mkdir(exist_ok=True)
    (made.repo.git / "info" / "exclude").write_text("*.swp\n")
    made.note_turn(["Q1"])
    made.purge(["F2"], USER)
    assert made.remotes() == ["origin"]
    assert (
        git(made.path, "for-each-ref", "refs/remotes") == ""
    )  # sync fetches it, and leaves it out
    assert (made.repo.git / "info" / "exclude").read_text() == "*.swp\n"
    assert made.note_turn(["Q1"]) == {"Q1": 1}
    assert "merge-driver" in git(made.path, "config", "merge.throughline.driver")
    assert traces(made) == []


@pytest.mark.parametrize("exchange", [True, False], ids=["exchange", "no exchange"])
@pytest.mark.parametrize("killed", ["before the swap", "in the swap", "after the swap"])
def test_killed_in_the_middle(tmp_path, monkeypatch, killed, exchange):
    class KilledError(BaseException):
        pass

    def die(*_):
        raise KilledError

    made = secretive(tmp_path)
    before = texts(made.read())
    if not exchange:
        monkeypatch.setattr(purge, "exchange", lambda *_: False)
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        if killed == "before the swap":
            patch.setattr(purge, "_swap", die)
        elif killed == "after the swap":
            patch.setattr(purge, "_clean_folder", die)
        else:
            calls = []

            def second(action):
                calls.append(action)
                if len(calls) == 2:
                    die()
                action()

            patch.setattr(purge, "patiently", second)
            patch.setattr(
                purge, "remove_tree" if exchange else "patiently", die if exchange else second
            )
        if killed == "in the swap" and exchange:
            # the first removal clears the place for building, the second is the old history's
            real, seen = purge.remove_tree, []

            def removing(path):
                seen.append(path)
                if path.name == purge.NEW:
                    die()

            patch.setattr(purge, "remove_tree", removing)
            assert real
        made.purge(["F2"], USER)
    purge.forget_caches()
    purge.forget_ledgers()
    assert projects(tmp_path).names() == ["runtimes"]
    again = projects(tmp_path).open("runtimes")
    now = texts(again.change(finding("goes on"), MODEL))
    assert now in ([*before, "goes on"], [*before[:1], *before[2:], "goes on"])
    again.purge(["F2"], USER)
    assert traces(again) == []
    assert {path.name for path in again.path.iterdir()} == {".git", ".gitattributes", "ledger.md"}
    assert sound(again.path)


def test_a_failure_changes_nothing(tmp_path, monkeypatch):
    made = secretive(tmp_path)
    before = git(made.path, "rev-parse", "HEAD")

    def full(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, pytest.raises(StoreError, match="No space left"):
        patch.setattr(purge.LooseObjects, "write", full)
        made.purge(["F2"], USER)
    with monkeypatch.context() as patch, pytest.raises(StoreError, match="would still stand"):
        patch.setattr(Redactor, "message", lambda _self, text: text)
        made.purge(["F2"], USER)
    assert git(made.path, "rev-parse", "HEAD") == before
    assert sound(made.path)
    assert [path.name for path in made.home.projects.iterdir()] == ["runtimes"]
    made.purge(["F2"], USER)
    assert traces(made) == []


def test_another_process_reads_on(tmp_path):
    made, other = secretive(tmp_path), projects(tmp_path).open("runtimes")
    other.read()
    made.purge(["F2"], USER)
    assert other.read() == made.read()
    assert len(texts(other.change(finding("the next"), MODEL))) == 3
    assert sound(made.path)


def test_a_signed_commit_loses_its_signature(tmp_path):
    made = secretive(tmp_path)
    raw = git(made.path, "cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signed = f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n{message}"
    (made.path / "raw").write_text(signed, encoding="utf-8", newline="\n")
    ident = git(made.path, "hash-object", "-t", "commit", "-w", "raw").strip()
    (made.path / "raw").unlink()
    git(made.path, "update-ref", "HEAD", ident)
    made.purge(["F2"], USER)
    assert b"PGP" not in everything(made.path)
    assert len(made.history()) == 6
    assert sound(made.path)


def _pair(edited):
    return edited.ledger, edited.sentence


def test_a_persons_unread_edit_keeps_what_else_it_says(tmp_path):
    made = secretive(tmp_path)
    path = made.path / "ledger.md"
    path.write_bytes(
        f"no ledger at all\npress F2 for help\n- **F2** another key\n{SECRET}".encode()
    )
    made.absorb(USER)
    made.purge(["F2"], USER)
    assert traces(made) == []
    kept = list(made.path.glob("ledger.edit-not-applied-*"))
    assert [one.read_bytes() for one in kept] == [
        b"no ledger at all\npress F2 for help\n[purged]\n[purged]"
    ]
