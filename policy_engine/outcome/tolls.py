"""What is counted by job: waits, preemptions, lost work. For each share and size of job; all sums are made of that."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from math import floor, inf
from typing import Final

from policy_engine.outcome.history import PREEMPTIONS
from policy_engine.outcome.lives import Lives, submitted_at
from policy_engine.scheduler.log import Why
from policy_engine.simulation import Run

Size = tuple[tuple[str, int], ...]
"""Instance types and instances of a job, by name of the type."""

CHECKPOINT_SECONDS: Final = 3600.0
"""Seconds between checkpoints, where a run has none and is asked what they would have kept."""


@dataclass(slots=True)
class Toll:
    """Jobs of one share and size; all times in seconds."""

    waits: list[float] = field(default_factory=list)
    """To the first start."""
    never_started: int = 0
    requeued: float = 0.0
    suffered: int = 0
    lost: float = 0.0
    """Work that preemptions did not keep."""
    lost_without: float = 0.0
    """The same had no job kept anything."""
    lost_with: float = 0.0
    """The same had every job saved its work every so often."""


@dataclass(slots=True)
class Taking:
    """Preemptions of jobs of one share and size, by jobs of one share."""

    count: int = 0
    lost: float = 0.0
    """Seconds of work."""


class Tolls:
    """What is counted by job, from ``since`` seconds on; by default all, jobs of ``running:`` too.

    Waits are those of jobs submitted from then on, preemptions those of which the stop came from then on.
    """

    def __init__(self, run: Run, lives: Lives, since: float = -inf, every: float = CHECKPOINT_SECONDS) -> None:
        self.run = run
        self.jobs = run.workload.jobs
        self.lives = lives
        self.since = since
        self.every = every
        """Seconds of ``Toll.lost_with``."""
        self.tolls: dict[tuple[str, Size], Toll] = {}
        """Share and size to its jobs."""
        self.takings: defaultdict[tuple[str, str, Size, Why], Taking] = defaultdict(Taking)
        """(by, of, size, kind)."""
        self._of_demand: dict[tuple[str, int], Toll] = {}
        self._read_waits()
        self._read_preemptions()

    def is_measured(self, number: int) -> bool:
        """Was the job submitted, and from ``since`` on?"""
        return self.lives.last[number] is not None and submitted_at(self.jobs[number]) >= self.since

    def wait(self, number: int) -> float | None:
        """Seconds to the job's first start; None where it never started."""
        first = self.lives.first[number]
        return None if first is None else first - submitted_at(self.jobs[number])

    def toll(self, number: int) -> Toll:
        """The toll of the job's share and size; jobs of one size have their demand in common, which saves a search."""
        job = self.jobs[number]
        key = job.share, id(job.demand)
        toll = self._of_demand.get(key)
        if toll is None:
            toll = self._of_demand[key] = self.tolls.setdefault((job.share, size_of(job.demand.items())), Toll())
        return toll

    def _read_waits(self) -> None:
        first, last, since = self.lives.first, self.lives.last, self.since
        known = self._of_demand
        for number, (job, started) in enumerate(zip(self.jobs, first, strict=True)):
            toll = known.get((job.share, id(job.demand))) or self.toll(number)
            submitted = job.submit if job.started is None else job.started
            if submitted < since:
                continue
            if started is not None:
                toll.waits.append(started - submitted)
            elif last[number] is not None:
                toll.never_started += 1
        for toll in self.tolls.values():
            toll.waits.sort()  # they are put together in many ways, and each is sorted: runs in order are merged
        for number, seconds in self.lives.requeued.items():
            if submitted_at(self.jobs[number]) >= since:
                self.toll(number).requeued += seconds

    def _read_preemptions(self) -> None:
        timing = self.run.workload.timing
        for number, cuts in self.lives.cuts.items():
            job, toll = self.jobs[number], self.toll(number)
            begins = timing.start_seconds
            for scheduled, at, why, by, lost in cuts:
                if why is None or why not in PREEMPTIONS or at is None:
                    continue
                if at >= self.since:
                    self._add(toll, max(0.0, at - scheduled - begins), lost)
                    if by >= 0:
                        taking = self.takings[self.jobs[by].share, job.share, size_of(job.demand.items()), why]
                        taking.count += 1
                        taking.lost += lost
                begins = timing.start_seconds + timing.restart_seconds

    def _add(self, toll: Toll, work: float, lost: float) -> None:
        """A preemption after so many seconds of work."""
        toll.suffered += 1
        toll.lost += lost
        toll.lost_without += work
        toll.lost_with += max(0.0, work - floor(work / self.every + 1e-9) * self.every)


def size_of(demand: Iterable[tuple[str, int]]) -> Size:
    """The size of jobs with this demand."""
    return tuple(sorted(demand))


def instances(size: Size, unit: str | None) -> int:
    """Instances of the unit in a job of that size; of all units for None."""
    return sum(count for of, count in size if unit in (None, of))
