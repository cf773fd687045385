"""Who collects the moves that the open choices allow, and which of them need be tried in one order alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby
from math import inf
from operator import attrgetter
from typing import Final

from policy_engine.exploration.sets import minimal_sets
from policy_engine.scheduler.moves import Move, ends_inside, stops_own_and_ends_inside
from policy_engine.scheduler.state import State
from policy_engine.scheduler.victims import Kind as Victims
from policy_engine.scheduler.victims import Search

_job_of: Final = attrgetter("job")


class Collector:
    """Collects every move that the open choices allow at a step of the pass."""

    def __init__(self, open_choices: frozenset[str]) -> None:
        self.open = open_choices
        self.found: list[Move] = []
        self.groups: Callable[[State], Sequence[int] | None] = lambda _: None
        """Tells which jobs are interchangeable."""
        self.until = inf
        """The time (``time.monotonic``) at which to stop; then OutOfTimeError is raised."""
        self.passed_over: list[Move] = []
        """Moves of steps before this one that another answer would not have made."""
        self.left_beyond: set[int] = set()
        """Jobs for which there are victims of their own share that leave it beyond its limit."""
        self.state: State | None = None

    def move(self, moves: Iterator[Move], order: str) -> Move | None:
        """The first; all that are allowed are in ``found``.

        None although there are some where a later step may be reached all the same: a head stops jobs of its own share
        in step 2 only if those that were chosen leave it inside its limit, and others might not.
        """
        if order in self.open:
            offered = list(moves)
            may_pass = bool(self.left_beyond) and all(
                self._may_pass(job, list(of_job)) for job, of_job in groupby(offered, key=_job_of)
            )
        else:
            offered, may_pass = self._of_first_share(moves, order)
        if not offered:
            return None
        if may_pass:
            self.passed_over += offered
            return None
        self.found = [*self.passed_over, *offered] if self.passed_over else offered
        self.passed_over = []
        return offered[0]

    def _of_first_share(self, moves: Iterator[Move], order: str) -> tuple[list[Move], bool]:
        """The moves of the first job, and of the next where these may be passed over; may all of them be?"""
        if order == "":
            first = next(moves, None)
            return [] if first is None else [first], False
        offered: list[Move] = []
        may_pass = True
        for job, of_job in groupby(moves, key=_job_of):
            some = list(of_job)
            offered += some
            may_pass = self._may_pass(job, some)
            if not may_pass:
                break
        return offered, may_pass

    def _may_pass(self, job: int, moves: Sequence[Move]) -> bool:
        """Are these moves of step 2, and might others have been chosen that are not?"""
        state = self.state
        if state is None or job not in self.left_beyond:
            return False
        return all(stops_own_and_ends_inside(state, move) for move in moves)

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """Every minimal legal set, where victims are open."""
        if "victims" in self.open:
            return self._minimal_sets(search)
        chosen = search.chosen()
        return () if chosen is None else (chosen,)

    def _minimal_sets(self, search: Search) -> Iterator[Sequence[int]]:
        self.state = search.state
        self.left_beyond.discard(search.job)
        for victims in minimal_sets(search, self.groups(search.state), self.until):
            if search.kind is Victims.OWN and not ends_inside(search.state, search.job, victims):
                self.left_beyond.add(search.job)
            yield victims


class Remembering(Collector):
    """Looks for the sets of victims once for each claimant and the jobs that they depend on."""

    def __init__(self, of: Collector) -> None:
        """``of``: what is open, and who are interchangeable."""
        super().__init__(of.open)
        self.groups, self.until = of.groups, of.until
        self.jobs = 0
        """What the sets depend on: the jobs that run, and which of them are interchangeable."""
        self.known: dict[tuple[int, int, int, bool], tuple[Sequence[Sequence[int]], bool]] = {}
        """The sets, and whether some of them leave the share beyond its limit."""

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The same, remembered."""
        key = (self.jobs, search.job, search.kind.value, search.partly)
        known = self.known.get(key)
        if known is None:
            known = self.known[key] = tuple(super().sets(search)), search.job in self.left_beyond
        found, leaves_beyond = known
        self.state = search.state
        (self.left_beyond.add if leaves_beyond else self.left_beyond.discard)(search.job)
        return found


def independent(state: State, moves: Sequence[Move]) -> bool:
    """Are these starts of heads inside their own limits, each possible whatever the others do?

    So it is where the room suffices for all idle capacity of all shares: nothing of it is lent or held.
    """
    if state.claims or any(move.victims for move in moves):
        return False
    for move in moves:
        for cell, unit, count in state.demand[move.job]:
            if state.now[cell] + count > state.limit[cell]:
                return False
            idle = sum(
                max(0, state.limit[other] - state.now[other])
                for cells in state.cells_of
                for other, of_unit in cells
                if of_unit == unit
            )
            if idle > state.pool[unit] - state.now_total[unit]:
                return False
    return True
