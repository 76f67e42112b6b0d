"""The engine of one process: its home, its chats in memory, and what hosts call.

A host makes one :class:`Engine` and calls :meth:`Engine.turn` for a user's message,
:meth:`Engine.tools` and :meth:`Engine.call` for the model, :meth:`Engine.command` for a command
typed elsewhere. Turns and calls of one chat run one after another; chats do not wait for each
other.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import msgspec

from throughline_nb.chat import ChatKey, History
from throughline_nb.engine import views
from throughline_nb.engine.cells import Cells
from throughline_nb.engine.cleaning import Cleaner
from throughline_nb.engine.held import Chat
from throughline_nb.engine.operations import COMMANDS, TOOLS
from throughline_nb.engine.recalls import Recalls
from throughline_nb.engine.registry import Operation
from throughline_nb.engine.run import Reply, Run
from throughline_nb.engine.turn import Outcome, preprocess
from throughline_nb.errors import NotFoundError, ThroughLineError
from throughline_nb.ledger import Ledger
from throughline_nb.ledger.delta import summary
from throughline_nb.ledger.health import health
from throughline_nb.ledger.model import Actor
from throughline_nb.store.chats import Chats, ChatState
from throughline_nb.store.cleanup import Exists
from throughline_nb.store.home import Home
from throughline_nb.store.problems import Problem
from throughline_nb.store.projects import Absorbed, Project, Projects, Stamp
from throughline_nb.store.settings import Loaded, Settings, load, parse

log = logging.getLogger("throughline_nb")


class Engine:
    """Everything a host needs.

    Args:
        home: Where everything lives.
        clock: Seconds since the epoch; tests and replays give their own.
        chat_exists: Whether a chat still exists in its host, None where that is not known; what
            belongs to deleted chats is cleaned up. Without it nothing is.
        host_problems: What is not in order in the host, for ``doctor``.
    """

    def __init__(
        self,
        home: Home,
        clock: Callable[[], float] = time.time,
        *,
        chat_exists: Exists | None = None,
        host_problems: Callable[[], Sequence[Problem]] = tuple,
    ) -> None:
        self.home = home
        self.host_problems = host_problems
        self.clock = clock
        self.cleaner = Cleaner(self, chat_exists)
        self.projects = Projects(home)
        self.chats = Chats(home)
        self.recalls = Recalls(self)
        self.cells = Cells(self)
        self._chats: dict[ChatKey, Chat] = {}
        self._open: dict[str, Project] = {}
        self.news: list[str] = []
        self.watch: Callable[[str, int, int], object] = lambda _what, _done, _total: None
        self.form: Mapping[str, Any] = {}
        self._begun = False
        self._lock = threading.Lock()

    # --- what hosts call -----------------------------------------------------------------

    def turn(
        self,
        key: ChatKey | None,
        text: str,
        history: History,
        *,
        settings: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Preprocess a user's message; whatever fails, the message goes on.

        Args:
            key: The chat, or None where the host knows none.
            text: What the user typed.
            history: The complete turns before it.
            settings: Values of the host's own form, by the names of :class:`Settings`.
        """
        if key is None:
            return Outcome(text)
        chat = self.chat(key)
        with chat.lock:
            chat.overrides = settings or {}
            try:
                self._begin()
                return preprocess(self, chat, text, history)
            except ThroughLineError as error:
                return Outcome(text, f"throughLine: {error}")
            except Exception:
                log.exception("turn of %s", key)
                hint = "an unexpected error was logged; your message went on unchanged."
                return Outcome(text, f"throughLine: {hint} /tl doctor helps to find out why.")

    def tools(
        self, key: ChatKey | None, *, settings: Mapping[str, Any] | None = None
    ) -> tuple[Operation, ...]:
        """The tools that the model is offered in a chat; settings as in :meth:`turn`."""
        if key is None:
            return ()
        chat = self.chat(key)
        if settings is not None:
            chat.overrides = settings
        with chat.if_idle() as idle:  # a turn that is under way must not lose its own
            state = self.fresh(chat) if idle else chat.state
        offered = {
            "project": bool(state.project),
            "recall": state.recall and self.recalls.ready(key),
        }
        return tuple(tool for tool in TOOLS if offered[tool.needs])

    def call(
        self,
        key: ChatKey | None,
        name: str,
        given: Mapping[str, Any],
        *,
        turn: int = 0,
        project: str = "",
        settings: Mapping[str, Any] | None = None,
    ) -> str:
        """Execute a tool call of the model; what does not fit or fails is told in one line.

        Args:
            key: The chat; None outside one, where ``project`` must be named.
            name: Name of the tool.
            given: Its arguments, as the model wrote them.
            turn: Number of the turn, where the chat does not count its own.
            project: Name of a project other than the chat's.
            settings: As in :meth:`turn`; None for those of the turn.
        """
        try:
            if key is not None and settings is not None:
                self.chat(key).overrides = settings
            operation = TOOLS.get(name)
            arguments = operation.arguments(given)
            with self._running(key, "model", f"Tool: {name}", turn, project) as run:
                return str(operation.run(run, *arguments.values()))
        except ThroughLineError as error:
            return f"Not done: {error}"
        except Exception:
            log.exception("call of %s in %s", name, key)
            return "Not done: an unexpected error was logged; the ledger is as it was."

    def command(
        self, line: str, *, key: ChatKey | None = None, project: str = "", turn: int = 0
    ) -> Reply:
        """Execute a command line such as ``goal Compare seven runtimes``.

        Args:
            line: The command, without ``/tl``; empty is ``status`` in a bound chat, else ``help``.
            key: The chat that it was typed in; None at the command line.
            project: Name of the project, where there is no chat, or it is not the chat's.
            turn: Number of the turn, in a chat.

        Raises:
            ThroughLineError: It did not work; the text says why.
        """
        self._begin()
        with self._running(key, "user", "", turn, project) as run:
            return self._execute(run, line)

    def perform(
        self,
        via: str,
        work: Callable[[Run], Reply | str],
        *,
        key: ChatKey | None = None,
        project: str = "",
        turn: int = 0,
    ) -> Reply:
        """Do something for the user that code asks for, such as an operation of a registry.

        Args:
            via: Trailer that says what it is, such as ``Command: /tl goal``.
            work: What is done; a text that it gives becomes a reply, its first line leading.
            key: The chat that it is done in, or None.
            project: Name of the project; the chat's own when empty.
            turn: Number of the turn, in a chat.

        Raises:
            ThroughLineError: It did not work; the text says why.
        """
        self._begin()
        with self._running(key, "user", via, turn, project) as run:
            done = Reply.of(work(run))
            text = " ".join([*run.told, done.text])
            return msgspec.structs.replace(done, text=text, id=done.id or run.edited)

    def to_tell(self, key: ChatKey) -> list[str]:
        """What happened beside a chat that no status line will tell, each told once."""
        chat = self.chat(key)
        with chat.lock:
            told = [f"Your edit of ledger.md was merged: {each}." for each in chat.merged]
            told += [*self.news, *chat.notices]
            for each in (chat.merged, chat.notices, self.news):
                each.clear()
        return told

    def undelivered(self, key: ChatKey) -> None:
        """What the last turn gave did not reach the chat; a digest is due with the next message."""
        chat = self.chat(key)
        with chat.lock:
            state = self.fresh(chat)
            if state.project:
                state.due = True
                self.keep(key, state)

    # --- what commands and the preprocessor call ------------------------------------------

    def chat(self, key: ChatKey) -> Chat:
        """The chat in memory; loaded when it is new to this process."""
        with self._lock:
            if key not in self._chats:
                self._chats[key] = Chat(key, self.chats.load(key))
            return self._chats[key]

    def busy(self, key: ChatKey) -> bool:
        """Whether a turn or a call of the chat is under way here."""
        if (chat := self._chats.get(key)) is None:
            return False
        with chat.if_idle() as idle:
            return not idle

    def fresh(self, chat: Chat) -> ChatState:
        """The chat's state; read again where another process changed it."""
        chat.state = self.chats.current(chat.key, chat.state)
        return chat.state

    def settings(self, key: ChatKey | None = None) -> Settings:
        """The settings in force, in a chat with its host's own over those of the file."""
        return self.loaded(key).settings

    def loaded(self, key: ChatKey | None = None) -> Loaded:
        """The settings in force and where each comes from."""
        loaded = load(self.home.settings_file)
        overrides = self._chats[key].overrides if key in self._chats else self.form
        where = f"{key.host}'s form" if key else "the host's form"
        return parse(overrides, where, loaded) if overrides else loaded

    def run_in(self, chat: Chat, line: str, turn: int) -> Reply:
        """Execute a command typed in a chat whose turn is being preprocessed."""
        return self._execute(self._run(chat, "user", "", turn), line)

    def project_of(self, state: ChatState) -> Project | None:
        """The chat's project; a project whose folder is gone unbinds the chat.

        One that stands under another name, by hand or by a rename that was killed, is followed.
        """
        if not state.project:
            return None
        if not self.projects.exists(state.project):
            gone = state.project
            if moved := self.projects.holding(state.shown):
                state.project = moved
                return self._opened(moved)
            self.unbind(state)
            raise NotFoundError(
                f"project {gone} is no longer there, so this chat is unbound; "
                "/tl list shows what is, /tl open <name> opens one."
            )
        return self._opened(state.project)

    def bind(self, state: ChatState, slug: str, *, automatic: bool = False) -> None:
        """Bind a chat to a project; a digest is due."""
        state.project, state.automatic, state.off = slug, automatic, False
        state.due, state.shown, state.changed = True, "", state.turn
        state.proved, state.forgotten = 0, False

    def rebind(self, key: ChatKey, slug: str) -> None:
        """Bind another chat to a project under its new name, or to none where it is empty."""
        state = self.fresh(self.chat(key))
        if slug:
            state.project = slug
        else:
            self.unbind(state)
        self.chats.save(key, state)

    def unbind(self, state: ChatState) -> None:
        """Take a chat off its project."""
        state.project, state.automatic, state.shown = "", False, ""
        self.cells.drop(ChatKey.parse(state.key))

    def absorb(self, project: Project, stamp: Stamp, state: ChatState | None) -> Absorbed | None:
        """Merge a pending hand edit; the chat's next digest says what it changed."""
        absorbed = project.absorb(stamp)
        if absorbed is not None and state is not None:
            self.heard(absorbed, state)
        return absorbed

    def heard(self, absorbed: Absorbed, state: ChatState) -> None:
        """Have the chat's next digest say what was merged."""
        chat = self.chat(ChatKey.parse(state.key))
        effect = summary(absorbed.changes)
        if effect:
            chat.merged.append(effect)
        chat.notices += absorbed.notices
        state.due = True

    def health(self, project: Project, ledger: Ledger) -> tuple[str, ...]:
        """Phrases on what is not in order."""
        return health(ledger, project.open_turns())

    def listing(self) -> str:
        """All projects, one line each, the latest changed first."""
        chats: dict[str, int] = {}
        for _, state in self.chats.states():
            chats[state.project] = chats.get(state.project, 0) + 1
        lines: list[tuple[float, str]] = []
        for name in self.projects.names():
            try:
                project = self.projects.open(name)
                ledger = project.read().ledger
                last = next((record.time for record in project.history(1)), None)
                lines.append((last or 0, views.project_line(ledger, chats.get(name, 0), last)))
            except ThroughLineError as error:
                lines.append((0, f"{name}: {error}"))
        return (
            "\n".join(line for _, line in sorted(lines, reverse=True))
            or f"No projects yet in {self.home.path}."
        )

    # --- inside ------------------------------------------------------------------------------

    def _begin(self) -> None:
        """What comes before a turn or command; once, the import of an earlier format."""
        self.cleaner.tick()
        if self._begun:
            return
        self._begun = True
        from throughline_nb.store.legacy import import_waiting  # noqa: PLC0415 - once, late

        for line in import_waiting(self.home, self.clock()):
            log.info(line)
            self.news.append(line)

    def keep(self, key: ChatKey, state: ChatState) -> None:
        """Save a chat's state behind what was done, which stands whether this works or not."""
        try:
            self.chats.save(key, state)
        except ThroughLineError:
            log.exception("state of %s", key)

    def _opened(self, slug: str) -> Project:
        if slug not in self._open:
            self._open[slug] = self.projects.open(slug)
        return self._open[slug]

    @contextmanager
    def _running(
        self, key: ChatKey | None, actor: Actor, via: str, turn: int, project: str
    ) -> Iterator[Run]:
        """What runs in a chat, under its lock and with its state kept behind it, or outside one."""
        if key is None:
            yield Run(self, actor, via, project=self.projects.find(project) if project else None)
            return
        chat = self.chat(key)
        with chat.lock:
            state = self.fresh(chat)
            turn = turn or state.turn + 1
            if project and project != state.project:
                bound = self.projects.find(project)
                yield Run(self, actor, via, key=key, turn=turn, project=bound)
                return
            yield self._run(chat, actor, via, turn)
            self.keep(key, state)

    def _run(self, chat: Chat, actor: Any, via: str, turn: int) -> Run:
        project = self.project_of(chat.state)
        return Run(self, actor, via, key=chat.key, state=chat.state, turn=turn, project=project)

    def _execute(self, run: Run, line: str) -> Reply:
        words = line.split(maxsplit=1) or ["status" if run.bound else "help"]
        operation = COMMANDS.get(words[0].lower())
        arguments = operation.parsed("".join(words[1:]))
        run.via = f"Command: /tl {operation.name}"
        if operation.needs == "chat":
            _ = run.chat
        if operation.needs == "project":
            _ = run.project
        reply: Reply = operation.run(run, *arguments.values())
        if run.told:
            reply = msgspec.structs.replace(reply, text=" ".join([*run.told, reply.text]))
        return reply
