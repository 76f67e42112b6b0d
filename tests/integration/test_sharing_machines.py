"""Two and more machines, offline for as long as they like: who gets which number, whose word counts."""

import pytest
from machines import all_synced, another, remote, sync, two
from stores import (
    BY,
    MODEL,
    NOW,
    USER,
    finding,
    git,
    goal,
    project,
    projects,
    recording,
    sound,
    texts,
)

from throughline_nb.errors import RefusedError, StoreError
from throughline_nb.ledger import edits
from throughline_nb.ledger.edits import By
from throughline_nb.store.projects import Stamp
from throughline_nb.store.sharing import cloning, remotes, syncing, transport


def at(seconds, actor="model"):
    return Stamp(actor=actor, now=NOW + seconds)


def retracted(ident):
    return lambda ledger: _pair(edits.retract(ledger, ident, BY, "it was wrong"))


def removed(ident):
    return lambda ledger: _pair(edits.remove(ledger, ident, By("user")))


def reworded(ident, text):
    return lambda ledger: _pair(edits.record(ledger, "finding", text, BY, ident=ident))


def _pair(done):
    return done.ledger, done.sentence


def test_both_add_f12(tmp_path):
    first, second = two(tmp_path)
    first.change(finding("of the first"), MODEL)
    second.change(finding("of the second"), MODEL)
    second.change(recording("decision", "use it", because="F1", reason="as F1 says"), MODEL)
    sync(first)
    done = sync(second)
    assert done.renumbered == ("F1 is now F2",)
    assert "renumbered: F1 is now F2" in done.line
    assert "\n" not in done.line
    ledger = all_synced(first, second)
    assert [(e.id, e.text, e.was) for e in ledger.findings] == [
        ("F1", "of the first", ""),
        ("F2", "of the second", "F1"),
    ]
    assert ledger.decisions[0].because == "F2"
    assert sound(first.path)
    assert sound(second.path)


@pytest.mark.parametrize("first_syncs_first", [True, False])
def test_what_is_published_keeps_its_number_whatever_its_age(tmp_path, first_syncs_first):
    first, second = two(tmp_path)
    first.change(finding("older", By("model", "", "2026-01-01T00:00:00Z")), MODEL)
    second.change(finding("newer", By("model", "", "2026-09-01T00:00:00Z")), MODEL)
    order = (first, second) if first_syncs_first else (second, first)
    sync(*order)
    ledger = all_synced(first, second)
    assert texts(first.read()) == (["older", "newer"] if first_syncs_first else ["newer", "older"])
    assert ledger.next[2] == 3


def test_one_deletes_what_the_other_edits(tmp_path):
    first, second = two(tmp_path, (finding("the port is 11434"), MODEL))
    first.change(removed("F1"), USER)
    second.change(reworded("F1", "the port is 11435"), MODEL)
    sync(first)
    done = sync(second)
    assert any("F1 was deleted on one side and changed on the other" in n for n in done.notices)
    assert [e.text for e in all_synced(first, second).findings] == ["the port is 11435"]


def test_one_deletes_what_the_other_left_as_it_was(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL))
    first.change(removed("F1"), USER)
    second.change(finding("another claim"), MODEL)
    sync(first, second)
    assert [e.text for e in all_synced(first, second).findings] == ["another claim"]


def test_deleted_and_made_again_under_the_same_text(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL))
    first.change(removed("F1"), USER)
    first.change(finding("a claim"), MODEL)
    second.change(reworded("F1", "a claim, sharpened"), MODEL)
    sync(first, second)
    found = {e.id: e.text for e in all_synced(first, second).findings}
    assert found == {"F1": "a claim, sharpened", "F2": "a claim"}


@pytest.mark.parametrize("later_is_first", [True, False])
def test_for_one_field_the_later_change_stands_and_the_other_is_named(tmp_path, later_is_first):
    first, second = two(tmp_path, (finding("the port is 1"), MODEL))
    first.change(reworded("F1", "the port is 2"), at(20 if later_is_first else 10))
    second.change(reworded("F1", "the port is 3"), at(10 if later_is_first else 20))
    first.change(finding("something else, much later"), at(900))
    sync(first)
    done = sync(second)
    kept, lost = ("2", "3") if later_is_first else ("3", "2")
    assert all_synced(first, second).findings[0].text == f"the port is {kept}"
    assert any(
        f"kept “the port is {kept}”" in n and f"the port is {lost}" in n for n in done.notices
    )


def test_each_field_by_its_own_time(tmp_path):
    before = (recording("decision", "take it", reason="one"), MODEL)
    first, second = two(tmp_path, before)

    def changed(**fields):
        def edit(ledger):
            text = fields.pop("text", "")
            return _pair(edits.record(ledger, "decision", text, BY, ident="D1", **fields))

        return edit

    first.change(changed(text="take it now"), at(10))
    second.change(changed(text="take it later"), at(20))
    second.change(changed(reason="two"), at(30))
    first.change(changed(reason="three"), at(40))
    sync(first, second)
    decision = all_synced(first, second).decisions[0]
    assert (decision.text, decision.reason) == ("take it later", "three")


def test_the_time_of_a_change_counts_not_that_of_the_merge_that_brought_it(tmp_path):
    first, second = two(tmp_path, (finding("the port is 1"), MODEL))
    third = another(tmp_path, "c")
    first.change(reworded("F1", "the port is 2"), at(10))
    second.change(finding("unrelated"), at(5))
    sync(first)
    sync(second, now=NOW + 5000)  # the merge that brings the change to the second is late
    third.change(reworded("F1", "the port is 3"), at(50))
    sync(third)
    assert all_synced(first, second, third).findings[0].text == "the port is 3"


def test_two_users_goals_become_one_goal_and_one_proposal(tmp_path):
    first, second = two(tmp_path)
    first.change(goal("Compare eight runtimes"), at(10, "user"))
    second.change(goal("Compare nine runtimes"), at(20, "user"))
    sync(first)
    done = sync(second)
    ledger = all_synced(first, second)
    assert ledger.goal == "Compare nine runtimes"
    assert [e.text for e in ledger.proposals] == ["goal: Compare eight runtimes"]
    assert any("/tl accept P1" in notice for notice in done.notices)
    accepted = first.change(lambda led: _pair(edits.accept(led, "P1", By("user"))), USER)
    assert accepted.ledger.goal == "Compare eight runtimes"


def test_the_same_goal_on_both_machines_is_no_conflict(tmp_path):
    first, second = two(tmp_path)
    for machine in (first, second):
        machine.change(goal("Compare eight runtimes"), USER)
    sync(first, second)
    assert all_synced(first, second).proposals == ()


def test_five_machines_in_any_order(tmp_path):
    first, second = two(tmp_path)
    machines = [first, second, *(another(tmp_path, name) for name in "cde")]
    for n, machine in enumerate(machines):
        machine.change(finding(f"claim of machine {n}"), MODEL)
    sync(*reversed(machines))
    ledger = all_synced(*machines)
    assert sorted(e.text for e in ledger.findings) == [f"claim of machine {n}" for n in range(5)]
    assert [e.id for e in ledger.findings] == ["F1", "F2", "F3", "F4", "F5"]


def test_a_hand_edit_and_a_commit_of_ones_own_are_shared_too(tmp_path):
    first, second = two(tmp_path, (finding("a claim"), MODEL))
    path = first.path / "ledger.md"
    path.write_text(path.read_text("utf-8").replace("a claim", "a claim, by hand"), "utf-8")
    other = second.path / "ledger.md"
    other.write_text(
        other.read_text("utf-8").replace("## Findings\n", "## Findings\n\n- seen\n"), "utf-8"
    )
    git(second.path, "commit", "-qam", "my own")
    sync(second)
    done = sync(first)
    assert done.absorbed
    assert texts(first.read()) == ["a claim, by hand", "seen"]
    all_synced(first, second)


def test_a_rejected_push_is_merged_and_sent_again(tmp_path, monkeypatch):
    first, second = two(tmp_path)
    first.change(finding("of the first"), MODEL)
    second.change(finding("of the second"), MODEL)
    real, pushes = transport.push, []

    def push(*args, **kwargs):
        pushes.append(args)
        if len(pushes) == 1:  # the other one is faster
            monkeypatch.setattr(transport, "push", real)
            sync(second)
            monkeypatch.setattr(transport, "push", push)
        return real(*args, **kwargs)

    monkeypatch.setattr(transport, "push", push)
    done = sync(first)
    assert len(pushes) == 2
    assert done.renumbered == ("F1 is now F2",)
    assert sorted(e.text for e in all_synced(first, second).findings) == [
        "of the first",
        "of the second",
    ]


def test_a_change_made_while_the_push_is_under_way_goes_with_the_next_sync(tmp_path, monkeypatch):
    first, second = two(tmp_path)
    first.change(finding("before"), MODEL)
    real = transport.push

    def push(*args, **kwargs):
        first.change(finding("meanwhile"), MODEL)  # no lock stands in its way
        return real(*args, **kwargs)

    monkeypatch.setattr(transport, "push", push)
    sync(first)
    monkeypatch.setattr(transport, "push", real)
    assert remotes.apart(first.repo) == remotes.Apart(1, 0)
    assert [e.text for e in all_synced(first, second).findings] == ["before", "meanwhile"]


def test_two_syncs_of_one_project_at_once(tmp_path, monkeypatch):
    first, _ = two(tmp_path)
    monkeypatch.setattr(syncing, "_WAIT_SECONDS", 0.1)
    from threading import Thread

    said = []

    def other():
        try:
            sync(first)
        except StoreError as error:
            said.append(str(error))

    with syncing.alone(first):
        thread = Thread(target=other)
        thread.start()
        thread.join()
    assert "in use" in said[0]
    sync(first)


@pytest.mark.parametrize("name", ["seven", "Zwölf Läufe"])
def test_a_clone_under_another_name_stays_the_same_project(tmp_path, name):
    first, _ = two(tmp_path, (finding("a claim"), MODEL))
    named = cloning.clone(projects(tmp_path / "c"), remote(tmp_path), name, USER).project
    named.change(finding("of the named"), MODEL)
    sync(named)
    done = sync(first)
    assert not any("name" in notice for notice in done.notices)
    first.change(finding("more"), MODEL)
    sync(first, named, first)
    assert texts(first.read()) == texts(named.read()) == ["a claim", "of the named", "more"]
    assert first.read().ledger.project == "runtimes"
    with pytest.raises(RefusedError, match="already"):
        cloning.clone(projects(tmp_path / "c"), remote(tmp_path), name, USER)
    again = cloning.clone(projects(tmp_path / "c"), remote(tmp_path), "", USER).project
    assert again.slug == "runtimes"


def test_a_second_clone_gets_a_name_of_its_own(tmp_path):
    two(tmp_path)
    home = projects(tmp_path / "c")
    assert cloning.clone(home, remote(tmp_path), "", USER).project.slug == "runtimes"
    assert cloning.clone(home, remote(tmp_path), "", USER).project.slug == "runtimes-2"


def test_a_clone_that_fails_leaves_nothing(tmp_path):
    home = projects(tmp_path / "c")
    with pytest.raises(StoreError):
        cloning.clone(home, remote(tmp_path), "", USER)
    assert home.names() == []
    assert not any(home.home.projects.iterdir())


def test_ahead_and_behind_without_network(tmp_path):
    first, second = two(tmp_path)
    assert remotes.apart(first.repo) == remotes.Apart(0, 0)
    for n in range(3):
        first.change(finding(f"claim {n}"), MODEL)
        assert remotes.apart(first.repo) == remotes.Apart(n + 1, 0)
    second.change(finding("of the second"), MODEL)
    sync(second)
    git(first.path, "fetch", "-q")
    (tmp_path / "remote").rename(tmp_path / "away")
    assert remotes.apart(first.repo) == remotes.Apart(3, 1)
    alone = project(tmp_path / "x")
    assert remotes.apart(alone.repo) is None
