"""A search in a complete cache: from the query's text to the passages that are shown."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from throughline_nb.store.recall import journal
from throughline_nb.store.recall.cache import Cache, MisfitError
from throughline_nb.store.recall.indexing import searchable
from throughline_nb.store.recall.journal import Record
from throughline_nb.store.recall.packing import Passage, pack
from throughline_nb.store.recall.query import (
    UNKNOWN,
    Query,
    Vocabulary,
    bounded,
    similar,
    understand,
)
from throughline_nb.store.recall.ranking import Candidate, Corpus, ranked
from throughline_nb.store.recall.tokens import fold, tokens

CANDIDATES: Final = 200
_READ: Final = 2_500
"""Passages that FTS5 may have to score for a query: its rarest words up to this sum."""


def search(cache: Cache, history: Path, text: str, budget: int) -> list[Passage]:
    """The passages that answer a query best and fit into a budget of tokens."""
    state = cache.state
    if not state.passages:
        return []
    text = bounded(text)
    vocabulary = Vocabulary(cache.count, cache.beginning, cache.alike)
    query = understand(text, cache.roles(), vocabulary)
    found = candidates(cache, query)
    mean = max(1.0, state.length / state.passages)
    order = ranked(query, found, Corpus(state.passages, mean, cache.sessions(), cache.fetch))
    words = [fold(word) for word in re.findall(r"\w+", text) if tokens(word, query=True)]
    with history.open("rb") as file:
        return pack(_passages(cache, file, order), words, budget)


def candidates(cache: Cache, query: Query, limit: int = CANDIDATES) -> list[Candidate]:
    """The passages that are worth ranking: the best by the query's words and their variants."""
    every = {variant for group in query.groups for variant in group.variants}
    terms: list[str] = []
    read = 0
    for variant in sorted(every, key=lambda v: (v.passages, v.token)):
        read += variant.passages
        if len(terms) >= 2 and read > _READ:
            break
        terms.append(variant.token)
    return cache.best(terms, limit) if terms else []


def _passages(cache: Cache, file: Any, order: Iterable[tuple[float, int]]) -> Iterator[Passage]:
    """Passages with their texts, read when they are asked for."""
    read: dict[int, tuple[Record, str]] = {}
    for score, number in order:
        turn, at, size, start, stop = cache.place(number)
        if at not in read:
            file.seek(at)
            line = journal.decoded(file.read(size)) or Record()
            read[at] = line, searchable(line)
        record, text = read[at]
        if record.turn != turn or not record.role:
            raise MisfitError("a passage stands elsewhere")
        yield Passage(
            record.turn,
            record.role,
            record.time,
            text[start:stop].strip(),
            score,
            before=record.before,
            tool=record.tool,
        )


def nearest(cache: Cache, text: str, limit: int) -> list[str]:
    """The words of the history that look most like those of a query."""
    found: dict[str, None] = {}
    for token in list(dict.fromkeys(tokens(bounded(text), query=True)))[:UNKNOWN]:
        close = similar(token, cache.alike(token), 0.35)[:3]
        found.update(dict.fromkeys(word for word in close if cache.count(word)))
    return list(found)[:limit]
