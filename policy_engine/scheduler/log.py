"""What happened: the event log of a run, and what each kind of entry means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, overload

from policy_engine.scheduler.jobs import Job


class Kind(StrEnum):
    """Kinds of event."""

    SUBMITTED = "submitted"
    STARTED = "started"
    PREEMPTED = "preempted"
    STOPPED = "stopped"
    REQUEUED = "requeued"
    FINISHED = "finished"
    FAILED = "failed"
    TERMINATED = "terminated"
    PRIORITY_UPDATED = "priority_updated"
    SHARE_UPDATED = "share_updated"
    ENVIRONMENT_UPDATED = "environment_updated"
    BLOCKED = "blocked"


class Why(StrEnum):
    """Why a job was preempted, or how an attempt ended."""

    CROSS_SHARE = "cross_share"
    IN_SHARE = "in_share"
    LIMIT_LOWERED = "limit_lowered"
    FINISHED = "finished"
    FAILED = "failed"
    TIMEOUT = "timeout"
    TERMINATED = "terminated"
    CAPACITY_FAILURE = "capacity_failure"


CROSS_SHARE_REASON: Final = "Cross-share preemption triggered to reclaim borrowed capacity"
"""AWS's status reason of an attempt that was preempted for another share's job (UG
batch-service-job-preemption-events); for the other kinds AWS publishes none."""


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of the log."""

    at: float
    """Seconds from the scenario's zero."""
    kind: Kind
    job: str | None = None
    by: str | None = None
    """The job for which this one was preempted."""
    why: Why | None = None
    reason: str | None = None
    """AWS's own status reason, where there is one (``blocked``, ``failed``, ``terminated``)."""
    share: str | None = None
    """The share of the job, or the share that was updated."""
    lost_seconds: float = 0.0
    """Of a ``stopped`` event: seconds of work lost (times instances: lost instance-seconds)."""
    usage: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Instances of each type held just after the event by the share that changed."""


Row = tuple[float, Kind, int, int, "Why | None", Any]
"""(at, kind, job, by, why, detail): jobs are indices into ``Workload.jobs``, -1 for none.

``detail`` is the seconds of work lost (``stopped``), AWS's reason (``blocked``, ``failed``,
``terminated``), the new priority (``priority_updated``), the share (``share_updated``) or None.
"""

RELEASES: Final = frozenset({Kind.STOPPED, Kind.FINISHED, Kind.FAILED, Kind.TERMINATED})
"""Kinds that release what a job holds, where it holds any."""
REASONED: Final = frozenset({Kind.BLOCKED, Kind.FAILED, Kind.TERMINATED})
"""Kinds whose detail is AWS's status reason."""


class Log(Sequence[Event]):
    """The events of a run, in order. Rows are kept small; an ``Event`` is made when it is asked for."""

    def __init__(self, jobs: Sequence[Job]) -> None:
        self.jobs = jobs
        self.rows: list[Row] = []

    def __len__(self) -> int:
        return len(self.rows)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        events = list(self)
        return events[index]

    def __iter__(self) -> Iterator[Event]:
        """Every event with the usage just after it; one walk over the rows."""
        held: set[int] = set()
        usage: dict[str, dict[str, int]] = {}
        for at, kind, job, by, why, detail in self.rows:
            share = self.jobs[job].share if job >= 0 else None
            changed: dict[str, dict[str, int]] = {}
            if job >= 0 and share is not None:
                was_held = job in held
                if self._change(held, kind, job):
                    sign = 1 if job in held else -1
                    of_share = usage.setdefault(share, {})
                    for unit, count in self.jobs[job].demand.items():
                        of_share[unit] = of_share.get(unit, 0) + sign * count
                if was_held or job in held:
                    changed = {share: dict(usage.get(share, {}))}
            yield Event(
                at=at,
                kind=kind,
                job=self.jobs[job].name if job >= 0 else None,
                by=self.jobs[by].name if by >= 0 else None,
                why=why,
                reason=detail if kind in REASONED else None,
                share=detail if kind is Kind.SHARE_UPDATED else share,
                lost_seconds=detail if kind is Kind.STOPPED else 0.0,
                usage=changed,
            )

    @staticmethod
    def _change(held: set[int], kind: Kind, job: int) -> bool:
        """Note in ``held`` what the event does to the job's capacity; true where it changed."""
        if kind is Kind.STARTED:
            held.add(job)
            return True
        if kind in RELEASES and job in held:
            held.discard(job)
            return True
        return False
