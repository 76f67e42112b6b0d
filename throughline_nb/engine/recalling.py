"""What the command and the tool ``recall`` answer."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.engine.registry import COMMANDS, UsageError
from throughline_nb.engine.run import Reply, Run
from throughline_nb.ledger.delta import clip
from throughline_nb.ledger.fence import neutral, tokens

if TYPE_CHECKING:
    from throughline_nb.store.recall import Recall
    from throughline_nb.store.recall.journal import Record

PAGE_TOKENS = 1500
"""Size of an answer, and of a page of a turn, in estimated tokens."""

_LINE = 2000


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
    parts: list[str] = []
    for key in keys:
        found = passages(recalls.of(key), query, PAGE_TOKENS // len(keys))
        if len(found) > 1:
            parts.append("\n".join([f"{neutral(str(key))}:", *found[1:]]))
    asked = neutral(clip(" ".join(query.split()), 80))
    many = f"{len(keys)} chats" if len(keys) > 1 else "1 chat"
    if not parts:
        return Reply(f'Nothing in {many} of {run.project.slug} answers "{asked}".')
    return Reply(f'Passages of {many} of {run.project.slug} for "{asked}".', "\n\n".join(parts))


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
    yield f"{shown.head} {seen}".rstrip()
    if message.args:
        yield neutral(msgspec.json.encode(message.args).decode())
    for line in message.text.splitlines():
        yield from (neutral(line[at : at + _LINE]) for at in range(0, len(line) or 1, _LINE))


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
