"""What the run came to for each share, and for the queue."""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.outcome.history import PREEMPTIONS, policies
from policy_engine.outcome.jobs import lives, submitted_at
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import RELEASES, Kind
from policy_engine.simulation import Run


@dataclass(frozen=True, slots=True)
class Waits:
    """Waiting times to the first start, in seconds; percentiles by nearest rank."""

    mean: float
    p50: float
    p95: float
    max: float


@dataclass(frozen=True, slots=True)
class ShareOutcome:
    """One share on one instance type over the run, from the scenario's zero to its end.

    What is counted by job (waits, preemptions) counts a job of several instance types under each of them.
    """

    name: str
    unit: str | None
    """The instance type; None for all of them together."""
    limit: int
    """The share's own limit at the end of the run, in instances."""
    busy_instance_seconds: float
    borrowed_instance_seconds: float
    lent_instance_seconds: float
    """What others borrowed, split among the lenders in proportion to their idle capacity."""
    peak_usage: int
    """Most instances that it held at once."""
    peak_borrowed: int
    wait_seconds: Waits | None
    """None where none of its jobs started."""
    never_started: int
    """Jobs that were submitted and did not start."""
    requeued_seconds: float
    preemptions_suffered: int
    preemptions_caused: int
    lost_instance_seconds: float
    """Work that its jobs lost."""
    caused_lost_instance_seconds: float
    """Work that jobs of any share lost to its jobs."""


@dataclass(frozen=True, slots=True)
class QueueOutcome:
    """The whole queue over the run, all instance types together."""

    busy_instance_seconds: float
    capacity_instance_seconds: float
    """What the service environment had, as its limits changed."""

    @property
    def utilization(self) -> float | None:
        """Busy by capacity; above 1 while a lowered capacity is exceeded. None for a run without length."""
        if not self.capacity_instance_seconds:
            return None
        return self.busy_instance_seconds / self.capacity_instance_seconds


_Key = tuple[str, "str | None"]
"""Share and unit; None for all units together."""


class _Account:
    """The instances of one share on one unit, or on all, and what they add up to over time."""

    __slots__ = (
        "borrowed",
        "borrowed_seconds",
        "busy_seconds",
        "limit",
        "peak_borrowed",
        "peak_usage",
        "since",
        "usage",
    )

    def __init__(self) -> None:
        self.limit = 0
        self.usage = 0
        self.borrowed = 0
        self.since = 0.0
        self.busy_seconds = 0.0
        self.borrowed_seconds = 0.0
        self.peak_usage = 0
        self.peak_borrowed = 0

    def change(self, at: float, usage: int, borrowed: int) -> None:
        """From ``at`` seconds on there are ``usage`` and ``borrowed`` more."""
        if at > self.since:  # what was before the scenario's zero is not part of the run
            span = at - self.since
            self.busy_seconds += self.usage * span
            self.borrowed_seconds += self.borrowed * span
            self.since = at
        self.usage += usage
        self.borrowed += borrowed
        if self.usage > self.peak_usage:
            self.peak_usage = self.usage
        if self.borrowed > self.peak_borrowed:
            self.peak_borrowed = self.borrowed


class _Loans:
    """What the lenders of one unit lend: each the same part of its idle capacity, which changes over time."""

    def __init__(self) -> None:
        self.borrowed = 0
        self.idle: dict[str, int] = {}
        self.total_idle = 0
        self.since = 0.0
        self.lent_per_idle = 0.0
        """Instance-seconds lent so far per instance that was idle all the while."""
        self._read: dict[str, float] = {}
        self.lent_seconds: dict[str, float] = {}

    @property
    def part(self) -> float:
        """The part of the lenders' idle capacity that is lent."""
        return lent_part(self.borrowed, self.total_idle)

    def change(self, at: float, share: str, borrowed: int, idle: int) -> None:
        """From ``at`` seconds on ``borrowed`` more are borrowed, and the share has ``idle`` to lend."""
        if at > self.since:
            self.lent_per_idle += self.part * (at - self.since)
            self.since = at
        was_idle = self.idle.get(share, 0)
        grown = self.lent_per_idle - self._read.get(share, 0.0)
        self.lent_seconds[share] = self.lent_seconds.get(share, 0.0) + was_idle * grown
        self._read[share] = self.lent_per_idle
        self.idle[share] = idle
        self.total_idle += idle - was_idle
        self.borrowed += borrowed


def lent_part(borrowed: int, idle: int) -> float:
    """The part of the lenders' idle capacity that borrowers use, 0 to 1.

    More may be borrowed than lenders have idle: with C6 ``borrowable``, and above a lowered limit (R11).
    """
    return min(borrowed, idle) / idle if idle else 0.0


class _Ledger:
    """Follows usage and limits along the log, per share and unit and per share."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.accounts: dict[_Key, _Account] = {}
        self.loans: dict[str, _Loans] = {}
        self.lends: dict[str, bool] = {}
        self.capacity = 0
        self.capacity_since = 0.0
        self.capacity_seconds = 0.0
        self._keep()

    def _keep(self) -> None:
        run = self.run
        changes = iter(policies(run)[1:])
        next_change = next(changes, None)
        self._adopt(0.0, run.policy)
        held: set[int] = set()
        jobs = run.workload.jobs
        for index, (at, kind, job, _, _, _) in enumerate(run.log.rows):
            if next_change is not None and next_change[0] == index:
                self._adopt(at, next_change[1])
                next_change = next(changes, None)
            elif kind is Kind.STARTED:
                held.add(job)
                self._use(at, jobs[job], 1)
            elif kind in RELEASES and job in held:
                held.discard(job)
                self._use(at, jobs[job], -1)
        self._settle(run.end)

    def _adopt(self, at: float, policy: Policy) -> None:
        """A policy takes effect."""
        self.capacity_seconds += self.capacity * (at - self.capacity_since)
        self.capacity_since = at
        self.capacity = sum(policy.service_environment.capacity_limits.values())
        bounds = Bounds(policy, self.run.choices)
        self.lends = {name: bounds.lends(name) for name in policy.shares}
        cells = {(name, unit) for name, share in policy.shares.items() for unit in share.capacity_limits}
        cells |= {(name, unit) for name, unit in self.accounts if unit is not None}
        for name, unit in sorted(cells):
            share = policy.shares.get(name)
            self.account(name, unit).limit = 0 if share is None else share.limit(unit)
            self._change(at, name, unit, 0)

    def account(self, share: str, unit: str | None) -> _Account:
        """The account; a new one where there is none."""
        account = self.accounts.get((share, unit))
        if account is None:
            account = self.accounts[share, unit] = _Account()
        return account

    def _use(self, at: float, job: Job, sign: int) -> None:
        for unit, count in job.demand.items():
            self._change(at, job.share, unit, sign * count)

    def _change(self, at: float, share: str, unit: str, usage: int) -> None:
        account = self.account(share, unit)
        now = account.usage + usage
        beyond = now - account.limit
        borrowed = (beyond if beyond > 0 else 0) - account.borrowed
        account.change(at, usage, borrowed)
        self.account(share, None).change(at, usage, borrowed)
        loans = self.loans.get(unit)
        if loans is None:
            loans = self.loans[unit] = _Loans()
        idle = -beyond if beyond < 0 and self.lends.get(share, False) else 0
        loans.change(at, share, borrowed, idle)

    def _settle(self, end: float) -> None:
        """Add up to the end of the run."""
        self.capacity_seconds += self.capacity * (end - self.capacity_since)
        for share, unit in [key for key in self.accounts if key[1] is not None]:
            if unit is not None:
                self._change(end, share, unit, 0)

    def lent_seconds(self, share: str, unit: str | None) -> float:
        """Instance-seconds that the share lent."""
        return sum(
            loans.lent_seconds.get(share, 0.0) for of_unit, loans in self.loans.items() if unit in (None, of_unit)
        )

    def limit(self, share: str, unit: str | None) -> int:
        """The share's own limit at the end."""
        if unit is not None:
            return self.accounts[share, unit].limit
        return sum(account.limit for (name, of), account in self.accounts.items() if name == share and of is not None)


class _Toll:
    """What is counted by job, for one share on one unit or on all."""

    __slots__ = ("caused", "caused_lost", "lost", "never_started", "requeued", "suffered", "waits")

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.never_started = 0
        self.requeued = 0.0
        self.suffered = 0
        self.caused = 0
        self.lost = 0.0
        self.caused_lost = 0.0


def share_outcomes(run: Run, *, by_unit: bool = True) -> tuple[ShareOutcome, ...]:
    """What the run came to for every share on every instance type that it declares or its jobs use.

    Without ``by_unit``: for every share, all its instance types together, each job counted once. Shares come in
    the order of declaration.
    """
    ledger = _Ledger(run)
    tolls = _tolls(run)
    order = {name: number for number, name in enumerate(run.policy.shares)}
    for share, unit in tolls:
        ledger.account(share, unit)
    for share in run.policy.shares:
        ledger.account(share, None)
    keys = [key for key in ledger.accounts if (key[1] is not None) is by_unit]
    keys.sort(key=lambda key: order[key[0]])
    return tuple(_share_outcome(key, ledger, tolls.get(key) or _Toll()) for key in keys)


def _share_outcome(key: _Key, ledger: _Ledger, toll: _Toll) -> ShareOutcome:
    account = ledger.accounts[key]
    return ShareOutcome(
        name=key[0],
        unit=key[1],
        limit=ledger.limit(*key),
        busy_instance_seconds=account.busy_seconds,
        borrowed_instance_seconds=account.borrowed_seconds,
        lent_instance_seconds=ledger.lent_seconds(*key),
        peak_usage=account.peak_usage,
        peak_borrowed=account.peak_borrowed,
        wait_seconds=_waits(toll.waits),
        never_started=toll.never_started,
        requeued_seconds=toll.requeued,
        preemptions_suffered=toll.suffered,
        preemptions_caused=toll.caused,
        lost_instance_seconds=toll.lost,
        caused_lost_instance_seconds=toll.caused_lost,
    )


def _tolls(run: Run) -> dict[_Key, _Toll]:
    jobs = run.workload.jobs
    tolls: dict[_Key, _Toll] = {}

    def toll(share: str, unit: str | None) -> _Toll:
        found = tolls.get((share, unit))
        if found is None:
            found = tolls[share, unit] = _Toll()
        return found

    for job, life in zip(jobs, lives(run), strict=True):
        if life.row is None:
            continue
        instances: dict[str | None, int] = {None: job.instances}
        instances.update(job.demand)
        for unit, count in instances.items():
            own = toll(job.share, unit)
            if life.first is None:
                own.never_started += 1
            else:
                own.waits.append(life.first - submitted_at(job))
            own.requeued += life.requeued
            own.suffered += life.preemptions
            own.lost += life.lost * count
        for _, _, why, by, lost in life.attempts:
            if why in PREEMPTIONS and by >= 0:
                for unit, count in instances.items():
                    others = toll(jobs[by].share, unit)
                    others.caused += 1
                    others.caused_lost += lost * count
    return tolls


def _waits(waits: list[float]) -> Waits | None:
    if not waits:
        return None
    waits = sorted(waits)
    return Waits(mean=sum(waits) / len(waits), p50=nearest_rank(waits, 50), p95=nearest_rank(waits, 95), max=waits[-1])


def nearest_rank(ordered: list[float], percent: int) -> float:
    """The least of the ordered values that at least ``percent`` percent of them do not exceed."""
    return ordered[max(0, -(-percent * len(ordered) // 100) - 1)]


def queue_outcome(run: Run) -> QueueOutcome:
    """What the run came to for the whole queue."""
    ledger = _Ledger(run)
    busy = sum(account.busy_seconds for (_, unit), account in ledger.accounts.items() if unit is not None)
    return QueueOutcome(busy_instance_seconds=busy, capacity_instance_seconds=ledger.capacity_seconds)
