"""Who may change what, what does not belong into a ledger, and when a step may be done.

Goal and constraints are the user's. Every edit asks :func:`may_change`, and the store asks
:func:`protect` before it writes anything for the model, so that no path leads around the rule.
"""

from typing import Final

from throughline_nb.errors import RefusedError
from throughline_nb.ledger.health import recorded_during
from throughline_nb.ledger.model import Actor, Ledger

_USERS: Final = {
    "goal": "The goal is the user's to set; propose it with ledger_record (kind: goal).",
    "constraint": (
        "Constraints are the user's to set; propose one with ledger_record (kind: constraint)."
    ),
    "proposal": "Proposals are the user's to settle, with /tl accept or /tl reject.",
}


def may_change(actor: Actor, what: str) -> None:
    """Check that ``actor`` may change, or remove, what ``what`` names.

    Args:
        actor: Who wants to.
        what: A kind (``constraint``), a section (``constraints``), or ``goal``.

    Raises:
        RefusedError: The model wants to change what it can only propose.
    """
    refusal = _USERS.get(what.removesuffix("s"))
    if actor == "model" and refusal is not None:
        raise RefusedError(f"{refusal} Nothing was changed.")


def protect(before: Ledger, after: Ledger, actor: Actor) -> Ledger:
    """Check a whole change before it is written, whichever way it was made.

    Args:
        before: The ledger as it stands.
        after: The ledger as it would be written.
        actor: Who writes.

    Returns:
        ``after``.

    Raises:
        RefusedError: The model would change the goal, a constraint, or settle a proposal that is
            not its own.
    """
    if actor != "model" or before is after:
        return after
    if before.goal != after.goal:
        may_change(actor, "goal")
    if before.constraints != after.constraints:
        may_change(actor, "constraint")
    if before.proposals != after.proposals:
        now = {entry.id: entry for entry in after.proposals}
        for entry in before.proposals:
            if entry.by != "model" and now.get(entry.id) != entry:
                may_change(actor, "proposal")
    return after


def may_finish(ledger: Ledger, step: str, note: str) -> None:
    """Check that a step left something behind before it is marked ``done``.

    Args:
        ledger: The ledger.
        step: The step's id.
        note: The step's note, which says what came of it.

    Raises:
        RefusedError: Nothing was recorded during the step, and there is no note.
    """
    if not note.strip() and not recorded_during(ledger, step):
        raise RefusedError(
            f"{step} is not marked done, since nothing was recorded during it: record what it "
            "gave with ledger_record, or say in a note what came of it."
        )


def refuse_personal(text: str) -> None:
    """Keep personal facts about the user out of the ledger.

    Args:
        text: What the model wants to record.

    Raises:
        RefusedError: ``text`` states one.
    """
    from throughline_nb.ledger.personal import states_personal_fact  # noqa: PLC0415 - 3 ms

    if states_personal_fact(text):
        raise RefusedError(
            "That is a personal fact about the user, which belongs in a memory plugin, not in "
            "the project's ledger; nothing was recorded."
        )
