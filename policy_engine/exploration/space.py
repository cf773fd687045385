"""The states that a workload can come to under every answer to the open choices."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, deque
from collections.abc import Hashable, Iterator
from dataclasses import replace
from itertools import combinations_with_replacement
from math import inf
from time import monotonic

from policy_engine.collector import paused
from policy_engine.exploration.collecting import Collector, independent
from policy_engine.exploration.explored import Bounds, Explored, circle
from policy_engine.exploration.keys import Keys
from policy_engine.exploration.sets import OutOfTimeError
from policy_engine.exploration.times import LATER, between
from policy_engine.exploration.untimed import BrokenError, InexactError, Untimed
from policy_engine.exploration.watch import Watch
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Workload
from policy_engine.scheduler.log import Kind
from policy_engine.scheduler.moves import Move
from policy_engine.scheduler.state import Phase
from policy_engine.simulation import Clock

PER_DECISION = frozenset({"share_order", "idle_assignment", "victims", "reclaim_or_in_share"})
"""Choices that may fall differently each time; the others are answered once for a run."""


class Space:
    """One answer to the choices that are made once for a run, and everything that can happen under it."""

    def __init__(
        self,
        policy: Policy,
        workload: Workload,
        choices: Choices,
        open_choices: frozenset[str],
        watch: Watch,
        *,
        symmetry: bool = True,
        partial_order: bool = True,
        any_time: bool = False,
        late: bool = False,
        arrivals: int | None = None,
    ) -> None:
        """One answer to the choices that are made once.

        Args:
            policy: the policy at the beginning.
            workload: jobs and updates.
            choices: the answers.
            open_choices: of ``PER_DECISION``, those that are answered in every way.
            watch: looks on.
            symmetry: take interchangeable jobs and shares for one another.
            partial_order: make independent starts in one order alone.
            any_time: whatever runs or stops may end at any time, which allows all that is possible and more.
            late: between two events a job may end soon after the first, and just before the second as well.
            arrivals: up to so many of the jobs come, whichever, at any time; None: all of them, at their times.
        """
        if any_time:
            workload = without_times(workload)
        self.any_time = any_time
        self.chooser = Collector(open_choices)
        self.arrivals = arrivals
        self.start = Clock(policy, workload, choices, self.chooser)
        if arrivals is not None:
            self.start.arrivals.clear()
        self.watch = watch
        self.partial_order = partial_order
        self.shortest = [0.0 if job.duration is None else job.shortest for job in workload.jobs]
        """Least seconds of work of jobs that may end at more than one time."""
        self.checkpoints = sorted(set(watch.checkpoints))
        self.keys = Keys(
            self.start,
            open_choices,
            watch.named,
            symmetry=symmetry,
            timed=not any_time,
            come_at_any_time=arrivals is not None,
        )
        self.chooser.groups = self.keys.groups
        self.met: set[Hashable] = set()
        """States in which a job has just ended, before the pass that follows."""
        self.until = inf if workload.until is None else workload.until
        self.late = late
        self.endless: str | None = None
        """Who stops each other without end on some schedule."""
        self.has_all_times = True
        """Has no time begun to run when a job ended that might have ended at another time?"""
        self.untimed = self.keys.jobs_suffice and watch.by_moves and arrivals is None and not late
        """Is a state which jobs wait and which run, and what breaks it a move?"""

    def explore(self, bounds: Bounds) -> Explored:
        """Breadth first, so that what is found broken is found on a shortest way."""
        result = Explored()
        self.chooser.until = bounds.until
        try:
            with paused():
                if self.untimed and self._explore_untimed(bounds, result):
                    return result
                self._explore(bounds, result)
        except OutOfTimeError:
            result.unsettled = f"--max-seconds {bounds.max_seconds:g} was reached"
        result.has_all_times = self.has_all_times
        return result

    def _explore_untimed(self, bounds: Bounds, result: Explored) -> bool:
        """False where clocks are needed to tell what is broken: then nothing is explored yet."""
        space = Untimed(self.start, self.chooser, self.keys, self.watch, self.until, partial_order=self.partial_order)
        try:
            space.explore(bounds, result)
        except BrokenError as error:
            result.broken = error.clock
        except InexactError:
            result.states = result.transitions = result.depth = 0
            return False
        return True

    def _explore(self, bounds: Bounds, result: Explored) -> None:
        frontier = deque([(self.start, 0)])
        seen = {self._key(self.start)}
        while frontier:
            clock, depth = frontier.popleft()
            result.states += 1
            result.depth = max(result.depth, depth)
            if bounds.spent + result.states >= bounds.max_states:
                result.unsettled = f"--max-states {bounds.max_states} was reached"
                return
            if self._may_be_over(clock) and self.watch.ended(clock):
                result.broken, result.over = clock, True
                return
            for after, broken in self._successors(clock):
                result.transitions += 1
                if result.transitions % 64 == 0 and monotonic() > bounds.until:
                    raise OutOfTimeError
                if broken:
                    result.broken = after
                    return
                key = self._key(after)
                if key in seen:
                    _let_go(after)
                else:
                    seen.add(key)
                    frontier.append((after, depth + 1))
        result.unsettled, result.is_endless = self.endless, self.endless is not None

    def _key(self, clock: Clock) -> Hashable:
        waiting_for = bisect_right(self.checkpoints, clock.at)
        if self.arrivals is not None:
            waiting_for = self._still_to_come(clock)
        return (waiting_for, self.keys.key(clock, self.watch.memory(clock)))

    def _next(self, clock: Clock) -> float:
        at = clock.next_instant()
        if self.checkpoints:
            at = min(at, next((time for time in self.checkpoints if time > clock.at), inf))
        return at if at < LATER else inf

    def _may_be_over(self, clock: Clock) -> bool:
        """Is nothing to come but ends that may be long in coming?"""
        return self._next(clock) > self.until or self._next(clock) == inf

    def _successors(self, clock: Clock) -> Iterator[tuple[Clock, bool]]:
        """Every state after the next thing that happens, and whether it breaks what is expected."""
        happening = self._happening(clock)
        for number, (at, ending, coming) in enumerate(happening, start=1):
            after = clock.copy() if number < len(happening) else clock  # nobody needs this one any more
            for job in reversed(coming):
                after.submit_at(job, at)
            if ending is None and not coming:
                yield from self._after(after, at, None)
            else:
                yield from self._at_some_time(after, at, ending)
        if not happening:
            _let_go(clock)

    def _happening(self, clock: Clock) -> list[tuple[float, int | None, tuple[int, ...]]]:
        """What may happen next: when, which job ends, and which jobs come; neither is what is due."""
        due = self._next(clock)
        following = min(due, self.until)
        found: list[tuple[float, int | None, tuple[int, ...]]] = []
        for job, earliest in self._may_end(clock):
            soon = between(clock.at, following, earliest)
            late = following - 1 if self.late and soon is not None and soon + 1 < following < inf else None
            times = [at for at in (soon, late) if at is not None]
            found += [(at, job, ()) for at in times if not self._was_met(clock, job, at)]
        if due <= self.until and due < inf:
            found.append((due, None, ()))
        soon = between(clock.at, following, 0.0) if self.arrivals is not None else None
        if soon is not None:
            found += [(soon, None, jobs) for jobs in self._may_come(clock)]
        return found

    def _at_some_time(self, clock: Clock, at: float, ending: int | None) -> Iterator[tuple[Clock, bool]]:
        """The states after what might have happened at another time as well.

        As long as no time begins to run from then, all that matters is between which events it is.
        """
        running = {*clock.due}, len(clock.limits), len(clock.decisions)
        for after, broken in self._after(clock, at, ending):
            if (
                after.at > at
                or len(after.limits) > running[1]
                or len(after.decisions) > running[2]
                or any(due not in running[0] and due[2] == after.stamp[due[1]] for due in after.due)
            ):
                self.has_all_times = False
            yield after, broken

    def _was_met(self, clock: Clock, ending: int, at: float) -> bool:
        """Has a state been met, before its pass, that is the same as this one when the job has ended?

        What follows from it is known then. Jobs that are interchangeable leave the same state behind; and so may others
        that end in states of their own.
        """
        phase = clock.state.phase
        was = phase[ending]
        phase[ending] = Phase.ENDED
        key = self._key(clock)
        phase[ending] = was
        memory = self.watch.memory(clock)
        kind = self.keys.kind_of[ending] if was is Phase.STOPPING else None
        met = (key, kind, at - clock.at if self.late or clock.due or memory is not None else None)
        if met in self.met:
            return True
        self.met.add(met)
        return False

    def _still_to_come(self, clock: Clock) -> int:
        come = sum(phase is not Phase.NEW for phase in clock.state.phase)
        return (self.arrivals or 0) - come

    def _may_come(self, clock: Clock) -> Iterator[tuple[int, ...]]:
        """Jobs that may be submitted together next: one of each kind stands for all of them."""
        kinds: dict[Hashable, list[int]] = {}
        for job, phase in enumerate(clock.state.phase):
            if phase is Phase.NEW:
                kind = (clock.jobs[job].share, self.keys.kind_of[job], clock.jobs[job].priority)
                kinds.setdefault(kind, []).append(job)
        for count in range(1, self._still_to_come(clock) + 1):
            for chosen in combinations_with_replacement(kinds, count):
                times = Counter(chosen)
                yield tuple(job for kind, n in times.items() for job in kinds[kind][:n])

    def _may_end(self, clock: Clock) -> Iterator[tuple[int, float]]:
        """Jobs that may end or stop at more than one time, and from when on."""
        if clock.at >= self.until:
            return
        for job, phase in enumerate(clock.state.phase):
            if phase is Phase.RUNNING:
                shortest = self.shortest[job]
                if shortest is not None:
                    yield job, clock.work_from[job] + shortest
            elif phase is Phase.STOPPING and self.any_time:
                yield job, clock.work_from[job]

    def _after(self, clock: Clock, at: float, ending: int | None) -> Iterator[tuple[Clock, bool]]:
        """The states at rest after what is due at ``at``; the clock goes on there."""
        since = len(clock.rows)
        passes = clock.pass_over(at, ending)
        for settled, broken in self._settle(clock, at) if passes else [(clock, False)]:
            if not broken and settled.due and settled.due[0][0] <= at and settled.next_instant() <= at:
                yield from self._after(settled, at, None)  # a job ended at this very instant: all again
            else:
                yield settled, broken or self.watch.settled(settled, since, at if ending is None else None)

    def _settle(self, clock: Clock, at: float) -> Iterator[tuple[Clock, bool]]:
        """Every state in which no move is left."""
        since = len(clock.rows)
        stack: list[tuple[Clock, tuple[Hashable, ...]]] = [(clock, ())]
        seen: set[Hashable] = set()
        while stack:
            now, preempted = stack.pop()
            while now.passes.look_for_moves():
                moves = self.chooser.found
                if len(moves) > 1 and self.partial_order and independent(now.state, moves):
                    moves = moves[:1]
                for move in moves[1:]:
                    other = now.copy()
                    other.passes.make(move, at)
                    if self.watch.moved(other, move):
                        yield other, True
                    elif (key := self._key(other)) in seen:
                        _let_go(other)
                    else:
                        seen.add(key)
                        if (been := self._been(other, move, preempted, since)) is not None:
                            stack.append((other, been))
                now.passes.make(moves[0], at)
                if self.watch.moved(now, moves[0]):
                    yield now, True
                    break
                if (been := self._been(now, moves[0], preempted, since)) is None:
                    break
                preempted = been
            else:
                yield now, False

    def _been(self, clock: Clock, move: Move, before: tuple[Hashable, ...], since: int) -> tuple[Hashable, ...] | None:
        """The states after the preemptions of one instant, in order; None where they go round in a circle.

        ``since``: the first row of the log that is of this instant.
        """
        if not move.victims:
            return before
        key = self.keys.key(clock, None)
        if key not in before:
            return (*before, key)
        stops = [(row[2], row[3]) for row in clock.rows[since:] if row[1] is Kind.PREEMPTED]
        self.endless = circle(stops, clock.jobs, clock.at)
        _let_go(clock)
        return None


def _let_go(clock: Clock) -> None:
    """Clock and pass refer to each other; without this circle they go by themselves, and need no collector."""
    del clock.passes


def with_arrivals(workload: Workload, broken: Clock) -> Workload:
    """The workload of those jobs alone that came, when they came, each named by its share.

    The clock's log is numbered anew to fit.
    """
    came = [job for _, kind, job, _, _, _ in broken.rows if kind is Kind.SUBMITTED]
    number = {job: new for new, job in enumerate(came)} | {-1: -1}
    of_share: Counter[str] = Counter()
    jobs = []
    for job in came:
        what = workload.jobs[job]
        of_share[what.share] += 1
        name = f"{what.share}-{of_share[what.share]}"
        jobs.append(replace(what, name=name, submit=broken.state.submitted[job]))
    broken.rows[:] = [(at, kind, number[job], number[by], why, what) for at, kind, job, by, why, what in broken.rows]
    return replace(workload, jobs=tuple(jobs))


def without_times(workload: Workload) -> Workload:
    """The workload with every duration open, starts that take no time, and stops that take for ever unless ended."""
    jobs = tuple(replace(job, duration=None, shortest=None, timeout=None) for job in workload.jobs)
    stop_seconds = 10 * LATER if workload.timing.stop_seconds > 0 else 0.0
    timing = replace(workload.timing, stop_seconds=stop_seconds, start_seconds=0.0, restart_seconds=0.0)
    return replace(workload, jobs=jobs, timing=timing)
