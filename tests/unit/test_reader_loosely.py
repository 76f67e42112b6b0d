"""What counts as another spelling of a text, and what as a change of it."""

import pytest

from throughline_nb.ledger.loosely import equal, spelled, spelled_prose


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("a “b” ‘c’ – d — e …", "a \"b\" 'c' - d -- e ..."),
        ('say "x"', "say «x»"),
        ("*a* _b_ ~c~", "\\*a\\* \\_b\\_ \\~c\\~"),
        ("*a* **b** c", "_a_ __b__ c"),
        ("a `b` c", "a ``b`` c"),
        ("``a`b``", "`` a`b ``"),
        ("a b c", "a  b\u00a0c"),
        ("<https://example.org/a_b>", "https://example.org/a_b"),
        ("https://example.org/(ä)", "https://example.org/%28%C3%A4%29"),
        ("https://example.org/a_b", "[https://example.org/a\\_b](https://example.org/a%5C_b)"),
        ("a & b < c", "a &amp; b &lt; c"),
        ("C:\\temp\\*.md", "C:\\\\temp\\\\\\*.md"),
        ("日本語と英語", "日本語 と英語"),
        ("a\u200bb", "ab"),
        ("é", "e\u0301"),
        (":rocket: up", "🚀 up"),
        ("www.example.org", "http://www.example.org"),
        ("`x`{=html} y", "`x`y"),
    ],
)
def test_the_same(base, text):
    assert equal(base, text)
    assert spelled(base, text) == base


@pytest.mark.parametrize(
    ("base", "text"),
    [
        ("4,096", "4.096"),
        ("time out", "timeout"),
        ("now", "now!"),
        ("yes", "Yes"),
        ("a, b", "a b"),
        ("a-b", "a b"),
        ("v1.0", "v10"),
        ("plain", "*plain*"),
        ("plain", "`plain`"),
        ("plain", "~~plain~~"),
        ("see the docs", "see [the docs](https://example.org)"),
        ("https://example.org/a", "https://example.org/b"),
        ("https://example.org/a", "https://example.org/A"),
        ("a < b", "a > b"),
        ("2 * 3", "2 + 3"),
        ("x_1", "x_2"),
        ("日本", "日木"),
        ("éa", "ea"),
        ("*a* b", "*a* c"),
        ("", "a"),
    ],
)
def test_not_the_same(base, text):
    assert not equal(base, text)
    assert spelled(base, text) == text


@pytest.mark.parametrize(
    ("base", "text", "result"),
    [
        ("*a* “b” c", '_a_ "b" d', "*a* “b” d"),
        ("one – two three", "zero one - two", "zero one – two"),
        (
            "see https://example.org/(a) now",
            "see https://example.org/%28a%29 then",
            "see https://example.org/(a) then",
        ),
        ("a *b* c", "c \\*b\\* a", "c *b* a"),
        ("word " * 3000 + "*end*", "word " * 3000 + "_end_ more", "word " * 3000 + "*end* more"),
    ],
)
def test_words_that_did_not_change_keep_their_spelling(base, text, result):
    assert spelled(base, text) == result


@pytest.mark.parametrize(
    "text",
    [
        "* a\n* b\n\n> quote\n\n```python\nx = 1\n```\n\n| a | b |\n|---|---|\n\n- - -",
        "1.  a\n2.  b\n\n\\> quote\n\n~~~\nx = 1\n~~~\n\n| a   | b   |\n| --- | --- |\n\n---",
        "- a\n\n- b\n\n&gt; quote\n\n    x = 1\n\na\n\nb\n\n***",
    ],
)
def test_prose_in_another_layout(text):
    base = "- a\n- b\n\n> quote\n\n```\nx = 1\n```\n\n| a | b |\n| - | - |\n\n***".replace(
        "| - | - |", "|---|---|"
    )
    assert spelled_prose(base, text) == base
    changed = text.replace("quote", "quoted")
    assert "quoted" in spelled_prose(base, changed)
    assert spelled_prose(base, changed) != base


def test_paragraphs_that_did_not_change_keep_their_spelling():
    base = "One *a*.\n\nTwo _b_.\n\nThree."
    assert spelled_prose(base, "One _a_.\n\nTwo *c*.\n\nThree.") == "One *a*.\n\nTwo *c*.\n\nThree."
