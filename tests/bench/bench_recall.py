"""Recall's speed: what it adds to a turn, a query, a cold start, the first build."""

import json
import shutil

import msgspec
import pytest

from throughline_nb.engine.recalls import SLICE
from throughline_nb.store.recall import Recall
from throughline_nb.store.recall.passages import spans

from .chats import Stored
from .harness import CPU, WALL, Timed, alternate, report
from .recall_peers import PEERS, fts5, words

ROUNDS = 40
BUDGET = 1500
QUERIES = (
    "what do the release notes mention about the license?",
    "which page was checked for each of the runtimes?",
    "how many tokens does the default window hold?",
    "how do I restart the server with the local config?",
    "why not rely on the blog post?",
    "what happens when the prompt is longer than the window?",
    "did the documentation say anything on paged attention?",
)

pytestmark = pytest.mark.benchmark(timer=CPU)


def _built(folder, count):
    recall = Recall(folder / f"chat-{count}")
    recall.append(Stored(count))
    assert recall.complete
    return recall


class _Chat:
    """A chat that goes on: each turn brings two messages, as the engine hands them over."""

    def __init__(self, folder, count):
        self.recall = _built(folder, count)
        self.stored = Stored(count)
        self.turn = self.stored.turns

    def next(self):
        self.turn += 1
        pool = [self.stored[self.turn % 30 * 2], self.stored[self.turn % 30 * 2 + 1]]
        return [msgspec.structs.replace(each, turn=self.turn, tool="", args={}) for each in pool]

    def timed(self):
        return Timed(lambda new: self.recall.update(new, seconds=SLICE), self.next)


def _texts(count):
    return [message.text[a:b] for message in Stored(count) for a, b in spans(message.text)]


def _asked(action):
    """A timed query that is another one each round."""
    state = iter(range(10_000))
    return Timed(action, lambda: QUERIES[next(state) % len(QUERIES)])


def test_turn(benchmark, folder):
    chat = _Chat(folder, 3000)
    history = chat.recall.history

    def again(_):
        with history.open(encoding="utf-8") as lines:
            return sum(len(words(json.loads(line).get("text", ""))) for line in lines)

    assert again(None) > 200_000
    alternate(benchmark, chat.timed(), {"recall-turn": Timed(again)}, rounds=ROUNDS)
    assert chat.recall.complete
    assert chat.recall.last == chat.turn


def test_growth(benchmark, folder):
    long, short = _Chat(folder, 30_000), _Chat(folder, 3000)
    alternate(benchmark, long.timed(), {"recall-growth": short.timed()}, rounds=3 * ROUNDS)
    assert long.recall.complete


@pytest.mark.parametrize("count", [3000, 30_000])
def test_query(benchmark, folder, count):
    recall = _built(folder, count)
    texts = _texts(count)
    rank = fts5(texts, str(folder / f"fts-{count}.sqlite"))
    peers = {f"recall-query-{count}": _asked(lambda query: rank(query, 30))}
    if count == 3000:
        made = {name: make(texts) for name, make in PEERS.items() if name != "FTS5 porter"}
        for name, key in (("rank_bm25", "recall-rank-bm25"), ("bm25s", "recall-bm25s")):
            peers[key] = _asked(lambda query, rank=made[name]: rank(query, 30))
        overlap = PEERS["word overlap"]
        peers["recall-overlap"] = _asked(lambda query: overlap(texts)(query, 30))
    alternate(benchmark, _asked(lambda q: recall.search(q, BUDGET)), peers, rounds=ROUNDS)
    assert all(recall.search(query, BUDGET) for query in QUERIES)


@pytest.mark.parametrize("count", [3000, 30_000])
def test_cold(benchmark, folder, count):
    recall = _built(folder, count)

    def cold(query):
        opened = Recall(recall.folder)
        assert opened.search(query, BUDGET)
        opened.close()

    warm = _asked(lambda query: recall.search(query, BUDGET))
    alternate(benchmark, _asked(cold), {f"recall-cold-{count}": warm}, rounds=ROUNDS)


def test_build(benchmark, folder):
    messages = list(Stored(3000))
    texts = [message.text for message in messages]

    def build(_):
        recall = Recall(folder / "built")
        recall.append(messages)
        recall.close()

    def clear():
        shutil.rmtree(folder / "built", ignore_errors=True)

    peer = Timed(lambda _: PEERS["bm25s"](texts))
    alternate(benchmark, Timed(build, clear), {"recall-build": peer}, rounds=5)


@pytest.mark.benchmark(timer=WALL)
def test_slices(benchmark, folder):
    """The longest of the slices of a first build, to the 20 ms that a turn may be held up."""
    messages = list(Stored(3000))
    longest = []

    def build():
        recall = Recall(folder / f"sliced-{len(longest)}")
        recall.append(messages, seconds=SLICE)
        times = []
        complete = False
        while not complete:
            begin = WALL()
            complete = recall.build(SLICE)
            times.append(WALL() - begin)
        recall.close()
        times.sort()
        longest.append(times[-max(1, len(times) // 50)])

    benchmark.pedantic(build, rounds=5)
    report(benchmark, "recall-slice", longest[-5:], [0.020] * 5)
