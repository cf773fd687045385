"""One pass: moves are made one at a time until none is left (``scheduling.md``, One pass).

Whatever drives the pass (a clock, an exploration, an endpoint) is its *driver*: it is told what was
started and preempted, and says when capacity is released. Where AWS leaves open which move or which
victims come next, a *chooser* answers; the default takes the first move in the rule's order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Final, NamedTuple, Protocol, Self

from policy_engine.scheduler.bounds import Bounds, Misfit
from policy_engine.scheduler.copying import copier
from policy_engine.scheduler.endless import TooManyMovesError as TooManyMovesError  # importable from here too
from policy_engine.scheduler.log import Why
from policy_engine.scheduler.state import ANY, INSIDE, NEVER, STARTS, WAITS, State
from policy_engine.scheduler.victims import Kind, Search

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


class Look(NamedTuple):
    """What a head can do that will not fit by waiting for what is under way."""

    job: int
    inside: bool
    """It would leave its share within its own limit."""
    starts: bool
    """There is bound and room for it now."""


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
        unsettled, woken, claims, unasked = state.unsettled, state.woken, state.claims, self.unasked
        if self.blocked_owners_keep:
            state.keep_for_blocked_owners()
        while unsettled or claims or woken:
            if claims and self._start_claimant(at):
                pass
            elif unasked and len(unsettled) == 1 and not woken:
                # Only this head might move: where it starts there is nothing to choose.
                (share,) = unsettled
                job = -state.line[share][-1][3]
                can = state.look(job)
                if can & STARTS:
                    state.start(job, at)
                    self.driver.started(job)
                elif can & WAITS or (can != NEVER and not self._may_preempt(job, can)):
                    state.settle(share, job, can)
                    continue
                elif not (self._move(at) if can == NEVER else self._move_one_of([Look(job, can > 0, False)], at)):
                    break
            elif not self._move(at):
                break
            if self.blocked_owners_keep:
                state.keep_for_blocked_owners()
            made += 1
            if made > MOVES_PER_JOB and self._goes_round(made):
                raise TooManyMovesError(at, made)
        self.moves = made
        if unsettled or woken:
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
        looks = self._looks() if state.unsettled or state.woken else []
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
        if self.unasked and len(looks) == 1 and looks[0].starts:
            # what starts by itself has no other move
            self.state.start(looks[0].job, at)
            self.driver.started(looks[0].job)
            return True
        return bool(looks) and self._move_one_of(looks, at)

    def _move_one_of(self, looks: list[Look], at: float) -> bool:
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

    def _next_move(self, looks: list[Look]) -> Move | None:
        chooser = self.chooser
        inside = [
            look for look in looks if look.inside and (look.starts or self.either_kind or self._some_over(look.job))
        ]
        beyond = [look for look in looks if look.starts and not look.inside]
        stuck = [look for look in looks if not look.starts and self._may_preempt_own(look)]
        move = None
        if inside:
            move = chooser.move(self._own_capacity(inside, reclaim=not self.in_share_first), "share_order")
        if move is None and stuck:
            move = chooser.move(self._in_share(stuck, inside=True), "share_order")
        if move is None and inside and self.in_share_first:
            move = chooser.move(self._own_capacity(inside, reclaim=True), "share_order")
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

    def _own_capacity(self, looks: list[Look], *, reclaim: bool) -> Iterator[Move]:
        """Move 1: heads inside their own limit start, or have other shares' jobs stopped."""

        def moves(look: Look) -> Iterator[Move]:
            if look.starts:
                yield Move(look.job)
            elif reclaim:
                for victims in self._sets(look.job, Kind.CROSS):
                    yield Move(look.job, victims)
                if self.either_kind and self._may_preempt_own(look):
                    for victims in self._sets(look.job, Kind.OWN):
                        if ends_inside(self.state, look.job, victims):
                            yield Move(look.job, victims)
                    for victims in self._sets(look.job, Kind.MIXED):
                        yield Move(look.job, victims)

        return self._offers(looks, moves)

    def _borrowing(self, looks: list[Look]) -> Iterator[Move]:
        """Move 3: heads that can start beyond their own limit, first come, first served (C2)."""
        first: dict[int, Look] = {}
        for look in looks:
            first.setdefault(self.state.share_of[look.job], look)
        for look in self._by_idle_assignment(list(first.values())):
            yield Move(look.job)

    def _in_share(self, looks: list[Look], *, inside: bool) -> Iterator[Move]:
        """Moves 2 (``inside``) and 4: heads that have lower-priority jobs of their share stopped."""

        def moves(look: Look) -> Iterator[Move]:
            some = False
            for victims in self._sets(look.job, Kind.OWN):
                some = True
                if ends_inside(self.state, look.job, victims) is inside:
                    yield Move(look.job, victims)
            if not inside and not some:
                for victims in self._sets(look.job, Kind.MIXED):
                    yield Move(look.job, victims)

        return self._offers(looks, moves)

    def _offers(self, looks: list[Look], moves: Callable[[Look], Iterator[Move]]) -> Iterator[Move]:
        """The moves of each share's first job that has any, shares in the order of C1."""
        if self.state.choices.head_of_line == "strict":
            for look in self._in_order(looks):
                yield from moves(look)
            return
        offered: dict[int, tuple[Look, list[Move]]] = {}
        for look in looks:
            share = self.state.share_of[look.job]
            if share not in offered and (some := list(moves(look))):
                offered[share] = (look, some)
        found = {look.job: some for look, some in offered.values()}
        for look in self._in_order([look for look, _ in offered.values()]):
            yield from found[look.job]

    def _reclaim_own_part(self, looks: list[Look]) -> Iterator[Move]:
        """C10 ``yes``: a head larger than its share's limit reclaims the part that is its own."""
        state = self.state

        def moves(look: Look) -> Iterator[Move]:
            if look.starts or look.inside:
                return
            if any(count > state.limit[cell] for cell, _, count in state.demand[look.job]) and all(
                self.own_part_suffices(cell, unit, count) for cell, unit, count in state.demand[look.job]
            ):
                for victims in self._sets(look.job, Kind.CROSS, partly=True):
                    yield Move(look.job, victims)

        return self._offers(looks, moves)

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
        share = state.share_of[job]
        kinds = [(v, Why.IN_SHARE if state.share_of[v] == share else Why.CROSS_SHARE) for v in move.victims]
        for victim in move.victims:
            state.begin_stop(victim)
        if self.driver.preempted(job, kinds):
            state.start(job, at)
            self.driver.started(job)
        else:
            state.claim(job, move.victims)

    # --- heads ----------------------------------------------------------------------------------

    def _looks(self) -> list[Look]:
        """What each unsettled head can do; shares whose heads can do nothing are settled."""
        state = self.state
        looks: list[Look] = []
        misfits: list[Look] = []
        if state.woken:
            self._wake(looks, misfits)
        looked = {state.share_of[look.job] for look in looks}
        for share in [share for share in state.unsettled if share not in looked]:
            if self.one_head_each:
                self._look_at_head(share, looks, misfits)
            else:
                self._look_at_fronts(share, looks, misfits)
        for look in self._in_order(misfits):
            self._report_blocked(look.job)
        return looks

    def _wake(self, looks: list[Look], misfits: list[Look]) -> None:
        """See which of the heads that an end may have made room for can move.

        Where nobody has to be asked, the first of those beyond their limits that starts is enough: the others come
        after it.
        """
        state = self.state
        state.woken -= state.unsettled
        if not self.unasked:
            state.unsettled |= state.woken
            state.woken.clear()
            return
        times = state.submitted if state.choices.idle_assignment == "submitted" else state.runnable_since
        heads = [
            (share not in state.owners, times[job], job)
            for share in state.woken
            for job in (-state.line[share][-1][3],)
        ]
        for is_borrower, _, job in sorted(heads):
            share = state.share_of[job]
            state.woken.remove(share)
            if state.lacks_room(share):
                continue
            found = len(looks)
            self._look_at_head(share, looks, misfits)
            if len(looks) > found:
                state.unsettled.add(share)
                if is_borrower and looks[-1].starts:
                    return

    def _look_at_head(self, share: int, looks: list[Look], misfits: list[Look]) -> None:
        state = self.state
        job = -state.line[share][-1][3]
        can = state.look(job)
        if can & STARTS or (can <= INSIDE and self._may_preempt(job, can)):
            looks.append(Look(job, can & INSIDE > 0, can & STARTS > 0))
            return
        if can == NEVER:
            misfits.append(Look(job, inside=False, starts=False))
        state.settle(share, job, can)

    def _look_at_fronts(self, share: int, looks: list[Look], misfits: list[Look]) -> None:
        state = self.state
        state.needs[share] = ANY
        found = len(looks)
        for place, job in enumerate(state.fronts(share)):
            can = state.look(job)
            if can == NEVER:
                if place == 0 or state.choices.head_of_line == "per_unit":
                    misfits.append(Look(job, inside=False, starts=False))
            elif can & STARTS or (can <= INSIDE and self._may_preempt(job, can)):
                looks.append(Look(job, can & INSIDE > 0, can & STARTS > 0))
        if len(looks) == found:
            state.unsettled.discard(share)
            for settled in state.settled_on:
                settled.add(share)
            state.owners.add(share)
            state.expectant.add(share)

    def _may_preempt(self, job: int, can: int) -> bool:
        """Could there be somebody to stop for a job that has no room?"""
        state = self.state
        if state.in_share[state.share_of[job]]:
            priority = state.priority[job]
            for cell, _, _ in state.demand[job]:
                runners = state.runners[cell]
                if runners and runners[0][0] < priority:
                    return True
        if can & INSIDE or self.partly_borrowed:
            for _, unit, _ in state.demand[job]:
                if state.over[unit]:
                    return True
        return False

    def _may_preempt_own(self, look: Look) -> bool:
        """Has the share in-share preemption, and a running job of lower priority on one of the units?"""
        state, job = self.state, look.job
        if not state.in_share[state.share_of[job]]:
            return False
        priority = state.priority[job]
        return any(state.runners[cell] and state.runners[cell][0][0] < priority for cell, _, _ in state.demand[job])

    def _report_blocked(self, job: int) -> None:
        state = self.state
        misfit = Bounds(state.policy, state.choices).never_fits(
            state.share_names[state.share_of[job]], state.jobs[job].demand
        )
        if misfit is not None:
            self.driver.blocked(job, misfit, known=(job, misfit.reason) in self.misfits)
            self.misfits.add((job, misfit.reason))

    # --- orders ---------------------------------------------------------------------------------

    def _in_order(self, looks: list[Look]) -> list[Look]:
        """Heads in the order in which shares are offered capacity (C1); ties as the jobs are given."""
        if len(looks) < 2:
            return looks
        state = self.state
        match state.choices.share_order:
            case "declared":
                return sorted(looks, key=lambda look: (state.share_of[look.job], look.job))
            case "name":
                return sorted(looks, key=lambda look: (state.share_names[state.share_of[look.job]], look.job))
            case "least_used":
                return sorted(looks, key=lambda look: (self._used_part(look.job), look.job))
        return sorted(looks, key=lambda look: (state.submitted[look.job], look.job))

    def _used_part(self, job: int) -> float:
        """Usage now over limit, on the head's unit; the most used of several."""
        state = self.state
        return max(
            state.now[cell] / state.limit[cell] if state.limit[cell] else float("inf")
            for cell, _, _ in state.demand[job]
        )

    def _by_idle_assignment(self, looks: list[Look]) -> list[Look]:
        """Borrowers first come, first served (C2); ties as the jobs are given."""
        if len(looks) < 2:
            return looks
        state = self.state
        times = state.submitted if state.choices.idle_assignment == "submitted" else state.runnable_since
        return sorted(looks, key=lambda look: (times[look.job], look.job))


_copied: Final = copier(Pass, ("misfits",))
