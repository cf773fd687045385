"""Policies and jobs in a line each, and what is asked about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from policy_engine.explaining import Explanation, explain
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, Update, Workload
from policy_engine.simulation import simulate

U = "ml.g5.xlarge"
V = "ml.p4d.24xlarge"


def share(limit: int | Mapping[str, int], strategy: str = "LEND_AND_BORROW", **more: Any) -> dict[str, Any]:
    """A share; ``on`` for in-share preemption, ``borrow`` for its borrow limit."""
    limits = {U: limit} if isinstance(limit, int) else dict(limit)
    declared: dict[str, Any] = {
        "capacity_limits": limits,
        "strategy": strategy,
        "in_share_preemption": more.get("on", False),
        "state": more.get("state", "ENABLED"),
    }
    return {**declared, **({"borrow_limit": more["borrow"]} if "borrow" in more else {})}


def policy(capacity: int | Mapping[str, int], **shares: dict[str, Any]) -> Policy:
    limits = {U: capacity} if isinstance(capacity, int) else dict(capacity)
    return Policy.of({"service_environment": {"capacity_limits": limits}, "shares": shares})


def job(name: str, share: str, count: int | Mapping[str, int] = 1, priority: int | None = 0, **more: Any) -> Job:
    demand = {U: count} if isinstance(count, int) else dict(count)
    return Job(name, share, demand, priority=priority, **more)


@dataclass(frozen=True)
class Setup:
    """A run, and the job and the time that are asked about."""

    policy: Policy
    jobs: tuple[Job, ...]
    at: float = 0
    job: str = "x"
    updates: tuple[Update, ...] = ()
    timing: Timing = field(default_factory=Timing)
    choices: Choices = field(default_factory=Choices)
    until: float | None = 100

    def explain(self) -> Explanation:
        workload = Workload(self.jobs, self.updates, self.timing, self.until)
        return explain(simulate(self.policy, workload, self.choices), self.job, self.at)
