"""Sets of jobs, and moves that are remembered, come to what clocks come to, where no time runs."""

from dataclasses import replace
from random import Random
from typing import Any

from policy_engine.exploration.counterexample import replayed
from policy_engine.exploration.explored import Bounds, Explored
from policy_engine.exploration.space import PER_DECISION, Space
from policy_engine.policy import Policy
from policy_engine.proving.watches import watch_for
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Workload
from policy_engine.workload.expected import AlwaysExpectation, AnyExpectation, NeverExpectation
from tests.policy_engine.exploration.models import model
from tests.policy_engine.logs import UNIT

MODELS = 500
OTHER_UNIT = "ml.p5.48xlarge"
REDUCTIONS: tuple[dict[str, bool], ...] = ({}, {"symmetry": False, "partial_order": False})
ALWAYS = ("within_bounds", "reserve_never_lent", "no_futile_preemption")
Untimed = tuple[Policy, Workload, Choices]


def untimed(seed: int) -> Untimed:
    """The model of a seed in which a state is which jobs wait and which run."""
    random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
    of = model(seed, 2, 6)
    jobs = [replace(job, duration=None) for job in of.workload.jobs]
    policy = of.policy
    if random.random() < 0.3:
        policy = with_other_unit(policy, random)
        units = ({UNIT: 1}, {OTHER_UNIT: 1}, {UNIT: 1, OTHER_UNIT: 1})
        jobs = [replace(job, demand=random.choice(units)) for job in jobs]
    if random.random() < 0.2:
        jobs = [replace(jobs[0], submit=-30.0, started=-30.0), *jobs[1:]]
    jobs[-1] = replace(jobs[-1], submit=60.0, priority=2)  # who finds others that may be stopped
    until = random.choice((None, None, 100.0))
    choices = Choices(
        reclaim_or_in_share=random.choice(("any", "any", "reclaim_first", "in_share_first")),
        head_of_line=random.choice(("strict", "strict", "skip", "per_unit")),
        partly_borrowed=random.choice(("no", "no", "yes")),
        blocked_owner_lends=random.choice(("yes", "yes", "no")),
        unallocated=random.choice(("unusable", "borrowable")),
    )
    return policy, Workload(tuple(jobs), until=until), choices


def with_other_unit(policy: Policy, random: Random) -> Policy:
    """The policy with limits on a second instance type, which may sum to more or less than there is."""
    data = policy.model_dump(mode="json")
    for share in data["shares"].values():
        share["capacity_limits"][OTHER_UNIT] = random.choice((1, 2))
    data["service_environment"]["capacity_limits"][OTHER_UNIT] = random.choice((2, 3, 4))
    return Policy.of(data)


def question(seed: int, workload: Workload) -> AnyExpectation:
    if seed % 4 == 0:
        return AlwaysExpectation.model_validate({"always": ALWAYS[seed // 4 % 3]})
    kinds: tuple[dict[str, object], ...] = (
        {"share": workload.jobs[0].share, "preempted": "any"},
        {"priority_at_least": 0, "preempted": "in_share"},
        {"priority_at_least": 1, "preempted": "any"},
    )
    return NeverExpectation.model_validate({"never": kinds[seed // 4 % 3]})


def explored(of: Untimed, wanted: AnyExpectation, reductions: dict[str, bool], *, by_sets: bool) -> Explored:
    policy, workload, choices = of
    space = Space(policy, workload, choices, PER_DECISION, watch_for(wanted, workload), **reductions)
    assert space.untimed
    space.untimed = by_sets
    return space.explore(Bounds(20_000))


def told(found: Explored) -> tuple[Any, ...]:
    """What may not differ: up to where it is broken there may be several ways, one as short as the other."""
    if found.broken is not None:
        return found.depth, found.over, found.broken.at
    return found.states, found.depth, found.unsettled, found.has_all_times


def test_random_models_come_to_the_same() -> None:
    """As many states, the same verdicts, and schedules that break something as short, which can be run again."""
    found = []
    for seed in range(MODELS):
        of = untimed(seed)
        wanted = question(seed, of[1])
        for reductions in REDUCTIONS:
            by_sets = explored(of, wanted, reductions, by_sets=True)
            assert told(by_sets) == told(explored(of, wanted, reductions, by_sets=False)), (seed, wanted, reductions)
            if by_sets.broken is not None:
                policy, workload, choices = of
                assert replayed(policy, workload, choices, by_sets.broken, over=by_sets.over).run.log.rows
            found.append(by_sets)
    assert sum(one.broken is not None for one in found) > 20
    assert any(one.is_endless for one in found)
    assert sum(one.states for one in found) > 5_000
