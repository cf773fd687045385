"""The resources of an account: what was asked for, and what a describing operation says of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from policy_engine.endpoint.schedule import Schedule
from policy_engine.endpoint.service_jobs import ServiceJob
from policy_engine.policy import UNLIMITED, SharingStrategy

VALID = "VALID"
INVALID = "INVALID"
CREATING = "CREATING"
UPDATING = "UPDATING"
DELETING = "DELETING"
HEALTHY = "JobQueue Healthy"
"""Status reason of a queue that is well (UG create-quota-management-resources)."""

Answer = dict[str, Any]
"""What an operation answers, as the service model names it."""


@dataclass(eq=False, kw_only=True)
class Resource:
    """What every resource has."""

    name: str
    arn: str
    number: int
    """In the order of creation."""
    tags: dict[str, str]
    changing: str | None = None
    """CREATING, UPDATING or DELETING, where the endpoint is stepped and the step has not come yet."""

    @property
    def status(self) -> str:
        """As describing operations say it."""
        return self.changing or VALID


@dataclass(eq=False, kw_only=True)
class SchedulingPolicy(Resource):
    """A scheduling policy."""

    body: Answer
    """``quotaSharePolicy`` or ``fairsharePolicy``, as it was given."""

    @property
    def manages_quotas(self) -> bool:
        """Is it one for quota shares?"""
        return "quotaSharePolicy" in self.body

    def described(self) -> Answer:
        """As DescribeSchedulingPolicies says it."""
        return {"name": self.name, "arn": self.arn, **self.body, "tags": dict(self.tags)}


@dataclass(eq=False, kw_only=True)
class ServiceEnvironment(Resource):
    """A service environment."""

    type: str
    state: str
    capacity_limits: Sequence[Answer]

    def described(self) -> Answer:
        """As DescribeServiceEnvironments says it."""
        return {
            "serviceEnvironmentName": self.name,
            "serviceEnvironmentArn": self.arn,
            "serviceEnvironmentType": self.type,
            "state": self.state,
            "status": self.status,
            "capacityLimits": self.capacity_limits,
            "tags": dict(self.tags),
        }


@dataclass(eq=False, kw_only=True)
class QuotaShare(Resource):
    """A quota share."""

    queue_arn: str
    state: str
    capacity_limits: Sequence[Answer]
    sharing: Answer
    preemption: Answer

    def listed(self) -> Answer:
        """As ListQuotaShares says it."""
        sharing = dict(self.sharing)
        if sharing["strategy"] == SharingStrategy.LEND_AND_BORROW:
            sharing.setdefault("borrowLimit", UNLIMITED)
        return {
            "quotaShareName": self.name,
            "quotaShareArn": self.arn,
            "jobQueueArn": self.queue_arn,
            "capacityLimits": self.capacity_limits,
            "resourceSharingConfiguration": sharing,
            "preemptionConfiguration": self.preemption,
            "state": self.state,
            "status": self.status,
        }

    def described(self) -> Answer:
        """As DescribeQuotaShare says it."""
        return {**self.listed(), "tags": dict(self.tags)}


@dataclass(eq=False, kw_only=True)
class JobQueue(Resource):
    """A job queue."""

    type: str
    state: str
    priority: int
    policy: SchedulingPolicy
    environment: ServiceEnvironment
    environment_order: Sequence[Answer]
    """As it was given."""
    time_limit_actions: Sequence[Answer]
    schedule: Schedule
    shares: dict[str, QuotaShare] = field(default_factory=dict)

    @property
    def status(self) -> str:
        """INVALID where its jobs stop each other without end, which AWS's rules do not say the end of."""
        return INVALID if self.schedule.clock.stands_still else super().status

    def described(self) -> Answer:
        """As DescribeJobQueues says it."""
        order = [{**entry, "serviceEnvironment": self.environment.arn} for entry in self.environment_order]
        said = {
            "jobQueueName": self.name,
            "jobQueueArn": self.arn,
            "state": self.state,
            "schedulingPolicyArn": self.policy.arn,
            "status": self.status,
            "statusReason": self.schedule.clock.stands_still or HEALTHY,
            "priority": self.priority,
            "computeEnvironmentOrder": [],
            "serviceEnvironmentOrder": order,
            "jobQueueType": self.type,
            "tags": dict(self.tags),
        }
        return {**said, "jobStateTimeLimitActions": self.time_limit_actions} if self.time_limit_actions else said


class PlacedJob(NamedTuple):
    """A job and the queue that it was submitted to."""

    queue: JobQueue
    job: ServiceJob


def by_unit(limits: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Capacity limits as instance type to instances."""
    return {limit["capacityUnit"]: limit["maxCapacity"] for limit in limits}
