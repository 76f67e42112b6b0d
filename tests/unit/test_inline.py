"""Inline text: each rule of what is escaped, and what editors make of it."""

import pytest

from throughline_nb.ledger.inline import (
    cut_url,
    escape,
    escape_heading,
    escape_paragraph,
    one_line,
    unescape,
)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        # 1: characters that always mean something
        ("a\\b", "a\\\\b"),
        ("*a* [b] ~c~ $d$", "\\*a\\* \\[b\\] \\~c\\~ \\$d\\$"),
        ("one ` tick", "one \\` tick"),
        ("two `` and ` and", "two \\`\\` and \\` and"),
        ("`*a* \\ [b]` and *c*", "`*a* \\ [b]` and \\*c\\*"),
        ("``a`b`` `", "``a`b`` \\`"),
        # 2: underscores
        ("snake_case a_1 1_a", "snake_case a_1 1_a"),
        ("_a_ a__b é_é a_é", "\\_a\\_ a\\_\\_b é\\_é a\\_é"),
        # 3: angle brackets, entities, images
        ("a < b <3 <b> </b> <!x <?x", "a < b <3 \\<b> \\</b> \\<!x \\<?x"),
        ("AT&T R&D; &amp; &#35; &copy", "AT&T R&D; \\&amp; \\&#35; &copy"),
        ("hi! ![a](b)", "hi! \\!\\[a\\](b)"),
        # 4: attributes
        (
            "`x`{=html} `x` {=html} a{.b} a{#b} a{k=v} {#b} a{b}",
            "`x`\\{=html} `x` {=html} a\\{.b} a\\{#b} a\\{k=v} {#b} a{b}",
        ),
        # 5: what could begin a block where a line is wrapped
        ("a - b + c -- --- -x +x", "a \\- b \\+ c \\-- \\--- -x +x"),
        ("= == =x a # ## #x", "\\= \\== =x a \\# \\## #x"),
        ("in 1. or 2) or 1.x or 11434.", "in 1\\. or 2\\) or 1.x or 11434."),
        ("a > b >c a>b", "a \\> b \\>c a>b"),
        # 6: URLs
        ("see https://example.org/a_(b).", "see <https://example.org/a_(b)>."),
        ("(https://example.org/a_b)", "(<https://example.org/a_b>)"),
        ("<https://example.org>", "\\<<https://example.org>>"),
        ("[a](https://example.org/*b)", "\\[a\\](<https://example.org/*b>)"),
        ("xhttps://example.org/_a_", "xhttps://example.org/\\_a\\_"),
        ("https:// http://) https", "https:// http://) https"),
        ("http://[::1]:80/a[1]", "<http://[::1]:80/a[1]>"),
    ],
)
def test_what_is_escaped(text, written):
    assert escape(text) == written
    assert unescape(written) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("#x", "\\#x"),
        ("# x", "\\# x"),
        (">x", "\\>x"),
        ("-x", "\\-x"),
        ("- x", "\\- x"),
        ("+x", "\\+x"),
        ("=x", "\\=x"),
        ("|x", "\\|x"),
        (":x", "\\:x"),
        ("1. x", "1\\. x"),
        ("1.", "1\\."),
        ("1)", "1\\)"),
        ("1.5 x", "1.5 x"),
        ("(none)", "\\(none)"),
        ("plain", "plain"),
    ],
)
def test_what_is_escaped_at_the_start_of_a_paragraph(text, written):
    assert escape_paragraph(text) == written
    assert unescape(written) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a #", "a \\#"),
        ("a#", "a\\#"),
        ("a ##", "a \\##"),
        ("a {#b}", "a \\{#b}"),
        ("a{b}", "a\\{b}"),
    ],
)
def test_what_is_escaped_in_a_heading(text, written):
    assert escape_heading(text) == written
    assert unescape(written) == text


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("snake\\_case \\& \\. \\! \\(x\\)", "snake_case & . ! (x)"),
        ("\\a \\ b", "\\a \\ b"),
        ("`a\\_b` \\`", "`a\\_b` `"),
        ("&lt;b&gt; &amp; &amp;lt; &quot; &#42; &nope;", '<b> & < " * &nope;'),
        ("&amp;amp;", "&"),
        (
            "<https://example.org/a_b> <www.example.org> <a@example.org> <ftp://example.org>",
            "https://example.org/a_b www.example.org a@example.org ftp://example.org",
        ),
        ("[https://example.org/a\\_(b)](https://example.org/a_(b))", "https://example.org/a_(b)"),
        ("[https://example.org/ä](https://example.org/%C3%A4)", "https://example.org/ä"),
        ("[example.org](http://example.org/)", "example.org"),
        ("[www.example.org](<http://www.example.org>)", "www.example.org"),
        ("[a@example.org](mailto:a@example.org)", "a@example.org"),
        ("[the docs](https://example.org)", "[the docs](https://example.org)"),
        ("[not closed](https://example.org", "[not closed](https://example.org"),
        ("`<b>`{=html}x`</b>`{=html}", "<b>x</b>"),
        ("C:`\\models`{=tex}`\\gguf `{=tex}on", "C:\\models\\gguf on"),
        ("`` `x` ``{=html}", "`x`"),
        ("`x`{.python}", "`x`{.python}"),
        ("**typed** _by_ hand", "**typed** _by_ hand"),
    ],
)
def test_what_is_read_back(written, text):
    assert unescape(written) == text


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("  a \t b\n\n c\r\n", "a b c"),
        ("a\u00a0b\u2028c\u3000d\u0085e\x0bf", "a b c d e f"),
        ("\x1b[31mred\x1b[0m \x1b]8;;https://example.org\x07link\x1b]8;;\x07", "red link"),
        ("a\0b\x07c\x7fd\x9be", "abcde"),
        ("e\u0301", "é"),
        ("\ufeffa\ufeff", "a"),
        ("a\ud800b", "ab"),
        ("👩\u200d👧 \u200b x", "👩\u200d👧 \u200b x"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_one_line(text, line):
    assert one_line(text) == line
    assert one_line(line) == line


@pytest.mark.parametrize(
    ("url", "cut"),
    [
        ("https://example.org/a_(b)_(c)", "https://example.org/a_(b)_(c)"),
        ("https://example.org/a)b", "https://example.org/a"),
        ("https://example.org/a](b", "https://example.org/a"),
        ("https://example.org/a.,:;!?", "https://example.org/a"),
        ("https://example.org/a…”", "https://example.org/a"),
        ("https://example.org/a、", "https://example.org/a"),
    ],
)
def test_where_a_url_ends(url, cut):
    assert cut_url(url) == cut


def test_a_hundred_kilobytes_take_no_time_in_their_square():
    for text in (
        "`" * 100_000,
        " ".join("`" * n for n in range(1, 440)),
        "[" * 100_000,
        "\\" * 100_000,
        "[a](" * 25_000,
        "https://" * 12_000,
        "&amp;" * 20_000,
        "<a" * 50_000,
    ):
        assert unescape(escape(text)) == text
        unescape(text)
