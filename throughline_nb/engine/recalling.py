"""What the command and the tool ``recall`` answer."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.engine.registry import COMMANDS, UsageError
from throughline_nb.engine.run import Reply, Run
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.fence import neutral, tokens

if TYPE_CHECKING:
    from throughline_nb.store.recall import Recall
    from throughline_nb.store.recall.journal import Record
    from throughline_nb.store.recall.packing import Passage

PAGE_TOKENS = 1500
"""Size of an answer, and of a page of a turn, in estimated tokens."""

_LINE_TOKENS = 500
"""Most of a line of a turn; a longer one, such as a file in a call's arguments, is cut."""


_MISSES = 9
"""So many passages of several chats may not fit before no more are tried."""


@COMMANDS.add("chat")
def recall(run: Run, query: str) -> Reply:
    """Search everything that was said in this chat.

    Args:
        query: Words to look for.
    """
    key, state = run.chat
    if run.bound is not None and not state.turn:  # a host that hands in no history, a notebook
        return across(run, query)
    found = passages(run.engine.recalls.of(key), query)
    if len(found) == 1:
        return Reply(found[0])
    return Reply(found[0], "\n".join(found[1:]))


def across(run: Run, query: str, chats: Sequence[ChatKey] = ()) -> Reply:
    """Search what was said in the chats of the project.

    Args:
        run: Where it is asked for.
        query: Words to look for.
        chats: The chats to search; all of the project when left out. Those that recall holds
            nothing of are passed over.

    Raises:
        UsageError: Recall holds none of them.
    """
    recalls = run.engine.recalls
    keys = [k for k in chats or run.engine.chats.bound(run.project.slug) if recalls.holds(k)]
    if not keys:
        raise UsageError(f"recall holds no chat of {run.project.slug} yet; it copies long ones.")
    found: dict[ChatKey, list[Passage]] = {}
    failed: list[ThroughLineError] = []
    for key in keys:
        try:
            held = recalls.of(key)
            found[key] = held.search(query, PAGE_TOKENS)
        except ThroughLineError as error:  # its first build goes on, its folder cannot be read
            failed.append(error)
            continue
        if key != run.key:  # hundreds of open files would be too many for a process
            held.close()
    if not found:
        raise failed[0]
    asked = neutral(clip(" ".join(query.split()), 80))
    many = f"{len(found)} chats" if len(found) > 1 else "1 chat"
    where = f"{many} of {run.project.slug}"
    also = f" {len(failed)} of its chats could not be searched: {failed[0]}" if failed else ""
    head = f'Passages of {where} for "{asked}".{also}'
    shown = _shared(found, PAGE_TOKENS - tokens(head) - 2)
    if not shown:
        return Reply(f'Nothing in {where} answers "{asked}".{also}')
    return Reply(head, "\n\n".join("\n".join(part) for part in shown))


def _shared(found: Mapping[ChatKey, Sequence["Passage"]], budget: int) -> list[list[str]]:
    """What fits of the passages of several chats, by chats, that of the best passage first.

    Scores compare within one chat only, so that the best of each chat come first, then the second.
    """
    from throughline_nb.store.recall import lines  # noqa: PLC0415

    ranks = zip_longest(*([(key, each) for each in passages] for key, passages in found.items()))
    taken: dict[ChatKey, list[Passage]] = {}
    parts: dict[ChatKey, list[str]] = {}
    misses = 0
    for rank in ranks:
        best = sorted(filter(None, rank), key=lambda pair: pair[1].score, reverse=True)
        for key, passage in best:
            part = [f"{neutral(str(key))}:"]
            part += map(neutral, lines([*taken.get(key, ()), passage]))
            more = _cost(part) - _cost(parts.get(key, ()))
            if more > budget:
                misses += 1
                if misses >= _MISSES:
                    return list(parts.values())
                continue
            budget -= more
            taken.setdefault(key, []).append(passage)
            parts[key] = part
    return list(parts.values())


def _cost(part: Sequence[str]) -> int:
    return tokens("\n".join(part)) + 1 if part else 0


def answer(run: Run, query: str, turn: int, page: int) -> str:
    """What the tool answers: the best passages, or one turn in full.

    Raises:
        UsageError: Neither was asked for, or there is no such turn or page.
    """
    key, _ = run.chat
    held = run.engine.recalls.of(key)
    if turn:
        return "\n".join(in_full(held, turn, page))
    if not query.strip():
        raise UsageError("recall needs query: words to look for, or turn: the number of a turn.")
    return "\n".join(passages(held, query))


def passages(held: "Recall", query: str, budget: int = PAGE_TOKENS) -> list[str]:
    """A line on what was found, then the passages; where nothing was, the nearest words."""
    from throughline_nb.store.recall import lines  # noqa: PLC0415

    asked = neutral(clip(" ".join(query.split()), 80))
    head = f'Passages of this chat for "{asked}", best first; recall(turn=N) shows a turn in full.'
    found = held.search(query, budget - tokens(head) - 1)
    if found:
        return [head, *map(neutral, lines(found))]
    near = ", ".join(map(neutral, held.nearest(query)))
    hint = f" The nearest words there are: {near}." if near else ""
    return [f'Nothing in this chat\'s history answers "{asked}".{hint}']


def in_full(held: "Recall", turn: int, page: int) -> list[str]:
    """One page of a turn.

    Raises:
        UsageError: There is no such turn or page.
    """
    messages = held.turn(turn)
    if not messages:
        raise UsageError(f"recall: turn was {turn}; allowed: a turn that was, 1 to {held.last}.")
    pages = _pages([line for message in messages for line in _message(message)])
    if not 1 <= page <= len(pages):
        raise UsageError(f"recall: page was {page}; allowed: 1 to {len(pages)}.")
    more = f"Page {page} of {len(pages)}; recall(turn={turn}, page={page + 1}) shows the next."
    return [*pages[page - 1], *([more] if page < len(pages) else [])]


def _message(message: "Record") -> Iterator[str]:
    from throughline_nb.store.recall.packing import Passage, moment  # noqa: PLC0415

    shown = Passage(
        message.turn,
        message.role,
        message.time,
        "",
        0.0,
        before=message.before,
        tool=message.tool,
    )
    seen = moment(shown)
    yield neutral(f"{shown.head} {seen}".rstrip())
    if message.args:
        yield from _cut(msgspec.json.encode(message.args).decode())
    for line in message.text.splitlines():
        yield from _cut(line)


def _cut(line: str) -> Iterator[str]:
    """A line in pieces of some size, each of them neutral by itself."""
    at = 0
    while at < (len(line) or 1):
        size = 4 * _LINE_TOKENS
        while tokens(piece := neutral(line[at : at + size])) > _LINE_TOKENS:
            size = 4 * size // 5
        yield piece
        at += size


def _pages(lines: Iterable[str]) -> list[list[str]]:
    pages: list[list[str]] = [[]]
    room = PAGE_TOKENS - 30  # for the line on the next page
    for line in lines:
        cost = tokens(line) + 1
        if cost > room and pages[-1]:
            pages.append([])
            room = PAGE_TOKENS - 30
        pages[-1].append(line)
        room -= cost
    return pages
