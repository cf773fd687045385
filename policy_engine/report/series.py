"""The instances of one share, or of the whole queue, over time: what the charts of capacity draw."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from policy_engine.outcome import Step, policies
from policy_engine.policy import Policy
from policy_engine.simulation import Run

BANDS: Final = ("own", "lent", "reserved", "free", "unallocated", "borrowed")
"""What an instance can be, from the bottom of a chart to its top."""
MOST_INTERVALS: Final = 240
"""More than these are averaged over as many equal spans: no screen shows more."""


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
        return self.levels[0] + self.levels[-1]

    @property
    def total(self) -> float:
        """Height of all bands together."""
        return sum(self.levels)


def of_share(steps: Sequence[Step], share: str, end: float) -> list[Interval]:
    """The share's instances from the first step to ``end``: used, lent, kept back, free, borrowed."""

    def levels(step: Step) -> tuple[float, ...]:
        own, borrowed = step.own.get(share, 0), step.borrowed.get(share, 0)
        lent, reserved, free = (of.get(share, 0) for of in (step.lent, step.reserved, step.free))
        return own, lent, reserved, free, 0, borrowed

    return _intervals(steps, levels, end)


def of_queue(steps: Sequence[Step], end: float) -> list[Interval]:
    """The queue's instances: in use by their owners, in use by borrowers, kept back, free, nobody's."""

    def levels(step: Step) -> tuple[float, ...]:
        own, borrowed, reserved, free = (sum(of.values()) for of in (step.own, step.borrowed, step.reserved, step.free))
        return own, borrowed, reserved, free, step.unallocated, 0

    return _intervals(steps, levels, end)


def _intervals(steps: Sequence[Step], levels: Callable[[Step], tuple[float, ...]], end: float) -> list[Interval]:
    found: list[Interval] = []
    for step, until in zip(steps, [*(step.at for step in steps[1:]), end], strict=True):
        now = levels(step)
        if found and found[-1].levels == now:
            found[-1] = Interval(found[-1].start, until, now)
        elif until > step.at:
            found.append(Interval(step.at, until, now))
    return found


def binned(intervals: Sequence[Interval], most: int = MOST_INTERVALS) -> list[Interval]:
    """The same intervals, or their means over ``most`` equal spans where there are more."""
    if len(intervals) <= most:
        return list(intervals)
    start, end = intervals[0].start, intervals[-1].end
    width = (end - start) / most
    edges = [start + width * number for number in range(most)] + [end]
    starts = [interval.start for interval in intervals]
    means: list[Interval] = []
    for low, high in pairwise(edges):
        inside = intervals[bisect_right(starts, low) - 1 : bisect_right(starts, high)]
        means.append(Interval(low, high, _mean(inside, low, high)))
    return means


def _mean(intervals: Iterable[Interval], low: float, high: float) -> tuple[float, ...]:
    sums = [0.0] * len(BANDS)
    for interval in intervals:
        share = (min(high, interval.end) - max(low, interval.start)) / (high - low)
        for band, level in enumerate(interval.levels):
            sums[band] += max(0.0, share) * level
    return tuple(sums)


def limits(run: Run, of: Callable[[Policy], int]) -> list[tuple[float, int]]:
    """A limit or capacity over time, in instances: since when, in seconds, and what it is."""
    found: list[tuple[float, int]] = []
    for index, policy in policies(run):
        at, limit = (run.log.rows[index][0] if index >= 0 else 0.0), of(policy)
        if not found or found[-1][1] != limit:
            found.append((at, limit))
    return found
