"""The clock: runs a workload under a policy and writes down what happens."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import takewhile
from math import floor, inf
from operator import attrgetter
from typing import Any, Final, Self

from policy_engine.policy import Policy, ServiceEnvironment, Share, SharingStrategy, StuckReason
from policy_engine.policy import State as Switch
from policy_engine.scheduler.bounds import Bounds, Misfit
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.copying import copier
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Exit,
    Job,
    Terminate,
    Update,
    UpdatePriority,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from policy_engine.scheduler.log import Kind, Log, Why
from policy_engine.scheduler.moves import Chooser, Pass
from policy_engine.scheduler.state import SUBMIT, Phase, State
from policy_engine.scheduler.victims import above_limit


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated run: what went in, and the log of what happened."""

    policy: Policy
    """The policy at the beginning; ``workload.updates`` say how it changes."""
    workload: Workload
    choices: Choices
    log: Log
    end: float
    """Seconds at which the run ended."""
    final: State
    """The queue at the end."""


def simulate(
    policy: Policy,
    workload: Workload,
    choices: Choices | None = None,
    *,
    chooser: Chooser | None = None,
    watch: Callable[[State, float], None] | None = None,
) -> Run:
    """Run the workload under the policy, with the default answer to every choice not given.

    ``watch`` is called with the state and the time in seconds after every pass.

    Raises ValueError where a job or update names a share, job or instance type that does not exist, and where a job
    that finds no capacity is retried without end; TooManyMovesError where jobs stop each other without end.
    """
    with _collector_paused():
        clock = Clock(policy, workload, choices or Choices(), chooser)
        clock.watch = watch
        try:
            clock.run()
        except TooManyMovesError as error:
            raise clock.endless(error) from None
    del clock.passes  # which refers to the clock: without the circle a run goes when nobody needs it any more
    return Run(policy, workload, clock.choices, clock.log, clock.at, clock.state)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """A long log is many small tuples and no cycles: to look for cycles again and again takes a third of the time."""
    paused = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if paused:
            gc.enable()


# Members of an enumeration are slow to look up, and these are looked up for every event.
SUBMITTED: Final = Kind.SUBMITTED
STARTED: Final = Kind.STARTED
FINISHED: Final = Kind.FINISHED
_DONE: Final = Why.FINISHED
_NAME: Final = attrgetter("name")
LAST: Final = 1.7e308
"""Seconds; nothing is later, and what never ends is at infinity."""
REQUEUES: Final = 10_000
"""Jobs put back in line, while none comes, ends or keeps any work, after which a run is given up as endless."""


_CHANGING: Final = (
    *("rows", "due", "decisions", "limits", "stuck", "arrivals", "updates"),
    *("stamp", "work_from", "ends_at", "times_out", "work_left", "resumes", "placements", "short_of_capacity"),
)
"""Attributes of a clock that change in place as time goes by."""


class Clock:
    """Virtual time over one state: what happens when. All times are seconds."""

    __slots__ = (
        "accepts",
        "arrivals",
        "at",
        "choices",
        "decisions",
        "due",
        "ends_at",
        "jobs",
        "limits",
        "log",
        "may_fail",
        "noted",
        "number_of",
        "passes",
        "placements",
        "policy",
        "progress",
        "requeues",
        "resumes",
        "rows",
        "short_of_capacity",
        "stamp",
        "start_policy",
        "start_seconds",
        "state",
        "stuck",
        "submit",
        "times_out",
        "timing",
        "until",
        "updates",
        "watch",
        "work_from",
        "work_left",
    )
    __deletable__ = ("passes",)  # mypyc wants it said

    def __new__(cls, *_: object, **__: object) -> Self:
        """Nothing set yet, as a copy begins; mypyc's own calls ``__init__``."""
        return super().__new__(cls)

    def __init__(self, policy: Policy, workload: Workload, choices: Choices, chooser: Chooser | None) -> None:
        self.choices = choices
        self.timing = workload.timing
        self.start_seconds = workload.timing.start_seconds
        self.until = inf if workload.until is None else workload.until
        self.policy = policy
        self.start_policy = policy
        """The policy at the beginning."""
        self.state = State(policy, choices, _units_named(workload))
        self.jobs = self.state.jobs
        self.log = Log(self.jobs)
        self.rows = self.log.rows
        self.passes = Pass(self.state, self, chooser)
        self.watch: Callable[[State, float], None] | None = None
        self.noted: Mapping[object, Any] = {}
        """What those that follow an exploration note on the way, each for itself; replaced, never changed in place."""
        self.at = 0.0
        self.number_of: dict[str, int] = {}
        self.submit: list[float] = []
        self.work_left: list[float] = []
        """Seconds of work that no checkpoint keeps yet."""
        self.accepts: list[bool] = []
        """Shares that take new jobs (R14)."""
        # heaps and sorted lists of what is to come
        self.due: list[tuple[float, int, int]] = []
        """Ends of attempts and of stops: (time, job, stamp); an old stamp is void."""
        self.decisions: list[float] = []
        """Passes to come, where there is decision latency."""
        self.limits: list[tuple[float, int, float]] = []
        """Job state time limits that run: (time, job, stuck since)."""
        self.stuck: dict[int, tuple[StuckReason, float]] = {}
        """Blocked jobs: the reason, and since when."""
        submits: list[float] = list(map(SUBMIT, workload.jobs))
        later = [number for number, job in enumerate(workload.jobs) if job.started is None]
        self.arrivals = sorted(later, key=submits.__getitem__)[::-1]
        """Jobs to come, the next one last."""
        self.updates = sorted(workload.updates, key=lambda update: update.at)[::-1]
        """Updates to come, the next one last."""
        # where each job's attempts stand
        self.stamp: list[int] = []
        self.work_from: list[float] = []
        """When the work of the current attempt begins."""
        self.ends_at: list[float] = []
        """When the current attempt ends by itself."""
        self.times_out: list[bool] = []
        """The current attempt ends by its timeout."""
        self.may_fail: list[bool] = []
        """Attempts of these may end otherwise than with their work done."""
        self.resumes: list[bool] = []
        """The next attempt follows a preemption."""
        self.placements: list[int] = []
        """Attempts used: not by preemptions and capacity failures (R10, R15)."""
        self.short_of_capacity: list[float] = []
        """Seconds spent in attempts that found no capacity."""
        self.requeues = 0
        """Jobs put back in line."""
        self.progress: Sequence[float] = ()
        """What had come, ended and been kept after so many requeues; after as many again it must be more."""
        self._adopt()
        self.add(workload.jobs)
        for number, job in enumerate(workload.jobs):
            if job.started is not None:
                self._begin(number, job.started)

    def add(self, jobs: Sequence[Job]) -> None:
        """Make jobs known, in the order in which they are given; to submit them is another matter."""
        count, known = len(jobs), len(self.jobs)
        self.number_of.update(zip(map(_NAME, jobs), range(known, known + count), strict=True))
        self.state.add(jobs)
        self.submit += map(SUBMIT, jobs)
        self.work_left += [inf if job.duration is None else job.duration for job in jobs]
        self.stamp += [0] * count
        self.work_from += [0.0] * count
        self.ends_at += [inf] * count
        self.times_out += [False] * count
        succeeded = Exit.SUCCEEDED
        self.may_fail += [job.timeout is not None or job.exit is not succeeded for job in jobs]
        self.resumes += [False] * count
        self.placements += [0] * count
        self.short_of_capacity += [0.0] * count

    def copy(self) -> Clock:
        """Another clock that stands at the same time and goes its own way."""
        twin = _copied(self)
        twin.log = Log(self.jobs)
        twin.log.rows = twin.rows
        twin.state = self.state.copy()
        twin.passes = self.passes.copy(twin.state, twin)
        return twin

    # --- the loop -------------------------------------------------------------------------------

    def run(self) -> None:  # noqa: C901 - the inner loop: every event of a long history passes here
        """Until nothing is to come, or ``until``."""
        due, arrivals, updates, limits, decisions = self.due, self.arrivals, self.updates, self.limits, self.decisions
        stamps, submit, ends_at, may_fail, rows = self.stamp, self.submit, self.ends_at, self.may_fail, self.rows
        state, passes, at_once, watch = self.state, self.passes, self.timing.queue_latency <= 0, self.watch
        unsettled, freed, claims = state.unsettled, state.freed, state.claims
        until = min(self.until, LAST)
        coming = submit[arrivals[-1]] if arrivals else inf
        while True:
            at = coming
            if due:
                first, job, stamp = due[0]
                if stamp != stamps[job]:
                    heappop(due)
                    continue
                if first < at:
                    at = first
            if updates or limits or decisions:
                at = min(at, self._next_rare())
            if at > until:
                break
            self.at = at
            changed = False
            while due and due[0][0] <= at:
                _, job, stamp = heappop(due)
                if stamp == stamps[job]:
                    changed = True
                    if ends_at[job] > at:
                        self._stopped(job)
                    elif may_fail[job]:
                        self._end(job)
                    else:
                        state.end(job)
                        rows.append((at, FINISHED, job, -1, _DONE, None))
            if updates:
                changed = self._update(at) or changed
                coming = submit[arrivals[-1]] if arrivals else inf
            if coming <= at:
                coming = self._submit_due(at)
                changed = True
            if limits:
                changed = self._end_stuck(at) or changed
            if at_once or self._decision_due(at, changed):
                if unsettled or claims or freed:
                    passes.settle(at)
                if watch is not None:
                    watch(state, at)
        if self.until < inf:
            self.at = self.until

    def next_instant(self) -> float:
        """The next instant at which something is due; infinity where nothing is to come."""
        due, stamps = self.due, self.stamp
        while due and stamps[due[0][1]] != due[0][2]:
            heappop(due)
        at = min(due[0][0] if due else inf, self._next_rare())
        return min(at, self.submit[self.arrivals[-1]]) if self.arrivals else at

    def submit_at(self, job: int, at: float) -> None:
        """A job comes at ``at``, before all that are to come, whatever time it states."""
        self.submit = [*self.submit]
        self.submit[job] = self.state.submitted[job] = self.state.runnable_since[job] = at
        self.arrivals.append(job)

    def pass_over(self, at: float, ending: int | None = None) -> bool:
        """Let time go to ``at`` and happen what is due then, and one job end or stop; true where a pass follows."""
        self.at = at
        changed = ending is not None
        if ending is not None and self.state.phase[ending] is Phase.STOPPING:
            self._stopped(ending)
        elif ending is not None:
            self.stamp[ending] += 1
            self.ends_at[ending] = at
            self._end(ending)
        while self.due and self.due[0][0] <= at:
            _, job, stamp = heappop(self.due)
            if stamp == self.stamp[job]:
                changed = True
                if self.ends_at[job] <= at:
                    self._end(job)
                else:
                    self._stopped(job)
        changed = self._update(at) or changed
        if self.arrivals and self.submit[self.arrivals[-1]] <= at:
            self._submit_due(at)
            changed = True
        changed = self._end_stuck(at) or changed
        return self.timing.queue_latency <= 0 or self._decision_due(at, changed)

    def _next_rare(self) -> float:
        """The next instant of those that most runs have few of."""
        at = self.updates[-1].at if self.updates else inf
        if self.decisions:
            at = min(at, self.decisions[0])
        return min(at, self.limits[0][0]) if self.limits else at

    def _decision_due(self, at: float, changed: bool) -> bool:
        """Is there a pass at ``at``, where decisions come ``queue_latency`` after what they answer?"""
        if changed:
            heappush(self.decisions, at + self.timing.queue_latency)
        due = False
        while self.decisions and self.decisions[0] <= at:
            heappop(self.decisions)
            due = True
        return due

    def _update(self, at: float) -> bool:
        """Updates by ``at``: of the queue, then (after what is submitted) of jobs; true where there were any."""
        updates: list[Update] = []
        while self.updates and self.updates[-1].at <= at:
            updates.append(self.updates.pop())
        if not updates:
            return False
        self._apply(updates, UpdateShare, DeleteShare, UpdateServiceEnvironment, UpdateQueue)
        if self.stuck:
            self._free_stuck()  # what the updates of one instant come to counts
        self._submit_due(at)
        self._apply(updates, UpdatePriority)
        self._apply(updates, Terminate)
        return True

    def _apply(self, updates: Sequence[Update], *kinds: type[Update]) -> None:
        """Those updates that are of these kinds, in the order given."""
        for update in updates:
            if not isinstance(update, kinds):
                continue
            if isinstance(update, UpdatePriority):
                self._update_priority(update)
            elif isinstance(update, Terminate):
                self._terminate(self.number_of[update.job], None)
            else:
                self._update_queue(update)

    def _note(self, kind: Kind, job: int, by: int = -1, why: Why | None = None, detail: object = None) -> None:
        self.rows.append((self.at, kind, job, by, why, detail))

    # --- jobs come ------------------------------------------------------------------------------

    def _begin(self, job: int, at: float) -> None:
        """A job of ``running:``; it was submitted when it was dispatched, and works from then on."""
        self.at = at
        self.state.submitted[job] = self.state.runnable_since[job] = at
        self._note(Kind.SUBMITTED, job)
        self.state.start(job, at)
        start_seconds, self.start_seconds = self.start_seconds, 0.0
        self.started(job)
        self.start_seconds, self.at = start_seconds, 0.0

    def _submit_due(self, at: float) -> float:
        """Submit the jobs that are due by ``at``; when the next one comes, or infinity."""
        arrivals, submit, state = self.arrivals, self.submit, self.state
        while arrivals:
            job = arrivals[-1]
            if submit[job] > at:
                return submit[job]
            arrivals.pop()
            if self.accepts[state.share_of[job]]:
                self.rows.append((at, SUBMITTED, job, -1, None, None))
                state.enqueue(job, at)
            else:
                state.phase[job] = Phase.ENDED
                self._note(Kind.FAILED, job, why=Why.FAILED, detail=self._refusal(self.jobs[job].share))
        return inf

    def _refusal(self, share: str) -> str:
        if share not in self.policy.shares:
            return f"quota share {share} does not exist"
        if self.policy.state is Switch.DISABLED:
            return "the job queue is DISABLED and takes no new jobs"
        return f"quota share {share} is DISABLED and takes no new jobs"

    # --- attempts (called by the pass) ----------------------------------------------------------

    def started(self, job: int) -> None:
        """The pass dispatched the job: an attempt, whose work begins when it is up."""
        at = self.at
        begins = at + self.start_seconds
        if self.resumes[job]:
            begins += self.timing.restart_seconds
        self.rows.append((at, STARTED, job, -1, None, None))
        self.work_from[job] = begins
        ends = begins + self.work_left[job]
        if self.may_fail[job]:
            ends = self._cut(job, ends)
        self.ends_at[job] = ends
        stamp = self.stamp[job] = self.stamp[job] + 1
        if ends < inf:
            heappush(self.due, (ends, job, stamp))

    def _cut(self, job: int, ends: float) -> float:
        """When an attempt ends that a timeout or a job state time limit may cut short."""
        what = self.jobs[job]
        self.placements[job] += 1
        if what.timeout is not None:
            latest = min(self.work_from[job], self.at + self.start_seconds) + what.timeout
            self.times_out[job] = latest < ends
            ends = min(ends, latest)
        if what.exit is Exit.CAPACITY_FAILURE:
            seconds = self._time_limit(StuckReason.INSUFFICIENT_INSTANCE_CAPACITY)
            if seconds is not None:
                ends = min(ends, self.work_from[job] + seconds - self.short_of_capacity[job])
        return ends

    def preempted(self, job: int, victims: Sequence[tuple[int, Why]]) -> bool:
        """The pass stops these for the job; true where they have released their capacity already."""
        for victim, why in victims:
            self._note(Kind.PREEMPTED, victim, job, why)
        return self._stop(victim for victim, _ in victims)

    def _stop(self, victims: Iterable[int]) -> bool:
        """Jobs that the state counts as being stopped stop now or ``stop_seconds`` later (C14)."""
        stops = self.at + self.timing.stop_seconds
        for victim in victims:
            if stops > self.at:
                if self.ends_at[victim] > stops:
                    self.stamp[victim] += 1
                    heappush(self.due, (stops, victim, self.stamp[victim]))
            elif self.ends_at[victim] <= stops:
                self.stamp[victim] += 1
                self._end(victim)
            else:
                self._stopped(victim)
        return stops <= self.at

    def blocked(self, job: int, misfit: Misfit, *, known: bool) -> None:
        """The job is at the front of its share and can never fit (R12); ``known``: for a reason it had before."""
        if not known:
            self._note(Kind.BLOCKED, job, detail=misfit.reason)
        if job in self.stuck and self.stuck[job][0] is misfit.code:
            return
        self.stuck[job] = (misfit.code, self.at)
        seconds = self._time_limit(misfit.code)
        if seconds is not None:
            heappush(self.limits, (self.at + seconds, job, self.at))

    def _free_stuck(self) -> None:
        """After an update: what is stuck no longer, or for another reason, starts its time limit anew."""
        bounds = Bounds(self.policy, self.choices)
        for job, (code, _) in list(self.stuck.items()):
            what = self.jobs[job]
            misfit = bounds.never_fits(what.share, what.demand) if what.share in self.policy.shares else None
            if misfit is None or misfit.code is not code:
                del self.stuck[job]

    # --- attempts end ---------------------------------------------------------------------------

    def _end(self, job: int) -> None:
        """An attempt ends by itself."""
        self.state.end(job)
        if not self.may_fail[job]:
            self.rows.append((self.at, FINISHED, job, -1, _DONE, None))
        elif self.times_out[job]:
            self._fail_attempt(job, Why.TIMEOUT)
        elif self.jobs[job].exit is Exit.FAILED:
            self._fail_attempt(job, Why.FAILED)
        elif self.jobs[job].exit is Exit.CAPACITY_FAILURE:
            self._fail_for_capacity(job)
        else:
            self._note(FINISHED, job, why=_DONE)

    def _fail_attempt(self, job: int, why: Why) -> None:
        self._keep_checkpoints(job)
        if self.placements[job] >= self.jobs[job].attempts:
            self._note(Kind.FAILED, job, why=why)
            return
        self._note(Kind.STOPPED, job, why=why, detail=0.0)
        self._requeue(job, preempted=False)

    def _fail_for_capacity(self, job: int) -> None:
        """Retried until there is capacity, without using an attempt (R15)."""
        self.placements[job] -= 1
        self.short_of_capacity[job] += self.at - self.work_from[job]
        reason = StuckReason.INSUFFICIENT_INSTANCE_CAPACITY
        seconds = self._time_limit(reason)
        if seconds is not None and self.short_of_capacity[job] >= seconds:
            self._note(Kind.TERMINATED, job, why=Why.TERMINATED, detail=_time_limit_text(reason))
            return
        self._note(Kind.STOPPED, job, why=Why.CAPACITY_FAILURE, detail=0.0)
        self._requeue(job, preempted=False)

    def _stopped(self, job: int) -> None:
        """A preempted job has stopped: requeued, or failed where its retries are used up (R10, R17)."""
        self.stamp[job] += 1
        self.placements[job] -= 1
        lost = self._keep_checkpoints(job)
        self.state.end(job)
        self._note(Kind.STOPPED, job, detail=lost)
        self.state.preemptions[job] += 1
        retries = self.jobs[job].preemption_retries
        if retries is not None and self.state.preemptions[job] > retries:
            self._note(Kind.FAILED, job)
        else:
            self._requeue(job, preempted=True)

    def _requeue(self, job: int, *, preempted: bool) -> None:
        self.resumes[job] = preempted
        self._note(Kind.REQUEUED, job)
        self.state.requeue(job, self.at, preempted=preempted)
        self.requeues += 1
        if self.requeues % max(REQUEUES, len(self.jobs)) == 0:
            self._require_progress(preempted=preempted)

    def _require_progress(self, *, preempted: bool) -> None:
        """Stop with an error where nothing but requeues has happened since the last call."""
        ended = self.state.phase.count(Phase.ENDED)
        work_left = sum(left for left in self.work_left if left < inf)
        time = 0.0 if preempted or self.until == inf else self.at  # retries end in time, where there is an end
        progress: Sequence[float] = (len(self.arrivals), len(self.updates), ended, work_left, time)
        if progress != self.progress:
            self.progress = progress
            return
        news = (Kind.SUBMITTED, Kind.FINISHED, Kind.FAILED, Kind.TERMINATED)
        since = next((row[0] for row in reversed(self.rows) if row[1] in news), 0.0)
        raise TooManyMovesError(self.at, self.requeues, since=since)

    def endless(self, error: TooManyMovesError) -> Exception:
        """The same error with the jobs that stop each other, or the one for a job that is retried without end."""
        rows = reversed(self.rows)
        stops = [
            (row[3], row[2]) for row in takewhile(lambda row: row[0] >= error.since, rows) if row[1] is Kind.PREEMPTED
        ]
        if not stops:
            job = next(row[2] for row in reversed(self.rows) if row[1] is Kind.REQUEUED)
            return ValueError(
                f"job {self.jobs[job].name!r} finds no capacity and is retried without end: give it a duration above 0,"
                " and the workload 'until' or the policy a job state time limit"
            )
        around = stops.index(stops[0], 1) if stops[0] in stops[1:] else len(stops)
        claimants, victims = zip(*stops[:around], strict=True)
        jobs = [self.jobs[job].name for job in sorted({*claimants} & {*victims})]
        return TooManyMovesError(error.at, error.moves, jobs, error.since)

    def _keep_checkpoints(self, job: int) -> float:
        """Seconds of the attempt's work that are lost; one due at this very instant is kept."""
        work = max(0.0, self.at - self.work_from[job])
        every = self.jobs[job].checkpoint_every or self.timing.checkpoint_every
        if not every:
            return work
        kept = min(work, floor(work / every + 1e-9) * every)
        self.work_left[job] -= kept
        return work - kept

    # --- what is done to jobs and to the queue --------------------------------------------------

    def _terminate(self, job: int, reason: str | None) -> None:
        state, phase = self.state, self.state.phase[job]
        if phase in (Phase.NEW, Phase.ENDED):
            return
        if phase is Phase.WAITING:
            state.dequeue(job)
        elif phase is Phase.CLAIMING:
            state.drop_claim(next(claim for claim in state.claims if claim.job == job), started=False)
        else:
            state.end(job)
        self.stamp[job] += 1
        state.phase[job] = Phase.ENDED
        self._note(Kind.TERMINATED, job, why=Why.TERMINATED, detail=reason)

    def _end_stuck(self, at: float) -> bool:
        """Job state time limit actions that are due."""
        ended = False
        while self.limits and self.limits[0][0] <= at:
            _, job, since = heappop(self.limits)
            code, stuck_since = self.stuck.get(job, (None, None))
            if code is not None and stuck_since == since and self.state.phase[job] is Phase.WAITING:
                self._terminate(job, _time_limit_text(code))
                ended = True
        return ended

    def _time_limit(self, reason: StuckReason) -> float | None:
        """Seconds after which the queue ends a job that is stuck for this reason."""
        limits = [limit.max_seconds for limit in self.policy.job_state_time_limits if limit.reason is reason]
        return float(min(limits)) if limits else None

    def _update_priority(self, update: UpdatePriority) -> None:
        job = self.number_of[update.job]
        self._note(Kind.PRIORITY_UPDATED, job, detail=update.priority)
        if self.state.phase[job] is not Phase.ENDED:
            self.state.set_priority(job, update.priority)

    def _update_queue(self, update: Update) -> None:
        if isinstance(update, UpdateQueue):
            if update.state is not None:
                self._adopt(state=Switch(update.state))
        elif isinstance(update, UpdateServiceEnvironment):
            self._adopt(service_environment=updated_environment(self.policy.service_environment, update))
            self._note(Kind.ENVIRONMENT_UPDATED, -1)
        elif isinstance(update, UpdateShare):
            share = updated_share(self.policy.shares[update.share], update)
            number, limits = self.state.share_index[update.share], list(self.state.limit)
            self._adopt(shares={**self.policy.shares, update.share: share})
            self._note(Kind.SHARE_UPDATED, -1, detail=update.share)
            if self.choices.lowered_limit == "at_once":
                lowered = [cell for cell, _ in self.state.cells_of[number] if self.state.limit[cell] < limits[cell]]
                self._stop_above_limit(lowered)
        elif isinstance(update, DeleteShare):
            self._delete(update.share)

    def _adopt(self, **changes: object) -> None:
        self.policy = policy = self.policy.model_copy(update=changes)
        self.state.adopt(policy)
        taking = [name for name, share in policy.shares.items() if share.state is policy.state is Switch.ENABLED]
        self.accepts = [name in taking for name in self.state.share_names]

    def _delete(self, share: str) -> None:
        """A deleted share's jobs are terminated (R16)."""
        number = self.state.share_index[share]
        for job, owner in enumerate(self.state.share_of):
            if owner == number:
                self._terminate(job, f"quota share {share} was deleted")
        self._adopt(shares=dict(self.policy.others(share)))
        self._note(Kind.SHARE_UPDATED, -1, detail=share)

    def _stop_above_limit(self, lowered: Sequence[int]) -> None:
        """C11 ``at_once``: stop jobs until the share is within its limits on these cells."""
        victims = above_limit(self.state, lowered)
        for victim in victims:
            self._note(Kind.PREEMPTED, victim, why=Why.LIMIT_LOWERED)
            self.state.begin_stop(victim)
        self._stop(victims)


_copied: Final = copier(Clock, _CHANGING)


def _time_limit_text(reason: StuckReason) -> str:
    """AWS's status reason of a job that a job state time limit action ended (UG sm_job_stuck_in_runnable)."""
    return f"Terminated by JobStateTimeLimit action due to reason: {reason}"


def _units_named(workload: Workload) -> Iterator[str]:
    """Instance types that jobs and updates name."""
    yield from {unit: None for job in workload.jobs for unit in job.demand}
    for update in workload.updates:
        if isinstance(update, UpdateShare | UpdateServiceEnvironment):
            yield from update.capacity_limits or ()


def updated_share(share: Share, update: UpdateShare) -> Share:
    """The share after UpdateQuotaShare; a borrow limit does not outlive LEND_AND_BORROW."""
    data = share.model_dump()
    given = {
        "capacity_limits": update.capacity_limits,
        "strategy": update.strategy,
        "borrow_limit": update.borrow_limit,
        "in_share_preemption": update.in_share_preemption,
        "state": update.state,
    }
    data.update({key: value for key, value in given.items() if value is not None})
    if update.borrow_limit is None and data["strategy"] != SharingStrategy.LEND_AND_BORROW:
        data["borrow_limit"] = None
    return Share.model_validate(data)


def updated_environment(environment: ServiceEnvironment, update: UpdateServiceEnvironment) -> ServiceEnvironment:
    """The service environment after UpdateServiceEnvironment."""
    data = environment.model_dump()
    given = {"capacity_limits": update.capacity_limits, "state": update.state}
    data.update({key: value for key, value in given.items() if value is not None})
    return ServiceEnvironment.model_validate(data)
