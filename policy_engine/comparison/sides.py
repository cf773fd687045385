"""The two policies with the same names for the same shares, so that both can be asked about the same jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import DeleteShare, Update, UpdateQueue, UpdateServiceEnvironment, UpdateShare


@dataclass(frozen=True, slots=True)
class Policies:
    """Both policies; a share that was renamed has one name in both."""

    old: Policy
    new: Policy

    @property
    def together(self) -> Policy:
        """One that has all that either has, to read files by; it may have more than AWS Batch takes."""
        limits = (policy.service_environment.capacity_limits for policy in (self.new, self.old))
        both: dict[str, int] = {}
        for each in limits:
            both |= each
        environment = self.old.service_environment.model_copy(update={"capacity_limits": both})
        shares = {**self.old.shares, **{n: s for n, s in self.new.shares.items() if n not in self.old.shares}}
        return self.old.model_copy(update={"service_environment": environment, "shares": shares})


def by_old_names(old: Policy, new: Policy, renamed: Mapping[str, str]) -> Policies:
    """Both by the old names; ``renamed`` leads from old names to new ones."""
    return Policies(old, _named(new, {after: before for before, after in renamed.items()}))


def by_new_names(old: Policy, new: Policy, renamed: Mapping[str, str]) -> Policies:
    """Both by the new names."""
    return Policies(_named(old, renamed), new)


def _named(policy: Policy, names: Mapping[str, str]) -> Policy:
    if not names:
        return policy
    shares = {names.get(name, name): share for name, share in policy.shares.items()}
    return policy.model_copy(update={"shares": shares})


def updates(old: Policy, new: Policy, at: float = 0.0) -> Iterator[Update]:
    """What a deployment does to a queue with jobs: to shares that go or change, its environment and itself.

    Shares that come are left out: a running queue gets them empty.
    """
    for name, share in old.shares.items():
        after = new.shares.get(name)
        if after is None:
            yield DeleteShare(at, name)
        elif after != share:
            yield UpdateShare(
                at,
                name,
                dict(after.capacity_limits),
                after.strategy,
                after.borrow_limit if after.strategy.borrows else None,
                after.in_share_preemption,
                after.state,
            )
    if new.service_environment != old.service_environment:
        environment = new.service_environment
        yield UpdateServiceEnvironment(at, dict(environment.capacity_limits), environment.state)
    if new.state != old.state:
        yield UpdateQueue(at, new.state)
