"""The scheduler's own state, brought along the log of a run: who is first in line, who claims what.

Nothing is decided here; every decision is in the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from policy_engine.outcome import policies
from policy_engine.scheduler.log import Kind, Row
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Run


def states(run: Run) -> Iterator[tuple[float, State]]:
    """The state after everything that happened at each instant of the log, with the time in seconds.

    It is one object that changes: what is to be kept has to be copied before the next.
    """
    replay = _Replay(run)
    rows = run.log.rows
    for index, row in enumerate(rows):
        replay.apply(index, row)
        if index + 1 == len(rows) or rows[index + 1][0] > row[0]:
            replay.settle_claim()
            yield row[0], replay.state


class _Replay:
    def __init__(self, run: Run) -> None:
        found = policies(run)
        self.jobs = run.workload.jobs
        self.policies = dict(found)
        units = {unit for _, policy in found for unit in policy.units}
        units.update(unit for job in self.jobs for unit in job.demand)
        self.state = State(run.policy, run.choices, sorted(units))
        self.state.add(self.jobs)
        self.was_preempted = [False] * len(self.jobs)
        """Is its latest stop a preemption's?"""
        self.claimant = -1
        self.victims: list[int] = []
        """The preemption that the latest rows describe."""

    def apply(self, index: int, row: Row) -> None:
        """One row of the log."""
        if row[1] is not Kind.PREEMPTED or row[3] != self.claimant:
            self.settle_claim()
        if index in self.policies:
            self.state.adopt(self.policies[index])
        handler = _HANDLERS.get(row[1])
        if handler is not None:
            handler(self, row)

    def settle_claim(self) -> None:
        """All victims of a preemption are known: its job claims their capacity."""
        if self.victims and self.claimant >= 0:
            self.state.dequeue(self.claimant)
            self.state.claim(self.claimant, self.victims)
        self.claimant, self.victims = -1, []

    def submitted(self, row: Row) -> None:
        at, _, job, _, _, _ = row
        if self.jobs[job].started is None:
            self.state.enqueue(job, at)
        else:
            self.state.submitted[job] = self.state.runnable_since[job] = at

    def started(self, row: Row) -> None:
        at, _, job, _, _, _ = row
        self._drop_claim(job, started=True)
        self.state.start(job, at)

    def preempted(self, row: Row) -> None:
        _, _, job, by, _, _ = row
        self.state.begin_stop(job)
        self.claimant = by
        self.victims.append(job)

    def stopped(self, row: Row) -> None:
        _, _, job, _, why, _ = row
        self.state.end(job)
        self.was_preempted[job] = why is None

    def requeued(self, row: Row) -> None:
        at, _, job, _, _, _ = row
        self.state.requeue(job, at, preempted=self.was_preempted[job])

    def ended(self, row: Row) -> None:
        _, _, job, _, _, _ = row
        phase = self.state.phase[job]
        if phase is Phase.CLAIMING:
            self._drop_claim(job, started=False)
        elif phase is Phase.WAITING:
            self.state.dequeue(job)
        elif phase in (Phase.RUNNING, Phase.STOPPING):
            self.state.end(job)
        self.state.phase[job] = Phase.ENDED

    def priority_updated(self, row: Row) -> None:
        _, _, job, _, _, priority = row
        if self.state.phase[job] is not Phase.ENDED:
            self.state.set_priority(job, priority)

    def _drop_claim(self, job: int, *, started: bool) -> None:
        for claim in self.state.claims:
            if claim.job == job:
                self.state.drop_claim(claim, started=started)
                return


_HANDLERS: Final[Mapping[Kind, Callable[[_Replay, Row], None]]] = {
    Kind.SUBMITTED: _Replay.submitted,
    Kind.STARTED: _Replay.started,
    Kind.PREEMPTED: _Replay.preempted,
    Kind.STOPPED: _Replay.stopped,
    Kind.REQUEUED: _Replay.requeued,
    Kind.FINISHED: _Replay.ended,
    Kind.FAILED: _Replay.ended,
    Kind.TERMINATED: _Replay.ended,
    Kind.PRIORITY_UPDATED: _Replay.priority_updated,
}
