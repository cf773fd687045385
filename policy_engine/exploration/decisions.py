"""What the scheduler may do next, asked once for everything that it depends on.

Where no time runs and nobody waits for a stop, a queue is a set of jobs that wait and a set of jobs that run. What may
be done next then depends on the usage and the heads of the lines; and, where jobs may be stopped, on which of them run.
So the pass is asked once for each of these, and its answer is remembered.

Sets of jobs are bits here: those of a share stand together, in the order of their places in its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from policy_engine.exploration.collecting import Collector, Remembering, independent
from policy_engine.exploration.keys import Keys
from policy_engine.exploration.watch import Watch
from policy_engine.scheduler.moves import Move
from policy_engine.scheduler.state import INSIDE, NEVER, STARTS, Phase, State
from policy_engine.simulation import Clock

_BITS: Final = 32
"""Of the number of a grouping; there is no memory for as many."""


class Step:
    """A move, and what it does to the sets of jobs."""

    __slots__ = ("gain", "is_plain", "move", "starter", "touches", "victims")

    def __init__(self, move: Move, starter: int, victims: int, gain: int, *, touches: bool) -> None:
        self.move = move
        self.starter = starter
        self.victims = victims
        self.gain = gain
        """How much more is used after it."""
        self.touches = touches
        """Might it break what is expected?"""
        self.is_plain = victims == 0 and not touches


class Decision:
    """The moves that are possible, or which jobs have to be known to tell."""

    __slots__ = ("by_jobs", "mask", "steps")

    def __init__(self, steps: list[Step], mask: int) -> None:
        self.steps = steps
        self.mask = mask
        """Where it depends on which of these jobs run."""
        self.by_jobs: dict[int, list[Step]] = {}


class Decisions:
    """The moves of every queue without times that is met on the way."""

    def __init__(
        self,
        clock: Clock,
        chooser: Collector,
        watch: Watch,
        keys: Keys,
        *,
        partial_order: bool,
    ) -> None:
        """The moves of queues that follow from the clock's, which is changed to ask for them.

        Args:
            clock: before anything has happened.
            chooser: whom its pass asks.
            watch: looks on; it can tell by the moves alone.
            keys: who may be interchanged, and each share's jobs in the order of their places.
            partial_order: make independent starts in one order alone.
        """
        self.clock, self.watch, self.keys, self.partial_order = clock, watch, keys, partial_order
        self.state = clock.state
        clock.passes.chooser = self.chooser = Remembering(chooser)
        self.jobs = [job for jobs in keys.order for job in jobs]
        """By place."""
        self.bit = [0] * len(self.jobs)
        for place, job in enumerate(self.jobs):
            self.bit[job] = 1 << place
        self.width: Final = len(self.jobs)
        self.of_share = [self.set_of(jobs) for jobs in keys.order]
        self.lines = [jobs for jobs in self.of_share if jobs]
        self.one_head_each = self.state.choices.head_of_line == "strict"
        self.groups_matter = keys.interchanges and keys.runners_are_alike
        """Of jobs that are interchangeable the first few stand for all."""
        if self.groups_matter:
            self.chooser.groups = self._groups_now
        self.grouped: list[dict[int, int]] = [{} for _ in keys.order]
        """Of each share a number for how its running jobs are interchanged, by those that wait and run."""
        self.groupings: dict[tuple[int, ...], int] = {}
        self.asked: tuple[int, int] = 0, 0
        """Those that wait and run where the pass is asked."""
        self.owners_keep = self.state.choices.blocked_owner_lends == "no"
        """What is kept depends on the heads too."""
        self.below = [self._below(job) for job in range(self.width)]
        self.weight = self._weights()
        """What each job uses, every cell in bits of its own."""
        self.waiting, self.running = 0, self.set_of(self._in_phase(Phase.RUNNING))
        self.known: dict[int, Decision] = {}
        """By usage and heads."""
        self.heads: dict[int, int] = {}
        self.looks: dict[tuple[int, int], tuple[bool, int]] = {}
        """By usage and job: can it start, and who may be stopped for it?"""
        self.steps: dict[tuple[int, int, int], Step] = {}
        """By the usage before, the job and its victims."""

    def _weights(self) -> list[int]:
        state = self.state
        sums = [0] * len(state.limit)
        for demand in state.demand:
            for cell, _, count in demand:
                sums[cell] += count
        shifts, shift = [], 0
        for most in sums:
            shifts.append(shift)
            shift += most.bit_length()
        return [sum(count << shifts[cell] for cell, _, count in demand) for demand in state.demand]

    def _in_phase(self, wanted: Phase) -> Iterator[int]:
        return (job for job, phase in enumerate(self.state.phase) if phase is wanted)

    def set_of(self, jobs: Iterable[int]) -> int:
        """The jobs as bits."""
        return sum(self.bit[job] for job in jobs)

    def jobs_of(self, bits: int) -> list[int]:
        """The jobs in order of their places."""
        found: list[int] = []
        while bits:
            lowest = bits & -bits
            found.append(self.jobs[lowest.bit_length() - 1])
            bits ^= lowest
        return found

    def of(self, waiting: int, running: int, usage: int) -> list[Step]:
        """The moves that are possible, of which any may be made."""
        heads = self.heads.get(waiting)
        if heads is None:
            heads = self.heads[waiting] = self._heads(waiting)
        key = usage << self.width | heads
        decision = self.known.get(key)
        if decision is None:
            decision = self.known[key] = self._decision(key if self.owners_keep else usage, heads, waiting, running)
        mask = decision.mask
        if not mask:
            return decision.steps
        jobs = running & mask
        if self.groups_matter:
            jobs = self._with_groups(jobs, waiting, running, mask)
        steps = decision.by_jobs.get(jobs)
        if steps is None:
            steps = self._steps(key if self.owners_keep else usage, waiting, running)
            decision.by_jobs[jobs] = steps
        return steps

    def _heads(self, waiting: int) -> int:
        """Those that wait on which the moves depend."""
        if not self.one_head_each:
            return waiting
        heads = 0
        for line in self.lines:
            of_line = waiting & line
            heads |= of_line & -of_line
        return heads

    def _with_groups(self, jobs: int, waiting: int, running: int, mask: int) -> int:
        """The jobs, and how those of the shares in the mask are interchanged while they run."""
        for share, of_share in enumerate(self.of_share):
            if of_share & mask:
                part = (waiting & of_share) << self.width | running & of_share
                number = self.grouped[share].get(part)
                if number is None:
                    number = self.grouped[share][part] = self._grouping(waiting & of_share, running & of_share)
                jobs = jobs << _BITS | number
        return jobs

    def _grouping(self, waiting: int, running: int) -> int:
        groups = self.keys.groups_of_phases(self.phases_of(waiting, running))
        first: dict[int, int] = {}
        grouping = tuple(first.setdefault(groups[job], job) for job in self.jobs_of(running))
        return self.groupings.setdefault(grouping, len(self.groupings))

    def _groups_now(self, _: State) -> list[int]:
        return self.keys.groups_of_phases(self.phases_of(*self.asked))

    def phases_of(self, waiting: int, running: int) -> list[Phase]:
        """Of each job its phase, where these wait and run and all others have ended."""
        phases = [Phase.ENDED] * self.width
        for job in self.jobs_of(waiting):
            phases[job] = Phase.WAITING
        for job in self.jobs_of(running):
            phases[job] = Phase.RUNNING
        return phases

    def _decision(self, usage: int, heads: int, waiting: int, running: int) -> Decision:
        starts, mask = False, 0
        for job in self.jobs_of(heads):
            look = self.looks.get((usage, job))
            if look is None:
                self._go_to(heads, running)
                look = self.looks[usage, job] = self._look(job)
            starts = starts or look[0]
            mask |= look[1]
        return Decision(self._steps(usage, waiting, running) if starts and not mask else [], mask)

    def _look(self, job: int) -> tuple[bool, int]:
        """Can the job start by itself; and which may be stopped for it, if they run?"""
        state = self.state
        if self.owners_keep:
            state.keep_for_blocked_owners()
        can = state.look(job)
        if can & STARTS:
            return True, 0
        if can == NEVER:
            return False, 0
        mask = self.below[job]
        if mask or can & INSIDE or self.clock.passes.partly_borrowed:
            for _, unit, _ in state.demand[job]:
                for other in state.over[unit]:
                    mask |= self.of_share[other]
        return False, mask

    def _below(self, job: int) -> int:
        """Jobs that may be stopped for one of their own share."""
        state = self.state
        share, priority = state.share_of[job], state.priority
        if not state.in_share[share]:
            return 0
        return self.set_of(other for other in self.jobs_of(self.of_share[share]) if priority[other] < priority[job])

    def _steps(self, usage: int, waiting: int, running: int) -> list[Step]:
        """Ask the pass."""
        heads = self.heads[waiting]
        self._go_to(heads, running)
        self.asked = waiting, running
        jobs = running | heads << self.width if self.owners_keep else running
        self.chooser.jobs = self._with_groups(jobs, waiting, running, -1) if self.groups_matter else jobs
        if not self.clock.passes.look_for_moves():
            return []
        moves = self.chooser.found
        if len(moves) > 1 and self.partial_order and independent(self.state, moves):
            moves = moves[:1]
        steps: list[Step] = []
        for move in moves:
            victims = self.set_of(move.victims) if move.victims else 0
            step = self.steps.get((usage, move.job, victims))
            if step is None:
                step = self.steps[usage, move.job, victims] = self._step(move, victims, heads, running)
            steps.append(step)
        return steps

    def _step(self, move: Move, victims: int, heads: int, running: int) -> Step:
        starter = self.bit[move.job]
        self._go_to(heads & ~starter, running & ~victims | starter)
        gain = self.weight[move.job] - sum(self.weight[victim] for victim in move.victims)
        return Step(move, starter, victims, gain, touches=self.watch.touches(self.state, move))

    def _go_to(self, waiting: int, running: int) -> None:
        """Bring the state to where these jobs wait and these run: as starts and ends do, whatever came in between."""
        state = self.state
        ended, started = self.running & ~running, running & ~self.running
        gone, come = self.waiting & ~waiting & ~running, waiting & ~self.waiting
        if ended:
            for job in self.jobs_of(ended):
                state.end(job)
        if gone:
            for job in self.jobs_of(gone):
                state.dequeue(job)
        if started:
            for job in self.jobs_of(started):
                state.start(job, 0.0)
        if come:
            for job in self.jobs_of(come):
                state.enqueue(job, state.submitted[job])
        state.unsettled |= state.waiting
        state.freed.clear()
        self.waiting, self.running = waiting, running
