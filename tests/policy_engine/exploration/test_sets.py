"""Sets of victims: those that a search over all jobs has, fewer where jobs are interchangeable, and none too late."""

from collections.abc import Iterator
from math import inf
from time import monotonic
from typing import Any

import pytest

from policy_engine.expectations import Answer
from policy_engine.exploration.sets import OutOfTimeError, minimal_sets
from policy_engine.running import verify
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.state import Phase, State
from policy_engine.scheduler.victims import Kind, Search
from tests.policy_engine.command import folder, write
from tests.policy_engine.exploration.models import model
from tests.policy_engine.logs import UNIT, policy_of

__all__ = ["folder"]


def searches(seeds: range) -> Iterator[Search]:
    """For every kind of set, in queues that are as full as they get."""
    for seed in seeds:
        of = model(seed, 5, 8)
        state = State(of.policy, Choices())
        state.add(of.workload.jobs)
        for job in range(len(of.workload.jobs)):
            state.enqueue(job, 0.0)
        waiting = []
        for job in range(len(of.workload.jobs)):
            if state.phase[job] is Phase.WAITING and state.look(job) & 2:
                state.start(job, 0.0)
            else:
                waiting.append(job)
        for job in waiting:
            yield from (Search(state, job, kind) for kind in Kind)


def test_they_are_those_of_a_search_over_all_jobs() -> None:
    found = 0
    for search in searches(range(200)):
        plain = list(search.minimal_sets())
        assert list(minimal_sets(search, None, inf)) == plain
        assert all(search.is_minimal(victims) for victims in plain)
        found += len(plain)
    assert found > 100


def test_one_set_stands_for_all_with_as_many_of_each_kind() -> None:
    fewer = 0
    for search in searches(range(200)):
        state = search.state
        groups = [
            (state.share_of[job], state.jobs[job].instances, state.priority[job]) for job in range(len(state.jobs))
        ]
        numbers = [groups.index(group) for group in groups]
        kinds = [sorted(numbers[victim] for victim in victims) for victims in search.minimal_sets()]
        collapsed = [sorted(numbers[victim] for victim in victims) for victims in minimal_sets(search, numbers, inf)]
        assert sorted(collapsed) == sorted(map(list, {tuple(kind) for kind in kinds}))
        fewer += len(kinds) - len(collapsed)
    assert fewer > 20


def many() -> Search:
    """Thirty borrowers, no two of them alike, of which fifteen have to go."""
    state = State(policy_of({"b": "2 LEND_AND_BORROW", "o": "30 LEND"}), Choices())
    state.add([*(Job(f"b{n}", "b", {UNIT: 1}) for n in range(32)), Job("o", "o", {UNIT: 15})])
    for job in range(33):
        state.enqueue(job, 0.0)
    for job in range(32):
        state.start(job, 0.0)
    return Search(state, 32, Kind.CROSS)


def test_there_is_an_end_to_the_time() -> None:
    with pytest.raises(OutOfTimeError):
        list(minimal_sets(many(), None, monotonic() + 0.05))
    [alike] = minimal_sets(many(), [0] * 33, inf)
    assert len(alike) == 15


MANY = """
    service_environment: {capacity_limits: {ml.g5.xlarge: 32}}
    shares:
      b: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, in_share_preemption: false}
      o: {capacity_limits: {ml.g5.xlarge: 30}, strategy: LEND, in_share_preemption: false}
"""


@pytest.mark.parametrize(
    ("jobs", "answer"),
    [
        ("{name: b, share: b, copies: 32}", Answer.HOLDS),
        (", ".join(f"{{name: b{n}, share: b, duration: {n + 100}h}}" for n in range(32)), Answer.UNDECIDED),
    ],
)
def test_a_command_keeps_to_its_time_however_many_sets_there_are(jobs: str, answer: Answer, folder: Any) -> None:
    write(folder, "many.yaml", MANY)
    text = f"jobs: [{jobs}, {{name: o, share: o, instance_count: 15, submit: 1m, duration: 1m}}]\nuntil: 3m\n"
    write(folder, "s.yaml", f"{text}expect: [{{job: o, starts_within: 0s}}]\n")
    began = monotonic()
    [found] = verify("many.yaml", "s.yaml", open=["victims", "share_order"], max_seconds=3.0).expectations
    assert found.verdict is answer
    assert (found.message.endswith("--max-seconds 3 was reached")) is (answer is Answer.UNDECIDED)
    assert monotonic() - began < 60
