"""Sources as they are written, URLs as they are compared, and the states that proofs give."""

import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from throughline_nb.ledger import Entry
from throughline_nb.ledger.figures import figures
from throughline_nb.ledger.sources import Proof, check, file_key, index, parse, same_source
from throughline_nb.ledger.urls import normalise_url, urls_in

TABLE = Path(__file__).parents[1] / "data" / "urls.tsv"
URLS = [
    line.split("\t")
    for line in TABLE.read_text(encoding="utf-8").split("\n")
    if line and not line.startswith("#")
]
replace = msgspec.structs.replace


@pytest.mark.parametrize(("same", "one", "other"), URLS)
def test_urls_are_compared_normalised(same, one, other):
    assert (normalise_url(one) == normalise_url(other)) is (same == "same")


@pytest.mark.parametrize("url", [url for _, *pair in URLS for url in pair])
def test_a_normalised_url_is_normal(url):
    assert normalise_url(normalise_url(url)) == normalise_url(url)


@given(st.text())
def test_any_text_after_a_scheme_is_normalised_once(text):
    once = normalise_url(f"https://example.org/{text}")
    assert normalise_url(once) == once
    normalise_url(text)


@pytest.mark.parametrize("url", ["https://[::1", "https://example.org:99999999/a", "mailto:x", ""])
def test_what_is_no_url_stays(url):
    assert normalise_url(url) == url


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see https://example.org/a.", ["https://example.org/a"]),
        ("(https://example.org/a_(b))", ["https://example.org/a_(b)"]),
        (
            "<https://example.org/a> and http://b.example/?x=1,",
            ["https://example.org/a", "http://b.example/?x=1"],
        ),
        ("詳細はhttps://example.org/a。", ["https://example.org/a"]),
        ("詳細は https://example.org/a）を", ["https://example.org/a"]),
        ("**https://example.org/a**", ["https://example.org/a"]),
        ('"https://example.org/a"', ["https://example.org/a"]),
        ("https:// and http://", []),
        ("xhttps://example.org", []),
    ],
)
def test_urls_in_running_text(text, found):
    assert list(urls_in(text)) == found


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("https://example.org/a", "url", "https://example.org/a"),
        ("<https://example.org/a>", "url", "https://example.org/a"),
        ("`https://example.org/a`", "url", "https://example.org/a"),
        ("[the docs](https://example.org/a)", "url", "https://example.org/a"),
        ('[the docs](<https://example.org/a_(b)> "title")', "url", "https://example.org/a_(b)"),
        ("Source: https://example.org/a", "url", "https://example.org/a"),
        ("URL: <https://example.org/a>", "url", "https://example.org/a"),
        ("(https://example.org/a)", "url", "https://example.org/a"),
        ("https://example.org/a, section 3", "url", "https://example.org/a, section 3"),
        ("example.org/docs/a", "url", "https://example.org/docs/a"),
        ("www.example.org", "url", "https://www.example.org"),
        ("user", "user", "user"),
        ("User", "user", "user"),
        ("the user", "user", "user"),
        ("user said", "user", "user"),
        ("The user told me.", "user", "user"),
        ("stated by the user", "user", "user"),
        ("user message, turn 3", "user", "user"),
        ("User (turn 12)", "user", "user"),
        ("der Nutzer", "user", "user"),
        ("l'utilisateur", "user", "user"),
        ("el usuario", "user", "user"),
        ("ユーザー", "user", "user"),
        ("turn 41", "turn", "turn 41"),
        ("Turn #41", "turn", "turn 41"),
        ("turn#41", "turn", "turn 41"),
        ("in turn 41", "turn", "turn 41"),
        ("TURN: 041", "turn", "turn 41"),
        ("[turn 41]", "words", "[turn 41]"),
        ("(turn 41)", "turn", "turn 41"),
        ("turn 41 of lmstudio/17", "turn", "turn 41 of lmstudio/17"),
        ("turns 41 and 43", "turn", "turns 41 and 43"),
        ("cell 3f9a of notebook/analysis.ipynb", "cell", "cell 3f9a of notebook/analysis.ipynb"),
        ("Cell [5]", "cell", "cell 5"),
        ("In[5]", "cell", "cell 5"),
        ("src/x.py", "file", "src/x.py"),
        ("./src/x.py", "file", "./src/x.py"),
        ("file: src/x.py", "file", "src/x.py"),
        ("File src/x", "file", "file: src/x"),
        ("`src/x.py`", "file", "src/x.py"),
        ("src/x.py:12", "file", "src/x.py:12"),
        ("src/x.py, lines 3-9", "file", "src/x.py, lines 3-9"),
        ("C:\\data\\a b.csv", "file", "C:\\data\\a b.csv"),
        ("\\\\server\\share\\a.csv", "file", "\\\\server\\share\\a.csv"),
        ("file:///C:/data/a.csv", "file", "file:///C:/data/a.csv"),
        ("~/notes.md", "file", "~/notes.md"),
        ("/etc/hosts", "file", "/etc/hosts"),
        ("README.md", "file", "README.md"),
        ("Annual report 2025.pdf", "file", "Annual report 2025.pdf"),
        ("report.pdf, page 3", "file", "report.pdf, page 3"),
        ("", "none", ""),
        ("-", "none", ""),
        ("None", "none", ""),
        ("n/a", "none", ""),
        ("unknown", "none", ""),
        ("RFC 9110", "words", "RFC 9110"),
        ("the official documentation", "words", "the official documentation"),
        ("user guide", "words", "user guide"),
        ("users of the API", "words", "users of the API"),
        ("e.g. a talk", "words", "e.g. a talk"),
        ("turn of the century", "words", "turn of the century"),
        ("v0.4.26", "words", "v0.4.26"),
    ],
)
def test_a_source_is_read_as_models_write_it(text, kind, value):
    source = parse(text)
    assert (source.kind, str(source)) == (kind, value)
    assert (kind in ("words", "none")) is (source.keys == ())
    assert parse(str(source)) == source


@given(st.text())
def test_any_source_is_read_and_read_again(text):
    source = parse(text)
    assert parse(str(source)).kind == source.kind
    assert parse(str(source)).keys == source.keys


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://example.org/a", "<http://example.org/a/>", True),
        ("turn 41", "Turn #41", True),
        ("the user", "user", True),
        ("./src/x.py", "src\\x.py", True),
        ("RFC 9110", "rfc 9110", True),
        ("", "none", True),
        ("https://example.org/a", "https://example.org/b", False),
        ("turn 41", "turn 42", False),
        ("user", "turn 41", False),
        ("", "user", False),
    ],
)
def test_sources_are_compared_however_they_are_spelt(one, other, same):
    assert same_source(one, other) is same
    assert same_source(other, one) is same


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("./src/X.py", "src/x.py"),
        ("src\\X.py", "src/x.py"),
        ("src//x.py", "src/x.py"),
        ("src/./x.py", "src/x.py"),
        ("src/x.py:12-14", "src/x.py"),
        ("src/x.py#L3-L9", "src/x.py"),
        ("src/x.py lines 3-9", "src/x.py"),
        ("file:///home/a/x.py", "/home/a/x.py"),
        ("file:///C:/a/x.py", "c:/a/x.py"),
        ("\\\\server\\share", "//server/share"),
    ],
)
def test_paths_are_compared_however_they_are_spelt(path, key):
    assert file_key(path) == key


URL = "https://example.org/a"
READ = Proof("url", URL, 4, figures("context 4,096 in v0.4.26"))


def finding(**fields):
    given = {"id": "F1", "text": "context is 4,096", "source": URL, "state": "unverified"}
    return Entry(**(given | {"by": "model", "origin": "turn 4 of x/1"} | fields))


def checked(entry, *proofs, own_chat=True, turns=9):
    after = check(entry, index(proofs), own_chat=own_chat, turns=turns)
    return after.state, after.missing


class TestStates:
    def test_what_was_read_is_verified(self):
        assert checked(finding(), READ) == ("verified", "")

    def test_by_any_bound_chat(self):
        assert checked(finding(), READ, own_chat=False) == ("verified", "")
        assert checked(finding(state="not read"), READ, own_chat=False) == ("verified", "")

    def test_what_was_not_read_is_not_read(self):
        assert checked(finding()) == ("not read", "")

    @pytest.mark.parametrize(
        "where", [{"own_chat": False}, {"turns": 0}, {"turns": 3}], ids=["other", "none", "later"]
    )
    def test_only_in_the_chat_that_recorded_it_and_knows_the_turn(self, where):
        assert checked(finding(), **where) == ("unverified", "")

    def test_never_what_the_user_recorded(self):
        assert checked(finding(by="user")) == ("unverified", "")
        assert checked(finding(by="user"), READ) == ("verified", "")

    def test_what_the_user_says_is_verified_at_once(self):
        assert checked(finding(source="the user said"), turns=0) == ("verified", "")

    def test_without_a_source_nothing_is_verified(self):
        assert checked(finding(source="")) == ("unverified", "")
        assert checked(finding(source="the docs")) == ("unverified", "")
        assert checked(finding(source="", state="")) == ("unverified", "")

    def test_verified_stays(self):
        assert checked(finding(state="verified")) == ("verified", "")
        assert checked(finding(state="verified", missing="4,096")) == ("verified", "4,096")

    @pytest.mark.parametrize("state", ["retracted", "stale"])
    def test_what_does_not_count_stays(self, state):
        assert checked(finding(state=state), READ) == (state, "")

    def test_a_turn_is_verified_when_it_exists(self):
        turn = Proof("turn", "turn 3", 3, figures("4096"))
        assert checked(finding(source="turn 3"), turn) == ("verified", "")
        assert checked(finding(source="turn 8"), turn) == ("not read", "")

    def test_and_only_in_its_own_chat(self):
        turn = Proof("turn", "turn 3", 3, figures("4096"))
        assert checked(finding(source="turn 3"), turn, own_chat=False) == ("unverified", "")
        assert checked(finding(source="turn 3 of y/2"), turn) == ("unverified", "")
        assert checked(finding(source="turn 3 of x/1"), turn) == ("verified", "")

    def test_a_file_by_any_spelling_of_its_path(self):
        named = Proof("file", file_key("/home/a/project/src/x.py"), 2)
        assert checked(finding(source="./src/x.py"), named) == ("verified", "")
        assert checked(finding(source="C:\\other\\y.py"), named) == ("not read", "")

    def test_a_file_that_two_may_be_is_none_of_them(self):
        one, two = (Proof("file", f"{folder}/x.py", 2) for folder in "ab")
        assert checked(finding(source="x.py"), one, two) == ("not read", "")

    def test_of_two_urls_both_must_be_read(self):
        both = finding(source=f"{URL}, https://example.org/b")
        assert checked(both, READ) == ("not read", "")
        other = Proof("url", "https://example.org/b", 5, figures("8,192"))
        assert checked(replace(both, text="4,096 to 8,192"), READ, other) == ("verified", "")

    def test_a_cell_is_the_notebooks_to_verify(self):
        assert checked(finding(source="cell 3 of a.ipynb")) == ("unverified", "")

    def test_other_entries_stay(self):
        decision = Entry(id="D1", text="d")
        assert check(decision, {}, own_chat=True, turns=9) is decision

    def test_where_nothing_changed_it_is_the_same_object(self):
        entry = finding(state="verified")
        assert check(entry, index([READ]), own_chat=True, turns=9) is entry


class TestFigures:
    def test_what_the_page_does_not_show_is_named(self):
        claim = finding(text="context is 4,096, at most 8,192 since 0.4.26")
        assert checked(claim, READ) == ("verified", "8,192")

    def test_two_readings_count_together(self):
        claim = finding(text="4,096 to 8,192")
        more = Proof("url", URL, 6, figures("8,192"))
        assert checked(claim, READ, more) == ("verified", "")

    def test_without_the_text_nothing_is_said(self):
        named = Proof("file", "x.py", 2)
        assert checked(finding(source="x.py", text="8,192"), named) == ("verified", "")

    def test_a_figure_found_later_is_taken_off_and_none_is_put_on(self):
        named = finding(state="verified", missing="8,192; 7", text="4,096, 8,192, 7, 5")
        more = Proof("url", URL, 6, figures("8,192"))
        assert checked(named, READ, more, own_chat=False) == ("verified", "7")
        assert checked(replace(named, missing=""), READ) == ("verified", "")


def test_a_check_of_many_settled_findings_takes_no_time():
    entries = [
        finding(id=f"F{n}", state="verified", source=f"https://example.org/{n}")
        for n in range(1000)
    ]
    proofs = index(Proof("url", f"https://example.org/{n}", 1, ("1",)) for n in range(1000))
    for entry in entries:
        check(entry, proofs, own_chat=True, turns=9)
    start = time.process_time()
    after = [check(entry, proofs, own_chat=True, turns=9) for entry in entries]
    assert time.process_time() - start < 0.2
    assert all(one is other for one, other in zip(entries, after, strict=True))


@pytest.mark.parametrize(
    "path",
    ["site/landing-page.html", "book/section 3.md", "p.5.txt", "my page 3.pdf", "the line.csv"],
)
def test_a_file_named_like_a_place_in_a_file_keeps_its_name(path):
    assert file_key(path) == path
