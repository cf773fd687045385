"""Calls one after the other, no more of them a second than somebody allows."""

from __future__ import annotations

import time
from collections.abc import Callable


class Pace:
    """Waits where a call would come too early. Retries of a call that was throttled are botocore's own."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """``rate``: calls a second, above 0."""
        self.interval = 1 / rate
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def keep(self) -> None:
        """Wait until the next call may be made."""
        early = self._next - self._clock()
        if early > 0:
            self._sleep(early)
        self._next = max(self._next, self._clock()) + self.interval
