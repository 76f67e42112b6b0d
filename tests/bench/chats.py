"""Long chats to measure on, and a host that hands them to the engine as LM Studio's would."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, overload

import msgspec

from throughline_nb.chat import ChatKey, History, Message
from throughline_nb.engine.session import Engine
from throughline_nb.engine.turn import Outcome
from throughline_nb.ledger import Ledger
from throughline_nb.store.home import Home
from throughline_nb.store.projects import Project, Stamp

from .ledgers import sentence, sized, url

KEY: Final = ChatKey("lmstudio", "1764500000000")
CHARACTERS: Final = 480
"""Length of a message."""

LEDGER_KB: Final = 50

_NOW: Final = 1_760_000_000.0
_PERIOD: Final = 8
"""Each turn is a question and an answer; in every eighth the model reads a page as well."""

_MESSAGES: Final = 2 * _PERIOD + 2
"""Messages in so many turns."""


_SAID: Final = (
    "The documentation of the server says so, but the release notes do not mention it.",
    'What does "default" mean here: the value of the server, or the one in the model\'s own file?',
    "Both agree on the license, so this row of the table is settled.",
    "I would not rely on the blog post, because it was written before the change.",
    "Set it in the configuration file, then restart:\n\n```\nserver --config local.toml\n```\n",
    'The page only says "see the source", so let us look there next.',
    "That leaves the question of what happens when the prompt is longer than the window.",
    "Please check the other runtimes in the same way, and note the page for each of them.",
)


def _texts() -> tuple[str, ...]:
    rng = random.Random("messages")
    pool = []
    for _ in range(61):
        text = ""
        while len(text) < CHARACTERS:
            said = sentence(rng).capitalize() if rng.random() < 0.4 else rng.choice(_SAID)
            text += rng.choice(("{} ", "{} ", "{}\n\n", "\n- {}")).format(said)
        pool.append(text)
    return tuple(pool)


_POOL: Final = _texts()


class Stored(Sequence[Message]):
    """A history of so many messages, made when looked at, so that no memory counts as the host's."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, at: int) -> Message: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Message]: ...
    def __getitem__(self, at: int | slice) -> Message | Sequence[Message]:
        if isinstance(at, slice):
            return [self[n] for n in range(*at.indices(self._count))]
        if not 0 <= at < self._count:
            raise IndexError(at)
        period, rest = divmod(at, _MESSAGES)
        turn, part = period * _PERIOD + min(rest // 2, _PERIOD - 1) + 1, rest - 2 * (_PERIOD - 1)
        text = f"{turn}.{rest} {_POOL[at % len(_POOL)]}"[:CHARACTERS]
        time = _NOW + 40.0 * at + 0.25
        if part == 1:
            args = {"url": url(random.Random(turn), 100_000 + turn)}
            return Message(
                turn=turn,
                role="assistant",
                time=time,
                tool="read_webpage",
                args=args,
                call_id=f"c{turn}",
            )
        if part == 2:
            return Message(
                turn=turn,
                role="tool",
                text=text,
                time=time,
                tool="read_webpage",
                call_id=f"c{turn}",
            )
        asks = part == 0 or (part < 0 and rest % 2 == 0)
        return Message(turn=turn, role="user" if asks else "assistant", text=text, time=time)

    def __iter__(self) -> Iterator[Message]:
        for at in range(self._count):
            yield self[at]

    @property
    def turns(self) -> int:
        """Complete turns."""
        return self[self._count - 1].turn


class Chat:
    """A chat bound to a project with a 50 KB ledger; recall, which costs by itself, is off.

    Args:
        home: Where it lives.
        messages: Length of its history before the first turn that is measured.
    """

    def __init__(self, home: Path, messages: int) -> None:
        home.mkdir(parents=True, exist_ok=True)
        Home(home).settings_file.write_text("recall = false\n", encoding="utf-8", newline="\n")
        self.engine = Engine(Home(home))
        self.stored = Stored(messages)
        self.before = self.stored.turns
        self.after: list[tuple[Message, ...]] = []
        fill(self.engine, KEY, sized(LEDGER_KB))

    def hand_in_all(self) -> Outcome:
        """The first turn of a host that holds no memory: the whole history."""
        return self._send(History(self.before, 1, self._messages))

    def next_turn(self) -> History:
        """The history before the next message: what was answered since is new."""
        last = self.before + len(self.after)
        return History(last, last, self._messages)

    def say(self, history: History) -> Outcome:
        """A user's message."""
        return self._send(history)

    def _send(self, history: History) -> Outcome:
        turn = history.turn + 1
        typed = f"{turn}. {_POOL[turn % len(_POOL)]}"[:CHARACTERS]
        outcome = self.engine.turn(KEY, typed, history)
        answer = f"{turn}. {_POOL[(turn + 7) % len(_POOL)]}"[:CHARACTERS]
        self.after.append(
            (
                Message(turn=turn, role="user", text=outcome.text),
                Message(turn=turn, role="assistant", text=answer),
            )
        )
        return outcome

    def _messages(self, first: int) -> Sequence[Message]:
        if first == 1:
            assert not self.after
            return self.stored
        return [message for turn in self.after[first - self.before - 1 :] for message in turn]


def fill(engine: Engine, key: ChatKey, ledger: Ledger) -> Project:
    """Start a project in a chat and give it this ledger."""
    engine.command(f"start {ledger.goal}", key=key)
    project = engine.projects.open(engine.chats.load(key).project)
    project.change(
        lambda _: (msgspec.structs.replace(ledger, project=project.slug), "Filled for measuring"),
        Stamp(actor="user", now=_NOW, chat=key, turn=1),
    )
    return project
