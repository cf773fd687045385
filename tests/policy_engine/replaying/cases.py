"""Small policies and histories for replays."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job
from policy_engine.workload.generator import Shape, generate
from policy_engine.workload.history import Format, History, read_history
from policy_engine.workload.history.remarks import Remark

ROOT = Path(__file__).parents[3]
UNIT = "ml.g5.xlarge"

LENDING: dict[str, Any] = {
    "queue": "training",
    "service_environment": {"capacity_limits": {UNIT: 4}},
    "shares": {
        "a": {"capacity_limits": {UNIT: 2}, "strategy": "LEND_AND_BORROW", "in_share_preemption": False},
        "b": {"capacity_limits": {UNIT: 2}, "strategy": "LEND", "in_share_preemption": False},
    },
}
"""Two shares of two instances; a may borrow what b has idle."""


def policy(**changes: Any) -> Policy:
    """The lending policy, with other keys."""
    return Policy.of({**LENDING, **changes})


def job(name: str, share: str, submit: float, duration: float, count: int = 1, unit: str = UNIT) -> Job:
    return Job(name=name, share=share, demand={unit: count}, submit=submit, duration=duration)


def history(
    jobs: Iterable[Job], started: Iterable[float | None] | None = None, remarks: Iterable[Remark] = ()
) -> History:
    """A history that nobody read from a file."""
    jobs = tuple(jobs)
    starts = [None] * len(jobs) if started is None else list(started)
    return History("jobs.csv", Format.CSV, jobs, starts, 0.0, None, tuple(remarks))


def borrowed_and_taken_back() -> History:
    """a uses all four until b comes at 100 and takes one back 20 s later; a's last job waits from 100 to 1000."""
    return history(
        [
            *(job(f"a{n}", "a", n, 1000 - n) for n in range(4)),
            job("b0", "b", 100, 300),
        ]
    )


def generated(seed: int = 0, jobs: int = 300, days: float = 3) -> History:
    """A synthetic history for ``teams.yaml``."""
    return history(generate(Shape(jobs=jobs, days=days), seed))


def teams() -> Policy:
    """The policy of ``examples/teams.yaml``."""
    from policy_engine.sources import load_policy

    return load_policy(ROOT / "examples" / "teams.yaml")


def example() -> History:
    return read_history(ROOT / "examples" / "history.csv")
