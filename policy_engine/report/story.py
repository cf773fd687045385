"""One run as reports tell it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from policy_engine.outcome import JobOutcome, Step, steps
from policy_engine.report.series import Interval, of_share
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Story:
    """One run, and what became of its jobs."""

    ident: str
    """Unique in the report: begins the id of everything that belongs to the run."""
    run: Run
    jobs: Sequence[JobOutcome]

    def timelines(self) -> dict[str, list[Step]]:
        """Instance type to how its instances are used over time."""
        return {unit: steps(self.run, unit) for unit in self.run.policy.units}

    def intervals(self) -> Iterator[tuple[str, str, Interval]]:
        """Instance type, share and what the share has of it, span by span."""
        for unit, found in self.timelines().items():
            for share in self.run.policy.shares:
                for interval in of_share(found, share, self.run.end):
                    yield unit, share, interval


def most_telling(jobs: Sequence[JobOutcome], most: int) -> list[JobOutcome]:
    """All jobs in the order given; of more than ``most``, those preempted most, then those that waited longest."""
    if len(jobs) <= most:
        return list(jobs)

    def weight(job: JobOutcome) -> tuple[int, float]:
        never = float("inf") if job.first_started is None else 0.0
        return job.preemptions, (job.wait_seconds or never) + job.requeued_seconds

    chosen = {job.name for job in sorted(jobs, key=weight, reverse=True)[:most]}
    return [job for job in jobs if job.name in chosen]
