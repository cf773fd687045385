"""Does everything that is asked about a history and a policy, and tells how far it has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from policy_engine.policy import Policy
from policy_engine.replaying.baselines import Baseline, compare_with_baselines
from policy_engine.replaying.fidelity import fidelity
from policy_engine.replaying.prices import Prices, costs
from policy_engine.replaying.replay import ReplayOptions, Watch, replay
from policy_engine.replaying.replayed import Replayed, worst_waits
from policy_engine.replaying.shaking import shake
from policy_engine.replaying.sweeping import Rows, Spreading
from policy_engine.scheduler.state import State
from policy_engine.workload.history import History

Progress = Callable[[str, float], None]
"""Takes what is being done, and the part of all the work, 0 to 1, that is done."""

_PASSES: Final = 1000
"""Progress is told once in so many passes of the scheduler."""


@dataclass(frozen=True)
class Asked:
    """What is asked about a replay."""

    options: ReplayOptions = field(default_factory=ReplayOptions)
    baselines: bool = False
    shakes: int = 0
    """Perturbed replays."""
    seed: int = 0
    spreading: Spreading = field(default_factory=Spreading)
    """Where they are made, and kept."""
    prices: Prices | None = None
    rows: Rows | None = None
    """Makes the rows of perturbed replays, of which nothing else than the measures is kept."""

    @property
    def runs(self) -> int:
        """Replays in all."""
        return 1 + self.shakes + (len(Baseline) if self.baselines else 0)


def ask(policy: Policy, history: History, asked: Asked, progress: Progress | None = None) -> Replayed:
    """The replay, and all that is asked about it. Raises InputError like ``replay``."""
    steps = _Steps(asked.runs, progress)
    result = replay(policy, history, asked.options, watch=steps.watch(history))
    steps.tell()
    baselines = compare_with_baselines(result, steps.tell, asked.prices) if asked.baselines else ()
    shaken = None
    if asked.shakes:
        shaken = shake(
            policy,
            history,
            asked.options,
            asked.shakes,
            seed=asked.seed,
            spreading=asked.spreading,
            tell=steps.tell,
            rows=asked.rows,
        )
    return Replayed(
        result,
        baselines,
        shaken,
        fidelity(result),
        None if asked.prices is None else costs(result.measures, asked.prices),
        worst_waits(result),
    )


class _Steps:
    """How many replays are done, and how far the present one has come."""

    def __init__(self, runs: int, progress: Progress | None) -> None:
        self.runs = runs
        self.progress = progress
        self.done = 0
        self.passes = 0

    def tell(self) -> None:
        """A replay is done."""
        self.done += 1
        if self.progress is not None:
            self.progress(f"replay {min(self.done + 1, self.runs)} of {self.runs}", self.done / self.runs)

    def watch(self, history: History) -> Watch | None:
        """Follows the first replay, which is the only one where nothing else is asked."""
        progress, span = self.progress, history.span or 1.0
        if progress is None:
            return None

        def watch(_: State, at: float) -> None:
            self.passes += 1
            if self.passes % _PASSES == 0:
                progress(f"replay 1 of {self.runs}", min(1.0, at / span) / self.runs)

        return watch
