"""Time as it was observed from one look to the next, which a wrong clock cannot make pass.

Grace and retention end with a deletion, so they are counted in the time that passed between two
looks, as far as it can have. A clock that is set back makes no time pass, and neither does it when
it is set right again. One that jumps ahead by more than :data:`LONGEST_STEP` is not believed; a
shorter step may be a computer that was off, and is taken back where the clock goes back within a
day. Whatever remains doubtful makes less time pass than did.
"""

from typing import Final

import msgspec

DAY: Final = 86_400.0

LONGEST_STEP: Final = 60 * DAY
"""Seconds between two looks that are believed; a longer absence counts as none."""

_SHORT_STEP: Final = 3600.0
"""Step that is believed of a clock that stands before what was seen already: one that is changed to
and fro, as between two systems that keep the hardware's clock differently, makes no day pass."""


_LATEST: Final = 4_102_444_800.0
"""The year 2100: what lies beyond was not observed."""


class Clock(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is remembered of the last look; all in seconds.

    Attributes:
        last: What the system's clock said.
        seen: The time that was observed by then. It equals ``last`` unless the clock was wrong.
        before: ``seen`` before the last step of more than a day.
        after: ``seen`` after it.
    """

    last: float
    seen: float
    before: float = 0.0
    after: float = 0.0


def looked(clock: Clock | None, now: float) -> Clock:
    """The clock as of another look.

    Args:
        clock: As of the last one; None for the first.
        now: What the system's clock says now.
    """
    if clock is None or not all(0 <= each < _LATEST for each in (clock.last, clock.seen)):
        return Clock(now, now)
    ahead, step = now - clock.seen, now - clock.last
    fresh = clock.seen - clock.after <= DAY
    if 0 <= ahead <= LONGEST_STEP:
        if ahead > DAY:
            return Clock(now, now, clock.seen, now)
        return Clock(now, now, clock.before, clock.after) if fresh else Clock(now, now)
    if ahead < 0 and fresh and clock.before <= now:  # the long step was none
        return Clock(now, now)
    believed = step if 0 < step <= (_SHORT_STEP if ahead < 0 else DAY) else 0.0
    return Clock(now, clock.seen + believed, clock.before, clock.after)
