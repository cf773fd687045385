"""What jobs took from others, and how long owners waited for what is theirs: one walk over the log.

Under C5 ``strict`` a share's line has one head, so that the log alone tells since when a job was it: since it could
run, or since the one before it left the line, whichever is later. Nothing but a start or a claim of the share's raises
what it uses, so that meanwhile usage only falls, and the job is inside its share's limit from one instant on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from math import inf
from typing import Final

from policy_engine.scheduler.log import Kind, Row, Why
from policy_engine.simulation import Run


@dataclass(slots=True)
class Claim:
    """A job for which others are stopped."""

    job: int
    at: float
    """Seconds of the decision."""
    entitled_since: float | None
    """Since when it was first in line and inside its share's limit; None where it is beyond."""
    across: bool = False
    """Are jobs of other shares among them?"""
    evicted: int = 0
    """Instances that were stopped; not those of jobs that ended by themselves before."""
    started: float | None = None


class _Line:
    """The jobs of one share that wait."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        self.left = -inf
        """When a job last left it."""


class _Cell:
    """What one share uses of one unit, all that is under way counted as over."""

    __slots__ = ("base", "falls", "limit", "used")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.used = 0
        self.base = 0
        """What was used after the last start or claim."""
        self.falls: list[tuple[float, int]] = []
        """When that fell, and to what."""

    def take(self, count: int) -> None:
        """A job starts or claims."""
        self.base = self.used = self.used + count
        if self.falls:
            self.falls = []

    def give(self, at: float, count: int) -> None:
        """A job has ended, or is to be stopped."""
        self.used -= count
        self.falls.append((at, self.used))

    def has_room_since(self, count: int) -> float | None:
        """Since when ``count`` more are inside the limit; None where they are not."""
        allowed = self.limit - count
        if self.used > allowed:
            return None
        if self.base > allowed:
            for at, used in self.falls:
                if used <= allowed:
                    return at
        return -inf


class Claims:
    """Claims, and what owners waited for, from ``since`` on; under a policy that does not change. Times are seconds."""

    def __init__(self, run: Run, since: float = 0.0) -> None:
        self.jobs = run.workload.jobs
        self.all: list[Claim] = []
        """Decided from ``since`` on, in order."""
        self.reclaims: defaultdict[str, list[float]] = defaultdict(list)
        """Share to how long its jobs waited that were first in line and inside its limit, if they waited at all."""
        self._since = since
        self._lines = {name: _Line() for name in run.policy.shares}
        self._demands: list[tuple[_Line, tuple[tuple[_Cell, int], ...]]] = []
        self._runnable = [-inf] * len(self.jobs)
        """Since when the job waits, or waited last."""
        self._held = bytearray(len(self.jobs))
        self._stopping: dict[int, Claim | None] = {}
        """Jobs that are being stopped, and for which claim."""
        self._open: dict[int, Claim] = {}
        """Claims that have not started."""
        self._open_cells(run)
        self._walk(run.log.rows)

    def _open_cells(self, run: Run) -> None:
        """Jobs of one share and size have their cells in common."""
        cells: dict[tuple[str, str], _Cell] = {}
        known: dict[tuple[str, int], tuple[_Line, tuple[tuple[_Cell, int], ...]]] = {}
        for job in self.jobs:
            key = job.share, id(job.demand)
            if key not in known:
                limit = run.policy.shares[job.share].limit
                of = ((cells.setdefault((job.share, u), _Cell(limit(u))), count) for u, count in job.demand.items())
                known[key] = self._lines[job.share], tuple(of)
            self._demands.append(known[key])

    def _walk(self, rows: list[Row]) -> None:
        demands, runnable, held = self._demands, self._runnable, self._held
        claims, stopping, since, jobs = self._open, self._stopping, self._since, self.jobs
        submitted, started, finished = Kind.SUBMITTED, Kind.STARTED, Kind.FINISHED
        for row in rows:
            at, kind, job, _, _, _ = row
            if kind is submitted:
                runnable[job] = at
            elif kind is started:
                held[job] = 1
                if job in claims:
                    self._start(job, at)
                elif (entitled := self._leave(job, at)) is not None and at > entitled and at >= since:
                    self.reclaims[jobs[job].share].append(at - entitled)
            elif kind is finished and job not in stopping:
                for cell, count in demands[job][1]:
                    cell.give(at, count)
                held[job] = 0
            else:
                self._rare(row)

    def _rare(self, row: Row) -> None:
        at, kind, job, by, why, _ = row
        if kind is Kind.REQUEUED:
            self._runnable[job] = at
        elif kind is Kind.PREEMPTED:
            self._preempt(job, at, by, why)
        elif kind in _ENDS:
            self._release(job, at, stopped=kind is Kind.STOPPED)

    def _start(self, job: int, at: float) -> None:
        """It has claimed."""
        claim = self._open.pop(job)
        claim.started = at
        entitled = claim.entitled_since
        if entitled is not None and at >= self._since and (at > entitled or claim.across):
            self.reclaims[self.jobs[job].share].append(at - entitled)

    def _leave(self, job: int, at: float) -> float | None:
        """It leaves the line to start or to claim: since when it was first and inside the limit; None: it is beyond."""
        line, cells = self._demands[job]
        runnable, left = self._runnable[job], line.left
        entitled: float | None = runnable if runnable > left else left
        line.left = at
        for cell, count in cells:
            since = cell.has_room_since(count)
            if since is None:
                entitled = None
            elif entitled is not None and since > entitled:
                entitled = since
            cell.take(count)
        return entitled

    def _preempt(self, job: int, at: float, by: int, why: Why | None) -> None:
        claim = None
        if by >= 0:
            claim = self._open.get(by)
            if claim is None:
                claim = self._open[by] = Claim(by, at, self._leave(by, at))
                if at >= self._since:
                    self.all.append(claim)
            claim.across = claim.across or why is Why.CROSS_SHARE
        if job not in self._stopping:
            self._give(job, at)
        self._stopping[job] = claim

    def _release(self, job: int, at: float, *, stopped: bool) -> None:
        if job in self._stopping:
            claim = self._stopping.pop(job)
            if stopped and claim is not None:
                claim.evicted += self.jobs[job].instances
        elif self._held[job] or self._open.pop(job, None) is not None:
            self._give(job, at)
        else:
            # it waited: a job state time limit ends none but the first in line
            self._demands[job][0].left = at
        self._held[job] = 0

    def _give(self, job: int, at: float) -> None:
        for cell, count in self._demands[job][1]:
            cell.give(at, count)


_ENDS: Final = frozenset({Kind.STOPPED, Kind.FINISHED, Kind.FAILED, Kind.TERMINATED})
