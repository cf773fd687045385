"""Usage, borrowing and lending along the log, per share and instance type: one walk, added up as it goes."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import inf
from operator import itemgetter

from policy_engine.outcome.history import policies
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.log import RELEASES, Kind, Row
from policy_engine.simulation import Run

Change = tuple[float, int, bool]
"""(at, instances more, do jobs wait from then on?)."""
Lending = tuple[float, "Cell", int, int]
"""(at, cell, instances that it borrows, instances that it has to lend)."""


class Cell:
    """The instances of one share on one unit, and what they add up to from the measured part's beginning on. Seconds.

    Changes are noted as they come and added up together: a long run has a few hundred thousand of them.
    """

    __slots__ = (
        *("borrowed", "borrowed_seconds", "busy_seconds", "changes", "idle", "lends", "lent_seconds", "limit"),
        *("peak_borrowed", "peak_usage", "read", "short_busy_seconds", "short_limit_seconds", "short_seconds", "since"),
        *("is_short", "share", "unit", "usage", "waiting"),
    )

    def __init__(self, share: str, unit: str, since: float) -> None:
        self.share = share
        self.unit = unit
        self.since = since
        """Until when it is added up."""
        self.changes: list[Change] = []
        """What is not added up yet."""
        self.lends = False
        self.limit = self.usage = 0
        self.waiting = 0
        """Jobs of the share that wait for the unit, as far as changes were noted."""
        self.is_short = False
        """Does any wait, as far as they are added up?"""
        self.borrowed = self.idle = 0
        """As ``Loans`` has read them; ``idle`` is what it may lend."""
        self.read = 0.0
        """How much had been lent per idle instance when ``lent_seconds`` was added up."""
        self.busy_seconds = self.borrowed_seconds = self.lent_seconds = 0.0
        self.short_seconds = 0.0
        """Seconds in which any job waits for the unit."""
        self.short_busy_seconds = self.short_limit_seconds = 0.0
        """Instance-seconds that the share has meanwhile, and that its limit is worth."""
        self.peak_usage = self.peak_borrowed = 0

    def add_up(self, end: float) -> list[Lending]:
        """Add up what was noted, to ``end`` seconds; what that changes for lenders and borrowers."""
        found: list[Lending] = []
        since, usage, limit, is_short = self.since, self.usage, self.limit, self.is_short
        busy = borrowed_seconds = short = short_busy = 0.0
        borrowed = usage - limit if usage > limit else 0
        peak, peak_borrowed = self.peak_usage, self.peak_borrowed
        self.changes.append((end, 0, is_short))
        for at, more, short_then in self.changes:
            span = at - since
            if span > 0:
                since = at
                busy += usage * span
                if borrowed:
                    borrowed_seconds += borrowed * span
                if is_short:
                    short += span
                    short_busy += usage * span
            is_short = short_then
            if more:
                usage += more
                borrowed = usage - limit if usage > limit else 0
                if span < 0:  # before the measured part only its last level counts
                    peak, peak_borrowed = usage, borrowed
                elif usage > peak:
                    peak, peak_borrowed = usage, max(borrowed, peak_borrowed)
                # jobs of ``running:`` stand before those of time 0, and not in order of time
                found.append((since, self, borrowed, limit - usage if self.lends and usage < limit else 0))
        self.since, self.usage, self.changes = since, usage, []
        self.is_short = self.waiting > 0
        self.busy_seconds += busy
        self.borrowed_seconds += borrowed_seconds
        self.short_seconds += short
        self.short_busy_seconds += short_busy
        self.short_limit_seconds += limit * short
        self.peak_usage, self.peak_borrowed = peak, peak_borrowed
        return found

    def adopt(self, at: float, limit: int, *, lends: bool) -> Lending:
        """From ``at`` seconds on there is another limit; all before is added up."""
        self.limit, self.lends = limit, lends
        borrowed = max(0, self.usage - limit)
        if at >= self.since:
            self.peak_borrowed = max(self.peak_borrowed, borrowed)
        return at, self, borrowed, max(0, limit - self.usage) if lends else 0


class Loans:
    """What the lenders of one unit lend: each the same part of its idle capacity, which changes over time."""

    def __init__(self, since: float) -> None:
        self.borrowed = 0
        self.idle = 0
        """Instances that all lenders have idle."""
        self.since = since
        self.lent_per_idle = 0.0
        """Instance-seconds lent so far per instance that was idle all the while."""

    def add_up(self, lending: list[Lending], cells: Iterable[Cell], end: float) -> None:
        """Add up to ``end`` seconds; ``lending`` in order of time."""
        since, per_idle, borrowed, idle = self.since, self.lent_per_idle, self.borrowed, self.idle
        part = lent_part(borrowed, idle)
        for at, cell, borrows, idles in lending:
            if at > since:
                per_idle += part * (at - since)
                since = at
            was_idle = cell.idle
            if was_idle:
                cell.lent_seconds += was_idle * (per_idle - cell.read)
            cell.read = per_idle
            borrowed += borrows - cell.borrowed
            idle += idles - was_idle
            cell.borrowed, cell.idle = borrows, idles
            part = lent_part(borrowed, idle) if borrowed else 0.0
        if end > since:
            per_idle += part * (end - since)
            since = end
        for cell in cells:
            cell.lent_seconds += cell.idle * (per_idle - cell.read)
            cell.read = per_idle
        self.since, self.lent_per_idle, self.borrowed, self.idle = since, per_idle, borrowed, idle


def lent_part(borrowed: int, idle: int) -> float:
    """The part of the lenders' idle capacity that borrowers use, 0 to 1.

    More may be borrowed than lenders have idle: with C6 ``borrowable``, and above a lowered limit (R11).
    """
    return min(borrowed, idle) / idle if idle else 0.0


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
        """Note what changes in these rows, and add up to ``end`` seconds."""
        demands, holds, waits = self._demands, self._holds, self._waits
        # members of an enumeration are slow to hash: the frequent ones are told by identity
        submitted, started, finished, releases = Kind.SUBMITTED, Kind.STARTED, Kind.FINISHED, RELEASES
        for at, kind, job, _, _, _ in rows:
            if kind is started:
                waited = waits[job]
                for cell, count in demands[job]:
                    cell.waiting -= waited
                    cell.changes.append((at, count, cell.waiting > 0))
                holds[job], waits[job] = 1, 0
            elif kind is submitted or kind is Kind.REQUEUED:
                waits[job] = 1
                for cell, _ in demands[job]:
                    if not cell.waiting:
                        cell.changes.append((at, 0, True))
                    cell.waiting += 1
            elif kind is finished or kind in releases:
                for cell, count in demands[job]:
                    cell.waiting -= waits[job]
                    cell.changes.append((at, -count * holds[job], cell.waiting > 0))
                holds[job] = waits[job] = 0
        self._add_up(end)

    def _add_up(self, end: float) -> None:
        self._pass_capacity(end)
        for unit, loans in self._loans.items():
            cells = [cell for cell in self.cells.values() if cell.unit == unit]
            lending = [change for cell in cells for change in cell.add_up(end)]
            lending.sort(key=itemgetter(0))
            loans.add_up(lending, cells, end)

    def cell(self, share: str, unit: str) -> Cell:
        """The cell; a new one where there is none."""
        found = self.cells.get((share, unit))
        if found is None:
            self._loans.setdefault(unit, Loans(self.since))
            found = self.cells[share, unit] = Cell(share, unit, self.since)
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
            lending = cell.adopt(at, limit, lends=declared is not None and bounds.lends(name))
            self._loans[unit].add_up([lending], (), at)

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
