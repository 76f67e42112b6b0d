"""Damage that no one meant as a change is none: the base comes back, and nobody is told anything."""

from pathlib import Path

import pytest

from tests.unit.damage import DAMAGES
from throughline_nb.ledger import read, write

DATA = Path(__file__).parents[1] / "data"
TEXTS = {name: (DATA / f"{name}-ledger.md").read_text("utf-8") for name in ("sample", "hostile")}
CASES = [
    (name, kind)
    for name, text in TEXTS.items()
    for kind, damage in DAMAGES.items()
    if damage(text) != text
]


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_damage_is_no_change(name, kind):
    text = TEXTS[name]
    base = read(text).ledger
    reading = read(DAMAGES[kind](text), base)
    assert write(reading.ledger, "1-a") == write(base, "1-a")
    assert reading.ledger is base
    assert reading.complete
    assert reading.version == "42-7c1e"
    assert reading.notices == ()


@pytest.mark.parametrize("kind", DAMAGES)
def test_each_kind_does_damage(kind):
    assert ("hostile", kind) in CASES


@pytest.mark.parametrize("name", TEXTS)
def test_the_files_are_canonical(name):
    assert write(read(TEXTS[name]).ledger, "42-7c1e") == TEXTS[name]
