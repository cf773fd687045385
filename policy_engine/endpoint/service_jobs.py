"""Service jobs as AWS tells of them: states, attempts, reasons, and how they are found again."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from policy_engine.scheduler.log import CROSS_SHARE_REASON, Why

RECENT: Final = 10
"""Preempted attempts that are told of; AWS keeps a sliding window and does not say how long."""

PREEMPTED: Final[Mapping[Why | None, str]] = {
    Why.CROSS_SHARE: CROSS_SHARE_REASON,
    Why.IN_SHARE: "In-share preemption triggered for a job of higher priority",
    Why.LIMIT_LOWERED: "Preemption triggered by lowered capacity limits of the quota share",
}
"""Why an attempt was preempted: the first is AWS's, which publishes none of the others."""
IN_PROGRESS: Final = "PREEMPTION_IN_PROGRESS: "
"""Before it in the job's own status reason, while it is being stopped (UG batch-service-job-preemption-events)."""
TIMED_OUT: Final = "Job attempt duration exceeded timeout"
FAILED: Final = "Received status from SageMaker: AlgorithmError: the training script failed"
"""The prefix is AWS's (UG service-job-retries)."""


class Status(StrEnum):
    """State of a service job (UG service-job-status)."""

    SUBMITTED = "SUBMITTED"
    RUNNABLE = "RUNNABLE"
    SCHEDULED = "SCHEDULED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"


@dataclass(slots=True)
class Attempt:
    """One training job. Times are seconds of the virtual clock."""

    training_job: str
    """Its ARN."""
    scheduled_at: float
    started_at: float | None = None
    stopped_at: float | None = None
    reason: str | None = None


@dataclass(slots=True, eq=False)
class ServiceJob:
    """One service job. Times are seconds of the virtual clock."""

    id: str
    arn: str
    name: str
    share: str
    created_at: float
    demand: Mapping[str, int]
    """Instance type to instances."""
    asked: Mapping[str, Any]
    """What DescribeServiceJob repeats of the request."""
    tags: dict[str, str]
    digest: bytes
    """Of the request, to compare with that of another one."""
    number: int = -1
    """In its queue, in the order of submission."""
    status: Status = Status.SUBMITTED
    reason: str | None = None
    attempts: list[Attempt] = field(default_factory=list)
    """Those that used one of ``retryStrategy.attempts``, the current one included."""
    preempted: deque[Attempt] = field(default_factory=lambda: deque(maxlen=RECENT))
    """The most recent first."""
    preemptions: int = 0
    scheduled_at: float | None = None
    started_at: float | None = None
    stopped_at: float | None = None
    latest: Attempt | None = None
    stopping: str | None = None
    """Why it was preempted last."""
    is_terminated: bool = False


class JobIndex:
    """The jobs of one queue by state, share and name, each ready to be listed page by page."""

    def __init__(self) -> None:
        self.jobs: list[ServiceJob] = []
        self._by_status: dict[tuple[str, Status], list[int]] = {}
        """Share (or "" for all) and state to the numbers of the jobs, ascending."""
        self._by_share: dict[str, list[int]] = {}
        self._by_name: list[tuple[str, str, int]] = []
        """(lower-case name, name, -number), ascending."""

    def add(self, job: ServiceJob) -> None:
        """A new job, the last of its queue."""
        self.jobs.append(job)
        self._by_share.setdefault(job.share, []).append(job.number)
        insort(self._by_name, (job.name.lower(), job.name, -job.number))
        self._enter(job)

    def move(self, job: ServiceJob, status: Status) -> None:
        """The job is in another state now."""
        for key in (("", job.status), (job.share, job.status)):
            numbers = self._by_status[key]
            del numbers[bisect_left(numbers, job.number)]
        job.status = status
        self._enter(job)

    def _enter(self, job: ServiceJob) -> None:
        for key in (("", job.status), (job.share, job.status)):
            insort(self._by_status.setdefault(key, []), job.number)

    # --- listing, the most recent first ---------------------------------------------------------

    def with_status(self, status: Status, share: str, before: int | None) -> Iterator[ServiceJob]:
        """Jobs in that state, of one share or ("") of all; only those submitted before number ``before``."""
        return self._down(self._by_status.get((share, status), ()), before)

    def of_share(self, share: str, before: int | None) -> Iterator[ServiceJob]:
        """Jobs of the share, whatever their state."""
        return self._down(self._by_share.get(share, ()), before)

    def created(self, after: float, until: float, before: int | None) -> Iterator[ServiceJob]:
        """Jobs submitted later than ``after`` and earlier than ``until``, in seconds."""
        end = bisect_left(self.jobs, until, key=lambda job: job.created_at)
        end = end if before is None else min(end, before)
        for number in range(end - 1, -1, -1):
            if self.jobs[number].created_at <= after:
                return
            yield self.jobs[number]

    def named(self, pattern: str, before: int | None) -> Iterator[ServiceJob]:
        """Jobs of that name whatever the case, or of names that begin so where it ends with an asterisk.

        One name after the other. ``before`` is the number of the job after which to go on.
        """
        wanted, prefix = pattern.lower().removesuffix("*"), pattern.endswith("*")
        start = 0
        if before is not None:
            job = self.jobs[before]
            start = bisect_left(self._by_name, (job.name.lower(), job.name, -before)) + 1
        start = max(start, bisect_left(self._by_name, (wanted,)))
        for place in range(start, len(self._by_name)):
            lower, _, number = self._by_name[place]
            if not (lower.startswith(wanted) if prefix else lower == wanted):
                return
            yield self.jobs[-number]

    def _down(self, numbers: Sequence[int], before: int | None) -> Iterator[ServiceJob]:
        end = len(numbers) if before is None else bisect_left(numbers, before)
        for place in range(end - 1, -1, -1):
            yield self.jobs[numbers[place]]
