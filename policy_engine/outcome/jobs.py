"""What became of each job."""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.outcome.history import state_after
from policy_engine.outcome.lives import Lives, submitted_at
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Attempt:
    """One placement of a job. Times in seconds from the scenario's zero."""

    scheduled: float
    stopped: float | None
    """When its capacity was released; None while it holds it."""
    ended_by: str | None
    """``finished``, ``cross_share``, ``in_share``, ``limit_lowered``, ``timeout``, ``terminated``, ``failed``,
    ``capacity_failure``; None while it runs."""
    by: str | None
    """The job it was preempted for."""
    lost_seconds: float
    """Seconds of its work that a preemption did not keep."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """One job at the end of the run."""

    name: str
    share: str
    state: str
    """AWS's state: SUBMITTED (not yet submitted), RUNNABLE, SCHEDULED, RUNNING, SUCCEEDED, FAILED."""
    reason: str | None
    """AWS's status reason, where there is one."""
    submitted: float
    first_started: float | None
    finished: float | None
    """When it succeeded, failed or was terminated."""
    wait_seconds: float | None
    """From submission to the first start; None where it never started."""
    requeued_seconds: float
    """Waiting after preemptions, to the next start or the end."""
    attempts: tuple[Attempt, ...]
    preemptions: int
    """Attempts that a preemption ended."""
    lost_instance_seconds: float


def job_outcomes(run: Run) -> tuple[JobOutcome, ...]:
    """What became of every job, in the order in which the jobs are given."""
    jobs = run.workload.jobs
    start_seconds = run.workload.timing.start_seconds
    lives = Lives(run)
    return tuple(
        JobOutcome(
            name=job.name,
            share=job.share,
            state=state_after(lives.last[number], run.end, start_seconds),
            reason=lives.reasons.get(number),
            submitted=(submitted := submitted_at(job)),
            first_started=(first := lives.first[number]),
            finished=lives.ended(number),
            wait_seconds=None if first is None else first - submitted,
            requeued_seconds=lives.requeued.get(number, 0.0),
            attempts=tuple(
                Attempt(scheduled, stopped, why, jobs[by].name if by >= 0 else None, lost)
                for scheduled, stopped, why, by, lost in lives.attempts(number)
            ),
            preemptions=lives.preemptions.get(number, 0),
            lost_instance_seconds=lives.lost.get(number, 0.0) * job.instances,
        )
        for number, job in enumerate(jobs)
    )
