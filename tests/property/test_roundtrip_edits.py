"""An edit of letters or figures is seen, in whatever text it is made, and nothing else changes."""

import msgspec
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from tests.property.strategies import ledgers, some_texts
from throughline_nb.ledger import read, write
from throughline_nb.ledger.mangled import bones
from throughline_nb.ledger.model import Entry, Ledger

TYPED = settings(
    max_examples=settings.default.max_examples,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


def with_entry(ledger: Ledger, entry: Entry) -> Ledger:
    attr = entry.section.attr
    entries = tuple(entry if e.id == entry.id else e for e in ledger.list(attr))
    return msgspec.structs.replace(ledger, **{attr: entries})


@pytest.mark.slow
@TYPED
@given(ledgers(most=3), st.data())
def test_a_letter_or_figure_that_changed_is_seen(base, data):
    entries = list(base.entries())
    assume(entries)
    entry = data.draw(st.sampled_from(entries))
    places = [at for at, char in enumerate(entry.text) if char.isascii() and char.isalnum()]
    assume(places)
    at = data.draw(st.sampled_from(places))
    put = data.draw(st.sampled_from([c for c in "aQ7" if c != entry.text[at]]))
    text = entry.text[:at] + put + entry.text[at + 1 :]
    assume(bones(text) != bones(entry.text))
    edited = with_entry(base, msgspec.structs.replace(entry, text=text, by="user"))
    reading = read(write(edited, "2-b"), base)
    got = reading.ledger.get(entry.id)
    assert got is not None
    assert bones(got.text) == bones(text)
    assert with_entry(reading.ledger, msgspec.structs.replace(got, text=text, by="user")) == edited


@pytest.mark.slow
@TYPED
@given(ledgers(most=3), some_texts, st.data())
def test_a_text_written_anew_is_read_as_it_was_typed(base, text, data):
    entries = [entry for entry in base.entries() if entry.kind != "proposal"]
    assume(entries)
    entry = data.draw(st.sampled_from(entries))
    assume(bones(text) != bones(entry.text))
    assume(not text.startswith("~"))
    edited = with_entry(base, msgspec.structs.replace(entry, text=text, by="user"))
    got = read(write(edited, "2-b"), base).ledger.get(entry.id)
    assert got is not None
    assert bones(got.text) == bones(text)
    assert got.by == "user"


@pytest.mark.slow
@TYPED
@given(ledgers(most=3), st.data())
def test_what_is_deleted_is_gone_and_the_rest_stays(base, data):
    entries = list(base.entries())
    assume(entries)
    gone = data.draw(st.sets(st.sampled_from([entry.id for entry in entries]), min_size=1))
    edited = base
    for attr in {entry.section.attr for entry in entries}:
        left = tuple(entry for entry in edited.list(attr) if entry.id not in gone)
        edited = msgspec.structs.replace(edited, **{attr: left})
    edited = msgspec.structs.replace(
        edited, prose=tuple(piece for piece in base.prose if piece.place not in gone)
    )
    assert read(write(edited, "2-b"), base).ledger == edited


@pytest.mark.slow
@TYPED
@given(ledgers(most=3), st.data())
def test_fields_of_a_person_s_that_are_deleted_are_gone(base, data):
    entries = [entry for entry in base.entries() if entry.note]
    assume(entries)
    entry = data.draw(st.sampled_from(entries))
    edited = with_entry(base, msgspec.structs.replace(entry, note=""))
    assert read(write(edited, "2-b"), base).ledger == edited
