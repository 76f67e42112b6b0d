"""The model's tools, each defined once. Their docstrings are what the model reads.

A result says only what changed: a line on what was done, the entry, the step in hand, and what
comes next. Arguments are taken as models write them, and refused in one line where they do not
fit.
"""

from typing import Literal

from throughline_nb.engine.registry import TOOLS, UsageError
from throughline_nb.engine.run import Run
from throughline_nb.ledger import edits
from throughline_nb.ledger.delta import clip, stated
from throughline_nb.ledger.digest import shown_entry
from throughline_nb.ledger.edits import Edited
from throughline_nb.ledger.fence import neutral, tokens
from throughline_nb.ledger.model import SECTIONS, Entry, Ledger

PAGE_TOKENS = 1500
"""Size of a page of ``ledger_view``, in estimated tokens."""

Where = Literal[
    "all", "goal", "constraints", "plan", "findings", "decisions", "questions", "proposals", "notes"
]


@TOOLS.add("project")
def ledger_view(run: Run, section: Where = "all", page: int = 1) -> str:
    """Read the project's ledger: goal, constraints, plan, findings, decisions and questions.

    Args:
        section: Which part to read; the whole ledger when left out.
        page: Page number, from 1; a page holds about 1,500 tokens.
    """
    run.absorb()
    pages = _pages(_lines(run.project.read().ledger, section))
    if not 1 <= page <= len(pages):
        raise UsageError(f"ledger_view: page was {page}; allowed: 1 to {len(pages)}.")
    more = f"Page {page} of {len(pages)}; ledger_view(page={page + 1}) shows the next."
    return "\n".join([*pages[page - 1], *([more] if page < len(pages) else [])])


@TOOLS.add("project")
def ledger_plan(
    run: Run,
    step: str = "",
    text: str = "",
    status: Literal["", "todo", "doing", "done", "blocked"] = "",
    note: str = "",
    after: str = "",
) -> str:
    """Add a step to the plan, or change one: its status, text, note or place.

    Mark a step doing when you begin it, and done when its results are recorded: done is refused
    while nothing was recorded during the step, unless a note says what came of it.

    Args:
        step: Id of the step to change, such as S4; leave out to add a step.
        text: What the step is.
        status: Where the step stands; blocked needs a note that says what it waits for.
        note: A short note: what came of it, or what it waits for.
        after: Id of a step, such as S3, to place this one behind it.
    """
    refuse = run.engine.settings(run.key).refuse_empty_done

    def edit(ledger: Ledger, by: edits.By) -> Edited:
        return edits.plan(
            ledger,
            by,
            step=step,
            text=text,
            status=status,
            note=note,
            after=after,
            refuse_empty_done=refuse,
        )

    edited, snapshot = run.change(edit)
    return _result(edited, snapshot.ledger)


@TOOLS.add("project")
def ledger_record(
    run: Run,
    kind: Literal["", "finding", "decision", "question", "goal", "constraint"] = "",
    text: str = "",
    source: str = "",
    reason: str = "",
    because: str | list[str] = "",
    id_: str = "",
    retract: bool = False,
) -> str:
    """Record a finding, decision or question of this project; change one, or retract one.

    Record a finding as soon as it is settled, with its exact figures and its source. A goal or
    constraint becomes a proposal for the user. Facts about the user belong in a memory tool, not
    here; the state of this project belongs here, not in a memory tool.

    Args:
        kind: What is recorded; needed for a new entry.
        text: The claim, choice or question in one sentence; needed for a new entry.
        source: Where a finding comes from: a URL, a file's path, "user", or "turn 41".
        reason: Why: of a decision, or of a retraction.
        because: Ids that a decision rests on, such as "F12, F13".
        id: Id of an entry to change or retract, such as F12.
        retract: True withdraws the entry that id names: a finding stays, marked as retracted.
    """
    if retract and not id_:
        raise UsageError("ledger_record: retract needs id, such as F12.")
    if not kind and not id_:
        raise UsageError("ledger_record needs kind: finding, decision, question, goal, constraint.")
    rests_on = because if isinstance(because, str) else ", ".join(because)

    def edit(ledger: Ledger, by: edits.By) -> Edited:
        if retract:
            return edits.retract(ledger, id_, by, reason or text)
        return edits.record(
            ledger,
            kind or edits.find(ledger, id_).kind,
            text,
            by,
            source=source,
            reason=reason,
            because=rests_on,
            ident=id_,
        )

    edited, snapshot = run.change(edit)
    return _result(edited, snapshot.ledger)


@TOOLS.add("project")
def ledger_resolve(
    run: Run, question: str, answer: str, as_finding: bool = False, source: str = ""
) -> str:
    """Close an open question of this project with its answer.

    Args:
        question: Id of the question, such as Q1.
        answer: The answer in one sentence.
        as_finding: True records the answer as a finding too.
        source: Where the answer comes from, when it is recorded as a finding.
    """

    def edit(ledger: Ledger, by: edits.By) -> Edited:
        return edits.resolve(ledger, question, answer, by, as_finding=as_finding, source=source)

    edited, snapshot = run.change(edit)
    return _result(edited, snapshot.ledger)


@TOOLS.add("recall")
def recall(run: Run, query: str = "", turn: int = 0, page: int = 1) -> str:
    """Search everything that was said in this chat, also what is no longer in the context.

    The best passages, each with its turn, speaker and time; or one turn in full.

    Args:
        query: Words to look for, best those that stood there: names, figures, terms.
        turn: Number of a turn to read in full, instead of a query.
        page: Page of that turn, from 1.
    """
    from throughline_nb.engine.recalling import answer  # noqa: PLC0415 - it registers a command

    return answer(run, query, turn, page)


def _result(edited: Edited, ledger: Ledger) -> str:
    lines = [stated(neutral(clip(edited.sentence, 160)))]
    entry = ledger.get(edited.id) if edited.id else None
    if entry is not None:
        lines.append(shown_entry(entry, 200))
    step = ledger.current
    if step is not None:
        done = sum(s.status == "done" for s in ledger.plan)
        lines.append(
            f"Now: {step.id}. {neutral(clip(step.text, 80))} ({step.status}), "
            f"{done} of {len(ledger.plan)} done."
        )
    lines.append(f"next: {_next(entry, ledger)}")
    return "\n".join(lines)


def _next(entry: Entry | None, ledger: Ledger) -> str:  # noqa: PLR0911 - one line a case
    step = ledger.current
    if entry is not None and entry.kind == "proposal":
        return f"ask the user to accept or reject {entry.id}."
    if entry is not None and entry.kind == "finding" and not entry.source:
        return f"give {entry.id} its source."
    if entry is not None and entry.kind == "question" and not entry.answer:
        return f"close it with ledger_resolve when {entry.id} is settled."
    if not ledger.plan:
        return "add the steps of the plan with ledger_plan."
    if step is None:
        return "all steps are done; tell the user what came of it."
    if step.status == "todo":
        return f'begin {step.id}: ledger_plan(step="{step.id}", status="doing").'
    return f"go on with {step.id}; record what it gives, then mark it done."


def _lines(ledger: Ledger, section: str) -> list[str]:
    lines: list[str] = []
    if section in {"all", "goal"}:
        lines += [f'Project "{ledger.project}"', f"Goal: {neutral(ledger.goal) or 'not set yet'}"]
    for each in SECTIONS:
        if section in {"all", each.attr}:
            entries = ledger.list(each.attr)
            if entries or section != "all":
                lines.append(f"{each.title}:" if entries else f"{each.title}: none")
            lines += [shown_entry(entry, 4000) for entry in entries]
    if section in {"all", "notes"} and ledger.prose:
        lines.append("Notes by the user:")
        lines += [neutral(line) for part in ledger.prose for line in part.text.splitlines()]
    return lines or ["Notes: none"]


def _pages(lines: list[str]) -> list[list[str]]:
    pages: list[list[str]] = [[]]
    room = PAGE_TOKENS
    for line in lines:
        cost = tokens(line) + 1
        if cost > room and pages[-1]:
            pages.append([])
            room = PAGE_TOKENS
        pages[-1].append(line)
        room -= cost
    return pages
