"""Alternate rounds: peers and subject take turns, so that a busy moment of the machine hits all.

pytest-benchmark runs and times the subject, one round at a time; the peers run before it in one
round and behind it in the next, in its set-up and its teardown, and are timed here with the same
timer.
"""

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from .figures import Measured

CPU: Final = time.perf_counter if sys.platform == "win32" else time.process_time
"""CPU time of this process; Windows counts it in steps of 16 ms, too coarse for a turn."""

WALL: Final = time.perf_counter


class Timed:
    """One thing that is measured.

    Attributes:
        action: What is timed; gets what ``prepare`` returned.
        prepare: Runs before it each round, not timed.
    """

    def __init__(
        self, action: Callable[[Any], object], prepare: Callable[[], Any] = lambda: None
    ) -> None:
        self.action = action
        self.prepare = prepare
        self.seconds: list[float] = []

    def run(self, timer: Callable[[], float]) -> None:
        """Prepare and time one round."""
        given = self.prepare()
        begin = timer()
        self.action(given)
        self.seconds.append(timer() - begin)


def alternate(
    benchmark: Any,
    subject: Timed,
    peers: Mapping[str, Timed],
    *,
    rounds: int,
    warmup: int = 2,
    prepare: Callable[[], object] = lambda: None,
) -> None:
    """Measure a subject against its peers.

    Args:
        benchmark: pytest-benchmark's fixture; the test's marker names the timer.
        subject: What is measured.
        peers: What it is measured against, by the key of the figure.
        rounds: How often each is measured.
        warmup: Rounds before these that do not count.
        prepare: Runs before each round, not timed.
    """
    timer = benchmark._timer
    order = itertools.cycle((True, False))
    first = True

    def before() -> tuple[tuple[Any], dict[str, Any]]:
        nonlocal first
        first = next(order)
        prepare()
        if first:
            for peer in peers.values():
                peer.run(timer)
        return (subject.prepare(),), {}

    def behind(_: Any) -> None:
        if not first:
            for peer in reversed(peers.values()):
                peer.run(timer)

    benchmark.pedantic(
        subject.action, setup=before, teardown=behind, rounds=rounds, warmup_rounds=warmup
    )
    seconds = list(benchmark.stats.stats.data)
    for key, peer in peers.items():
        report(benchmark, key, seconds, peer.seconds[-rounds:])


def report(
    benchmark: Any,
    key: str,
    subject: list[float],
    peer: list[float],
    scale: float = 1000.0,
) -> None:
    """Hand the result of a figure to the report; ``scale`` turns the values into its unit."""
    ratios = [mine / theirs for mine, theirs in zip(subject, peer, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4)
    measured = Measured(
        key=key,
        ratio=middle,
        spread=(high - low) / 2 / middle,
        subject=statistics.median(subject) * scale,
        peer=statistics.median(peer) * scale,
        rounds=len(subject),
    )
    benchmark.extra_info[key] = msgspec.to_builtins(measured)
