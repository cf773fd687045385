"""A live queue as a declaration: the same resources that a template declares, as AWS has them now.

Sources: API Reference pages ``DescribeJobQueues``, ``DescribeSchedulingPolicies``, ``DescribeServiceEnvironments``,
``ListQuotaShares``, ``DescribeQuotaShare``; User Guide page ``create-quota-management-resources``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from policy_engine.policy import NAME_PATTERN, SharingStrategy
from policy_engine.sources.declaration import (
    SAGEMAKER_TRAINING,
    CapacityLimit,
    Declaration,
    EnvironmentOrder,
    JobQueue,
    Link,
    Place,
    QuotaShare,
    SchedulingPolicy,
    ServiceEnvironment,
    TimeLimit,
)
from policy_engine.sources.live.access import Access
from policy_engine.sources.reading import KeyPath

_ARN: Final = re.compile(
    r"arn:aws[a-z-]*:batch:(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):job-queue/(?P<name>[^/]+)"
)
_NAME: Final = re.compile(NAME_PATTERN)
_DELETED: Final = "DELETED"
_GOING: Final = frozenset({"DELETING", _DELETED})

_PATHS: Final[Mapping[str, KeyPath]] = {
    "state": ("state",),
    "capacity_limits": ("capacityLimits",),
    "strategy": ("resourceSharingConfiguration", "strategy"),
    "borrow_limit": ("resourceSharingConfiguration", "borrowLimit"),
    "in_share_preemption": ("preemptionConfiguration", "inSharePreemption"),
    "priority": ("priority",),
    "time_limits": ("jobStateTimeLimitActions",),
    "environments": ("serviceEnvironmentOrder",),
    "policy": ("schedulingPolicyArn",),
    "tags": ("tags",),
}
"""Where AWS's API has each field, of whichever resource."""

_Told = Mapping[str, Any]


@dataclass(frozen=True)
class LiveQueue:
    """A quota-managed queue, read at one moment."""

    access: Access
    arn: str
    told: _Told
    """What DescribeJobQueues says of it."""
    policy: _Told
    environments: tuple[_Told, ...]
    shares: tuple[_Told, ...]
    """Those that stay; what is being deleted is not among them."""
    going: tuple[str, ...]
    """Names of shares that are being deleted."""

    @property
    def name(self) -> str:
        """The queue's name."""
        return str(self.told["jobQueueName"])

    @property
    def description(self) -> str:
        """What was read, for reports."""
        region, account = self.arn.split(":")[3:5]
        going = f"; {', '.join(self.going)}: being deleted, left out" if self.going else ""
        return f"live queue {self.name} ({region}, account {account}){going}"

    @cached_property
    def declaration(self) -> Declaration:
        """The queue with its scheduling policy, its environment and its shares."""
        queue = self._queue()
        return Declaration(
            source=self.access.source,
            job_queues=(queue,),
            service_environments=tuple(_environment(told) for told in self.environments),
            scheduling_policies=(_policy(self.policy),),
            quota_shares=tuple(_share(told, queue) for told in self.shares),
        )

    def _queue(self) -> JobQueue:
        place = Place(self.name, self.name)
        order = [
            EnvironmentOrder(entry.get("order"), Link(entry.get("serviceEnvironment"), place), place)
            for entry in self.told.get("serviceEnvironmentOrder") or ()
        ]
        limits = place.at(*_PATHS["time_limits"])
        return JobQueue(
            logical_id=self.name,
            place=place,
            paths=_PATHS,
            name=self.name,
            tags=dict(self.told.get("tags") or {}),
            type=self.told.get("jobQueueType"),
            state=self.told.get("state"),
            priority=self.told.get("priority"),
            environments=tuple(order),
            policy=Link(self.told.get("schedulingPolicyArn"), place),
            time_limits=tuple(
                TimeLimit(
                    told.get("action"), told.get("state"), told.get("reason"), told.get("maxTimeSeconds"), limits.at(n)
                )
                for n, told in enumerate(self.told.get("jobStateTimeLimitActions") or ())
            ),
        )

    def tags_of(self, share: str) -> dict[str, str]:
        """The tags of a quota share, which only DescribeQuotaShare tells. Raises InputError."""
        told = self.access.call("batch", "DescribeQuotaShare", quotaShareArn=f"{self.arn}/quota-share/{share}")
        return dict(told.get("tags") or {})


def open_queue(source: str, *, session: Any = None) -> LiveQueue:
    """Read the live queue that ``queue:NAME_OR_ARN`` names.

    Args:
        source: as the user wrote it.
        session: a boto3 session; None for one of the options and settings.

    Raises:
        InputError: it is no queue's name, there is no such queue, it is not quota-managed, or AWS cannot be asked.
    """
    access = access_of(source, session=session)
    queue = _described(access, _named(source))
    policy = _quota_policy(access, queue)
    environments = _environments(access, queue)
    shares = list(access.pages("batch", "ListQuotaShares", "quotaShares", jobQueue=queue["jobQueueArn"]))
    return LiveQueue(
        access,
        str(queue["jobQueueArn"]),
        queue,
        policy,
        environments,
        tuple(share for share in shares if share.get("status") not in _GOING),
        tuple(str(share["quotaShareName"]) for share in shares if share.get("status") in _GOING),
    )


def _named(source: str) -> str:
    """The queue's name or ARN."""
    return source.partition(":")[2]


def access_of(source: str, *, session: Any = None) -> Access:
    """Calls on behalf of a live queue, in the region of its ARN. Raises InputError where it is no queue's name."""
    named = _named(source)
    matched = _ARN.fullmatch(named)
    access = Access(source, None if matched is None else matched["region"], session)
    if matched is None and not _NAME.fullmatch(named):
        what = f"{named!r} is no name of a job queue (1 to 128 letters, digits, - and _)" if named else "names no queue"
        raise access.error(f"{what}; expected queue:NAME or queue:arn:aws:batch:REGION:ACCOUNT:job-queue/NAME")
    return access


def _environments(access: Access, queue: _Told) -> tuple[_Told, ...]:
    """The queue's service environments; none are asked for where it has none, which would mean all."""
    named = [entry["serviceEnvironment"] for entry in queue.get("serviceEnvironmentOrder") or ()]
    if not named:
        return ()
    return tuple(access.pages("batch", "DescribeServiceEnvironments", "serviceEnvironments", serviceEnvironments=named))


def _described(access: Access, named: str) -> _Told:
    queues = list(access.pages("batch", "DescribeJobQueues", "jobQueues", jobQueues=[named]))
    if not queues or queues[0].get("status") == _DELETED:
        raise access.error(f"no such job queue in {access.region} for these credentials")
    return queues[0]


def _quota_policy(access: Access, queue: _Told) -> _Told:
    """The queue's scheduling policy; refused where it is not one of quota shares."""
    kind = queue.get("jobQueueType") or "ECS"
    if kind != SAGEMAKER_TRAINING:
        raise access.error(f"a queue of type {kind} has no quota shares; expected one of type {SAGEMAKER_TRAINING}")
    arn = queue.get("schedulingPolicyArn")
    if not arn:
        raise access.error("the queue has no scheduling policy: it is first come, first served, without quota shares")
    policies: Sequence[_Told] = access.call("batch", "DescribeSchedulingPolicies", arns=[arn])["schedulingPolicies"]
    if not policies:
        raise access.error(f"the queue's scheduling policy {arn} does not exist any more")
    if not policies[0].get("quotaSharePolicy"):
        raise access.error("the queue's scheduling policy is one of fair share, without quota shares")
    return policies[0]


def _policy(told: _Told) -> SchedulingPolicy:
    name = str(told["name"])
    return SchedulingPolicy(
        logical_id=str(told["arn"]),
        place=Place(name, name),
        paths={"idle_assignment": ("quotaSharePolicy", "idleResourceAssignmentStrategy"), "tags": ("tags",)},
        name=name,
        tags=dict(told.get("tags") or {}),
        quota_share=True,
        fairshare=bool(told.get("fairsharePolicy")),
        idle_assignment=(told.get("quotaSharePolicy") or {}).get("idleResourceAssignmentStrategy"),
    )


def _environment(told: _Told) -> ServiceEnvironment:
    name = str(told["serviceEnvironmentName"])
    place = Place(name, name)
    return ServiceEnvironment(
        logical_id=name,
        place=place,
        paths=_PATHS,
        name=name,
        tags=dict(told.get("tags") or {}),
        type=told.get("serviceEnvironmentType"),
        state=told.get("state"),
        capacity_limits=_limits(told, place),
    )


def _share(told: _Told, queue: JobQueue) -> QuotaShare:
    name = str(told["quotaShareName"])
    place = Place(name, name)
    sharing = told.get("resourceSharingConfiguration") or {}
    strategy = sharing.get("strategy")
    # What AWS tells as the borrow limit of a share that borrows nothing means nothing.
    borrow_limit = sharing.get("borrowLimit") if strategy == SharingStrategy.LEND_AND_BORROW else None
    return QuotaShare(
        logical_id=name,
        place=place,
        paths=_PATHS,
        name=name,
        queue=Link(None, place, target=queue.key),
        capacity_limits=_limits(told, place),
        strategy=strategy,
        borrow_limit=borrow_limit,
        in_share_preemption=(told.get("preemptionConfiguration") or {}).get("inSharePreemption"),
        state=told.get("state"),
    )


def _limits(told: _Told, holder: Place) -> tuple[CapacityLimit, ...]:
    place = holder.at(*_PATHS["capacity_limits"])
    return tuple(
        CapacityLimit(entry.get("capacityUnit"), entry.get("maxCapacity"), place.at(number))
        for number, entry in enumerate(told.get("capacityLimits") or ())
    )
