"""What a run comes to under any answer to an open choice, an exploration of that choice comes to too."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest

from policy_engine.expectations import Answer
from policy_engine.exploration.explored import Bounds
from policy_engine.exploration.space import Space
from policy_engine.policy import Policy
from policy_engine.proving import explored
from policy_engine.proving.question import Numbers, Question
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import Clock, simulate
from policy_engine.workload.expected import JobExpectation
from tests.policy_engine.exploration.models import Recording, outcome
from tests.policy_engine.logs import UNIT, policy_of

OPEN = ("victims", "share_order", "idle_assignment")


def workload_of(seed: int) -> tuple[Policy, Workload]:
    """A share that borrows and stops its own jobs, which are large enough to leave it beyond its limit or not."""
    random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
    lines = {"a": f"{random.choice((1, 2))} LEND_AND_BORROW in_share", "b": f"{random.choice((2, 3))} LEND"}
    if random.random() < 0.3:
        lines["c"] = "1 LEND_AND_BORROW"
    jobs = [
        Job(f"j{number}", random.choice(("a", "a", *lines)), {UNIT: random.choice((1, 1, 2, 3))}, number // 2, number)
        for number in range(random.randint(3, 5))
    ]
    return policy_of(lines), Workload((*jobs, Job("last", "a", {UNIT: 1}, 5, 60.0)), until=90.0)


@pytest.mark.parametrize("seeds", [range(start, start + 100) for start in range(0, 300, 100)], ids=str)
def test_every_answer_is_among_those_explored(seeds: range) -> None:
    missed, told_apart = [], 0
    for seed in seeds:
        policy, workload = workload_of(seed)
        for name in OPEN:
            watch = Recording()
            explored = Space(policy, workload, Choices(), frozenset({name}), watch).explore(Bounds(20_000))
            if explored.unsettled:
                continue
            told_apart += len(watch.seen) > 1
            for answer in (BY_NAME[name].default, *BY_NAME[name].alternatives):
                answered: dict[str, Any] = {name: answer}
                clock = Clock(policy, workload, replace(Choices(), **answered), None)
                clock.run()
                if outcome(clock) not in watch.seen:
                    missed.append((seed, name, answer))
    assert missed == []
    assert told_apart > 0, "in none of them does the choice make a difference"


def test_another_set_of_victims_may_lead_to_a_later_step() -> None:
    """Stopping x leaves b inside its limit (step 2); stopping y, which is older, leaves it beyond (step 4)."""
    policy = policy_of({"b": "2 LEND_AND_BORROW in_share", "c": "3 LEND"})
    jobs = (
        Job("y", "b", {UNIT: 1}, 1),
        Job("x", "b", {UNIT: 3}, 0, 1.0),
        Job("c1", "c", {UNIT: 1}, 0, 2.0),
        Job("h", "b", {UNIT: 1}, 2, 60.0),
    )
    workload = Workload(jobs)
    wanted = JobExpectation.model_validate({"job": "y", "preempted": 0})
    for answer, preempts in {"borrowed_first": False, "oldest": True}.items():
        run = simulate(policy, workload, Choices(victims=answer))
        assert any(row[1:3] == (Kind.PREEMPTED, 0) for row in run.log.rows) is preempts
    question = Question(policy, workload, wanted, Bounds(), Numbers([workload.timing]))
    found = explored(question, Choices(), ("victims",))
    assert (found.answer, found.depends_on) == (Answer.DEPENDS, ("victims",))
    assert found.counterexample is not None, "and it has been run again before it is shown"
