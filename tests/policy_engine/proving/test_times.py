"""What is said to hold over every schedule holds whenever jobs end: tried with many times that were drawn."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from policy_engine.expectations import Answer, judge_one
from policy_engine.exploration.explored import Bounds
from policy_engine.policy import Policy
from policy_engine.proving import explored
from policy_engine.proving.question import Numbers, Question
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.simulation import simulate
from policy_engine.workload.expected import (
    AlwaysExpectation,
    AnyExpectation,
    AtExpectation,
    JobExpectation,
    NeverExpectation,
)
from tests.policy_engine.exploration.models import STRATEGIES
from tests.policy_engine.logs import UNIT, policy_of

TIMES = 30
"""Drawn for each model."""
DURATIONS = ((None, None), (None, None), (None, 100.0), (None, 45.0), (50.0, 200.0))
"""The least seconds, of a range alone, and the most; without either a duration is open."""


def model(random: Random) -> tuple[Policy, Workload]:
    """Jobs of fixed, of open and of ranged durations side by side, with and without stops that take time."""
    names = ("a", "b", "c")[: random.choice((2, 2, 3))]
    policy = policy_of({name: f"{random.choice((1, 1, 2))} {random.choice(STRATEGIES)}" for name in names})
    jobs = tuple(_job(number, random.choice(names), random) for number in range(random.randint(2, 5)))
    return policy, Workload(jobs, timing=Timing(stop_seconds=random.choice((0.0, 0.0, 20.0))), until=400.0)


def _job(number: int, share: str, random: Random) -> Job:
    demand, priority = {UNIT: random.choice((1, 1, 1, 2))}, random.choice((0, 0, 1))
    shortest, duration = random.choice(DURATIONS)
    submit = random.choice((0.0, 0.0, 60.0, 100.0))
    return Job(f"j{number}", share, demand, priority, submit, duration, shortest)


def questions(workload: Workload, random: Random) -> list[AnyExpectation]:
    job = random.choice(workload.jobs)
    return [
        JobExpectation.model_validate({"job": job.name, "starts_within": random.choice((0, 50, 150))}),
        JobExpectation.model_validate({"job": job.name, "preempted": {"at_most": random.choice((0, 1))}}),
        NeverExpectation.model_validate({"never": {"share": job.share, "preempted": "any"}}),
        AtExpectation.model_validate({"at": random.choice((70, 130, 210)), "dispatched": [job.name]}),
        AlwaysExpectation.model_validate({"always": {"owner_reclaims": {"within": random.choice((0, 20, 60))}}}),
    ]


def drawn(workload: Workload, random: Random) -> Workload:
    """The workload with every duration drawn: often soon after, or just before, something that is given."""
    times = [0.5, 1, 19.5, 20.5, 44, 46, 54, 59.5, 60.5, 99, 101, 139, 141, 155, 199.5, 201]
    return replace(workload, jobs=tuple(replace(job, **_duration(job, random, times)) for job in workload.jobs))


def _duration(job: Job, random: Random, times: list[float]) -> dict[str, Any]:
    if job.duration is None:
        return {"duration": random.choice((None, random.choice(times), random.uniform(0.1, 399)))}
    if job.shortest is None:
        return {}
    within = [time for time in times if job.shortest <= time <= job.duration]
    return {
        "duration": random.choice((random.choice(within), random.uniform(job.shortest, job.duration))),
        "shortest": None,
    }


def settled(seed: int) -> tuple[int, int]:
    """How many questions of a seed hold, and how many are left undecided; each that holds is tried."""
    random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
    policy, workload = model(random)
    holding = undecided = 0
    for wanted in questions(workload, random):
        question = Question(policy, workload, wanted, Bounds(5_000), Numbers([workload.timing]))
        answer = explored(question, Choices(), ()).answer
        undecided += answer is Answer.UNDECIDED
        if answer is Answer.HOLDS:
            holding += 1
            for _ in range(TIMES):
                tried = drawn(workload, random)
                verdict = judge_one(simulate(policy, tried), wanted)
                assert verdict.verdict is Answer.HOLDS, (
                    seed,
                    wanted,
                    [job.duration for job in tried.jobs],
                    verdict.message,
                )
    return holding, undecided


def test_what_holds_holds_at_any_time() -> None:
    found = [settled(seed) for seed in range(25)]
    holding, undecided = (sum(numbers) for numbers in zip(*found, strict=True))
    assert holding > 40
    assert undecided < holding / 4


@pytest.mark.nightly
@pytest.mark.parametrize("hundred", range(10))
def test_what_holds_holds_at_any_time_at_night(hundred: int) -> None:
    for seed in range(1_000 + 100 * hundred, 1_100 + 100 * hundred):
        settled(seed)
