"""Which jobs stood in line together, as far as the record tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import inf

from policy_engine.conforming.record import Record, RecordedJob


@dataclass(frozen=True, slots=True)
class Wait:
    """A job in line. Milliseconds from the first submission."""

    job: int
    since: float
    until: float
    """At most: a start may be recorded later than it was."""
    after: bool | None
    """Since an attempt ended: was it preempted? None since it came."""


class Lines:
    """Every wait of every job, by share and priority."""

    def __init__(self, record: Record) -> None:
        self.waits: defaultdict[tuple[str, int | None], list[Wait]] = defaultdict(list)
        for number, recorded in enumerate(record.jobs):
            self.waits[recorded.job.share, recorded.job.priority] += _waits(number, recorded)

    def meets_its_like(self, *, preempted: bool) -> bool:
        """Does a job wait again, after a preemption or a failed attempt, beside another of its share and priority?

        Only then can it matter at which place it does.
        """
        for waits in self.waits.values():
            waits.sort(key=lambda wait: wait.since)
            if _meet(waits, preempted=preempted):
                return True
        return False


def _meet(waits: list[Wait], *, preempted: bool) -> bool:
    """Of waits in order of their beginning: does one of that kind overlap with one of another job?"""
    latest: list[Wait] = []
    for wait in waits:
        latest = [other for other in latest if other.until >= wait.since]
        others = [other for other in latest if other.job != wait.job]
        if others and (wait.after is preempted or any(other.after is preempted for other in others)):
            return True
        latest.append(wait)
    return False


def _waits(number: int, recorded: RecordedJob) -> Iterator[Wait]:
    starts = [attempt.start if attempt.start is not None else attempt.stop for attempt in recorded.attempts]
    first = starts[0] if starts else recorded.end
    yield Wait(number, recorded.submit, inf if first is None else first, None)
    for (attempt, _), (_, start) in pairwise(zip(recorded.attempts, starts, strict=True)):
        if attempt.stop is not None:
            yield Wait(number, attempt.stop, inf if start is None else start, attempt.is_preempted)
    last = recorded.attempts[-1] if recorded.attempts else None
    if last is not None and last.stop is not None and (recorded.end is None or recorded.end > last.stop):
        yield Wait(number, last.stop, inf if recorded.end is None else recorded.end, last.is_preempted)
