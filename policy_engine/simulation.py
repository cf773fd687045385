"""The clock: runs a workload under a policy and writes down what happens."""

from __future__ import annotations

from dataclasses import dataclass

from .policy import Policy
from .scheduler.choices import Choices
from .scheduler.jobs import Workload
from .scheduler.log import Log


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated run: what went in, and the log of what happened."""

    policy: Policy
    """The policy at the beginning; ``workload.updates`` say how it changes."""
    workload: Workload
    choices: Choices
    log: Log
    end: float
    """Seconds at which the run ended."""


def simulate(policy: Policy, workload: Workload, choices: Choices | None = None) -> Run:
    """Run the workload under the policy, with the default answer to every choice not given.

    Raises ValueError where a job or update names a share, job or instance type that does not exist.
    """
    raise NotImplementedError
