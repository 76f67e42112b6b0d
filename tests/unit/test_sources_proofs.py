"""What a chat's history proves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.chat import Message
from throughline_nb.ledger.fence import without_blocks
from throughline_nb.ledger.figures import figures
from throughline_nb.ledger.proofs import failed, proofs_of
from throughline_nb.ledger.sources import index

TOOLS = ("read_webpage", "visit_website", "fetch", "fetch_url")
URL = "https://example.org/a"
PAGE = "Context: the default context is 4,096 tokens.\n" * 3


def turn(*calls, number=1, user="hello"):
    """A turn: the user's text, then (tool, arguments, result) with a text or a dict of fields."""
    messages = [Message(turn=number, role="user", text=user)]
    for at, (tool, args, result) in enumerate(calls):
        ident = f"{number}:{at}"
        fields = result if isinstance(result, dict) else {"text": result}
        messages += [
            Message(turn=number, role="assistant", tool=tool, args=args, call_id=ident),
            Message(turn=number, role="tool", tool=tool, call_id=ident, **fields),
        ]
    return messages


def proved(*calls, kind="url", **fields):
    proofs = proofs_of(turn(*calls, **fields), TOOLS)
    return {proof.key: proof for proof in proofs if proof.kind == kind}


def as_parts(text):
    return json.dumps([{"type": "text", "text": text}])


class TestPages:
    @pytest.mark.parametrize("tool", [*TOOLS, "mcp__web__fetch", "web/fetch", "Fetch"])
    def test_a_page_reading_tools_argument_is_proved(self, tool):
        found = proved((tool, {"url": URL + "/?utm_source=x#top"}, PAGE))
        assert list(found) == [URL]
        assert found[URL].figures == figures(PAGE)
        assert found[URL].turn == 1

    @pytest.mark.parametrize("tool", ["web_search", "search", "prefetch", "fetch_all", "python"])
    def test_another_tools_is_not(self, tool):
        assert proved((tool, {"url": URL}, f"1. {URL}")) == {}

    @pytest.mark.parametrize(
        "args",
        [
            {"url": URL},
            {"urls": [URL]},
            {"input": {"page_url": URL}},
            {"uri": f"<{URL}>"},
            {"URL": "example.org/a"},
            {"query": f"summarise {URL}."},
        ],
    )
    def test_wherever_it_stands_in_the_arguments(self, args):
        assert list(proved(("fetch", args, PAGE))) == [URL]

    def test_a_url_in_a_question_about_the_page_is_not_one_that_was_read(self):
        args = {"url": URL, "prompt": "compare with https://example.org/b"}
        assert list(proved(("fetch", args, PAGE))) == [URL]

    @pytest.mark.parametrize("wrap", [str, json.dumps, as_parts, lambda t: as_parts(json.dumps(t))])
    def test_a_result_in_any_wrapping(self, wrap):
        found = proved(("fetch", {"url": URL}, wrap(PAGE)))
        assert found[URL].figures == figures(PAGE)

    @pytest.mark.parametrize(
        "wrap",
        [
            json.dumps,
            lambda page: as_parts(json.dumps(page)),
            lambda page: json.dumps(json.dumps(page)),
        ],
    )
    def test_the_page_that_a_result_names_is_proved_and_its_links_are_not(self, wrap):
        page = {
            "url": "https://example.org/final",
            "title": "T 7",
            "links": [["other", "https://example.org/other"]],
            "content": "4\u00a0096 and https://example.org/third",
        }
        found = proved(("visit_website", {"url": URL}, wrap(page)))
        assert sorted(found) == [URL, "https://example.org/final"]
        assert {"4096", "7"} <= set(found[URL].figures)

    @pytest.mark.parametrize(
        "head",
        [
            "Contents of https://example.org/b:\n",
            "URL: https://example.org/b\n",
            "Title: T\n\nURL Source: https://example.org/b\n\nMarkdown Content:\n",
            "# Title\n**Source:** https://example.org/b\n",
        ],
    )
    def test_also_in_the_first_lines_of_a_text(self, head):
        assert "https://example.org/b" in proved(("fetch", {"id": 3}, head + PAGE))

    def test_a_link_further_down_is_not_a_page_that_was_read(self):
        assert list(
            proved(("fetch", {"url": URL}, PAGE * 5 + "Source: https://example.org/b"))
        ) == [URL]

    def test_of_several_pages_each_has_its_own_figures_and_a_failed_one_is_none(self):
        pages = {
            "results": [
                {"url": URL, "content": "4,096"},
                {"url": "https://example.org/b", "content": "8,192"},
                {"url": "https://example.org/c", "error": "timed out"},
            ]
        }
        urls = [f"https://example.org/{name}" for name in "abc"]
        found = proved(("fetch", {"urls": urls}, json.dumps(pages)))
        assert sorted(found) == urls[:2]
        assert "8192" not in found[URL].figures
        assert "8192" in found["https://example.org/b"].figures

    def test_a_list_of_search_results_names_no_page(self):
        hits = [{"url": URL, "title": "a"}, {"url": URL + "b", "snippet": "b"}]
        assert proved(("fetch", {"query": "a"}, json.dumps(hits))) == {}


class TestFailures:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "  \n",
            "404",
            "404 Not Found",
            "HTTP 404",
            "HTTP/1.1 503 Service Unavailable",
            "Status code: 403",
            "Error: getaddrinfo ENOTFOUND example.org",
            "Error fetching the page",
            "ERROR",
            "Failed to fetch https://example.org/a",
            "Could not open the page.",
            "Unable to read: robots.txt forbids it",
            "Request timed out",
            "Timeout after 30 s",
            "Access denied",
            "net::ERR_NAME_NOT_RESOLVED",
            "<error>no such page</error>",
            "Traceback (most recent call last):\n  File",
            '{"error": "not found"}',
            '{"success": false, "content": ""}',
            '{"status": 404, "content": "Not found"}',
            '{"isError": true}',
            '[{"type": "text", "text": "Error: no"}]',
            '"Error: no"',
            "Just a moment...\n" + "x " * 1000,
            "404 Not Found\n" + "menu " * 1000,
            "# Page not found\n" + "menu " * 1000,
        ],
    )
    def test_prove_nothing(self, text):
        assert proved(("fetch", {"url": URL}, text)) == {}

    def test_as_the_host_marks_them(self):
        assert proved(("fetch", {"url": URL}, {"text": PAGE, "failed": True})) == {}

    def test_a_call_without_a_result_proves_no_page(self):
        call = Message(turn=1, role="assistant", tool="fetch", args={"url": URL}, call_id="1")
        assert [proof.kind for proof in proofs_of([call], TOOLS)] == ["turn"]

    @pytest.mark.parametrize(
        "text",
        [
            "Errors in Go are values. " * 40,
            "Error handling\n\n" + "In Go, errors are values. " * 40,
            "404 ways to cook rice: number one is boiling.",
            "500 tokens a second were measured.",
            "Timeouts\n" + "A timeout is a limit. " * 40,
            '{"error": null, "url": "https://example.org/a", "content": "x"}',
            '{"status": 200, "content": "x"}',
            '{"status": "ok", "content": "x"}',
        ],
    )
    def test_a_page_about_failures_is_a_page(self, text):
        assert list(proved(("fetch", {"url": URL}, text))) == [URL]
        assert not failed(Message(turn=1, role="tool", text=text))


class TestCalls:
    def test_results_without_ids_belong_to_the_next_call_of_their_tool(self):
        messages = [
            Message(turn=1, role="assistant", tool="fetch", args={"url": URL}),
            Message(turn=1, role="assistant", tool="fetch", args={"url": f"{URL}b"}),
            Message(turn=1, role="tool", tool="fetch", text="Error: no"),
            Message(turn=1, role="tool", tool="fetch", text="5 pages"),
        ]
        proofs = index(proofs_of(messages, TOOLS))
        assert URL not in proofs
        assert proofs[f"{URL}b"].figures == ("5",)

    def test_a_result_of_another_turn_does_not_answer(self):
        messages = [
            Message(turn=1, role="assistant", tool="fetch", args={"url": URL}),
            Message(turn=2, role="tool", tool="fetch", text=PAGE),
        ]
        assert URL not in index(proofs_of(messages, TOOLS))


class TestFiles:
    @pytest.mark.parametrize(
        ("tool", "args"),
        [
            ("read_file", {"path": "src/X.py"}),
            ("open", {"file_path": "./src/x.py"}),
            ("view", {"target": "src\\x.py"}),
            ("shell", {"command": "head -3 src/x.py | wc"}),
            ("python", {"code": "with open('src/x.py') as f:\n    print(f.read())"}),
            ("search", {"paths": ["src/x.py", "b.md"]}),
        ],
    )
    def test_are_proved_when_any_call_names_them(self, tool, args):
        assert "src/x.py" in proved((tool, args, "n = 4096"), kind="file")

    def test_with_figures_where_the_tool_reads(self):
        assert proved(("read_file", {"path": "a.py"}, "n = 4096"), kind="file")["a.py"].figures == (
            "4096",
        )
        assert proved(("write_file", {"path": "a.py"}, "ok"), kind="file")["a.py"].figures is None

    def test_attached_ones_without(self):
        message = Message(turn=2, role="user", text="see file", files=("Report 7.pdf",))
        proof = index(proofs_of([message], TOOLS))["report 7.pdf"]
        assert (proof.kind, proof.turn, proof.figures) == ("file", 2, None)

    def test_not_when_the_call_failed(self):
        assert proved(("read_file", {"path": "a.py"}, "Error: no such file"), kind="file") == {}

    def test_a_url_is_no_file(self):
        assert proved(("open", {"path": "https://example.org/x.py"}, "x"), kind="file") == {}


class TestTurns:
    def test_show_the_figures_of_all_that_was_said_and_read(self):
        messages = [
            *turn(("web_search", {"query": "17"}, "found 18"), user="is it 16?"),
            Message(turn=1, role="assistant", text="it is 19"),
            Message(turn=2, role="user", text="20"),
        ]
        proofs = index(proofs_of(messages, TOOLS))
        assert proofs["turn 1"].figures == ("16", "18", "19")
        assert proofs["turn 2"].figures == ("20",)

    def test_but_not_of_what_throughline_put_there_itself(self):
        block = "[throughLine: background]\nProject | 4 of 9\n[end throughLine]"
        messages = turn(
            ("ledger_record", {"text": "it is 8,192"}, "F12 added: it is 8,192"),
            ("mcp__tl__ledger_view", {}, "F1: 77"),
            user=f"before 1\n\n{block}\nafter 2",
        )
        assert index(proofs_of(messages, TOOLS))["turn 1"].figures == ("1", "2")

    @pytest.mark.parametrize(
        "text",
        [
            "no block",
            "[throughLine: not closed\n5",
            "a line with [throughLine: in it\n[end throughLine]",
        ],
    )
    def test_what_is_no_block_stays(self, text):
        assert without_blocks(text) == text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
messages = st.builds(
    Message,
    turn=st.integers(1, 3),
    role=st.sampled_from(["user", "assistant", "tool", "system"]),
    text=st.text() | json_values.map(json.dumps),
    tool=st.sampled_from(["", "fetch", "read_file", "ledger_view"]),
    args=st.dictionaries(st.sampled_from(["url", "path", "x"]), json_values, max_size=2),
    call_id=st.sampled_from(["", "1", "2"]),
    files=st.lists(st.text(min_size=1), max_size=1).map(tuple),
)


@given(st.lists(messages, max_size=6))
def test_any_history_is_read(history):
    proofs = proofs_of(history, TOOLS)
    assert {p.key for p in proofs if p.kind == "turn"} == {f"turn {m.turn}" for m in history}
    assert len(set(proofs)) == len(proofs)


def test_deeply_nested_results_are_read():
    text = "[" * 5000 + "]" * 5000
    assert proofs_of(turn(("fetch", {"url": URL}, text)), TOOLS)
