"""What a run came to: for each job, each share, and the queue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attempt:
    """One placement of a job. Times in seconds from the scenario's zero."""

    scheduled: float
    stopped: float | None
    """When its capacity was released; None while it holds it."""
    ended_by: str | None
    """``finished``, ``cross_share``, ``in_share``, ``limit_lowered``, ``timeout``, ``terminated``,
    ``failed``; None while it runs."""
    by: str | None
    """The job it was preempted for."""
    lost_seconds: float
    """Seconds of its work that were not kept."""


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """One job at the end of the run."""

    name: str
    share: str
    state: str
    """AWS's state: SUBMITTED (not yet submitted), RUNNABLE, SCHEDULED, STARTING, RUNNING, SUCCEEDED, FAILED."""
    reason: str | None
    """AWS's status reason, where there is one."""
    submitted: float
    first_started: float | None
    finished: float | None
    wait_seconds: float | None
    """From submission to the first start; None where it never started."""
    requeued_seconds: float
    """Waiting after preemptions."""
    attempts: tuple[Attempt, ...]
    preemptions: int
    """Attempts that a preemption ended."""
    lost_instance_seconds: float


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting times to the first start, in seconds; percentiles by nearest rank."""

    mean: float
    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class ShareOutcome:
    """One share on one instance type over the run."""

    name: str
    unit: str
    limit: int
    """The share's own limit at the end of the run, in instances."""
    busy_instance_seconds: float
    borrowed_instance_seconds: float
    lent_instance_seconds: float
    """What others borrowed, split among the lenders in proportion to their idle capacity."""
    peak_usage: int
    peak_borrowed: int
    wait_seconds: Waits | None
    """None where none of its jobs started."""
    never_started: int
    requeued_seconds: float
    preemptions_suffered: int
    preemptions_caused: int
    lost_instance_seconds: float
    """Work that its jobs lost."""
    caused_lost_instance_seconds: float
    """Work that jobs of any share lost to its jobs."""


@dataclass(frozen=True, slots=True)
class Step:
    """The instances of one unit from ``at`` until the next step."""

    at: float
    own: Mapping[str, int]
    """Share to what it uses inside its limit."""
    borrowed: Mapping[str, int]
    """Share to what it uses beyond its limit."""
    lent: Mapping[str, int]
    """Share to what others use of its idle capacity."""
    reserved: Mapping[str, int]
    """Share to its idle capacity that nobody may borrow."""
    free: Mapping[str, int]
    """Share to its idle capacity that is lendable and not lent."""
    unallocated: int
    """Idle capacity of the environment that no share declares."""
