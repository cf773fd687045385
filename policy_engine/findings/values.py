"""QM006, QM008, QM011: single values that AWS Batch or CloudFormation would refuse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject, limits_of
from policy_engine.policy import (
    MAX_QUEUE_PRIORITY,
    SharingStrategy,
    State,
    StuckReason,
    borrow_limit_problem,
    capacity_problem,
    enum_problem,
    instance_types,
    name_problem,
    time_limit_problem,
    unit_problem,
    whole_number_problem,
)
from policy_engine.sources.declaration import (
    FIFO,
    SAGEMAKER_TRAINING,
    TERMINATE,
    JobQueue,
    Place,
    QuotaShare,
    Raw,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
    Unknown,
    enum_member,
)
from policy_engine.sources.validation import MISSING, shown

_NUM_INSTANCES: Final = "NUM_INSTANCES"
"""The capacity unit of service environments without quota management (API CapacityLimit)."""
_RUNNABLE: Final = "RUNNABLE"


@rule(
    "QM006",
    Severity.ERROR,
    "a name outside 1-128 letters, digits, `-`, `_`",
    why="The API refuses other names, and the ARN of a quota share is made of them.",
    remedy="use 1 to 128 letters, digits, '-' and '_'",
    source=pages.CREATE_QUOTA_SHARE,
)
def bad_names(subject: Subject) -> Iterator[Found]:
    """Looks at every name; only a share has to have one."""
    for resource in subject.resources:
        if isinstance(resource.name, Unknown):
            continue
        problem = name_problem(resource.name) if resource.name is not None else None
        if resource.name is None and isinstance(resource, QuotaShare):
            problem = MISSING
        if problem is not None:
            yield Found(problem, resource, resource.where("name"))


# --- values --------------------------------------------------------------------------------------


@rule(
    "QM008",
    Severity.ERROR,
    "a capacity unit that is no SageMaker instance type",
    why="With quota management every limit is for one SageMaker training instance type; NUM_INSTANCES and made-up types"
    " are refused, or no job ever asks for them.",
    remedy="use an instance type of SageMaker training jobs, such as ml.g5.xlarge; for a type that is newer than the"
    " list of this release, ignore the finding with the reason until the next one",
    source=pages.CAPACITY_LIMIT,
)
def unknown_instance_types(subject: Subject) -> Iterator[Found]:
    """Looks at every capacity unit: its form, and whether SageMaker is known to have it.

    A size that a known family has not got is an error: families rarely grow. A family that is not known at all may be
    a new one, so it is a warning.
    """
    for resource in subject.limited:
        for limit in limits_of(resource):
            if isinstance(limit.unit, Unknown):
                continue
            problem, severity = _unit_problem(limit.unit)
            if problem is not None:
                unit = limit.unit if isinstance(limit.unit, str) else None
                yield Found(problem, resource, limit.place, unit, severity)


def _unit_problem(unit: Raw) -> tuple[str | None, Severity | None]:
    if unit is None:
        return MISSING, None
    if unit == _NUM_INSTANCES:
        return "NUM_INSTANCES is the unit without quota management; here it is an instance type", None
    problem = unit_problem(unit)
    if problem is not None or not isinstance(unit, str) or unit in instance_types.known():
        return problem, None
    family, size = unit.removeprefix("ml.").split(".", 1)
    sizes = instance_types.sizes(family)
    if sizes:
        return f"{unit!r}: SageMaker trains on ml.{family} in {', '.join(sizes)}, not in {size}", None
    what = f"{unit!r}: no instance family {family!r} among those that SageMaker trains on as far as this release knows"
    return what, Severity.WARNING


@rule(
    "QM011",
    Severity.ERROR,
    "a value out of range or not one of the allowed ones",
    why="The service refuses the value, or the deployment fails because a required one is missing.",
    remedy="use a value that is allowed",
    source=pages.CREATE_QUOTA_SHARE,
)
def bad_values(subject: Subject) -> Iterator[Found]:
    """Holds every single value to what the API and the resource types allow."""
    for resource in subject.resources:
        for value, place, problem_of, required in _values(resource):
            if isinstance(value, Unknown):
                continue
            problem = (MISSING if required else None) if value is None else problem_of(value)
            if problem is not None:
                yield Found(problem, resource, place)


Value = tuple[Raw, Place, Callable[[Raw], str | None], bool]
"""A value, where it is, what may be wrong with it, and whether it is required."""


def _values(resource: Resource) -> Iterator[Value]:
    if isinstance(resource, QuotaShare):
        yield from _values_of_share(resource)
    elif isinstance(resource, ServiceEnvironment):
        yield resource.type, resource.where("type"), _only(SAGEMAKER_TRAINING), True
        yield resource.state, resource.where("state"), _state, False
        yield from _counts(resource)
    elif isinstance(resource, SchedulingPolicy):
        if resource.quota_share:
            yield resource.idle_assignment, resource.where("idle_assignment"), _only(FIFO), True
    elif isinstance(resource, JobQueue):
        yield resource.state, resource.where("state"), _state, False
        yield resource.priority, resource.where("priority"), _queue_priority, True
        yield from _values_of_time_limits(resource)


def _values_of_share(share: QuotaShare) -> Iterator[Value]:
    if share.queue is None:
        yield None, share.where("queue"), _anything, True
    yield share.strategy, share.where("strategy"), _strategy, True
    yield share.borrow_limit, share.where("borrow_limit"), borrow_limit_problem, False
    yield share.in_share_preemption, share.where("in_share_preemption"), _switch, True
    yield share.state, share.where("state"), _state, False
    yield from _counts(share)


def _counts(resource: ServiceEnvironment | QuotaShare) -> Iterator[Value]:
    for limit in limits_of(resource):
        yield limit.maximum, limit.place.at("MaxCapacity"), capacity_problem, True


def _values_of_time_limits(queue: JobQueue) -> Iterator[Value]:
    for limit in queue.time_limits if isinstance(queue.time_limits, tuple) else ():
        yield limit.action, limit.place.at("Action"), _only(TERMINATE), True
        yield limit.state, limit.place.at("State"), _runnable, True
        yield limit.reason, limit.place.at("Reason"), _reason, True
        yield limit.max_seconds, limit.place.at("MaxTimeSeconds"), time_limit_problem, True


def _anything(_: Raw) -> None:
    return None


def _only(allowed: str) -> Callable[[Raw], str | None]:
    """The one word that is allowed, in any case (lower case is QM111)."""

    def problem_of(value: Raw) -> str | None:
        return None if isinstance(value, str) and value.upper() == allowed else f"{shown(value)} is not {allowed}"

    return problem_of


def _strategy(value: Raw) -> str | None:
    return None if enum_member(value, SharingStrategy, any_case=True) else enum_problem(value, SharingStrategy)


def _switch(value: Raw) -> str | None:
    return None if enum_member(value, State, any_case=True) else enum_problem(value, State)


def _state(value: Raw) -> str | None:
    return enum_problem(value, State)


def _runnable(value: Raw) -> str | None:
    return None if value == _RUNNABLE else f"{shown(value)} is not {_RUNNABLE}"


def _reason(value: Raw) -> str | None:
    return enum_problem(value, StuckReason)


def _queue_priority(value: Raw) -> str | None:
    return whole_number_problem(value, 0, MAX_QUEUE_PRIORITY)
