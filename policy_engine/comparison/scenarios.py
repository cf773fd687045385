"""A scenario under both policies: what becomes of each job, and what holds on either side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from policy_engine.comparison.sides import Policies, updates
from policy_engine.comparison.workloads import Effect, Side, effects, side
from policy_engine.errors import InputError, UndecidedError
from policy_engine.expectations import Answer, Verdict, describe, judge_one
from policy_engine.policy import Policy
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Workload
from policy_engine.workload.scenario import Scenario, jobs_named, shares_named


@dataclass(frozen=True, slots=True)
class Judged:
    """One expectation, on both sides."""

    old: Verdict
    new: Verdict

    @property
    def is_lost(self) -> bool:
        """Did it hold, and does it hold no more?"""
        return self.old.verdict is Answer.HOLDS and self.new.verdict is not Answer.HOLDS


@dataclass(frozen=True)
class ScenarioComparison:
    """A scenario, run under both policies."""

    scenario: Scenario
    workload: Workload
    old: Side
    new: Side
    effects: tuple[Effect, ...]
    """Of every job, in the order of the file."""
    judged: tuple[Judged, ...]
    """Every expectation, in the order of the file."""
    is_transition: bool = False
    """Is the new side the old policy, changed at once while these jobs are there?"""

    @property
    def changed(self) -> tuple[Effect, ...]:
        """The jobs of which something changes."""
        return tuple(effect for effect in self.effects if effect.is_changed)

    @property
    def hit(self) -> tuple[str, ...]:
        """The shares of jobs that fare worse, each once."""
        return tuple(dict.fromkeys(effect.job.share for effect in self.effects if effect.is_worse))

    @property
    def lost(self) -> tuple[Judged, ...]:
        """The expectations that held and hold no more."""
        return tuple(judged for judged in self.judged if judged.is_lost)


def under_both(scenario: Scenario, ways: Sequence[Policies]) -> ScenarioComparison:
    """The scenario under both policies.

    Args:
        scenario: what it names may be in one of the policies alone; its jobs cannot be submitted under the other.
        ways: the policies by the old names, and by the new ones: the first that the scenario fits is taken.

    Raises:
        InputError: the scenario names what neither policy has.
        UndecidedError: under one of them jobs stop each other over and over.
    """
    policies, workload = _fitting(scenario, ways)
    return _compared(scenario, policies, workload, workload, policies.new)


def in_transition(scenario: Scenario, policies: Policies) -> ScenarioComparison:
    """The jobs that a queue holds, as it is and with the change made at once. Raises as ``under_both``."""
    workload = scenario.workload(policies.old)
    changing = replace(workload, updates=(*updates(policies.old, policies.new), *workload.updates))
    found = _compared(scenario, policies, workload, changing, policies.old)
    return replace(found, is_transition=True)


def _compared(
    scenario: Scenario, policies: Policies, before: Workload, after: Workload, policy: Policy
) -> ScenarioComparison:
    choices = scenario.choices()
    try:
        old = side(policies.old, before, choices, scenario.chooser(before))
        new = side(policy, after, choices, scenario.chooser(after))
    except TooManyMovesError as error:
        raise UndecidedError(str(error), file=scenario.source) from error
    judged = tuple(_judged(scenario, number, old, new) for number in range(len(scenario.expect)))
    return ScenarioComparison(scenario, before, old, new, effects(before, old, new), judged)


def _fitting(scenario: Scenario, ways: Sequence[Policies]) -> tuple[Policies, Workload]:
    """The first of the policies, by old or new names, that the scenario fits; else what both have together."""
    for policies in ways:
        for policy in (policies.old, policies.new):
            try:
                return policies, scenario.workload(policy)
            except InputError:
                continue
    return ways[0], scenario.workload(ways[0].together)


def _judged(scenario: Scenario, number: int, old: Side, new: Side) -> Judged:
    wanted = scenario.expect[number]
    fitting = old if _missing(scenario, number, old) is None else new
    name = wanted.name if wanted.name is not None else describe(wanted, fitting.run)
    return Judged(*(_verdict(scenario, number, side, name) for side in (old, new)))


def _verdict(scenario: Scenario, number: int, side: Side, name: str) -> Verdict:
    missing, line = _missing(scenario, number, side), scenario.line(number)
    if missing is None:
        return replace(judge_one(side.run, scenario.expect[number], scenario.source, line), name=name)
    because = scenario.expect[number].because
    return Verdict(name, Answer.FAILS, missing, because=because, file=scenario.source, line=line)


def _missing(scenario: Scenario, number: int, side: Side) -> str | None:
    """Why the expectation is about what is not there; None where all of it is."""
    wanted = scenario.expect[number]
    for _, job in jobs_named(wanted):
        if job in side.refused:
            return f"{job} cannot be submitted: {side.refused[job]}"
    shares = side.run.policy.shares
    return next((f"there is no share {share}" for _, share in shares_named(wanted) if share not in shares), None)
