"""Small workloads on which the answers to one open choice part ways."""

from dataclasses import dataclass, replace
from typing import Any

from policy_engine.conforming import Asked, Conformance, conform, read_record
from policy_engine.outcome.as_batch import history_text
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Exit, Job, Timing, Update, UpdateShare, Workload
from policy_engine.simulation import Run, simulate

UNIT = "ml.g5.xlarge"
OTHER = "ml.p5.48xlarge"


def share(limit: int, strategy: str = "RESERVE", *, borrow: int | None = None, own: bool = False, **more: Any) -> Any:
    return {
        "capacity_limits": {UNIT: limit},
        "strategy": strategy,
        "borrow_limit": borrow,
        "in_share_preemption": own,
        **more,
    }


def borrower(limit: int, *, borrow: int | None = None, own: bool = False) -> Any:
    return share(limit, "LEND_AND_BORROW", borrow=borrow, own=own)


def policy(capacity: int, **shares: Any) -> Policy:
    return Policy.of({"service_environment": {"capacity_limits": {UNIT: capacity}}, "shares": shares})


def job(name: str, submit: float, duration: float, count: int = 1, priority: int = 0, **more: Any) -> Job:
    """Of the share that its name begins with."""
    demand = more.pop("demand", {UNIT: count})
    return Job(name, name[0], demand, priority, submit, duration, **more)


@dataclass(frozen=True)
class Setup:
    """One workload under one policy."""

    policy: Policy
    jobs: tuple[Job, ...]
    stop_seconds: float = 0.0
    updates: tuple[Update, ...] = ()

    def run(self, choices: Choices) -> Run:
        jobs = tuple(sorted(self.jobs, key=lambda one: one.submit))
        workload = Workload(jobs, self.updates, Timing(stop_seconds=self.stop_seconds))
        return simulate(self.policy, workload, choices)

    def conformed(self, choices: Choices, path: Any, tolerance: float = 0.0) -> Conformance:
        """What conform says about the history that the engine makes under these choices."""
        path.write_text(history_text(self.run(choices)), encoding="utf-8")
        record = read_record(str(path), self.policy)
        asked = Asked(tolerance, self.stop_seconds, updates=self.updates)
        return conform(self.policy, record, asked)


_LENDING = policy(3, l=share(1, "LEND"), a=borrower(1), b=borrower(1))
_VICTIMS = policy(5, l=share(3, "LEND"), b=borrower(2))

SETUPS: dict[str, list[Setup]] = {
    "share_order": [
        Setup(policy(1, z=share(1), a=share(1)), (job("z1", 0, 100), job("z2", 10, 50), job("a1", 20, 50))),
        Setup(policy(1, z=share(1), a=share(1)), (job("z1", 0, 100), job("z2", 30, 50), job("a1", 20, 50))),
        Setup(
            policy(3, z=share(2), a=share(2)),
            (job("z1", 0, 500), job("a1", 0, 100, 2), job("z2", 10, 50), job("a2", 20, 50, 2)),
        ),
    ],
    "idle_assignment": [
        Setup(
            _LENDING,
            (
                *(job("a0", 0, 900), job("b0", 0, 900), job("a1", 1, 500)),
                *(job("b1", 20, 500), job("l1", 50, 150)),
            ),
        )
    ],
    "requeue": [
        Setup(
            _LENDING, (job("a0", 0, 900), job("a1", 1, 500), job("a2", 10, 500), job("l1", 50, 150), job("b0", 0, 900))
        )
    ],
    "equal_priority": [
        Setup(
            policy(1, a=share(1)),
            (job("a1", 0, 50, attempts=2, exit=Exit.FAILED), job("a2", 10, 50)),
        )
    ],
    "head_of_line": [
        Setup(policy(2, a=share(2)), (job("a0", 0, 100), job("a1", 10, 50, 2), job("a2", 20, 50))),
        Setup(
            Policy.of(
                {
                    "service_environment": {"capacity_limits": {UNIT: 1, OTHER: 1}},
                    "shares": {"a": {**share(1), "capacity_limits": {UNIT: 1, OTHER: 1}}},
                }
            ),
            (job("a0", 0, 100), job("a1", 10, 50), job("a2", 20, 50, demand={OTHER: 1})),
        ),
    ],
    "unallocated": [
        Setup(policy(3, l=share(1, "LEND"), a=borrower(1)), (job("l0", 0, 500), job("a0", 0, 500), job("a1", 10, 50)))
    ],
    "borrow_rounding": [
        Setup(policy(6, l=share(3, "LEND"), a=borrower(3, borrow=50)), (job("a0", 0, 200, 3), job("a1", 10, 50, 2))),
        Setup(policy(2, l=share(1, "LEND"), a=borrower(1, borrow=40)), (job("a0", 0, 200), job("a1", 10, 50))),
    ],
    "victims": [
        Setup(
            _VICTIMS,
            (
                *(job("b1", 0, 900, 1, 5), job("b2", 10, 900, 2, 1), job("b3", 20, 900, 1, 3)),
                *(job("b4", 30, 900, 1, 4), job("l1", 50, 100)),
            ),
        ),
        Setup(
            policy(3, l=share(1, "LEND"), b=borrower(2)),
            (job("b1", 0, 900, 2, 1), job("b2", 10, 900, 1, 2), job("l1", 50, 100)),
        ),
        Setup(
            policy(6, l=share(4, "LEND"), b=borrower(2)),
            (
                *(job("b1", 0, 900, 1, 1), job("b2", 10, 900, 1, 2), job("b3", 20, 900, 2, 3)),
                *(job("b4", 30, 900, 2, 9), job("l1", 50, 100, 2)),
            ),
        ),
    ],
    "reclaim_or_in_share": [
        Setup(
            policy(3, a=borrower(2, own=True), b=borrower(1)),
            (job("a1", 0, 900), job("b0", 0, 900), job("b1", 10, 900), job("a2", 50, 100, 1, 5)),
        )
    ],
    "partly_borrowed": [
        Setup(
            policy(3, a=borrower(1), b=borrower(1), l=share(1, "LEND")),
            (job("b0", 0, 900), job("b1", 10, 400), job("a1", 50, 100, 2)),
        )
    ],
    "lowered_limit": [
        Setup(
            policy(2, a=share(2)),
            (job("a1", 0, 300), job("a2", 10, 300)),
            updates=(UpdateShare(50.0, "a", capacity_limits={UNIT: 1}),),
        )
    ],
    "disabled_share_lends": [
        Setup(policy(2, d=share(1, "LEND", state="DISABLED"), a=borrower(1)), (job("a1", 0, 300), job("a2", 10, 100)))
    ],
    "freed_capacity": [
        Setup(
            policy(4, l=share(2, "LEND"), a=borrower(1), b=borrower(1)),
            (
                *(job("b0", 0, 900), job("a0", 0, 900), job("b1", 10, 900), job("l1", 50, 100, 2)),
                job("a1", 55, 100),
            ),
            stop_seconds=20.0,
        )
    ],
    "undeclared_unit": [
        Setup(
            Policy.of(
                {
                    "service_environment": {"capacity_limits": {UNIT: 1, OTHER: 1}},
                    "shares": {"l": {**share(1, "LEND"), "capacity_limits": {OTHER: 1}}, "a": borrower(1)},
                }
            ),
            (job("a1", 0, 100, demand={OTHER: 1}), job("l1", 50, 100, demand={OTHER: 1})),
        )
    ],
    "blocked_owner_lends": [
        Setup(
            policy(3, o=share(2, "LEND"), b=borrower(1)),
            (job("o0", 0, 300), job("b0", 0, 900), job("o1", 10, 100, 2), job("b1", 20, 100)),
        )
    ],
}
"""Choice to workloads; between them they tell as many of its answers apart as there are words for."""


def answered(choice: str, answer: str) -> Choices:
    """The default answers but for one."""
    answers: dict[str, Any] = {choice: answer}
    return replace(Choices(), **answers)
