"""The preprocessor: what happens on a user's message, step by step.

:func:`preprocess` reads as the list of its steps; each is one call into the part that owns it.
"""

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import msgspec

from throughline_nb.chat import History
from throughline_nb.engine.intake import COMMAND, reconcile, verify
from throughline_nb.engine.naming import title_of
from throughline_nb.engine.registry import UsageError
from throughline_nb.errors import ThroughLineError
from throughline_nb.ledger import Entry, Ledger
from throughline_nb.ledger.delta import changes, clip, summary
from throughline_nb.ledger.digest import View, digest, header, status_line
from throughline_nb.ledger.fence import fenced, neutral, without_blocks
from throughline_nb.ledger.inline import one_line
from throughline_nb.store.chats import ChatState
from throughline_nb.store.projects import Project, Snapshot, Stamp

if TYPE_CHECKING:
    from throughline_nb.engine.held import Chat
    from throughline_nb.engine.run import Reply
    from throughline_nb.engine.session import Engine

T = TypeVar("T")
OTHER_COMMAND = re.compile(r"\s*+/[A-Za-z][\w-]*+(?:\s[^\n]*+)?\s*+")
"""A command of another plugin, such as ``/compact``; a path has a second slash at once."""

PROJECTS_QUESTION = re.compile(
    r"\s*(?:please\s+)?(?:"
    r"what(?:'s|’s| is| are) the status(?:es)? of (?:all )?my projects"
    r"|(?:list|show)(?: me)?(?: all)?(?: of)? my projects"
    r"|(?:what|which) projects (?:do i have|are there|have i got)"
    r"|how are my projects (?:doing|going)"
    r"|what are my projects"
    r")\s*(?:,?\s*please)?\s*[?.!]*\s*",
    re.IGNORECASE,
)
LONGEST_QUESTION = 200
REMINDER = (
    "Nothing was recorded in the last {n} turns; record what is settled with ledger_record, "
    "or update the plan with ledger_plan."
)


class Outcome(msgspec.Struct, frozen=True):
    """What becomes of a user's message.

    Attributes:
        text: The message as the model gets it.
        status: Line above the reply, or empty.
        name: Name that the chat should get, or empty.
    """

    text: str
    status: str = ""
    name: str = ""


def preprocess(engine: "Engine", chat: "Chat", text: str, history: History) -> Outcome:
    """Run the steps of a user's message, in their order."""
    state = engine.fresh(chat)
    settings = engine.settings(chat.key)
    turn, bound_to = history.turn + 1, state.project
    trouble: list[str] = [line.rstrip(".") for line in engine.news]
    engine.news.clear()
    project = _guarded(lambda: engine.project_of(state), trouble)
    if bound_to and not state.project:  # its folder is gone
        _guarded(lambda: engine.chats.save(chat.key, state), trouble)
    _guarded(lambda: reconcile(engine, chat, history), trouble)
    _guarded(lambda: engine.recalls.step(chat, history), trouble)
    if project is not None:
        bound = project
        stamp = Stamp(actor="user", now=engine.clock(), chat=chat.key, turn=turn)
        _guarded(lambda: engine.absorb(bound, stamp, state), trouble)
        _guarded(lambda: verify(engine, chat, bound, turn), trouble)
        _guarded(lambda: count_turn(bound), trouble)
    typed = COMMAND.fullmatch(text)
    if typed:
        chat.history = history
        outcome = _command(engine, chat, typed.group(1) or "", turn)
        chat.history = None
        _guarded(lambda: engine.chats.save(chat.key, state), trouble)
        return _with_status(outcome, trouble)
    if OTHER_COMMAND.fullmatch(text):  # passes untouched; what is due comes with the next message
        _guarded(lambda: engine.chats.save(chat.key, state), trouble)
        return _with_status(Outcome(text, _position(engine, chat)), trouble)
    if project is None and settings.automatic_start and not bound_to:
        project = _guarded(lambda: start_by_itself(engine, chat, history, turn), trouble)
    added: list[str] = []
    if asks_for_projects(text):
        opening = "[throughLine: the user's projects; answer from this list.]"
        added.append(fenced(map(neutral, engine.listing().splitlines()), opening))
    status = ""
    if project is not None:
        bound = project
        shown = _guarded(lambda: background(engine, chat, bound), trouble)
        if shown is not None:
            added.append(shown.text)
            status = shown.status
        _guarded(lambda: engine.chats.save(chat.key, state), trouble)
        project.collect_garbage()
    elif branched(state) and not state.off:
        status = "throughLine: this chat has no project of its own; /tl open <name> opens one"
    return _with_status(Outcome("\n\n".join([text, *added]), status), trouble)


def count_turn(project: Project) -> None:
    """Count a project turn, by which it is known for how long a question has been open."""
    questions = project.read().ledger.questions
    project.note_turn([entry.id for entry in questions if not entry.answer])


def start_by_itself(engine: "Engine", chat: "Chat", history: History, turn: int) -> Project | None:
    """Start a project after two heavy turns in a row; commands in between do not count."""
    state, calls = chat.state, engine.settings(chat.key).heavy_turn_calls
    if state.off or branched(state):
        return None
    latest = [count for count in state.recent if not count.command][-2:]
    if len(latest) < 2 or any(count.calls < calls for count in latest):
        return None
    first = next((m for m in history.messages(1) if m.role == "user"), None)
    asked = " ".join(without_blocks(first.text).split()) if first else ""
    slug = engine.projects.free_slug(title_of(asked) or "project")
    ledger = Ledger(project=slug, next=(1, 1, 1, 1, 1, 2))
    if asked:
        proposal = Entry(
            id="P1",
            text=f"goal: {clip(asked, 400)}",
            by="engine",
            origin=one_line(f"turn {turn} of {chat.key}"),
        )
        ledger = msgspec.structs.replace(ledger, proposals=(proposal,))
    stamp = Stamp(actor="engine", now=engine.clock(), chat=chat.key, turn=turn)
    project = engine.projects.create(slug, ledger, "Project started by itself", stamp)
    engine.bind(state, project.slug, automatic=True)
    reconcile(engine, chat, history)
    chat.notices.append(
        "throughLine started this project by itself; its goal is not set, P1 proposes one."
    )
    return project


def asks_for_projects(text: str) -> bool:
    """Whether a message is nothing but a question about the user's projects."""
    return len(text) <= LONGEST_QUESTION and bool(
        PROJECTS_QUESTION.fullmatch(" ".join(text.split()))
    )


def branched(state: ChatState) -> bool:
    """Whether the history holds blocks of ours though the chat was never bound."""
    return state.digest >= 0 and not state.project


def background(engine: "Engine", chat: "Chat", project: Project) -> Outcome:
    """Header or digest of the project, and the status line."""
    state, settings = chat.state, engine.settings(chat.key)
    now = project.read()
    before = _shown(project, state, now)
    found = changes(before.ledger, now.ledger) if before else ()
    notices = [*(f"The user edited ledger.md by hand: {each}." for each in chat.merged)]
    notices += chat.notices
    if _stale(state, settings.stale_turns):
        notices.append(REMINDER.format(n=settings.stale_turns))
    health = engine.health(project, now.ledger)
    view = View(now.ledger, summary(found), health, notices)
    far = state.digest < 0 or state.tokens - state.digest > settings.verbatim_tokens
    ruled = any(change.name == "Goal" or change.name.startswith("C") for change in found)
    whole = state.due or far or ruled
    text = digest(view, settings.digest_tokens) if whole else header(view)
    line = status_line(now.ledger, [*_status_notices(chat, now.ledger), *unshared(project)])
    state.due, state.shown = False, now.version
    chat.merged, chat.notices = [], []
    return Outcome(text, line)


def unshared(project: Project) -> list[str]:
    """What is not on the remote yet, and what was fetched from it; asks nobody."""
    far = project.apart()
    if far is None or not (far.ahead or far.behind):
        return []
    parts = [f"{far.ahead} to send"] * bool(far.ahead) + [f"{far.behind} to merge"] * bool(
        far.behind
    )
    return [f"{', '.join(parts)}: /tl sync"]


def _shown(project: Project, state: ChatState, now: Snapshot) -> Snapshot | None:
    if not state.shown or state.shown == now.version:
        return None
    try:
        return project.at(state.shown)
    except ThroughLineError:
        return None


def _stale(state: ChatState, limit: int) -> bool:
    latest = [count for count in state.recent if not count.command][-limit:]
    return (
        len(latest) == limit
        and all(count.calls and not count.recorded for count in latest)
        and state.changed < latest[0].turn
    )


def _status_notices(chat: "Chat", ledger: Ledger) -> list[str]:
    if chat.state.automatic and ledger.empty:
        return ["started by itself: /tl accept P1, /tl rename <name> or /tl off"]
    merged = [f"your edit of ledger.md was merged: {each}" for each in chat.merged]
    return merged + [notice.rstrip(".") for notice in chat.notices]


def _command(engine: "Engine", chat: "Chat", line: str, turn: int) -> Outcome:
    """Execute a command; the message becomes an instruction to say what came of it."""
    from throughline_nb.store.sharing.addresses import without_secret  # noqa: PLC0415 - rarely

    typed = neutral(clip(without_secret(f"/tl {line}".strip()), 80))
    try:
        reply = engine.run_in(chat, line, turn)
    except ThroughLineError as error:
        why = "was not understood" if isinstance(error, UsageError) else "did not work"
        told = f'[throughLine: "{typed}" {why}. Tell the user so in one sentence.]'
        return Outcome(fenced([neutral(str(error))], told), _position(engine, chat))
    name = reply.name if turn == 1 else ""
    return Outcome(_told(typed, reply), _position(engine, chat), name)


def _told(typed: str, reply: "Reply") -> str:
    done = neutral(reply.text)
    if not reply.shown:
        told = f'[throughLine: "{typed}" was carried out. Confirm it to the user in one sentence.]'
        return fenced([done], told)
    told = f'[throughLine: "{typed}" was carried out. Repeat the fenced block to the user exactly.]'
    shown = [neutral(row) for row in reply.shown.splitlines()]
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall(r"`{3,}", reply.shown))])
    return fenced([done, f"{fence}text", *shown, fence], told)


def _position(engine: "Engine", chat: "Chat") -> str:
    if not chat.state.project:
        return ""
    try:
        project = engine.projects.open(chat.state.project)
        return status_line(project.read().ledger, unshared(project))
    except ThroughLineError:  # what was done must be told; the next turn says what is wrong
        return ""


def _with_status(outcome: Outcome, trouble: list[str]) -> Outcome:
    if not trouble:
        return outcome
    line = " · ".join([outcome.status or "throughLine", *dict.fromkeys(trouble)])
    line = line.replace("throughLine · ", "throughLine: ", 1)
    return msgspec.structs.replace(outcome, status=line)


def _guarded(step: Callable[[], T], trouble: list[str]) -> T | None:
    """Run a step; what a person should know of its failure goes to the status line."""
    try:
        return step()
    except ThroughLineError as error:
        trouble.append(str(error).rstrip("."))
        return None
