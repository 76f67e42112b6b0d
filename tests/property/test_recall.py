"""Recall against a naive model: any order of appends, rewinds, slices, restarts and damage."""

import os
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from throughline_nb.chat import Message
from throughline_nb.store.recall import Recall

WORDS = ("valve", "bolt", "gasket", "flange", "pump", "seal", "rotor", "shim")

STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)),
        st.tuples(st.just("same turn"), st.lists(st.sampled_from(WORDS), min_size=1, max_size=4)),
        st.tuples(st.just("rewind"), st.integers(1, 12)),
        st.tuples(st.just("slice"), st.just(0.0)),
        st.tuples(st.just("restart"), st.booleans()),
        st.tuples(st.just("update"), st.integers(0, 12)),
        st.tuples(st.just("tear"), st.just(0)),
        st.tuples(st.just("another"), st.sampled_from(WORDS)),
        st.tuples(st.just("lose"), st.sampled_from(["", "-wal", "-shm"])),
        st.tuples(st.just("compact"), st.just(0)),
        st.tuples(st.just("exchange"), st.just(0)),
    ),
    max_size=25,
)


@settings(max_examples=60)
@given(STEPS)
def test_recall_holds_what_a_list_would(steps):
    folder = Path(tempfile.mkdtemp())
    try:
        _follow(folder / "chat", steps)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _follow(folder, steps):
    recall, other = Recall(folder), Recall(folder)
    model: list[tuple[int, str]] = []
    for kind, given_ in steps:
        last = max((turn for turn, _ in model), default=0)
        if kind in {"append", "same turn"}:
            turn = last + (kind == "append" or not last)
            text = " ".join(given_)
            recall.append([Message(turn=turn, role="user", text=text)], seconds=0.0)
            model.append((turn, text))
        elif kind == "rewind":
            recall.rewind(given_, seconds=0.0)
            model = [item for item in model if item[0] < given_]
        elif kind == "slice":
            recall.build(given_)
        elif kind == "update" and model:
            kept = [item for item in model if item[0] <= max(1, given_)]
            recall.update([Message(turn=turn, role="user", text=text) for turn, text in kept])
            model = kept
        elif kind == "tear" and recall.exists:
            with recall.history.open("ab") as file:
                file.write(b'{"turn":99,"role":"user","text":"valve')
        elif kind == "another":  # a second process has the same chat
            other.append([Message(turn=last + 1, role="user", text=given_)], seconds=0.0)
            model.append((last + 1, given_))
        elif kind == "lose":  # a file of the cache is deleted while it is open
            (folder / f"recall.cache.sqlite{given_}").unlink(missing_ok=True)
        elif kind == "compact":
            with patch("throughline_nb.store.recall.recall._WASTE", 0):
                recall.build()
        elif kind == "exchange" and recall.exists:  # by hand, with other words of any length
            model = [(turn, " ".join(f"shim {text}".split()[:8])) for turn, text in model]
            recall.history.write_bytes(
                b"".join(
                    msgspec.json.encode({"turn": turn, "role": "user", "text": text}) + b"\n"
                    for turn, text in model
                )
            )
            later = recall.history.stat().st_mtime_ns + 10_000_000
            os.utime(recall.history, ns=(later, later))
        elif kind == "restart":
            recall.close()
            if given_:
                (folder / "recall.cache.sqlite").unlink(missing_ok=True)
            recall = Recall(folder)
    if not model and recall.exists:
        recall.build()
    for word in WORDS:
        expected = sorted((turn, text) for turn, text in model if word in text.split())
        found = [(p.turn, p.text) for p in recall.search(word, 100_000) if word in p.text.split()]
        assert sorted(found) == expected
    for turn in {turn for turn, _ in model}:
        assert [m.text for m in recall.turn(turn)] == [text for t, text in model if t == turn]
    assert recall.last == max((turn for turn, _ in model), default=0)
    assert recall.complete == recall.exists
    recall.close()
    other.close()
