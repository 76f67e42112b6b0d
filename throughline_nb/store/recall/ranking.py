"""Which passages answer a query best: BM25 of each, helped by its neighbours and its session.

An answer seldom repeats the words of the question, but it stands beside them. So a passage is
given a share of what its neighbours in the conversation scored, by words, and each word counts
half by its sum and half by its best. Passages of the conversation are numbered 1, 2, 3… without
gaps, those of tools -1, -2, -3…: the neighbours of a passage are the numbers beside its own, and
a tool's passage has none.
"""

import datetime as dt
import heapq
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from throughline_nb.store.recall.passages import ASKS, DATED, NAMED, NUMBERED
from throughline_nb.store.recall.query import Query
from throughline_nb.store.recall.tokens import tokens

K1: Final = 1.2
B: Final = 0.75
"""Okapi's usual share of length: answers of an assistant and pages of tools are long, and a few of
the words in a short message of a person say more."""

GIVERS: Final = 150
"""So many best passages give to their neighbours; with twice as many nothing more was found."""

KEPT: Final = 200
"""So many of the sums are looked at with their roles and flags."""

SHARES: Final = ((1, 0.7), (-1, 0.5), (2, 0.4), (-2, 0.2), (3, 0.2), (-3, 0.2), (4, 0.2), (-4, 0.1))
"""What a neighbour so many passages on gets of a passage's score."""

PRIOR: Final = 0.4
SESSION_B: Final = 0.75
_CAP: Final = 3


class Candidate(msgspec.Struct):
    """A passage as the index holds it; ``text`` has its tokens, with a space at either end."""

    id: int
    turn: int
    role: str
    time: float | None
    flags: int
    session: int
    length: int
    tokens: str


class Corpus(msgspec.Struct, frozen=True):
    """What scores depend on beside the candidates.

    Attributes:
        passages: How many there are.
        mean: Their mean length, in tokens.
        sessions: Per session its first and last conversation passage and its length in tokens.
        fetch: The passages with these numbers, for those that only their neighbours brought up.
    """

    passages: int
    mean: float
    sessions: Mapping[int, tuple[int, int, int]]
    fetch: Callable[[Sequence[int]], Sequence[Candidate]]


def idf(passages: int, found: int) -> float:
    """Inverse document frequency as in Lucene's BM25, never negative."""
    return math.log(1 + (passages - found + 0.5) / (found + 0.5))


def ranked(query: Query, found: Sequence[Candidate], corpus: Corpus) -> list[tuple[float, int]]:
    """Scores and numbers of passages, best first, the newest first among equals."""
    own = _own(query, found, corpus)
    by_id = {candidate.id: candidate for candidate in found}
    givers = heapq.nlargest(GIVERS, own.items(), key=lambda item: (sum(item[1].values()), item[0]))
    scores = _spread(givers, by_id, corpus)
    for number, priors in _priors(query, found, corpus).items():
        first, last, _ = corpus.sessions[number]
        for at in scores.keys() & range(first, last + 1):
            scores[at] += PRIOR * priors
    best = heapq.nlargest(KEPT, scores.items(), key=lambda item: (item[1], item[0]))
    absent = [at for at, _ in best if at not in by_id]
    by_id.update((candidate.id, candidate) for candidate in corpus.fetch(absent))
    final = [
        (score * _fits(query, by_id[at]), by_id[at].turn, at) for at, score in best if at in by_id
    ]
    return [(score, at) for score, _, at in sorted(final, reverse=True)]


def _own(query: Query, found: Sequence[Candidate], corpus: Corpus) -> dict[int, dict[int, float]]:
    """Per passage and word of the query, BM25 of the word's best variant."""
    scores: dict[int, dict[int, float]] = {}
    wanted = [
        (
            number,
            group.weight * idf(corpus.passages, sum(v.passages for v in group.variants[:1])),
            group.token,
            [
                (
                    f" {variant.token} ",
                    group.weight * variant.weight * idf(corpus.passages, variant.passages),
                )
                for variant in group.variants
            ],
        )
        for number, group in enumerate(query.groups)
    ]
    for candidate in found:
        text = candidate.tokens
        norm = K1 * (1 - B + B * candidate.length / corpus.mean)
        dated = date_words(candidate.time) if candidate.time is not None else frozenset()
        row = {}
        for number, date_weight, token, weighted in wanted:
            best = 0.0
            for variant, weight in weighted:
                if variant in text:
                    count = text.count(variant)
                    score = weight * count * (K1 + 1) / (count + norm)
                    best = max(best, score)
            if token in dated:
                best += date_weight
            if best:
                row[number] = best
        if row:
            scores[candidate.id] = row
    return scores


def _spread(
    givers: Sequence[tuple[int, dict[int, float]]],
    by_id: Mapping[int, Candidate],
    corpus: Corpus,
) -> dict[int, float]:
    """Give each passage its own score and its neighbours' shares."""
    sums: defaultdict[int, float] = defaultdict(float)  # passage and word in one number
    tops: dict[int, float] = {}
    scores: dict[int, float] = {}
    words = 1 + max((number for _, row in givers for number in row), default=0)
    for at, row in givers:
        if at < 0:
            scores[at] = sum(row.values())
            continue
        first, last, _ = corpus.sessions[by_id[at].session]
        near = [(0, 1.0), *(pair for pair in SHARES if first <= at + pair[0] <= last)]
        for number, score in row.items():
            key = at * words + number
            for distance, share in near:
                there = key + distance * words
                arrived = score * share
                sums[there] += arrived
                if arrived > tops.get(there, 0.0):
                    tops[there] = arrived
    for key, total in sums.items():
        at = key // words
        scores[at] = scores.get(at, 0.0) + (total + tops[key]) / 2
    return scores


def _priors(query: Query, found: Sequence[Candidate], corpus: Corpus) -> dict[int, float]:
    """BM25 of each session as one document, as far as its passages are among the candidates."""
    if len(corpus.sessions) < 2:
        return {}
    mean = sum(length for _, _, length in corpus.sessions.values()) / len(corpus.sessions)
    result: defaultdict[int, float] = defaultdict(float)
    for group in query.groups:
        best: dict[int, float] = {}
        for variant in group.variants:
            word = f" {variant.token} "
            counts: defaultdict[int, int] = defaultdict(int)
            for candidate in found:
                if candidate.id > 0 and word in candidate.tokens:
                    counts[candidate.session] += min(candidate.tokens.count(word), _CAP)
            weight = group.weight * variant.weight * idf(len(corpus.sessions), len(counts))
            for session, count in counts.items():
                length = corpus.sessions[session][2]
                norm = K1 * (1 - SESSION_B + SESSION_B * length / (mean or 1))
                score = weight * count * (K1 + 1) / (count + norm)
                best[session] = max(best.get(session, 0.0), score)
        for session, score in best.items():
            result[session] += score
    return result


def _fits(query: Query, candidate: Candidate) -> float:
    """What role, kind of question and flags multiply a score by."""
    flags = candidate.flags
    return (
        (2.0 if query.role and candidate.role == query.role else 1.0)
        * (1.3 if query.when and flags & DATED else 1.0)
        * (1.2 if query.count and flags & NUMBERED else 1.0)
        * (1.1 if query.who and flags & NAMED else 1.0)
        * (0.9 if flags & ASKS else 1.0)
    )


def date_words(time: float) -> frozenset[str]:
    """The words by which a day is named."""
    return _day_words(int(time // 86400))


@lru_cache(maxsize=4096)
def _day_words(day: int) -> frozenset[str]:
    try:
        date = dt.datetime.fromtimestamp(day * 86400, tz=dt.UTC)
    except (OverflowError, OSError, ValueError):
        return frozenset()
    return frozenset(tokens(f"{date:%A %d %B %Y} {date:%Y-%m-%d} {date.day}"))
