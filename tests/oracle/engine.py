"""The clock: what happens at each instant, in the order of the specification, and the log of it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Exit,
    Terminate,
    Update,
    UpdatePriority,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from tests.oracle.moves import Move, next_move
from tests.oracle.victims import until_within_limit
from tests.oracle.world import Entry, JobState, Phase, ShareState, World

CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"


MOST_ENTRIES = 10_000
"""Of a log; a run of a few jobs that writes more has no end."""


class TooManyMovesError(Exception):
    """More than 10 moves per job submitted and not ended, at one instant; or a run without end."""


@dataclass(frozen=True)
class Outcome:
    """How one job stands at the end of the run."""

    state: str
    """SUBMITTED (not yet submitted), RUNNABLE, DISPATCHED, SUCCEEDED or FAILED."""
    lost_instance_seconds: float


@dataclass(frozen=True)
class Run:
    log: list[Entry]
    jobs: dict[str, Outcome]


def run(policy: Policy, workload: Workload, choices: Choices) -> Run:
    """Run the workload. Raises TooManyMovesError; ValueError for an update of a job not yet submitted."""
    clock = Clock(policy, workload, choices)
    clock.run()
    return Run(clock.world.log, {job.name: _outcome(job) for job in clock.world.jobs})


def _outcome(job: JobState) -> Outcome:
    state = {
        Phase.UNSUBMITTED: "SUBMITTED",
        Phase.WAITING: "RUNNABLE",
        Phase.CLAIMING: "RUNNABLE",
        Phase.DISPATCHED: "DISPATCHED",
        Phase.ENDED: "SUCCEEDED" if job.succeeded else "FAILED",
    }
    return Outcome(state[job.phase], job.lost)


class Clock:
    def __init__(self, policy: Policy, workload: Workload, choices: Choices) -> None:
        self.world = World(policy, workload.jobs, choices, workload.timing)
        self.updates = workload.updates
        self.until = float("inf") if workload.until is None else workload.until
        self.passes: set[float] = set()
        self.time_limits: dict[str, float] = {}
        for action in policy.job_state_time_limits:
            known = self.time_limits.get(action.reason, float("inf"))
            self.time_limits[action.reason] = min(known, action.max_seconds)

    def run(self) -> None:
        self._running_before()
        at = self._next_time(None)
        while at is not None and at <= self.until:
            self.world.now = at
            self._instant()
            if len(self.world.log) > MOST_ENTRIES:
                raise TooManyMovesError(f"more than {MOST_ENTRIES} entries by {at} s")
            at = self._next_time(at)

    def _running_before(self) -> None:
        """Jobs of ``running:`` stand first, at the time of their start, and nothing is decided."""
        for job in self.world.jobs:
            if job.job.started is not None:
                self.world.now = job.job.started
                self._enter(job)
                self._dispatch(job, running_from=job.job.started, work_from=job.job.started)

    def _next_time(self, after: float | None) -> float | None:
        world = self.world
        times = [update.at for update in self.updates] + list(self.passes)
        times += [job.submitted for job in world.jobs if job.phase is Phase.UNSUBMITTED]
        times += [t for job in world.jobs for t in (self._ends_at(job), self._times_out_at(job)) if t is not None]
        return min((t for t in times if after is None or t > after), default=None)

    # --- an instant --------------------------------------------------------------------------------

    def _instant(self) -> None:
        """What ends or has stopped; updates; submissions; priorities; terminations; then moves."""
        happened = [
            self._end_what_is_due(),
            self._update(UpdateShare, DeleteShare, UpdateServiceEnvironment, UpdateQueue),
            self._submit_what_is_due(),
            self._update(UpdatePriority),
            self._update(Terminate),
            self._time_out(),
        ]
        if any(happened):
            self.passes.add(self.world.now + self.world.timing.queue_latency)
        self._passes()

    def _passes(self) -> None:
        moves = 0
        live = [j for j in self.world.jobs if j.phase not in (Phase.UNSUBMITTED, Phase.ENDED)]
        while self.world.now in self.passes:
            self.passes.discard(self.world.now)
            while self.world.environment_enabled and (move := next_move(self.world)) is not None:
                moves += 1
                if moves > 10 * len(live):
                    raise TooManyMovesError(f"more than {10 * len(live)} moves at {self.world.now} s")
                self._make(move)
            self._clear_what_is_stuck_no_more()
            if self._end_what_is_due():
                self.passes.add(self.world.now + self.world.timing.queue_latency)

    def _update(self, *kinds: type[Update]) -> bool:
        due = [u for u in self.updates if u.at == self.world.now and isinstance(u, kinds)]
        for update in due:
            self._apply(update)
        return bool(due)

    def _apply(self, update: Update) -> None:
        match update:
            case UpdateShare():
                self._update_share(update)
            case DeleteShare():
                self._delete_share(update.share)
            case UpdateServiceEnvironment():
                self._update_environment(update)
            case UpdateQueue():
                self.world.queue_enabled = update.state != "DISABLED" if update.state else self.world.queue_enabled
            case UpdatePriority():
                job = self._submitted(update.job)
                if job.phase is not Phase.ENDED:
                    job.priority = update.priority
                self.world.write("priority_updated", job, detail=update.priority)
            case Terminate():
                job = self._submitted(update.job)
                if job.phase is not Phase.ENDED:
                    self.world.write("terminated", job)
                    self._end(job)

    def _submitted(self, name: str) -> JobState:
        job = next(j for j in self.world.jobs if j.name == name)
        if job.phase is Phase.UNSUBMITTED:
            raise ValueError(f"{name} is not yet submitted at {self.world.now} s")
        return job

    # --- updates ------------------------------------------------------------------------------------

    def _update_share(self, update: UpdateShare) -> None:
        share = self.world.shares[update.share]
        before = dict(share.limits)
        _change(share, update)
        self.world.write("share_updated", detail=share.name)
        lowered = [unit for unit in before if share.limits.get(unit, 0) < before[unit]]
        if lowered and self.world.choices.lowered_limit == "at_once":
            self._preempt(until_within_limit(self.world, share.name, lowered), None)

    def _delete_share(self, name: str) -> None:
        """Its jobs are terminated (R16); what it would still be submitted is refused."""
        for job in self.world.jobs:
            if job.share == name and job.phase not in (Phase.UNSUBMITTED, Phase.ENDED):
                self.world.write("terminated", job)
                self._end(job)
        del self.world.shares[name]
        self.world.write("share_updated", detail=name)

    def _update_environment(self, update: UpdateServiceEnvironment) -> None:
        if update.capacity_limits is not None:
            self.world.capacity = dict(update.capacity_limits)
        if update.state is not None:
            self.world.environment_enabled = update.state == "ENABLED"
        self.world.write("environment_updated")

    # --- a job's life -------------------------------------------------------------------------------

    def _submit_what_is_due(self) -> bool:
        due = [j for j in self.world.jobs if j.phase is Phase.UNSUBMITTED and j.submitted == self.world.now]
        for job in due:
            self._submit(job)
        return bool(due)

    def _submit(self, job: JobState) -> None:
        share = self.world.shares.get(job.share)
        if share is None or not share.enabled or not self.world.queue_enabled:
            job.phase = Phase.ENDED
            self.world.write("failed", job, detail="the share or the queue takes no new jobs")
        else:
            self._enter(job)

    def _enter(self, job: JobState) -> None:
        job.phase = Phase.WAITING
        job.place = job.submitted, job.order
        job.runnable_since = job.submitted
        self.world.write("submitted", job)

    def _dispatch(self, job: JobState, running_from: float, work_from: float) -> None:
        job.phase = Phase.DISPATCHED
        job.dispatched_at = self.world.now
        job.running_from = running_from
        job.work_from = work_from
        job.was_preempted = False
        job.victims = ()
        self.world.write("started", job)

    def _start(self, job: JobState) -> None:
        timing = self.world.timing
        restart = timing.restart_seconds if job.was_preempted else 0
        running_from = self.world.now + timing.start_seconds
        self._dispatch(job, running_from, running_from + restart)

    def _make(self, move: Move) -> None:
        if not move.victims:
            self._start(move.job)
            return
        self._preempt(move.victims, move.job)
        if self.world.timing.stop_seconds == 0:
            self._start(move.job)
            return
        self.world.claims += 1
        move.job.claim = self.world.claims
        move.job.victims = move.victims
        move.job.phase = Phase.CLAIMING

    def _preempt(self, victims: Iterable[JobState], by: JobState | None) -> None:
        """Stop jobs, in the order taken: at once where that takes no time."""
        victims = list(victims)
        for victim in victims:
            kind = "limit_lowered" if by is None else "in_share" if victim.share == by.share else "cross_share"
            victim.stop_at = self.world.now + self.world.timing.stop_seconds
            self.world.write("preempted", victim, by, kind)
        if self.world.timing.stop_seconds == 0:
            for victim in victims:
                self._end_or_stop(victim)

    def _ends_at(self, job: JobState) -> float | None:
        """When something becomes of a dispatched job: it ends or has stopped."""
        if job.phase is not Phase.DISPATCHED:
            return None
        return min((t for t in (job.due(), job.stop_at) if t is not None), default=None)

    def _end_what_is_due(self) -> bool:
        """End what is due at this instant, in the order given; true where anything was."""
        due = [j for j in self.world.jobs if (at := self._ends_at(j)) is not None and at <= self.world.now]
        for job in due:
            self._end_or_stop(job)
        return bool(due)

    def _end_or_stop(self, job: JobState) -> None:
        """A job that is due by itself ends so, also where it would be stopped now."""
        due = job.due()
        if due is not None and due <= self.world.now:
            self._end_by_itself(job)
        else:
            self._stopped(job)

    def _end_by_itself(self, job: JobState) -> None:
        work = job.job.duration
        done = work is not None and job.work_from + work - job.kept <= self.world.now
        if done and job.job.exit is Exit.SUCCEEDED:
            job.succeeded = True
            self.world.write("finished", job)
            self._end(job)
        elif done and job.job.exit is Exit.CAPACITY_FAILURE:
            self._without_capacity(job)
        else:
            self._attempt_failed(job, "failed" if done else "timeout")

    def _attempt_failed(self, job: JobState, why: str) -> None:
        """R15: ``attempts`` counts placements. What the next one does again counts as lost only where
        a preemption is the cause (R17)."""
        job.failures += 1
        if job.failures < job.job.attempts:
            self._keep_checkpoints(job)
            self.world.write("stopped", job, why=why, detail=0)
            self._requeue(job)
        else:
            self.world.write("failed", job, why=why)
            self._end(job)

    def _without_capacity(self, job: JobState) -> None:
        """There were no instances: no work was done and no attempt is used (R15); the time adds up (R12)."""
        job.without_capacity += self.world.now - job.dispatched_at
        self.world.write("stopped", job, why="capacity_failure", detail=0)
        if job.without_capacity >= self.time_limits.get(CAPACITY, float("inf")):
            self._terminate_for(job, CAPACITY)
        else:
            self._requeue(job)

    def _stopped(self, job: JobState) -> None:
        """Preempted (R10, R17)."""
        lost = self._keep_checkpoints(job)
        job.lost += lost * job.job.instances
        self.world.write("stopped", job, detail=lost)
        job.preemptions += 1
        if job.job.preemption_retries is not None and job.preemptions > job.job.preemption_retries:
            self.world.write("failed", job)
            self._end(job)
            return
        job.was_preempted = True
        self._requeue(job)
        if self.world.choices.requeue == "keep_place":
            job.place = job.submitted, job.order
        else:
            job.place = self.world.now, self._last_in_line()

    def _keep_checkpoints(self, job: JobState) -> float:
        """Keep the work in whole checkpoints; the seconds of work that are not in one."""
        every = job.job.checkpoint_every or self.world.timing.checkpoint_every
        work = job.kept + max(0, self.world.now - job.work_from)
        job.kept = work // every * every if every else 0
        return work - job.kept

    def _requeue(self, job: JobState) -> None:
        self._release(job)
        job.phase = Phase.WAITING
        job.runnable_since = self.world.now
        by_submission = self.world.choices.equal_priority == "submitted"
        job.place = job.submitted if by_submission else self.world.now, job.order
        self.world.write("requeued", job)

    def _last_in_line(self) -> int:
        """More than the order of every job and of every job put back before."""
        return 1 + max(order for job in self.world.jobs for order in (job.order, job.place[1]))

    def _end(self, job: JobState) -> None:
        self._release(job)
        job.phase = Phase.ENDED

    def _release(self, job: JobState) -> None:
        """Its capacity is free, its claim gone; who waited for it to stop waits no longer."""
        job.stop_at = None
        job.victims = ()
        for claimant in self.world.jobs:
            claimant.victims = tuple(v for v in claimant.victims if v is not job)

    # --- job state time limits (R12) ----------------------------------------------------------------

    def _times_out_at(self, job: JobState) -> float | None:
        if job.phase is not Phase.WAITING or job.stuck is None or job.stuck[0] not in self.time_limits:
            return None
        return job.stuck[1] + self.time_limits[job.stuck[0]]

    def _time_out(self) -> bool:
        due = [j for j in self.world.jobs if (at := self._times_out_at(j)) is not None and at <= self.world.now]
        for job in due:
            if job.stuck is not None:
                self._terminate_for(job, job.stuck[0])
        return bool(due)

    def _terminate_for(self, job: JobState, code: str) -> None:
        reason = f"Terminated by JobStateTimeLimit action due to reason: {code}"
        self.world.write("terminated", job, detail=reason)
        self._end(job)

    def _clear_what_is_stuck_no_more(self) -> None:
        """The clock of a reason runs until the job could fit again."""
        for job in self.world.jobs:
            if job.stuck is not None and job.phase is Phase.WAITING:
                reason = self.world.never_fits(job)
                if reason is None or not reason.startswith(job.stuck[0]):
                    job.stuck = None


def _change(share: ShareState, update: UpdateShare) -> None:
    """What is None stays."""
    if update.capacity_limits is not None:
        share.limits = dict(update.capacity_limits)
    if update.strategy is not None:
        share.strategy = str(update.strategy)
    if update.borrow_limit is not None:
        share.borrow_limit = update.borrow_limit
    if update.in_share_preemption is not None:
        share.in_share = update.in_share_preemption
    if update.state is not None:
        share.enabled = update.state == "ENABLED"
