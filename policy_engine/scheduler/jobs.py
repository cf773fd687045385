"""A training job as the scheduler sees it, and how long things take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Exit(StrEnum):
    """How an attempt ends that nobody stops."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CAPACITY_FAILURE = "capacity_failure"
    """SageMaker had no instance: retried without using an attempt (UG service-job-retries)."""


@dataclass(frozen=True, slots=True)
class Job:
    """One service job. Times are seconds from the scenario's zero; None is "not given"."""

    name: str
    share: str
    demand: Mapping[str, int]
    """Instance type to instances; all at once or not at all (R1)."""
    priority: int | None = None
    submit: float = 0.0
    duration: float | None = None
    """Seconds of work; None runs until the end."""
    shortest: float | None = None
    """Where the duration is a range: its smaller end, ``duration`` is the larger. For explorations alone."""
    attempts: int = 1
    """Placements, the first included (R15)."""
    preemption_retries: int | None = None
    """Requeues after preemption before the job fails; None is without limit (R10)."""
    timeout: float | None = None
    """``attemptDurationSeconds``: an attempt is ended after so long."""
    checkpoint_every: float | None = None
    """Seconds of work between checkpoints; None uses the timing's."""
    exit: Exit = Exit.SUCCEEDED
    started: float | None = None
    """For a job of ``running:``: when it was dispatched (below zero); it was submitted then too."""

    @property
    def instances(self) -> int:
        """Instances of all types together."""
        return sum(self.demand.values())


@dataclass(frozen=True, slots=True)
class Timing:
    """How long things take, in seconds (``timing:`` of a scenario)."""

    stop_seconds: float = 0.0
    """From a preemption to the release of its capacity (C14)."""
    start_seconds: float = 0.0
    """From SCHEDULED to RUNNING."""
    queue_latency: float = 0.0
    """From a change to the decision that answers it."""
    checkpoint_every: float | None = None
    """Seconds of work between checkpoints of jobs that state none; None: no checkpoints."""
    restart_seconds: float = 0.0
    """What a job that was preempted needs before its work goes on."""


@dataclass(frozen=True, slots=True)
class Update:
    """Something that is done to the queue or a job at a time, in seconds."""

    at: float


@dataclass(frozen=True, slots=True)
class UpdatePriority(Update):
    """UpdateServiceJob: changes the priority of a job and nothing else (R13)."""

    job: str
    priority: int


@dataclass(frozen=True, slots=True)
class Terminate(Update):
    """TerminateServiceJob."""

    job: str


@dataclass(frozen=True, slots=True)
class UpdateShare(Update):
    """UpdateQuotaShare: what is None stays (R11, R14)."""

    share: str
    capacity_limits: Mapping[str, int] | None = None
    strategy: str | None = None
    borrow_limit: int | None = None
    in_share_preemption: bool | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class DeleteShare(Update):
    """DeleteQuotaShare: terminates its jobs (R16)."""

    share: str


@dataclass(frozen=True, slots=True)
class UpdateServiceEnvironment(Update):
    """UpdateServiceEnvironment: a lowered capacity stops nothing (R11)."""

    capacity_limits: Mapping[str, int] | None = None
    state: str | None = None


@dataclass(frozen=True, slots=True)
class UpdateQueue(Update):
    """UpdateJobQueue: a DISABLED queue takes no new jobs (R14)."""

    state: str | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What happens to a queue: jobs in the order in which they are given, ``running:`` first."""

    jobs: tuple[Job, ...]
    updates: tuple[Update, ...] = ()
    timing: Timing = field(default_factory=Timing)
    until: float | None = None
    """Seconds at which the run ends; None ends it with the last event."""
