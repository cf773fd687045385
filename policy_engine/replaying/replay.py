"""One replay: the jobs of a history, run under a policy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from policy_engine.collector import paused
from policy_engine.errors import UndecidedError
from policy_engine.outcome.lives import Lives
from policy_engine.outcome.measures import Measures, measure
from policy_engine.outcome.tolls import CHECKPOINT_SECONDS
from policy_engine.policy import Policy
from policy_engine.replaying.fitting import Fitted, fit
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Timing, Workload
from policy_engine.scheduler.state import State
from policy_engine.simulation import Run, simulate
from policy_engine.workload.history import History

STOP_SECONDS: Final = 20.0
"""From a preemption to the release of its capacity, unless told otherwise: AWS's sample event takes about as long."""

Watch = Callable[[State, float], None]
"""Called with the state and the time in seconds after every pass."""


@dataclass(frozen=True)
class ReplayOptions:
    """How a history is replayed. Times are seconds."""

    timing: Timing = field(default_factory=lambda: Timing(stop_seconds=STOP_SECONDS))
    choices: Choices = field(default_factory=Choices)
    warm_up: float = 0.0
    """From the first submission; what is submitted and what happens in it is run, but not measured."""
    strict: bool = False
    """Is it an error that the policy has no place for a job?"""

    @property
    def checkpoint_seconds(self) -> float:
        """How often jobs would save their work, for the work that checkpoints would have kept."""
        return self.timing.checkpoint_every or CHECKPOINT_SECONDS


@dataclass(frozen=True)
class ReplayResult:
    """What the history came to under the policy."""

    policy: Policy
    history: History
    options: ReplayOptions
    fitted: Fitted
    """The jobs that were run, and those that were not."""
    run: Run
    """The log is ``run.log``."""

    @cached_property
    def measures(self) -> Measures:
        """From the end of the warm-up to the end of the run."""
        return measure(self.run, self.options.warm_up, self.options.checkpoint_seconds, self.lives)

    @cached_property
    def lives(self) -> Lives:
        """What became of each job, in columns."""
        with paused():
            return Lives(self.run)


def replay(
    policy: Policy, history: History, options: ReplayOptions | None = None, *, watch: Watch | None = None
) -> ReplayResult:
    """Run the jobs of the history under the policy.

    Args:
        policy: all of it known; the history's teams are its shares.
        history: from ``read_history``.
        options: None for the defaults.
        watch: called after every pass, to show progress; it slows the run.

    Raises:
        InputError: the policy has no place for any of the jobs, or for one of them and ``strict`` forbids that.
        UndecidedError: by the documented rules jobs stop each other over and over, and the run has no end.
    """
    options = ReplayOptions() if options is None else options
    fitted = fit(policy, history, options.choices, strict=options.strict)
    workload = Workload(fitted.jobs, timing=options.timing)
    try:
        run = simulate(policy, workload, options.choices, watch=watch)
    except TooManyMovesError as error:
        raise UndecidedError(str(error), file=history.source) from error
    return ReplayResult(policy, history, options, fitted, run)
