"""The passage of a text that says a claim: what a handoff quotes as its proof.

A passage proves nothing unless every exact figure of the claim stands in it, and enough of the
claim's words; words that any text has do not count. Texts are taken apart once, with the tokens by
which recall searches, so that languages without spaces between words are quoted as well.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from heapq import nlargest
from typing import Final

from throughline_nb.ledger.figures import figures, missing

QUOTE_CHARACTERS: Final = 300
"""Longest piece of a quote; more than the sentence that says it helps nobody."""

_SENTENCE = re.compile(r"[^.!?。！？\n]+(?:[.!?](?!\s|$)[^.!?。！？\n]*)*[.!?。！？]*")
_KANA_PAIR = re.compile("[\u3041-\u309f]+")
_ENOUGH: Final = 0.3
"""Share of a claim's words, by weight, that a quote must hold to be its proof."""

_ADDS: Final = 0.15
"""Share that a second sentence must add."""

_TRIED: Final = 8
"""Sentences, the best first, that are tried for the figures."""

_PARTS: Final = 3
"""Tokens that one word is taken into at most where it is no run of a script without spaces."""


class Passages:
    """Texts in which quotes are looked for, taken apart once.

    Args:
        texts: The texts.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._pieces: list[str] = []
        self._holding: dict[str, list[int]] = {}
        for text in texts:
            for piece in _pieces(text):
                for token in _tokens(piece):
                    self._holding.setdefault(token, []).append(len(self._pieces))
                self._pieces.append(piece)

    def best(self, claim: str) -> str:
        """What the texts say of ``claim``, cut; empty where they do not.

        It is the sentence that shares most with it, and a second one where that adds to it: a claim
        often joins two. Words with a figure count three times, since a finding is checked by them.
        """
        wanted, words = _wanted(claim)
        total = sum(wanted.values())
        ranked = self._ranked(wanted, 0.0)
        if not ranked:
            return ""
        first = next((at for at in ranked if self._whole(claim, at)), ranked[0])
        rest = {token: weight for token, weight in wanted.items() if not self._has(token, first)}
        chosen = [first]
        second = [at for at in self._ranked(rest, _ADDS * total) if at != first]
        if whole := self._whole(claim, first):
            chosen += second[:1]
        else:
            adding = [at for at in second if self._whole(claim, first, at)]
            whole = bool(adding)
            chosen += adding[:1]
        found = {token for token in wanted if any(self._has(token, at) for at in chosen)}
        if not whole or sum(wanted[token] for token in found) < _ENOUGH * total:
            return ""
        said = sum(words[token] for token in found & words.keys())
        if len(words) > 1 and said < _ENOUGH * sum(words.values()):
            return ""  # the figures alone may be those of something else
        return " … ".join(self._pieces[at] for at in chosen)

    def _ranked(self, wanted: Mapping[str, float], least: float) -> list[int]:
        """The pieces that hold most of what is wanted, each more than ``least``."""
        scores: dict[int, float] = {}
        for token, weight in wanted.items():
            for at in self._holding.get(token, ()):
                scores[at] = scores.get(at, 0.0) + weight
        best = nlargest(_TRIED, scores.items(), key=lambda found: (found[1], -found[0]))
        return [at for at, score in best if score > least]

    def _has(self, token: str, at: int) -> bool:
        return token in _tokens(self._pieces[at])

    def _whole(self, claim: str, *pieces: int) -> bool:
        """Whether every figure of the claim stands in these pieces."""
        read = [figure for at in pieces for figure in figures(self._pieces[at])]
        return not missing(claim, read)


def best_passage(texts: Iterable[str], claim: str) -> str:
    """What some texts say of ``claim``, cut; empty where they do not."""
    return Passages(texts).best(claim)


def _wanted(claim: str) -> tuple[dict[str, float], dict[str, float]]:
    """The tokens of a claim with their weights, and those of them without a figure.

    The parts of a compound share the weight of a word.
    """
    wanted: dict[str, float] = {}
    for chunk in claim.split():
        found = _tokens(chunk)
        share = len(found) if chunk.isascii() or len(found) <= _PARTS else 1
        figured = chunk.isascii() and any(c.isdigit() for c in chunk)
        for token in found:
            weight = 3.0 if figured or any(c.isdigit() for c in token) else 1.0
            wanted[token] = max(wanted.get(token, 0.0), weight / share)
    words = {
        token: weight for token, weight in wanted.items() if not any(c.isdigit() for c in token)
    }
    return wanted, words


def _tokens(text: str) -> frozenset[str]:
    """What a text is about: recall's tokens, without endings and particles of Japanese."""
    from throughline_nb.store.recall.tokens import tokens  # noqa: PLC0415 - only where it is needed

    found = frozenset(tokens(text))
    return frozenset(token for token in found if not _KANA_PAIR.fullmatch(token)) or found


def _pieces(text: str) -> Iterator[str]:
    """The sentences of a text; of one that is too long, stretches that overlap."""
    for match in _SENTENCE.finditer(text):
        said = match[0].strip()
        if len(said) <= QUOTE_CHARACTERS:
            if said:
                yield said
            continue
        last = len(said) - QUOTE_CHARACTERS
        for start in range(0, last + QUOTE_CHARACTERS // 3, QUOTE_CHARACTERS // 3):
            yield _stretch(said, min(start, last))


def _stretch(sentence: str, start: int) -> str:
    """A stretch of a sentence that cuts no word in two, unless it is longer than a word is."""
    end = start + QUOTE_CHARACTERS
    if start and not sentence[start - 1].isspace():
        space = re.compile(r"\s").search(sentence, start, start + 60)
        start = space.end() if space else start
    if end < len(sentence) and not sentence[end].isspace():
        cut = max(sentence.rfind(" ", end - 60, end), sentence.rfind("\n", end - 60, end))
        end = cut if cut > 0 else end
    return f"{'…' * (start > 0)}{sentence[start:end].strip()}{'…' * (end < len(sentence))}"
