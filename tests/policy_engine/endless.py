"""Scenarios in which the documented rules have no end: jobs stop each other over and over."""

from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from tests.policy_engine.logs import UNIT, policy_of

BORROWER = "LEND_AND_BORROW in_share"

# One borrowed instance puts a share over its limit, and a job of 4 is what can be taken of it. So j4 stops j1, which
# leaves room for j3; then j4's share is over its limit, and j1 stops j4.
OVER_COMMITTED = policy_of({"s0": f"4 {BORROWER}", "s1": f"4 {BORROWER}"}, capacity=7)
CIRCLE = Workload(
    tuple(
        Job(name, share, {UNIT: count}, priority, submit, 60.0)
        for name, share, count, priority, submit in (
            ("j0", "s1", 4, 0, 0.0),
            ("j1", "s1", 4, 2, 0.0),
            ("j2", "s1", 1, 1, 1.0),
            ("j3", "s0", 1, 2, 3.0),
            ("j4", "s0", 4, 3, 3.0),
        )
    )
)

# C10 "yes": each takes back the 3 instances that are its own, and so stops the other, which then does the same.
HALVES = policy_of({"s0": f"3 {BORROWER}", "s1": f"3 {BORROWER}"})
TAKING_BACK = Choices(partly_borrowed="yes")
PAIR = Workload(
    (Job("a", "s0", {UNIT: 4}, 0, 0.0, 60.0), Job("b", "s1", {UNIT: 4}, 0, 1.0, 60.0)),
    timing=Timing(stop_seconds=20),
)
