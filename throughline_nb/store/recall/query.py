"""A query taken apart: whose words are meant, what kind of answer, and which words to look for."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from throughline_nb.store.recall.tokens import tokens

VARIANT: Final = 0.8
"""Weight of a word that shares its beginning with the one that was asked for."""

SIMILAR: Final = 0.6
"""Weight of a word that only looks alike, where the one asked for stands nowhere."""

LONGEST: Final = 2_000
"""Characters of a query that are looked at: a long question with an error message in it."""

WORDS: Final = 128
"""Different words of a query that are looked for."""

UNKNOWN: Final = 16
"""Words of a query that stand nowhere for which similar ones are looked for, since that goes
through all words of the index."""

_LOW: Final = 0.4
_VARIANTS: Final = 12
_LOW_VALUE: Final = frozenset(
    token
    for word in """kind type many much time name mention say said tell told talk discuss
    remember recall long often old chat conversation earlier ago use thing anything something
    turn exact exactly did get got like""".split()
    for token in tokens(word)
)
_FIRST: Final = frozenset("i me my mine myself we our us".split())
_SECOND: Final = frozenset("you your yours yourself".split())
_WHEN: Final = re.compile(
    r"\b(?:when|what (?:date|day|time|year|month)|how long ago)\b", re.IGNORECASE
)
_COUNT: Final = re.compile(
    r"\bhow (?:many|much|old|long|often|big|large|far|fast|high)\b|\b(?:what|which) "
    r"(?:number|figure|version|price|cost|size|limit|port|percentage|rate|budget|threshold)\b",
    re.IGNORECASE,
)
_WHO: Final = re.compile(r"\b(?:who|where|which|whose|whom)\b", re.IGNORECASE)


class Variant(msgspec.Struct, frozen=True):
    """A token to look for, its weight in its group, and in how many passages it stands."""

    token: str
    weight: float
    passages: int


class Group(msgspec.Struct, frozen=True):
    """A word of the query: any of its variants will do, the best counts."""

    token: str
    weight: float
    variants: tuple[Variant, ...]


class Query(msgspec.Struct, frozen=True):
    """What is looked for.

    Attributes:
        groups: Its words.
        role: Whose words are meant; empty where none or several are named.
        when: It asks for a time.
        count: It asks for a number.
        who: It asks for a name or place.
    """

    groups: tuple[Group, ...]
    role: str = ""
    when: bool = False
    count: bool = False
    who: bool = False


class Vocabulary(msgspec.Struct, frozen=True):
    """What the index knows of its words.

    Attributes:
        count: In how many passages a token stands.
        beginning: Tokens that begin with these letters.
        alike: Tokens of about this length, from which similar ones are chosen.
    """

    count: Callable[[str], int]
    beginning: Callable[[str], Sequence[str]]
    alike: Callable[[str], Iterable[str]]


def bounded(text: str) -> str:
    """A query as far as it is looked at; what is pasted in by mistake must not stop everything."""
    return text.lstrip()[:LONGEST]


def understand(text: str, roles: Iterable[str], vocabulary: Vocabulary) -> Query:
    """Take a query apart.

    Args:
        text: What the model or the person typed.
        roles: The roles that have passages, such as ``user`` and ``assistant``.
        vocabulary: The index.
    """
    said = re.findall(r"[^\W\d_]+", text.casefold())
    known = {role.casefold(): role for role in roles if role and role.casefold() != "tool"}
    named = {known[word] for word in said if word in known}
    if not _FIRST.isdisjoint(said) and "user" in known:
        named.add(known["user"])
    if not _SECOND.isdisjoint(said) and "assistant" in known:
        named.add(known["assistant"])
    skipped = {token for name in named for token in tokens(name)}
    wanted = dict.fromkeys(token for token in tokens(text, query=True) if token not in skipped)
    groups: list[Group] = []
    unknown = 0
    for token in list(wanted or dict.fromkeys(skipped))[:WORDS]:
        found = variants(token, vocabulary, alike=unknown < UNKNOWN)
        nowhere = not found or found[0].token != token
        unknown += nowhere and len(token) > 2 and token.isalpha()
        groups.append(Group(token, _weight(token), found))
    return Query(
        groups=tuple(groups),
        role=named.pop() if len(named) == 1 and wanted else "",
        when=bool(_WHEN.search(text)),
        count=bool(_COUNT.search(text)),
        who=bool(_WHO.search(text)),
    )


def _weight(token: str) -> float:
    """Less for words of small talk, and for a single letter, mostly a part of an identifier."""
    return _LOW if token in _LOW_VALUE or (len(token) == 1 and token.isascii()) else 1.0


def variants(token: str, vocabulary: Vocabulary, *, alike: bool = True) -> tuple[Variant, ...]:
    """The token and those that may stand for it, as far as the index has them.

    Args:
        token: A word of the query.
        vocabulary: The index.
        alike: Whether, where it stands nowhere, those count that only look alike.
    """
    found = [(token, 1.0)]
    own = vocabulary.count(token)
    if token.isalpha():
        if len(token) == 1 and not token.isascii():
            found += [(other, VARIANT) for other in vocabulary.beginning(token)]
        elif len(token) >= 5:
            others = [w for w in vocabulary.beginning(token[:5]) if _akin(token, w)]
            found += [(other, VARIANT) for other in sorted(others, key=_near(token))[:_VARIANTS]]
        if alike and not own and len(found) == 1 and len(token) > 2:
            close = similar(token, vocabulary.alike(token))
            found += [(other, SIMILAR) for other in close[:_VARIANTS]]
    counted = [Variant(word, weight, vocabulary.count(word)) for word, weight in found if word]
    return tuple(variant for variant in counted if variant.passages)


def similar(token: str, among: Iterable[str], least: float = 0.55) -> list[str]:
    """Tokens that contain this one, begin like it, or share most pairs of letters; best first."""
    pairs = _pairs(token)
    scored = []
    for other in among:
        if other == token:
            continue
        inside = len(token) > 3 and (token in other or (len(other) > 4 and other in token))
        theirs = _pairs(other)
        share = 2 * len(pairs & theirs) / (len(pairs) + len(theirs))
        if inside or share >= least:
            scored.append((share + inside, other))
    return [other for _, other in sorted(scored, key=lambda pair: (-pair[0], pair[1]))]


def _pairs(token: str) -> set[str]:
    marked = f"^{token}"
    return {marked[at : at + 2] for at in range(len(marked) - 1)}


def _akin(token: str, other: str) -> bool:
    if other == token or not other.isalpha():
        return False
    if other.startswith(token) or token.startswith(other):
        return True
    shared = max(5, min(len(token), len(other)) - 2)
    return abs(len(token) - len(other)) <= 3 and token[:shared] == other[:shared]


def _near(token: str) -> Callable[[str], tuple[int, str]]:
    return lambda other: (abs(len(other) - len(token)), other)
