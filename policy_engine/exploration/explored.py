"""How far an exploration goes, and what it comes to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from policy_engine.scheduler.jobs import Job
from policy_engine.simulation import Clock


@dataclass(slots=True)
class Bounds:
    """How far to go; what is reached is told in ``reached``."""

    max_states: int = 1_000_000
    max_seconds: float = inf
    until: float = inf
    """The time (``time.monotonic``) at which to stop."""
    spent: int = 0
    """States looked at before."""


@dataclass(slots=True)
class Explored:
    """What an exploration came to."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    """Longest way from the start, in instants."""
    unsettled: str | None = None
    """Why not every schedule was followed to its end: the bound that was reached, or jobs that stop each other."""
    is_endless: bool = False
    """Is it jobs that stop each other?"""
    broken: Clock | None = None
    """Where the expectation was first found broken; its log is the way there."""
    over: bool = False
    """It is broken because nothing more is to come there."""
    has_all_times: bool = True
    """Would no other times at which jobs may end give another order of events?"""


def circle(stops: Sequence[tuple[int, int]], jobs: Sequence[Job], at: float) -> str:
    """Why an instant, in seconds, has no end; ``stops``: (victim, claimant) of the preemptions at it."""
    both = sorted({victim for victim, _ in stops} & {claimant for _, claimant in stops})
    names = [jobs[job].name for job in both]
    return (
        f"{', '.join(names[:-1])} and {names[-1]} can stop each other over and over at one instant"
        f" ({at:g} s), and AWS's documented rules do not say how that ends"
    )
