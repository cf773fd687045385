"""Everything that one account has in one region."""

from __future__ import annotations

import random
import uuid
from collections.abc import Mapping
from typing import Any, TypeVar

from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.resources import (
    CREATING,
    DELETING,
    VALID,
    JobQueue,
    PlacedJob,
    QuotaShare,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
)
from policy_engine.endpoint.schedule import Schedule
from policy_engine.endpoint.scope import Scope
from policy_engine.endpoint.settings import Settings
from policy_engine.policy import Policy, name_problem

R = TypeVar("R", bound=Resource)

EXISTS = "Object already exists"
"""AWS's message for a name that is taken."""
_NAME_LENGTH = 23
"""Characters of a job's name in the name of its training jobs: ``AWSBatch``, name, 32 hexadecimal digits, 63 in all
(the names of UG batch-service-job-preemption-events, the length of SageMaker API CreateTrainingJob)."""


class Account:
    """The resources of one account in one region, by name."""

    def __init__(self, scope: Scope, settings: Settings, epoch: float, now: float, ids: random.Random) -> None:
        self.scope = scope
        self.settings = settings
        self.epoch = epoch
        self.now = now
        """Seconds of the virtual clock."""
        self.ids = ids
        self.policies: dict[str, SchedulingPolicy] = {}
        self.environments: dict[str, ServiceEnvironment] = {}
        self.queues: dict[str, JobQueue] = {}
        self.jobs: dict[str, PlacedJob] = {}
        """By id, those of deleted queues too."""
        self.tokens: dict[str, PlacedJob] = {}
        """Jobs by the ``clientToken`` of their request."""
        self._created = 0
        self._changing: list[Resource] = []

    # --- time -----------------------------------------------------------------------------------

    def go_to(self, at: float) -> None:
        """Let time go on to ``at`` seconds."""
        self.now = at
        for queue in self.queues.values():
            queue.schedule.go_to(at)

    def step(self) -> None:
        """Every job and resource goes one state on."""
        self.settle_resources()
        for queue in self.queues.values():
            queue.schedule.step()

    def settle_resources(self) -> None:
        """What is CREATING or UPDATING is VALID, what is DELETING is gone."""
        changing, self._changing = self._changing, []
        for resource in changing:
            if resource.changing == DELETING:
                self._remove(resource)
            resource.changing = None

    def stamp(self, at: float) -> int:
        """A time of the virtual clock as AWS Batch gives it: milliseconds since 1970."""
        return round((self.epoch + at) * 1000)

    # --- resources ------------------------------------------------------------------------------

    def new(self, kind: type[R], existing: Mapping[str, Resource], name: str, prefix: str, **members: Any) -> R:
        """A new resource of that name, not yet among the existing. Raises ClientError for a name that is no good."""
        require(name_problem(name), "name")
        if name in existing:
            raise ClientError(EXISTS)
        self._created += 1
        resource = kind(name=name, arn=f"{prefix}{name}", number=self._created, **members)
        self.changes(resource, CREATING)
        return resource

    def changes(self, resource: Resource, how: str) -> None:
        """The resource is CREATING, UPDATING or DELETING: until the next step, where the endpoint is stepped."""
        if self.settings.pace.stepped:
            resource.changing = how
            self._changing.append(resource)
        elif how == DELETING:
            self._remove(resource)

    def _remove(self, resource: Resource) -> None:
        if isinstance(resource, QuotaShare):
            del self.queue_of(resource).shares[resource.name]
        elif isinstance(resource, JobQueue):
            del self.queues[resource.name]
        elif isinstance(resource, ServiceEnvironment):
            del self.environments[resource.name]
        else:
            del self.policies[resource.name]

    def find(self, resources: Mapping[str, R], name_or_arn: str, what: str) -> R:
        """The resource of that name or ARN. Raises ClientError where there is none."""
        found = self.look_up(resources, name_or_arn)
        if found is None:
            raise ClientError(f"{what} {name_or_arn} does not exist")
        return found

    @staticmethod
    def look_up(resources: Mapping[str, R], name_or_arn: str) -> R | None:
        """The resource of that name or ARN, if there is one."""
        found = resources.get(name_or_arn.rpartition("/")[2])
        return found if found is not None and name_or_arn in (found.name, found.arn) else None

    def find_queue(self, name_or_arn: str) -> JobQueue:
        """The queue of that name or ARN."""
        return self.find(self.queues, name_or_arn, "job queue")

    def find_share(self, arn: str) -> QuotaShare:
        """The quota share of that ARN."""
        queue_arn, _, name = arn.partition("/quota-share/")
        queue = self.look_up(self.queues, queue_arn)
        share = queue.shares.get(name) if queue is not None else None
        if share is None or share.arn != arn:
            raise ClientError(f"quota share {arn} does not exist")
        return share

    def queue_of(self, share: QuotaShare) -> JobQueue:
        """The queue that the share belongs to."""
        return self.queues[share.queue_arn.rpartition("/")[2]]

    def find_job(self, id_or_arn: str) -> PlacedJob:
        """The job of that id or ARN, up to date."""
        placed = self.jobs.get(id_or_arn.rpartition("/")[2])
        if placed is None or id_or_arn not in (placed.job.id, placed.job.arn):
            raise ClientError(f"service job {id_or_arn} does not exist")
        return placed

    def tags_of(self, arn: str) -> dict[str, str]:
        """The tags of the resource or job of that ARN, to be changed in place."""
        if ":service-job/" in arn:
            return self.find_job(arn).job.tags
        if "/quota-share/" in arn:
            return self.find_share(arn).tags
        everything: tuple[Mapping[str, Resource], ...] = (self.policies, self.environments, self.queues)
        for resources in everything:
            found = self.look_up(resources, arn)
            if found is not None and found.arn == arn:
                return found.tags
        raise ClientError(f"resourceArn: {arn} does not exist")

    # --- ids ------------------------------------------------------------------------------------

    def new_id(self) -> uuid.UUID:
        """An id that no other job has."""
        return uuid.UUID(int=self.ids.getrandbits(128), version=4)

    def name_training_job(self, job: str) -> str:
        """The ARN of a new training job for the job of that name; SageMaker's names have no underscores."""
        name = job[:_NAME_LENGTH].replace("_", "-")
        return self.scope.arn(f"training-job/AWSBatch{name}{self.new_id().hex}", service="sagemaker")

    def new_schedule(self, policy: Policy) -> Schedule:
        """The schedule of a new queue."""
        return Schedule(policy, self.settings.pace, self.now, self.name_training_job)


def lasting(resource: R, what: str) -> R:
    """The resource, where it is not being deleted. Raises ClientError."""
    if resource.changing == DELETING:
        raise ClientError(f"{what} {resource.name} is being deleted")
    return resource


def require_valid(resource: Resource, what: str) -> None:
    """Refuse what needs a resource that is ready. Raises ClientError."""
    if resource.status != VALID:
        raise ClientError(f"{what} {resource.name} is {resource.status}; it must be {VALID}")


def tags_given(request: Mapping[str, Any]) -> dict[str, str]:
    """The tags of a creating request."""
    return dict(request.get("tags") or {})
