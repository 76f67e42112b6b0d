"""The earlier plugin's JSON, whatever shape it had, becomes a ledger without losing anything."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.ledger import read, write
from throughline_nb.ledger.model import SECTIONS, Ledger, is_id
from throughline_nb.store.legacy_format import Reader
from throughline_nb.store.legacy_values import seconds

DATA = Path(__file__).parents[1] / "data" / "legacy"


def ledger(value) -> Ledger:
    return Reader("p").snapshot(value).ledger


def load(name) -> dict:
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def test_a_camel_case_ledger():
    found = ledger(load("camel/ledger.json"))
    assert (found.project, found.goal) == ("p", "Find a logging library")
    assert [(c.id, c.text) for c in found.constraints] == [
        ("C1", "No agents"),
        ("C2", "MIT or Apache-2.0"),
    ]
    assert [(s.id, s.status, s.note) for s in found.plan] == [
        ("S1", "done", ""),
        ("S2", "doing", "two of three"),
    ]
    first, second, third = found.findings
    assert (first.state, first.source, first.origin) == (
        "verified",
        "https://example.org/a",
        "turn 4 of lmstudio/1764500000000",
    )
    assert (first.added, first.note) == ("2026-03-02T09:00:00Z", "confidence: 0.8")
    assert (second.state, third.state, third.reason) == ("not read", "retracted", "it moved")
    (decision,) = found.decisions
    assert (decision.reason, decision.because, decision.by) == ("smallest", "F1, F2", "user")
    assert [(q.id, q.answer) for q in found.questions] == [("Q1", "Yes"), ("Q2", "")]
    assert found.next == (3, 3, 7, 2, 3, 1)
    (notes,) = found.prose
    assert "second paragraph" in notes.text
    assert "chats: 1764500000000" in notes.text
    assert "version" not in notes.text


def test_names_that_are_no_ids_keep_the_id_they_got():
    reader = Reader("moons")
    before = reader.snapshot(load("snake/versions/2026-04-01T08-00-00Z.json")).ledger
    after = reader.snapshot(load("snake/ledger.json")).ledger
    assert [(f.id, f.text) for f in before.findings] == [
        ("F1", "There are four large ones"),
        ("F2", "Io is the innermost"),
    ]
    assert [(f.id, f.text) for f in after.findings] == [
        ("F2", "Io is the innermost"),
        ("F3", "Europa is icy"),
    ]
    assert after.decisions[0].because == "F2"
    assert after.proposals[0].proposes == ("goal", "Name the rings too")
    assert after.findings[0].note == "id: b"


@pytest.mark.parametrize(
    ("ident", "kept"),
    [
        ("F12", "F12"),
        ("f-012", "F12"),
        (12, "F12"),
        ("12", "F12"),
        ("0", "F1"),
        ("one", "F1"),
        ("D1", "F1"),
        ("F0", "F1"),
    ],
)
def test_ids_are_kept_where_they_are_valid(ident, kept):
    assert ledger({"findings": [{"id": ident, "text": "x"}]}).findings[0].id == kept


def test_an_id_that_stands_twice_is_given_once():
    reader = Reader("p")
    value = {"findings": [{"id": "F1", "text": "one"}, {"id": "F1", "text": "two"}, "three"]}
    first = reader.snapshot(value).ledger
    assert [(f.id, f.text) for f in first.findings] == [
        ("F1", "one"),
        ("F2", "two"),
        ("F3", "three"),
    ]
    assert reader.snapshot(value).ledger == first


def test_a_number_that_was_used_is_not_used_again():
    reader = Reader("p")
    reader.snapshot({"findings": [{"id": "F9", "text": "old"}]})
    after = reader.snapshot({"findings": ["new"]}).ledger
    assert after.findings[0].id == "F10"
    assert after.next[2] == 11


@pytest.mark.parametrize(
    "notes",
    [
        "## Findings\n\n- **F1** other\n",
        "Findings\n---\n- **F1** other",
        "a\r\nb\u2028c",
        "# x\n\ny",
    ],
)
def test_notes_never_become_entries(notes):
    found = ledger({"findings": ["one"], "notes": notes})
    assert read(write(found)).ledger == found
    words = "".join(c for c in found.prose[0].text if c.isalnum())
    assert words == "".join(c for c in notes if c.isalnum())


@pytest.mark.parametrize("value", [None, 3, "x", [], {}, {"name": "x"}, [{"goal": "x"}]])
def test_what_is_no_ledger_is_refused(value):
    with pytest.raises(ValueError, match="no goal"):
        ledger(value)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (1772442000, 1772442000.0),
        (1772442000000, 1772442000.0),
        ("1772442000000", 1772442000.0),
        ("2026-03-02T09:00:00Z", 1772442000.0),
        ("2026-03-02T10:00:00+01:00", 1772442000.0),
        ("2026-03-02T09:00:00", 1772442000.0),
        ("yesterday", None),
        (True, None),
        (-5, None),
        (1e300, None),
        (None, None),
    ],
)
def test_times(value, found):
    assert seconds(value) == found


NAMES = st.sampled_from(
    [
        "goal",
        "constraints",
        "plan",
        "steps",
        "findings",
        "decisions",
        "openQuestions",
        "proposals",
        "notes",
        "nextIds",
        "id",
        "text",
        "claim",
        "status",
        "state",
        "source",
        "by",
        "addedAt",
        "because",
        "answer",
        "turn",
        "chat",
        "done",
        "verified",
    ]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES | st.text(max_size=4), inner),
    max_leaves=12,
)


@given(st.dictionaries(NAMES, VALUES), st.dictionaries(NAMES, VALUES))
def test_any_json_object_gives_a_sound_ledger(first, second):
    reader = Reader("p")
    for value in (first, second):
        try:
            found = reader.snapshot(value).ledger
        except ValueError:
            continue
        for section, free in zip(SECTIONS, found.next, strict=True):
            entries = found.list(section.attr)
            ids = [entry.id for entry in entries]
            assert len(set(ids)) == len(ids)
            assert all(is_id(i) and i[0] == section.letter and int(i[1:]) < free for i in ids)
            assert read(write(found)).ledger == found
            assert all(entry.text and "\n" not in entry.text + entry.note for entry in entries)
