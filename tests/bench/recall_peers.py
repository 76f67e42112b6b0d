"""What recall is compared with: word overlap, rank_bm25, bm25s, and SQLite's FTS5 alone."""

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final

from throughline_nb.ledger.fence import tokens as estimate
from throughline_nb.store.recall.tokens import STOP

Ranker = Callable[[str, int], list[int]]
"""A query and a count give the numbers of so many texts, best first."""

FEW: Final = 100


def words(text: str) -> list[str]:
    """Plain words in lower case."""
    return re.findall(r"\w+", text.lower())


def overlap(texts: Sequence[str]) -> Ranker:
    """How many different words of the query stand in the text; the newest first among equals."""
    sets = [frozenset(words(text)) for text in texts]

    def rank(query: str, count: int) -> list[int]:
        asked = frozenset(words(query))
        scored = [(len(asked & found), at) for at, found in enumerate(sets)]
        return [at for score, at in sorted(scored, reverse=True)[:count] if score]

    return rank


def rank_bm25(texts: Sequence[str]) -> Ranker:
    """rank_bm25's BM25Okapi with its defaults, over plain words."""
    from rank_bm25 import BM25Okapi

    index = BM25Okapi([words(text) or ["-"] for text in texts])

    def rank(query: str, count: int) -> list[int]:
        scores = index.get_scores(words(query))
        return [int(at) for at in scores.argsort()[::-1][:count] if scores[at] > 0]

    return rank


def bm25s(texts: Sequence[str]) -> Ranker:
    """bm25s with its defaults, over its own tokens without English stop words."""
    import bm25s as library

    index = library.BM25()
    index.index(
        library.tokenize(list(texts), stopwords="en", show_progress=False), show_progress=False
    )

    def rank(query: str, count: int) -> list[int]:
        asked = library.tokenize(query, stopwords="en", show_progress=False)
        if not asked.vocab:
            return []
        found, scores = index.retrieve(asked, k=min(count, len(texts)), show_progress=False)
        return [int(at) for at, score in zip(found[0], scores[0], strict=True) if score > 0]

    return rank


def fts5(texts: Sequence[str], path: str = ":memory:") -> Ranker:
    """SQLite FTS5 alone: porter's stems, the query's words but for stop words, its own BM25."""
    db = sqlite3.connect(path)
    db.execute("CREATE VIRTUAL TABLE found USING fts5 (text, content='', tokenize='porter')")
    db.executemany("INSERT INTO found (rowid, text) VALUES (?, ?)", enumerate(texts))
    db.commit()

    def rank(query: str, count: int) -> list[int]:
        asked = [word for word in dict.fromkeys(words(query)) if word not in STOP]
        if not asked:
            return []
        match = " OR ".join(f'"{word}"' for word in asked)
        rows: Any = db.execute(
            "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT ?", (match, count)
        )
        return [row[0] for row in rows]

    return rank


def fill(
    order: Sequence[int], heads: Sequence[str], texts: Sequence[str], budget: int
) -> list[int]:
    """Whole texts, best first, as long as they fit with their headers, nine misses allowed."""
    taken, spent, misses = [], 0, 0
    for at in order:
        cost = estimate(f"{heads[at]} {' '.join(texts[at].split())}\n")
        if spent + cost > budget:
            misses += 1
            if misses >= 9:
                break
            continue
        spent += cost
        taken.append(at)
    return taken


PEERS: Final = {
    "word overlap": overlap,
    "rank_bm25": rank_bm25,
    "bm25s": bm25s,
    "FTS5 porter": fts5,
}
