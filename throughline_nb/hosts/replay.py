"""Plays a stored chat turn by turn, as if throughLine had been there.

For each user message it shows what would have been added for the model, which tools would have
been offered, and the status line; calls of the ledger tools in the file are executed, each version
of a regenerated answer in its order. The engine gets the history as a host hands it in: complete
turns, only what is new, with the messages as they would have been stored.
"""

import os
import sys
import tempfile
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from throughline_nb.chat import History, Message
from throughline_nb.engine.intake import COMMAND
from throughline_nb.engine.operations import TOOLS
from throughline_nb.engine.session import Engine
from throughline_nb.engine.turn import Outcome
from throughline_nb.hosts.lmstudio.files import Conversation, TurnVersions, read_conversation
from throughline_nb.ledger.fence import CLOSING, OPENING, tokens, without_blocks
from throughline_nb.store.home import Home

WIDTH: Final = 100
INDENT: Final = 12
SAID_LINES: Final = 12
VIEW_LINES: Final = 6
"""Lines of an answer, and of a ledger that the model looked at, that a brief screen shows."""

MESSAGE_SECONDS: Final = 90.0
CALL_SECONDS: Final = 4.0
"""Time that passes with a user's message and with a tool call; the files do not say."""


class Clock:
    """Seconds since the epoch that pass only when told.

    Args:
        now: Where it starts.
    """

    def __init__(self, now: float) -> None:
        self.now = now

    def __call__(self) -> float:
        """The time."""
        return self.now

    def pass_on(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds


class Screen:
    """Lines for a terminal of 100 columns.

    Args:
        write: Takes one line, or several.
        colour: Whether lines may be coloured.
        brief: Whether long lines are cut where they would wrap, and only what changes is shown.
    """

    def __init__(
        self, write: Callable[[str], object], *, colour: bool = False, brief: bool = False
    ) -> None:
        self._write = write
        self._colour = colour
        self.brief = brief

    @classmethod
    def standard(cls, write: Callable[[str], object], *, brief: bool = False) -> "Screen":
        """Coloured where the standard output is a terminal that wants it (no-color.org)."""
        env = os.environ
        plain = env.get("NO_COLOR") or env.get("TERM") == "dumb"
        return cls(write, colour=sys.stdout.isatty() and not plain, brief=brief)

    def heading(self, text: str) -> None:
        """A line across the screen."""
        rule = f"── {text} ".ljust(WIDTH, "─")
        self._write("\n" + self._painted(rule, "1"))

    def labelled(self, label: str, text: str, code: str = "") -> None:
        """A label in a column of its own, and text that wraps beside it."""
        for number, line in enumerate(_wrapped(text, WIDTH - INDENT)):
            lead = f"{label if number == 0 else '':>10}  "
            self._write(self._painted(lead, "2") + self._painted(line, code))

    def block(self, text: str, *, whole: bool = False) -> None:
        """Text behind a bar; long lines are cut if the screen is brief, unless ``whole``."""
        room = WIDTH - INDENT - 2
        lines = [_cut(line, room) for line in text.splitlines()]
        for line in lines if self.brief and not whole else _wrapped(text, room):
            self._write(" " * INDENT + self._painted(f"│ {line}", "36"))

    def line(self, text: str = "") -> None:
        """A line as it is."""
        self._write(text)

    def _painted(self, text: str, code: str) -> str:
        return f"\033[{code}m{text}\033[0m" if self._colour and code and text.strip() else text


class Player:
    """Plays the turns of one conversation into an engine.

    Args:
        engine: The engine; its clock is ``clock``.
        conversation: The chat.
        screen: Where it shows what happens.
        clock: Moved on with every message and call.
    """

    def __init__(
        self, engine: Engine, conversation: Conversation, screen: Screen, clock: Clock
    ) -> None:
        self._engine = engine
        self._conversation = conversation
        self._screen = screen
        self._clock = clock
        self._history: list[tuple[Message, ...]] = []
        self._offered: tuple[str, ...] | None = None

    def play(self, turn: TurnVersions, before_call: Callable[[int], None] | None = None) -> Outcome:
        """Play one turn; turns are played in their order.

        Args:
            turn: The turn.
            before_call: Called with 1, 2, … before each call of a ledger tool in it.
        """
        self._screen.heading(f"Turn {turn.turn}")
        outcome = self._send(turn)
        results: dict[str, str] = {}
        for answer in turn.answers:
            for number, version in enumerate(answer.versions, 1):
                if len(answer.versions) > 1:
                    self._screen.labelled("", f"(answer {number} of {len(answer.versions)})")
                results |= self._answer(version, len(results), before_call)
        self._history.append(tuple(self._stored(turn, outcome, results)))
        return outcome

    def _send(self, turn: TurnVersions) -> Outcome:
        """Preprocess the message as it was first sent; an edit later runs no hook."""
        screen, sent = self._screen, turn.prompts[0]
        screen.labelled("user", sent.typed, "1")
        if turn.prompt.files:
            screen.labelled("attached", ", ".join(turn.prompt.files))
        self._clock.pass_on(MESSAGE_SECONDS)
        done = len(self._history)
        history = History(done, max(done, 1), self._messages)
        text = sent.typed if COMMAND.fullmatch(sent.typed) else without_blocks(sent.stored)
        outcome = self._engine.turn(self._conversation.key, text, history)
        if outcome.status:
            screen.labelled("status", outcome.status, "32")
        if outcome.name:
            screen.labelled("chat name", outcome.name)
        added = outcome.text.removeprefix(text).strip()
        if added:
            how = "added" if outcome.text.startswith(text) else "becomes"
            screen.labelled(how, f"for the model, about {tokens(added)} tokens:")
            screen.block(_essence(added) if screen.brief else added, whole=True)
        offered = tuple(tool.name for tool in self._engine.tools(self._conversation.key))
        if offered != self._offered:
            screen.labelled("tools", ", ".join(offered) or "none")
            self._offered = offered
        for prompt in turn.prompts[1:]:
            screen.labelled("edited to", prompt.typed, "1")
        return outcome

    def _messages(self, first: int) -> Sequence[Message]:
        return [message for turn in self._history[first - 1 :] for message in turn]

    def _answer(
        self, version: Iterable[Message], called: int, before_call: Callable[[int], None] | None
    ) -> dict[str, str]:
        """Show an answer and execute its ledger calls; returns their results by call id."""
        screen = self._screen
        results: dict[str, str] = {}
        others: Counter[str] = Counter()
        for message in version:
            if message.role == "assistant" and message.tool in TOOLS:
                self._show_others(others)
                if before_call is not None:
                    before_call(called + len(results) + 1)
                self._clock.pass_on(CALL_SECONDS)
                given = ", ".join(f"{name}: {value}" for name, value in message.args.items())
                shown = f"{message.tool}({given})"
                if screen.brief:
                    shown = _cut(shown, WIDTH - INDENT)
                screen.labelled("call", shown, "35")
                result = self._engine.call(self._conversation.key, message.tool, message.args)
                results[message.call_id] = result
                refused = result.startswith("Not done")
                lines = VIEW_LINES if message.tool == "ledger_view" else 1
                screen.block(_first_lines(result, lines) if screen.brief else result, whole=refused)
            elif message.role == "assistant" and message.tool:
                self._clock.pass_on(CALL_SECONDS)
                others[f"{message.tool} (failed)" if message.failed else message.tool] += 1
            elif message.role == "assistant":
                self._show_others(others)
                brief = _first_lines(message.text, SAID_LINES)
                screen.labelled("model", brief if screen.brief else message.text)
        self._show_others(others)
        return results

    def _show_others(self, others: Counter[str]) -> None:
        if others:
            shown = (f"{name} ×{many}" if many > 1 else name for name, many in others.items())
            self._screen.labelled("calls", ", ".join(shown))
            others.clear()

    @staticmethod
    def _stored(turn: TurnVersions, outcome: Outcome, results: dict[str, str]) -> Iterable[Message]:
        """The turn as the chat would have stored it, with what was added and what tools said."""
        user, *rest = turn.messages
        # An edited message is stored as it was typed anew: no hook adds anything to it.
        yield user if turn.selected else msgspec.structs.replace(user, text=outcome.text)
        for message in rest:
            said = results.get(message.call_id) if message.role == "tool" else None
            yield message if said is None else msgspec.structs.replace(message, text=said)


def replay(conversation: Conversation, engine: Engine, screen: Screen, clock: Clock) -> None:
    """Play a whole conversation.

    Args:
        conversation: The chat.
        engine: The engine; its clock is ``clock``.
        screen: Where it shows what happens.
        clock: Moved on with every message and call.
    """
    screen.line(f"Chat {conversation.key}: {conversation.name or '(no name)'}")
    if conversation.skipped:
        skipped = ", ".join(f"{name} ×{many}" for name, many in conversation.skipped)
        screen.line(f"Not understood and left out: {skipped}")
    player = Player(engine, conversation, screen, clock)
    for turn in conversation.turns:
        player.play(turn)


def replay_file(file: Path, home: Home | None, write: Callable[[str], object]) -> None:
    """Play an LM Studio conversation file.

    Args:
        file: The file.
        home: The home to play into; None for a temporary one that is removed afterwards.
        write: Takes each line.

    Raises:
        ThroughLineError: The file is not there or is no conversation.
    """
    conversation = read_conversation(file)
    clock = Clock(conversation.created or time.time())
    screen = Screen.standard(write)
    if home is not None:
        replay(conversation, Engine(home, clock), screen, clock)
        return
    with tempfile.TemporaryDirectory(prefix="throughline-", ignore_cleanup_errors=True) as folder:
        replay(conversation, Engine(Home(Path(folder)), clock), screen, clock)


def _first_lines(text: str, many: int) -> str:
    lines = text.strip().splitlines()
    if len(lines) > many > 1:
        lines = [*lines[:many], f"… ({len(lines) - many} more lines)"]
    return "\n".join(lines[: many + 1] if many > 1 else lines[:1])


def _wrapped(text: str, width: int) -> list[str]:
    return [
        piece
        for line in text.splitlines() or [""]
        for piece in textwrap.wrap(line, width, break_on_hyphens=False) or [""]
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def _essence(added: str) -> str:
    """What we added, without our fence lines and the end of the goal, the same every time."""
    lines = (line for line in added.splitlines() if line not in (OPENING, CLOSING, ""))
    return "\n".join(
        _cut(line, WIDTH - INDENT - 2) if " | Goal: " in line else line for line in lines
    )
