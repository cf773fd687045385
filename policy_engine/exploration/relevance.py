"""Which open choices can make a difference to a workload at all; the others are not tried in vain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from policy_engine.policy import UNLIMITED, Policy, State
from policy_engine.scheduler.choices import BY_NAME
from policy_engine.scheduler.jobs import Exit, UpdateServiceEnvironment, UpdateShare, Workload


@dataclass(frozen=True, slots=True)
class Model:
    """A policy and a workload, with what may become of the policy."""

    policy: Policy
    workload: Workload

    @property
    def shares_in_use(self) -> Counter[str]:
        """Share to the number of its jobs."""
        return Counter(job.share for job in self.workload.jobs)

    @property
    def updated(self) -> bool:
        """Does the policy change during the run?"""
        return any(isinstance(u, UpdateShare | UpdateServiceEnvironment) for u in self.workload.updates)

    @property
    def borrowers(self) -> int:
        """Shares with jobs that may borrow."""
        return sum(self.policy.shares[name].strategy.borrows for name in self.shares_in_use)

    @property
    def may_preempt(self) -> bool:
        """Can anybody be stopped?"""
        in_share = any(self.policy.shares[name].in_share_preemption for name in self.shares_in_use)
        return self.updated or in_share or self.borrowers > 0


def _several_shares(model: Model) -> bool:
    return len(model.shares_in_use) > 1


def _rounds(model: Model) -> bool:
    return model.updated or any(
        share.effective_borrow_limit not in (0, UNLIMITED) and share.effective_borrow_limit * limit % 100
        for share in model.policy.shares.values()
        for limit in share.capacity_limits.values()
    )


def _unowned(model: Model) -> bool:
    policy = model.policy
    return model.updated or any(policy.capacity(unit) > policy.sum_of_limits(unit) for unit in policy.units)


def _two_kinds(model: Model) -> bool:
    in_share = any(model.policy.shares[name].in_share_preemption for name in model.shares_in_use)
    return model.updated or (in_share and model.borrowers > 0 and _several_shares(model))


def _larger_than_limit(model: Model) -> bool:
    shares = model.policy.shares
    return model.updated or any(
        count > shares[job.share].limit(unit) and shares[job.share].strategy.borrows
        for job in model.workload.jobs
        for unit, count in job.demand.items()
    )


def _undeclared(model: Model) -> bool:
    shares = model.policy.shares
    return model.updated or any(
        unit not in shares[job.share].capacity_limits and shares[job.share].effective_borrow_limit == UNLIMITED
        for job in model.workload.jobs
        for unit in job.demand
    )


def _disabled(model: Model) -> bool:
    states = [share.state for share in model.policy.shares.values()]
    return model.updated or State.DISABLED in states


def _fails_and_returns(model: Model) -> bool:
    return any(job.attempts > 1 or job.exit is Exit.CAPACITY_FAILURE for job in model.workload.jobs)


def _queues(model: Model) -> bool:
    return max(model.shares_in_use.values(), default=0) > 1


def _lowers(model: Model) -> bool:
    return any(isinstance(u, UpdateShare) and u.capacity_limits is not None for u in model.workload.updates)


_MATTERS: Final[Mapping[str, Callable[[Model], bool]]] = {
    "share_order": _several_shares,
    "idle_assignment": lambda model: model.updated or (model.borrowers > 1),
    "requeue": lambda model: model.may_preempt and _queues(model),
    "equal_priority": lambda model: _fails_and_returns(model) and _queues(model),
    "head_of_line": _queues,
    "unallocated": _unowned,
    "borrow_rounding": _rounds,
    "victims": lambda model: model.may_preempt,
    "reclaim_or_in_share": _two_kinds,
    "partly_borrowed": _larger_than_limit,
    "lowered_limit": _lowers,
    "disabled_share_lends": _disabled,
    "freed_capacity": lambda model: model.may_preempt and model.workload.timing.stop_seconds > 0,
    "undeclared_unit": _undeclared,
    "blocked_owner_lends": lambda model: (
        _several_shares(model) and _queues(model) | model.updated | (model.borrowers > 0)
    ),
}


def matters(choice: str, policy: Policy, workload: Workload) -> bool:
    """Can the choice make a difference? True wherever that is not plain to see."""
    return choice in _MATTERS and _MATTERS[choice](Model(policy, workload))


def answers(choice: str, workload: Workload) -> tuple[str, ...]:
    """The answers to the choice that can differ from one another."""
    all_answers = BY_NAME[choice].answers
    if choice == "head_of_line" and len({unit for job in workload.jobs for unit in job.demand}) < 2:
        return tuple(answer for answer in all_answers if answer != "per_unit")
    return all_answers
