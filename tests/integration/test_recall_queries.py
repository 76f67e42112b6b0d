"""Queries of any length, down to a single character: bounded in time, and complete in what they find."""

import random
import time

import pytest

from throughline_nb.chat import Message
from throughline_nb.store.recall import Recall
from throughline_nb.store.recall.tokens import tokens

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def said(turn, text):
    return Message(turn=turn, role="user", text=text)


def random_words(count, letters=LETTERS, seed=1):
    rnd = random.Random(seed)
    return " ".join("".join(rnd.choice(letters) for _ in range(7)) for _ in range(count))


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """An index with 10,000 different words."""
    recall = Recall(tmp_path_factory.mktemp("large") / "chat")
    recall.append([said(n, random_words(500, seed=n)) for n in range(1, 21)])
    recall.append([said(21, "The Korvex server listens on port 8471.")])
    yield recall
    recall.close()


LONG = {
    "words that stand nowhere": random_words(2000, seed=99),
    "words that stand there": random_words(500, seed=3) * 10,
    "words that look alike": " ".join(w[:-1] + "q" for w in random_words(1500, seed=4).split()),
    "a compound": "a1.b2." * 8000,
    "camel case": "getUserName" * 5000,
    "a path": "/usr/lib/x" * 5000,
    "one word": "a" * 100_000,
    "figures": "1 500 000,25 " * 5000,
    "apostrophes": "it's l'eau " * 5000,
    "Japanese": "既定のコンテキスト長は何トークンですか" * 3000,
    "Korean": "서버는 어느 포트를 쓰나요 " * 3000,
    "accents": "Größenänderungsgeschwindigkeit " * 3000,
    "emoji": "🎉🚀 " * 5000,
    "line breaks": "\n" * 100_000,
    "quotes": '" OR "' * 10_000,
}


@pytest.mark.parametrize("kind", LONG)
def test_a_long_query_takes_no_longer_than_a_long_question(large, kind):
    large.search("which port")
    begin = time.process_time()
    large.search(LONG[kind])
    large.nearest(LONG[kind])
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("kind", LONG)
def test_what_a_long_query_begins_with_is_found(large, kind):
    found = large.search(f"\n\n   Which port does Korvex listen on? {LONG[kind]}")
    assert 21 in [passage.turn for passage in found]


def test_a_typo_is_seen_after_many_characters_without_words(large):
    found = large.search("既定のコンテキスト長は何トークンですかと聞いたら korvax")
    assert [passage.turn for passage in found][:1] == [21]


@pytest.mark.parametrize("chunk", ["a1.b2." * 20_000, "aB" * 40_000, "a-" * 40_000])
def test_a_compound_is_taken_apart_in_linear_time(chunk):
    begin = time.process_time()
    tokens(chunk)
    assert time.process_time() - begin < 2


@pytest.mark.parametrize(
    ("character", "texts"),
    [
        ("猫", [f"猫{chr(0x3042 + n)}の話" for n in range(60)]),
        ("犬", [f"白い犬{chr(0x4E00 + 7 * n)}だ" for n in range(60)]),
        ("밤", [f"밤{chr(0xAC00 + 28 * n)} 이야기" for n in range(60)]),
        ("น", [f"น{chr(0x0E01 + n)}เรื่อง" for n in range(40)]),
    ],
)
def test_one_character_is_found_whatever_follows_it(tmp_path, character, texts):
    recall = Recall(tmp_path / "chat")
    recall.append([said(n, text) for n, text in enumerate(texts, 1)])
    found = {p.turn for p in recall.search(character, 20_000) if character in p.text}
    assert found == set(range(1, len(texts) + 1))
    recall.close()
