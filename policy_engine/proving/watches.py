"""The watch of each form of expectation: what it has to remember, and where it may be broken.

Whatever a watch finds broken is judged again on a plain run before it is shown.
"""

# ruff: noqa: D102 - the protocol Watch documents the methods

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from policy_engine.errors import InputError
from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.watch import Watch, preemptions
from policy_engine.outcome import share_outcomes
from policy_engine.scheduler.jobs import Workload
from policy_engine.scheduler.log import Kind
from policy_engine.scheduler.moves import Move, reasons
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Clock, Run
from policy_engine.workload.expected import (
    AlwaysExpectation,
    AnyExpectation,
    AtExpectation,
    JobExpectation,
    NeverExpectation,
    ShareExpectation,
)


class _Watch:
    """Nothing to remember and nothing to break."""

    def __init__(self, wanted: AnyExpectation, workload: Workload) -> None:
        self.wanted = wanted
        self.workload = workload
        self.checkpoints: Sequence[float] = ()
        self.named: frozenset[str] = frozenset()
        self.by_moves = False
        self.at_rest = True

    def memory(self, clock: Clock) -> Hashable:  # noqa: ARG002
        return None

    def touches(self, state: State, move: Move) -> bool:  # noqa: ARG002
        return False

    def moved(self, clock: Clock, move: Move) -> bool:  # noqa: ARG002
        return False

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        return False

    def ended(self, clock: Clock) -> bool:  # noqa: ARG002
        return False

    def _run(self, clock: Clock, *, over: bool = False) -> Run:
        """The run, cut short where it is not over."""
        workload = self.workload if over else replace(self.workload, until=clock.at)
        end = clock.at if workload.until is None else max(clock.at, workload.until)
        return Run(clock.start_policy, workload, clock.choices, clock.log, end, clock.state)

    def _fails(self, clock: Clock, *, over: bool = False) -> bool:
        """The verdict on the run so far, by the rules for plain runs."""
        return judge_one(self._run(clock, over=over), self.wanted).verdict is Answer.FAILS


class WholeRun(_Watch):
    """For what needs the whole history: every way is a way of its own, judged at its end."""

    def memory(self, clock: Clock) -> Hashable:
        return tuple(clock.rows)

    def ended(self, clock: Clock) -> bool:
        return self._fails(clock, over=True)


class AtInstant(_Watch):
    """States of jobs at an instant."""

    def __init__(self, wanted: AtExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.at = wanted.at
        self.checkpoints = (wanted.at,)
        self.named = frozenset(name for names in wanted.states.values() for name in names)

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        return instant == self.at and self._fails(clock)


class Deadlines(_Watch):
    """Jobs that have to start, or to finish, by a time."""

    def __init__(self, wanted: AnyExpectation, workload: Workload, within: float) -> None:
        super().__init__(wanted, workload)
        always = wanted.always if isinstance(wanted, AlwaysExpectation) else None
        self.finish = isinstance(wanted, JobExpectation) and wanted.finishes_within is not None
        share = always.share if always is not None else None
        most = always.at_most_instances if always is not None else None
        self.by = {
            number: job.submit + within
            for number, job in enumerate(workload.jobs)
            if job.started is None
            and (not isinstance(wanted, JobExpectation) or wanted.job == job.name)
            and share in (None, job.share)
            and (most is None or job.instances <= most)
        }
        self.checkpoints = sorted(set(self.by.values()))
        if isinstance(wanted, JobExpectation):
            self.named = frozenset({wanted.job})

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        if instant is None or instant not in self.checkpoints:
            return False
        late = [job for job, by in self.by.items() if by == instant and not self._done(clock, job)]
        return bool(late)

    def _done(self, clock: Clock, job: int) -> bool:
        wanted = (Kind.FINISHED,) if self.finish else (Kind.STARTED,)
        return any(row[2] == job and row[1] in wanted for row in clock.rows)

    def ended(self, clock: Clock) -> bool:
        return any(not self._done(clock, job) for job, by in self.by.items() if by <= clock.at)


class NeverStarts(_Watch):
    """A job that must not start."""

    def __init__(self, wanted: JobExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.named = frozenset({wanted.job})

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        started = (row[2] for row in clock.rows[since:] if row[1] is Kind.STARTED)
        return any(self.workload.jobs[job].name in self.named for job in started) and self._fails(clock)

    def ended(self, clock: Clock) -> bool:
        return self._fails(clock, over=True)


class Stops(_Watch):
    """Preemptions of some kind: none of them, or so many."""

    def __init__(self, wanted: AnyExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.by_moves = isinstance(wanted, NeverExpectation)
        if isinstance(wanted, JobExpectation):
            self.named = frozenset({wanted.job, *([wanted.by] if wanted.by else [])})

    def touches(self, state: State, move: Move) -> bool:
        return any(self._counts(state, victim, move.job, why) for victim, why in reasons(state, move))

    def _counts(self, state: State, victim: int, by: int, why: str) -> bool:
        wanted, jobs = self.wanted, self.workload.jobs
        if isinstance(wanted, NeverExpectation):
            never = wanted.never
            return (
                never.preempted in (why, "any")
                and never.share in (None, jobs[victim].share)
                and (never.priority_at_least is None or state.priority[victim] >= never.priority_at_least)
            )
        if isinstance(wanted, JobExpectation):
            return (
                jobs[victim].name == wanted.job
                and (wanted.by is None or (by >= 0 and jobs[by].name == wanted.by))
                and wanted.reason in (None, why)
            )
        return False

    def _share_counts(self, clock: Clock) -> tuple[int, int]:
        """Suffered and caused."""
        jobs, share = self.workload.jobs, getattr(self.wanted, "share", None)
        found = [(victim, by) for victim, by, _, stopped in preemptions(clock) if stopped is not False]
        return (
            sum(jobs[victim].share == share for victim, _ in found),
            sum(by >= 0 and jobs[by].share == share for _, by in found),
        )

    def memory(self, clock: Clock) -> Hashable:
        if isinstance(self.wanted, NeverExpectation):
            return None
        if isinstance(self.wanted, ShareExpectation):
            return self._share_counts(clock)
        return sum(
            stopped is not False and self._counts(clock.state, victim, by, why)
            for victim, by, why, stopped in preemptions(clock)
        )

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        if not isinstance(self.wanted, NeverExpectation):
            return False
        if not any(row[1] is Kind.STOPPED for row in clock.rows[since:]):
            return False
        return any(stopped and self._counts(clock.state, v, by, why) for v, by, why, stopped in preemptions(clock))

    def ended(self, clock: Clock) -> bool:
        return self._fails(clock, over=True)


class Starts(_Watch):
    """Properties of each start: ``within_bounds`` and ``reserve_never_lent``."""

    def __init__(self, wanted: AnyExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.by_moves, self.at_rest = True, False

    def touches(self, state: State, move: Move) -> bool:
        if state.phase[move.job] is not Phase.RUNNING:
            return False
        state.freshen()
        for cell, unit, _ in state.demand[move.job]:
            if state.now[cell] > state.bound[cell] or state.now_total[unit] > state.capacity[unit]:
                return True
            if state.now[cell] > state.limit[cell]:
                left = state.borrow_pool[unit] - state.now_total[unit]
                if left < state.kept_now_total[unit] - state.kept_now[cell] - state.overcommitted[unit]:
                    return True
        return False

    def moved(self, clock: Clock, move: Move) -> bool:
        return self.touches(clock.state, move) and self._fails(clock)


class Futile(_Watch):
    """``no_futile_preemption``: a claimant whose victims have stopped is not left waiting for ever."""

    def __init__(self, wanted: AnyExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.by_moves = True

    def ended(self, clock: Clock) -> bool:
        return any(not claim.outstanding for claim in clock.state.claims) and self._fails(clock, over=True)


class Cycles(_Watch):
    """``no_preemption_cycle``: who stopped whom."""

    def __init__(self, wanted: AnyExpectation, workload: Workload) -> None:
        super().__init__(wanted, workload)
        self.named = frozenset(job.name for job in workload.jobs)

    def memory(self, clock: Clock) -> Hashable:
        return frozenset((victim, by) for victim, by, _, stopped in preemptions(clock) if stopped is not False)

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        return any(row[1] is Kind.STOPPED for row in clock.rows[since:]) and self._fails(clock)


class Ratio(_Watch):
    """``disruption_ratio``: instances stopped at once, per instance asked for."""

    def memory(self, clock: Clock) -> Hashable:
        return tuple(clock.rows[-1:]) if clock.state.claims else None

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        return any(row[1] is Kind.STOPPED for row in clock.rows[since:]) and self._fails(clock)


class Owners(_Watch):
    """``owner_reclaims``: since when each head inside its own limit has been at the front."""

    def _waiting(self, clock: Clock) -> Iterator[int]:
        state = clock.state
        for share in state.waiting:
            head = -state.line[share][-1][3]
            if all(state.after[cell] + count <= state.limit[cell] for cell, _, count in state.demand[head]):
                yield head
        for claim in state.claims:
            if all(state.after[cell] <= state.limit[cell] for cell, _, _ in state.demand[claim.job]):
                yield claim.job

    def memory(self, clock: Clock) -> Hashable:
        since: Mapping[int, float] = clock.noted.get(self, {})
        waiting = set(self._waiting(clock))
        return tuple(sorted((job, clock.at - at) for job, at in since.items() if job in waiting))

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        before: Mapping[int, float] = clock.noted.get(self, {})
        waiting = set(self._waiting(clock))
        clock.noted = {**clock.noted, self: {job: before.get(job, clock.at) for job in waiting}}
        return any(clock.at > at for at in before.values()) and self._fails(clock)

    def ended(self, clock: Clock) -> bool:
        return bool(clock.noted.get(self)) and self._fails(clock, over=True)


class OwnersAtAnyTime(Owners):
    """``owner_reclaims`` where whatever runs may end at any time, and each stop within ``stop_seconds``.

    How long an owner has waited is not known, but for a bound: no longer than until the first of the stops under way is
    over, each of which began no later than some other bound. Without a stop under way it may wait for ever.
    """

    def __init__(self, wanted: AnyExpectation, workload: Workload, *, stop_seconds: float, within: float) -> None:
        super().__init__(wanted, workload)
        self.stop_seconds = stop_seconds
        self.within = within

    def memory(self, clock: Clock) -> Hashable:
        latest: Mapping[int, Mapping[int, int]] = clock.noted.get(self, {})
        return tuple((job, tuple(sorted(began.items()))) for job, began in sorted(latest.items()))

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:  # noqa: ARG002
        """Notes of each waiting owner by when each stop began, as so many stops after it came to the front."""
        before: Mapping[int, Mapping[int, int]] = clock.noted.get(self, {})
        stopping = [job for job, phase in enumerate(clock.state.phase) if phase is Phase.STOPPING]
        latest: dict[int, dict[int, int]] = {}
        for owner in self._waiting(clock):
            known = before.get(owner)
            now = 0 if known is None else min(known.values(), default=0) + 1
            latest[owner] = {job: now if known is None else known.get(job, now) for job in stopping}
        clock.noted = {**clock.noted, self: latest}
        return any(
            not began or (min(began.values()) + 1) * self.stop_seconds > self.within for began in latest.values()
        )

    def ended(self, clock: Clock) -> bool:  # noqa: ARG002
        return False


class Peaks(_Watch):
    """Most instances that a share held or borrowed at once."""

    def memory(self, clock: Clock) -> Hashable:
        outcome = next(
            share
            for share in share_outcomes(self._run(clock), by_unit=False)
            if isinstance(self.wanted, ShareExpectation) and share.name == self.wanted.share
        )
        return (outcome.peak_usage, outcome.peak_borrowed)

    def ended(self, clock: Clock) -> bool:
        return self._fails(clock, over=True)


class Several(_Watch):
    """An expectation that asks several things at once."""

    def __init__(self, watches: Sequence[Watch]) -> None:
        self.watches = watches
        self.checkpoints = sorted({at for watch in watches for at in watch.checkpoints})
        self.named = frozenset(name for watch in watches for name in watch.named)
        self.by_moves = all(watch.by_moves for watch in watches)
        self.at_rest = all(watch.at_rest for watch in watches)

    def touches(self, state: State, move: Move) -> bool:
        return any(watch.touches(state, move) for watch in self.watches)

    def memory(self, clock: Clock) -> Hashable:
        return tuple(watch.memory(clock) for watch in self.watches)

    def moved(self, clock: Clock, move: Move) -> bool:
        return any(watch.moved(clock, move) for watch in self.watches)

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:
        return any(watch.settled(clock, since, instant) for watch in self.watches)

    def ended(self, clock: Clock) -> bool:
        return any(watch.ended(clock) for watch in self.watches)


class NotBroken(_Watch):
    """Looks for a way on which another watch finds nothing broken."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.checkpoints = watch.checkpoints
        self.named = watch.named
        self.by_moves = False
        self.at_rest = watch.at_rest

    def touches(self, state: State, move: Move) -> bool:
        return self.watch.touches(state, move)

    def memory(self, clock: Clock) -> Hashable:
        return (self.watch.memory(clock), self in clock.noted)

    def moved(self, clock: Clock, move: Move) -> bool:
        return self._note(clock, self.watch.moved(clock, move))

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:
        return self._note(clock, self.watch.settled(clock, since, instant))

    def _note(self, clock: Clock, broken: bool) -> bool:
        if broken:
            clock.noted = {**clock.noted, self: True}
        return False

    def ended(self, clock: Clock) -> bool:
        return self not in clock.noted and not self.watch.ended(clock)


def watch_for(wanted: AnyExpectation, workload: Workload) -> Watch:
    """The watch of an expectation. Raises InputError where it cannot be judged over open durations."""
    match wanted:
        case AtExpectation():
            return AtInstant(wanted, workload)
        case NeverExpectation():
            return Stops(wanted, workload)
        case AlwaysExpectation():
            return _always(wanted, workload)
        case JobExpectation() | ShareExpectation():
            single = _single(wanted, workload)
            if single is not None:
                return single
    if any(job.duration is None or job.shortest is not None for job in workload.jobs):
        raise InputError("cannot be judged over every schedule while a duration is open; give each job one duration")
    return WholeRun(wanted, workload)


def _single(wanted: JobExpectation | ShareExpectation, workload: Workload) -> Watch | None:
    """The watch of an expectation that asks nothing but what is cheap to remember."""
    asked = {name for name in wanted.model_fields_set if name not in ("job", "share", "name", "because")}
    watches: list[Watch] = []
    if isinstance(wanted, JobExpectation):
        deadlines = [within for within in (wanted.starts_within, wanted.finishes_within) if within is not None]
        watches += [Deadlines(wanted, workload, within) for within in deadlines]
        kinds = (None, "cross_share", "in_share", "limit_lowered")
        if asked & {"preempted", "by", "reason"} and wanted.reason in kinds:
            watches.append(Stops(wanted, workload))
        if wanted.never_starts:
            watches.append(NeverStarts(wanted, workload))
        plain = {"starts_within", "finishes_within", "preempted", "by", "reason", "never_starts"}
        known = asked <= plain and wanted.reason in kinds and len(watches) > 0
    else:
        if asked & {"usage", "borrowed"}:
            watches.append(Peaks(wanted, workload))
        if asked & {"preemptions_suffered", "preemptions_caused"}:
            watches.append(Stops(wanted, workload))
        known = asked <= {"usage", "borrowed", "preemptions_suffered", "preemptions_caused"}
    if not known:
        return None
    return watches[0] if len(watches) == 1 else Several(watches)


def _always(wanted: AlwaysExpectation, workload: Workload) -> Watch:
    match wanted.always.kind:
        case "within_bounds" | "reserve_never_lent":
            return Starts(wanted, workload)
        case "no_futile_preemption":
            return Futile(wanted, workload)
        case "no_preemption_cycle":
            return Cycles(wanted, workload)
        case "disruption_ratio":
            return Ratio(wanted, workload)
        case "owner_reclaims":
            return Owners(wanted, workload)
    return Deadlines(wanted, workload, wanted.always.starts_within or 0.0)
