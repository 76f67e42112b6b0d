"""What a person reads of the history: days, sentences, marked words, lines that fit."""

import time

import pytest

from throughline_nb.engine import views
from throughline_nb.ledger import Entry, Ledger, Prose
from throughline_nb.store.records import Record

NOON = time.mktime((2026, 10, 17, 12, 0, 0, 0, 0, -1))
CHAT = "lmstudio/1764500000000"


def change(subject="F1 added: a claim", when=NOON, **fields):
    known = {"commit": "0" * 40, "version": "42-7c1e", "actor": "model", "chat": CHAT, "turn": 41}
    rest = {"via": "", "undoes": "", "author": "throughLine", "parents": ()}
    return Record(subject=subject, time=when, **{**known, **rest, **fields})


def test_the_log_by_days():
    records = [
        change("C1 added: Only primary sources", turn=3, actor="user", chat="", version="43-0000"),
        change(when=NOON - 86_400),
        change("Project started", when=NOON - 5 * 86_400, actor="engine", turn=1),
    ]
    assert views.log(records, NOON + 60, CHAT).splitlines() == [
        "2026-10-17, Saturday, today",
        "  12:00  43-0000  user    C1 added: Only primary sources.",
        "",
        "2026-10-16, Friday, yesterday",
        "  12:00  42-7c1e  model   F1 added: a claim. (turn 41 of this chat)",
        "",
        "2026-10-12, Monday",
        "  12:00  42-7c1e  engine  Project started. (turn 1 of this chat)",
    ]
    assert f"(turn 41 of {CHAT})" in views.log(records)
    assert views.log([]) == "No changes yet."


def test_long_lines_wrap_below_their_text():
    shown = views.log([change("F1 added: " + "many words " * 20)])
    assert max(map(len, shown.splitlines())) <= views.WIDTH
    assert shown.splitlines()[2].startswith(" " * 26)


def ledger(**fields):
    return Ledger(project="p", **fields)


def test_a_diff_names_the_fields_and_marks_the_words():
    before = ledger(
        goal="Compare six runtimes",
        findings=(Entry(id="F1", text="It listens on 8080", source="user", state="verified"),
                  Entry(id="F2", text="gone soon")),
        prose=(Prose("notes", "one\ntwo"),),
    )  # fmt: skip
    after = ledger(
        goal="Compare seven runtimes",
        findings=(Entry(id="F1", text="It listens on 11434", source="turn 4", state="unverified"),
                  Entry(id="F3", text="new", source="https://example.org", by="model")),
        prose=(Prose("notes", "one\nthree"),),
    )  # fmt: skip
    assert views.diff(before, after).splitlines() == [
        "~ Goal: Compare [-six-] {+seven+} runtimes",
        "~ F1 changed: It listens on [-8080-] {+11434+}",
        "    source: [-user-] {+turn 4+}",
        "    state: [-verified-] {+unverified+}",
        "+ F3 added: new",
        "    source: https://example.org",
        "- F2 removed: gone soon",
        "~ Notes changed:",
        "    -two",
        "    +three",
    ]


def test_long_unchanged_stretches_are_cut():
    words = [f"w{n}" for n in range(200)]
    after = [*words]
    after[100] = "changed"
    shown = views.diff(
        ledger(findings=(Entry(id="F1", text=" ".join(words)),)),
        ledger(findings=(Entry(id="F1", text=" ".join(after)),)),
    )
    assert "[-w100-] {+changed+} w101" in " ".join(shown.split())
    assert "w50 " not in shown
    assert shown.count("…") == 2
    assert max(map(len, shown.splitlines())) <= views.WIDTH


@pytest.mark.parametrize(("old", "new"), [("", "x"), ("x", ""), ("a b", "a b"), ("a", "b")])
def test_short_texts_stay_whole(old, new):
    marked = views.words(old, new)
    assert views.shortened(marked) == marked


@pytest.mark.parametrize("line", ["-- keep the staging server up", "--", "++ more", "@@ -1 +1 @@"])
def test_lines_of_notes_are_shown_whatever_they_begin_with(line):
    with_it, without = (ledger(prose=(Prose("", t),)) for t in (f"{line}\nsame", "same"))
    assert views.diff(with_it, without).splitlines() == ["~ Notes changed:", f"    -{line}"]
    assert views.diff(without, with_it).splitlines() == ["~ Notes changed:", f"    +{line}"]


@pytest.mark.parametrize(
    ("attr", "letter", "title"),
    [("plan", "S", "Plan"), ("findings", "F", "Findings"), ("questions", "Q", "Open questions")],
)
def test_what_was_moved_is_named(attr, letter, title):
    one, two = Entry(id=f"{letter}1", text="one"), Entry(id=f"{letter}2", text="two")
    shown = views.diff(ledger(**{attr: (one, two)}), ledger(**{attr: (two, one)}))
    assert shown == f"~ {title} reordered."
