"""A head that was found to have no move is looked at again when something gives it one."""

from __future__ import annotations

from typing import Any

import pytest

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Terminate, Update, UpdateServiceEnvironment, UpdateShare, Workload
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import simulate

U = "ml.g5.xlarge"


def policy(capacity: int, **limits: int) -> Policy:
    shares: dict[str, Any] = {
        name: {"capacity_limits": {U: limit}, "strategy": "LEND_AND_BORROW", "in_share_preemption": name == "own"}
        for name, limit in limits.items()
    }
    return Policy.of({"service_environment": {"capacity_limits": {U: capacity}}, "shares": shares})


def job(name: str, share: str, count: int = 1, **more: Any) -> Job:
    return Job(name, share, {U: count}, **more)


@pytest.mark.parametrize(
    ("declared", "jobs", "updates", "choices", "started"),
    [
        pytest.param(
            policy(7, a=2, b=3, c=2),
            (
                job("ends", "c", 2, duration=30),
                job("stays", "a", 1),
                job("over", "b", 3),
                job("owner", "a", 1, submit=20),
            ),
            (UpdateServiceEnvironment(10, {U: 3}), UpdateShare(15, "b", {U: 1})),
            Choices(),
            ("owner", 30),
            id="an end while more is used than there is lets an owner stop who is over its limit",
        ),
        pytest.param(
            policy(4, own=2, other=2),
            (
                job("ends", "other", 2, duration=30),
                job("low", "own", 2, priority=1),
                job("high", "own", 1, priority=2, submit=20),
            ),
            (UpdateServiceEnvironment(10, {U: 1}),),
            Choices(),
            ("high", 30),
            id="and a higher priority stop a lower one of its share",
        ),
        pytest.param(
            policy(6, a=1, b=5),
            (job("own", "a", 1), job("large", "b", 7, submit=5), job("borrower", "a", 1, submit=10)),
            (Terminate(20, "large"),),
            Choices(blocked_owner_lends="no"),
            ("borrower", 20),
            id="a blocked owner that is terminated keeps nothing any more (C17)",
        ),
    ],
)
def test_it_moves(
    declared: Policy, jobs: tuple[Job, ...], updates: tuple[Update, ...], choices: Choices, started: tuple[str, float]
) -> None:
    run = simulate(declared, Workload(jobs, updates), choices)
    starts = {event.job: event.at for event in run.log if event.kind is Kind.STARTED}
    assert starts[started[0]] == started[1]
