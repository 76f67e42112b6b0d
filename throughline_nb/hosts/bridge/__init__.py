"""The engine as a child process of LM Studio's plugin: JSON-RPC on its standard streams.

The engine is loaded while the plugin is greeted, which takes longer than all the rest.
:func:`main` is what ``python -m throughline_nb bridge`` runs; the protocol: ``docs/protocol.md``.
"""

import contextlib
import gc
import logging
import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from throughline_nb.hosts.bridge import pipes
from throughline_nb.hosts.bridge.lanes import Lanes
from throughline_nb.hosts.bridge.rpc import REQUESTS, Peer
from throughline_nb.hosts.bridge.service import Bridge
from throughline_nb.hosts.logs import log_to
from throughline_nb.store.home import Home

if TYPE_CHECKING:
    from throughline_nb.engine.session import Engine

__all__ = ["main", "serve"]

GRACE_SECONDS: Final = 0.5
"""What work under way gets to come to its end when the plugin is gone."""

SWITCH_SECONDS: Final = 0.001
"""How long a thread may keep the interpreter while another chat's waits for it."""


def serve(home: Home) -> NoReturn:
    """Serve the plugin until its input ends, or it says ``shutdown``; then end the process.

    Args:
        home: Where everything lives.
    """
    source, sink = pipes.take_over()
    sys.setswitchinterval(SWITCH_SECONDS)
    lanes = Lanes()
    peer = Peer(lambda data: pipes.write_line(sink, data), partial(_end, lanes))
    bridge = Bridge(partial(_engine, home), peer, lanes, partial(_end, lanes))
    with contextlib.suppress(KeyboardInterrupt):
        peer.read(pipes.lines(source), bridge, lanes.submit)
    _end(lanes)


def _engine(home: Home) -> "Engine":
    from throughline_nb.engine.session import Engine  # noqa: PLC0415 - most of the start
    from throughline_nb.hosts.lmstudio.checks import beside, problems  # noqa: PLC0415
    from throughline_nb.hosts.lmstudio.files import LMStudioChats  # noqa: PLC0415

    engine = Engine(home, chat_exists=LMStudioChats(), host_problems=problems)
    engine.news += beside()
    gc.freeze()
    gc.enable()
    return engine


def main() -> NoReturn:
    """Serve the plugin in this user's home, as ``python -m throughline_nb bridge`` does."""
    home = Home.locate()
    log_to(home)
    try:
        serve(home)
    except OSError as error:  # no pipes to speak on
        sys.exit(f"throughline-nb: the bridge could not start ({error}); nothing was changed.")


def _end(lanes: Lanes) -> NoReturn:
    """End soon: a thread that hangs is not waited for, and what it wrote so far is kept."""
    with contextlib.suppress(KeyboardInterrupt):
        lanes.wait(GRACE_SECONDS, but=REQUESTS)
    logging.shutdown()
    os._exit(0)
