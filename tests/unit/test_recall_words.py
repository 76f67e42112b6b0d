"""Tokens, queries, ranking and packing of recall, without a file."""

import pytest

from throughline_nb.ledger.fence import tokens as estimate
from throughline_nb.store.recall.packing import FIRST, Passage, excerpt, lines, pack
from throughline_nb.store.recall.passages import ASKS, DATED, NUMBERED, TOOL, WORDS, flags, spans
from throughline_nb.store.recall.query import Vocabulary, similar, understand
from throughline_nb.store.recall.ranking import Candidate, Corpus, ranked
from throughline_nb.store.recall.stem import stem
from throughline_nb.store.recall.tokens import fold, tokens


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("v0.4.26 is out", "0.4.26"),
        ("0.4.26 is out", "v0.4.26"),
        ("a limit of 1,500 rows", "1500"),
        ("a limit of 1500 rows", "1 500"),
        ("eine Grenze von 1.500 Zeilen", "1,500"),
        ("call getUserName first", "getusername"),
        ("call getUserName first", "user name"),
        ("the file max_batch_size", "maxBatchSize"),
        ("Q4_K_M weights", "q4_k_m"),
        ("needs 8GB", "8 GB"),
        ("needs 8 GB", "8GB"),
        (r"in C:\data\run_7.csv", "run_7.csv"),
        ("see https://docs.example.org/guide/install", "docs.example.org"),
        ("die Straße", "STRASSE"),
        ("Işık", "isik"),
        ("smørrebrød", "smorrebrod"),
        ("a naïve café", "naive cafe"),
        ("設定は東京です", "東京"),
        ("한국어 문장을 쓴다", "문장"),
        ("written in C++", "c++"),
        ("done ✅ at last", "✅"),
        ("the 🎉 emoji", "🎉"),
        ("контекстное Окно", "окно"),
        ("the user's runs", "run"),
        ("ｆｕｌｌ ｗｉｄｔｈ", "full width"),
    ],
)
def test_what_is_written_one_way_is_found_another_way(written, asked):
    assert set(tokens(asked, query=True)) & set(tokens(written))
    assert set(tokens(asked, query=True))


@pytest.mark.parametrize("near", ["0.4.27", "0.5.26", "10.4.26"])
def test_a_version_in_one_piece_is_no_other(near):
    assert "0426" in tokens("v0.4.26")
    assert "0426" not in tokens(near)


@pytest.mark.parametrize(
    ("word", "expected"),
    [  # from the paper's own examples
        ("caresses", "caress"),
        ("ponies", "poni"),
        ("cats", "cat"),
        ("agreed", "agre"),
        ("feed", "feed"),
        ("plastered", "plaster"),
        ("motoring", "motor"),
        ("sing", "sing"),
        ("conflated", "conflat"),
        ("hopping", "hop"),
        ("falling", "fall"),
        ("filing", "file"),
        ("happy", "happi"),
        ("sky", "sky"),
        ("relational", "relat"),
        ("vietnamization", "vietnam"),
        ("triplicate", "triplic"),
        ("hopefulness", "hope"),
        ("revival", "reviv"),
        ("adoption", "adopt"),
        ("probate", "probat"),
        ("rate", "rate"),
        ("controll", "control"),
        ("roll", "roll"),
    ],
)
def test_stems_are_porters(word, expected):
    assert stem(word) == expected


def test_folding_is_stable():
    for text in ("Ärger İstanbul ŒUVRE ﬁn", "ǅ ß ẞ", "Ελλάς"):
        assert fold(fold(text)) == fold(text)


@pytest.mark.parametrize(
    "text",
    ["", "word", "word " * 1000, "x" * 5000, "東京" * 900, "a\n" * 500, "  padded  ", "a" * 1201],
)
def test_passages_are_the_whole_text_in_order(text):
    found = list(spans(text))
    assert "".join(text[a:b] for a, b in found) == text
    assert all(len(text[a:b].split()) <= WORDS * 1.25 and b > a for a, b in found)
    if len(found) > 1:  # and it can be gone on with from any of them
        assert list(spans(text, found[1][0])) == found[1:]


def test_flags():
    assert flags("Which port is it?", tool=False) == ASKS
    assert flags("On Tuesday it was 14:30", tool=True) & (DATED | NUMBERED | TOOL) == 22


def vocabulary(*words):
    return Vocabulary(
        words.count,
        lambda start: [word for word in dict.fromkeys(words) if word.startswith(start)],
        lambda _: dict.fromkeys(words),
    )


@pytest.mark.parametrize(
    ("asked", "role"),
    [
        ("what did I say about ports", "user"),
        ("what did you say about ports", "assistant"),
        ("what did I say that you denied of ports", ""),
        ("the ports", ""),
        ("what did the assistant say about ports", "assistant"),
    ],
)
def test_a_query_names_a_role(asked, role):
    query = understand(asked, ["user", "assistant", "tool"], vocabulary("port"))
    assert query.role == role
    assert [group.token for group in query.groups][-1] == "port"


def test_variants_share_a_beginning_and_a_typo_looks_alike():
    words = vocabulary("quantis", "quantization", "quantum", "korvex", "port4711")
    query = understand("quantisation korvax", [], words)
    assert [v.token for v in query.groups[0].variants] == ["quantis"] or {
        v.token for v in query.groups[0].variants
    } >= {"quantis"}
    assert [(v.token, v.weight) for v in query.groups[1].variants] == [("korvex", 0.6)]
    assert understand("port4712", [], words).groups[-1].token == "port4712"
    assert not understand("port4712", [], words).groups[-1].variants  # a figure is never guessed
    assert similar("korvex", ["korvexes", "zebra"]) == ["korvexes"]


def candidate(ident, text, role="user", session=1, flag=0):
    return Candidate(
        ident, ident, role, None, flag, session, len(text.split()), f" {' '.join(tokens(text))} "
    )


def order(asked, found, sessions=None, roles=("user", "assistant")):
    by_id = {each.id: each for each in found}
    words = [token for each in found for token in set(each.tokens.split())]
    query = understand(asked, roles, vocabulary(*words))
    matching = [
        each
        for each in found
        if any(f" {v.token} " in each.tokens for g in query.groups for v in g.variants)
    ]
    numbers = [ident for ident in by_id if ident > 0]
    corpus = Corpus(
        len(found),
        5.0,
        sessions or {1: (min(numbers), max(numbers), 100)},
        lambda ids: [by_id[ident] for ident in ids if ident in by_id],
    )
    return [ident for _, ident in ranked(query, matching, corpus)]


def test_the_answer_beside_the_question_is_brought_up():
    found = [
        candidate(1, "let us talk about lunch"),
        candidate(2, "which port does korvex listen on", flag=ASKS),
        candidate(3, "8471 it is", "assistant"),
        candidate(4, "and the weather is fine"),
        candidate(9, "korvex"),
    ]
    assert 3 in order("korvex port", found)[:3]


def test_neighbours_stay_in_their_session_and_tools_have_none():
    found = [
        candidate(1, "korvex listens", session=1),
        candidate(2, "nothing here", session=2),
        candidate(-1, "korvex page", "tool", 0, TOOL),
    ]
    sessions = {1: (1, 1, 10), 2: (2, 2, 10)}
    assert set(order("korvex", found, sessions)) == {1, -1}


def test_the_role_that_is_meant_comes_first():
    found = [candidate(1, "the port is 1", "user"), candidate(9, "the port is 2", "assistant")]
    sessions = {1: (1, 1, 9), 2: (9, 9, 9)}
    found[1].session = 2
    assert order("what did I say about the port", found, sessions)[0] == 1
    assert order("what did you say about the port", found, sessions)[0] == 9
    assert order("port", found, sessions)[0] == 9  # the newest among equals


def passage(turn, text, **fields):
    return Passage(turn, fields.pop("role", "user"), fields.pop("time", None), text, 1.0, **fields)


def test_packing_keeps_the_budget_with_headers():
    found = [passage(n, f"Sentence {n} on ports. " * 30, time=1e9 + 90 * n) for n in range(99)]
    for budget in (100, 500, 1500):
        taken = pack(found, ["ports"], budget)
        assert taken
        assert estimate("\n".join(lines(taken))) <= budget


def test_a_tools_output_is_given_once_and_at_most_two_of_a_turn():
    found = [passage(1, f"page part {n}", role="tool", tool="fetch") for n in range(4)]
    found += [passage(2, "page part 0", role="tool", tool="fetch"), passage(3, "page part 0")]
    assert [(p.turn, p.text) for p in pack(found, [], 1500)] == [
        (1, "page part 0"),
        (1, "page part 1"),
        (3, "page part 0"),
    ]


def test_an_excerpt_keeps_the_sentences_that_answer():
    text = "It rained all day. " * 9 + "The port is 8471. " + "We had soup. " * 9
    assert excerpt(text, frozenset({"port"}), 120) == "The port is 8471."
    unbroken = excerpt("x" * 900 + " port " + "y" * 900, frozenset({"port"}), 120)
    assert " port " in unbroken
    assert len(unbroken) <= 122
    assert excerpt(text, frozenset({"port"}), len(text)) == text


def test_the_first_passages_are_shown_at_length_and_later_ones_briefly():
    text = "The port is 8471. " + "It rained all day. " * 12
    shown = [p.text for p in pack([passage(n, text) for n in range(1, 13)], ["port"], 1500)]
    assert shown == [text.strip()] * FIRST + ["The port is 8471."] * (12 - FIRST)
    long = "The port is 8471. " + "It rained all day. " * 40
    assert [p.text for p in pack([passage(1, long)], ["port"], 1500)] == ["The port is 8471."]


def test_the_time_stands_once_for_what_shares_it():
    shown = lines([passage(1, "a", time=1e9), passage(2, "b", time=1e9), passage(3, "c")])
    assert shown == ["2001-09-09:", "[1 user 01:46] a", "[2 user 01:46] b", "[3 user] c"]
    before = lines([passage(1, "a", time=1e9, before=True)])
    assert before[0] == "before 2001-09-09 01:46 UTC:"
