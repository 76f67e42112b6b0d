"""What a command or a tool works on, and what it gives back."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import ChatKey
from throughline_nb.engine.registry import UsageError
from throughline_nb.ledger import Ledger
from throughline_nb.ledger.delta import summary
from throughline_nb.ledger.edits import By, Edited
from throughline_nb.ledger.inline import one_line
from throughline_nb.ledger.model import Actor
from throughline_nb.store.records import Absorbed, Snapshot, Stamp

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine
    from throughline_nb.store.chats import ChatState
    from throughline_nb.store.projects import Project


class Reply(msgspec.Struct, frozen=True):
    """What a command gives back.

    Attributes:
        text: One or two sentences: what was done.
        shown: Output to show as it is, several lines of Markdown; may be empty.
        name: Name that the chat should get, or empty.
        id: Id of the entry that was recorded or changed, or empty.
    """

    text: str
    shown: str = ""
    name: str = ""
    id: str = ""

    @classmethod
    def of(cls, answer: "Reply | str") -> "Reply":
        """A reply, also of what a tool answers: its first line leads, the others are shown."""
        if isinstance(answer, Reply):
            return answer
        first, _, rest = answer.partition("\n")
        return cls(first, rest)


class Run:
    """One execution of a command or tool: who, where, on which project.

    Attributes:
        engine: The engine.
        key: The chat, or None at the command line.
        state: The chat's state, or None at the command line.
        actor: ``user`` for commands, ``model`` for tools.
        via: Trailer that says what was executed, such as ``Command: /tl goal``.
        told: What is to be said before the reply where no status line will say it.
        edited: Id of the entry that was last recorded or changed, or empty.
    """

    def __init__(
        self,
        engine: "Engine",
        actor: Actor,
        via: str,
        *,
        key: ChatKey | None = None,
        state: "ChatState | None" = None,
        turn: int = 0,
        project: "Project | None" = None,
    ) -> None:
        self.engine = engine
        self.actor: Actor = actor
        self.via = via
        self.key = key
        self.state = state
        self.turn = turn
        self.now = engine.clock()
        self.told: list[str] = []
        self.edited = ""
        self._project = project

    @property
    def project(self) -> "Project":
        """The project that it works on.

        Raises:
            UsageError: There is none.
        """
        if self._project is None:
            raise UsageError(
                "This chat has no project; /tl start <goal> makes one, /tl open <name> opens one."
                if self.key
                else "No project is named; give --project NAME, or stand in a project's folder."
            )
        return self._project

    @property
    def bound(self) -> "Project | None":
        """The project, or None."""
        return self._project

    @property
    def chat(self) -> "tuple[ChatKey, ChatState]":
        """The chat that it runs in.

        Raises:
            UsageError: It does not run in a chat.
        """
        if self.key is None or self.state is None:
            raise UsageError("The command line is no chat; type this in a chat or a notebook.")
        return self.key, self.state

    def stamp(self, actor: Actor | None = None) -> Stamp:
        """Who makes the next commit, when and where."""
        return Stamp(
            actor=actor or self.actor, now=self.now, via=self.via, chat=self.key, turn=self.turn
        )

    def by(self) -> By:
        """Who records the next entry, where and when."""
        origin = f"turn {self.turn} of {one_line(str(self.key))}" if self.key else ""
        added = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.now))
        return By(self.actor, origin, added)

    def absorb(self) -> None:
        """Merge a pending hand edit of the project."""
        absorbed = self.project.absorb(self.stamp("user"))
        if absorbed is not None:
            self.heard(absorbed)

    def heard(self, absorbed: Absorbed) -> None:
        """Tell of a hand edit that was merged."""
        if self.state is not None:  # a chat hears of it in its status line
            self.engine.heard(absorbed, self.state)
            return
        effect = summary(absorbed.changes)
        self.told += [f"Your edit of ledger.md was merged: {effect}."] if effect else []
        self.told += absorbed.notices

    def change(self, edit: Callable[[Ledger, By], Edited]) -> tuple[Edited, Snapshot]:
        """Apply one operation of :mod:`throughline_nb.ledger.edits` as one commit."""
        by = self.by()
        made: list[Edited] = []

        def apply(ledger: Ledger) -> tuple[Ledger, str]:
            edited = edit(ledger, by)
            made[:] = [edited]
            if self.state is not None and edited.ledger is not ledger:
                self.state.changed = self.turn
            return edited.ledger, edited.sentence

        snapshot = self.project.change(apply, self.stamp(), self.heard)
        self.edited = made[0].id
        return made[0], snapshot
