"""A schedule that can be run again: the moves it made where the rule would have made another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import Kind, Row
from policy_engine.scheduler.moves import Move, stops_own_and_ends_inside
from policy_engine.scheduler.state import STARTS, Phase, State
from policy_engine.scheduler.victims import Kind as Victims
from policy_engine.scheduler.victims import Search


@dataclass(frozen=True, slots=True)
class Decision:
    """One move: a job that starts at a time, in seconds, and the jobs that are stopped for it."""

    at: float
    job: str
    victims: tuple[str, ...] = ()


def decisions_of(rows: Sequence[Row], jobs: Sequence[Job]) -> list[Decision]:
    """The moves that a log tells of, in order; the starts of claimants are none of their own."""
    found: list[Decision] = []
    victims: list[str] = []
    claimed: set[int] = set()
    for number, (at, kind, job, by, _, _) in enumerate(rows):
        if kind is Kind.PREEMPTED and by >= 0:
            victims.append(jobs[job].name)
            following = rows[number + 1] if number + 1 < len(rows) else None
            if following is None or following[1] is not Kind.PREEMPTED or following[3] != by or following[0] != at:
                found.append(Decision(at, jobs[by].name, tuple(victims)))
                claimed.add(by)
                victims = []
        elif kind is Kind.STARTED:
            if job in claimed:
                claimed.discard(job)
            elif jobs[job].started is None:
                found.append(Decision(at, jobs[job].name))
    return found


class Script:
    """Makes the moves of a script, and the rule's where the script is silent."""

    def __init__(self, decisions: Iterable[Decision], jobs: Sequence[Job]) -> None:
        self.to_come = list(decisions)[::-1]
        self.number_of = {job.name: number for number, job in enumerate(jobs)}
        self.state: State | None = None
        self.departed: list[bool] = []
        """Of each decision made: was it another than the rule's?"""
        self.passed_over = False
        """Moves of a step before this one were there, and the script's comes in a later one."""

    def move(self, moves: Iterator[Move], order: str) -> Move | None:
        """The script's next move, if it is among these."""
        first = next(moves, None)
        if first is None or order == "" or not self.to_come:
            return first
        wanted = self.to_come[-1]
        job = self.number_of[wanted.job]
        victims = {self.number_of[name] for name in wanted.victims}
        for move in _with(first, moves):
            if move.job == job and set(move.victims) == victims:
                self.to_come.pop()
                self.departed.append(self.passed_over or move != first)
                self.passed_over = False
                in_order = tuple(self.number_of[name] for name in wanted.victims)
                return move._replace(victims=in_order)
        if self._comes_later(first, job, sorted(victims)):
            self.passed_over = True
            return None
        return first

    def _comes_later(self, first: Move, job: int, victims: list[int]) -> bool:
        """Is the script's move one of a later step, which other victims of the share's own may have led to?

        A head stops jobs of its own share in step 2 only if those that were chosen leave it inside its limit.
        """
        state = self.state
        if state is None or not stops_own_and_ends_inside(state, first):
            return False
        if state.phase[job] is not Phase.WAITING:
            return False
        if not victims:
            return bool(state.look(job) & STARTS)
        return any(Search(state, job, kind).is_minimal(victims) for kind in (Victims.OWN, Victims.MIXED))

    def sets(self, search: Search) -> Iterable[Sequence[int]]:
        """The rule's choice, then that of the script, where it is another minimal legal set."""
        self.state = search.state
        chosen = search.chosen()
        if chosen is not None:
            yield chosen
        if self.to_come and self.number_of[self.to_come[-1].job] == search.job:
            wanted = [self.number_of[name] for name in self.to_come[-1].victims]
            if set(wanted) != set(chosen or ()) and search.is_minimal(wanted):
                yield wanted


def _with(first: Move, rest: Iterator[Move]) -> Iterator[Move]:
    yield first
    yield from rest
