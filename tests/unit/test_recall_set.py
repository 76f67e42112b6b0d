"""The recall set is what the figures of recall rest on; these hold it to what it claims to be."""

import hashlib
import json
from collections import Counter, defaultdict
from pathlib import Path

import msgspec
import pytest

from throughline_nb.chat import Message

SET = Path(__file__).parents[1] / "data" / "recall"
CHATS = {"runtimes": 400, "archive": 400, "greenhouse": 400, "studio": 430, "owls": 440}
NEW = ("studio", "owls")
KINDS = {
    "passing",
    "corrected",
    "paraphrase",
    "figure",
    "temporal",
    "who",
    "multi-turn",
    "tool",
    "foreign",
}
IN_NEIGHBOURS = {"follow-up", "reply"}
PROBE_KINDS = {
    "figure",
    "version",
    "url",
    "path",
    "identifier",
    "cjk",
    "accent",
    "compound",
    "emoji",
    "typo",
}


def rows(name):
    return [json.loads(line) for line in (SET / name).read_text(encoding="utf-8").splitlines()]


def messages(name):
    lines = (SET / name).read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Message) for line in lines]


def turns(chat):
    """Text of each turn's messages, joined."""
    found = defaultdict(list)
    for message in messages(f"{chat}.jsonl"):
        found[message.turn].append(message.text)
    return {turn: "\n".join(texts) for turn, texts in found.items()}


QUESTIONS = rows("questions.jsonl")
PROBES = rows("probes.jsonl")


@pytest.mark.parametrize("chat", CHATS)
def test_a_chat_has_400_turns_each_asked_and_answered_in_the_order_of_time(chat):
    read = messages(f"{chat}.jsonl")
    assert sorted({message.turn for message in read}) == list(range(1, CHATS[chat] + 1))
    for turn in range(1, CHATS[chat] + 1):
        roles = [message.role for message in read if message.turn == turn]
        assert roles[0] == "user"
        assert roles[-1] == "assistant"
    stamps = [message.time for message in read]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("chat", CHATS)
def test_no_turn_is_there_twice(chat):
    texts = Counter(turns(chat).values())
    assert [text for text, count in texts.items() if count > 1] == []


@pytest.mark.parametrize("chat", CHATS)
def test_sixty_long_outputs_of_tools_go_with_each_chat(chat):
    read = messages(f"{chat}.tools.jsonl")
    assert len(read) == 60
    assert len({message.text for message in read}) == 60
    for message in read:
        assert message.role == "tool"
        assert message.tool
        assert 1 <= message.turn <= CHATS[chat]
        assert 3000 <= len(message.text) <= 6000


@pytest.mark.parametrize("chat", CHATS)
def test_answers_stand_in_their_evidence_and_each_evidence_turn_holds_one(chat):
    texts = turns(chat)
    for entry in (entry for entry in QUESTIONS if entry["chat"] == chat):
        evidence = [texts[turn] for turn in entry["evidence"]]
        assert entry["answer"], entry
        for answer in entry["answer"]:
            assert any(answer in text for text in evidence), entry
        for text in evidence:
            assert any(answer in text for answer in entry["answer"]), entry


def test_there_are_questions_of_each_kind_in_each_chat():
    assert len(QUESTIONS) >= 120
    assert len({entry["question"] for entry in QUESTIONS}) == len(QUESTIONS)
    for chat in CHATS:
        kinds = {entry["kind"] for entry in QUESTIONS if entry["chat"] == chat}
        assert kinds == (KINDS | IN_NEIGHBOURS if chat in NEW else KINDS)


def test_questions_over_several_turns_have_several_turns_of_evidence():
    for entry in QUESTIONS:
        if entry["kind"] == "multi-turn":
            assert len(entry["evidence"]) > 1, entry


def test_a_third_of_each_kind_is_held_out():
    held = Counter(entry["kind"] for entry in QUESTIONS if entry["held_out"])
    every = Counter(entry["kind"] for entry in QUESTIONS)
    assert len(QUESTIONS) / 3 - 3 <= held.total() <= len(QUESTIONS) / 3 + 3
    for kind, count in every.items():
        assert count / 3 - 2 <= held[kind] <= count / 3 + 2, kind


def test_a_third_of_the_new_chats_is_held_out_by_the_hash_of_the_question():
    order = sorted(
        (entry for entry in QUESTIONS if entry["chat"] in NEW),
        key=lambda entry: (
            entry["chat"],
            entry["kind"],
            hashlib.sha256(entry["question"].encode()).hexdigest(),
        ),
    )
    assert len(order) >= 120
    assert [entry["held_out"] for entry in order] == [at % 3 == 1 for at in range(len(order))]


def test_probes_are_of_ten_kinds_and_six_languages_or_more():
    assert len(PROBES) >= 100
    assert {probe["kind"] for probe in PROBES} == PROBE_KINDS
    assert len({probe["language"] for probe in PROBES}) >= 6
    assert min(Counter(probe["kind"] for probe in PROBES).values()) >= 8


def test_a_probe_has_one_right_passage_among_others():
    for probe in PROBES:
        assert len(probe["distractors"]) >= 2, probe
        assert probe["text"] not in probe["distractors"]
    asked = [(probe["query"], probe["text"]) for probe in PROBES]
    assert len(set(asked)) == len(asked)


def test_the_set_is_small_enough_to_ship_with_the_tests():
    assert sum(path.stat().st_size for path in SET.iterdir()) < 3_000_000
