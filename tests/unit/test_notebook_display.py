"""What a cell shows: plain, Markdown, HTML that cannot run anything, and JSON."""

import json
import re
from html.parser import HTMLParser

import msgspec
import pytest

from throughline_nb.engine.run import Reply
from throughline_nb.hosts.notebook.display import (
    JSON,
    fenced,
    inline,
    marks,
    of_reply,
    rendered,
    typed_here,
)
from throughline_nb.hosts.notebook.ledger_view import LedgerView, source_link, state_of
from throughline_nb.hosts.notebook.style import CSS, SHAPES
from throughline_nb.ledger import Entry, Ledger, Prose
from throughline_nb.ledger.model import STATES, STATUSES

EVIL = [
    "<script>alert(1)</script>",
    '<img src=x onerror="alert(1)">',
    "[x](javascript:alert(1))",
    "<javascript:alert(1)>",
    "![x](https://example.org/track.png)",
    "</div></style><script>alert(1)</script>",
    "`</code><script>alert(1)</script>`",
    '<https://example.org/"onmouseover=alert(1)>',
    "a &lt;b&gt; &amp; c",
    "x\n\n<iframe src=//example.org></iframe>",
]  # fmt: skip
ALLOWED = {
    "div", "style", "h1", "h2", "h3", "h4", "p", "small", "br", "ul", "ol", "li", "code", "em", "b", "s",
    "table", "thead", "tbody", "tr", "td", "th", "span", "hr", "pre", "ins", "del", "a", "strong",
}  # fmt: skip


class Seen(HTMLParser):
    """Collects what a browser would make of it."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.attributes += attributes

    def handle_data(self, text):
        self.text.append(text)


def ledger_of(text):
    return Ledger(
        project="p",
        goal=text,
        constraints=(Entry(id="C1", text=text),),
        plan=(Entry(id="S1", text=text, status="doing", note=text),),
        findings=(
            Entry(id="F1", text=text, source=text, state="stale", reason=text, missing=text),
        ),
        decisions=(Entry(id="D1", text=text, reason=text, because="F1", suspect=text),),
        questions=(Entry(id="Q1", text=text, answer=text),),
        proposals=(Entry(id="P1", text=f"goal: {text}"),),
        prose=(Prose("notes", text),),
    )


@pytest.mark.parametrize("text", EVIL)
def test_nothing_that_stands_in_a_ledger_runs(text):
    view = LedgerView(ledger_of(text), "1-abcd", [text])
    pages = [view.shown().html, view.card().html, of_reply(Reply(text, text)).html]
    pages += [of_reply(Reply(text, text), (text,), marked=True).html, inline(text), rendered(text)]
    for page in pages:
        seen = Seen(page)
        assert set(seen.tags) <= ALLOWED
        for name, value in seen.attributes:
            assert not name.startswith("on")
            assert "javascript" not in (value or "").lower()


def test_what_is_code_or_a_link_in_the_file_is_so_here_and_all_else_is_text():
    assert inline("`a*b` and *args, snake_case") == "<code>a*b</code> and *args, snake_case"
    assert inline("see https://example.org/a_(b).") == (
        'see <a href="https://example.org/a_(b)">https://example.org/a_(b)</a>.'
    )
    assert inline("# no heading") == "# no heading"
    assert inline("Peak was 6.1 GB") == "Peak was 6.1 GB"
    assert inline("") == ""


@pytest.mark.parametrize(
    ("source", "html"),
    [
        ("https://example.org/a", '<a href="https://example.org/a">https://example.org/a</a>'),
        ("cell 3f9a of notebook/a.ipynb", "cell 3f9a of notebook/a.ipynb"),
        ("user", "user"),
    ],
)
def test_a_source_is_a_link_where_it_is_a_page(source, html):
    assert source_link(source) == html


def test_every_part_of_a_ledger_is_shown_in_each_form():
    words = "alpha beta gamma"
    view = LedgerView(ledger_of(words), "7-abcd", ["1 finding stale"])
    bundle = view._repr_mimebundle_()
    for kind in ("text/plain", "text/markdown"):
        assert bundle[kind].count(words) >= 6
    text = " ".join(Seen(view.shown().inside).text)
    assert text.count(words) >= 14
    for ident in ("C1", "S1", "F1", "D1", "Q1", "P1"):
        assert ident in text
    assert "version 7-abcd" in text
    data = json.loads(msgspec.json.encode(bundle[JSON]))
    assert data["ledger"]["findings"][0]["id"] == "F1"
    assert data["version"] == "7-abcd"


def test_the_card_names_what_is_in_hand_and_what_waits():
    plan = (
        Entry(id="S1", text="One", status="done"),
        Entry(id="S2", text="Two", status="doing"),
        Entry(id="S3", text="Three", status="todo"),
    )
    proposals = (Entry(id="P1", text="goal: More"),)
    view = LedgerView(Ledger(project="p", plan=plan, proposals=proposals), "1-abcd", ["no goal"])
    text = " ".join(" ".join(Seen(view.card().inside).text).split())
    assert "1 of 3 done" in text
    assert "Now S2 Two ● doing" in text
    assert "Next S3 Three" in text
    assert "no goal" in text
    assert "%tl accept P1" in text


def test_without_style_it_still_reads_as_lists():
    page = LedgerView(ledger_of("words"), "1-abcd").shown().inside
    plain = re.sub(r' (?:class|scope)="[^"]*"', "", page)
    assert "<li><code>S1</code> ☐ <b>words</b> <em>● doing</em>" in plain
    assert "style=" not in page


def test_every_state_has_a_word_a_shape_and_a_colour():
    assert {*STATES, *STATUSES} <= SHAPES.keys()
    for state in SHAPES:
        assert f"em.tl-{state.replace(' ', '-')}{{" in CSS


def test_every_colour_has_one_for_hosts_without_jupyters():
    assert re.findall(r"var\(--jp-[\w-]+\)", CSS) == []
    assert not re.findall(r"#[0-9a-fA-F]{3,6}\b", CSS)


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"state": "verified", "missing": "7"}, "figures missing"),
        ({"state": "stale", "missing": "7"}, "stale"),
        ({"state": "retracted"}, "retracted"),
        ({"suspect": "F1 changed"}, "suspect"),
        ({"status": "blocked"}, "blocked"),
        ({}, ""),
    ],
)
def test_the_word_for_where_an_entry_stands(fields, state):
    assert state_of(Entry(id="F1", text="x", **fields)) == state


def test_commands_are_named_as_they_are_typed_here():
    assert typed_here("Say /tl list or `/tl open <name>`; /tl") == (
        "Say %tl list or `%tl open <name>`; %tl"
    )
    assert typed_here("/tl <command>") == "%tl <command>"
    assert typed_here("see /tlx and /tl/ and https://example.org/tl a") == (
        "see /tlx and /tl/ and https://example.org/tl a"
    )


def test_a_fence_is_longer_than_what_it_holds():
    assert fenced("a ```` b").startswith("`````text\n")


def test_marked_words_are_inserted_and_deleted_and_safe():
    assert marks("was [-<b>6.1-] {+6.4+} GB") == ("was <del>&lt;b&gt;6.1</del> <ins>6.4</ins> GB")


def test_only_what_is_asked_for_is_given():
    shown = of_reply(Reply("Done.", "a"))
    assert list(shown._repr_mimebundle_(include={"text/html"})) == ["text/html"]
    assert "text/html" not in shown._repr_mimebundle_(exclude={"text/html"})
    assert shown._repr_mimebundle_(include={"application/json"}) == {
        "application/json": {"text": "Done.", "shown": "a", "id": ""}
    }
