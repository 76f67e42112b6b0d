"""What can be typed next: commands, projects, ids, versions, and the words that are allowed.

Which argument is meant comes from the registry; what it can be, from its name. It also completes
the text arguments of calls such as ``p.plan("S4", status="…")`` and ``tl.open("…")``.
"""

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from IPython.core.completer import SimpleCompletion, SimpleMatcherResult

from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.engine.registry import Operation, Param
from throughline_nb.hosts.notebook.binding import here
from throughline_nb.hosts.notebook.commands import OWN
from throughline_nb.ledger import Ledger

MOST: Final = 200
"""Candidates that are offered."""

_TYPED: Final = re.compile(r"\s*(?:/|%{1,2})tl(?:\s+(.*))?$", re.DOTALL)
_CALLED: Final = re.compile(r"""\b(\w+)\((?:[^()]*[,\s])?(?:(\w+)\s*=\s*)?["'](\S*)$""")


def completions(text: str, line: int, column: int) -> SimpleMatcherResult:
    """Completions at a place in a cell; none where it is not ours to complete.

    Args:
        text: The whole cell.
        line: The line of the cursor, from 0.
        column: Its place in that line.
    """
    lines = text.split("\n")
    before = lines[line][:column] if line < len(lines) else ""
    try:
        typed = _TYPED.fullmatch(before)
        if typed and (before.lstrip().startswith("%") or not "".join(lines[:line]).strip()):
            return _result(_of_line(typed[1] if typed[1] is not None else None))
        called = _CALLED.search(before)
        if called:
            return _result(_of_call(called[1], called[2] or "", called[3]))
    except Exception:
        logging.getLogger("throughline_nb").exception("completing")
    return _result([])


def _of_line(rest: str | None) -> list[str]:
    """Completions of what stands behind ``%tl``."""
    if rest is None:
        return []
    words = rest.split(" ")
    if len(words) == 1:
        return _starting(words[0].lower(), (each.name for each in (*COMMANDS, *OWN)))
    named = words[0].lower()
    registry = OWN if named in OWN else COMMANDS
    if named not in registry:
        return []
    operation = registry.get(named)
    at = min(len(words) - 2, len(operation.params) - 1)
    return _starting(words[-1], _candidates(operation, operation.params[at])) if at >= 0 else []


def _of_call(function: str, name: str, begun: str) -> list[str]:
    """Completions of a text argument: named, or the first."""
    if function == "open" and not name:
        return _starting(begun, here().engine.projects.names())
    for registered in (f"ledger_{function}", function):
        operation = next((o for o in (*TOOLS, *COMMANDS) if o.name == registered), None)
        if operation is None:
            continue
        params = [p for p in operation.params if p.name == name] if name else operation.params[:1]
        return _starting(begun, _candidates(operation, params[0])) if params else []
    return []


def _candidates(operation: Operation, param: Param) -> Iterable[str]:
    if param.choices:
        return param.choices
    if param.name == "name":
        return here().engine.projects.names() if operation.name != "rename" else ()
    if param.name == "command":
        return (each.name for each in COMMANDS)
    project = here().project
    if project is None:
        return ()
    if param.name == "version":
        return (record.version for record in project.history(MOST))
    wanted = _IDS.get(operation.name) or _IDS.get(param.name)
    return wanted(project.read().ledger) if wanted is not None else ()


def _all(ledger: Ledger) -> Iterable[str]:
    return [entry.id for entry in reversed([*ledger.entries()])]


def _steps(ledger: Ledger) -> Iterable[str]:
    return [step.id for step in ledger.plan]


def _open_questions(ledger: Ledger) -> Iterable[str]:
    return [entry.id for entry in ledger.questions if not entry.answer]


def _proposals(ledger: Ledger) -> Iterable[str]:
    return [entry.id for entry in ledger.proposals]


def _to_accept(ledger: Ledger) -> Iterable[str]:
    return [*_proposals(ledger), *(entry.id for entry in ledger.decisions if entry.suspect)]


_IDS: Final[Mapping[str, Callable[[Ledger], Iterable[str]]]] = {
    "accept": _to_accept,
    "reject": _proposals,
    "id": _all,
    "because": _all,
    "step": _steps,
    "after": _steps,
    "question": _open_questions,
}
"""Which ids an operation, or an argument of this name, takes."""


def _starting(begun: str, candidates: Iterable[str]) -> list[str]:
    return [each for each in candidates if each.lower().startswith(begun.lower())][:MOST]


def _result(found: list[str]) -> SimpleMatcherResult:
    return SimpleMatcherResult(
        completions=[SimpleCompletion(text=each, type="throughline") for each in found],
        suppress=bool(found),
    )
