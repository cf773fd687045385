"""How near a replay comes to the goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf

from policy_engine.replaying.outcome import Outcome
from policy_engine.suggesting.goals import Goals
from policy_engine.suggesting.space import Point, Space

_HOUR = 3600.0


@dataclass(frozen=True, slots=True)
class Score:
    """What a replay came to, in the words of the goals."""

    waits: Mapping[str, float]
    """Team to the 95th percentile of its waits in seconds; infinite where jobs of it never started."""
    lost_hours: float
    parts: tuple[tuple[str, float], ...]
    """What is had by what is asked, of every goal: 1 or less meets it. A team, or ``lost work``."""

    @property
    def worst(self) -> tuple[str, float]:
        """The goal that is nearest to being missed, or missed by most."""
        return max(self.parts, key=lambda part: part[1], default=("", 0.0))

    @property
    def missed(self) -> tuple[str, ...]:
        """Goals that are not met."""
        return tuple(name for name, part in self.parts if part > 1)

    @property
    def excess(self) -> float:
        """How far the goals are missed, all together; 0 where all are met."""
        return sum(part - 1 for _, part in self.parts if part > 1)


LOST_WORK = "lost work"


@dataclass(frozen=True, slots=True)
class Judged:
    """A point, and what its replay came to."""

    point: Point
    outcome: Outcome | None
    """None where the replay has no end."""
    score: Score

    @property
    def is_met(self) -> bool:
        """Are all goals met?"""
        return not self.score.missed

    @property
    def mean_wait(self) -> float:
        """Seconds, of all jobs; infinite where none started."""
        waits = None if self.outcome is None else self.outcome.measures.all.wait_seconds
        return inf if waits is None else waits.mean


def judge(space: Space, goals: Goals, point: Point, outcome: Outcome | None) -> Judged:
    """The score of a replay. Jobs that can never run though the environment has room for them meet no goal."""
    if outcome is None:
        return Judged(point, None, _score(goals, dict.fromkeys(space.teams, inf), inf))
    is_stuck = outcome.never_run > space.too_large
    waits = {}
    for share in outcome.measures.shares:
        found = share.jobs.wait_seconds
        never = is_stuck or share.jobs.never_started > 0
        waits[share.name] = inf if never else 0.0 if found is None else found.p95
    return Judged(point, outcome, _score(goals, waits, outcome.measures.lost.instance_seconds / _HOUR))


def _score(goals: Goals, waits: Mapping[str, float], lost: float) -> Score:
    asked = ((team, wait, goals.wait_of(team)) for team, wait in waits.items())
    parts = [(team, _part(wait, most)) for team, wait, most in asked if most is not None]
    if goals.lost_hours is not None:
        parts.append((LOST_WORK, _part(lost, goals.lost_hours)))
    return Score(waits, lost, tuple(parts))


def _part(had: float, most: float) -> float:
    """What is had by what is asked; where nothing is allowed, hours stand for it."""
    if most > 0:
        return had / most
    return 0.0 if had <= 0 else 1 + had / _HOUR
