"""Holds the laws over runs: after every entry of the log, after every pass, and at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import takewhile
from math import inf

from policy_engine.scheduler.bounds import Misfit
from policy_engine.scheduler.jobs import Workload
from policy_engine.scheduler.log import Kind, Why
from policy_engine.scheduler.moves import Rule
from policy_engine.scheduler.state import State
from policy_engine.simulation import Clock
from tests.laws import laws
from tests.laws.account import Account, ImpossibleEntryError
from tests.laws.laws import BrokenLawError, Preemption

MOVES_PER_JOB = 20
"""At one instant. The engine itself gives up sooner."""
MORE_PASSES = 5
IN_FULL = 8
"""One end of a pass in so many is followed by all of them, the others by one: it is what finds almost everything."""
FULL = 300
"""Jobs up to which the queue is looked at after every pass; of more jobs, after one pass in so many."""

run_unwatched = Clock.run


class Watch:
    """One run under the laws. It stands between the pass and its clock, and so sees every move."""

    def __init__(self, clock: Clock, found: Callable[[BrokenLawError], None]) -> None:
        """``found`` is told what is broken; it may raise it."""
        self.clock = clock
        self.found = found
        self.workload = Workload(
            tuple(clock.jobs), tuple(clock.updates[::-1]), clock.timing, None if clock.until == inf else clock.until
        )
        self.account = Account(clock.start_policy, self.workload, clock.choices)
        self.booked = 0
        self.before = len(clock.rows)
        """Entries of ``running:``, which nobody decided."""
        self.instant = float("-inf")
        self.moves = self.passes = 0
        self.at_rest = False
        self.also = clock.watch
        clock.watch = self.settled
        clock.passes.driver = self

    # --- what the pass tells its driver -------------------------------------------------------------

    def started(self, job: int) -> None:
        self._moved(job)
        self.clock.started(job)
        self.read()

    def preempted(self, job: int, victims: Sequence[tuple[int, Why]]) -> bool:
        if self.at_rest:
            self._moved(job)
        stopped = self.clock.preempted(job, victims)
        self.read()
        return stopped

    def blocked(self, job: int, misfit: Misfit, *, known: bool) -> None:
        self.clock.blocked(job, misfit, known=known)

    def _moved(self, job: int) -> None:
        """A pass ends, and five more move nothing."""
        name, at = self.account.name(job), self.clock.at
        if self.at_rest:
            raise BrokenLawError("nothing_moves_at_rest", at, f"another pass moves {name}")
        if at > self.instant:
            self.instant, self.moves = at, 0
        self.moves += 1
        if self.moves > MOVES_PER_JOB * (10 + len(self.account.jobs)):
            raise BrokenLawError("a_pass_ends", at, f"{name} starts in move {self.moves}")

    # --- the log --------------------------------------------------------------------------------------

    def read(self) -> None:
        """Book what has been written since the last time, entry by entry, and hold each law that is about it."""
        rows = self.clock.rows
        while self.booked < len(rows):
            at, kind, job, by, *_ = row = rows[self.booked]
            if kind is Kind.PREEMPTED and (not self.booked or self._differs(self.booked - 1, self.booked)):
                self._decided(at, by)
            try:
                self.account.book(row)
            except ImpossibleEntryError as error:
                raise BrokenLawError("instances_are_conserved", at, str(error)) from error
            self.booked += 1
            if kind is Kind.STARTED and self.booked > self.before:
                for law in (laws.within_bounds, laws.reserved_never_lent, laws.held_for_its_claimant):
                    self._hold(law.__name__, at, law(self.account, job))

    def _differs(self, one: int, other: int) -> bool:
        """Do these two entries belong to different decisions?"""
        rows = self.clock.rows
        return (rows[one][0], rows[one][1], rows[one][3]) != (rows[other][0], rows[other][1], rows[other][3])

    def _decided(self, at: float, by: int) -> None:
        rows, first = self.clock.rows, self.booked
        same = takewhile(lambda number: not self._differs(first, number), range(first, len(rows)))
        decision = Preemption(by, tuple(rows[number][2] for number in same))
        for law in (
            laws.no_futile_eviction,
            laws.victims_are_minimal,
            laws.only_lower_in_share,
            laws.only_over_limit_loses,
        ):
            self._hold(law.__name__, at, law(self.account, decision))

    def _hold(self, law: str, at: float, what: str | None) -> None:
        if what is not None:
            self.found(BrokenLawError(law, at, what))

    # --- after a pass -----------------------------------------------------------------------------------

    def settled(self, state: State, at: float) -> None:
        """The pass is over."""
        self.read()
        self.passes += 1
        if self.passes % (1 + len(self.account.jobs) // FULL) == 0:
            self._hold("instances_are_conserved", at, laws.instances_are_conserved(self.account, state))
            self._hold("no_claimant_is_left", at, laws.no_claimant_is_left(self.account))
            if state.waiting:
                self._more_passes(state, at, MORE_PASSES if self.passes % IN_FULL == 0 else 1)
        if self.also is not None:
            self.also(state, at)

    def _more_passes(self, state: State, at: float, many: int) -> None:
        """Look at every head anew; the engine's notes of whom it need not look at stay as they were."""
        passes, chooser = self.clock.passes, self.clock.passes.chooser
        notes = state.unsettled.copy(), state.owners.copy(), state.expectant.copy(), state.needs.copy()
        self.at_rest, passes.chooser = True, Rule()
        for _ in range(many):
            state.unsettled |= state.waiting
            passes.settle(at)
        self.at_rest, passes.chooser = False, chooser
        for kept, now in zip(notes[:3], (state.unsettled, state.owners, state.expectant), strict=True):
            now.clear()
            now.update(kept)
        state.needs[:] = notes[3]

    # --- at the end ---------------------------------------------------------------------------------------

    def ended(self) -> None:
        """The run is over."""
        self.read()
        self._hold("alone", self.clock.at, alone(self.clock, self.workload))


def alone(clock: Clock, workload: Workload) -> str | None:
    """R4: where everything is RESERVE and there is enough of it, each share does what it does without the others."""
    policy = clock.start_policy
    declaring = [update for update in workload.updates if not hasattr(update, "job")]
    tight = any(policy.sum_of_limits(unit) > policy.capacity(unit) for unit in policy.units)
    begun = Account(policy, workload, clock.choices).sum_of(
        n for n, job in enumerate(clock.jobs) if job.started is not None
    )
    over = any(count > policy.shares[share].limit(unit) for (share, unit), count in begun.items())
    apart = all(share.strategy == "RESERVE" for share in policy.shares.values()) and not (declaring or tight or over)
    if not apart or len(policy.shares) == 1 or workload.timing.queue_latency:
        return None  # with latency, what happens in one share may hasten the next decision on another
    together = _entries(clock)
    for name, share in policy.shares.items():
        jobs = tuple(job for job in workload.jobs if job.share == name)
        own = {job.name for job in jobs}
        updates = tuple(update for update in workload.updates if getattr(update, "job", None) in own)
        by_itself = Clock(
            policy.model_copy(update={"shares": {name: share}}),
            replace(workload, jobs=jobs, updates=updates),
            clock.choices,
            None,
        )
        run_unwatched(by_itself)
        if _entries(by_itself) != [entry for entry in together if entry[2] in own]:
            return f"{name} does something else without the other shares"
    return None


def _entries(clock: Clock) -> list[tuple[object, ...]]:
    names = [*(job.name for job in clock.jobs), None]
    return [(at, kind, names[job], names[by], *rest) for at, kind, job, by, *rest in clock.rows]


@contextmanager
def watched(found: Callable[[BrokenLawError], None]) -> Iterator[None]:
    """Every run of a clock keeps the laws; ``found`` is told what breaks them."""

    def run(clock: Clock) -> None:
        if type(clock) is not Clock:
            # a live clock learns its workload as it runs; a test of its own holds it to runs that are watched
            run_unwatched(clock)
            return
        watch = Watch(clock, found)
        run_unwatched(clock)
        watch.ended()

    with _runs_by(run):
        yield


def unwatched() -> AbstractContextManager[None]:
    """Runs are as they are."""
    return _runs_by(run_unwatched)


@contextmanager
def _runs_by(run: Callable[[Clock], None]) -> Iterator[None]:
    before, Clock.run = Clock.run, run  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Clock.run = before  # type: ignore[method-assign]
