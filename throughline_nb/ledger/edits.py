"""Every operation that changes a ledger: ``(ledger, …) -> Edited``.

An operation checks the rules of who may change what, so that no path around them exists: the
commands and tools above only translate. Time and place of recording come in as :class:`By`.
"""

from collections.abc import Sequence
from typing import Any

import msgspec

from throughline_nb.errors import NotFoundError, RefusedError
from throughline_nb.ledger import delta, rules
from throughline_nb.ledger.cascade import loosely
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import (
    BY_KIND,
    BY_LETTER,
    PROPOSABLE,
    SECTIONS,
    STATUSES,
    Actor,
    Attr,
    Entry,
    Ledger,
    ids_in,
)
from throughline_nb.ledger.sources import first_state, parse, same_source


class By(msgspec.Struct, frozen=True):
    """Who records, where and when.

    Attributes:
        actor: Who acts.
        origin: ``turn 41 of lmstudio/1764500000000``, or empty outside a chat.
        added: Time, UTC, as ``2026-10-17T12:04:09Z``.
    """

    actor: Actor
    origin: str = ""
    added: str = ""


class Edited(msgspec.Struct, frozen=True):
    """What an operation gives.

    Attributes:
        ledger: The new ledger; the same object where nothing changed.
        sentence: The change in one sentence, for the commit and the reader; where nothing
            changed, why not (``already F12``).
        id: The entry concerned, or empty.
    """

    ledger: Ledger
    sentence: str
    id: str = ""


def find(ledger: Ledger, ident: str, kind: str = "") -> Entry:
    """The entry with this id.

    Raises:
        NotFoundError: There is none, or it is not of this kind; the text names the nearest.
    """
    ident = ident.strip().strip("*[]().#`").upper()
    entry = ledger.get(ident)
    if entry is None:
        wanted = BY_KIND.get(kind) or BY_LETTER.get(ident[:1])
        have = [e.id for e in (ledger.list(wanted.attr) if wanted else ledger.entries())]
        shown = ", ".join(have[-8:]) or "none yet"
        named = delta.clip(ident, 60)
        raise NotFoundError(f"There is no {kind or 'entry'} {named}; there are: {shown}.")
    if kind and entry.kind != kind:
        raise NotFoundError(f"{ident} is a {entry.kind}, not a {kind}; nothing was changed.")
    return entry


def record(  # noqa: C901 - one operation, each field one line
    ledger: Ledger,
    kind: str,
    text: str,
    by: By,
    *,
    source: str = "",
    reason: str = "",
    because: str = "",
    ident: str = "",
) -> Edited:
    """Add a finding, decision, question or proposal, or change the one that ``ident`` names.

    Recording the same again changes nothing, with another source it changes the source.

    Args:
        ledger: The ledger.
        kind: ``finding``, ``decision``, ``question``, ``goal`` or ``constraint``; the model only
            proposes the last two.
        text: What is recorded. May be empty when ``ident`` is given: the text then stays.
        by: Who, where, when.
        source: Of a finding.
        reason: Of a decision or proposal.
        because: Ids that a decision rests on.
        ident: Entry to change.
    """
    text, reason = one_line(text), one_line(reason)
    _check_personal(by, text, reason)
    fields: dict[str, str] = {}
    if source:
        fields["source"] = str(parse(one_line(source)))
    if reason:
        fields["reason"] = reason
    if because:
        fields["because"] = ", ".join(_grounds(ledger, because))
    if kind in PROPOSABLE:
        if by.actor != "model" and not ident:
            return set_goal(ledger, text, by) if kind == "goal" else constrain(ledger, text, by)
        text = f"{kind}: {text}" if text else ""
        kind = "proposal"
    for name in fields:
        if name not in BY_KIND[kind].fields:
            raise RefusedError(f"A {kind} has no {name}; nothing was recorded.")
    if ident:
        entry = find(ledger, ident, kind)
        if text and kind == "proposal" and text.partition(":")[0] not in PROPOSABLE:
            text = f"{entry.proposes[0]}: {text}"
        return _change(ledger, entry, text, by, fields)
    if not text:
        raise RefusedError(f"text is empty; say what the {kind} is.")
    twin = _twin(ledger, kind, text)
    if twin is not None:
        return _again(ledger, twin, by, fields)
    if kind == "finding":
        fields["state"] = first_state(fields.get("source", ""))
    return _add(ledger, kind, text, by, fields)


def retract(ledger: Ledger, ident: str, by: By, reason: str = "") -> Edited:
    """Take an entry back: a finding is kept as retracted, any other entry is removed."""
    entry = find(ledger, ident)
    if entry.kind == "constraint" or (entry.kind == "proposal" and entry.by != by.actor):
        rules.may_change(by.actor, entry.kind)
    if entry.kind != "finding":
        return _removed(ledger, entry, one_line(reason))
    if entry.retracted:
        return Edited(ledger, f"{entry.id} is retracted already", entry.id)
    return _put(ledger, entry, state="retracted", reason=one_line(reason) or entry.reason)


def remove(ledger: Ledger, ident: str, by: By) -> Edited:
    """Remove an entry; its id is never used again."""
    entry = find(ledger, ident)
    rules.may_change(by.actor, entry.kind)
    return _removed(ledger, entry, "")


def set_goal(ledger: Ledger, text: str, by: By) -> Edited:
    """Set what the project must produce; only the user may."""
    rules.may_change(by.actor, "goal")
    text = one_line(text)
    if not text:
        raise RefusedError("The goal is empty; say what the project must produce.")
    if text == ledger.goal:
        return Edited(ledger, "The goal is already that")
    return _edited(ledger, msgspec.structs.replace(ledger, goal=text))


def constrain(ledger: Ledger, text: str, by: By) -> Edited:
    """Add a rule for this project; only the user may."""
    rules.may_change(by.actor, "constraint")
    text = one_line(text)
    if not text:
        raise RefusedError("The constraint is empty; say what the rule is.")
    twin = _twin(ledger, "constraint", text)
    return (
        Edited(ledger, f"already {twin.id}", twin.id)
        if twin
        else _add(ledger, "constraint", text, by, {})
    )


def plan(
    ledger: Ledger,
    by: By,
    *,
    step: str = "",
    text: str = "",
    status: str = "",
    note: str = "",
    after: str = "",
    refuse_empty_done: bool = True,
) -> Edited:
    """Add a step, or change the one that ``step`` names.

    Args:
        ledger: The ledger.
        by: Who, where, when.
        step: Id of the step to change; empty adds one.
        text: What the step is.
        status: One of ``todo``, ``doing``, ``done``, ``blocked``.
        note: What came of it, or what it waits for.
        after: Id of the step behind which it stands; empty leaves it, or adds at the end.
        refuse_empty_done: Whether ``done`` needs something recorded during the step.
    """
    text, note = one_line(text), one_line(note)
    _check_personal(by, text, note)
    if status and status not in STATUSES:
        raise RefusedError(f"status: {status!r} is not one of {', '.join(STATUSES)}.")
    behind = find(ledger, after, "step").id if after else ""
    if not step:
        if not text:
            raise RefusedError("text is empty; say what the step is, or name one with step.")
        twin = _twin(ledger, "step", text)
        if twin is None:
            if status == "done" and by.actor == "model" and refuse_empty_done:
                rules.may_finish(ledger, ledger.next_id("step"), note)
            fields = {"status": status or "todo", "note": note}
            added = _add(ledger, "step", text, by, fields)
            return Edited(_moved(added.ledger, added.id, behind), added.sentence, added.id)
        if (not status or status == twin.status) and (not note or note == twin.note):
            return Edited(ledger, f"already {twin.id}", twin.id)
        step, text = twin.id, ""
    entry = find(ledger, step, "step")
    if status == "done" and entry.status != "done" and by.actor == "model" and refuse_empty_done:
        rules.may_finish(ledger, entry.id, note or entry.note)
    given = {"text": text, "status": status, "note": note}
    fields = {name: value for name, value in given.items() if value}
    if text and text != entry.text:
        fields["by"] = by.actor
    edited = _put(ledger, entry, **fields)
    moved = _moved(edited.ledger, entry.id, behind)
    if moved is ledger:
        return Edited(ledger, f"{entry.id} is already so", entry.id)
    return _edited(ledger, moved, entry.id)


def resolve(
    ledger: Ledger,
    question: str,
    answer: str,
    by: By,
    *,
    as_finding: bool = False,
    source: str = "",
) -> Edited:
    """Close a question with its answer, optionally recording the answer as a finding."""
    entry = find(ledger, question, "question")
    answer = one_line(answer)
    if not answer:
        raise RefusedError(f"answer is empty; {entry.id} stays open.")
    _check_personal(by, answer)
    if entry.answer == answer:
        edited = Edited(ledger, f"{entry.id} is already answered so", entry.id)
    else:
        edited = _put(ledger, entry, answer=answer)
    if not as_finding:
        return edited
    finding = record(edited.ledger, "finding", answer, by, source=source)
    if finding.ledger is edited.ledger:
        return edited if edited.ledger is not ledger else finding
    if edited.ledger is ledger:
        return finding
    return Edited(finding.ledger, f"{edited.sentence} ({finding.id} added)", finding.id)


def accept(ledger: Ledger, ident: str, by: By) -> Edited:
    """Settle a proposal by taking it, or confirm a suspect decision; only the user may."""
    entry = find(ledger, ident)
    if entry.kind == "decision":
        rules.may_change(by.actor, "proposal")
        if not entry.suspect:
            return Edited(ledger, f"{entry.id} is not suspect", entry.id)
        after = _with(ledger, msgspec.structs.replace(entry, suspect=""))
        return Edited(after, f"{entry.id} confirmed: {delta.clip(entry.text)}", entry.id)
    if entry.kind != "proposal":
        raise RefusedError(
            f"{entry.id} is a {entry.kind}; accept takes a proposal (P…) or a decision (D…)."
        )
    what, text = entry.proposes
    without = _without(ledger, entry)
    done = (set_goal if what == "goal" else constrain)(without, text, by)
    return Edited(done.ledger, f"{entry.id} accepted: {delta.clip(done.sentence)}", entry.id)


def reject(ledger: Ledger, ident: str, by: By) -> Edited:
    """Settle a proposal by dropping it; only the user may."""
    entry = find(ledger, ident, "proposal")
    rules.may_change(by.actor, "proposal")
    text = delta.clip(entry.text)
    return Edited(_without(ledger, entry), f"{entry.id} rejected: {text}", entry.id)


def _twin(ledger: Ledger, kind: str, text: str) -> Entry | None:
    wanted = loosely(text)
    entries = ledger.list(BY_KIND[kind].attr)
    return next(
        (e for e in reversed(entries) if not e.retracted and loosely(e.text) == wanted), None
    )


def _again(ledger: Ledger, twin: Entry, by: By, fields: dict[str, str]) -> Edited:
    """The same text recorded once more: only what differs is new."""
    if same_source(fields.get("source", twin.source), twin.source):
        fields.pop("source", None)
    new = {name: value for name, value in fields.items() if value != getattr(twin, name)}
    suspect = twin.kind == "decision" and bool(twin.suspect)
    if not new and not suspect:
        return Edited(ledger, f"already {twin.id}", twin.id)
    return _change(ledger, twin, "", by, new)


def _change(ledger: Ledger, entry: Entry, text: str, by: By, fields: dict[str, str]) -> Edited:
    new = {name: value for name, value in fields.items() if value != getattr(entry, name)}
    if text and text != entry.text:
        new |= {"text": text, "by": by.actor}
    if entry.kind == "finding" and ("text" in new or "source" in new):
        new |= {"state": first_state(new.get("source", entry.source)), "missing": ""}
        new |= {"origin": by.origin or entry.origin}
    if entry.kind == "decision":
        new["suspect"] = ""
    return _put(ledger, entry, **new)


def _add(ledger: Ledger, kind: str, text: str, by: By, fields: dict[str, str]) -> Edited:
    section = BY_KIND[kind]
    at = SECTIONS.index(section)
    step = ledger.current
    entry = Entry(
        id=ledger.next_id(kind),
        text=text,
        step=step.id if step is not None and kind not in {"step", "constraint"} else "",
        by=by.actor,
        origin=by.origin,
        added=by.added,
        **fields,
    )
    lists: dict[str, Any] = {section.attr: (*ledger.list(section.attr), entry)}
    used = tuple(n + (i == at) for i, n in enumerate(ledger.next))
    return _edited(ledger, msgspec.structs.replace(ledger, next=used, **lists), entry.id)


def _put(ledger: Ledger, entry: Entry, **fields: str) -> Edited:
    new = msgspec.structs.replace(entry, **fields)
    if new == entry:
        return Edited(ledger, f"{entry.id} is already so", entry.id)
    return _edited(ledger, _with(ledger, new), entry.id)


def _edited(before: Ledger, after: Ledger, ident: str = "") -> Edited:
    return Edited(after, delta.sentence(delta.changes(before, after)), ident)


def _with(ledger: Ledger, entry: Entry) -> Ledger:
    attr = entry.section.attr
    return _listed(ledger, attr, [entry if e.id == entry.id else e for e in ledger.list(attr)])


def _removed(ledger: Ledger, entry: Entry, reason: str) -> Edited:
    why = f"{entry.id} removed: {delta.clip(reason or entry.text)}"
    return Edited(_without(ledger, entry), why, entry.id)


def _without(ledger: Ledger, entry: Entry) -> Ledger:
    attr = entry.section.attr
    return _listed(ledger, attr, [e for e in ledger.list(attr) if e.id != entry.id])


def _listed(ledger: Ledger, attr: Attr, entries: Sequence[Entry]) -> Ledger:
    lists: dict[str, Any] = {attr: tuple(entries)}
    return msgspec.structs.replace(ledger, **lists)


def _moved(ledger: Ledger, ident: str, behind: str) -> Ledger:
    if not behind or behind == ident:
        return ledger
    step = find(ledger, ident)
    rest = [e for e in ledger.plan if e.id != ident]
    at = [e.id for e in rest].index(behind) + 1
    order = (*rest[:at], step, *rest[at:])
    return ledger if order == ledger.plan else msgspec.structs.replace(ledger, plan=order)


def _grounds(ledger: Ledger, because: str) -> tuple[str, ...]:
    """Ids that a decision rests on; one that is gone may stay where a decision names it already."""
    named = ids_in(because.upper())
    if not named:
        raise RefusedError(f"because: {because!r} names no entry; give ids such as F12, D3.")
    kept = {ident for decision in ledger.decisions for ident in decision.rests_on}
    return tuple(ident if ident in kept else find(ledger, ident).id for ident in named)


def _check_personal(by: By, *texts: str) -> None:
    if by.actor == "model":
        for text in texts:
            rules.refuse_personal(text)
