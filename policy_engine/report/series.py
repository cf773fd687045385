"""The instances of one share, or of the whole queue, over time: what the charts of capacity draw."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from policy_engine.outcome import Bins, Step
from policy_engine.outcome.bins import Course as Binned
from policy_engine.outcome.bins import Span

BANDS: Final = ("own", "by_borrowers", "lent", "reserved", "free", "unallocated", "borrowed")
"""What an instance can be, from the bottom of a chart to its top.

``by_borrowers`` and ``unallocated`` are of the queue alone, ``lent`` and ``borrowed`` of a share.
"""


@dataclass(frozen=True, slots=True)
class Interval:
    """A span of time in which nothing changes, or the mean over it. Times in seconds."""

    start: float
    end: float
    levels: tuple[float, ...]
    """Instances of each of ``BANDS``."""

    @property
    def used(self) -> float:
        """Instances in use: the own ones and the borrowed."""
        return self.levels[0] + self.levels[1] + self.levels[-1]

    @property
    def total(self) -> float:
        """Height of all bands together."""
        return sum(self.levels)


@dataclass(frozen=True, slots=True)
class Course:
    """The instances of one type that a share or the queue has over time."""

    intervals: Sequence[Interval]
    peaks: tuple[float, ...]
    """The highest that each of ``BANDS`` ever was."""
    most_used: float
    """Most instances in use at once."""
    mean_over: float | None
    """Seconds over which each interval is the mean; None where they are exact."""

    @property
    def is_ever_there(self) -> bool:
        """Is there ever any instance?"""
        return any(self.peaks)

    def mean(self) -> tuple[float, ...]:
        """The mean of each of ``BANDS`` over all of it."""
        seconds = sum(interval.end - interval.start for interval in self.intervals)
        weighted = (
            [level * (interval.end - interval.start) for level in interval.levels] for interval in self.intervals
        )
        return tuple(sum(band) / seconds for band in zip(*weighted, strict=True))


@dataclass(frozen=True, slots=True)
class Timeline:
    """The instances of one type over time, from 0 to the end of the run."""

    queue: Course
    """All shares together: in use by owners, in use by borrowers, kept back, free, nobody's."""
    shares: Mapping[str, Course]
    """Share to its own: in use, lent, kept back, free, borrowed."""


def timeline(steps: Iterable[Step], shares: Iterable[str], end: float, most: int) -> Timeline:
    """The timeline of the steps of one instance type until ``end`` seconds; one walk over them.

    A course of more than ``most`` intervals is averaged over as many equal ones: no screen shows more.
    """
    queue = _Collector(end, most)
    of_share = {share: _Collector(end, most) for share in shares}
    for step in steps:
        own, borrowed, lent, reserved, free = step.own, step.borrowed, step.lent, step.reserved, step.free
        for share, course in of_share.items():
            if share in own:
                course.change(step.at, (own[share], 0, lent[share], reserved[share], free[share], 0, borrowed[share]))
            else:  # a share that was deleted has nothing
                course.change(step.at, (0,) * len(BANDS))
        in_use, lent_out, kept, idle = (sum(levels.values()) for levels in (own, borrowed, reserved, free))
        queue.change(step.at, (in_use, lent_out, 0, kept, idle, step.unallocated, 0))
    return Timeline(queue.course(), {share: course.course() for share, course in of_share.items()})


def timeline_of(found: Bins) -> Timeline:
    """The timeline of means that have been made."""
    shares = {share: _course(found.width, course, _of_share) for share, course in found.shares.items()}
    return Timeline(_course(found.width, found.queue, _of_queue), shares)


def _course(width: float, course: Binned, levels: Callable[[Span], tuple[float, ...]]) -> Course:
    intervals = [Interval(width * n, width * (n + 1), levels(span)) for n, span in enumerate(course.spans)]
    return Course(intervals, levels(course.most), course.most_used, width)


def _of_share(span: Span) -> tuple[float, ...]:
    return span.own, 0.0, span.lent, span.reserved, span.free, 0.0, span.borrowed


def _of_queue(span: Span) -> tuple[float, ...]:
    return span.own, span.borrowed, 0.0, span.reserved, span.free, span.unallocated, 0.0


class _Collector:
    """Takes what there is from one time to the next, exactly at first, as means once that is too much."""

    def __init__(self, end: float, most: int) -> None:
        self.end = end
        self.most = most
        self.width = end / most
        self.exact: list[Interval] = []
        self.sums: list[list[float]] | None = None
        """Of each equal span, the instance-seconds of each band; None while all is exact."""
        self.since = 0.0
        self.levels: tuple[float, ...] | None = None
        self.peaks = [0.0] * len(BANDS)
        self.most_used = 0.0

    def change(self, at: float, levels: tuple[float, ...]) -> None:
        """From ``at`` seconds on there are these."""
        if levels == self.levels:
            return
        if self.levels is not None and at > self.since:
            self._close(Interval(self.since, at, self.levels))
        self.since, self.levels = at, levels

    def course(self) -> Course:
        """All of it, until the end."""
        if self.levels is not None and self.end > self.since:
            self._close(Interval(self.since, self.end, self.levels))
        if self.sums is None:
            return Course(self.exact, tuple(self.peaks), self.most_used, None)
        means = [
            Interval(self.width * n, self.width * (n + 1), tuple(seconds / self.width for seconds in sums))
            for n, sums in enumerate(self.sums)
        ]
        return Course(means, tuple(self.peaks), self.most_used, self.width)

    def _close(self, interval: Interval) -> None:
        self.most_used = max(self.most_used, interval.used)
        for band, level in enumerate(interval.levels):
            if level > self.peaks[band]:
                self.peaks[band] = level
        if self.sums is None:
            self.exact.append(interval)
            if len(self.exact) > self.most:
                self.sums = [[0.0] * len(BANDS) for _ in range(self.most)]
                for earlier in self.exact:
                    self._spread(self.sums, earlier)
        else:
            self._spread(self.sums, interval)

    def _spread(self, sums: list[list[float]], interval: Interval) -> None:
        start = interval.start
        number = min(int(start / self.width), self.most - 1)
        while start < interval.end:
            stop = interval.end if number == self.most - 1 else min(interval.end, self.width * (number + 1))
            for band, level in enumerate(interval.levels):
                if level:
                    sums[number][band] += level * max(0.0, stop - start)
            start, number = max(start, stop), number + 1
            if number == self.most:
                return
