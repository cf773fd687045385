"""What a source declares, as written: values may be wrong, or unknown until deployment.

``check`` reports findings on a ``Declaration``; what has to run needs the ``Policy`` that a queue's
declaration gives where nothing in it is wrong or unknown. Templates, documents and CDK constructs all
give the same classes, in the words of AWS's API (``ENABLED``, ``LEND_AND_BORROW``).

Source: AWS CloudFormation reference of ``AWS::Batch::SchedulingPolicy``, ``ServiceEnvironment``,
``JobQueue`` and ``QuotaShare``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

from policy_engine.errors import InputError
from policy_engine.sources.reading import Document, KeyPath, dotted

if TYPE_CHECKING:
    # pydantic is loaded where a policy is made
    from policy_engine.policy import Policy

SAGEMAKER_TRAINING: Final = "SAGEMAKER_TRAINING"
"""The only ``jobQueueType`` and ``serviceEnvironmentType`` with quota management (UG quota-management)."""
TERMINATE: Final = "TERMINATE"
"""The only ``action`` of a time limit on such a queue (UG sm_job_stuck_in_runnable_time_limit_actions)."""
FIFO: Final = "FIFO"
"""The only ``idleResourceAssignmentStrategy`` (API QuotaSharePolicy)."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A value that is known only at deployment."""

    reason: str
    """Why: ``parameter 'Limit' has no default``, ``a CDK token``."""
    logical_id: str = ""
    """The resource that has it."""
    property: str = ""
    """Where in the resource: ``CapacityLimits[0].MaxCapacity``."""
    refers_to: tuple[ResourceKey, ...] = ()
    """The declared resources it is made of: CloudFormation orders by them."""

    def __str__(self) -> str:
        return f"unknown until deployment: {self.reason}"


ResourceKey: TypeAlias = tuple[str, str]
"""Template (the stack's id in an assembly, "" elsewhere) and logical id."""

Raw: TypeAlias = str | int | float | bool | list[Any] | dict[str, Any] | Unknown | None
"""A value as written; None where it is absent."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is declared. Line and column are found when they are asked for."""

    key: str
    """``Share1.ResourceSharingConfiguration.Strategy`` of a template, ``shares.QS1.strategy`` of a document."""
    logical_id: str = ""
    construct_path: str | None = None
    """The CDK construct, ``App/Stack/Queue/Resource``."""
    document: Document | None = field(default=None, repr=False, compare=False)
    path: KeyPath = ()
    """From the top of the document."""

    def at(self, *path: str | int) -> Place:
        """The place of a part of what is declared here."""
        if not path:
            return self
        below = dotted(path)
        key = f"{self.key}{below}" if not self.key or below.startswith("[") else f"{self.key}.{below}"
        return Place(key, self.logical_id, self.construct_path, self.document, (*self.path, *path))

    @property
    def file(self) -> str | None:
        """The file, as the user named it; None for constructs that are not synthesised."""
        return None if self.document is None else self.document.file

    @property
    def position(self) -> tuple[int, int] | None:
        """Line and column, from 1; None where there is no file."""
        return None if self.document is None else self.document.position(self.path)

    def error(self, message: str) -> InputError:
        """An error about what is declared here."""
        line, column = self.position or (None, None)
        return InputError(message, file=self.file, line=line, column=column, key=self.key)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A finding that somebody accepted (``Metadata.PolicyEngine.Ignore`` of a resource).

    On a queue it covers what belongs to the queue too.
    """

    finding: str
    because: str
    place: Place


@dataclass(frozen=True, slots=True)
class Link:
    """A resource's mention of another one."""

    value: Raw
    """The name or ARN as written; Unknown where it is a reference or not known."""
    place: Place
    target: ResourceKey | None = None
    """The resource of a Ref, Fn::GetAtt or construct; None for a name, an ARN or an unknown value."""

    @property
    def is_reference(self) -> bool:
        """Does CloudFormation see the link, and so order by it?"""
        return self.target is not None


@dataclass(frozen=True, slots=True)
class CapacityLimit:
    """``{CapacityUnit, MaxCapacity}``; instances."""

    unit: Raw
    maximum: Raw
    place: Place


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """An entry of ``JobStateTimeLimitActions``; seconds."""

    action: Raw
    state: Raw
    reason: Raw
    max_seconds: Raw
    place: Place


@dataclass(frozen=True, kw_only=True)
class Resource:
    """What the four kinds of resource have in common."""

    logical_id: str
    place: Place
    properties: Place | None = None
    """Where its properties stand, if not at ``place`` itself."""
    template: str = ""
    """Which stack of an assembly; "" elsewhere."""
    existence: Unknown | None = None
    """Why it is not known whether there will be such a resource (its ``Condition``)."""
    name: Raw = None
    fixed_name: bool = False
    """Is the name given, not generated by CloudFormation?"""
    depends_on: tuple[str, ...] = ()
    """Logical ids of ``DependsOn``."""
    ignores: tuple[Ignored, ...] = ()
    tags: Raw = None
    paths: Mapping[str, KeyPath] | None = field(default=None, repr=False, compare=False)
    """Where in the properties each field is written, if not where CloudFormation has it."""

    PATHS: ClassVar[Mapping[str, KeyPath]] = {}
    """Where CloudFormation has each field."""

    @property
    def key(self) -> ResourceKey:
        """What tells the resource from all others of the declaration."""
        return (self.template, self.logical_id)

    @property
    def label(self) -> str:
        """The name where it is known, else the logical id."""
        return self.name if isinstance(self.name, str) and self.name else self.logical_id

    def where(self, name: str) -> Place:
        """Where the named field of this class is written, or would be."""
        paths = self.PATHS if self.paths is None else self.paths
        return (self.properties or self.place).at(*paths.get(name, ()))


@dataclass(frozen=True, kw_only=True)
class ServiceEnvironment(Resource):
    """``AWS::Batch::ServiceEnvironment``."""

    type: Raw = None
    state: Raw = None
    capacity_limits: tuple[CapacityLimit, ...] | Unknown | None = None

    PATHS: ClassVar[Mapping[str, KeyPath]] = {
        "name": ("ServiceEnvironmentName",),
        "type": ("ServiceEnvironmentType",),
        "state": ("State",),
        "capacity_limits": ("CapacityLimits",),
        "tags": ("Tags",),
    }


@dataclass(frozen=True, kw_only=True)
class SchedulingPolicy(Resource):
    """``AWS::Batch::SchedulingPolicy``."""

    quota_share: bool = False
    """Is there a ``QuotaSharePolicy``?"""
    fairshare: bool = False
    """Is there a ``FairsharePolicy``?"""
    idle_assignment: Raw = None
    """``QuotaSharePolicy.IdleResourceAssignmentStrategy``."""

    PATHS: ClassVar[Mapping[str, KeyPath]] = {
        "name": ("Name",),
        "quota_share": ("QuotaSharePolicy",),
        "fairshare": ("FairsharePolicy",),
        "idle_assignment": ("QuotaSharePolicy", "IdleResourceAssignmentStrategy"),
        "tags": ("Tags",),
    }


@dataclass(frozen=True, slots=True)
class EnvironmentOrder:
    """An entry of ``ServiceEnvironmentOrder``."""

    order: Raw
    environment: Link | None
    place: Place


@dataclass(frozen=True, kw_only=True)
class JobQueue(Resource):
    """``AWS::Batch::JobQueue``."""

    type: Raw = None
    state: Raw = None
    priority: Raw = None
    environments: tuple[EnvironmentOrder, ...] | Unknown | None = None
    compute_environments: bool = False
    """Is there a ``ComputeEnvironmentOrder``?"""
    policy: Link | None = None
    time_limits: tuple[TimeLimit, ...] | Unknown | None = None

    PATHS: ClassVar[Mapping[str, KeyPath]] = {
        "name": ("JobQueueName",),
        "type": ("JobQueueType",),
        "state": ("State",),
        "priority": ("Priority",),
        "environments": ("ServiceEnvironmentOrder",),
        "compute_environments": ("ComputeEnvironmentOrder",),
        "policy": ("SchedulingPolicyArn",),
        "time_limits": ("JobStateTimeLimitActions",),
        "tags": ("Tags",),
    }


@dataclass(frozen=True, kw_only=True)
class QuotaShare(Resource):
    """``AWS::Batch::QuotaShare``."""

    queue: Link | None
    capacity_limits: tuple[CapacityLimit, ...] | Unknown | None = None
    strategy: Raw = None
    borrow_limit: Raw = None
    in_share_preemption: Raw = None
    """``ENABLED`` or ``DISABLED``."""
    state: Raw = None

    PATHS: ClassVar[Mapping[str, KeyPath]] = {
        "name": ("QuotaShareName",),
        "queue": ("JobQueue",),
        "capacity_limits": ("CapacityLimits",),
        "strategy": ("ResourceSharingConfiguration", "Strategy"),
        "borrow_limit": ("ResourceSharingConfiguration", "BorrowLimit"),
        "in_share_preemption": ("PreemptionConfiguration", "InSharePreemption"),
        "state": ("State",),
        "tags": ("Tags",),
    }


E = TypeVar("E", bound=StrEnum)


def enum_member(value: Raw, allowed: type[E], *, any_case: bool) -> E | None:
    """The member that the value means; None where it is unknown, absent or none of them.

    CloudFormation takes ``JobQueueType``, ``ServiceEnvironmentType``, ``Strategy``, ``InSharePreemption``
    and ``IdleResourceAssignmentStrategy`` in any case, and ``State`` in upper case alone (the resource
    types' schemas).
    """
    if not isinstance(value, str):
        return None
    text = value.upper() if any_case else value
    return next((member for member in allowed if member.value == text), None)


@dataclass(frozen=True, kw_only=True)
class QueueDeclaration:
    """One quota-managed queue with what belongs to it."""

    queue: JobQueue
    environments: tuple[ServiceEnvironment, ...]
    """Those of its ``ServiceEnvironmentOrder`` that the source declares."""
    scheduling_policy: SchedulingPolicy | None
    """None where it has none, or one that the source does not declare (``queue.policy`` is the link)."""
    shares: tuple[QuotaShare, ...]
    """In order of declaration."""
    ready: Policy | None = None
    """The policy, where the source was read as one (a document)."""

    @property
    def name(self) -> str:
        """The queue's name where it is known, else its logical id."""
        return self.queue.label

    @property
    def resources(self) -> tuple[Resource, ...]:
        """The queue and what belongs to it."""
        policies = () if self.scheduling_policy is None else (self.scheduling_policy,)
        return (self.queue, *policies, *self.environments, *self.shares)

    @property
    def unknowns(self) -> tuple[Unknown, ...]:
        """Every value of the queue and of what belongs to it that is known only at deployment."""
        return tuple(dict.fromkeys(unknowns(self.resources)))

    def policy(self) -> Policy:
        """The policy that the declaration gives.

        Raises InputError for a value that is wrong or unknown: it names the place, what is allowed, or why
        the value is not known.
        """
        if self.ready is not None:
            return self.ready
        from policy_engine.sources.drafting import policy_of

        return policy_of(self)


@dataclass(frozen=True, kw_only=True)
class Declaration:
    """Everything that one source declares."""

    source: str
    """What was read, as the user named it."""
    job_queues: tuple[JobQueue, ...] = ()
    """All of them, also those without quota shares."""
    service_environments: tuple[ServiceEnvironment, ...] = ()
    scheduling_policies: tuple[SchedulingPolicy, ...] = ()
    quota_shares: tuple[QuotaShare, ...] = ()
    ready: Policy | None = None
    """The policy, where the source was read as one (a document)."""

    @cached_property
    def queues(self) -> tuple[QueueDeclaration, ...]:
        """Every quota-managed queue: one with a quota-share policy, or one that quota shares name."""
        views = (self.view(queue) for queue in self.job_queues)
        return tuple(view for view in views if view.shares or _has_quota_policy(view))

    @property
    def stray_shares(self) -> tuple[QuotaShare, ...]:
        """Quota shares of a queue that the source does not declare."""
        return tuple(self._shares_by_queue.get(None, ()))

    @cached_property
    def _shares_by_queue(self) -> dict[ResourceKey | None, list[QuotaShare]]:
        shares: dict[ResourceKey | None, list[QuotaShare]] = {}
        for share in self.quota_shares:
            queue = self.queue_of(share)
            shares.setdefault(None if queue is None else queue.key, []).append(share)
        return shares

    def queue_of(self, share: QuotaShare) -> JobQueue | None:
        """The queue of the share; None where the source does not declare it."""
        return None if share.queue is None else linked(share.queue, share, self.job_queues, "job-queue")

    def environments_of(self, queue: JobQueue) -> tuple[ServiceEnvironment, ...]:
        """The service environments of the queue's order that the source declares."""
        entries = queue.environments if isinstance(queue.environments, tuple) else ()
        links = (entry.environment for entry in entries if entry.environment is not None)
        found = (linked(link, queue, self.service_environments, "service-environment") for link in links)
        return tuple(environment for environment in found if environment is not None)

    def policy_of(self, queue: JobQueue) -> SchedulingPolicy | None:
        """The queue's scheduling policy; None where there is none, or the source does not declare it."""
        return None if queue.policy is None else linked(queue.policy, queue, self.scheduling_policies, None)

    def view(self, queue: JobQueue) -> QueueDeclaration:
        """The queue with what belongs to it, quota-managed or not."""
        return QueueDeclaration(
            queue=queue,
            environments=self.environments_of(queue),
            scheduling_policy=self.policy_of(queue),
            shares=tuple(self._shares_by_queue.get(queue.key, ())),
            ready=self.ready,
        )


def _has_quota_policy(view: QueueDeclaration) -> bool:
    return view.scheduling_policy is not None and view.scheduling_policy.quota_share


# --- links and unknowns --------------------------------------------------------------------------

R = TypeVar("R", bound=Resource)


def linked(link: Link, holder: Resource, candidates: tuple[R, ...], kind: str | None) -> R | None:
    """The resource that the link of ``holder`` means; None where it is none of the candidates.

    A name means the resource of that name in the same template, or else the only one of that name.
    ``kind`` is the resource part of the ARN; None where a bare name is not accepted (``SchedulingPolicyArn``).
    """
    if link.target is not None:
        return next((resource for resource in candidates if resource.key == link.target), None)
    name = _linked_name(link.value, kind)
    named = [resource for resource in candidates if name is not None and resource.name == name]
    near = [resource for resource in named if resource.template == holder.template]
    matches = near or named
    return matches[0] if len(matches) == 1 else None


def _linked_name(value: Raw, kind: str | None) -> str | None:
    if not isinstance(value, str):
        return None
    if not value.startswith("arn:"):
        return None if kind is None else value
    resource = value.split(":", 5)[-1]
    found, _, name = resource.partition("/")
    return name if found == (kind or "scheduling-policy") else None


def unknowns(part: object) -> Iterator[Unknown]:
    """Every unknown value in a declared resource, or in several, but for its tags."""
    if isinstance(part, Unknown):
        yield part
    elif isinstance(part, Link):
        if not part.is_reference:
            yield from unknowns(part.value)
    elif isinstance(part, tuple | list):
        for item in part:
            yield from unknowns(item)
    elif isinstance(part, dict):
        yield from unknowns(list(part.values()))
    elif is_dataclass(part) and not isinstance(part, Place):
        for item in fields(part):
            if item.name not in ("tags", "paths"):
                yield from unknowns(getattr(part, item.name))
