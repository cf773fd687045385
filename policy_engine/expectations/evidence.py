"""A run and what follows from it, each worked out once and only where an expectation asks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from policy_engine.outcome import (
    PREEMPTIONS,
    JobOutcome,
    QueueOutcome,
    ShareOutcome,
    job_outcomes,
    last_rows,
    queue_outcome,
    share_outcomes,
)
from policy_engine.scheduler.log import RELEASES, Kind, Why
from policy_engine.simulation import Run


@dataclass(slots=True)
class Preemption:
    """The decision to stop one job."""

    at: float
    """Seconds from the scenario's zero, of the decision."""
    victim: int
    by: int
    """The job it was stopped for; -1 for none (C11 ``at_once``)."""
    why: Why
    priority: int
    """The victim's priority at that time."""
    released: float | None = None
    """When its capacity was released; None where the run ended before."""
    spared: bool = False
    """Its work ended, or somebody terminated it, before it was stopped: it counts in nobody's preemptions."""


class Evidence:
    """What expectations are judged on."""

    def __init__(self, run: Run, instants: Iterable[float] = ()) -> None:
        """``instants``: the times, in seconds, of the states that will be asked for."""
        self.run = run
        self.number_of = {job.name: number for number, job in enumerate(run.workload.jobs)}
        self.rows_at = dict(last_rows(run, set(instants)))
        """Instant to the index of the row that last changed each job's state."""

    @cached_property
    def jobs(self) -> dict[str, JobOutcome]:
        """Every job by its name."""
        return {job.name: job for job in job_outcomes(self.run)}

    @cached_property
    def shares(self) -> dict[str, ShareOutcome]:
        """Every share by its name, all its instance types together."""
        return {share.name: share for share in share_outcomes(self.run, by_unit=False)}

    @cached_property
    def queue(self) -> QueueOutcome:
        """The queue."""
        return queue_outcome(self.run)

    @cached_property
    def preemptions(self) -> list[Preemption]:
        """Every decision to stop a job, in order."""
        run = self.run
        default = run.choices.default_priority
        priority = [default if job.priority is None else job.priority for job in run.workload.jobs]
        found: list[Preemption] = []
        under_way: dict[int, Preemption] = {}
        for at, kind, job, by, why, detail in run.log.rows:
            if kind is Kind.PRIORITY_UPDATED:
                priority[job] = detail
            elif kind is Kind.PREEMPTED and why is not None:
                under_way[job] = Preemption(at, job, by, why, priority[job])
                found.append(under_way[job])
            elif kind in RELEASES and job in under_way:
                preemption = under_way.pop(job)
                preemption.released = at
                preemption.spared = why is not None and why not in PREEMPTIONS
        return found
