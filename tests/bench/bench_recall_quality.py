"""The share of the evidence that recall finds, against peers over the same passages."""

import statistics

import msgspec
import pytest

from .figures import PARTS, PEERS_OF, Measured
from .recall_quality import CLEAN, measure, total

PEERS = {"overlap": "word overlap", "fts5": "FTS5 porter", "rank": "rank_bm25", "bm25s": "bm25s"}
ONLY = {"": (None, None), "-held": (True, None), "-new": (True, CLEAN)}


@pytest.mark.parametrize("tools", [False, True], ids=["plain", "tools"])
def test_evidence(benchmark, tools):
    scores = {}
    benchmark.pedantic(lambda: scores.update(measure(tools=tools)), rounds=1)
    for kind, share in (("evidence", lambda s: s.share), ("reached", lambda s: s.reach)):
        for short in PEERS_OF[kind]:
            for suffix in PARTS[short]:
                held, only = ONLY[suffix]

                def both(chats, held=held, peer=PEERS[short], share=share):
                    mine, theirs = (total(scores, name, held, chats) for name in ("recall", peer))
                    return share(mine), share(theirs), len(mine.found)

                names = only or {chat for chat, _, _ in scores}
                apart = [both(frozenset({chat})) for chat in names]
                mine, theirs, count = both(only)
                key = f"{kind}-{short}{'-tools' if tools else ''}{suffix}"
                measured = Measured(
                    key=key,
                    ratio=theirs / mine,
                    spread=statistics.pstdev(peer / own for own, peer, _ in apart),
                    subject=theirs * 100,
                    peer=mine * 100,
                    rounds=count,
                )
                benchmark.extra_info[key] = msgspec.to_builtins(measured)
