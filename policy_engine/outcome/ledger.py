"""Usage, borrowing and lending along the log, per share and instance type: one walk, added up as it goes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import inf
from operator import itemgetter

from policy_engine.outcome.history import policies
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.log import RELEASES, Kind, Row
from policy_engine.simulation import Run


class Loans:
    """What the lenders of one unit lend: each the same part of its idle capacity, which changes over time."""

    __slots__ = ("borrowed", "idle", "lent_per_idle", "since")

    def __init__(self, since: float) -> None:
        self.borrowed = 0
        self.idle = 0
        """Instances that all lenders have idle."""
        self.since = since
        """Until when it is added up."""
        self.lent_per_idle = 0.0
        """Instance-seconds lent so far per instance that was idle all the while."""

    def pass_to(self, at: float) -> None:
        """Nothing changes until ``at`` seconds."""
        if at > self.since:
            borrowed, idle = self.borrowed, self.idle
            if borrowed and idle:
                # more may be borrowed than lenders have idle: with C6 ``borrowable``, and above a lowered limit (R11)
                self.lent_per_idle += at - self.since if borrowed > idle else borrowed / idle * (at - self.since)
            self.since = at


class Cell:
    """The instances of one share on one unit, and what they add up to in the measured part. Seconds."""

    __slots__ = (
        *("borrowed", "borrowed_seconds", "busy_seconds", "idle", "lends", "lent_seconds", "limit", "loans"),
        *("peak_borrowed", "peak_usage", "read", "share", "short_busy_seconds", "short_limit_seconds"),
        *("short_seconds", "since", "unit", "usage", "waiting"),
    )

    def __init__(self, share: str, unit: str, loans: Loans) -> None:
        self.share = share
        self.unit = unit
        self.loans = loans
        """Of the unit."""
        self.since = loans.since
        """Until when it is added up."""
        self.lends = False
        self.limit = self.usage = self.borrowed = 0
        self.idle = 0
        """Instances that it may lend."""
        self.waiting = 0
        """Jobs of the share that wait for the unit."""
        self.read = loans.lent_per_idle
        """How much had been lent per idle instance when ``lent_seconds`` was added up."""
        self.busy_seconds = self.borrowed_seconds = self.lent_seconds = 0.0
        self.short_seconds = 0.0
        """Seconds in which any job waits for the unit."""
        self.short_busy_seconds = self.short_limit_seconds = 0.0
        """Instance-seconds that the share has meanwhile, and that its limit is worth."""
        self.peak_usage = self.peak_borrowed = 0

    def pass_to(self, at: float) -> None:
        """Nothing changes until ``at`` seconds."""
        span = at - self.since
        if span > 0:
            self.since = at
            busy = self.usage * span
            self.busy_seconds += busy
            if self.borrowed:
                self.borrowed_seconds += self.borrowed * span
            if self.waiting:
                self.short_seconds += span
                self.short_busy_seconds += busy
                self.short_limit_seconds += self.limit * span

    def change(self, at: float, more: int) -> None:
        """From ``at`` seconds on the share uses so many more."""
        self.pass_to(at)
        usage = self.usage = self.usage + more
        free = self.limit - usage
        borrowed, idle = (0, free) if free > 0 else (-free, 0)
        if at < self.since:  # before the measured part only its last level counts
            self.peak_usage, self.peak_borrowed = usage, borrowed
        elif usage > self.peak_usage:
            self.peak_usage = usage
            if borrowed > self.peak_borrowed:
                self.peak_borrowed = borrowed
        self.divide(at, borrowed, idle if self.lends else 0)

    def adopt(self, at: float, limit: int, *, lends: bool) -> None:
        """From ``at`` seconds on there is another limit."""
        self.pass_to(at)
        self.limit, self.lends = limit, lends
        free = limit - self.usage
        self.divide(at, max(0, -free), max(0, free) if lends else 0)
        if at >= self.since:
            self.peak_borrowed = max(self.peak_borrowed, self.borrowed)

    def divide(self, at: float, borrowed: int, idle: int) -> None:
        """From ``at`` seconds on it borrows so many and has so many to lend."""
        loans = self.loans
        loans.pass_to(at)
        if self.idle:
            self.lent_seconds += self.idle * (loans.lent_per_idle - self.read)
        self.read = loans.lent_per_idle
        loans.borrowed += borrowed - self.borrowed
        loans.idle += idle - self.idle
        self.borrowed, self.idle = borrowed, idle


Demand = tuple[tuple[Cell, int], ...]
"""The cells of a job, and its instances on each."""


class Ledger:
    """Follows usage, limits and waiting along the log, and adds up from ``since`` seconds to the end of the run."""

    def __init__(self, run: Run, since: float = 0.0, mark: float = inf) -> None:
        self.run = run
        self.since = since
        self.mark = mark
        """An instant up to which ``used_to_mark`` is reckoned; under a policy that does not change."""
        self.used_to_mark: float | None = None
        """Of the capacity from ``since`` to the mark the part that was in use, 0 to 1; None where that is no time."""
        self.cells: dict[tuple[str, str], Cell] = {}
        """Share and unit to what they come to."""
        self._loans: dict[str, Loans] = {}
        self._capacity: dict[str, int] = {}
        self.capacity_seconds: dict[str, float] = {}
        """Unit to the instance-seconds that the service environment has, as its limits change."""
        self._capacity_since = since
        for name, share in run.policy.shares.items():
            for unit in share.capacity_limits:
                self.cell(name, unit)
        self._demands = _demands(self)
        self._holds = bytearray(len(self._demands))
        """Does the job hold what it demands? 1 or 0."""
        self._waits = bytearray(len(self._demands))
        """Does it wait for it?"""
        self._walk()

    def _walk(self) -> None:
        """Read the rows, policy by policy."""
        rows = self.run.log.rows
        (_, policy), *changes = policies(self.run)
        start, at = 0, self.since
        for stop, next_policy in changes:
            self._adopt(at, policy)
            at = rows[stop][0]
            self._read(rows[start:stop], at)
            start, policy = stop + 1, next_policy
        self._adopt(at, policy)
        marked = bisect_right(rows, self.mark, lo=start, key=itemgetter(0))
        self._read(rows[start:marked], max(self.since, min(self.mark, self.run.end)))
        capacity = sum(self.capacity_seconds.values())
        self.used_to_mark = self.busy_seconds / capacity if capacity else None
        self._read(rows[marked:], self.run.end)

    def _read(self, rows: Sequence[Row], end: float) -> None:
        """Add up along these rows, to ``end`` seconds."""
        demands, holds, waits = self._demands, self._holds, self._waits
        # members of an enumeration are slow to hash: the frequent ones are told by identity
        submitted, started, finished = Kind.SUBMITTED, Kind.STARTED, Kind.FINISHED
        requeued, releases = Kind.REQUEUED, RELEASES
        for at, kind, job, _, _, _ in rows:
            if kind is started:
                for cell, count in demands[job]:
                    cell.change(at, count)
                    cell.waiting -= waits[job]
                holds[job], waits[job] = 1, 0
            elif kind is submitted or kind is requeued:
                waits[job] = 1
                for cell, _ in demands[job]:
                    if not cell.waiting:
                        cell.pass_to(at)
                    cell.waiting += 1
            elif kind is finished or kind in releases:
                for cell, count in demands[job]:
                    cell.change(at, -count * holds[job])
                    cell.waiting -= waits[job]
                holds[job] = waits[job] = 0
        self._pass_to(end)

    def _pass_to(self, end: float) -> None:
        """Nothing changes until ``end`` seconds."""
        self._pass_capacity(end)
        for cell in self.cells.values():
            cell.pass_to(end)
            cell.divide(end, cell.borrowed, cell.idle)

    def cell(self, share: str, unit: str) -> Cell:
        """The cell; a new one where there is none."""
        found = self.cells.get((share, unit))
        if found is None:
            loans = self._loans.setdefault(unit, Loans(self.since))
            found = self.cells[share, unit] = Cell(share, unit, loans)
        return found

    def _adopt(self, at: float, policy: Policy) -> None:
        """A policy takes effect."""
        self._pass_capacity(at)
        self._capacity = dict(policy.service_environment.capacity_limits)
        bounds = Bounds(policy, self.run.choices)
        for name, share in policy.shares.items():
            for unit in share.capacity_limits:
                self.cell(name, unit)
        for (name, unit), cell in self.cells.items():
            declared = policy.shares.get(name)
            limit = 0 if declared is None else declared.limit(unit)
            cell.adopt(at, limit, lends=declared is not None and bounds.lends(name))

    def _pass_capacity(self, at: float) -> None:
        span = max(0.0, at - self._capacity_since)
        for unit, count in self._capacity.items():
            self.capacity_seconds[unit] = self.capacity_seconds.get(unit, 0.0) + count * span
        self._capacity_since = max(at, self._capacity_since)

    def of(self, share: str, unit: str | None) -> list[Cell]:
        """The cells of the share; of one unit, or of all for None."""
        return [cell for (name, of), cell in self.cells.items() if name == share and unit in (None, of)]

    @property
    def busy_seconds(self) -> float:
        """Instance-seconds that all jobs used."""
        return sum(cell.busy_seconds for cell in self.cells.values())


def _demands(ledger: Ledger) -> Sequence[Demand]:
    """The cells of every job; jobs of one share and size have them in common."""
    known: dict[tuple[str, int], Demand] = {}
    demands = []
    for job in ledger.run.workload.jobs:
        key = job.share, id(job.demand)
        demand = known.get(key)
        if demand is None:
            demand = known[key] = tuple((ledger.cell(job.share, unit), n) for unit, n in job.demand.items())
        demands.append(demand)
    return demands
