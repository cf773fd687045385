"""Many replays of slightly perturbed histories: one replay is one accident.

A job that came a minute later may have met a free instance; what depends on such accidents differs between perturbed
copies, and what does not is the policy's. (D. Tsafrir, K. Ouaknine, D. G. Feitelson, "Reducing Performance Evaluation
Sensitivity and Variability by Input Shaking", MASCOTS 2007.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from random import Random
from statistics import fmean, pstdev
from typing import Final

from policy_engine.outcome.measures import Measures
from policy_engine.policy import Policy
from policy_engine.replaying.replay import ReplayOptions, replay
from policy_engine.replaying.workers import spread_over_cores
from policy_engine.workload.history import History

SHAKE_SECONDS: Final = 60.0
"""Every submission is moved by up to so many seconds, to either side."""


@dataclass(frozen=True, slots=True)
class Spread:
    """One number over many replays."""

    mean: float
    deviation: float
    """Standard deviation over the replays."""
    least: float
    most: float

    @classmethod
    def of(cls, values: list[float]) -> Spread:
        """The spread of at least one value."""
        return cls(fmean(values), pstdev(values), min(values), max(values))


@dataclass(frozen=True)
class Shaken:
    """Replays of perturbed copies; the unperturbed one is not among them."""

    seed: int
    seconds: float
    """Every submission was moved by up to so many."""
    runs: tuple[Measures, ...]

    def spread(self, number: Callable[[Measures], float | None]) -> Spread | None:
        """Of a number of each replay; None where no replay has it."""
        values = [value for run in self.runs if (value := number(run)) is not None]
        return Spread.of(values) if values else None


def shake(
    policy: Policy,
    history: History,
    options: ReplayOptions,
    times: int,
    *,
    seed: int = 0,
    seconds: float = SHAKE_SECONDS,
    workers: int | None = None,
    tell: Callable[[], None] | None = None,
) -> Shaken:
    """Replay ``times`` perturbed copies of the history, spread over the cores of this machine.

    A copy is told by the seed and its number alone: the results are the same whatever the number of ``workers``,
    processes that is; None takes as many as there are cores. ``tell`` is called after each replay.
    """
    task = _Task(policy, history, options, seed, seconds)
    runs = []
    for measures in spread_over_cores(task, range(1, times + 1), workers):
        runs.append(measures)
        if tell is not None:
            tell()
    return Shaken(seed, seconds, tuple(runs))


@dataclass(frozen=True)
class _Task:
    """What a worker is told once."""

    policy: Policy
    history: History
    options: ReplayOptions
    seed: int
    seconds: float

    def __call__(self, number: int) -> Measures:
        """The measures of one perturbed copy."""
        return replay(self.policy, shaken(self.history, self.seed, number, self.seconds), self.options).measures


def shaken(history: History, seed: int, number: int, seconds: float) -> History:
    """A copy of the history of which every submission is moved by up to so many seconds; never before the first."""
    random = Random(f"{seed}/{number}")  # noqa: S311 - reproducible, not secret
    moved = [(max(0.0, job.submit + random.uniform(-seconds, seconds)), at) for at, job in enumerate(history.jobs)]
    moved.sort()
    jobs = tuple(replace(history.jobs[at], submit=submit) for submit, at in moved)
    return replace(history, jobs=jobs, started=[history.started[at] for _, at in moved])
