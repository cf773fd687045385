"""One pass: moves are made one at a time until none is left (``scheduling.md``, One pass).

Whatever drives the pass (a clock, an exploration, an endpoint) is its *driver*: it is told what was
started and preempted, and says when capacity is released. Where AWS leaves open which move or which
victims come next, a *chooser* answers; the default takes the first move in the rule's order.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from math import inf
from typing import Final, NamedTuple, Protocol, Self

from policy_engine.scheduler.bounds import Bounds, Misfit
from policy_engine.scheduler.copying import copier
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.log import Why
from policy_engine.scheduler.state import ANY, INSIDE, NEVER, STARTS, WAITS, State
from policy_engine.scheduler.victims import Kind, Search

_NONE: Final = -1
MOVES_PER_JOB = 10
"""More moves than this at one instant, per job that was unfinished when it began, stop the engine with an error."""


class Move(NamedTuple):
    """A job that starts, with the jobs that are stopped for it."""

    job: int
    victims: Sequence[int] = ()
    claims: bool = False
    """It is a claimant whose victims have all stopped."""


class Driver(Protocol):
    """Who drives the pass."""

    def started(self, job: int) -> None:
        """The job was dispatched."""

    def preempted(self, job: int, victims: Sequence[tuple[int, Why]]) -> bool:
        """These were preempted for the job; true where they have released their capacity already."""

    def blocked(self, job: int, misfit: Misfit, *, known: bool) -> None:
        """The job is at the front of its share and can never fit; ``known``: this was said before."""


class Chooser(Protocol):
    """Who answers what AWS leaves open."""

    def move(self, moves: Iterator[Move], order: str) -> Move | None:
        """One of these moves, which come in the rule's order; None where there are none.

        ``order`` names the choice by which jobs are ordered (C1 or C2), or is empty where that is not open.
        """

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The sets of victims to consider, each legal, the rule's choice first."""


class Rule:
    """The default: the first move, and the one set that the rule of C8 chooses."""

    def move(self, moves: Iterator[Move], order: str) -> Move | None:  # noqa: ARG002 - the rule has ordered them
        """The first move."""
        return next(moves, None)

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The rule's choice alone."""
        chosen = search.chosen()
        return () if chosen is None else (chosen,)


def reasons(state: State, move: Move) -> list[tuple[int, Why]]:
    """Each victim of the move, and why it is stopped."""
    own = state.share_of[move.job]
    return [(v, Why.IN_SHARE if state.share_of[v] == own else Why.CROSS_SHARE) for v in move.victims]


def ends_inside(state: State, job: int, victims: Sequence[int]) -> bool:
    """Is the job's share inside its limit when these of its own jobs are stopped for the job?"""
    for cell, _, count in state.demand[job]:
        freed = sum(n for victim in victims for c, _, n in state.demand[victim] if c == cell)
        if state.after[cell] - freed + count > state.limit[cell]:
            return False
    return True


def stops_own_and_ends_inside(state: State, move: Move) -> bool:
    """Does it stop jobs of its own share alone, and leave the share inside its limit (move 2)?"""
    own = state.share_of[move.job]
    is_own = bool(move.victims) and all(state.share_of[victim] == own for victim in move.victims)
    return is_own and ends_inside(state, move.job, move.victims)


Looks = dict[int, int]
"""Head to what it can do (``State.look``): of heads that can start, or for which others might be stopped."""


class Pass:
    """The moves of one state, for one driver."""

    __slots__ = (
        "blocked_owners_keep",
        "chooser",
        "driver",
        "either_kind",
        "in_share_first",
        "instant",
        "jobs_then",
        "misfits",
        "moves",
        "one_head_each",
        "partly_borrowed",
        "state",
        "unasked",
    )

    def __new__(cls, *_: object, **__: object) -> Self:
        """Nothing set yet, as a copy begins; mypyc's own calls ``__init__``."""
        return super().__new__(cls)

    def __init__(self, state: State, driver: Driver, chooser: Chooser | None = None) -> None:
        self.state = state
        self.driver = driver
        self.chooser = chooser if chooser is not None else Rule()
        self.misfits: set[tuple[int, str]] = set()
        """(job, reason) already logged as blocked."""
        choices = state.choices
        self.partly_borrowed = choices.partly_borrowed == "yes"
        self.blocked_owners_keep = choices.blocked_owner_lends == "no"
        self.one_head_each = (
            choices.head_of_line == "strict" and not self.blocked_owners_keep and not self.partly_borrowed
        )
        """A share has one head, and what it can do depends on the usage alone."""
        self.unasked = self.one_head_each and isinstance(self.chooser, Rule)
        """The chooser need not be asked where there is one move."""
        self.either_kind = choices.reclaim_or_in_share == "any"
        self.in_share_first = choices.reclaim_or_in_share == "in_share_first"
        self.instant = -inf
        self.moves = 0
        """Made at this instant."""
        self.jobs_then = 0
        """At most so many jobs were unfinished when the instant began; counted once there are many moves."""

    def copy(self, state: State, driver: Driver) -> Pass:
        """The same pass over a copy of the state, for another driver."""
        twin = _copied(self)
        twin.state, twin.driver = state, driver
        return twin

    def settle(self, at: float) -> None:  # noqa: C901 - the inner loop
        """Make moves until none is left, at ``at`` seconds.

        Raises TooManyMovesError where one instant takes more than ten moves per job that was unfinished before.
        """
        state = self.state
        if not state.dispatching:
            return
        made = 0
        if at == self.instant:
            made = self.moves
        self.instant = at
        unsettled, freed, claims, unasked = state.unsettled, state.freed, state.claims, self.unasked
        if self.blocked_owners_keep:
            state.keep_for_blocked_owners()
        while unsettled or claims or freed:
            if claims and self._start_claimant(at):
                pass
            elif unasked:
                heads = {*unsettled, *state.roomy()} if freed else unsettled
                if len(heads) == 1:
                    (share,) = heads
                    job = -state.line[share][-1][3]
                elif heads:
                    job = self._first_head(heads)
                else:
                    break
                can = NEVER if job == _NONE else state.look(job)
                if can & STARTS:
                    if freed:
                        unsettled.add(state.share_of[job])
                    state.start(job, at)
                    self.driver.started(job)
                elif can == NEVER:
                    if not self._move(at):
                        break
                elif can & WAITS or not self._may_preempt(job, can):
                    state.settle(state.share_of[job], job, can)
                    continue
                elif not self._move_one_of({job: can}, at):
                    state.settle_stuck(state.share_of[job])
                    continue
            elif not self._move(at):
                break
            if self.blocked_owners_keep:
                state.keep_for_blocked_owners()
            made += 1
            if made > MOVES_PER_JOB and self._goes_round(made):
                raise TooManyMovesError(at, made)
        self.moves = made
        if unsettled or freed:
            state.settle_all()

    def _goes_round(self, made: int) -> bool:
        """Are these more moves at one instant than the jobs that it began with can need?"""
        if made == MOVES_PER_JOB + 1:
            self.jobs_then = self.state.unfinished() + made
        return made > MOVES_PER_JOB * self.jobs_then

    def look_for_moves(self) -> bool:
        """Ask the chooser for one move without making it; false where there is none."""
        state = self.state
        if not state.dispatching:
            return False
        if self.blocked_owners_keep:
            state.keep_for_blocked_owners()
        if state.claims and self.chooser.move(self._ready_claims(), "") is not None:
            return True
        looks: Looks = self._looks() if state.unsettled or state.freed else {}
        if looks and self._next_move(looks) is not None:
            return True
        state.settle_all()
        return False

    # --- moves ----------------------------------------------------------------------------------

    def _start_claimant(self, at: float) -> bool:
        """Move 0: a claimant whose victims have all stopped, oldest claim first."""
        move = self.chooser.move(self._ready_claims(), "")
        if move is None:
            return False
        self.make(move, at)
        return True

    def _ready_claims(self) -> Iterator[Move]:
        state = self.state
        for claim in state.claims:
            if not claim.outstanding and state.claimant_can_start(claim):
                yield Move(claim.job, claims=True)

    def _move(self, at: float) -> bool:
        """The next of moves 1 to 4; false where there is none."""
        looks = self._looks()
        return bool(looks) and self._move_one_of(looks, at)

    def _first_head(self, shares: Collection[int]) -> int:
        """The head that moves first of those of these shares, if it can: with it there is nothing to choose.

        None of them (-1) where that takes a look at them all: where one may stop jobs of its own share or can never
        fit.
        """
        if self.in_share_first:
            return _NONE
        state = self.state
        times = state.submitted if state.choices.idle_assignment == "submitted" else state.runnable_since
        inside: list[int] = []
        first, first_time = _NONE, inf
        for share in shares:
            job = -state.line[share][-1][3]
            # of those that are settled but for room, what is known still holds
            reach = state.reach(job) if share in state.unsettled or share in state.owners else 0
            if reach == NEVER or (state.in_share[share] and self._may_preempt_own(job)):
                return _NONE
            if reach:
                inside.append(job)
            elif times[job] < first_time or (times[job] == first_time and job < first):
                first, first_time = job, times[job]
        return self._in_order(inside)[0] if inside else first

    def _move_one_of(self, looks: Looks, at: float) -> bool:
        move = self._next_move(looks)
        if move is None:
            return False
        self.make(move, at)
        return True

    def make(self, move: Move, at: float) -> None:
        """Make one move."""
        if move.claims:
            claim = next(claim for claim in self.state.claims if claim.job == move.job)
            self.state.drop_claim(claim, started=True)
        if move.victims:
            self._preempt(move, at)
        else:
            self.state.start(move.job, at)
            self.driver.started(move.job)

    def _next_move(self, looks: Looks) -> Move | None:
        chooser = self.chooser
        inside = [
            job
            for job, can in looks.items()
            if can & INSIDE and (can & STARTS or self.either_kind or self._some_over(job))
        ]
        beyond = [job for job, can in looks.items() if can & STARTS and not can & INSIDE]
        stuck = [job for job, can in looks.items() if not can & STARTS and self._may_preempt_own(job)]
        move = None
        if inside:
            move = chooser.move(self._own_capacity(inside, looks, reclaim=not self.in_share_first), "share_order")
        if move is None and stuck:
            move = chooser.move(self._in_share(stuck, inside=True), "share_order")
        if move is None and inside and self.in_share_first:
            move = chooser.move(self._own_capacity(inside, looks, reclaim=True), "share_order")
        if move is None and beyond:
            move = chooser.move(self._borrowing(beyond), "idle_assignment")
        if move is None and self.partly_borrowed:
            move = chooser.move(self._reclaim_own_part(looks), "share_order")
        if move is None and stuck:
            move = chooser.move(self._in_share(stuck, inside=False), "share_order")
        return move

    def _some_over(self, job: int) -> bool:
        """Is some share over its limit on a unit of the job?"""
        for _, unit, _ in self.state.demand[job]:  # noqa: SIM110 - any() takes twice as long
            if self.state.over[unit]:
                return True
        return False

    def _own_capacity(self, jobs: list[int], looks: Looks, *, reclaim: bool) -> Iterator[Move]:
        """Move 1: heads inside their own limit start, or have other shares' jobs stopped."""

        def moves(job: int) -> Iterator[Move]:
            if looks[job] & STARTS:
                yield Move(job)
            elif reclaim:
                for victims in self._sets(job, Kind.CROSS):
                    yield Move(job, victims)
                if self.either_kind and self._may_preempt_own(job):
                    for victims in self._sets(job, Kind.OWN):
                        if ends_inside(self.state, job, victims):
                            yield Move(job, victims)
                    for victims in self._sets(job, Kind.MIXED):
                        yield Move(job, victims)

        return self._offers(jobs, moves)

    def _borrowing(self, jobs: list[int]) -> Iterator[Move]:
        """Move 3: heads that can start beyond their own limit, first come, first served (C2)."""
        first: dict[int, int] = {}
        for job in jobs:
            first.setdefault(self.state.share_of[job], job)
        for job in self._by_idle_assignment(list(first.values())):
            yield Move(job)

    def _in_share(self, jobs: list[int], *, inside: bool) -> Iterator[Move]:
        """Moves 2 (``inside``) and 4: heads that have lower-priority jobs of their share stopped."""

        def moves(job: int) -> Iterator[Move]:
            some = False
            for victims in self._sets(job, Kind.OWN):
                some = True
                if ends_inside(self.state, job, victims) is inside:
                    yield Move(job, victims)
            if not inside and not some:
                for victims in self._sets(job, Kind.MIXED):
                    yield Move(job, victims)

        return self._offers(jobs, moves)

    def _offers(self, jobs: list[int], moves: Callable[[int], Iterator[Move]]) -> Iterator[Move]:
        """The moves of each share's first job that has any, shares in the order of C1."""
        if self.state.choices.head_of_line == "strict":
            for job in self._in_order(jobs):
                yield from moves(job)
            return
        found: dict[int, list[Move]] = {}
        offering: set[int] = set()
        for job in jobs:
            share = self.state.share_of[job]
            if share not in offering and (some := list(moves(job))):
                offering.add(share)
                found[job] = some
        for job in self._in_order(list(found)):
            yield from found[job]

    def _reclaim_own_part(self, looks: Looks) -> Iterator[Move]:
        """C10 ``yes``: a head larger than its share's limit reclaims the part that is its own."""
        state = self.state

        def moves(job: int) -> Iterator[Move]:
            if looks[job] & (STARTS | INSIDE):
                return
            if any(count > state.limit[cell] for cell, _, count in state.demand[job]) and all(
                self.own_part_suffices(cell, unit, count) for cell, unit, count in state.demand[job]
            ):
                for victims in self._sets(job, Kind.CROSS, partly=True):
                    yield Move(job, victims)

        return self._offers(list(looks), moves)

    def own_part_suffices(self, cell: int, unit: int, count: int) -> bool:
        """Is all of the count that cannot be had back as the share's own idle without stopping anyone?"""
        state = self.state
        own = max(0, min(count, state.limit[cell] - state.after[cell]))
        room = state.room_after(cell, unit, state.pool_for(cell, unit, count))
        return room >= count or (own > 0 and room >= count - own)

    def _sets(self, job: int, kind: Kind, *, partly: bool = False) -> Iterable[Sequence[int]]:
        state = self.state
        if kind is not Kind.OWN and not self._some_over(job):
            return ()
        return self.chooser.sets(Search(state, job, kind, partly=partly))

    def _preempt(self, move: Move, at: float) -> None:
        state, job = self.state, move.job
        state.dequeue(job)
        kinds = reasons(state, move)
        for victim in move.victims:
            state.begin_stop(victim)
        if self.driver.preempted(job, kinds):
            state.start(job, at)
            self.driver.started(job)
        else:
            state.claim(job, move.victims)

    # --- heads ----------------------------------------------------------------------------------

    def _looks(self) -> Looks:
        """What each unsettled head can do; shares whose heads can do nothing are settled."""
        state = self.state
        looks: Looks = {}
        misfits: list[int] = []
        state.unsettled.update(state.roomy())
        state.freed.clear()
        for share in [*state.unsettled]:
            if self.one_head_each:
                self._look_at_head(share, looks, misfits)
            else:
                self._look_at_fronts(share, looks, misfits)
        for job in self._in_order(misfits):
            self._report_blocked(job)
        return looks

    def _look_at_head(self, share: int, looks: Looks, misfits: list[int]) -> None:
        state = self.state
        job = -state.line[share][-1][3]
        can = state.look(job)
        if can & STARTS or (can <= INSIDE and self._may_preempt(job, can)):
            looks[job] = can
            return
        if can == NEVER:
            misfits.append(job)
        state.settle(share, job, can)

    def _look_at_fronts(self, share: int, looks: Looks, misfits: list[int]) -> None:
        state = self.state
        state.needs[share] = ANY
        found = len(looks)
        for place, job in enumerate(state.fronts(share)):
            can = state.look(job)
            if can == NEVER:
                if place == 0 or state.choices.head_of_line == "per_unit":
                    misfits.append(job)
            elif can & STARTS or (can <= INSIDE and self._may_preempt(job, can)):
                looks[job] = can
        if len(looks) == found:
            state.unsettled.discard(share)
            for settled in state.settled_on:
                settled.add(share)
            state.owners.add(share)
            state.expectant.add(share)

    def _may_preempt(self, job: int, can: int) -> bool:
        """Could there be somebody to stop for a job that has no room?"""
        return self._may_preempt_own(job) or ((can & INSIDE > 0 or self.partly_borrowed) and self._some_over(job))

    def _may_preempt_own(self, job: int) -> bool:
        """Has the share in-share preemption, and a running job of lower priority on one of the units?"""
        state = self.state
        if state.in_share[state.share_of[job]]:
            priority = state.priority[job]
            for cell, _, _ in state.demand[job]:
                runners = state.runners[cell]
                if runners and runners[0][0] < priority:
                    return True
        return False

    def _report_blocked(self, job: int) -> None:
        state = self.state
        misfit = Bounds(state.policy, state.choices).never_fits(
            state.share_names[state.share_of[job]], state.jobs[job].demand
        )
        if misfit is not None:
            self.driver.blocked(job, misfit, known=(job, misfit.reason) in self.misfits)
            self.misfits.add((job, misfit.reason))

    # --- orders ---------------------------------------------------------------------------------

    def _in_order(self, jobs: list[int]) -> list[int]:
        """Heads in the order in which shares are offered capacity (C1); ties as the jobs are given."""
        if len(jobs) < 2:
            return jobs
        state = self.state
        match state.choices.share_order:
            case "declared":
                return sorted(jobs, key=lambda job: (state.share_of[job], job))
            case "name":
                return sorted(jobs, key=lambda job: (state.share_names[state.share_of[job]], job))
            case "least_used":
                return sorted(jobs, key=lambda job: (self._used_part(job), job))
        return sorted(jobs, key=lambda job: (state.submitted[job], job))

    def _used_part(self, job: int) -> float:
        """Usage now over limit, on the head's unit; the most used of several."""
        state = self.state
        return max(
            state.now[cell] / state.limit[cell] if state.limit[cell] else float("inf")
            for cell, _, _ in state.demand[job]
        )

    def _by_idle_assignment(self, jobs: list[int]) -> list[int]:
        """Borrowers first come, first served (C2); ties as the jobs are given."""
        if len(jobs) < 2:
            return jobs
        state = self.state
        times = state.submitted if state.choices.idle_assignment == "submitted" else state.runnable_since
        return sorted(jobs, key=lambda job: (times[job], job))


_copied: Final = copier(Pass, ("misfits",))
