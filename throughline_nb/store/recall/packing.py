"""The best passages put into a budget of tokens, headers counted."""

import datetime as dt
import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

import msgspec

from throughline_nb.ledger.fence import tokens as estimate

FIRST: Final = 8
"""So many best passages are shown at greater length, later ones briefly."""

LONG: Final = 600
"""Characters up to which one of the first is given whole, and of an excerpt of a longer one."""

SHORT: Final = 150
"""The same for a later one: most messages of a person whole, of a long answer the sentences that
have the words. With 90 more turns are reached, but the answer is left out more often; with more,
or with the sentences around those with the words, fewer answers fit."""

MISSES: Final = 9
"""So many passages may not fit before packing ends."""

_NAME: Final = 64
"""Characters of a role or a tool in a header, on one line: a model may have made them up."""

_PER_TURN: Final = 2
"""Passages of one turn's tools."""

_SENTENCE: Final = re.compile(
    r"[^.!?。！？\n]*(?:[.!?。！？]+(?=[\s\"'”’)]|$|[^\W\d_])|\n|$|[.!?])"
)


class Passage(msgspec.Struct, frozen=True):
    """A passage that was found.

    Attributes:
        turn: Its turn.
        role: ``user``, ``assistant``, ``tool`` or what the host calls its speaker.
        time: When it was first seen, in seconds since the epoch; None where that is not known.
        text: Its text, or the sentences of it that answer best, joined by ``…``.
        score: How well it answers; comparable within one search only.
        before: Whether ``time`` is only the time before which it was said.
        tool: Name of the tool that it comes from.
    """

    turn: int
    role: str
    time: float | None
    text: str
    score: float
    before: bool = False
    tool: str = ""

    @property
    def head(self) -> str:
        """The short header: ``[41 user 14:05]``, ``[41 tool read_webpage]``."""
        names = (" ".join(name.split())[:_NAME] for name in (self.role, self.tool))
        words = [str(self.turn), *names]
        if self.time is not None and not self.before and (when := _date(self.time)):
            words.append(f"{when:%H:%M}")
        return f"[{' '.join(filter(None, words))}]"


def moment(passage: Passage) -> str:
    """When a passage was seen, in words; empty where that is not known."""
    when = _date(passage.time)
    return f"{'before ' if passage.before else ''}{when:%Y-%m-%d %H:%M} UTC" if when else ""


def day(passage: Passage) -> str:
    """What passages share a line for: their day, or the time before which all of them were said."""
    return moment(passage) if passage.before else moment(passage)[:10]


def _date(time: float | None) -> dt.datetime | None:
    try:
        return dt.datetime.fromtimestamp(time, tz=dt.UTC) if time is not None else None
    except (OverflowError, OSError, ValueError):
        return None


def lines(passages: Iterable[Passage]) -> list[str]:
    """Passages as the model and a person read them: by days, that of the best passage first."""
    days: dict[str, list[str]] = {}
    for passage in passages:
        text = " ".join(passage.text.split())
        days.setdefault(day(passage), []).append(f"{passage.head} {text}")
    return [line for seen, said in days.items() for line in ([f"{seen}:"] * bool(seen)) + said]


def pack(
    found: Iterable[Passage], words: Iterable[str], budget: int, *, opening: int = 0
) -> list[Passage]:
    """Take passages, best first, as long as they fit.

    Args:
        found: Passages whole, best first; read only as far as needed.
        words: The query's words, folded, by which the sentences of an excerpt are chosen.
        budget: Tokens, estimated, for texts and headers.
        opening: Tokens already used.
    """
    wanted = frozenset(words)
    taken: list[Passage] = []
    spent, misses, rank = opening, 0, 0
    days: set[str] = set()
    of_tools: Counter[int] = Counter()
    seen: set[tuple[str, str]] = set()
    for passage in found:
        body = " ".join(passage.text.split())
        if not body or ((passage.tool, body) in seen and passage.tool):
            continue
        if passage.tool:
            if of_tools[passage.turn] >= _PER_TURN:
                continue
            of_tools[passage.turn] += 1
            seen.add((passage.tool, body))
        rank += 1
        text = excerpt(body, wanted, LONG if rank <= FIRST else SHORT)
        seen_on = day(passage)
        extra = 0 if seen_on in days or not seen_on else estimate(seen_on) + 1
        cost = estimate(f"{passage.head} {text}\n") + extra
        if spent + cost > budget and rank <= FIRST:
            text = excerpt(body, wanted, SHORT)
            cost = estimate(f"{passage.head} {text}\n") + extra
        if spent + cost > budget:
            misses += 1
            if misses >= MISSES:
                break
            continue
        spent += cost
        days.add(seen_on)
        whole = passage.text.strip() if text == body else text
        taken.append(msgspec.structs.replace(passage, text=whole))
    return taken


def excerpt(text: str, words: frozenset[str], length: int) -> str:
    """The sentences with most of the words, in their order, as many as fit; joined by ``…``."""
    if len(text) <= length:
        return text
    sentences = [found.strip() for found in _SENTENCE.findall(text) if found.strip()]
    folded = [(_hits(sentence, words), -at) for at, sentence in enumerate(sentences)]
    chosen: list[int] = []
    room = length
    for hits, negative in sorted(folded, reverse=True):
        sentence = sentences[-negative]
        if len(sentence) <= room and (hits or not chosen):
            chosen.append(-negative)
            room -= len(sentence) + 1
        elif not chosen:
            return _around(sentence, words, length)
    return " … ".join(sentences[at] for at in sorted(chosen))


def _hits(sentence: str, words: frozenset[str]) -> int:
    low = sentence.casefold()
    return sum(word in low for word in words)


def _around(sentence: str, words: frozenset[str], length: int) -> str:
    """A window of a long sentence, round the first of the words."""
    low = sentence.casefold()
    places = [low.find(word) for word in words if word in low]
    start = max(0, min(places, default=0) - length // 3)
    cut = sentence[start : start + length]
    return f"{'…' if start else ''}{cut.strip()}{'…' if start + length < len(sentence) else ''}"
