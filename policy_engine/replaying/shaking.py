"""Many replays of slightly perturbed histories: one replay is one accident.

A job that came a minute later may have met a free instance; what depends on such accidents differs between perturbed
copies, and what does not is the policy's. (D. Tsafrir, K. Ouaknine, D. G. Feitelson, "Reducing Performance Evaluation
Sensitivity and Variability by Input Shaking", MASCOTS 2007.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from policy_engine.outcome.measures import Measures
from policy_engine.policy import Policy
from policy_engine.replaying.outcome import Outcome, OutcomeWithRows
from policy_engine.replaying.replay import ReplayOptions
from policy_engine.replaying.sweeping import SHAKE_SECONDS, Rows, Spread, Spreading, Tell, replays
from policy_engine.workload.history import History


@dataclass(frozen=True)
class Shaken:
    """Replays of perturbed copies; the unperturbed one is not among them."""

    seed: int
    seconds: float
    """Every submission was moved by up to so many."""
    runs: tuple[Measures, ...]
    rows: tuple[str, ...] = ()
    """Of each replay the rows of its jobs, where they were asked for."""

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
    spreading: Spreading | None = None,
    tell: Tell | None = None,
    rows: Rows | None = None,
) -> Shaken:
    """Replay ``times`` perturbed copies of the history, by default on all cores of this machine.

    A copy is told by the seed and its number alone: the results are the same whoever makes them. ``tell`` is called
    after each replay; ``rows`` makes the rows of each, if they are wanted. Raises InputError and
    UndecidedError like ``replay``.
    """
    with replays({"": history}, options, seed=seed, seconds=seconds, spreading=spreading, rows=rows) as run:
        made = run([(policy, "", number) for number in range(1, times + 1)], tell)
    for outcome in made:
        if not isinstance(outcome, Outcome):
            raise outcome.kind(outcome.message, file=history.source)
    outcomes = [outcome for outcome in made if isinstance(outcome, Outcome)]
    told = tuple(outcome.rows for outcome in outcomes if isinstance(outcome, OutcomeWithRows))
    return Shaken(seed, seconds, tuple(outcome.measures for outcome in outcomes), told)
