"""What is wrong entry by entry agrees with what the health line counts."""

from hypothesis import given
from hypothesis import strategies as st
from strategies import ledgers

from throughline_nb.ledger.health import QUESTION_TURNS, health, troubles


@given(ledgers(), st.integers(0, 3 * QUESTION_TURNS))
def test_there_is_trouble_where_the_health_line_speaks_and_nowhere_else(ledger, turns):
    open_turns = {entry.id: turns for entry in ledger.questions}
    found = troubles(ledger, open_turns)
    assert bool(found) == bool(health(ledger, open_turns))
    named = [each.id for each in found if each.state != "plan"]
    assert len(set(named)) == len(named)
    assert all(ledger.get(ident) is not None for ident in named)
    assert all(each.state and each.why for each in found)


@given(ledgers())
def test_each_unsound_finding_and_each_suspect_decision_is_named(ledger):
    named = {each.id for each in troubles(ledger, {})}
    for entry in ledger.findings:
        unsound = entry.state in ("not read", "stale", "unverified") or entry.missing
        if not entry.retracted and (unsound or not entry.source):
            assert entry.id in named
        elif entry.retracted:
            assert entry.id not in named
    assert {entry.id for entry in ledger.decisions if entry.suspect} <= named
