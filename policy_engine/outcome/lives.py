"""What the log says about every job, in columns: one walk over the log, and nothing made for a job that runs once.

``job_outcomes`` makes objects of it; with a hundred thousand jobs the columns are what can be afforded.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from policy_engine.outcome.history import PREEMPTIONS
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import Kind, Row, Why
from policy_engine.simulation import Run

Placement = tuple[float, "float | None", "Why | None", int, float]
"""(scheduled, stopped, ended by, by whom, seconds lost): an attempt, with the job it was preempted for or -1."""

_ENDS: Final = frozenset({Kind.FINISHED, Kind.FAILED, Kind.TERMINATED})


class Lives:
    """Columns with an entry for each job, in the order in which the jobs are given. Times are seconds."""

    def __init__(self, run: Run) -> None:
        count = len(run.workload.jobs)
        self.run = run
        self.last: list[Row | None] = [None] * count
        """The row that last changed the job's state; None before it is submitted."""
        self.first: list[float | None] = [None] * count
        """When it first started."""
        self.begun: list[float | None] = [None] * count
        """When its last attempt began; None where that one is among ``cuts``, and where there is none."""
        self.released: list[float | None] = [None] * count
        """When that attempt ended; None while it holds capacity."""
        self.ended_by: list[Why | None] = [None] * count
        """How its last attempt ended, among ``cuts`` or not."""
        # of few jobs
        self.reasons: dict[int, str] = {}
        """AWS's status reason."""
        self.cuts: defaultdict[int, list[Placement]] = defaultdict(list)
        """Attempts that did not run to the end of the job, in their order."""
        self.preemptions: defaultdict[int, int] = defaultdict(int)
        self.lost: defaultdict[int, float] = defaultdict(float)
        """Seconds of work that preemptions did not keep."""
        self.requeued: defaultdict[int, float] = defaultdict(float)
        """Seconds of waiting after preemptions, to the next start or the end."""
        self._pending: dict[int, tuple[Why, int]] = {}
        """Preemptions under way: kind, and the job they are for."""
        self._waits_since: dict[int, float] = {}
        """Since when a job waits after a preemption."""
        self._walk()

    def _walk(self) -> None:
        first, begun, last, released = self.first, self.begun, self.last, self.released
        # members of an enumeration are slow to hash: the frequent ones are told by identity
        submitted, started, finished = Kind.SUBMITTED, Kind.STARTED, Kind.FINISHED
        ended_by, pending, waits_since, reasons = self.ended_by, self._pending, self._waits_since, self.reasons
        for row in self.run.log.rows:
            at, kind, job, _, _, _ = row
            if kind is submitted:
                last[job] = row
            elif kind is started:
                last[job] = row
                begun[job] = at
                released[job] = None
                if first[job] is None:
                    first[job] = at
                elif job in waits_since:
                    self._wait_is_over(job, at)
                if reasons:
                    reasons.pop(job, None)
            elif kind is finished and not pending:
                last[job] = row
                released[job] = at
                ended_by[job] = row[4]
            elif kind in _ENDS:
                self._end(row)
            else:
                self._rare(row)
        for job in list(waits_since):
            self._wait_is_over(job, self.run.end)

    def _end(self, row: Row) -> None:
        """It succeeded, failed or was terminated."""
        at, kind, job, _, why, detail = row
        self.last[job] = row
        if kind is not Kind.FINISHED:
            if detail is None:
                self.reasons.pop(job, None)
            else:
                self.reasons[job] = detail
        if self._waits_since:
            self._wait_is_over(job, at)
        if self.begun[job] is not None:
            self.released[job] = at
            self.ended_by[job] = why
            if self._pending:
                self._pending.pop(job, None)  # it ended by itself before it was stopped

    def _rare(self, row: Row) -> None:
        at, kind, job, by, why, detail = row
        if kind is Kind.PREEMPTED and why is not None:
            self._pending[job] = (why, by)
        elif kind is Kind.STOPPED:
            self._cut(row)
        elif kind is Kind.REQUEUED:
            self.last[job] = row
            if self.ended_by[job] in PREEMPTIONS:
                self._waits_since[job] = at
        elif kind is Kind.BLOCKED:
            self.reasons[job] = detail

    def _cut(self, row: Row) -> None:
        """Its attempt ended before its work: as the row says, else by the preemption under way."""
        at, _, job, _, why, detail = row
        self.last[job] = row
        begun, self.begun[job] = self.begun[job], None
        by, lost = -1, 0.0
        pending = self._pending.pop(job, None)
        if why is None and pending is not None:
            (why, by), lost = pending, detail
            self.preemptions[job] += 1
            self.lost[job] += lost
        self.ended_by[job] = why
        if begun is not None:
            self.cuts[job].append((begun, at, why, by, lost))

    def _wait_is_over(self, job: int, at: float) -> None:
        since = self._waits_since.pop(job, None)
        if since is not None:
            self.requeued[job] += at - since

    def ended(self, job: int) -> float | None:
        """When it succeeded, failed or was terminated."""
        row = self.last[job]
        if row is None or not (row[1] is Kind.FINISHED or row[1] in _ENDS):
            return None
        return row[0]

    def preemptions_from(self, job: int, since: float) -> int:
        """Attempts of the job that a preemption ended at ``since`` seconds or later."""
        return sum(1 for _, at, why, _, _ in self.cuts.get(job, ()) if why in PREEMPTIONS and (at or 0.0) >= since)

    def attempts(self, job: int) -> list[Placement]:
        """Every placement of the job, in order."""
        cuts = self.cuts.get(job, [])
        begun = self.begun[job]
        if begun is None:
            return cuts
        released = self.released[job]
        return [*cuts, (begun, released, None if released is None else self.ended_by[job], -1, 0.0)]


def submitted_at(job: Job) -> float:
    """A job of ``running:`` was submitted when it started."""
    return job.submit if job.started is None else job.started
