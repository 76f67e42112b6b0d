"""What changed between two ledgers, as sentences."""

import pytest
from msgspec.structs import replace

from throughline_nb.ledger import Entry, Ledger, Prose
from throughline_nb.ledger.delta import Change, changes, clip, sentence, summary

BASE = Ledger(
    goal="Compare",
    plan=(Entry(id="S1", text="One", status="todo"), Entry(id="S2", text="Two", status="todo")),
    findings=(Entry(id="F1", text="It is MIT.", source="user", state="verified"),),
    decisions=(Entry(id="D1", text="Take it", because="F1"),),
    questions=(Entry(id="Q1", text="Which?"),),
)


def put(attr, at, **fields):
    entries = list(getattr(BASE, attr))
    entries[at] = replace(entries[at], **fields)
    return replace(BASE, **{attr: tuple(entries)})


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (replace(BASE, goal="Choose"), "Goal changed: Choose"),
        (replace(BASE, goal=""), "Goal removed"),
        (put("plan", 0, status="done"), "S1 done"),
        (put("plan", 0, status="blocked", note="no answer"), "S1 blocked: no answer"),
        (put("findings", 0, text="It is BSD."), "F1 changed: It is BSD."),
        (put("findings", 0, source="x.md"), "F1 changed: source x.md"),
        (put("findings", 0, source=""), "F1 changed: source removed"),
        (put("findings", 0, state="retracted", reason="old"), "F1 retracted: old"),
        (put("findings", 0, state="not read"), "F1 not read"),
        (put("decisions", 0, suspect="F1 changed"), "D1 suspect: F1 changed"),
        (put("questions", 0, answer="This."), "Q1 answered: This."),
        (replace(BASE, questions=()), "Q1 removed: Which?"),
        (replace(BASE, plan=BASE.plan[::-1]), "Plan reordered"),
        (replace(BASE, prose=(Prose("notes", "x"),)), "Notes changed"),
        (replace(BASE, plan=(*BASE.plan, Entry(id="S3", text="Three"))), "S3 added: Three"),
    ],
)
def test_one_change_is_one_sentence(after, expected):
    assert sentence(changes(BASE, after)) == expected


def test_nothing_changed():
    assert changes(BASE, BASE) == ()
    assert sentence(()) == ""


def test_many_changes_are_grouped_and_runs_drawn_together():
    found = [Change("added", f"S{n}") for n in (1, 2, 3, 7, 9, 10)] + [Change("set", "Goal")]
    assert summary(found) == "S1 to S3, S7, S9, S10 added; Goal set"


@pytest.mark.parametrize(
    ("text", "length", "expected"),
    [("short", 10, "short"), ("a longer text", 10, "a longer…"), ("x" * 20, 10, "x" * 9 + "…")],
)
def test_a_long_text_is_cut_at_a_word(text, length, expected):
    assert clip(text, length) == expected
