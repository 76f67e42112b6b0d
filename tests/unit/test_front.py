"""Front matter of a person's own, odd or broken: right, or one clear line, and the body reads."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.ledger import Ledger, read, write
from throughline_nb.ledger.front import plain_front, split_front, write_front

CASES = (Path(__file__).parents[1] / "data" / "front" / "cases.md").read_text("utf-8")
BODY = "\n# p\n\n## Goal\n\nThe goal.\n\nLedger · next C1 S1 F1 D1 Q1 P1\n"


def cases():
    for name, block, expected in re.findall(r"(?m)^(.+)\n\.\n((?s:.*?))^\.\n((?s:.*?))^\.$", CASES):
        values = dict(re.findall(r"(?m)^([^!\n].*?) =[ ]?(.*)$", expected))
        notices = tuple(re.findall(r"(?m)^! (.*)$", expected))
        yield pytest.param(block, values, notices, id=name)


@pytest.mark.parametrize(("block", "values", "notices"), list(cases()))
@pytest.mark.parametrize("change", [str, lambda text: "\ufeff" + text.replace("\n", "\r\n")])
def test_odd_front_matter(block, values, notices, change):
    reading = read(change(block + BODY))
    assert dict(reading.ledger.meta) == values
    assert reading.ledger.project == "p"
    assert reading.ledger.goal == "The goal."
    assert reading.ledger.prose == ()
    assert reading.notices == notices
    assert read(write(reading.ledger)).ledger == reading.ledger


def test_a_closing_fence_at_the_end_of_the_file():
    front, rest = split_front("---\nthroughline: 1\nproject: p\n---")
    assert front.get("project") == "p"
    assert rest == ""


def test_a_file_that_begins_with_a_rule_has_no_front_matter():
    front, rest = split_front("---\n\n# Title\n\n---\n\nText: here\n")
    assert not front.found
    assert rest.startswith("---")


@pytest.mark.parametrize("lost", ["", "* * *\n\nthroughline: 1 project: p\n\n* * *\n"])
def test_what_is_lost_with_the_front_matter_comes_back(lost):
    base = Ledger(project="p", goal="The goal.", meta=(("title", "mine"),))
    assert read(lost + BODY, base).ledger == base


def test_a_key_that_a_person_deletes_is_gone():
    base = Ledger(project="p", goal="The goal.", meta=(("title", "mine"), ("other", "x")))
    text = write(base).replace("title: mine\n", "")
    assert read(text, base).ledger.meta == (("other", "x"),)


def test_the_number_of_a_newer_format_is_told():
    assert read(write(Ledger(goal="x")).replace("throughline: 1", "throughline: 7")).format == 7


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_every_flat_mapping_is_read_as_it_was_written(pairs):
    pairs = {k: v for k, v in pairs.items() if k.isprintable() and k}
    block = write_front(tuple(pairs.items()))
    front = plain_front(block.split("\n")[1:-1])
    assert front is not None
    assert dict(front.pairs) == pairs
