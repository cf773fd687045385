"""What became of each job."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from policy_engine.outcome.history import PREEMPTIONS, state_after
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import Kind, Row, Why
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


class Life:
    """What the log says about one job."""

    __slots__ = (
        "attempts",
        "ended",
        "first",
        "lost",
        "pending",
        "preemptions",
        "reason",
        "requeued",
        "row",
        "waits_since",
    )

    def __init__(self) -> None:
        self.row: Row | None = None
        """The last that changed its state."""
        self.reason: str | None = None
        self.first: float | None = None
        self.ended: float | None = None
        self.pending: tuple[Why, int] | None = None
        """The preemption under way: its kind and the job it is for."""
        self.waits_since: float | None = None
        """Since when it waits after a preemption."""
        self.requeued = 0.0
        self.preemptions = 0
        self.lost = 0.0
        self.attempts: list[tuple[float, float | None, Why | None, int, float]] = []
        """(scheduled, stopped, ended by, by whom, seconds lost)."""

    def submitted(self, row: Row) -> None:
        """It is RUNNABLE."""
        self.row = row

    def started(self, row: Row) -> None:
        """An attempt begins."""
        at = row[0]
        self.row = row
        self.reason = None
        if self.first is None:
            self.first = at
        self._wait_is_over(at)
        self.attempts.append((at, None, None, -1, 0.0))

    def preempted(self, row: Row) -> None:
        """Its attempt is to be stopped."""
        _, _, _, by, why, _ = row
        if why is not None:
            self.pending = (why, by)

    def stopped(self, row: Row) -> None:
        """Its attempt ended before its work."""
        _, _, _, _, why, lost = row
        self._release(row, lost if why is None else 0.0)

    def requeued_again(self, row: Row) -> None:
        """It is RUNNABLE again."""
        self.row = row
        if self.attempts and self.attempts[-1][2] in PREEMPTIONS:
            self.waits_since = row[0]

    def ended_for_good(self, row: Row) -> None:
        """It succeeded, failed or was terminated."""
        at, kind, _, _, _, detail = row
        self._release(row, 0.0)
        self.ended = at
        if kind is not Kind.FINISHED:
            self.reason = detail

    def blocked(self, row: Row) -> None:
        """It can never fit, for AWS's reason."""
        self.reason = row[5]

    def close(self, end: float) -> None:
        """The run is over."""
        self._wait_is_over(end)

    def _wait_is_over(self, at: float) -> None:
        if self.waits_since is not None:
            self.requeued += at - self.waits_since
            self.waits_since = None

    def _release(self, row: Row, lost: float) -> None:
        """Its attempt ends, where it has one: as the row says, else by the preemption under way."""
        at, _, _, _, why, _ = row
        self.row = row
        self._wait_is_over(at)
        pending, self.pending = self.pending, None
        if not self.attempts or self.attempts[-1][1] is not None:
            return
        by = -1
        if why is None and pending is not None:
            why, by = pending
            self.preemptions += 1
            self.lost += lost
        self.attempts[-1] = (self.attempts[-1][0], at, why, by, lost)


_HANDLERS: Final[Mapping[Kind, Callable[[Life, Row], None]]] = {
    Kind.SUBMITTED: Life.submitted,
    Kind.STARTED: Life.started,
    Kind.PREEMPTED: Life.preempted,
    Kind.STOPPED: Life.stopped,
    Kind.REQUEUED: Life.requeued_again,
    Kind.FINISHED: Life.ended_for_good,
    Kind.FAILED: Life.ended_for_good,
    Kind.TERMINATED: Life.ended_for_good,
    Kind.BLOCKED: Life.blocked,
}


def lives(run: Run) -> list[Life]:
    """What the log says about every job, in the order in which the jobs are given."""
    lives = [Life() for _ in run.workload.jobs]
    for row in run.log.rows:
        handler = _HANDLERS.get(row[1])
        if handler is not None:
            handler(lives[row[2]], row)
    for life in lives:
        life.close(run.end)
    return lives


def job_outcomes(run: Run) -> tuple[JobOutcome, ...]:
    """What became of every job, in the order in which the jobs are given."""
    jobs = run.workload.jobs
    start_seconds = run.workload.timing.start_seconds
    outcomes = []
    for job, life in zip(jobs, lives(run), strict=True):
        submitted = submitted_at(job)
        outcomes.append(
            JobOutcome(
                name=job.name,
                share=job.share,
                state=state_after(life.row, run.end, start_seconds),
                reason=life.reason,
                submitted=submitted,
                first_started=life.first,
                finished=life.ended,
                wait_seconds=None if life.first is None else life.first - submitted,
                requeued_seconds=life.requeued,
                attempts=tuple(
                    Attempt(scheduled, stopped, why, jobs[by].name if by >= 0 else None, lost)
                    for scheduled, stopped, why, by, lost in life.attempts
                ),
                preemptions=life.preemptions,
                lost_instance_seconds=life.lost * job.instances,
            )
        )
    return tuple(outcomes)


def submitted_at(job: Job) -> float:
    """A job of ``running:`` was submitted when it started."""
    return job.submit if job.started is None else job.started
