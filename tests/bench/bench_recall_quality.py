"""The share of the evidence that recall finds, against peers over the same passages."""

import statistics

import msgspec
import pytest

from .figures import Measured
from .recall_quality import measure, total

PEERS = {"overlap": "word overlap", "fts5": "FTS5 porter", "rank": "rank_bm25", "bm25s": "bm25s"}


@pytest.mark.parametrize("tools", [False, True], ids=["plain", "tools"])
def test_evidence(benchmark, tools):
    scores = {}
    benchmark.pedantic(lambda: scores.update(measure(tools=tools)), rounds=1)
    names = {chat for chat, _, _ in scores}
    for short, peer in PEERS.items():
        for held, suffix in ((None, ""), (True, "-held")):
            ratios = []
            for chat in names:
                one = {key: score for key, score in scores.items() if key[0] == chat}
                mine, theirs = total(one, "recall", held), total(one, peer, held)
                ratios.append(theirs.share / mine.share)
            mine, theirs = total(scores, "recall", held), total(scores, peer, held)
            key = f"evidence-{short}{'-tools' if tools else ''}{suffix}"
            measured = Measured(
                key=key,
                ratio=theirs.share / mine.share,
                spread=statistics.pstdev(ratios),
                subject=theirs.share * 100,
                peer=mine.share * 100,
                rounds=len(mine.found),
            )
            benchmark.extra_info[key] = msgspec.to_builtins(measured)
