"""Damage that no one meant as a change is none: the base comes back, and nobody is told anything."""

from pathlib import Path

import pytest

from tests.unit.damage import DAMAGES
from throughline_nb.ledger import read, write

DATA = Path(__file__).parents[1] / "data"
FILES = ["sample-ledger.md", "hostile-ledger.md"]


@pytest.mark.parametrize("name", DAMAGES)
@pytest.mark.parametrize("file", FILES)
def test_damage_is_no_change(file, name):
    text = (DATA / file).read_text("utf-8")
    base = read(text).ledger
    damaged = DAMAGES[name](text)
    assert damaged != text, "this damage does nothing here"
    reading = read(damaged, base)
    assert write(reading.ledger, "1-a") == write(base, "1-a")
    assert reading.ledger == base
    assert reading.complete
    assert reading.version == "42-7c1e"
