"""Where the two engines first disagreed: the shrunk scenario, and what the specification says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import (
    Exit,
    Job,
    Terminate,
    Timing,
    Update,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from tests.oracle.difference import by_first, by_second
from tests.oracle.generator import Scenario

G = "ml.g5.xlarge"
P = "ml.p4d.24xlarge"
Demand = int | Mapping[str, int]


@dataclass(frozen=True)
class Case:
    """A scenario, and the moves at one instant in it: kind, job and for whom."""

    about: str
    capacity: Demand
    shares: Mapping[str, dict[str, Any]]
    jobs: tuple[Job, ...]
    at: float
    moves: tuple[tuple[str, ...], ...]
    updates: tuple[Update, ...] = ()
    timing: Timing = Timing()  # noqa: RUF009 (frozen)
    choices: Choices = Choices()  # noqa: RUF009 (frozen)
    time_limits: tuple[dict[str, Any], ...] = ()

    def scenario(self) -> Scenario:
        policy: dict[str, Any] = {
            "service_environment": {"capacity_limits": units(self.capacity)},
            "shares": dict(self.shares),
            "job_state_time_limits": list(self.time_limits),
        }
        return Scenario(policy, Workload(self.jobs, self.updates, self.timing, until=1000), self.choices)


def units(demand: Demand) -> dict[str, int]:
    return {G: demand} if isinstance(demand, int) else dict(demand)


def share(
    limits: Demand, strategy: str = "LEND_AND_BORROW", borrow_limit: int | None = None, in_share: bool = False
) -> dict[str, Any]:
    return {
        "capacity_limits": units(limits),
        "strategy": strategy,
        "borrow_limit": borrow_limit,
        "in_share_preemption": in_share,
    }


def job(name: str, of: str, demand: Demand, submit: float = 0, priority: int = 0, **fields: Any) -> Job:
    return Job(name, of, units(demand), priority, submit, **fields)


CASES = [
    Case(
        "a job that can never fit is blocked at the front, also while another of its units is full",
        {G: 8, P: 1},
        {"s": share(4, "LEND")},
        (job("a", "s", 1), job("never", "s", {G: 4, P: 1}, 5)),
        at=5,
        moves=(("blocked", "never"),),
    ),
    Case(
        "only jobs of a share over its limit on a unit that the claimant lacks are stopped",
        {G: 2, P: 9},
        {"x": share({G: 3, P: 2}, borrow_limit=200), "y": share({G: 1, P: 5}, borrow_limit=75)},
        (job("a", "x", {G: 2, P: 1}), job("b", "x", {P: 2}), job("c", "y", {G: 1, P: 1})),
        at=0,
        moves=(("started", "a"), ("started", "b")),
    ),
    Case(
        "a job fits into what its share borrows where it does so on every unit that the claimant lacks",
        {G: 8, P: 6},
        {
            "x": share({G: 2, P: 2}, borrow_limit=100, in_share=True),
            "y": share(5, borrow_limit=200),
            "z": share({G: 1, P: 2}, borrow_limit=200),
        },
        (
            job("y1", "y", 4, 40),
            job("z1", "z", {P: 2}, 10, priority=1),
            job("x1", "x", 2, 10),
            job("x2", "x", 1),
            job("z2", "z", {G: 1, P: 2}, 5),
            job("in", "x", {P: 1, G: 1}, 40, priority=1),
        ),
        at=40,
        moves=(
            ("started", "y1"),
            ("preempted", "z1", "in"),
            ("preempted", "x1", "in"),
            ("stopped", "z1"),
            ("requeued", "z1"),
            ("stopped", "x1"),
            ("requeued", "x1"),
            ("started", "in"),
        ),
    ),
    Case(
        "C11 at_once: a limit that is raised stops nobody, also where the share goes on borrowing",
        4,
        {"x": share(2), "y": share(3)},
        (job("a", "x", 2), job("b", "x", 2)),
        at=35,
        moves=(("share_updated",),),
        updates=(UpdateShare(35, "x", capacity_limits={G: 3}),),
        choices=Choices(lowered_limit="at_once"),
    ),
    Case(
        "the duration of a job that ran before counts from its start, whatever start_seconds is",
        2,
        {"x": share(2)},
        (job("a", "x", 1, duration=60, started=-20),),
        at=40,
        moves=(("finished", "a"),),
        timing=Timing(start_seconds=5),
    ),
    Case(
        "and so does its timeout",
        2,
        {"x": share(2)},
        (job("a", "x", 1, timeout=30, started=-20),),
        at=10,
        moves=(("failed", "a"),),
        timing=Timing(start_seconds=5),
    ),
    Case(
        "C8 fewest_jobs: of the smallest sets the first in the default's order: what fits into the excess",
        4,
        {"x": share(2), "y": share(2)},
        (job("one", "x", 1), job("two", "x", 2), job("in", "y", 2, 12)),
        at=12,
        moves=(("preempted", "one", "in"), ("stopped", "one"), ("requeued", "one"), ("started", "in")),
        choices=Choices(victims="fewest_jobs"),
    ),
    Case(
        "C8 fewest_jobs: a set that is legal in some order of taking counts",
        4,
        {"x": share(4, in_share=True), "y": share(1)},
        (
            job("lone", "y", 1, started=-20),
            job("pair", "y", 2, started=-10),
            job("in", "x", 4, 5),
        ),
        at=5,
        moves=(
            ("preempted", "lone", "in"),
            ("preempted", "pair", "in"),
            ("stopped", "lone"),
            ("requeued", "lone"),
            ("stopped", "pair"),
            ("requeued", "pair"),
            ("started", "in"),
        ),
        choices=Choices(victims="fewest_jobs"),
    ),
    Case(
        "C9 in_share_first: starts of step 1, then step 2, then the reclaim of step 1",
        8,
        {"x": share(4, borrow_limit=50), "y": share(2), "r": share(3, "RESERVE")},
        (
            job("x1", "x", 1, started=-30),
            job("x2", "x", 4, started=-20),
            job("y1", "y", 2),
            job("r1", "r", 1),
        ),
        at=0,
        moves=(
            ("started", "r1"),
            ("preempted", "x1", "y1"),
            ("stopped", "x1"),
            ("requeued", "x1"),
            ("started", "y1"),
        ),
        choices=Choices(reclaim_or_in_share="in_share_first"),
    ),
    Case(
        "C3 back_of_priority: behind a job that was submitted at the same instant",
        2,
        {"x": share(2, in_share=True)},
        (
            job("a", "x", 1, priority=1),
            job("in", "x", 2, 10, priority=2, duration=90),
            job("b", "x", 1, 10, priority=1),
        ),
        at=100,
        moves=(("finished", "in"), ("started", "b"), ("started", "a")),
        choices=Choices(requeue="back_of_priority"),
    ),
    Case(
        "C3 is about preempted jobs: after a timeout the place is that of C4 again",
        3,
        {"x": share(1, in_share=True), "y": share(2, "LEND")},
        (
            job("a", "x", 1, timeout=20, attempts=2),
            job("in", "x", 1, 10, priority=1, duration=20),
            job("b", "x", 1, 12, duration=20),
            job("y1", "y", 2),
        ),
        at=50,
        moves=(("stopped", "a"), ("requeued", "a"), ("started", "a")),
        choices=Choices(requeue="back_of_priority"),
    ),
    Case(
        "a head that would fit no more once another has started looks for victims after all",
        5,
        {"x": share(2, borrow_limit=75, in_share=True), "y": share(1, borrow_limit=50), "z": share(2)},
        (
            job("x1", "x", 1, priority=1, duration=10, exit=Exit.CAPACITY_FAILURE),
            job("x2", "x", 1),
            job("x3", "x", 1),
            job("y1", "y", 1, 5, duration=5, attempts=3, exit=Exit.FAILED),
            job("z1", "z", 2, 5),
            job("in", "x", 1, 15, priority=1),
        ),
        at=15,
        moves=(("stopped", "y1"), ("requeued", "y1"), ("started", "y1"), ("preempted", "x2", "in")),
        timing=Timing(stop_seconds=20),
    ),
    Case(
        "an owner that comes at the instant of an end reclaims before a borrower starts",
        8,
        {"x": share(2, in_share=True), "y": share(2), "z": share(4, borrow_limit=50)},
        (
            job("y1", "y", 1, 10),
            job("x1", "x", 1, 5, priority=1, duration=5, exit=Exit.CAPACITY_FAILURE),
            job("x2", "x", 1, 5, priority=1),
            job("x3", "x", 1),
            job("in", "z", 3, 10, priority=1),
            job("x4", "x", 1),
            job("y2", "y", 1, 10),
            job("z1", "z", 2, duration=5, exit=Exit.CAPACITY_FAILURE),
            job("x5", "x", 1),
            job("x6", "x", 2),
        ),
        at=10,
        moves=(
            ("stopped", "x1"),
            ("requeued", "x1"),
            ("stopped", "z1"),
            ("requeued", "z1"),
            ("started", "y1"),
            ("started", "y2"),
            ("preempted", "x5", "in"),
            ("preempted", "x4", "x1"),
        ),
        timing=Timing(stop_seconds=20),
    ),
    Case(
        "C17 no: what a victim's share gets idle by the stop is kept for its front job too",
        16,
        {"x": share(4), "y": share(5), "z": share(5)},
        (
            job("y1", "y", 4, 10),
            job("y2", "y", 4, 5),
            job("z1", "z", 5, 5),
            job("in", "x", 4, 10),
            job("z2", "z", 1),
            job("y3", "y", 2),
        ),
        at=10,
        moves=(
            ("preempted", "z2", "in"),
            ("preempted", "y2", "in"),
            ("stopped", "z2"),
            ("requeued", "z2"),
            ("stopped", "y2"),
            ("requeued", "y2"),
            ("started", "in"),
        ),
        choices=Choices(blocked_owner_lends="no"),
    ),
    Case(
        "C17 no: a front job that is terminated gives its share's idle capacity to the borrowers",
        6,
        {"x": share(2), "y": share(3), "z": share(1)},
        (
            job("y1", "y", 2),
            job("x1", "x", 2),
            job("z1", "z", 1),
            job("front", "y", 2, 5),
            job("z2", "z", 1, 10),
        ),
        at=20,
        moves=(("terminated", "front"), ("started", "z2")),
        updates=(Terminate(20, "front"),),
        choices=Choices(blocked_owner_lends="no"),
    ),
    Case(
        "an end in another share may be what an in-share preemption lacked, in a lowered environment",
        8,
        {"x": share(3), "r": share(3, "RESERVE", in_share=True)},
        (job("x1", "x", 1, duration=20), job("low", "r", 2), job("in", "r", 1, 10, priority=1)),
        at=20,
        moves=(
            ("finished", "x1"),
            ("preempted", "low", "in"),
            ("stopped", "low"),
            ("requeued", "low"),
            ("started", "in"),
            ("blocked", "low"),
        ),
        updates=(UpdateServiceEnvironment(10, {G: 1}),),
    ),
    Case(
        "a job state time limit counts from when the reason came, and anew where it went and came back",
        {G: 3, P: 1},
        {"x": share({G: 2, P: 1}, borrow_limit=100)},
        (job("a", "x", {P: 3}),),
        at=635,
        moves=(("terminated", "a"),),
        updates=(UpdateServiceEnvironment(20, {G: 3, P: 8}), UpdateServiceEnvironment(35, {G: 3, P: 2})),
        time_limits=({"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "max_seconds": 600},),
    ),
    Case(
        "a claimant needs bound now: of two for which a lowered limit has room for one, the older starts",
        5,
        {"r": share(2, "RESERVE", in_share=True), "x": share(2, "LEND")},
        (
            job("low1", "r", 1, started=-30),
            job("low2", "r", 1),
            job("younger", "r", 1, 15, priority=1),
            job("older", "r", 1, 10, priority=1),
        ),
        at=25,
        moves=(("stopped", "low1"), ("requeued", "low1"), ("started", "older")),
        updates=(UpdateShare(20, "r", capacity_limits={G: 1}),),
        timing=Timing(stop_seconds=10),
    ),
    Case(
        "what two updates at one instant come to counts, not what was between them",
        1,
        {"x": share(1)},
        (job("a", "x", 4),),
        at=610,
        moves=(("terminated", "a"),),
        updates=(UpdateServiceEnvironment(35, {G: 7}), UpdateServiceEnvironment(35, {G: 3})),
        time_limits=({"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "max_seconds": 610},),
    ),
    Case(
        "C5 per_unit: two fronts of a share are looked at in the order given, for C1 does not tell them apart",
        {G: 6, P: 3},
        {"x": share({P: 4}, borrow_limit=0)},
        (job("a", "x", 1, 20), job("b", "x", {P: 4}, 20, priority=1)),
        at=20,
        moves=(("blocked", "a"), ("blocked", "b")),
        choices=Choices(share_order="name", head_of_line="per_unit"),
    ),
]


@pytest.mark.parametrize("case", [pytest.param(case, id=case.about) for case in CASES])
def test_both_engines_do_as_the_specification_says(case: Case) -> None:
    for log in (by_first(case.scenario()), by_second(case.scenario())):
        now = [entry for entry in log if entry[0] == case.at and entry[1] != "submitted"]
        assert [tuple(filter(None, entry[1:4])) for entry in now] == list(case.moves)
