"""Three-way merge of an order: moves and insertions of both sides."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Literal


def merge_order(
    base: Sequence[str],
    ours: Sequence[str],
    theirs: Sequence[str],
    *,
    prefer: Literal["ours", "theirs"],
    ours_first: bool,
) -> tuple[list[str], bool]:
    """Merge two orders of ids that both come from ``base``.

    A move on one side is taken, and an insertion stays behind the neighbour it was put after. The
    result holds every id of either side; the caller leaves out what was deleted.

    Args:
        base: Ids before.
        ours: Ids on our side.
        theirs: Ids on their side.
        prefer: Side whose move stands where both moved one id.
        ours_first: Whether our insertions stand before theirs at one place.

    Returns:
        The merged order, and whether both sides moved one id to different places.
    """
    our_moves, their_moves = _moved(base, ours), _moved(base, theirs)
    order, other = list(ours), theirs
    stays, moves = our_moves, their_moves
    theirs_lead = prefer == "theirs" if our_moves or their_moves else not ours_first
    if theirs_lead:
        order, other = list(theirs), ours
        stays, moves = their_moves, our_moves
    known = set(base)
    clash = any(
        _before(ident, ours, known) != _before(ident, theirs, known)
        for ident in our_moves & their_moves
    )
    taken = moves - stays
    if taken:
        order = [ident for ident in order if ident not in taken]
    return _inserted(order, other, known), clash


def _inserted(order: list[str], other: Sequence[str], known: set[str]) -> list[str]:
    """``order`` with the ids that only ``other`` has, each behind its neighbour there."""
    placed = set(order)
    last = ""
    for ident in other:
        if ident not in placed:
            at = order.index(last) + 1 if last else 0
            while at < len(order) and order[at] not in known and order[at] not in other:
                at += 1
            order.insert(at, ident)
            placed.add(ident)
        last = ident
    return order


def _moved(base: Sequence[str], side: Iterable[str]) -> set[str]:
    """The fewest ids of both that had to move to get from the order of ``base`` to ``side``'s."""
    position = {ident: index for index, ident in enumerate(base)}
    common = [ident for ident in side if ident in position]
    ranks = [position[ident] for ident in common]
    if ranks == sorted(ranks):
        return set()
    tails: list[int] = []
    tail_at: list[int] = []
    before: list[int] = []
    for index, rank in enumerate(ranks):
        length = bisect_left(tails, rank)
        before.append(tail_at[length - 1] if length else -1)
        if length == len(tails):
            tails.append(rank)
            tail_at.append(index)
        else:
            tails[length], tail_at[length] = rank, index
    still: set[int] = set()
    index = tail_at[-1]
    while index >= 0:
        still.add(index)
        index = before[index]
    return {ident for index, ident in enumerate(common) if index not in still}


def _before(ident: str, side: Sequence[str], known: set[str]) -> str:
    """The known id that stands before ``ident``, or the empty string."""
    at = side.index(ident)
    return next((other for other in reversed(side[:at]) if other in known), "")
