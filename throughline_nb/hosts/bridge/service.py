"""What the plugin can ask for: each method hands over to the engine and answers.

Requests arrive in the reading thread, which only checks them and puts them into lanes: turns and
calls of one chat in one, what tools it is offered in another, so that a turn that hangs does not
keep the model from its tools.
"""

import logging
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final

from msgspec import Raw

from throughline_nb import __version__
from throughline_nb.chat import ChatKey
from throughline_nb.hosts.bridge import messages as wire
from throughline_nb.hosts.bridge.lanes import Lanes
from throughline_nb.hosts.bridge.messages import Held, Ident, Progress, RpcError
from throughline_nb.hosts.bridge.pulling import HistoryError, TurnHistory
from throughline_nb.hosts.bridge.rpc import REQUESTS, Peer
from throughline_nb.hosts.lmstudio.files import HOST

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine
    from throughline_nb.store.chats import ChatState

log = logging.getLogger("throughline_nb")


LOADING: Final = ("engine",)
"""Lane in which the engine is loaded."""


class _Link:
    """What is remembered of a chat between its turns; never its text."""

    def __init__(self, held: Held | None, state: "ChatState", request: Ident) -> None:
        self.held = held
        self.state = state
        self.request = request


class _Job:
    """A request under way."""

    def __init__(self) -> None:
        self.cancelled = False
        self.chat: ChatKey | None = None


class Bridge:
    """Serves one plugin.

    Args:
        load: Makes the engine; called once, off the reading thread.
        peer: The plugin.
        lanes: Where the work is done.
        end: Ends the process.
    """

    def __init__(
        self, load: Callable[[], "Engine"], peer: Peer, lanes: Lanes, end: Callable[[], None]
    ) -> None:
        self._load = load
        self._loaded: Engine | None = None
        self._loading = threading.Lock()
        self._news: list[str] = []
        self._peer = peer
        self._lanes = lanes
        self._end = end
        self._greeted = False
        self._form: dict[str, Any] = {}
        self._jobs: dict[Ident, _Job] = {}
        self._links: dict[ChatKey, _Link] = {}

    # --- in the reading thread -------------------------------------------------------------------

    def request(self, method: str, params: Raw, ident: Ident) -> None:
        """Take on a request.

        Raises:
            RpcError: It cannot be.
        """
        if method not in ("hello", "turn", "tools", "call", "shutdown"):
            raise RpcError(wire.METHOD, f"the engine {__version__} knows no method {method[:60]!r}")
        if method == "shutdown":
            wire.decoded(params, wire.Nothing, method)
            self._later(REQUESTS, ident, _nothing)
            self._lanes.submit(REQUESTS, self._end)
            return
        if method == "hello":
            self._hello(wire.decoded(params, wire.Hello, method), ident)
            return
        if not self._greeted:
            raise RpcError(wire.NO_HELLO, "the plugin did not say hello to the engine first")
        if method == "turn":
            self._take_turn(wire.decoded(params, wire.TurnParams, method), ident)
        elif method == "tools":
            asked = wire.decoded(params, wire.ToolsParams, method)
            self._later(("tools", asked.chat), ident, lambda _: self._tools(asked))
        else:
            call = wire.decoded(params, wire.CallParams, method)
            self._later(call.chat, ident, lambda _: self._call(call))

    def notify(self, method: str, params: Raw) -> None:
        """Take note of a notification.

        Raises:
            RpcError: It is not known.
        """
        if method != "cancel":
            raise RpcError(
                wire.METHOD, f"the engine {__version__} knows no notification {method[:60]!r}"
            )
        ident = wire.decoded(params, wire.Cancel, method).id
        job = self._jobs.get(ident)
        if job is not None:
            job.cancelled = True
        if ident in self._jobs:  # whoever takes it off looks at the job afterwards
            return
        for key, link in self._links.copy().items():
            if link.request == ident:  # it was answered, too late
                self._lanes.submit(key.id, partial(self._undelivered, key))

    def _hello(self, hello: wire.Hello, ident: Ident) -> None:
        if hello.protocol != wire.PROTOCOL:
            older = "this plugin" if hello.protocol < wire.PROTOCOL else "the Python package"
            raise RpcError(
                wire.VERSION,
                f"plugin and engine do not fit (protocol {hello.protocol} and {wire.PROTOCOL}): "
                f"upgrade {older}, then run `throughline-nb lmstudio install`",
            )
        notices: list[str] = []
        if hello.plugin != __version__ and not self._greeted:
            notices.append(
                f"the plugin is of version {hello.plugin[:40]} and the engine {__version__}: run "
                "`throughline-nb lmstudio install`, then restart LM Studio."
            )
            self._news += notices
        self._greeted = True
        self._form = hello.settings
        self._later(REQUESTS, ident, lambda _: wire.Welcome(__version__, notices))
        self._lanes.submit(LOADING, self._greet)

    def _take_turn(self, asked: wire.TurnParams, ident: Ident) -> None:
        if asked.chat is not None and asked.text.lstrip().startswith("/"):
            self._lanes.submit(REQUESTS, partial(self._lift, asked.text, ident))
        self._later(asked.chat or ("none", ident), ident, lambda job: self._turn(asked, ident, job))

    def _later(self, lane: Any, ident: Ident, work: Callable[[_Job], Any]) -> None:
        if ident in self._jobs:
            raise RpcError(wire.REQUEST, f"request {ident} is under way already")
        job = self._jobs[ident] = _Job()
        self._lanes.submit(lane, lambda: self._work(ident, job, work))

    # --- in a lane -------------------------------------------------------------------------------

    @property
    def _engine(self) -> "Engine":
        with self._loading:
            if self._loaded is None:
                engine = self._load()
                engine.form = self._form
                engine.news += self._news
                self._loaded = engine
            return self._loaded

    def _greet(self) -> None:
        self._engine.form = self._form
        self._engine.cleaner.tick()

    def _undelivered(self, key: ChatKey) -> None:
        self._engine.undelivered(key)

    def _lift(self, text: str, ident: Ident) -> None:
        """A command has no time-out."""
        from throughline_nb.engine.intake import COMMAND  # noqa: PLC0415 - it loads the engine

        if COMMAND.fullmatch(text):
            self._peer.notify("progress", Progress(ident, unlimited=True))

    def _work(self, ident: Ident, job: _Job, work: Callable[[_Job], Any]) -> None:
        error: RpcError | None = None
        result: Any = None
        try:
            result = None if job.cancelled else work(job)
        except RpcError as refused:
            error = refused
        except Exception:
            log.exception("request %s", ident)
            error = RpcError(
                wire.DEFECT, "an unexpected error was logged; what the ledger holds is kept"
            )
        self._jobs.pop(ident, None)
        if job.cancelled and error is None:
            if job.chat is not None:
                self._engine.undelivered(job.chat)
            error = RpcError(wire.CANCELLED, "the request was cancelled", _held_by(result))
        if error is None:
            self._peer.answer(ident, result)
        else:
            self._peer.fail(ident, error)

    def _turn(self, asked: wire.TurnParams, ident: Ident, job: _Job) -> wire.TurnResult:
        if asked.chat is None:
            return wire.TurnResult(asked.text)
        key = ChatKey(HOST, asked.chat)
        chat = self._engine.chat(key)
        with chat.lock:
            history = TurnHistory(
                asked.history, self._held(key, self._engine.fresh(chat)), self._peer, ident
            )
            outcome = self._engine.turn(
                key, asked.text, history.history, settings=self._settings(asked.settings)
            )
            try:
                history.finish()
            except HistoryError as error:
                log.warning("history of %s: %s", key, error)
            held = history.held(chat.state.turn)
            self._links[key] = _Link(held, chat.state, ident)
        job.chat = key
        return wire.TurnResult(outcome.text, outcome.status, outcome.name, held)

    def _held(self, key: ChatKey, state: "ChatState") -> Held | None:
        """What the engine holds; nothing where another process wrote the chat's state since."""
        link = self._links.get(key)
        if link is None or link.state is not state or link.held is None:
            return None
        return link.held if link.held.turn <= state.turn else None

    def _tools(self, asked: wire.ToolsParams) -> wire.ToolsResult:
        key = ChatKey(HOST, asked.chat) if asked.chat is not None else None
        offered = self._engine.tools(key, settings=self._settings(asked.settings))
        return wire.ToolsResult([_definition(tool.name) for tool in offered])

    def _call(self, asked: wire.CallParams) -> wire.CallResult:
        key = ChatKey(HOST, asked.chat)
        arguments = {} if asked.arguments is None else asked.arguments
        settings = self._settings(asked.settings)
        return wire.CallResult(self._engine.call(key, asked.tool, arguments, settings=settings))

    def _settings(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {**self._form, **given}


def _nothing(_: _Job) -> dict[str, Any]:
    return {}


def _held_by(result: Any) -> dict[str, Held] | None:
    held = result.held if isinstance(result, wire.TurnResult) else None
    return None if held is None else {"held": held}


@cache
def _definition(name: str) -> wire.ToolDefinition:
    from throughline_nb.engine.operations import TOOLS  # noqa: PLC0415 - it loads the engine

    tool = TOOLS.get(name)
    described = "\n\n".join(part for part in (tool.help, tool.details) if part)
    return wire.ToolDefinition(tool.name, described, tool.schema())
