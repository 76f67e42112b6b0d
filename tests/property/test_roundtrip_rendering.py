"""What CommonMark sees in what we write: the same lists and headings, and literal text."""

import re

import mistune
import pytest
from hypothesis import given, settings

from tests.property.strategies import ledgers, texts
from throughline_nb.ledger import Entry, Ledger, write
from throughline_nb.ledger.model import SECTIONS

PARSE = mistune.create_markdown(renderer=None)
PLAIN = {"text", "codespan", "softbreak"}


def tree(markdown: str) -> list[dict]:
    return PARSE(markdown)


def flat(tokens: list[dict]) -> str:
    """The text that inline tokens show; an autolink shows its address."""
    parts = []
    for token in tokens:
        if token["type"] == "link":
            assert token["attrs"]["url"].startswith(("http", "HTTP")), token
            parts.append(flat(token["children"]))
        else:
            assert token["type"] in PLAIN, token
            parts.append(token["raw"])
    return "".join(parts)


def shown(text: str) -> str:
    """``text`` as CommonMark shows it: code spans lose their fences, the rest is literal."""

    def content(found: re.Match[str]) -> str:
        inner = found[2]
        if inner.strip() and inner[0] == inner[-1] == " ":
            inner = inner[1:-1]
        return inner

    return re.sub(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", content, text)


def items(tokens: list[dict]) -> list[dict]:
    return [item for token in tokens if token["type"] == "list" for item in token["children"]]


@settings(max_examples=3 * settings.default.max_examples)
@given(texts)
def test_a_text_is_shown_literally(text):
    entry = Entry(id="F1", text=text, state="unverified", note=text)
    tokens = tree(write(Ledger(findings=(entry,), next=(1, 1, 2, 1, 1, 1)), "1-a"))
    assert sum(token["type"] == "heading" for token in tokens) == 8  # the front matter is one
    (item,) = items(tokens)
    head, fields = item["children"]
    assert flat(head["children"][1:]).strip() == shown(text).strip()
    assert head["children"][0] == {"type": "strong", "children": [{"type": "text", "raw": "F1"}]}
    lines = [flat(field["children"][0]["children"]) for field in fields["children"]]
    assert lines == ["state: unverified", *([f"note: {shown(text)}"] if text else [])]


@settings(max_examples=3 * settings.default.max_examples)
@given(texts)
def test_a_goal_is_one_paragraph_shown_literally(text):
    tokens = [t for t in tree(write(Ledger(goal=text))) if t["type"] != "blank_line"]
    at = next(
        i
        for i, t in enumerate(tokens)
        if t["type"] == "heading" and t["children"][0]["raw"] == "Goal"
    )
    if text:
        assert tokens[at + 1]["type"] == "paragraph"
        assert flat(tokens[at + 1]["children"]) == shown(text)
        at += 1
    assert tokens[at + 1]["type"] == "heading"


@pytest.mark.slow
@given(ledgers(prose=False))
def test_lists_and_headings_are_those_of_the_ledger(ledger):
    body = write(ledger, "1-a").partition("\n---\n\n")[2]
    tokens = [token for token in tree(body) if token["type"] != "blank_line"]
    titles = [flat(t["children"]) for t in tokens if t["type"] == "heading"]
    expected = ["Goal", *(section.title for section in SECTIONS)]
    assert titles == ([shown(ledger.project)] if ledger.project else []) + expected
    entries = list(ledger.entries())
    assert len(items(tokens)) == len(entries)
    for item, entry in zip(items(tokens), entries, strict=True):
        fields = [name for name in entry.section.fields if getattr(entry, name)]
        assert len(items(item["children"])) == len(fields)
    html = [token for token in tokens if token["type"] == "block_html"]
    assert len(html) == 1
    assert html[0]["raw"].startswith("<!-- throughLine ledger, version 1-a.")
