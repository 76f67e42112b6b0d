"""Each rule of merging, one case each."""

import msgspec
import pytest

from throughline_nb.ledger import Entry, Ledger, Merged, Prose, merge
from throughline_nb.ledger.model import BY_LETTER, numbers_after

replace = msgspec.structs.replace


def ledger(*entries, prose=(), **fields):
    """A ledger of these entries."""
    lists = {}
    for entry in entries:
        lists.setdefault(entry.section.attr, []).append(entry)
    lists = {attr: tuple(found) for attr, found in lists.items()}
    made = Ledger(project="p", prose=tuple(Prose(*block) for block in prose), **lists, **fields)
    return replace(made, next=numbers_after(made))


def entry(ident, text="", **fields):
    if ident[0] == "F":
        fields.setdefault("state", "unverified")
    return Entry(id=ident, text=text or f"text of {ident}", **fields)


def with_entry(base, ident, **fields):
    attr = BY_LETTER[ident[0]].attr
    return replace(
        base,
        **{attr: tuple(replace(e, **fields) if e.id == ident else e for e in base.list(attr))},
    )


def without(base, ident):
    attr = BY_LETTER[ident[0]].attr
    return replace(base, **{attr: tuple(e for e in base.list(attr) if e.id != ident)})


def plus(base, *entries):
    for new in entries:
        attr = new.section.attr
        base = replace(base, **{attr: (*base.list(attr), new)})
    return replace(base, next=numbers_after(base))


BASE = ledger(
    entry("C1"),
    entry("S1", status="done"),
    entry("S2", status="doing", note="one two three"),
    entry("S3", status="todo"),
    entry("F1", source="https://example.org/a", state="verified", origin="turn 1 of x/1"),
    entry("F2"),
    entry("F3"),
    entry("D1", because="F1, F2"),
    entry("Q1"),
    goal="the goal",
)


def test_what_did_not_change_is_the_same_object():
    assert merge(BASE, BASE, BASE).ledger is BASE
    changed = with_entry(BASE, "S3", status="doing")
    assert merge(BASE, changed, BASE).ledger is changed
    assert merge(BASE, BASE, changed).ledger is changed
    assert merge(BASE, BASE, changed).notices == ()


def test_changes_of_both_sides_are_taken():
    ours = with_entry(with_entry(BASE, "F2", text="ours"), "F3", note="note")
    theirs = with_entry(replace(BASE, goal="new"), "F3", reason="why", state="retracted")
    merged = merge(BASE, ours, theirs)
    assert merged.notices == ()
    assert merged.ledger.goal == "new"
    assert merged.ledger.get("F2").text == "ours"
    assert merged.ledger.get("F3") == entry("F3", note="note", reason="why", state="retracted")


class TestNewUnderOneId:
    ours = plus(BASE, entry("F4", "ours", added="2026-10-02T00:00:00Z"))
    theirs = plus(
        BASE,
        entry("S4", "their step", status="todo"),
        entry("F4", "theirs", added="2026-10-01T00:00:00Z"),
        entry("F5", "theirs too", step="S4"),
        entry("D2", "rests on both", because="F1, F4", suspect="F4 changed", step="S4"),
    )

    @pytest.mark.parametrize(
        ("keeps", "keeper", "renumbered"),
        [
            ("ours", "ours", "theirs"),
            ("theirs", "theirs", "ours"),
            ("older", "theirs", "ours"),
        ],
    )
    def test_one_keeps_it_and_the_other_gets_the_next_free_number(self, keeps, keeper, renumbered):
        merged = merge(BASE, self.ours, self.theirs, keeps_ids=keeps)
        assert merged.ledger.get("F4").text == keeper
        assert merged.ledger.get("F5").text == "theirs too"
        assert merged.ledger.get("F6").text == renumbered
        assert merged.ledger.get("F6").was == "F4"
        assert merged.ledger.next_id("finding") == "F7"
        assert merged.notices == (f"Two new entries had the id F4; F6 is now: {renumbered}",)

    @pytest.mark.parametrize(("keeps", "because"), [("ours", "F1, F6"), ("theirs", "F1, F4")])
    def test_references_of_that_side_follow(self, keeps, because):
        decision = merge(BASE, self.ours, self.theirs, keeps_ids=keeps).ledger.get("D2")
        assert decision.because == because
        assert decision.suspect == f"{because[4:]} changed"

    def test_a_step_is_renumbered_in_what_was_recorded_during_it(self):
        ours = plus(BASE, entry("S4", "our step", status="todo"), entry("F4", "f", step="S4"))
        merged = merge(BASE, ours, self.theirs).ledger
        assert [(s.id, s.text) for s in merged.plan[-2:]] == [
            ("S4", "our step"),
            ("S5", "their step"),
        ]
        assert merged.get("F4").step == "S4"
        assert merged.get("F5").step == "S5"
        assert merged.get("D2").step == "S5"

    def test_prose_behind_it_follows(self):
        theirs = replace(self.theirs, prose=(Prose("F4", "about theirs"),))
        merged = merge(BASE, self.ours, theirs)
        assert merged.ledger.prose == (Prose("F6", "about theirs"),)

    def test_a_reference_that_stood_in_the_base_does_not_follow(self):
        base = with_entry(BASE, "D1", because="F4")
        merged = merge(base, plus(base, entry("F4", "ours")), plus(base, entry("F4", "theirs")))
        assert merged.ledger.get("D1").because == "F4"


class TestOneThingRecordedTwice:
    def test_under_one_id(self):
        ours = plus(BASE, entry("F4", "Port 11434", added="2026-10-01T00:00:00Z", note="n"))
        theirs = plus(BASE, entry("F4", "port 11434.", added="2026-10-02T00:00:00Z"))
        merged = merge(BASE, ours, theirs, prefer="ours")
        assert merged.ledger.findings[3:] == (
            entry("F4", "Port 11434", added="2026-10-01T00:00:00Z", note="n"),
        )
        assert merged.notices == ()

    @pytest.mark.parametrize(("keeps", "kept"), [("ours", "F4"), ("theirs", "F5")])
    def test_under_two_ids(self, keeps, kept):
        ours = plus(BASE, entry("F4", "the same"), entry("D2", "d", because="F4"))
        theirs = plus(
            BASE, entry("F4", "another"), entry("F5", "The same"), entry("D3", "e", because="F5")
        )
        merged = merge(BASE, ours, theirs, keeps_ids=keeps).ledger
        same = [e for e in merged.findings if e.text.lower() == "the same"]
        assert [e.id for e in same] == [kept]
        assert same[0].was == ""
        assert merged.get("D2").because == kept
        assert merged.get("D3").because == kept

    def test_with_ids_crossed(self):
        ours = plus(BASE, entry("F4", "one"), entry("F5", "two"))
        theirs = plus(BASE, entry("F4", "two"), entry("F5", "one"))
        merged = merge(BASE, ours, theirs)
        assert merged.ledger.findings == ours.findings
        assert merged.notices == ()

    def test_with_a_source_on_one_side_only(self):
        ours = plus(BASE, entry("F4", "one"))
        theirs = plus(BASE, entry("F4", "one", source="https://example.org/b"))
        assert merge(BASE, ours, theirs).ledger.findings == theirs.findings

    def test_with_two_sources_it_is_two(self):
        ours = plus(BASE, entry("F4", "one", source="https://example.org/a"))
        theirs = plus(BASE, entry("F4", "one", source="https://example.org/b"))
        merged = merge(BASE, ours, theirs).ledger
        assert [(e.id, e.source[-1]) for e in merged.findings[3:]] == [("F4", "a"), ("F5", "b")]

    def test_retracted_on_one_side_it_is_two(self):
        ours = plus(BASE, entry("F4", "one", state="retracted", added="2026-10-01T00:00:00Z"))
        theirs = plus(BASE, entry("F4", "one", added="2026-10-02T00:00:00Z"))
        merged = merge(BASE, ours, theirs).ledger
        assert [(e.id, e.state) for e in merged.findings[3:]] == [
            ("F4", "retracted"),
            ("F5", "unverified"),
        ]

    def test_an_entry_deleted_and_made_again_is_another(self):
        ours = plus(without(BASE, "Q1"), entry("Q2", "text of Q1"))
        theirs = with_entry(BASE, "Q1", answer="yes")
        merged = merge(BASE, ours, theirs)
        assert [(q.id, q.answer) for q in merged.ledger.questions] == [("Q1", "yes"), ("Q2", "")]
        assert merged.notices == ("Q1 was deleted on one side and changed on the other; it stays.",)


class TestConflicts:
    @pytest.mark.parametrize("ident", ["C1", "S2", "F2", "D1", "Q1"])
    @pytest.mark.parametrize(("prefer", "kept", "lost"), [("ours", "a", "b"), ("theirs", "b", "a")])
    def test_a_text_is_taken_whole_and_the_other_goes_into_the_notice(
        self, ident, prefer, kept, lost
    ):
        ours, theirs = with_entry(BASE, ident, text="a x"), with_entry(BASE, ident, text="b x")
        merged = merge(BASE, ours, theirs, prefer=prefer)
        assert merged.ledger.get(ident).text == f"{kept} x"
        assert merged.notices == (
            f"{ident}'s text was changed on both sides: kept “{kept} x”, not taken “{lost} x”.",
        )

    def test_the_goal_too(self):
        merged = merge(BASE, replace(BASE, goal="a"), replace(BASE, goal="b"), prefer="ours")
        assert merged.ledger.goal == "a"
        assert merged.notices == ("The goal was changed on both sides: kept “a”, not taken “b”.",)

    def test_a_change_stands_against_a_deletion_of_the_text(self):
        merged = merge(BASE, replace(BASE, goal="a"), replace(BASE, goal=""), prefer="theirs")
        assert merged.ledger.goal == "a"
        assert "its deletion" in merged.notices[0]

    def test_spellings_of_one_text_are_no_conflict(self):
        ours = with_entry(BASE, "F2", text="Port 11434, “default”")
        theirs = with_entry(BASE, "F2", text='port 11434, "default".')
        assert merge(BASE, ours, theirs).notices == ()

    def test_who_wrote_it_and_where_goes_with_the_text(self):
        ours = with_entry(BASE, "F2", text="a", by="model", origin="turn 2 of x/1")
        theirs = with_entry(BASE, "F2", note="n", by="user", origin="turn 3 of x/1")
        for prefer in ("ours", "theirs"):
            merged = merge(BASE, ours, theirs, prefer=prefer).ledger.get("F2")
            assert (merged.text, merged.note) == ("a", "n")
            assert (merged.by, merged.origin) == ("model", "turn 2 of x/1")

    def test_what_a_decision_rests_on_is_merged_as_a_set(self):
        ours = with_entry(BASE, "D1", because="F1, F2, F3")
        theirs = with_entry(BASE, "D1", because="F2, S1")
        merged = merge(BASE, ours, theirs, prefer="ours")
        assert merged.ledger.get("D1").because == "F2, F3, S1"
        assert merged.notices == ()


class TestRunningText:
    ours = with_entry(BASE, "S2", note="one two three four")
    theirs = with_entry(BASE, "S2", note="zero two three")

    def test_is_given_to_the_merger_as_base_ours_theirs(self):
        calls = []

        def merge_text(*texts):
            calls.append(texts)
            return "merged\nover lines\n"

        merged = merge(BASE, self.ours, self.theirs, merge_text=merge_text)
        assert calls == [("one two three", "one two three four", "zero two three")]
        assert merged == Merged(with_entry(BASE, "S2", note="merged over lines"))

    @pytest.mark.parametrize("merge_text", [None, lambda *_: None])
    def test_falls_back_to_the_preferred_side(self, merge_text):
        merged = merge(BASE, self.ours, self.theirs, merge_text=merge_text)
        assert merged.ledger.get("S2").note == "zero two three"
        assert "one two three four" in merged.notices[0]

    def test_is_not_asked_where_one_side_changed(self):
        def merge_text(*_):
            raise AssertionError

        merge(BASE, self.ours, BASE, merge_text=merge_text)
        merge(BASE, self.ours, self.ours, merge_text=merge_text)

    def test_prose_keeps_its_lines(self):
        base = replace(BASE, prose=(Prose("notes", "a\n\nb"),))
        ours = replace(base, prose=(Prose("notes", "a1\n\nb"),))
        theirs = replace(base, prose=(Prose("notes", "a\n\nb1"),))
        merged = merge(base, ours, theirs, merge_text=lambda *_: "a1\n\nb1\n")
        assert merged.ledger.prose == (Prose("notes", "a1\n\nb1"),)


class TestDeleted:
    gone = without(BASE, "F2")

    def test_on_one_side(self):
        assert merge(BASE, self.gone, BASE).ledger.get("F2") is None
        assert merge(BASE, with_entry(BASE, "F3", note="n"), self.gone).ledger.get("F2") is None

    @pytest.mark.parametrize(
        "change",
        [{"text": "new"}, {"note": "n"}, {"source": "user"}, {"state": "retracted"}],
    )
    def test_against_an_edit_the_edited_stays(self, change):
        edited = with_entry(BASE, "F2", **change)
        for sides in ((edited, self.gone), (self.gone, edited)):
            merged = merge(BASE, *sides)
            assert merged.ledger.get("F2") is not None
            assert merged.notices == (
                "F2 was deleted on one side and changed on the other; it stays.",
            )

    @pytest.mark.parametrize("change", [{"state": "verified"}, {"missing": "5"}, {"step": "S1"}])
    def test_against_upkeep_it_is_gone(self, change):
        kept = with_entry(BASE, "F2", **change)
        for sides in ((kept, self.gone), (self.gone, kept)):
            assert merge(BASE, *sides) == Merged(self.gone)

    def test_its_number_is_not_given_again(self):
        merged = merge(BASE, without(BASE, "F3"), plus(BASE, entry("Q2"))).ledger
        assert merged.next_id("finding") == "F4"

    def test_prose_behind_it_moves_up(self):
        base = replace(BASE, prose=(Prose("F2", "old"), Prose("F3", "after")))
        ours = replace(without(base, "F2"))
        theirs = replace(base, prose=(Prose("F2", "old, changed"), Prose("F3", "after")))
        merged = merge(base, ours, theirs).ledger
        assert merged.prose == (Prose("F1", "old, changed"), Prose("F3", "after"))


class TestStates:
    def test_a_claim_that_a_person_rewrote_is_unverified_again(self):
        base = with_entry(BASE, "F1", missing="8,192")
        edit = with_entry(base, "F1", text="another claim")
        for sides in ((base, edit), (with_entry(base, "F2", note="n"), edit), (edit, edit)):
            finding = merge(base, *sides).ledger.get("F1")
            assert (finding.text, finding.state, finding.missing) == (
                "another claim",
                "unverified",
                "",
            )

    def test_with_another_source_too(self):
        edit = with_entry(BASE, "F1", source="https://example.org/b")
        assert merge(BASE, BASE, edit).ledger.get("F1").state == "unverified"
        edit = with_entry(BASE, "F1", source="user")
        assert merge(BASE, BASE, edit).ledger.get("F1").state == "verified"

    def test_a_retracted_one_stays_retracted(self):
        base = with_entry(BASE, "F1", state="retracted")
        edit = with_entry(base, "F1", text="another claim")
        assert merge(base, base, edit).ledger.get("F1").state == "retracted"

    def test_what_the_engine_verified_since_is_kept(self):
        ours = with_entry(BASE, "F1", text="recorded anew", origin="turn 9 of x/1")
        theirs = with_entry(BASE, "F2", note="n")
        assert merge(BASE, ours, theirs).ledger.get("F1").state == "verified"
        unverified = with_entry(BASE, "F1", state="unverified")
        ours = with_entry(BASE, "F1", text="recorded anew", missing="7")
        assert merge(unverified, ours, unverified).ledger.get("F1").missing == "7"

    def test_a_check_of_the_old_claim_does_not_count_for_the_new(self):
        base = with_entry(BASE, "F1", state="unverified")
        ours = with_entry(base, "F1", state="verified", missing="8,192")
        theirs = with_entry(base, "F1", text="another claim")
        for sides in ((ours, theirs), (theirs, ours)):
            finding = merge(base, *sides).ledger.get("F1")
            assert (finding.text, finding.state, finding.missing) == (
                "another claim",
                "unverified",
                "",
            )

    def test_text_of_one_side_with_the_source_of_the_other_is_a_new_claim(self):
        ours = with_entry(BASE, "F1", text="new", origin="turn 9 of x/1")
        theirs = with_entry(BASE, "F1", source="https://example.org/b", origin="turn 8 of x/1")
        finding = merge(BASE, ours, theirs).ledger.get("F1")
        assert (finding.text, finding.source) == ("new", "https://example.org/b")
        assert finding.state == "unverified"

    @pytest.mark.parametrize("prefer", ["ours", "theirs"])
    @pytest.mark.parametrize(
        ("one", "other", "expected"),
        [
            ("verified", "not read", "verified"),
            ("verified", "retracted", "retracted"),
            ("stale", "verified", "stale"),
        ],
    )
    def test_two_states_of_one_claim(self, prefer, one, other, expected):
        base = with_entry(BASE, "F1", state="unverified")
        ours = with_entry(base, "F1", state=one, missing="1" if one == "verified" else "")
        theirs = with_entry(base, "F1", state=other)
        for sides in ((ours, theirs), (theirs, ours)):
            merged = merge(base, *sides, prefer=prefer)
            assert merged.ledger.get("F1").state == expected
            assert merged.ledger.get("F1").missing == ("1" if expected == "verified" else "")
            assert merged.notices == ()

    def test_retracted_against_rewritten_is_said(self):
        retracted = with_entry(BASE, "F1", state="retracted", reason="wrong")
        rewritten = with_entry(BASE, "F1", text="another claim")
        for sides in ((retracted, rewritten), (rewritten, retracted)):
            merged = merge(BASE, *sides)
            finding = merged.ledger.get("F1")
            assert (finding.text, finding.state) == ("another claim", "retracted")
            assert merged.notices == (
                "F1 was retracted on one side and changed on the other; it stays retracted.",
            )
        checked = with_entry(BASE, "F1", missing="7")
        assert merge(BASE, retracted, checked).notices == ()

    def test_undo_brings_the_verified_claim_back(self):
        after = with_entry(BASE, "F1", text="worse", state="unverified", origin="turn 9 of x/1")
        undone = merge(after, after, BASE, prefer="ours").ledger
        assert undone == BASE


class TestPlan:
    def order(self, ours, theirs, **rules):
        def plan(ids):
            known = {step.id: step for step in BASE.plan}
            return replace(
                BASE, plan=tuple(known.get(i) or entry(i, f"step {i}", status="todo") for i in ids)
            )

        merged = merge(BASE, plan(ours.split()), plan(theirs.split()), **rules)
        return " ".join(step.id for step in merged.ledger.plan), merged.notices

    def test_a_move_and_an_insertion(self):
        assert self.order("S3 S1 S2", "S1 S4 S2 S3") == ("S3 S1 S4 S2", ())

    def test_insertions_at_one_place_our_first(self):
        assert self.order("S1 S4 S2 S3", "S1 S5 S2 S3") == ("S1 S4 S5 S2 S3", ())
        swapped = self.order("S1 S4 S2 S3", "S1 S5 S2 S3", keeps_ids="theirs")
        assert swapped == ("S1 S5 S4 S2 S3", ())

    def test_a_move_and_a_deletion(self):
        assert self.order("S3 S1 S2", "S1 S3") == ("S3 S1", ())

    def test_two_moves_of_one_step(self):
        order, notices = self.order("S3 S1 S2", "S1 S3 S2", prefer="theirs")
        assert order == "S1 S3 S2"
        assert notices == ("The plan was reordered on both sides; one order was kept.",)


class TestWhatAPersonWrote:
    def test_at_one_place_on_both_sides_stands_one_below_the_other(self):
        ours = replace(BASE, prose=(Prose("notes", "ours"),))
        theirs = replace(BASE, prose=(Prose("goal", "g"), Prose("notes", "theirs")))
        merged = merge(BASE, ours, theirs, prefer="ours")
        assert merged.ledger.prose == (Prose("goal", "g"), Prose("notes", "ours\n\ntheirs"))
        assert merged.notices == ()
        swapped = merge(BASE, theirs, ours, prefer="theirs")
        assert swapped == merged

    def test_is_not_doubled(self):
        ours = replace(BASE, prose=(Prose("notes", "a\n\nb"),))
        theirs = replace(BASE, prose=(Prose("notes", "b"),))
        assert merge(BASE, ours, theirs).ledger.prose == ours.prose

    def test_stands_in_the_order_of_the_file(self):
        ours = replace(BASE, prose=(Prose("F2", "x"), Prose("after findings", "## Own")))
        theirs = replace(BASE, prose=(Prose("top", "t"), Prose("C1", "c"), Prose("notes", "n")))
        places = [block.place for block in merge(BASE, ours, theirs).ledger.prose]
        assert places == ["top", "C1", "F2", "after findings", "notes"]

    def test_changed_against_deleted_stays(self):
        base = replace(BASE, prose=(Prose("notes", "a"),))
        changed = replace(base, prose=(Prose("notes", "b"),))
        merged = merge(base, changed, BASE)
        assert merged.ledger.prose == (Prose("notes", "b"),)
        assert merged.notices == (
            "The text at “notes” was deleted on one side and changed on the other; it stays.",
        )

    def test_front_matter_is_merged_by_key(self):
        base = replace(BASE, meta=(("a", "1"), ("b", "2"), ("c", "3")))
        ours = replace(base, meta=(("a", "1"), ("b", "20"), ("d", "4")))
        theirs = replace(base, meta=(("a", "10"), ("b", "2"), ("c", "3"), ("e", "5")))
        merged = merge(base, ours, theirs, prefer="ours")
        assert merged.ledger.meta == (("a", "10"), ("b", "20"), ("d", "4"), ("e", "5"))
        assert merged.notices == ()
        clash = merge(base, ours, replace(base, meta=(("b", "200"),)))
        assert dict(clash.ledger.meta)["b"] == "200"
        assert "“20”" in clash.notices[0]


def test_two_histories_without_a_common_past():
    ours = ledger(entry("F1", "a"), goal="x")
    theirs = ledger(entry("F1", "b"), entry("F2", "a"), goal="y")
    merged = merge(Ledger(), ours, theirs)
    assert [(e.id, e.text, e.was) for e in merged.ledger.findings] == [
        ("F1", "a", ""),
        ("F3", "b", "F1"),
    ]
    assert merged.ledger.goal == "y"


def test_free_numbers_never_go_back():
    ours = replace(BASE, next=tuple(n + 5 for n in BASE.next))
    merged = merge(BASE, ours, plus(BASE, entry("F4"))).ledger
    assert merged.next == ours.next
