"""Follows a record: the scheduler makes the recorded moves, and says where its rules do not allow one.

The record says when jobs came and when attempts ended; that is taken as it is. When jobs start and whom a job stops is
the scheduler's to decide: it may make no move that is not recorded, and must leave none out. A recorded start or stop
may come up to the tolerance after the move that caused it, so that at an instant there may be several ways to go on;
all of them are followed side by side. Where none is left, the record is not reachable.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, takewhile
from math import inf
from typing import Final

from policy_engine.conforming.record import Record, RecordedAttempt
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Misfit
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Update, UpdatePriority, UpdateServiceEnvironment, UpdateShare
from policy_engine.scheduler.log import Why
from policy_engine.scheduler.moves import Move, Pass
from policy_engine.scheduler.state import Phase, State
from policy_engine.scheduler.victims import Kind, Search, above_limit
from policy_engine.simulation import updated_environment, updated_share

MOST_WAYS: Final = 64
"""Ways to go on that are followed side by side."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """The decision that the rules do not allow. Seconds from the first submission."""

    at: float
    job: str
    """The job of which something else is recorded than the rules say."""
    happened: str
    """What is recorded."""
    expected: str
    """What the rules say there."""


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a record could be followed."""

    contradiction: Contradiction | None
    """None where all of it is reachable."""
    is_certain: bool = True
    """Were all ways to go on followed?"""


@dataclass(frozen=True, slots=True)
class Window:
    """When the move that starts an attempt may have been made; milliseconds, both ends included."""

    opens: int
    closes: int
    ran: int | None
    """When it ran, by which victims may be chosen; None where it was stopped before it did."""


class Timeline:
    """The record as the scheduler meets it: what happens at which instant, whatever is decided."""

    def __init__(
        self, record: Record, *, tolerance: int = 0, stop_within: int = 0, updates: Sequence[Update] = ()
    ) -> None:
        """``tolerance``, ``stop_within``: milliseconds from a decision to the recorded start, and to the stop."""
        self.record = record
        self.updates: defaultdict[int, list[Update]] = defaultdict(list)
        """What was done to the queue and to priorities; a job's own before it comes count when it does."""
        for update in updates:
            self.updates[round(update.at * 1000)].append(update)
        self.tolerance = tolerance
        self.stop_within = stop_within
        self.jobs = [recorded.job for recorded in record.jobs]
        self.attempts: list[list[RecordedAttempt]] = [list(job.attempts) for job in record.jobs]
        self.windows: list[list[Window]] = [list(self._windows(number)) for number in range(len(self.jobs))]
        self.stops: list[list[int | None]] = [
            [self._stop(attempt) for attempt in attempts] for attempts in self.attempts
        ]
        self.submitted: defaultdict[int, list[int]] = defaultdict(list)
        self.ended: defaultdict[int, list[int]] = defaultdict(list)
        """Jobs of which an attempt ends at the instant."""
        self.gone: defaultdict[int, list[int]] = defaultdict(list)
        """Jobs that are terminated while they wait."""
        self.closing: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        """(job, attempt) that must have started by the instant."""
        instants: set[int] = set(self.updates)
        for number, recorded in enumerate(record.jobs):
            self.submitted[recorded.submit].append(number)
            instants.add(recorded.submit)
            for place, window in enumerate(self.windows[number]):
                self.closing[window.closes].append((number, place))
                instants |= {window.opens, window.closes}
                stop = self.stops[number][place]
                if stop is not None:
                    self.ended[stop].append(number)
                    instants |= {stop, max(stop - stop_within, window.opens)}
            last = self.stops[number][-1] if self.stops[number] else None
            if recorded.end is not None and (last is None or recorded.end > last):
                self.gone[recorded.end].append(number)
                instants.add(recorded.end)
        self.instants = sorted(instants)
        self.numbers = {job.name: number for number, job in enumerate(self.jobs)}
        self.concerned = {
            at: tuple({*self.ended.get(at, ()), *(job for job, _ in self.closing.get(at, ()))}) for at in self.instants
        }
        """Jobs that start or end at the instant, for all that is recorded."""

    def _stop(self, attempt: RecordedAttempt) -> int | None:
        """One that is being stopped as the record ends is taken to stop then."""
        return self.record.end if attempt.stop is None and attempt.is_preempted else attempt.stop

    def _windows(self, number: int) -> Iterator[Window]:
        before = self.record.jobs[number].submit
        for attempt in self.attempts[number]:
            closes = attempt.start if attempt.start is not None else self._stop(attempt)
            closes = before if closes is None else closes
            opens = before if attempt.start is None else max(before, closes - self.tolerance)
            is_told = attempt.ran is not None or attempt.start is not None
            yield Window(opens, closes, (attempt.ran or closes) if is_told else None)
            before = self._stop(attempt) or closes

    def goes_on(self, job: int, place: int) -> bool:
        """Is the job in line again after this attempt?"""
        recorded = self.record.jobs[job]
        if place + 1 < len(recorded.attempts) or recorded.end is None:
            return True
        stop = self.stops[job][place]
        return stop is not None and recorded.end > stop


def units_named(timeline: Timeline) -> Iterator[str]:
    """Instance types that an update may bring."""
    for updates in timeline.updates.values():
        for update in updates:
            if isinstance(update, UpdateShare | UpdateServiceEnvironment):
                yield from update.capacity_limits or ()


class Offers:
    """Collects every move that the rules allow at a step of the pass."""

    def __init__(self, way: Way, open_choices: frozenset[str]) -> None:
        self.way = way
        self.open = open_choices
        self.found: list[Move] = []

    def move(self, moves: Iterator[Move], order: str) -> Move | None:
        """One of these; all that are allowed are in ``found``.

        None although there are some where the next step of the pass might be reached all the same: a head stops jobs of
        its own share in step 2 only if that leaves it inside its limit, and another set of victims might not.
        """
        first = next(moves, None)
        if first is None:
            return None
        some: list[Move] = [first, *moves]
        if "victims" in self.open and any(self._may_be_left_beyond(move) for move in some):
            self.found += some
            return None
        if order and order not in self.open:
            some = [*takewhile(lambda move: move.job == first.job, some)]
        self.found += some
        return first

    def _may_be_left_beyond(self, move: Move) -> bool:
        """Does it stop jobs of its own share, and might another set leave it beyond its limit?"""
        state, job = self.way.state, move.job
        own = bool(move.victims) and all(state.share_of[victim] == state.share_of[job] for victim in move.victims)
        return own and any(state.after[cell] + count > state.limit[cell] for cell, _, count in state.demand[job])

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The rule's set; where victims are open, every minimal legal one of jobs that are recorded as stopped too."""
        chosen = search.chosen()
        if "victims" not in self.open:
            return () if chosen is None else (chosen,)
        recorded = self.way.minimal_sets(search)
        return recorded if chosen is None else chain(recorded, (chosen,))


class Way:
    """One way through the record, up to some instant: a state of the queue that the record allows."""

    def __init__(self, timeline: Timeline, policy: Policy, choices: Choices, open_choices: frozenset[str]) -> None:
        self.timeline = timeline
        self.at = 0
        self.policy = policy
        self.state = State(policy, choices, units_named(timeline))
        self.state.add(timeline.jobs)
        self.offers = Offers(self, open_choices)
        self.passes = Pass(self.state, self, self.offers)
        self.place = [0] * len(timeline.jobs)
        """Of each job: the attempt that runs, or else the next one."""
        self.ahead: set[int] = set()
        """Jobs that have started before they are recorded to have."""
        self.waits_since: float = inf
        """Since when there has been a move to make; infinity where there is none."""
        self.is_instant = False
        """The victims of the move that is being made stop at once."""

    def copy(self) -> Way:
        """Another way that is the same up to now."""
        twin = Way.__new__(Way)
        twin.timeline, twin.at, twin.policy = self.timeline, self.at, self.policy
        twin.state = self.state.copy()
        twin.offers = Offers(twin, self.offers.open)
        twin.passes = self.passes.copy(twin.state, twin)
        twin.passes.chooser = twin.offers
        twin.place, twin.ahead = self.place.copy(), self.ahead.copy()
        twin.waits_since, twin.is_instant = self.waits_since, self.is_instant
        return twin

    def key(self) -> object:
        """What tells this way from others at the same instant: everything else the record says."""
        claims = tuple((claim.job, frozenset(claim.outstanding)) for claim in self.state.claims)
        stopping = frozenset((victim, claim.job) for victim, claim in self.state.claim_of.items())
        ahead = frozenset((job, self.place[job]) for job in self.ahead if self.window(job).closes > self.at)
        now = tuple((self.place[job], self.state.phase[job]) for job in self.timeline.concerned.get(self.at, ()))
        return (claims, stopping, ahead, now)

    def window(self, job: int) -> Window:
        """Of the attempt that runs, or else of the next one."""
        return self.timeline.windows[job][self.place[job]]

    def stop_of(self, job: int) -> int | None:
        """When the attempt that runs ends."""
        return self.timeline.stops[job][self.place[job]]

    # --- what the record says -------------------------------------------------------------------

    def arrive(self, at: int) -> list[int]:
        """Attempts end, the queue is changed, jobs come and go, at ``at``: the jobs that a lowered limit stops."""
        self.at = at
        self.end_attempts(at)
        updates = self.timeline.updates.get(at, ())
        stopped = [job for update in updates for job in self._update(update)]
        for job in self.timeline.submitted.get(at, ()):
            self.state.enqueue(job, at)
        for update in updates:
            if isinstance(update, UpdatePriority):
                self._update_priority(update)
        for job in self.timeline.gone.get(at, ()):
            self._leave(job)
        return stopped

    def _update(self, update: Update) -> list[int]:
        """A change of the queue; the jobs that it stops at once (C11)."""
        state, policy = self.state, self.policy
        if isinstance(update, UpdateServiceEnvironment):
            environment = updated_environment(policy.service_environment, update)
            self.policy = policy.model_copy(update={"service_environment": environment})
            state.adopt(self.policy)
        elif isinstance(update, UpdateShare):
            limits = list(state.limit)
            share = updated_share(policy.shares[update.share], update)
            self.policy = policy.model_copy(update={"shares": {**policy.shares, update.share: share}})
            state.adopt(self.policy)
            if state.choices.lowered_limit == "at_once":
                cells = state.cells_of[state.share_index[update.share]]
                return above_limit(state, [cell for cell, _ in cells if state.limit[cell] < limits[cell]])
        return []

    def _update_priority(self, update: UpdatePriority) -> None:
        job = self.timeline.numbers[update.job]
        if self.state.phase[job] in (Phase.NEW, Phase.ENDED):
            self.state.priority[job] = update.priority
        else:
            self.state.set_priority(job, update.priority)

    def stop_above_limit(self, jobs: Sequence[int]) -> int | None:
        """Stop these for a lowered limit; the first that is not recorded as stopped by then, if there is one."""
        latest = self.at + self.timeline.stop_within
        for job in jobs:
            stop, attempt = self.stop_of(job), self.timeline.attempts[job][self.place[job]]
            if stop is None or stop > latest or (attempt.is_preempted and attempt.is_cross):
                return job
        for job in jobs:
            self.state.begin_stop(job)
        self.end_attempts(self.at)
        return None

    def end_attempts(self, at: int) -> bool:
        """Those that are recorded to end now, but for preempted ones that nobody has stopped yet."""
        changed = False
        for job in self.timeline.ended.get(at, ()):
            phase = self.state.phase[job]
            if phase not in (Phase.RUNNING, Phase.STOPPING) or self.stop_of(job) != at:
                continue
            if phase is Phase.RUNNING and self.timeline.attempts[job][self.place[job]].is_preempted:
                continue
            self._end(job, at, preempted=phase is Phase.STOPPING)
            changed = True
        return changed

    def _end(self, job: int, at: int, *, preempted: bool) -> None:
        place = self.place[job]
        self.state.end(job)
        self.ahead.discard(job)
        self.place[job] += 1
        is_preempted = preempted and self.timeline.attempts[job][place].is_preempted
        if self.timeline.goes_on(job, place):
            self.state.requeue(job, at, preempted=is_preempted)

    def _leave(self, job: int) -> bool:
        """Terminated while it waits."""
        state, phase = self.state, self.state.phase[job]
        if phase is Phase.WAITING:
            state.dequeue(job)
        elif phase is Phase.CLAIMING:
            state.drop_claim(next(claim for claim in state.claims if claim.job == job), started=False)
        else:
            return False
        state.phase[job] = Phase.ENDED
        return True

    def obey(self, at: int) -> None:
        """What is recorded to happen at ``at`` happens, whatever the rules say."""
        self.arrive(at)  # what a lowered limit stops is recorded too
        for job in self.timeline.ended.get(at, ()):
            if self.state.phase[job] is Phase.RUNNING and self.stop_of(job) == at:
                self.state.begin_stop(job)
                self._end(job, at, preempted=True)
        for job, place in self.timeline.closing.get(at, ()):
            if self.place[job] == place and self.state.phase[job] is Phase.WAITING:
                self.state.start(job, self._ran(job))
                if self.stop_of(job) == at:
                    self._end(job, at, preempted=False)

    # --- what the rules say ---------------------------------------------------------------------

    def allowed(self) -> list[Move]:
        """Every move that the rules allow next."""
        self.offers.found = []
        if not self.passes.look_for_moves() and self.offers.found:
            self.state.unsettled |= self.state.waiting  # settled, as no step of the pass was told of a move
        return self.offers.found

    def is_recorded(self, move: Move) -> bool:
        """May this move have been made now, for all that is recorded?"""
        job = move.job
        if self.place[job] >= len(self.timeline.attempts[job]):
            return bool(move.victims) and job in self._terminated() and self._stop_soon(move)
        window = self.window(job)
        if not move.victims:
            return window.opens <= self.at <= window.closes
        return self.stop_at_once(move) or (window.closes >= self.at and self._stop_soon(move))

    def _terminated(self) -> Sequence[int]:
        """Jobs that will be terminated while they wait."""
        gone = self.timeline.gone
        return [job for at, jobs in gone.items() if at >= self.at for job in jobs]

    def stop_at_once(self, move: Move) -> bool:
        """Do its victims stop, and does it start, at this very instant?"""
        if not move.victims or self.place[move.job] >= len(self.timeline.attempts[move.job]):
            return False
        window = self.window(move.job)
        return (
            window.opens <= self.at <= window.closes
            and (window.closes == self.at or self.timeline.attempts[move.job][self.place[move.job]].start is None)
            and all(self.stop_of(victim) == self.at and self._may_stop(victim, move) for victim in move.victims)
        )

    def _stop_soon(self, move: Move) -> bool:
        """Do its victims stop soon, and does it start after the last of them? That it starts at once is seen then."""
        within, stops = self.timeline.stop_within, [self.stop_of(victim) for victim in move.victims]
        if not within or not all(stop is not None and self.at <= stop <= self.at + within for stop in stops):
            return False
        if self.place[move.job] < len(self.timeline.attempts[move.job]):
            last = max(stop for stop in stops if stop is not None)
            if self.window(move.job).closes < last:
                return False
        return all(self._may_stop(victim, move, soon=True) for victim in move.victims)

    def _may_stop(self, victim: int, move: Move, *, soon: bool = False) -> bool:
        """Is it recorded as preempted, and for such a job? One whose work ends while it is being stopped is not."""
        attempt = self.timeline.attempts[victim][self.place[victim]]
        if not attempt.is_preempted:
            return soon and attempt.stop is not None and attempt.stop > self.at
        return not attempt.is_cross or self.state.share_of[victim] != self.state.share_of[move.job]

    def minimal_sets(self, search: Search) -> Iterator[Sequence[int]]:
        """Every minimal legal set of victims of jobs that are recorded to stop soon enough."""
        keys = search.cross_candidates() if search.kind & Kind.CROSS else []
        keys = [*keys, *(search.own_candidates() if search.kind & Kind.OWN else ())]
        latest = self.at + self.timeline.stop_within
        jobs = [-key[3] for key in keys if (stop := self.stop_of(-key[3])) is not None and stop <= latest]
        found: list[set[int]] = []
        for size in range(1, len(jobs) + 1):
            for subset in combinations(jobs, size):
                if any(smaller <= set(subset) for smaller in found) or not search.legal(list(subset)):
                    continue
                found.append(set(subset))
                yield list(subset)

    def make(self, move: Move) -> None:
        """Make a move; what starts is taken to start when it is recorded to run, or at the latest would have."""
        self.is_instant = self.stop_at_once(move)
        self.passes.make(move, self._ran(move.job))

    def _ran(self, job: int) -> int:
        """When the attempt that starts now ran, or at the latest would have."""
        begins = self.place[job] < len(self.timeline.attempts[job])
        ran = self.window(job).ran if begins else None
        return self.at + self.timeline.tolerance if ran is None else ran

    # --- the driver of the pass -----------------------------------------------------------------

    def started(self, job: int) -> None:
        """The pass dispatched the job."""
        if self.window(job).closes > self.at:
            self.ahead.add(job)

    def preempted(self, job: int, victims: Sequence[tuple[int, Why]]) -> bool:  # noqa: ARG002 - what a driver is told
        """The pass stops these for the job; true where they have stopped already."""
        if self.is_instant:
            for victim, _ in victims:
                self._end(victim, self.at, preempted=True)
        return self.is_instant

    def blocked(self, job: int, misfit: Misfit, *, known: bool) -> None:
        """A head that can never fit is no move."""


class Follower:
    """Follows one record under one set of answers."""

    def __init__(self, timeline: Timeline, policy: Policy, choices: Choices, open_choices: frozenset[str]) -> None:
        self.timeline = timeline
        self.start = Way(timeline, policy, choices, open_choices)
        self.is_certain = True
        self.found: Contradiction | None = None
        """The latest of all ways."""

    def follow(self, judged_from: int, *, eager: bool) -> Followed:
        """Follow the record to its end, or to where no way goes on.

        Args:
            judged_from: milliseconds; what is recorded before is taken as it is.
            eager: make recorded moves as soon as the rules and the tolerance allow them, and follow no way on which
                one is put off. What can be followed so is reachable; what cannot may be so otherwise.
        """
        instants = self.timeline.instants
        first = bisect_right(instants, judged_from - 1)
        for at in instants[:first]:
            self.start.obey(at)
        ways = [self.start]
        for at in instants[first:]:
            ways = self._reach(ways, at, eager=eager)
            if not ways:
                if self.found is None:
                    raise RuntimeError(f"no way goes on at {at} ms, and nothing says why")
                return Followed(self.found, self.is_certain)
            if len(ways) > MOST_WAYS:
                ways, self.is_certain = ways[:MOST_WAYS], False
        return Followed(None)

    def _reach(self, ways: Sequence[Way], at: int, *, eager: bool) -> list[Way]:
        """Every way over an instant."""
        reached: dict[object, Way] = {}
        for way in ways:
            if self._is_overdue(way, at):
                continue
            spared = way.stop_above_limit(way.arrive(at))
            if spared is not None:
                name = self.timeline.jobs[spared].name
                self._note(at, spared, f"{name} was not preempted", f"{name} is stopped for the lowered limit")
                continue
            for after in self._settle(way, eager=eager):
                if not self._is_missed(after, at):
                    self._merge(reached, after)
        return list(reached.values())

    @staticmethod
    def _merge(reached: dict[object, Way], way: Way) -> None:
        """Of two ways to one state the one counts that has had a move to make for a shorter time."""
        known = reached.get(way.key())
        if known is None or way.waits_since > known.waits_since:
            reached[way.key()] = way

    def _settle(self, way: Way, *, eager: bool) -> list[Way]:
        """Every way to make recorded moves at this instant."""
        rest: list[Way] = []
        seen: set[object] = {way.key()}
        stack = [way]
        while stack:
            now = stack.pop()
            moves = now.allowed()
            if not moves:
                now.waits_since = inf
                if now.end_attempts(now.at):
                    stack.append(now)  # an attempt of no length: all again
                else:
                    rest.append(now)
                continue
            recorded = [move for move in moves if now.is_recorded(move)]
            if self.timeline.tolerance and not (eager and recorded):
                waiting = now.copy() if recorded else now
                waiting.waits_since = min(waiting.waits_since, now.at)
                rest.append(waiting)
            elif not recorded:
                self._note_other(now, moves[0])
            for number, move in enumerate(recorded[:1] if eager else recorded):
                other = now if number + 1 == len(recorded) or eager else now.copy()
                other.make(move)
                other.end_attempts(other.at)
                if (key := other.key()) not in seen or eager:
                    seen.add(key)
                    stack.append(other)
        return rest

    # --- where a way ends -----------------------------------------------------------------------

    def _is_overdue(self, way: Way, at: int) -> bool:
        """Has there been a move to make for longer than the tolerance?"""
        if at - way.waits_since <= self.timeline.tolerance:
            return False
        moves = way.allowed()
        if moves:
            since = int(way.waits_since)
            self._note(since, moves[0].job, self._instead(way, moves[0].job), _told(way, moves[0]))
        return bool(moves)

    def _is_missed(self, way: Way, at: int) -> bool:
        """Is something recorded by now that has not been done?"""
        for job, place in self.timeline.closing.get(at, ()):
            if way.place[job] == place and way.state.phase[job] in (Phase.WAITING, Phase.CLAIMING):
                self._note(at, job, f"{self.timeline.jobs[job].name} started", self._why_not(way, job))
                return True
        for job in self.timeline.ended.get(at, ()):
            if way.state.phase[job] is Phase.RUNNING and way.stop_of(job) == at:
                moves = way.allowed()
                expected = _told(way, moves[0]) if moves else "nobody may stop it"
                self._note(at, job, f"{self.timeline.jobs[job].name} was preempted", expected)
                return True
        return False

    def _why_not(self, way: Way, job: int) -> str:
        """Why the rules do not let the job start."""
        moves = way.allowed()
        if moves and moves[0].job != job:
            return f"first {_told(way, moves[0])}"
        state = way.state
        head = -state.line[state.share_of[job]][-1][3] if state.line[state.share_of[job]] else job
        if head != job and state.choices.head_of_line == "strict":
            return f"it waits behind {state.jobs[head].name}"
        return "there is neither room for it, nor anybody whom it may stop"

    def _note_other(self, way: Way, move: Move) -> None:
        """The rules say that a move is made now, and something else is recorded."""
        self._note(way.at, move.job, self._instead(way, move.job), _told(way, move))

    def _instead(self, way: Way, job: int) -> str:
        """What is recorded of this instant, or of the job, instead of a move."""
        jobs = self.timeline.jobs
        here = [
            f"{jobs[other].name} started"
            for other, place in self.timeline.closing.get(way.at, ())
            if way.place[other] == place and way.state.phase[other] is Phase.WAITING
        ]
        here += [
            f"{jobs[victim].name} was preempted"
            for victim in self.timeline.ended.get(way.at, ())
            if way.state.phase[victim] is Phase.RUNNING and way.stop_of(victim) == way.at
        ]
        if here:
            return " and ".join(here[:_SHOWN])
        later = way.place[job] < len(self.timeline.attempts[job])
        return f"{jobs[job].name} {'started later' if later else 'did not start'}"

    def _note(self, at: int, job: int, happened: str, expected: str) -> None:
        if self.found is None or at / 1000 > self.found.at:
            self.found = Contradiction(at / 1000, self.timeline.jobs[job].name, happened, expected)


_SHOWN: Final = 4


def _told(way: Way, move: Move) -> str:
    jobs = way.state.jobs
    victims = ", ".join(jobs[victim].name for victim in move.victims)
    return f"{jobs[move.job].name} starts" + (f", and {victims} stops for it" if victims else "")
