"""How somebody follows an exploration: what has to be remembered on the way, and where something is broken."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from typing import Protocol

from policy_engine.scheduler.log import Kind
from policy_engine.scheduler.moves import Move
from policy_engine.scheduler.state import State
from policy_engine.simulation import Clock


class Watch(Protocol):
    """Follows an exploration for one question.

    What it remembers becomes part of the key of a state, so that two ways to a state are only taken for one where the
    question cannot tell them apart.
    """

    checkpoints: Sequence[float]
    """Instants, in seconds, at which it has to look."""
    named: frozenset[str]
    """Jobs that it tells apart from others of their kind."""
    by_moves: bool
    """It has nothing to remember and no checkpoints, and while stops take no time only a move that ``touches`` it may
    break it."""

    at_rest: bool
    """It is broken, if at all, where no move is left, not by the move alone."""

    def memory(self, clock: Clock) -> Hashable:
        """What of the past its answer still depends on."""

    def touches(self, state: State, move: Move) -> bool:
        """Might the move break it that led to the state? It depends on the move and the usage alone."""

    def moved(self, clock: Clock, move: Move) -> bool:
        """Has the move just made broken it?"""

    def settled(self, clock: Clock, since: int, instant: float | None) -> bool:
        """Is it broken in this state, at rest, after the rows from ``since`` on?

        ``instant``: the time, where everything due at it has happened.
        """

    def ended(self, clock: Clock) -> bool:
        """Is it broken, if nothing more happens?"""


def preemptions(clock: Clock) -> Iterator[tuple[int, int, str, bool | None]]:
    """(victim, claimant, why, stopped) of each preemption.

    ``stopped`` is None while the stop is under way, and False where the victim ended by itself before.
    """
    under_way: dict[int, tuple[int, int, str]] = {}
    for _, kind, job, by, why, _ in clock.rows:
        if kind is Kind.PREEMPTED:
            under_way[job] = (job, by, str(why))
        elif job in under_way and kind in (Kind.STOPPED, Kind.FINISHED, Kind.FAILED, Kind.TERMINATED):
            yield *under_way.pop(job), kind is Kind.STOPPED
    for entry in under_way.values():
        yield *entry, None
