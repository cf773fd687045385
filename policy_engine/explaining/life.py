"""The life of one job in a run, watched as the run is made once more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from policy_engine.explaining.choosing import selection
from policy_engine.explaining.reasons import Because, Diagnosis, Reason, Selection
from policy_engine.explaining.waiting import ContradictionError, Queue
from policy_engine.policy import Policy
from policy_engine.scheduler.log import Kind
from policy_engine.scheduler.moves import Chooser, Move, Rule
from policy_engine.scheduler.state import INSIDE, STARTS, Phase
from policy_engine.scheduler.victims import Search
from policy_engine.simulation import Clock, Run


@dataclass(slots=True)
class Wait:
    """A time during which a job waits for the same reasons."""

    since: float
    """Seconds from the scenario's zero."""
    diagnosis: Diagnosis
    """As it was when it began."""


@dataclass(slots=True)
class Watched:
    """What is not in the log."""

    waits: list[Wait] = field(default_factory=list)
    selections: list[Selection] = field(default_factory=list)
    """Of preemptions that the job suffered or caused, in order."""
    exact: Diagnosis | None = None
    """Why it waits at the time that was asked about."""


def watch(run: Run, job: int, at: float | None = None, chooser: Chooser | None = None) -> Watched:
    """Make the run once more and watch one job.

    Args:
        run: what happened.
        job: its number.
        at: a time to look at exactly, in seconds.
        chooser: what made the moves of the run, as it was before; None for the rule.

    Raises ContradictionError where the job waits though nothing stands in its way, or the run comes out otherwise.
    """
    witness = _Witness(run.policy, job, Rule() if chooser is None else chooser)
    witness.clock = clock = Clock(run.policy, run.workload, run.choices, witness)
    while (instant := clock.next_instant()) <= run.end:
        if clock.pass_over(instant):
            clock.passes.settle(instant)
        following = clock.next_instant()
        # a job that ended at this very instant brings another pass
        if following > instant:
            witness.look(exactly=at is not None and instant <= at < following)
    if clock.rows != run.log.rows:
        raise ContradictionError("the run came out otherwise when it was made again: please report this")
    return witness.watched


class _Witness:
    """Passes on what the chooser says, and takes down what it means for one job."""

    clock: Clock

    def __init__(self, policy: Policy, job: int, chooser: Chooser) -> None:
        self.job = job
        self.chooser = chooser
        self.watched = Watched()
        self.policies: list[tuple[float, Policy]] = [(0.0, policy)]
        self.served_first: list[Reason] = []
        """Moves at this instant that came before one of the job's own."""
        self.rows = 0
        """Of the log, looked at so far."""

    # --- the chooser ----------------------------------------------------------------------------

    def move(self, moves: Iterator[Move], order: str) -> Move | None:
        """The chooser's move."""
        move = self.chooser.move(moves, order)
        if move is None:
            return None
        if move.victims and self.job in (move.job, *move.victims):
            self.watched.selections.append(selection(self.clock.state, move, self.clock.at))
        elif move.job != self.job and self._could_start():
            self.served_first.append(self._served_first(move, order))
        return move

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The chooser's sets."""
        return self.chooser.sets(search)

    def _could_start(self) -> bool:
        state = self.clock.state
        if state.phase[self.job] is not Phase.WAITING or self.job not in state.fronts(state.share_of[self.job]):
            return False
        return state.look(self.job) & STARTS > 0

    def _served_first(self, move: Move, order: str) -> Reason:
        """Who came before the job, and by which rule."""
        state = self.clock.state
        other = state.jobs[move.job]
        if move.claims:
            return Reason(
                Because.SERVED_FIRST, f"{other.name} came first: others were stopped for it", jobs=(other.name,)
            )
        own, others = state.look(self.job) & INSIDE, state.look(move.job) & INSIDE
        if others and not own:
            told = f"{other.name} came first: it is inside {other.share}'s own limit"
            return Reason(Because.SERVED_FIRST, told, jobs=(other.name,))
        answer = getattr(state.choices, order)
        told = f"{other.name} of {other.share} came first: {order} is {answer}"
        return Reason(Because.SERVED_FIRST, told, jobs=(other.name,), rests_on=(order,))

    # --- after every instant --------------------------------------------------------------------

    def look(self, *, exactly: bool) -> None:
        """Take down why the job waits, if it does."""
        clock, state = self.clock, self.clock.state
        if self.policies[-1][1] is not clock.policy:
            self.policies.append((clock.at, clock.policy))
        served_first, self.served_first = self.served_first, []
        is_new = self._began_to_wait()
        if state.phase[self.job] not in (Phase.WAITING, Phase.CLAIMING):
            return
        if state.choices.blocked_owner_lends == "no":
            # a pass begins with this; at an instant before the decision there has been none
            state.keep_for_blocked_owners()
        diagnosis = Queue(clock, self.policies).diagnose(self.job)
        if served_first:
            diagnosis = replace(diagnosis, further=(*diagnosis.further, *served_first))
        if is_new or diagnosis.key != self.watched.waits[-1].diagnosis.key:
            self.watched.waits.append(Wait(clock.at, diagnosis))
        if exactly:
            self.watched.exact = diagnosis

    def _began_to_wait(self) -> bool:
        """Has the log a new row that put the job in its line?"""
        rows, self.rows = self.clock.rows[self.rows :], len(self.clock.rows)
        return any(row[2] == self.job and row[1] in (Kind.SUBMITTED, Kind.REQUEUED) for row in rows)
