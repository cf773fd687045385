"""Each law notices the fault that was made to break it, and no other law does; without a fault none is broken."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Job, Terminate, UpdatePriority, Workload
from policy_engine.simulation import simulate
from tests.laws.laws import BrokenLawError
from tests.laws.mutants import MUTANTS
from tests.laws.watching import unwatched, watched
from tests.oracle.generator import Scenario, scenario
from tests.policy_engine.endless import CIRCLE, HALVES, OVER_COMMITTED, PAIR, TAKING_BACK

SEARCHED = 2_000
"""Seeds that are tried where the one noted no longer does."""


def reserve_only(seed: int) -> Scenario:
    """The scenario of a seed with every share RESERVE, enough for all of them, and nothing declared anew."""
    made = scenario(seed)
    shares = {
        name: {**share, "strategy": "RESERVE", "borrow_limit": None} for name, share in made.policy["shares"].items()
    }
    capacity: dict[str, int] = {}
    for share in shares.values():
        for unit, limit in share["capacity_limits"].items():
            capacity[unit] = capacity.get(unit, 0) + limit
    for job in made.workload.jobs:
        capacity.update({unit: 1 for unit in job.demand if unit not in capacity})
    policy = {"service_environment": {"capacity_limits": capacity}, "shares": shares}
    jobs = tuple(replace(job, started=None) for job in made.workload.jobs)
    updates = tuple(
        update
        for update in made.workload.updates
        if isinstance(update, UpdatePriority | Terminate) and update.at >= _submit_of(jobs, update.job)
    )
    timing = replace(made.workload.timing, queue_latency=0.0)
    return Scenario(policy, replace(made.workload, jobs=jobs, updates=updates, timing=timing), made.choices)


def _submit_of(jobs: tuple[Job, ...], name: str) -> float:
    return next(job.submit for job in jobs if job.name == name)


def broken_by(policy: Policy, workload: Workload, choices: Choices) -> set[str]:
    """The laws that the run breaks."""
    broken = set()
    with watched(lambda error: broken.add(error.law)):
        try:
            simulate(policy, workload, choices)
        except BrokenLawError as error:
            broken.add(error.law)
        except TooManyMovesError:
            broken.add("the engine gives up")
    return broken


def broken_by_seed(seed: int, law: str) -> set[str]:
    made = reserve_only(seed) if law == "alone" else scenario(seed)
    return broken_by(made.declared(), made.workload, made.choices)


# C10: b takes back what is its own of what a holds; a may not be started again, or they would go on for ever.
TAKEN_BACK = replace(PAIR, jobs=(replace(PAIR.jobs[0], preemption_retries=0), PAIR.jobs[1]))
MADE: dict[str, tuple[Policy, Workload, Choices]] = {
    "a_pass_ends": (OVER_COMMITTED, CIRCLE, Choices()),
    "nothing_moves_at_rest": (HALVES, TAKEN_BACK, TAKING_BACK),
}
"""Laws whose mutant shows in a scenario made for it."""
SEEDS = {
    "within_bounds": 0,
    "reserved_never_lent": 11,
    "held_for_its_claimant": 99,
    "no_claimant_is_left": 23,
    "no_futile_eviction": 56,
    "victims_are_minimal": 0,
    "only_lower_in_share": 6,
    "only_over_limit_loses": 145,
    "instances_are_conserved": 1,
    "alone": 0,
}
"""Laws whose mutant shows in the scenario of a seed."""


def test_every_law_has_its_mutant() -> None:
    assert MUTANTS.keys() == MADE.keys() | SEEDS.keys()


@pytest.mark.parametrize("law", SEEDS)
def test_exactly_one_law_notices_the_mutant_made_for_it(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    noted = SEEDS[law]
    assert broken_by_seed(noted, law) == set()
    MUTANTS[law](monkeypatch)
    assert any(broken_by_seed(seed, law) == {law} for seed in (noted, *range(SEARCHED)))


@pytest.mark.parametrize("law", MADE)
def test_exactly_one_law_notices_the_mutant_in_a_scenario_made_for_it(
    law: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    MUTANTS[law](monkeypatch)
    assert broken_by(*MADE[law]) == {law}


def test_no_law_is_broken_without_a_mutant() -> None:
    assert broken_by(*MADE["nothing_moves_at_rest"]) == set()
    assert broken_by(*MADE["a_pass_ends"]) == {"the engine gives up"}


def test_every_run_of_the_suite_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS["nothing_moves_at_rest"](monkeypatch)
    with pytest.raises(BrokenLawError, match="nothing_moves_at_rest is broken at 1 s: another pass moves b"):
        simulate(*MADE["nothing_moves_at_rest"])


@pytest.mark.unwatched
def test_a_test_can_do_without(monkeypatch: pytest.MonkeyPatch) -> None:
    MUTANTS["nothing_moves_at_rest"](monkeypatch)
    assert simulate(*MADE["nothing_moves_at_rest"]).log


def test_the_watch_changes_nothing() -> None:
    """What is looked at after a pass leaves the engine's own notes as they were."""

    def logs() -> list[Any]:
        made = [scenario(seed) for seed in range(100)]
        return [simulate(one.declared(), one.workload, one.choices).log.rows for one in made]

    seen = logs()
    with unwatched():
        assert logs() == seen


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_with_everything_reserved_each_share_behaves_as_if_alone(first: int) -> None:
    """The law itself compares the runs; here are runs for it."""
    preempted = 0
    for seed in range(first, first + 50):
        made = reserve_only(seed)
        log = simulate(made.declared(), made.workload, made.choices).log
        preempted += any(event.kind == "preempted" for event in log)
    assert preempted > 10
