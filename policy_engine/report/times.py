"""Seconds as people write them, and where a time axis has its ticks."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from policy_engine.workload.durations import duration_text

_SECOND: Final = 1
_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_STEPS: Final = (
    *(n * _SECOND for n in (1, 2, 5, 10, 15, 30)),
    *(n * _MINUTE for n in (1, 2, 5, 10, 15, 30)),
    *(n * _HOUR for n in (1, 2, 3, 6, 12)),
    *(n * _DAY for n in (1, 2, 7, 14, 28)),
)
"""Distances between ticks, in seconds, that read well."""
MOST_STOPS: Final = 14
"""An axis with more instants than these is to scale."""


def rough(seconds: float) -> str:
    """A duration with its two largest parts alone, ``3d4h``: for means and percentiles."""
    for size, smaller in ((_DAY, _HOUR), (_HOUR, _MINUTE), (_MINUTE, _SECOND)):
        if abs(seconds) >= size:
            return duration_text(round(seconds / smaller) * smaller)
    return duration_text(round(seconds, 1))


def instance_unit(instance_seconds: float) -> tuple[int, str]:
    """The unit that suits so many instance-seconds: how many it has, and its name in the singular."""
    if instance_seconds >= _HOUR:
        return _HOUR, "instance-hour"
    if instance_seconds >= _MINUTE:
        return _MINUTE, "instance-minute"
    return _SECOND, "instance-second"


def instance_time(instance_seconds: float) -> str:
    """Instance-seconds for people: ``1.5 instance-hours``, ``3 instance-minutes``."""
    size, name = instance_unit(instance_seconds)
    count = round(instance_seconds / size, 1)
    return f"{count:,g} {name}" if count == 1 else f"{count:,g} {name}s"


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """Where times stand on a line from 0 to 1, in seconds."""

    stops: tuple[float, ...]
    """Two of them and the axis is to scale; of more, every stretch between two is equally wide."""

    @classmethod
    def of(cls, instants: Iterable[float], start: float, end: float) -> TimeAxis:
        """To scale, unless little happens and some of it would be too close to tell apart."""
        stops = sorted({start, end} | {at for at in instants if start < at < end})
        closest = min(later - earlier for earlier, later in pairwise(stops))
        if len(stops) <= MOST_STOPS and closest < (end - start) / 30:
            return cls(tuple(stops))
        return cls((start, end))

    @property
    def start(self) -> float:
        """Of the first second."""
        return self.stops[0]

    @property
    def end(self) -> float:
        """Of the last second."""
        return self.stops[-1]

    @property
    def is_to_scale(self) -> bool:
        """Is an hour equally wide everywhere?"""
        return len(self.stops) == 2

    def place(self, at: float) -> float:
        """0 for the start, 1 for the end."""
        after = min(max(bisect_right(self.stops, at), 1), len(self.stops) - 1)
        low, high = self.stops[after - 1], self.stops[after]
        return (after - 1 + (at - low) / (high - low)) / (len(self.stops) - 1)

    def ticks(self, most: int) -> list[float]:
        """The stops, or where the axis is to scale at most ``most`` times at even distances that read well."""
        if not self.is_to_scale:
            return list(self.stops)
        step = _step(self.end - self.start, most)
        numbers = range(math.ceil(self.start / step), math.floor(self.end / step) + 1)
        return [number * step for number in numbers]


def _step(span: float, most: int) -> float:
    """The shortest distance that leaves at most as many ticks."""
    for step in _STEPS:
        if span // step < most:
            return step
    longest = _STEPS[-1]
    return longest * math.ceil(span / longest / (most - 1))
