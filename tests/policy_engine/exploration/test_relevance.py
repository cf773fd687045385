"""A choice that is said not to matter makes no difference, whatever its answer and those of the others."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from policy_engine.exploration.relevance import answers, matters
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import CHOICES, Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Workload
from policy_engine.simulation import simulate
from tests.oracle.generator import scenario

SEEDS = 80


def log_of(policy: Policy, workload: Workload, choices: Choices, **answered: Any) -> object:
    """What happens; what a job is told that can never fit has numbers in it that nothing else depends on."""
    try:
        rows = simulate(policy, workload, replace(choices, **answered)).log.rows
    except TooManyMovesError as error:
        return str(error)
    return [row[:5] for row in rows]


def left_out(policy: Policy, workload: Workload) -> Iterator[tuple[str, str]]:
    """Choices and answers that are not tried."""
    for choice in CHOICES:
        tried = answers(choice.name, workload) if matters(choice.name, policy, workload) else ()
        for answer in choice.answers:
            if answer not in tried and answer != "any":
                yield choice.name, answer


def test_what_is_not_tried_makes_no_difference() -> None:
    compared: Counter[str] = Counter()
    for seed in range(SEEDS):
        given = scenario(seed)
        policy, workload = given.declared(), given.workload
        for name, answer in left_out(policy, workload):
            # of an answer that is not tried, another stands for it: the default, here for C5 `per_unit` too
            base = replace(given.choices, head_of_line="strict") if name == "head_of_line" else given.choices
            other: dict[str, Any] = {name: answer}
            assert log_of(policy, workload, base, **other) == log_of(policy, workload, base), (seed, name, answer)
            compared[name] += 1
    assert min(compared[choice.name] for choice in CHOICES if not choice.is_number) > 0, compared
