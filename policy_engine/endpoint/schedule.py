"""The jobs of one queue, scheduled in virtual time, as clients see them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, heapreplace
from typing import Final

from policy_engine.endpoint.live_clock import LiveClock
from policy_engine.endpoint.service_jobs import FAILED, IN_PROGRESS, PREEMPTED, TIMED_OUT, Attempt, JobIndex, ServiceJob
from policy_engine.endpoint.service_jobs import Status as Is
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing
from policy_engine.scheduler.log import Kind, Why

_STARTING_UP: Final = {Is.SCHEDULED: Is.STARTING, Is.STARTING: Is.RUNNING}
"""One step of a job that holds its capacity."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How time goes for every queue."""

    timing: Timing = field(default_factory=Timing)
    choices: Choices = field(default_factory=Choices)
    stepped: bool = False
    """Nothing moves but by steps, so that every state on the way can be seen."""


class Schedule:
    """One queue's clock, and what has become of its jobs. All times are seconds of the virtual clock."""

    def __init__(self, policy: Policy, pace: Pace, at: float, name_training_job: Callable[[str], str]) -> None:
        self.pace = pace
        self.clock = LiveClock(policy, pace.timing, pace.choices, at)
        self.index = JobIndex()
        self._name_training_job = name_training_job
        """ARN of a new training job for the job of that name."""
        self._starting: list[tuple[float, int, Attempt]] = []
        """Attempts that are not up yet: (when they are, job, attempt)."""

    # --- time -----------------------------------------------------------------------------------

    def read(self) -> None:
        """Bring everything up to date for somebody who reads: all moves made, unless they are made by steps."""
        if not self.pace.stepped:
            self.clock.settle()
        self._take_news()

    def go_to(self, at: float) -> None:
        """Let time go on to ``at``, and happen what is due until then."""
        self.clock.go_to(at)
        self._take_news()

    def step(self) -> None:
        """Every job goes one state on: into line, to its capacity, and through the states of starting up."""
        starting = [job for status in _STARTING_UP for job in self.index.with_status(status, "", None)]
        self.clock.settle()
        self._take_news()
        self.clock.line_up()
        self._take_news()
        for job in starting:
            following = _STARTING_UP.get(job.status)
            if following is Is.RUNNING and job.latest is not None:
                self._up(job, job.latest)
            elif following is not None:
                self.index.move(job, following)

    def _take_news(self) -> None:
        jobs = self.index.jobs
        for row in self.clock.news():
            at, kind, number, _, why, detail = row
            self._bring_up(at)
            if number >= 0:
                self._take(jobs[number], kind, at, why, detail)
        self._bring_up(self.clock.at)

    def _bring_up(self, at: float) -> None:
        """Attempts that have started up by ``at``; steps show them on the way, at this very instant."""
        while self._starting and (self._starting[0][0] < at or (self._starting[0][0] == at and not self.pace.stepped)):
            _, number, attempt = heappop(self._starting)
            job = self.index.jobs[number]
            if attempt.stopped_at is None and job.status is not Is.RUNNING:
                self._up(job, attempt)

    # --- what is done to jobs -------------------------------------------------------------------

    def submit(self, job: ServiceJob, wanted: Job) -> None:
        """Take in a job that the scheduler knows as ``wanted``."""
        job.number = self.clock.take(wanted, wait=self.pace.stepped)
        self.index.add(job)
        self._take_news()

    # --- what became of them --------------------------------------------------------------------

    def _take(self, job: ServiceJob, kind: Kind, at: float, why: Why | None, detail: object) -> None:
        """One entry of the log about the job."""
        match kind:
            case Kind.SUBMITTED | Kind.REQUEUED:
                job.scheduled_at = job.started_at = job.reason = None
                self.index.move(job, Is.RUNNABLE)
            case Kind.STARTED:
                self._started(job, at)
            case Kind.PREEMPTED:
                self._preempted(job, PREEMPTED[why])
            case Kind.STOPPED:
                self._stopped(job, at, why)
            case Kind.FINISHED:
                self._end(job, at, None)
                self._over(job, at, Is.SUCCEEDED, None)
            case Kind.FAILED:
                self._failed(job, at, why, detail)
            case Kind.TERMINATED:
                job.is_terminated = True
                self._end(job, at, str(detail))
                self._over(job, at, Is.FAILED, str(detail))

    def _started(self, job: ServiceJob, at: float) -> None:
        attempt = job.latest = Attempt(self._name_training_job(job.name), at)
        job.attempts.append(attempt)
        job.scheduled_at = at
        self.index.move(job, Is.SCHEDULED)
        heappush(self._starting, (at + self.pace.timing.start_seconds, job.number, attempt))
        self._bring_up(at)

    def _up(self, job: ServiceJob, attempt: Attempt) -> None:
        job.started_at = attempt.started_at = attempt.scheduled_at + self.pace.timing.start_seconds
        self.index.move(job, Is.RUNNING)

    def _preempted(self, job: ServiceJob, reason: str) -> None:
        """It is being stopped."""
        job.stopping = reason
        job.reason = IN_PROGRESS + reason

    def _stopped(self, job: ServiceJob, at: float, why: Why | None) -> None:
        if why is None:  # a preemption is over
            self._end(job, at, job.stopping)
            job.preempted.appendleft(job.attempts.pop())
            job.preemptions += 1
        else:
            self._end(job, at, _ENDS[why])

    def _failed(self, job: ServiceJob, at: float, why: Why | None, detail: object) -> None:
        if why in _ENDS:
            self._end(job, at, _ENDS[why])
        reason = detail or (job.latest.reason if job.latest is not None else None)
        self._over(job, at, Is.FAILED, str(reason))

    def _end(self, job: ServiceJob, at: float, reason: str | None) -> None:
        """The attempt under way ends, if there is one."""
        attempt = job.latest
        if attempt is not None and attempt.stopped_at is None:
            attempt.stopped_at = at
            attempt.reason = reason

    def _over(self, job: ServiceJob, at: float, status: Is, reason: str | None) -> None:
        job.stopped_at = at
        job.reason = reason
        self.index.move(job, status)

    # --- what is asked --------------------------------------------------------------------------

    def priority(self, job: ServiceJob) -> int:
        """The job's priority as it is now."""
        return self.clock.state.priority[job.number]

    def reason(self, job: ServiceJob) -> str | None:
        """The job's status reason as it is now: why it waits for ever (R12), or what became of it."""
        if job.status is Is.RUNNABLE and job.number in self.clock.stuck:
            misfit = Bounds(self.clock.policy, self.clock.choices).never_fits(job.share, job.demand)
            return None if misfit is None else misfit.reason
        return job.reason

    def fronts(self) -> Mapping[str, ServiceJob | None]:
        """The first RUNNABLE job of each quota share."""
        state, jobs = self.clock.state, self.index.jobs
        lines = {name: state.line[state.share_index[name]] for name in self.clock.policy.shares}
        fronts = {name: jobs[-line[-1][3]] if line else None for name, line in lines.items()}
        fronts.update((jobs[claim.job].share, jobs[claim.job]) for claim in reversed(state.claims))
        return fronts

    def next_in_line(self) -> Iterator[ServiceJob]:
        """RUNNABLE jobs of all shares, in the order of dispatch as far as it can be told.

        Those for which others are being stopped, oldest claim first; then each share's line in its order, the share
        first whose next job came first (C1).
        """
        state, jobs = self.clock.state, self.index.jobs
        for claim in state.claims:
            yield jobs[claim.job]

        def entry(share: int, place: int) -> tuple[float, int, int, int]:
            job = -state.line[share][place][3]
            return state.submitted[job], job, share, place

        heads = [entry(share, len(line) - 1) for share, line in enumerate(state.line) if line]
        heapify(heads)
        while heads:
            _, job, share, place = heads[0]
            yield jobs[job]
            if place:
                heapreplace(heads, entry(share, place - 1))
            else:
                heappop(heads)

    def usage(self) -> Mapping[str, Mapping[str, int]]:
        """Instances that each share's dispatched jobs hold, by type."""
        usage = self.clock.state.usage()
        return {name: usage[name] for name in self.clock.policy.shares}


_ENDS: Final[Mapping[Why | None, str]] = {Why.TIMEOUT: TIMED_OUT, Why.FAILED: FAILED}
"""How an attempt ended that nobody stopped."""
