"""The demo's long chat: recall switches on by itself, and finds again what was said in passing."""

from collections.abc import Callable, Iterable
from itertools import chain, groupby
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine.session import Engine
from throughline_nb.hosts.replay import Clock, Screen

CHAT: Final = Path(__file__).parents[1] / "data" / "recall" / "runtimes.jsonl"
QUESTIONS: Final = (
    "How much memory did Quillon use at most at the public event?",
    "With which key are the offline bundles signed?",
)
"""Asked in the last turn, in other words; the facts were said in passing, long out of sight."""

SHOWN: Final = 2
"""Lines of each answer that are shown: a date, and the best passage of that day."""


def long_chat(engine: Engine, screen: Screen, clock: Clock, folder: Path) -> None:
    """Play a chat of weeks without showing it, and say what changes for its model."""
    key = ChatKey("lmstudio", "1764600000000")
    (folder / f"{key.id}.conversation.json").write_text("{}", encoding="utf-8")  # it is there
    messages = msgspec.json.Decoder(Message).decode_lines(CHAT.read_bytes())
    turns = [list(turn) for _, turn in groupby(messages, key=lambda message: message.turn)]
    screen.heading(f"A long chat, {len(turns)} turns without a project: {key}")
    offered = None
    for number, turn in enumerate(turns):
        clock.now = turn[0].time or clock.now
        engine.turn(key, turn[0].text, History(number, max(number, 1), part(turns, number)))
        engine.recalls.wait(key)  # as the model answers and the person reads
        now = ", ".join(tool.name for tool in engine.tools(key)) or "none"
        if now != offered:
            size = f"{engine.chat(key).state.tokens:,} tokens of history"
            kept = "a copy to search is kept" if engine.recalls.holds(key) else "nothing on disk"
            screen.labelled(f"turn {number + 1}", f"{size}; {kept}; tools: {now}")
            offered = now
    for question in QUESTIONS:
        screen.labelled("call", f"recall(query: {question})", "35")
        answer = engine.call(key, "recall", {"query": question})
        screen.block("\n".join(answer.splitlines()[1 : SHOWN + 1]), whole=True)


def part(turns: list[list[Message]], last: int) -> Callable[[int], Iterable[Message]]:
    """Gives the messages of turns ``first`` to ``last``."""
    return lambda first: chain.from_iterable(turns[first - 1 : last])
