"""Damage by people and tools is no change, whatever the ledger says."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.strategies import ledgers
from tests.unit.damage import DAMAGES
from throughline_nb.ledger import read, write

AMBIGUOUS = {
    "lost_ids": "a text may itself begin with the name of a field",
    "smart_quotes": "a value of the front matter is quoted by what becomes typographic",
}


@pytest.mark.slow
@settings(
    max_examples=5 * settings.default.max_examples, suppress_health_check=[HealthCheck.too_slow]
)
@given(
    ledgers(prose=False, front=False), st.sampled_from([k for k in DAMAGES if k not in AMBIGUOUS])
)
def test_damage_is_no_change(ledger, kind):
    reading = read(DAMAGES[kind](write(ledger, "42-7c1e")), ledger)
    assert reading.ledger == ledger
    assert reading.notices == ()
