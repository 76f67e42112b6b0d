"""Reading what was written gives what was written, for every ledger."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.strategies import ledgers, texts
from throughline_nb.ledger import Ledger, read, write
from throughline_nb.ledger.inline import escape, one_line, unescape

EXAMPLES = settings(
    max_examples=5 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow]
)


@EXAMPLES
@given(texts)
def test_a_line_is_read_as_it_was_written(text):
    assert unescape(escape(text)) == text


@given(st.text())
def test_one_line_applied_again_changes_nothing(text):
    line = one_line(text)
    assert one_line(line) == line
    assert "\n" not in line
    line.encode("utf-8")


@pytest.mark.slow
@EXAMPLES
@given(ledgers(), st.sampled_from([None, "42-7c1e", "1-0"]))
def test_a_ledger_is_read_as_it_was_written(ledger, version):
    text = write(ledger, version)
    reading = read(text)
    assert reading.ledger == ledger
    assert reading.version == version
    assert reading.notices == ()
    assert reading.complete
    assert write(reading.ledger, version) == text


@pytest.mark.slow
@EXAMPLES
@given(ledgers())
def test_nothing_changed_is_the_base_itself(ledger):
    reading = read(write(ledger, "2-b").encode(), ledger)
    assert reading.ledger is ledger
    assert reading.notices == ()


@pytest.mark.slow
@given(ledgers(), ledgers())
def test_reading_with_any_base_fails_on_nothing(ledger, other):
    reading = read(write(ledger), other)
    assert read(write(reading.ledger)).ledger == reading.ledger


def test_the_empty_ledger():
    assert read(write(Ledger())).ledger == Ledger()
