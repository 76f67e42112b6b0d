"""A change that was chosen on one version, carried out on a later one.

Whoever edits an entry in a form sees it as it was when the form was opened. What changed since then
is neither overwritten nor refused: it is merged as an edit of the file by hand is.
"""

from collections.abc import Callable

import msgspec

from throughline_nb.ledger import delta
from throughline_nb.ledger.edits import Edited
from throughline_nb.ledger.merge import MergeText, merge
from throughline_nb.ledger.model import Ledger


class Rebased(msgspec.Struct, frozen=True):
    """A change on the version that stands.

    Attributes:
        edited: The change.
        notices: What two sides said differently, and which of them stands, a sentence each.
    """

    edited: Edited
    notices: tuple[str, ...] = ()


def rebased(
    base: Ledger,
    now: Ledger,
    edit: Callable[[Ledger], Edited],
    merge_text: MergeText | None = None,
) -> Rebased:
    """Carry out on ``now`` what was chosen on ``base``.

    Args:
        base: The version that was seen.
        now: The version that stands.
        edit: The operation; it is carried out on ``base``, and what it gives is merged.
        merge_text: As in :func:`throughline_nb.ledger.merge.merge`.

    Returns:
        The change. Where both sides changed one thing, what was chosen stands, and a notice tells.
    """
    chosen = edit(base)
    if now is base:
        return Rebased(chosen)
    done = merge(base, now, chosen.ledger, prefer="theirs", keeps_ids="ours", merge_text=merge_text)
    effect = delta.sentence(delta.changes(now, done.ledger))
    after = done.ledger if effect else now
    return Rebased(Edited(after, effect or chosen.sentence, chosen.id), done.notices)
