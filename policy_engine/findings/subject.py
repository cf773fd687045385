"""What the rules look at: one queue as it is declared, with what is known of it.

A value that is unknown until deployment, or wrong (another rule says so), is None here, and so is everything that
depends on it: a rule says nothing about what it cannot know.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from policy_engine.policy import (
    UNLIMITED,
    SharingStrategy,
    borrow_limit_problem,
    capacity_problem,
    unit_problem,
)
from policy_engine.scheduler.bounds import percent_of
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.sources.declaration import (
    CapacityLimit,
    Declaration,
    JobQueue,
    Place,
    QueueDeclaration,
    QuotaShare,
    Resource,
    ServiceEnvironment,
    enum_member,
)

if TYPE_CHECKING:
    # a check without a scenario does without, and one that compares nothing
    from policy_engine.changes import Danger
    from policy_engine.policy import Policy
    from policy_engine.sources.live import Account
    from policy_engine.workload.scenario import Scenario

Limited: TypeAlias = ServiceEnvironment | QuotaShare
"""What has capacity limits."""


def limits_of(resource: Limited) -> tuple[CapacityLimit, ...]:
    """The capacity limits as written; none where the list is absent or unknown."""
    return resource.capacity_limits if isinstance(resource.capacity_limits, tuple) else ()


@dataclass(frozen=True, eq=False)
class Planned:
    """A scenario for the queue."""

    scenario: Scenario
    policy: Policy
    workload: Workload
    choices: Choices

    def priority(self, job: Job) -> int:
        """The job's priority, that of C15 where it states none."""
        return self.choices.default_priority if job.priority is None else job.priority


@dataclass(frozen=True, eq=False)
class Subject:
    """One queue, or the shares of one queue that the source does not declare."""

    declaration: Declaration
    declared: QueueDeclaration | None
    """None where the source has shares of the queue and not the queue itself."""
    shares: tuple[QuotaShare, ...]
    choices: Choices
    plan: Planned | None = None
    """What is to run on it, where a scenario is given."""
    account: Account | None = None
    """The account around it, where that is asked for."""
    dangers: tuple[Danger, ...] = ()
    """What the change to it ends or cannot do, where it is compared with what it was."""

    @property
    def queue(self) -> JobQueue | None:
        """The queue, where the source declares it."""
        return None if self.declared is None else self.declared.queue

    @property
    def name(self) -> str | None:
        """The queue's name, or else its logical id."""
        return None if self.declared is None else self.declared.name

    @property
    def environments(self) -> tuple[ServiceEnvironment, ...]:
        """The service environments that the queue names and the source declares."""
        return () if self.declared is None else self.declared.environments

    @property
    def limited(self) -> tuple[Limited, ...]:
        """Everything with capacity limits."""
        return (*self.environments, *self.shares)

    @property
    def resources(self) -> tuple[Resource, ...]:
        """Every declared resource."""
        return self.shares if self.declared is None else self.declared.resources

    @cached_property
    def environment(self) -> ServiceEnvironment | None:
        """The queue's only service environment; None where it is not known for certain."""
        queue = self.queue
        if queue is None or not isinstance(queue.environments, tuple) or len(queue.environments) != 1:
            return None
        return next((one for one in self.environments if one.existence is None), None)

    # --- capacity limits -------------------------------------------------------------------------

    def entries(self, resource: Limited) -> Iterator[tuple[str, CapacityLimit]]:
        """Every instance type that the resource declares, as far as they are known, with its first limit."""
        seen: set[str] = set()
        for limit in limits_of(resource):
            if isinstance(limit.unit, str) and limit.unit not in seen:
                seen.add(limit.unit)
                yield limit.unit, limit

    def units(self, resource: Limited) -> tuple[str, ...]:
        """The instance types that the resource declares, as far as they are known, each once."""
        return tuple(unit for unit, _ in self.entries(resource))

    def limit(self, resource: Limited, unit: str) -> int | None:
        """Its limit for the instance type, 0 where it declares none; None where that is not known."""
        if resource.existence is not None or not isinstance(resource.capacity_limits, tuple):
            return None
        stated = [limit for limit in resource.capacity_limits if limit.unit == unit]
        if len(stated) == 1:
            return _count(stated[0])
        is_open = any(not isinstance(limit.unit, str) for limit in resource.capacity_limits)
        return None if stated or is_open else 0

    def capacities(self) -> Iterator[tuple[ServiceEnvironment, str, int, Place]]:
        """The environment, every instance type whose capacity is known, the capacity and its place."""
        environment = self.environment
        if environment is None:
            return
        for unit, entry in self.entries(environment):
            capacity = self.limit(environment, unit)
            if capacity is not None:
                yield environment, unit, capacity, entry.place

    def known_limits(self, unit: str) -> list[tuple[QuotaShare, int]]:
        """The shares whose limit for the instance type is known, with it; not those that declare none."""
        pairs = ((share, self.limit(share, unit)) for share in self.shares)
        return [(share, limit) for share, limit in pairs if limit]

    def is_fully_known(self, unit: str) -> bool:
        """Is every share's limit for the instance type known?"""
        return all(self.limit(share, unit) is not None for share in self.shares)

    # --- sharing ---------------------------------------------------------------------------------

    def others(self, share: QuotaShare) -> Iterator[QuotaShare]:
        """Every share but this one."""
        return (other for other in self.shares if other is not share)

    def strategy(self, share: QuotaShare) -> SharingStrategy | None:
        """Its strategy, in whatever case it is written."""
        return enum_member(share.strategy, SharingStrategy, any_case=True)

    def borrow_limit(self, share: QuotaShare) -> int | None:
        """Percent that it may borrow, 0 for RESERVE and LEND; None where that is not known."""
        strategy = self.strategy(share)
        if strategy is None or not strategy.borrows:
            return None if strategy is None else 0
        if share.borrow_limit is None:
            return UNLIMITED
        return None if borrow_limit_problem(share.borrow_limit) else int(share.borrow_limit)  # type: ignore[arg-type]

    def allowance(self, share: QuotaShare, unit: str) -> int | None:
        """Most instances that its borrow limit lets it borrow; None where it does not limit or is not known."""
        percent, limit = self.borrow_limit(share), self.limit(share, unit)
        if percent is None or limit is None or percent == UNLIMITED:
            return None
        return percent_of(percent, limit, self.choices.borrow_rounding)

    def lent_by_others(self, share: QuotaShare, unit: str) -> int | None:
        """Sum of the limits of the other lenders (R5); None where it is not known."""
        if self.declared is None:
            return None
        total = 0
        for other in self.others(share):
            limit, strategy = self.limit(other, unit), self.strategy(other)
            if limit == 0 or strategy is SharingStrategy.RESERVE:
                continue
            if limit is None or strategy is None:
                return None
            total += limit
        return total

    def may_be_borrowed(self, share: QuotaShare, unit: str) -> bool:
        """Could another share borrow what this one lends, for all that is known?"""
        return self.declared is None or any(self._may_borrow(other, unit) is not False for other in self.others(share))

    def _may_borrow(self, share: QuotaShare, unit: str) -> bool | None:
        """Can the share borrow the instance type, if somebody lends it? None where that is not known."""
        percent, limit = self.borrow_limit(share), self.limit(share, unit)
        if percent == 0:
            return False
        if percent is None or limit is None:
            return None
        if limit == 0:
            return percent == UNLIMITED and self.choices.undeclared_unit == "yes"
        return percent == UNLIMITED or bool(self.allowance(share, unit))


def _count(limit: CapacityLimit) -> int | None:
    """The instances of a capacity limit; None where they are unknown or wrong."""
    if unit_problem(limit.unit) or capacity_problem(limit.maximum):
        return None
    return int(limit.maximum)  # type: ignore[arg-type]
