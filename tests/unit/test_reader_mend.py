"""Shapes that several editors in a row leave behind: what the base says stood there comes back."""

import re
from pathlib import Path

import msgspec
import pytest

from throughline_nb.ledger import Entry, Ledger, Prose, read, write

DATA = Path(__file__).parents[1] / "data"
TEXT = (DATA / "sample-ledger.md").read_text("utf-8")
BASE = read(TEXT).ledger


def joined_lists(text: str, marker: str) -> str:
    """Every list as one paragraph, as an editor saves it that lost its line breaks."""
    text = re.sub(r"\n +- (?=\w+: )", f" {marker} ", text)
    text = re.sub(r"(?<=\S)\n- (?=(?:\[.\] )?\*\*)", f" {marker} ", text)
    return re.sub(r"(?m)^- ", "\\\\- ", text)


@pytest.mark.parametrize("marker", ["-", "\\-", "*"])
def test_lists_that_became_one_paragraph(marker):
    reading = read(joined_lists(TEXT, marker), BASE)
    assert reading.ledger == BASE
    assert reading.notices == ()


@pytest.mark.parametrize("marker", ["-", "*", "+"])
def test_fields_that_were_joined_to_the_text(marker):
    text = re.sub(r"\n  - (?=\w+: )", f" {marker} ", TEXT)
    assert read(text, BASE).ledger == BASE


def test_a_change_in_a_list_that_became_one_paragraph():
    text = joined_lists(TEXT, "-").replace("Ask the vendor", "Ask the vendor twice")
    plan = tuple(
        msgspec.structs.replace(s, text="Ask the vendor twice", by="user") if s.id == "S5" else s
        for s in BASE.plan
    )
    assert read(text, BASE).ledger == msgspec.structs.replace(BASE, plan=plan)


def test_a_text_that_goes_on_in_a_paragraph_of_its_own():
    text = TEXT.replace("a context of 4,096 tokens", "a context\n\nof 4,096 tokens")
    text = text.replace("default context of seven", "default context\n\nof seven")
    assert read(text, BASE).ledger == BASE


def test_fields_that_became_a_block_of_code():
    block = "  - source: user\n  - state: retracted\n"
    assert block in TEXT
    text = TEXT.replace(block, "\n```\n- source: user\n- state: retracted\n```\n\n")
    assert read(text, BASE).ledger == BASE


def test_a_formula_that_became_a_block():
    finding = Entry(id="F1", text="the sum is $$x^2 + y_1$$ here", state="verified", by="model")
    base = Ledger(findings=(finding,), next=(1, 1, 2, 1, 1, 1))
    text = write(base).replace("\\$\\$x^2 \\+ y_1\\$\\$ here", "here")
    text = text.replace("  - by: model\n", "  - by: model\n\n  ```math\n  x^2 + y_1\n  ```\n")
    assert read(text, base).ledger == base


@pytest.fixture
def tagged() -> Ledger:
    texts = ("use <b>bold</b> and <br> here", "an <img src=x> there", "plain")
    findings = tuple(
        Entry(id=f"F{n}", text=text, state="verified", by="model")
        for n, text in enumerate(texts, 1)
    )
    return Ledger(findings=findings, next=(1, 1, 4, 1, 1, 1))


def test_html_that_an_editor_dropped_everywhere_comes_back(tagged):
    text = write(tagged).replace("\\<b>bold\\</b> and \\<br>", "**bold** and")
    text = text.replace("\\<img src=x>", "")
    assert read(text, tagged).ledger == tagged


def test_html_that_a_person_took_out_of_one_entry_stays_out(tagged):
    text = write(tagged).replace("\\<img src=x> ", "")
    assert read(text, tagged).ledger.get("F2").text == "an there"


def test_an_entry_whose_id_was_lost_with_its_text():
    line = "- **F12** llama.cpp defaults to a context of 4,096 tokens, at most 8,192."
    result = read(TEXT.replace(line, "- 8,192."), BASE)
    assert result.ledger.get("F12").source == BASE.get("F12").source
    assert len(result.ledger.findings) == len(BASE.findings)


def test_an_entry_that_stands_in_other_text_is_not_deleted():
    text = TEXT.replace("- **D3** Leave vLLM out", "Text ** D3** Leave vLLM out")
    result = read(text, BASE)
    assert result.ledger.get("D3") == BASE.get("D3")
    assert "D3 could not be told apart from the text around it" in result.notices[0]


def test_an_entry_that_is_only_mentioned_in_other_text_is_deleted():
    start, end = TEXT.index("- **D3**"), TEXT.index("## Open questions")
    text = (TEXT[:start] + TEXT[end:]).replace("Whatever", "**D3** is settled. Whatever")
    assert read(text, BASE).ledger.decisions == ()


def test_prose_that_names_an_absent_entry_is_left_alone():
    base = msgspec.structs.replace(BASE, prose=(Prose("notes", "- **D3** is a mistake"),))
    text = write(base)
    start, end = text.index("- **D3**"), text.index("## Open questions")
    result = read(text[:start] + text[end:], base)
    assert result.ledger.decisions == ()
    assert result.ledger.prose == base.prose


HUGE = {
    "urls": " ".join(f"https://example.org/a_{n}_(b)" for n in range(3000)),
    "links": "[a](b) " * 14_000,
    "open links": "[x](" * 25_000,
    "backticks": "` `` ``` " * 11_000,
    "formulas": "$x$ " * 25_000,
    "angles": "<" * 100_000,
    "comments": "<!--" * 25_000,
    "an address": "a" * 100_000 + "@",
    "fields": "- **F1** x - source: y " * 4_500,
    "stars": "*a" * 50_000,
}


@pytest.mark.parametrize("name", HUGE)
def test_a_hundred_kilobytes_changed_take_no_time_in_their_square(name):
    text = HUGE[name].strip()
    entries = (
        Entry(id="F1", text=text, state="unverified", note=text[:50_000].strip()),
        Entry(id="F2", text="y", state="unverified"),
    )
    base = Ledger(findings=entries, next=(1, 1, 3, 1, 1, 1))
    written = write(base)
    assert read(written).ledger == base
    edited = written.replace("- **F1** ", "- **F1** new words ", 1)
    assert read(edited, base).ledger.get("F1").text == f"new words {text}"
    read(edited.replace("\\", "").replace("- **F", "* **F"), base)
    read(written.replace("- **F2** y", "- **F3** y"), base)


@pytest.mark.parametrize(
    "notes",
    [
        "````a\n" * 20_000 + "```\n" * 20_000,
        "```a\n" * 50_000,
        "Ledger " * 100_000,
        "## Findings\n" * 20_000,
        "a\nb\n---\n" * 15_000,
        "x\n" * 20_000 + "---",
        "- **F9** x\n" * 20_000,
        "> quote\n\n" * 20_000,
    ],
    ids=["fences", "open fences", "Ledger", "headings", "underlines", "lines", "ids", "quotes"],
)
def test_long_notes_take_no_time_in_their_square(notes):
    text = TEXT.replace("## Notes\n\n", f"## Notes\n\n{notes}\n\n")
    assert list(read(text, BASE).ledger.entries()) == list(BASE.entries())
