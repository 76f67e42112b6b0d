"""What follows from a change: a decision is suspect while something that it rests on is unsound.

The mark stands in the decision itself (``suspect: F12 retracted; F13 changed``), so that a person
sees it in the file, git shows when it came, and deleting the line accepts the decision.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

import msgspec

from throughline_nb.ledger.model import Entry, Ledger, numbers_after

MARK: Final = "run again: "
"""How the reason begins that a finding gets when it becomes stale (:mod:`.cells`)."""

_AGAIN: Final = re.compile(rf"(?:^|; ){MARK}.*$")
_MARKED: Final = ("stale", "retracted")


def settle(before: Ledger, after: Ledger) -> Ledger:
    """Apply what follows from a change: decisions become suspect, free numbers move on.

    A decision is marked when something that it rests on goes from sound to unsound; the mark goes
    when that is sound again. What was recorded again or accepted since is not marked anew.
    """
    if before is after:
        return after
    numbers = tuple(max(pair) for pair in zip(before.next, numbers_after(after), strict=True))
    if numbers != after.next:
        after = msgspec.structs.replace(after, next=numbers)
    after = _unmarked(after)
    if not any(entry.because or entry.suspect for entry in after.decisions):
        return after
    was = {entry.id: entry for entry in before.entries()}
    now = {entry.id: entry for entry in after.entries()}
    marked = tuple(_cascade(entry, was, now) for entry in after.decisions)
    if marked == after.decisions:
        return after
    return msgspec.structs.replace(after, decisions=marked)


def settled_reason(reason: str) -> str:
    """A finding's reason without what was put there when it became stale."""
    return _AGAIN.sub("", reason)


def _unmarked(ledger: Ledger) -> Ledger:
    """Findings that are no longer stale, as after a change of their text, without its reason."""
    marked = [e for e in ledger.findings if MARK in e.reason and e.state not in _MARKED]
    if not marked:
        return ledger
    new = {e.id: msgspec.structs.replace(e, reason=settled_reason(e.reason)) for e in marked}
    findings = tuple(new.get(entry.id, entry) for entry in ledger.findings)
    return msgspec.structs.replace(ledger, findings=findings)


def _cascade(decision: Entry, was: dict[str, Entry], now: dict[str, Entry]) -> Entry:
    old = was.get(decision.id)
    if old is decision and all(was.get(ident) is now.get(ident) for ident in decision.rests_on):
        return decision
    rewritten = old is not None and _said(old) != _said(decision)
    accepted = old is not None and bool(old.suspect) and not decision.suspect
    marks: list[str] = []
    for ident in decision.rests_on:
        kept = next((m for m in decision.suspect.split("; ") if m.split(" ")[0] == ident), "")
        trouble = _trouble(now.get(ident))
        if accepted or rewritten:
            fresh = ""
        elif old is None:
            fresh = trouble
        elif trouble:
            fresh = trouble if not _trouble(was.get(ident)) else ""
        else:
            fresh = _rewritten(was.get(ident), now[ident])
        stands = kept and (trouble or kept.endswith(" changed"))
        mark = f"{ident} {fresh}" if fresh else kept if stands else ""
        if mark:
            marks.append(mark)
    return msgspec.structs.replace(decision, suspect="; ".join(marks))


def _trouble(entry: Entry | None) -> str:
    if entry is None:
        return "removed"
    return entry.state if entry.state in {"retracted", "not read", "stale"} else ""


def _rewritten(old: Entry | None, new: Entry) -> str:
    if old is None or old.text == new.text:
        return ""
    return "changed" if loosely(old.text) != loosely(new.text) else ""


def _said(entry: Entry) -> tuple[str, str, str]:
    return entry.text, entry.reason, entry.because


@lru_cache(maxsize=8192)
def loosely(text: str) -> str:
    """``text`` as compared when something is recorded again: case, marks and spaces folded."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(word.strip("\"'`*_.,;:!?()[]“”‘’«»") for word in folded.split())
