"""Everything that can happen where no time runs: a state is which jobs wait and which run.

So it is where every duration is open, stops and starts take no time, and the choices are open by which orders matter.
States are then made of two sets of jobs alone, and what may be done next is remembered; the states, and the order in
which they are come to, are those of ``Space``. A clock is made only of what is to be shown, by going the way again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import inf
from time import monotonic
from typing import Any, Final, TypeAlias

from policy_engine.exploration.collecting import Collector
from policy_engine.exploration.decisions import Decisions, Step
from policy_engine.exploration.explored import Bounds, Explored, circle
from policy_engine.exploration.keys import Keys
from policy_engine.exploration.sets import OutOfTimeError
from policy_engine.exploration.times import LATER, between
from policy_engine.exploration.watch import Watch
from policy_engine.scheduler.moves import Move
from policy_engine.scheduler.victims import Search
from policy_engine.simulation import Clock

_NONE: Final = -1

# What comes before in a chain is Any: mypyc has no recursive types.
Made: TypeAlias = tuple[Any, Step] | None
"""The moves made at an instant, the last one first."""
Instant: TypeAlias = tuple[Any, float, int, Made]
"""The way before an instant, its time in seconds, the job that ended then (-1: none), and the moves made."""
Way: TypeAlias = Instant | None
Reached: TypeAlias = tuple[int, int, int, int, int, Instant]
"""A state: groups of jobs that have come, jobs that wait, that run, the usage, the depth, and the way there."""


Underway: TypeAlias = tuple[int, int, int, Made, tuple[int, ...]]
"""Between two moves: jobs that wait, that run, the usage, the moves made, and the keys after preemptions."""

_NO_STEPS: Final[list[Step]] = []
_BITS: Final = 32
"""Of the number of a share's jobs that wait and run; there is no memory for as many."""


class BrokenError(Exception):
    """What is expected is broken where the clock stands."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock)
        self.clock = clock


class InexactError(Exception):
    """By its moves alone a way might have broken what is expected, and has not: the moves do not tell enough."""


class Guide:
    """Knows what comes next."""

    def __init__(self) -> None:
        self.next: Move | None = None

    def move(self, moves: Iterator[Move], order: str) -> Move | None:  # noqa: ARG002
        """The move that was made."""
        return self.next

    def sets(self, search: Search) -> Iterable[Sequence[int]]:  # noqa: ARG002
        """No set is asked for."""
        return ()


class Untimed:
    """One exploration without times."""

    def __init__(
        self, start: Clock, chooser: Collector, keys: Keys, watch: Watch, until: float, *, partial_order: bool
    ) -> None:
        """An exploration that goes on from the clock's state, which stays as it is.

        Args:
            start: before anything has happened.
            chooser: whom its pass asks.
            keys: where they may interchange jobs and shares.
            watch: looks on; it can tell by the moves alone.
            until: seconds at which the run ends.
            partial_order: make independent starts in one order alone.
        """
        self.start, self.keys, self.watch, self.until = start, keys, watch, until
        self.decisions = Decisions(start.copy(), chooser, watch, keys, partial_order=partial_order)
        self.width = self.decisions.width
        self.due: list[float] = []
        """When jobs come; last, infinity."""
        self.coming: list[int] = []
        self._see_what_comes()
        self.ends = [(job, self.decisions.bit[job], self.decisions.weight[job]) for job in range(len(start.jobs))]
        self.interchanges = keys.interchanges
        self.known_shares: list[dict[int, int]] = [{} for _ in keys.order]
        self.numbers: dict[tuple[int, ...], int] = {}
        self.met: set[int] = set()
        """States in which a job has just ended, before the pass that follows."""
        self.seen: set[int] = set()
        self.frontier: deque[Reached] = deque()
        self.is_touched = False
        """Has any move been made that might have broken what is expected?"""
        self.endless: str | None = None
        self.result = Explored()
        self.ends_by = inf

    def _see_what_comes(self) -> None:
        start, bit = self.start, self.decisions.bit
        for at, jobs in groupby(reversed(start.arrivals), key=lambda job: start.submit[job]):
            self.due.append(at if at < LATER else inf)
            self.coming.append(sum(bit[job] for job in jobs if start.accepts[start.state.share_of[job]]))
        self.due.append(inf)

    def explore(self, bounds: Bounds, result: Explored) -> None:
        """Breadth first, so that what is found broken is found on a shortest way.

        Raises BrokenError, OutOfTimeError; and InexactError where only clocks can tell what is broken.
        """
        self.result, self.ends_by = result, bounds.until
        running = self.decisions.running
        usage = sum(weight for _, bit, weight in self.ends if bit & running)
        self.seen.add(self._key(0, 0, running))
        self.frontier.append((0, 0, running, usage, 0, (None, self.start.at, _NONE, None)))
        while self.frontier:
            rest = self.frontier.popleft()
            result.states += 1
            result.depth = max(result.depth, rest[4])
            if bounds.spent + result.states >= bounds.max_states:
                result.unsettled = f"--max-states {bounds.max_states} was reached"
                return
            self._go_on(rest)
        result.unsettled, result.is_endless = self.endless, self.endless is not None

    def _go_on(self, rest: Reached) -> None:
        """Let everything happen that may be next."""
        stage, waiting, running, usage, depth, way = rest
        now, due, until = way[1], self.due[stage], self.until
        soon = between(now, min(due, until), 0.0) if running and now < until else None
        if soon is not None:
            for job, bit, weight in self._new_ends(stage, waiting, running):
                self._pass((stage, waiting, running ^ bit, usage - weight, depth + 1, (way, soon, job, None)))
        if due <= until and due < inf:
            come = waiting | self.coming[stage]
            self._pass((stage + 1, come, running, usage, depth + 1, (way, due, _NONE, None)))

    def _new_ends(self, stage: int, waiting: int, running: int) -> list[tuple[int, int, int]]:
        """Jobs that leave a state that was not met before its pass; else what follows from it is known."""
        met, interchanges = self.met, self.interchanges
        here = 0 if interchanges else self._key(stage, waiting, running)
        found: list[tuple[int, int, int]] = []
        for end in self.ends:
            bit = end[1]
            if running & bit:
                key = self._key(stage, waiting, running ^ bit) if interchanges else here ^ bit
                if key not in met:
                    met.add(key)
                    found.append(end)
        return found

    def _pass(self, begin: Reached) -> None:
        """Make every move that may be made, until none is left."""
        moves_of = self.decisions.of
        stage, waiting, running, usage, depth, way = begin
        made: Made = None
        been: tuple[int, ...] = ()
        others: list[Underway] = []
        seen: set[int] = set()
        while True:
            steps = moves_of(waiting, running, usage) if waiting else _NO_STEPS
            if steps:
                if len(steps) > 1:
                    now: Underway = (waiting, running, usage, made, been)
                    for step in steps[1:]:
                        other = self._after(now, step, stage, way)
                        if other is not None and (key := self._key(stage, other[0], other[1])) not in seen:
                            seen.add(key)
                            others.append(other)
                step = steps[0]
                if step.is_plain:
                    waiting ^= step.starter
                    running |= step.starter
                    usage += step.gain
                    made = (made, step)
                    continue
                after = self._after((waiting, running, usage, made, been), step, stage, way)
                if after is not None:
                    waiting, running, usage, made, been = after
                    continue
            else:
                here = way if made is None else (way[0], way[1], way[2], made)
                self._come_to_rest((stage, waiting, running, usage, depth, here))
            if not others:
                return
            waiting, running, usage, made, been = others.pop()

    def _after(self, now: Underway, step: Step, stage: int, way: Instant) -> Underway | None:
        """The state after the move; None where preemptions go round in a circle."""
        waiting, running, usage, made, been = now
        waiting = (waiting | step.victims) ^ step.starter
        running = (running ^ step.victims) | step.starter
        made = (made, step)
        if step.touches:
            self._look_at_move((way[0], way[1], way[2], made), step.move)
        if step.victims:
            key = self._key(stage, waiting, running)
            if key in been:
                self._note_circle(made, way[1])
                return None
            been = (*been, key)
        return waiting, running, usage + step.gain, made, been

    def _note_circle(self, made: Made, at: float) -> None:
        stops: list[tuple[int, int]] = []
        while made is not None:
            made, step = made
            stops += [(victim, step.move.job) for victim in step.move.victims]
        self.endless = circle(stops, self.start.jobs, at)

    def _come_to_rest(self, rest: Reached) -> None:
        if self.is_touched:
            self._look_at_rest(rest[5])
        result = self.result
        result.transitions += 1
        if result.transitions & 63 == 0 and monotonic() > self.ends_by:
            raise OutOfTimeError
        key, seen = self._key(rest[0], rest[1], rest[2]), self.seen
        if key not in seen:
            seen.add(key)
            self.frontier.append(rest)

    # --- keys -----------------------------------------------------------------------------------

    def _key(self, stage: int, waiting: int, running: int) -> int:
        """The same for two states with the same future."""
        if not self.interchanges:
            return (stage << self.width | waiting) << self.width | running
        found: list[int] = []
        for share, jobs in enumerate(self.decisions.of_share):
            part = (waiting & jobs) << self.width | running & jobs
            number = self.known_shares[share].get(part)
            if number is None:
                number = self._number(share, part)
            found.append(number)
        self.keys.interchange(found)
        key = stage
        for number in found:
            key = key << _BITS | number
        return key

    def _number(self, share: int, part: int) -> int:
        """Of a share's jobs that wait and that run, interchangeable ones taken for one another."""
        phases = self.decisions.phases_of(part >> self.width, part & (1 << self.width) - 1)
        number = self.numbers.setdefault(self.keys.share_of_phases(share, phases), len(self.numbers))
        self.known_shares[share][part] = number
        return number

    # --- what may be broken ---------------------------------------------------------------------

    def _look_at_move(self, way: Instant, move: Move) -> None:
        self.is_touched = True
        if self.watch.at_rest:
            return
        clock, _ = self._gone(way, to_rest=False)
        if self.watch.moved(clock, move):
            raise BrokenError(clock)

    def _look_at_rest(self, way: Instant) -> None:
        if not _touches(way[3]):
            return
        clock, began = self._gone(way, to_rest=True)
        if not self.watch.settled(clock, began, way[1] if way[2] == _NONE else None):
            raise InexactError
        raise BrokenError(clock)

    def _gone(self, last: Instant, *, to_rest: bool) -> tuple[Clock, int]:
        """A clock that has gone this way, and the first row of its log that is of the last instant."""
        instants: list[Instant] = []
        way: Way = last
        while way is not None:
            instants.append(way)
            way = way[0]
        clock, began = self.start.copy(), 0
        instants.pop()  # the start
        clock.passes.chooser = guide = Guide()
        for instant in reversed(instants):
            _, at, ended, made = instant
            began = len(clock.rows)
            clock.pass_over(at, None if ended == _NONE else ended)
            for move in _moves(made):
                guide.next = move
                clock.passes.look_for_moves()  # which notes who is blocked
                clock.passes.make(move, at)
            if to_rest or instant is not last:
                guide.next = None
                clock.passes.look_for_moves()
        return clock, began


def _touches(made: Made) -> bool:
    while made is not None:
        made, step = made
        if step.touches:
            return True
    return False


def _moves(made: Made) -> list[Move]:
    """In the order in which they were made."""
    found: list[Move] = []
    while made is not None:
        made, step = made
        found.append(step.move)
    return found[::-1]
