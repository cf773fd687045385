"""What jobs took from others, and how long owners waited for what is theirs: one walk over the log.

Under C5 ``strict`` a share's line has one head, so that the log alone tells since when a job was it: since it could
run, or since the one before it left the line, whichever is later. Nothing but a start or a claim of the share's raises
what it uses, so that meanwhile usage only falls, and the job is inside its share's limit from one instant on.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from policy_engine.scheduler.log import RELEASES, Kind, Row, Why
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
    """Are jobs of other shares among those stopped?"""
    evicted: int = 0
    """Instances that were stopped; not those of jobs that ended by themselves before."""
    started: float | None = None


class Claims:
    """Claims, and what owners waited for, from ``since`` on; under a policy that does not change. Times are seconds."""

    def __init__(self, run: Run, since: float = 0.0) -> None:
        self.jobs = run.workload.jobs
        self.all: list[Claim] = []
        """Decided from ``since`` on, in order."""
        self.reclaims: defaultdict[str, list[float]] = defaultdict(list)
        """Share to how long its jobs waited that were first in line and inside its limit, if they waited at all."""
        self._since = since
        self._limits = {
            (name, unit): n for name, s in run.policy.shares.items() for unit, n in s.capacity_limits.items()
        }
        self._used: defaultdict[tuple[str, str], int] = defaultdict(int)
        """Instances, all that is under way counted as over."""
        self._falls: defaultdict[tuple[str, str], list[tuple[float, int]]] = defaultdict(list)
        """What was used from the share's last start or claim on, and how that fell."""
        self._left: dict[str, float] = {}
        """Share to when a job last left its line."""
        self._runnable: dict[int, float] = {}
        """Waiting jobs: since when."""
        self._held: set[int] = set()
        self._stopping: dict[int, Claim | None] = {}
        """Jobs that are being stopped, and for which claim."""
        self._open: dict[int, Claim] = {}
        """Claims that have not started."""
        for row in run.log.rows:
            self._read(row)

    def _read(self, row: Row) -> None:
        at, kind, job, by, why, _ = row
        if kind is Kind.SUBMITTED or kind is Kind.REQUEUED:
            self._runnable[job] = at
        elif kind is Kind.STARTED:
            self._start(job, at)
        elif kind in RELEASES:
            self._release(job, at, stopped=kind is Kind.STOPPED)
        elif kind is Kind.PREEMPTED:
            self._preempt(job, at, by, why)

    def _start(self, job: int, at: float) -> None:
        self._held.add(job)
        claim = self._open.pop(job, None)
        entitled = self._leave(job, at) if claim is None else claim.entitled_since
        if claim is not None:
            claim.started = at
        if entitled is None or at < self._since:
            return
        if at > entitled or (claim is not None and claim.across):
            self.reclaims[self.jobs[job].share].append(at - entitled)

    def _leave(self, job: int, at: float) -> float | None:
        """It leaves the line to start or to claim: since when it was first and inside the limit; None: it is beyond."""
        what = self.jobs[job]
        front = max(self._runnable.pop(job, at), self._left.get(what.share, at))
        inside, latest = True, front
        for unit, count in what.demand.items():
            cell = what.share, unit
            allowed = self._limits.get(cell, 0) - count
            used = self._used[cell]
            if used > allowed:
                inside = False
            elif at > front:
                latest = max(latest, next((time for time, level in self._falls[cell] if level <= allowed), front))
            self._used[cell] = used + count
            self._falls[cell] = [(at, used + count)]
        self._left[what.share] = at
        return latest if inside else None

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
            self._fall(job, at)
        self._stopping[job] = claim

    def _release(self, job: int, at: float, *, stopped: bool) -> None:
        if job in self._stopping:
            claim = self._stopping.pop(job)
            if stopped and claim is not None:
                claim.evicted += self.jobs[job].instances
        elif job in self._held or self._open.pop(job, None) is not None:
            self._fall(job, at)
        self._held.discard(job)
        self._runnable.pop(job, None)

    def _fall(self, job: int, at: float) -> None:
        what = self.jobs[job]
        for unit, count in what.demand.items():
            cell = what.share, unit
            used = self._used[cell] = self._used[cell] - count
            self._falls[cell].append((at, used))
