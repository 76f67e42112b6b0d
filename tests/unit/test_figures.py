"""Figures: the table of spellings, and what holds of all of them."""

import datetime as dt
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.ledger.figures import figures, missing

TABLE = Path(__file__).parents[1] / "data" / "figures.tsv"
CASES = [
    line.split("\t")
    for line in TABLE.read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("#")
]


@pytest.mark.parametrize(("claim", "source", "absent"), CASES)
def test_figures_that_the_source_does_not_show_are_named_as_the_claim_spells_them(
    claim, source, absent
):
    assert "; ".join(missing(claim, figures(source))) == absent


@pytest.mark.parametrize("claim", [case[0] for case in CASES])
def test_a_claim_shows_its_own_figures(claim):
    assert missing(claim, figures(claim)) == ()


def test_the_table_is_large_enough():
    assert len(CASES) >= 80
    assert sum(bool(absent) for *_, absent in CASES) >= 20


@given(st.text(), st.text())
def test_any_text_is_read(claim, source):
    read = figures(source)
    assert read == tuple(sorted(set(read)))
    for figure in missing(claim, read):
        assert figure in claim
    assert missing(claim, figures(f"{source} \n {claim} \n")) == ()


@given(
    st.integers(0, 10**12), st.sampled_from(["{:,}", "{}", "{:_}"]), st.sampled_from(["{:,}", "{}"])
)
def test_a_number_is_one_however_its_thousands_are_written(number, one, other):
    claim, source = f"it is {one.format(number)} tokens", f"value: {other.format(number)}."
    assert missing(claim, figures(source)) == ()
    assert missing(f"it is {one.format(number + 1)} tokens", figures(source)) != ()


@given(
    st.dates(
        min_value=dt.date(1500, 1, 1),
        max_value=dt.date(2099, 12, 31),
    )
)
def test_a_date_is_one_however_it_is_written(day):
    spellings = [
        day.isoformat(),
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
        f"{day.day:02}.{day.month:02}.{day.year}",
        f"{day.year}年{day.month}月{day.day}日",
    ]
    for claim in spellings:
        for source in spellings:
            assert missing(f"on {claim}", figures(f"released {source}.")) == ()


def test_figures_named_are_limited():
    claim = " ".join(str(number) for number in range(1000, 1100))
    assert len(missing(claim, ())) == 12


def test_a_large_page_is_read_in_linear_time():
    page = "On 17 October 2026 the default was 4,096 (v0.4.26, $1.50), see table 3: 12 of 40. "
    small, large = page * 120, page * 1200

    def seconds(text):
        figures("")
        times = []
        for _ in range(3):
            start = time.perf_counter()
            figures(text)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(large) < 40 * seconds(small)


@pytest.mark.parametrize(
    "text",
    ["1" * 50_000, "1," * 50_000, "1 " * 50_000, "1.1" * 30_000, "a1" * 50_000, "1 000" * 30_000],
)
def test_hostile_runs_of_digits_take_no_time(text):
    start = time.perf_counter()
    read = figures(text)
    missing(text, read)
    assert time.perf_counter() - start < 5


DOCUMENTS = sorted(
    path for folder in (".", "docs") for path in (Path(__file__).parents[2] / folder).glob("*.md")
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_what_is_quoted_from_a_document_is_found_in_it(path):
    text = path.read_text(encoding="utf-8")
    read = frozenset(figures(text))
    for line in text.split("\n"):
        assert missing(line, read) == ()
