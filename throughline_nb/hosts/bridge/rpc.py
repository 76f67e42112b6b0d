"""JSON-RPC on two pipes: lines come in, answers and requests of our own go out.

One thread reads. It decodes a line's envelope, hands a request to the service, an answer to whoever
waits for it, and never writes: a plugin that does not read must not keep the engine from noticing
that its input ended.
"""

import logging
import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Protocol

from msgspec import UNSET, Raw, UnsetType

from throughline_nb.hosts.bridge import messages as wire
from throughline_nb.hosts.bridge.messages import Answer, Fault, Ident, Request, RpcError

log = logging.getLogger("throughline_nb")

ANSWER_SECONDS: Final = 30.0
"""How long the plugin may take over an answer that it has at hand."""

REQUESTS: Final = None
"""Lane of what the reading thread has to say."""


class Service(Protocol):
    """What requests are handed to; called by the reading thread, so each returns at once."""

    def request(self, method: str, params: Raw, ident: Ident) -> None:
        """Take on a request, or raise :class:`RpcError`."""

    def notify(self, method: str, params: Raw) -> None:
        """Take note of a notification, or raise :class:`RpcError`."""


class Asked:
    """A request of ours that waits for its answer."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self._result: Raw = Raw()
        self._error: RpcError | None = None

    def settle(self, result: Raw, error: RpcError | None = None) -> None:
        """The answer is there."""
        self._result, self._error = result, error
        self._done.set()

    def wait(self, seconds: float = ANSWER_SECONDS) -> bytes:
        """The result as JSON.

        Raises:
            RpcError: The plugin answered with an error, or not in time.
        """
        if not self._done.wait(seconds):
            raise RpcError(wire.DEFECT, "the plugin did not answer")
        if self._error is not None:
            raise self._error
        return bytes(self._result)


class Peer:
    """The other side.

    Args:
        write: Writes one line, whole.
        lost: Called when the other side no longer reads.
    """

    def __init__(self, write: Callable[[bytes], None], lost: Callable[[], None]) -> None:
        self._write = write
        self._lost = lost
        self._writing = threading.Lock()
        self._asked: dict[int, Asked] = {}
        self._last = 0
        self._numbering = threading.Lock()

    # --- out -------------------------------------------------------------------------------------

    def answer(self, ident: Ident | None, result: Any) -> None:
        """Send the result of a request."""
        self._send(Answer(ident, result))

    def fail(self, ident: Ident | None, error: RpcError) -> None:
        """Send the error of a request."""
        data = UNSET if error.data is None else error.data
        self._send(Answer(ident, error=Fault(error.code, error.message, data)))

    def notify(self, method: str, params: Any) -> None:
        """Send a notification."""
        self._send(Request(method, params))

    def ask(self, method: str, params: Any) -> Asked:
        """Send a request of ours."""
        asked = Asked()
        with self._numbering:
            self._last += 1
            number = self._last
            self._asked[number] = asked
        self._send(Request(method, params, number))
        return asked

    def _send(self, message: Answer | Request) -> None:
        data = wire.encode(message)
        try:
            with self._writing:
                self._write(data)
        except OSError:
            self._lost()

    # --- in --------------------------------------------------------------------------------------

    def read(
        self, lines: Iterable[bytes | None], service: Service, later: Callable[[Any, Any], None]
    ) -> None:
        """Take lines until they end.

        Args:
            lines: As they come; None for one that is too long.
            service: Where requests go.
            later: Runs a function in a lane, off the reading thread.
        """
        for line in lines:
            ident: Ident | None = None
            try:
                if line is not None and not line.strip():
                    continue
                message = wire.envelope(line)
                ident = None if isinstance(message.id, UnsetType) else message.id
                self._take(message, service)
            except RpcError as error:
                known = ident if ident is not None else error.data
                refused = RpcError(error.code, error.message)
                log.warning("refused: %s", error.message)
                later(REQUESTS, partial(self.fail, known, refused))
            except Exception:
                log.exception("a message of the plugin")
                defect = RpcError(wire.DEFECT, "an unexpected error was logged")
                later(REQUESTS, partial(self.fail, ident, defect))

    def _take(self, message: wire.Envelope, service: Service) -> None:
        if isinstance(message.method, UnsetType):
            self._settle(message)
        elif isinstance(message.id, UnsetType):
            service.notify(message.method, message.params)
        elif message.id is None:
            raise RpcError(wire.REQUEST, "a request has no id")
        else:
            service.request(message.method, message.params, message.id)

    def _settle(self, message: wire.Envelope) -> None:
        asked = self._asked.pop(message.id, None) if isinstance(message.id, int) else None
        if asked is None:
            if isinstance(message.error, Fault):
                log.warning("the plugin refused: %s", message.error.message)
                return  # an error about an error would go on for ever
            raise RpcError(wire.REQUEST, "an answer belongs to no request")
        if isinstance(message.error, Fault):
            asked.settle(Raw(), RpcError(message.error.code, message.error.message))
        elif not bytes(message.result):
            asked.settle(Raw(), RpcError(wire.REQUEST, "an answer has no result"))
        else:
            asked.settle(message.result)
