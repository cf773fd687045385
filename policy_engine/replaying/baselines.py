"""What lending buys and what preemption costs: the same jobs without lending, and without shares."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Final

from policy_engine.outcome.measures import JobMeasures, Measures, team_measures
from policy_engine.policy import Policy, Share, SharingStrategy
from policy_engine.replaying.prices import Costs, Prices, costs
from policy_engine.replaying.replay import ReplayOptions, ReplayResult, replay
from policy_engine.workload.history import History

EVERYONE: Final = "everyone"
"""The one share of the open queue."""


class Baseline(StrEnum):
    """What a policy is set beside."""

    PARTITIONS = "hard partitions"
    """Every share RESERVE, with the limits that it has."""
    OPEN_QUEUE = "open queue"
    """One share that holds the whole environment, first come, first served: no priorities, no preemption."""


@dataclass(frozen=True)
class Compared:
    """The jobs of the history under one way to share; teams are the shares of the policy."""

    name: str
    """``as it is``, or a baseline."""
    result: ReplayResult
    teams: tuple[str, ...]
    """The team of each job that was run."""
    costs: Costs | None = None
    """In money, where there are prices."""

    @cached_property
    def measures(self) -> Measures:
        """Of the queue; of the shares of that run."""
        return self.result.measures

    @cached_property
    def of_team(self) -> dict[str, JobMeasures]:
        """Team to what became of its jobs."""
        return team_measures(self.result.run, self.teams, self.result.options.warm_up)

    @property
    def never_run(self) -> int:
        """Jobs that are too large for their share, or for the queue."""
        return len(self.result.fitted.never_run)


AS_IT_IS: Final = "as it is"


def compare_with_baselines(
    result: ReplayResult, tell: Callable[[], None] | None = None, prices: Prices | None = None
) -> tuple[Compared, ...]:
    """The result between its baselines: hard partitions, as it is, open queue. ``tell`` is called after each run.

    ``prices`` are those of an hour of an instance, for ``Compared.costs``.
    """
    found = []
    for name, policy, history, options in _variants(result):
        replayed = result if name == AS_IT_IS else replay(policy, history, options)
        teams = tuple(result.history.jobs[number].share for number in replayed.fitted.numbers)
        found.append(Compared(name, replayed, teams, None if prices is None else costs(replayed.measures, prices)))
        if tell is not None and replayed is not result:
            tell()
    return tuple(found)


def _variants(result: ReplayResult) -> Iterator[tuple[str, Policy, History, ReplayOptions]]:
    policy, history, options = result.policy, result.history, replace(result.options, strict=False)
    yield Baseline.PARTITIONS, partitioned(policy), history, options
    yield AS_IT_IS, policy, history, options
    yield Baseline.OPEN_QUEUE, opened(policy), pooled(policy, history), options


def partitioned(policy: Policy) -> Policy:
    """The policy with every share RESERVE."""
    shares = {name: _reserved(share) for name, share in policy.shares.items()}
    return policy.model_copy(update={"shares": shares})


def _reserved(share: Share) -> Share:
    return share.model_copy(update={"strategy": SharingStrategy.RESERVE, "borrow_limit": None})


def opened(policy: Policy) -> Policy:
    """One share that holds all that the service environment has."""
    limits = dict(policy.service_environment.capacity_limits)
    everyone = Share(capacity_limits=limits, strategy=SharingStrategy.RESERVE, in_share_preemption=False)
    return policy.model_copy(update={"shares": {EVERYONE: everyone}})


def pooled(policy: Policy, history: History) -> History:
    """The history with the jobs of all the policy's shares in one, without priorities.

    Jobs of teams that the policy has no share for keep their team, and so stay left out.
    """
    jobs = tuple(
        replace(job, share=EVERYONE, priority=None) if job.share in policy.shares else job for job in history.jobs
    )
    return replace(history, jobs=jobs)
