"""Recall in the engine: when it starts, and how it keeps up with a chat.

A turn hands over what is new and indexes it at once. A long history that comes in at once, as on
the turn that crosses the threshold, is copied and indexed by a thread in slices; until it is
done, ``recall`` is not offered. What was built stays when the process ends, and is gone on with.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import msgspec

from throughline_nb.chat import ChatKey, History, Message, storable
from throughline_nb.engine.registry import UsageError
from throughline_nb.errors import StoreError, ThroughLineError

if TYPE_CHECKING:
    from throughline_nb.engine.held import Chat
    from throughline_nb.engine.session import Engine
    from throughline_nb.store.purged import Purged
    from throughline_nb.store.recall import Recall


AT_ONCE = 16
"""Turns that are indexed during a turn; more are left to the thread."""

AT_A_TIME = 500
"""Messages of a first copy that are held in memory together."""

SLICE = 0.012
"""Seconds that a turn gives to indexing, and that the thread holds the index at a time; what was
begun, and the commit, come on top."""

_FILES = ("history.jsonl", ".history.jsonl.*", "recall.*")
"""What recall may have in a chat's folder."""


class _Held:
    """What is held of one chat's recall."""

    def __init__(self, recall: "Recall") -> None:
        self.recall = recall
        self.waiting: Iterator[Message] | None = None
        self.thread: threading.Thread | None = None
        self.failure: ThroughLineError | None = None
        self.behind: int | None = None
        self.missed = False
        self.stop = threading.Event()

    @property
    def busy(self) -> bool:
        """Whether the thread is at work."""
        return self.thread is not None and self.thread.is_alive()


class Recalls:
    """The recall of every chat of an engine."""

    def __init__(self, engine: "Engine") -> None:
        self._engine = engine
        self._chats: dict[ChatKey, _Held] = {}
        self._seen: dict[ChatKey, dict[int, float]] = {}
        self._left: Iterator[ChatKey] | None = None
        self._lock = threading.Lock()
        self._purged: Purged | None = None

    def step(self, chat: "Chat", history: History) -> None:
        """Bring recall up to date with a chat, if it is past the threshold and not switched off.

        Raises:
            ThroughLineError: It could not be written; the turn goes on.
        """
        key, state, settings = chat.key, chat.state, self._engine.settings(chat.key)
        self._seen.setdefault(key, {})[history.turn + 1] = self._engine.clock()
        if not settings.recall:
            if state.recall:
                self.forget(key)
                state.recall = False
                self._engine.chats.save(key, state)
            return
        if state.forgotten or (not state.recall and state.tokens < settings.recall_tokens):
            return
        self._engine.home.ensure_writable()
        state.recall = True
        if not state.project:
            self._engine.chats.save(key, state)
        held = self._held(key)
        failure, held.failure = held.failure, None
        if failure is not None:
            raise failure
        self._take_in(held, history, self._seen[key])

    def ready(self, key: ChatKey) -> bool:
        """Whether a chat's recall is complete, so that its tool is offered."""
        if not self._engine.settings(key).recall:
            return False
        held = self._held(key)
        if held.busy:
            return False
        try:
            if held.recall.complete or (held.recall.in_memory and held.recall.build(SLICE)):
                return True
        except ThroughLineError:
            return False
        if held.recall.in_memory:  # no turn will build it, since none can write
            self._begin(held)
        return False

    def of(self, key: ChatKey) -> "Recall":
        """A chat's recall, complete.

        Raises:
            UsageError: It is off, the chat is short, or its first build goes on.
        """
        settings = self._engine.settings(key)
        if not settings.recall:
            raise UsageError("recall is switched off in the settings.")
        held = self._held(key)
        if held.busy:
            done, size = held.recall.progress
            share = f" ({100 * done // size} % done)" if size else ""
            raise UsageError(f"recall is still being built{share}; try again in a moment.")
        if not held.recall.exists:
            raise UsageError(
                f"recall starts when a chat is longer than {settings.recall_tokens} tokens; this "
                "one is shorter, so all of it is still at hand."
            )
        return held.recall

    def forget(self, key: ChatKey) -> bool:
        """Delete what recall holds of a chat; whether there was anything."""
        self._stop(key)
        held = self._held(key)
        there = held.recall.exists
        held.recall.delete()
        with self._lock:
            self._chats.pop(key, None)
        return there

    def holds(self, key: ChatKey) -> bool:
        """Whether there is anything of a chat."""
        return self._held(key).recall.exists

    def redact(self, key: ChatKey, without: Callable[[str], str]) -> int:
        """Take words out of what recall holds of a chat; in how many messages they stood.

        A build that goes on is gone on with by the next turn; what comes in then is without them.
        """
        self._stop(key)
        return self._held(key).recall.redact(without)

    def sweep(self) -> None:
        """Where recall is switched off, delete what it holds of chats that are not opened again.

        In slices, one a call; what cannot be deleted is logged.
        """
        if self._engine.settings().recall:
            self._left = None
            return
        if self._left is None:
            self._left = self._engine.chats.with_file(*_FILES)
        deadline = time.perf_counter() + SLICE
        for key in self._left:
            try:
                self._forget_if_off(key)
            except ThroughLineError as error:
                import logging  # noqa: PLC0415 - as in _build

                logging.getLogger("throughline_nb").info("recall is not deleted: %s", error)
            if time.perf_counter() > deadline:
                return

    def close(self, key: ChatKey) -> None:
        """Let go of a chat's files, since its folder goes."""
        with self._lock:
            held = self._chats.pop(key, None)
        if held is not None:
            held.recall.close()

    def release(self, key: ChatKey) -> bool:
        """Let go of a chat's files unless they are being written; returns whether it did."""
        held = self._chats.get(key)
        if held is not None and held.busy:
            return False
        self.close(key)
        return True

    def wait(self, key: ChatKey, timeout: float | None = None) -> None:
        """Wait until the thread of a chat has built everything."""
        held = self._chats.get(key)
        if held is not None and held.thread is not None:
            held.thread.join(timeout)

    @property
    def purged(self) -> "Purged":
        """The words that were removed for good, which stay out of what is taken over from chats."""
        if self._purged is None:
            from throughline_nb.store.purged import Purged  # noqa: PLC0415 - as above

            self._purged = Purged(self._engine.home)
        return self._purged

    # --- inside ----------------------------------------------------------------------------------

    def _stop(self, key: ChatKey) -> None:
        """Have the thread of a chat end where it is; what it leaves, a later turn does."""
        held = self._chats.get(key)
        if held is not None and held.thread is not None:
            held.stop.set()
            held.thread.join()

    def _forget_if_off(self, key: ChatKey) -> None:
        engine = self._engine
        if engine.settings(key).recall:
            return
        chat = engine.chat(key)
        with chat.if_idle() as idle:
            if not idle:  # its own turn does it
                return
            engine.home.ensure_writable()
            state = engine.fresh(chat)
            self.forget(key)
            if state.recall:
                state.recall = False
                engine.chats.save(key, state)

    def _held(self, key: ChatKey) -> _Held:
        from throughline_nb.store.recall import Recall  # noqa: PLC0415 - short chats never need it

        with self._lock:
            if key not in self._chats:
                folder = self._engine.chats.folder(key)
                self._chats[key] = _Held(Recall(folder, self.purged.without))
            return self._chats[key]

    def _take_in(self, held: _Held, history: History, seen: dict[int, float]) -> None:
        changed = min(history.changed, held.behind or history.changed)
        held.behind = changed  # until it is taken in
        held.missed = held.busy
        if held.missed:
            return
        last = held.recall.last
        if last > history.turn:
            held.recall.rewind(history.turn + 1, seconds=SLICE)
            last = history.turn
        first = min(changed, last + 1)
        if first <= history.turn:
            messages = _observed(history.messages(first), dict(seen))
            waits = held.recall.exists and not held.recall.complete  # all of it would be waited for
            if history.turn - first < AT_ONCE and not waits:
                held.recall.update(messages, seen=self._engine.clock(), seconds=SLICE)
            else:
                held.waiting = messages
        if held.waiting is not None or not held.recall.complete:
            self._begin(held)
        elif held.recall.wasteful:
            held.behind = None
            self._begin(held)
        else:
            held.behind = None

    def _begin(self, held: _Held) -> None:
        now = self._engine.clock()
        held.stop.clear()
        held.thread = threading.Thread(
            target=_build, args=(held, now), name="throughline-recall", daemon=True
        )
        with contextlib.suppress(RuntimeError):  # no new threads while the interpreter ends
            held.thread.start()


def _build(held: _Held, now: float) -> None:
    try:
        waiting, held.waiting = held.waiting or iter(()), None
        if held.recall.exists:
            if not _built(held):
                return
            held.recall.update(waiting, seen=now, seconds=SLICE)
        while several := list(islice(waiting, AT_A_TIME)):
            held.recall.append(several, seen=now, seconds=SLICE)
            if held.stop.is_set():
                return
        if _built(held) and not held.missed:
            held.behind = None
    except ThroughLineError as error:
        held.failure = error
    except Exception:
        import logging  # noqa: PLC0415 - `--help` loads this module, and would wait 3 ms more

        logging.getLogger("throughline_nb").exception("building recall in %s", held.recall.folder)
        held.failure = StoreError("recall could not be built; the log says why; the chat goes on.")


def _built(held: _Held) -> bool:
    """Index all of the history in slices; False where it was told to stop."""
    while not held.recall.build(SLICE):
        if held.stop.is_set():
            return False
        time.sleep(0.001)  # a turn that waits for the index goes first
    return True


def _observed(messages: Iterable[Message], seen: dict[int, float]) -> Iterator[Message]:
    """Messages with the time at which their turn was seen to begin, where a host gives none."""
    for message in (storable((each,))[0] for each in messages):
        time_seen = seen.get(message.turn) if message.time is None else None
        yield (message if time_seen is None else msgspec.structs.replace(message, time=time_seen))
