"""Exactness: the probes of ``tests/data/recall/probes.jsonl``, all in one chat."""

import random
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from throughline_nb.chat import Message
from throughline_nb.store.recall import Recall

DATA = Path(__file__).resolve().parents[1] / "data" / "recall" / "probes.jsonl"


class Probe(msgspec.Struct):
    """A query, the one text that answers it, and texts that nearly do."""

    kind: str
    language: str
    query: str
    text: str
    distractors: list[str]


PROBES = msgspec.json.Decoder(Probe).decode_lines(DATA.read_bytes())


def failed(recall):
    """The probes whose text is not the first that is found."""
    wrong = []
    for probe in PROBES:
        found = recall.search(probe.query)
        if not found or found[0].text.rstrip("…").strip() not in probe.text:
            wrong.append(probe)
    return wrong


@pytest.fixture(scope="module", params=[1, 2, 3])
def recall(request, tmp_path_factory):
    """A chat that says all of it, in an order of its own, with other talk in between."""
    texts = {text for probe in PROBES for text in (probe.text, *probe.distractors)}
    order = sorted(texts)
    random.Random(request.param).shuffle(order)
    messages = []
    for turn, text in enumerate(order, 1):
        messages.append(Message(turn=turn, role="user", text=text))
        messages.append(Message(turn=turn, role="assistant", text="Noted, thank you."))
    made = Recall(tmp_path_factory.mktemp("probes") / "chat")
    made.append(messages)
    yield made
    made.close()


def test_at_least_ninety_five_of_a_hundred_probes_find_their_text_first(recall):
    wrong = failed(recall)
    listed = "\n".join(
        f"{each.kind} {each.language}: {each.query} -> {each.text}" for each in wrong
    )
    assert len(wrong) <= 0.05 * len(PROBES), listed


def test_no_kind_and_no_language_is_left_behind(recall):
    kinds = Counter(probe.kind for probe in PROBES)
    wrong = Counter(probe.kind for probe in failed(recall))
    assert len(PROBES) >= 100
    assert len(kinds) >= 10
    assert len({probe.language for probe in PROBES}) >= 6
    assert all(wrong[kind] <= 0.2 * count for kind, count in kinds.items()), wrong
