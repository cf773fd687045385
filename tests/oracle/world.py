"""What there is: shares, jobs and claims, and the sums the specification's words stand for."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing

Entry = tuple[float, str, str | None, str | None, str | None, Any]
"""(at, kind, job, by, why, detail): detail is what is lost (stopped), a reason, a priority or a share."""


class Phase(Enum):
    UNSUBMITTED = auto()
    WAITING = auto()
    CLAIMING = auto()
    """Waits for its victims to stop, and is no head meanwhile."""
    DISPATCHED = auto()
    ENDED = auto()


@dataclass(eq=False)
class JobState:
    """One job. ``submitted`` is its first submit time, ``order`` its place in the file."""

    order: int
    job: Job
    submitted: float
    priority: int
    phase: Phase = Phase.UNSUBMITTED
    succeeded: bool = False
    place: tuple[float, int] = (0.0, 0)
    """In the line of its priority: a time and, among equals, an order (C3, C4)."""
    runnable_since: float = 0.0
    dispatched_at: float = 0.0
    running_from: float = 0.0
    """When this attempt has started up; its time (``timeout``) begins."""
    work_from: float = 0.0
    """When the work of this attempt begins: after a restart, where there is one."""
    kept: float = 0.0
    """Seconds of work in checkpoints."""
    stop_at: float | None = None
    """When it will have stopped; None where it is not being stopped."""
    failures: int = 0
    preemptions: int = 0
    was_preempted: bool = False
    """Its last attempt was."""
    without_capacity: float = 0.0
    """Seconds of attempts that ended in a capacity failure."""
    lost: float = 0.0
    """Instance-seconds."""
    victims: tuple[JobState, ...] = ()
    """Of a claimant: whom it waits for; those that have stopped drop out."""
    claim: int = 0
    """Claims are numbered in the order in which they are made."""
    reasons: set[str] = field(default_factory=set)
    """With which it was logged as blocked."""
    stuck: tuple[str, float] | None = None
    """The code of the R12 reason it stays RUNNABLE with, and since when."""

    def __post_init__(self) -> None:
        self.name = self.job.name
        self.share = self.job.share

    @property
    def running(self) -> bool:
        """Dispatched and not being stopped: what may become a victim."""
        return self.phase is Phase.DISPATCHED and self.stop_at is None

    def due(self) -> float | None:
        """When its attempt ends if nobody stops it: its work is done or its time is over."""
        work = self.job.duration
        ends = [] if work is None else [self.work_from + work - self.kept]
        if self.job.timeout is not None:
            ends.append(self.running_from + self.job.timeout)
        return min(ends, default=None)


@dataclass
class ShareState:
    name: str
    limits: dict[str, int]
    strategy: str
    borrow_limit: int
    in_share: bool
    enabled: bool


class World:
    """The state of one run, at one time."""

    def __init__(self, policy: Policy, jobs: Iterable[Job], choices: Choices, timing: Timing) -> None:
        self.now = 0.0
        self.choices = choices
        self.timing = timing
        self.capacity = dict(policy.service_environment.capacity_limits)
        self.environment_enabled = policy.service_environment.state == "ENABLED"
        self.queue_enabled = policy.state == "ENABLED"
        self.shares = {
            name: ShareState(
                name,
                dict(share.capacity_limits),
                str(share.strategy),
                -1 if share.borrow_limit is None else share.borrow_limit,
                share.in_share_preemption,
                share.state == "ENABLED",
            )
            for name, share in policy.shares.items()
        }
        self.jobs = [
            JobState(
                order,
                job,
                job.submit if job.started is None else job.started,
                choices.default_priority if job.priority is None else job.priority,
            )
            for order, job in enumerate(jobs)
        ]
        self.claims = 0
        self.log: list[Entry] = []

    def write(
        self,
        kind: str,
        job: JobState | None = None,
        by: JobState | None = None,
        why: str | None = None,
        detail: Any = None,
    ) -> None:
        whose, by_whom = (None if j is None else j.name for j in (job, by))
        self.log.append((self.now, kind, whose, by_whom, why, detail))

    def line(self, share: str) -> list[JobState]:
        """The waiting jobs of a share, next in line first (R2, C4)."""
        waiting = [j for j in self.jobs if j.phase is Phase.WAITING and j.share == share]
        return sorted(waiting, key=lambda j: (-j.priority, j.place))

    def limit(self, share: str, unit: str) -> int:
        return self.shares[share].limits.get(unit, 0)

    def sum_of_limits(self, unit: str) -> int:
        return sum(self.limit(share, unit) for share in self.shares)

    def over_committed(self, unit: str) -> int:
        return max(0, self.sum_of_limits(unit) - self.capacity.get(unit, 0))

    def others_lend(self, share: str, unit: str) -> int:
        """What the other lenders have configured (R5)."""
        return sum(self.limit(s.name, unit) for s in self.shares.values() if s.name != share and self._lends(s))

    def _lends(self, share: ShareState) -> bool:
        if not share.enabled and self.choices.disabled_share_lends == "no":
            return False
        return share.strategy in ("LEND", "LEND_AND_BORROW")

    def borrow_limit(self, share: str, unit: str) -> int | None:
        """What the share may borrow by its own borrow limit, in instances; None is unlimited (R5, C7, C16)."""
        s = self.shares[share]
        limit = self.limit(share, unit)
        if s.strategy != "LEND_AND_BORROW":
            return 0
        if s.borrow_limit == -1:
            return None if limit > 0 or self.choices.undeclared_unit == "yes" else 0
        hundredths = s.borrow_limit * limit
        return {
            "down": hundredths // 100,
            "up": -(-hundredths // 100),
            "nearest": (hundredths + 50) // 100,
        }[self.choices.borrow_rounding]

    def bound(self, share: str, unit: str) -> int:
        """Most instances that the share may use (R3, R4, R5)."""
        borrowable = 0
        if self.shares[share].strategy == "LEND_AND_BORROW":
            borrowable = self.others_lend(share, unit)
            own = self.borrow_limit(share, unit)
            borrowable = borrowable if own is None else min(own, borrowable)
        return self.limit(share, unit) + borrowable

    def never_fits(self, job: JobState) -> str | None:
        """AWS's reason why the job can never run as things are declared (R12); None where it can."""
        demand = job.job.demand.items()
        too_many = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - "
        share = job.share
        if any(count > self.capacity.get(unit, 0) for unit, count in demand):
            return (
                "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the"
                " job queue cannot meet the capacity requirement of the job."
            )
        if self.shares[share].strategy != "LEND_AND_BORROW":
            if any(count > self.limit(share, unit) for unit, count in demand):
                return too_many + "Job requirements exceed quota share capacity limits."
            return None
        for unit, count in demand:
            borrowable = self.borrow_limit(share, unit)
            if borrowable is not None and count > self.limit(share, unit) + borrowable:
                return too_many + "Job requirements exceed quota share capacity limits and borrow limits."
        if any(count > self.limit(share, unit) + self.others_lend(share, unit) for unit, count in demand):
            return too_many + "Job requires borrowing that exceeds all configured borrowable capacity."
        return None


class Books:
    """Who holds what on the two states, reckoned from all jobs.

    ``stopped`` are jobs thought of as stopped: they are gone from *after*. The hold of ``claimant`` does
    not count.
    """

    def __init__(self, world: World, stopped: Collection[JobState] = (), claimant: JobState | None = None) -> None:
        self.world = world
        self.now: dict[tuple[str, str], int] = {}
        self.after: dict[tuple[str, str], int] = {}
        self.held: dict[tuple[str, str], int] = {}
        for job in world.jobs:
            if job.phase is Phase.DISPATCHED:
                _add(self.now, job)
                if job.stop_at is None and job not in stopped:
                    _add(self.after, job)
            elif job.phase is Phase.CLAIMING:
                _add(self.after, job)
                if job is not claimant and world.choices.freed_capacity == "held_for_claimant":
                    self._hold(job)

    def _hold(self, claimant: JobState) -> None:
        for unit, count in claimant.job.demand.items():
            occupied = sum(victim.job.demand.get(unit, 0) for victim in claimant.victims)
            key = claimant.share, unit
            self.held[key] = self.held.get(key, 0) + max(0, count - occupied)

    def excess(self, share: str, unit: str) -> int:
        return self.after.get((share, unit), 0) - self.world.limit(share, unit)

    def idle_now(self, share: str, unit: str) -> int:
        used = self.now.get((share, unit), 0) + self.held.get((share, unit), 0)
        return max(0, self.world.limit(share, unit) - used)

    def idle_after(self, share: str, unit: str) -> int:
        return max(0, -self.excess(share, unit))

    def room_now(self, job: JobState, unit: str) -> int:
        idle = {share: self.idle_now(share, unit) for share in self.world.shares}
        taken = _on(self.now, unit) + _on(self.held, unit)
        return self._usable(job, unit) - taken - self._reserved(job.share, unit, idle)

    def room_after(self, job: JobState, unit: str) -> int:
        idle = {share: self.idle_after(share, unit) for share in self.world.shares}
        return self._usable(job, unit) - _on(self.after, unit) - self._reserved(job.share, unit, idle)

    def _usable(self, job: JobState, unit: str) -> int:
        capacity = self.world.capacity.get(unit, 0)
        if self.world.choices.unallocated == "borrowable" and not self.inside_on(job, unit):
            return capacity
        return min(capacity, self.world.sum_of_limits(unit))

    def _reserved(self, share: str, unit: str, idle: dict[str, int]) -> int:
        others = (s for s in self.world.shares.values() if s.name != share)
        reserved = sum(idle[s.name] for s in others if self._reserves(s, unit))
        return max(0, reserved - self.world.over_committed(unit))

    def _reserves(self, share: ShareState, unit: str) -> bool:
        choices = self.world.choices
        if share.strategy == "RESERVE":
            return True
        if not share.enabled and choices.disabled_share_lends == "no":
            return True
        if choices.blocked_owner_lends == "yes":
            return False
        front = self.world.line(share.name)[:1]
        return any(job.job.demand.get(unit, 0) > self.idle_after(share.name, unit) > 0 for job in front)

    def inside_on(self, job: JobState, unit: str) -> bool:
        """Is the job inside its share's own limit, counted once, on the unit?"""
        count = 0 if job.phase is Phase.CLAIMING else job.job.demand[unit]
        return self.after.get((job.share, unit), 0) + count <= self.world.limit(job.share, unit)

    def inside(self, job: JobState) -> bool:
        return all(self.inside_on(job, unit) for unit in job.job.demand)

    def can_start(self, job: JobState) -> bool:
        return all(
            self.now.get((job.share, unit), 0) + count <= self.world.bound(job.share, unit)
            and self.after.get((job.share, unit), 0) + count <= self.world.bound(job.share, unit)
            and count <= self.room_now(job, unit)
            for unit, count in job.job.demand.items()
        )

    def claimant_can_start(self, job: JobState) -> bool:
        """Bound and room now; *after* counts a claimant already."""
        return all(
            self.now.get((job.share, unit), 0) + count <= self.world.bound(job.share, unit)
            and count <= self.room_now(job, unit)
            for unit, count in job.job.demand.items()
        )

    def short_of(self, job: JobState) -> list[str]:
        """The units on which the job will not fit."""
        return [
            unit
            for unit, count in job.job.demand.items()
            if self.after.get((job.share, unit), 0) + count > self.world.bound(job.share, unit)
            or count > self.room_after(job, unit)
        ]

    def will_fit(self, job: JobState) -> bool:
        return not self.short_of(job)


def _on(sums: dict[tuple[str, str], int], unit: str) -> int:
    """All shares together."""
    return sum(count for (_, u), count in sums.items() if u == unit)


def _add(sums: dict[tuple[str, str], int], job: JobState) -> None:
    for unit, count in job.job.demand.items():
        key = job.share, unit
        sums[key] = sums.get(key, 0) + count
