"""One run as reports tell it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from policy_engine.outcome import JobOutcome, bins, policies, steps
from policy_engine.policy import Policy
from policy_engine.report.series import Timeline, timeline, timeline_of
from policy_engine.simulation import Run

LEAST_INTERVALS: Final = 60
MOST_INTERVALS: Final = 160
"""Spans of time that a course of capacity can have; of more, means are shown."""
ALL_INTERVALS: Final = 5_000
"""The same of all shares and instance types together: what keeps a page with 20 shares small."""
MOST_EXACT: Final = 20_000
"""Events up to which every change is looked at on its own; a course of more is of means anyway."""


@dataclass(frozen=True)
class Story:
    """One run, and what became of its jobs."""

    ident: str
    """Unique in the report: begins the id of everything that belongs to the run."""
    run: Run
    jobs: Sequence[JobOutcome]
    is_measured: bool = False
    """Has the report tables of its own for shares and preemptions?"""
    most_intervals: int = MOST_INTERVALS
    """Of a course of capacity; fewer where the charts have half the page."""

    @cached_property
    def timelines(self) -> dict[str, Timeline]:
        """Instance type to how its instances are used over time; at least a second of it."""
        run = self.run
        units, shares = run.policy.units, run.policy.shares
        most = min(self.most_intervals, max(LEAST_INTERVALS, ALL_INTERVALS // ((1 + len(shares)) * len(units))))
        end = max(run.end, 1.0)
        if len(run.log) > MOST_EXACT:
            return {unit: timeline_of(bins(run, unit, most, end)) for unit in units}
        return {unit: timeline(steps(run, unit), shares, end, most) for unit in units}

    @cached_property
    def policies(self) -> list[tuple[float, Policy]]:
        """The policies of the run, each with the seconds since when it holds."""
        rows = self.run.log.rows
        return [(rows[index][0] if index >= 0 else 0.0, policy) for index, policy in policies(self.run)]

    def capacity(self, unit: str) -> list[tuple[float, int]]:
        """Capacity of the service environment in instances: since when, and how many."""
        return _changes((at, policy.capacity(unit)) for at, policy in self.policies)

    def limit(self, share: str, unit: str) -> list[tuple[float, int]]:
        """The share's own limit in instances: since when, and how many; 0 once it is deleted."""
        return _changes(
            (at, policy.shares[share].limit(unit) if share in policy.shares else 0) for at, policy in self.policies
        )


def _changes(values: Iterable[tuple[float, int]]) -> list[tuple[float, int]]:
    found: list[tuple[float, int]] = []
    for at, value in values:
        if not found or found[-1][1] != value:
            found.append((at, value))
    return found


def most_telling(jobs: Sequence[JobOutcome], most: int) -> list[JobOutcome]:
    """All jobs in the order given; of more than ``most``, those preempted most, then those that waited longest."""
    if len(jobs) <= most:
        return list(jobs)

    def weight(job: JobOutcome) -> tuple[int, float]:
        never = float("inf") if job.first_started is None else 0.0
        return job.preemptions, (job.wait_seconds or never) + job.requeued_seconds

    chosen = {job.name for job in sorted(jobs, key=weight, reverse=True)[:most]}
    return [job for job in jobs if job.name in chosen]
