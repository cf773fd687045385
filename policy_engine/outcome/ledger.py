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


class Account:
    """The instances of one share on one unit, or on all, and what they add up to from ``since`` on. Seconds."""

    __slots__ = (
        *("borrowed", "borrowed_seconds", "busy_seconds", "limit", "peak_borrowed", "peak_usage", "since", "usage"),
        *("short_busy_seconds", "short_limit_seconds", "short_seconds", "waiting"),
    )

    def __init__(self, since: float) -> None:
        self.limit = 0
        self.usage = 0
        self.borrowed = 0
        self.waiting = 0
        """Jobs of the share that wait for the unit."""
        self.since = since
        self.busy_seconds = 0.0
        self.borrowed_seconds = 0.0
        self.short_seconds = 0.0
        """Seconds in which any job waits for the unit."""
        self.short_busy_seconds = 0.0
        """Instance-seconds that the share has meanwhile."""
        self.short_limit_seconds = 0.0
        """Instance-seconds that its limit is worth meanwhile."""
        self.peak_usage = 0
        self.peak_borrowed = 0

    def pass_time(self, at: float) -> None:
        """Nothing changes until ``at`` seconds."""
        span = at - self.since
        if span <= 0:
            return
        self.since = at
        usage = self.usage
        if usage:
            self.busy_seconds += usage * span
            if self.borrowed:
                self.borrowed_seconds += self.borrowed * span
        if self.waiting:
            self.short_seconds += span
            self.short_busy_seconds += usage * span
            self.short_limit_seconds += self.limit * span

    def change(self, at: float, usage: int, borrowed: int) -> None:
        """From ``at`` seconds on there are ``usage`` and ``borrowed`` more."""
        if at < self.since:  # what was before the part that is measured does not count
            self.usage += usage
            self.borrowed += borrowed
            self.peak_usage, self.peak_borrowed = self.usage, self.borrowed
            return
        self.pass_time(at)
        now = self.usage = self.usage + usage
        if now > self.peak_usage:
            self.peak_usage = now
        now = self.borrowed = self.borrowed + borrowed
        if now > self.peak_borrowed:
            self.peak_borrowed = now


class Loans:
    """What the lenders of one unit lend: each the same part of its idle capacity, which changes over time."""

    __slots__ = ("_read", "borrowed", "idle", "lent_per_idle", "lent_seconds", "part", "since", "total_idle")

    def __init__(self, since: float) -> None:
        self.borrowed = 0
        self.idle: dict[str, int] = {}
        self.total_idle = 0
        self.since = since
        self.part = 0.0
        """The part of the lenders' idle capacity that is lent now."""
        self.lent_per_idle = 0.0
        """Instance-seconds lent so far per instance that was idle all the while."""
        self._read: dict[str, float] = {}
        self.lent_seconds: dict[str, float] = {}

    def change(self, at: float, share: str, borrowed: int, idle: int) -> None:
        """From ``at`` seconds on ``borrowed`` more are borrowed, and the share has ``idle`` to lend."""
        if at > self.since:
            self.lent_per_idle += self.part * (at - self.since)
            self.since = at
        was_idle = self.idle.get(share, 0)
        per_idle = self.lent_per_idle
        if was_idle:
            grown = per_idle - self._read.get(share, 0.0)
            self.lent_seconds[share] = self.lent_seconds.get(share, 0.0) + was_idle * grown
        self._read[share] = per_idle
        self.idle[share] = idle
        self.total_idle += idle - was_idle
        self.borrowed += borrowed
        self.part = lent_part(self.borrowed, self.total_idle) if self.borrowed else 0.0


def lent_part(borrowed: int, idle: int) -> float:
    """The part of the lenders' idle capacity that borrowers use, 0 to 1.

    More may be borrowed than lenders have idle: with C6 ``borrowable``, and above a lowered limit (R11).
    """
    return min(borrowed, idle) / idle if idle else 0.0


class _Cell:
    """Where the instances of one share on one unit are accounted for."""

    __slots__ = ("account", "lends", "loans", "share", "total", "unit")

    def __init__(self, share: str, unit: str, account: Account, total: Account, loans: Loans) -> None:
        self.share = share
        self.unit = unit
        self.account = account
        self.total = total
        self.loans = loans
        self.lends = False

    def change(self, at: float, usage: int, waiting: int = 0) -> None:
        """From ``at`` seconds on the share uses so many more, and so many more of its jobs wait for them."""
        account = self.account
        beyond = account.usage + usage - account.limit
        borrowed = (beyond if beyond > 0 else 0) - account.borrowed
        account.change(at, usage, borrowed)
        account.waiting += waiting
        self.total.change(at, usage, borrowed)
        idle = -beyond if beyond < 0 and self.lends else 0
        self.loans.change(at, self.share, borrowed, idle)

    def wait(self, at: float) -> None:
        """From ``at`` seconds on one more of the share's jobs waits for the unit."""
        account = self.account
        if not account.waiting:
            account.pass_time(at)
        account.waiting += 1


Demand = tuple[tuple[_Cell, int], ...]
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
        self.cells: dict[tuple[str, str], _Cell] = {}
        """Share and unit to what they come to."""
        self.totals: dict[str, Account] = {}
        """Share to its instances of all units together; nobody waits for a total."""
        self.loans: dict[str, Loans] = {}
        self.capacity: dict[str, int] = {}
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
            self._read(rows[start:stop])
            start, at, policy = stop + 1, rows[stop][0], next_policy
        self._adopt(at, policy)
        marked = bisect_right(rows, self.mark, lo=start, key=itemgetter(0))
        self._read(rows[start:marked])
        self._settle(max(self.since, min(self.mark, self.run.end)))
        capacity = sum(self.capacity_seconds.values())
        self.used_to_mark = self.busy_seconds / capacity if capacity else None
        self._read(rows[marked:])
        self._settle(self.run.end)

    def _read(self, rows: Sequence[Row]) -> None:
        demands, holds, waits = self._demands, self._holds, self._waits
        submitted, started, releases = Kind.SUBMITTED, Kind.STARTED, RELEASES
        for at, kind, job, _, _, _ in rows:
            if kind is started:
                for cell, count in demands[job]:
                    cell.change(at, count, -waits[job])
                holds[job], waits[job] = 1, 0
            elif kind in releases:
                for cell, count in demands[job]:
                    cell.change(at, -count * holds[job], -waits[job])
                holds[job] = waits[job] = 0
            elif kind is submitted or kind is Kind.REQUEUED:
                waits[job] = 1
                for cell, _ in demands[job]:
                    cell.wait(at)

    def cell(self, share: str, unit: str) -> _Cell:
        """The cell; a new one where there is none."""
        found = self.cells.get((share, unit))
        if found is None:
            total = self.totals.setdefault(share, Account(self.since))
            loans = self.loans.setdefault(unit, Loans(self.since))
            found = self.cells[share, unit] = _Cell(share, unit, Account(self.since), total, loans)
        return found

    def _adopt(self, at: float, policy: Policy) -> None:
        """A policy takes effect."""
        self._pass_capacity(at)
        self.capacity = dict(policy.service_environment.capacity_limits)
        bounds = Bounds(policy, self.run.choices)
        for name, share in policy.shares.items():
            for unit in share.capacity_limits:
                self.cell(name, unit)
        for (name, unit), cell in sorted(self.cells.items()):
            declared = policy.shares.get(name)
            cell.lends = declared is not None and bounds.lends(name)
            cell.account.pass_time(at)
            cell.account.limit = 0 if declared is None else declared.limit(unit)
            cell.change(at, 0)

    def _pass_capacity(self, at: float) -> None:
        span = max(0.0, at - self._capacity_since)
        for unit, count in self.capacity.items():
            self.capacity_seconds[unit] = self.capacity_seconds.get(unit, 0.0) + count * span
        self._capacity_since = max(at, self._capacity_since)

    def _settle(self, end: float) -> None:
        """Add up to the end of the run."""
        self._pass_capacity(end)
        for cell in self.cells.values():
            cell.change(end, 0)

    def account(self, share: str, unit: str | None) -> Account:
        """What the share's instances of the unit come to; of all units together for None."""
        if unit is not None:
            return self.cells[share, unit].account
        return self.totals.setdefault(share, Account(self.since))

    def lent_seconds(self, share: str, unit: str | None) -> float:
        """Instance-seconds that the share lent."""
        return sum(
            loans.lent_seconds.get(share, 0.0) for of_unit, loans in self.loans.items() if unit in (None, of_unit)
        )

    def limit(self, share: str, unit: str | None) -> int:
        """The share's own limit at the end, in instances."""
        return sum(
            cell.account.limit for (name, of), cell in self.cells.items() if name == share and unit in (None, of)
        )

    @property
    def busy_seconds(self) -> float:
        """Instance-seconds that all jobs used."""
        return sum(cell.account.busy_seconds for cell in self.cells.values())


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
