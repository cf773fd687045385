"""A clock to which shares, jobs and updates come one at a time, at the time that it shows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from policy_engine.policy import JobStateTimeLimit, Policy, Share
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Job,
    Timing,
    Update,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from policy_engine.scheduler.log import Kind, Row, Why
from policy_engine.scheduler.state import Phase
from policy_engine.simulation import Clock

_ROWS: Final = 100_000
"""Entries of the log that are kept: more than the search for endless preemption looks back on."""


class LiveClock(Clock):
    """The clock of one queue. All times are seconds.

    What is done to the queue takes effect at once, in the order in which it is done; moves are made when it is settled
    or time goes on. Nothing else differs from a run that knows its whole workload.
    """

    def __init__(self, policy: Policy, timing: Timing, choices: Choices, at: float) -> None:
        super().__init__(policy, Workload((), timing=timing), choices, None)
        self.at = self.until = at
        self.changed = False
        """Something was done since the last moves."""
        self.stands_still: str | None = None
        """Why time stands still in this queue: its jobs stop each other over and over."""
        self.submitted: list[int] = []
        """Jobs that are not in line yet."""
        self.rows_read = 0

    # --- time -----------------------------------------------------------------------------------

    def settle(self) -> None:
        """Make every move that can be made now."""
        if self.changed:
            self.changed = False
            self.stands_still = None
            self._within_bounds(self._decide)

    def go_to(self, at: float) -> None:
        """Let time go on to ``at``, and happen what is due until then."""
        self.line_up()
        self.settle()
        self.until = at
        if self.stands_still is None:
            self._within_bounds(self.run)

    def line_up(self) -> None:
        """Put the jobs that were only submitted in line."""
        if self.submitted:
            self.arrivals += reversed(self.submitted)
            self.submitted.clear()
            self._submit_due(self.at)
            self.changed = True

    def _decide(self) -> None:
        """The moves that what was done calls for, and whatever is due by now."""
        if self.stuck:
            self._free_stuck()
        if self.timing.queue_latency <= 0 or self._decision_due(self.at, changed=True):
            self.passes.settle(self.at)
            if self.watch is not None:
                self.watch(self.state, self.at)
        self.run()

    def _within_bounds(self, go_on: Callable[[], None]) -> None:
        """Where jobs stop each other without end, stand still until somebody does something about it."""
        try:
            go_on()
        except TooManyMovesError as error:
            self.stands_still = str(self.endless(error))

    def news(self) -> Sequence[Row]:
        """What was logged since the last call."""
        news = self.rows[self.rows_read :]
        if len(self.rows) > _ROWS:
            del self.rows[: -_ROWS // 2]
        self.rows_read = len(self.rows)
        return news

    # --- jobs -----------------------------------------------------------------------------------

    def take(self, job: Job, *, wait: bool) -> int:
        """Submit a job, and say its number; ``wait``: it is in line only when the others are told to line up."""
        self._make_room((), job.demand)
        number = len(self.jobs)
        self.add([job])
        self.submitted.append(number)
        if not wait:
            self.line_up()
        return number

    def set_priority(self, job: int, priority: int) -> None:
        """UpdateServiceJob; of a job that has ended it changes nothing."""
        self._note(Kind.PRIORITY_UPDATED, job, detail=priority)
        if self.state.phase[job] is not Phase.ENDED:
            self.state.set_priority(job, priority)
        self.changed = True

    def terminate(self, job: int, reason: str | None) -> None:
        """TerminateServiceJob; of a job that has ended it changes nothing."""
        if job in self.submitted:
            self.submitted.remove(job)
            self.state.phase[job] = Phase.ENDED
            self._note(Kind.TERMINATED, job, why=Why.TERMINATED, detail=reason)
        else:
            self._terminate(job, reason)
        self.changed = True

    # --- the queue ------------------------------------------------------------------------------

    def add_share(self, name: str, share: Share) -> None:
        """CreateQuotaShare."""
        self._make_room([name], share.capacity_limits)
        self._adopt(shares={**self.policy.shares, name: share})
        self._note(Kind.SHARE_UPDATED, -1, detail=name)
        self.changed = True

    def change(self, update: Update) -> None:
        """UpdateQuotaShare, DeleteQuotaShare, UpdateServiceEnvironment or UpdateJobQueue."""
        if isinstance(update, UpdateShare | UpdateServiceEnvironment):
            self._make_room((), update.capacity_limits or ())
        elif isinstance(update, DeleteShare):
            self.line_up()  # R16 holds for these jobs too
        self._update_queue(update)
        self.changed = True

    def set_time_limits(self, limits: tuple[JobStateTimeLimit, ...]) -> None:
        """Other job state time limits, counted for the jobs that are stuck already from when they got stuck."""
        self._adopt(job_state_time_limits=limits)
        self.limits.clear()
        for job, (reason, since) in self.stuck.items():
            seconds = self._time_limit(reason)
            if seconds is not None:
                self.limits.append((max(self.at, since + seconds), job, since))
        self.limits.sort()
        self.changed = True

    def _make_room(self, shares: Iterable[str], units: Iterable[str]) -> None:
        state = self.state
        if any(name not in state.share_index for name in shares) or any(unit not in state.unit_index for unit in units):
            state.grow(shares, units)
            self._adopt()
