"""What is declared: the quota-share policy of one job queue, and the limits AWS sets on it.

This module is the only place where the rules of a declaration live. The document reader, the
template reader, the CDK constructs and the local endpoint all use the constants, the ``*_problem``
functions and the models below. It imports nothing else of this project.

Sources: AWS Batch User Guide (UG) pages ``quota-shares``, ``create-quota-management-resources``,
``service_limits``; API Reference (API) pages ``CreateQuotaShare``, ``QuotaShareCapacityLimit``,
``QuotaShareResourceSharingConfiguration``, ``JobStateTimeLimitAction``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

MAX_QUOTA_SHARES: Final = 20
"""Quota shares on one job queue (UG service_limits)."""
MAX_CAPACITY_LIMITS: Final = 5
"""Capacity limits on one share or service environment (UG create-quota-management-resources)."""
MIN_CAPACITY: Final = 1
"""Least ``maxCapacity``, in instances (CloudFormation AWS::Batch::QuotaShare)."""
UNLIMITED: Final = -1
"""``borrowLimit`` that does not limit; also what an absent one means (API)."""
MAX_PRIORITY: Final = 9999
"""Highest ``schedulingPriority`` of a service job; the lowest is 0 (API SubmitServiceJob)."""
MAX_QUEUE_PRIORITY: Final = 1000
"""Highest ``priority`` of a job queue; the lowest is 0 (CloudFormation AWS::Batch::JobQueue)."""
MAX_ATTEMPTS: Final = 10
"""Most placements of ``retryStrategy.attempts`` (API ServiceJobRetryStrategy)."""
MIN_TIME_LIMIT: Final = 600
MAX_TIME_LIMIT: Final = 86400
"""Bounds of ``jobStateTimeLimitActions.maxTimeSeconds``, in seconds (API JobStateTimeLimitAction)."""
NAME_PATTERN: Final = r"^[A-Za-z0-9_-]{1,128}$"
"""Names of queues, quota shares, service environments, scheduling policies and jobs (API)."""
UNIT_PATTERN: Final = (
    r"^ml\.[a-z0-9-]+\.(?:nano|micro|small|medium|large|xlarge|[1-9][0-9]*xlarge|metal(?:-[0-9]+xl)?)$"
)
"""A SageMaker instance type: ``ml.``, family, size."""

_NAME = re.compile(NAME_PATTERN)
_UNIT = re.compile(UNIT_PATTERN)


class WrittenInt(int):
    """An integer read from a file that remembers how it was written (``007``)."""

    text: str

    def __new__(cls, value: int, text: str) -> Self:
        """The number, and its text in the file."""
        self = super().__new__(cls, value)
        self.text = text
        return self


class WrittenFloat(float):
    """A float read from a file that remembers how it was written (``6214e9``)."""

    text: str

    def __new__(cls, value: float, text: str) -> Self:
        """The number, and its text in the file."""
        self = super().__new__(cls, value)
        self.text = text
        return self


class SharingStrategy(StrEnum):
    """``resourceSharingConfiguration.strategy`` of a quota share (UG quota-shares)."""

    RESERVE = "RESERVE"
    """Idle capacity is for the share's own jobs alone."""
    LEND = "LEND"
    """Idle capacity is lent; the share borrows nothing."""
    LEND_AND_BORROW = "LEND_AND_BORROW"
    """Idle capacity is lent, and the share borrows from the other lenders."""

    @property
    def lends(self) -> bool:
        """May other shares use its idle capacity?"""
        return self is not SharingStrategy.RESERVE

    @property
    def borrows(self) -> bool:
        """May it use other shares' idle capacity?"""
        return self is SharingStrategy.LEND_AND_BORROW


class State(StrEnum):
    """``state`` of a quota share, a job queue or a service environment."""

    ENABLED = "ENABLED"
    DISABLED = "DISABLED"


class StuckReason(StrEnum):
    """Reasons for which a job state time limit action may end a RUNNABLE job (UG sm_job_stuck_in_runnable)."""

    INSUFFICIENT_INSTANCE_CAPACITY = "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY"
    SERVICE_ENVIRONMENT_MAX_RESOURCE = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    QUOTA_MANAGEMENT_LIMIT_EXCEEDED = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"


# --- the rules, each as the text of what is wrong, or None -------------------------------------


def name_problem(value: object) -> str | None:
    """What is wrong with a name of a queue, share, environment, policy or job; None if nothing."""
    if not isinstance(value, str):
        return f"{value!r} is not a string"
    if _NAME.fullmatch(value):
        return None
    return f"{value!r} is not a name: 1 to 128 letters, digits, '-' and '_' are allowed"


def unit_problem(value: object) -> str | None:
    """What is wrong with a capacity unit of a quota-management resource; None if nothing."""
    if not isinstance(value, str):
        return f"{value!r} is not a string"
    if _UNIT.fullmatch(value):
        return None
    return f"{value!r} is not a SageMaker instance type such as 'ml.g5.xlarge'"


def whole_number_problem(value: object, least: int, most: int | None = None) -> str | None:
    """What is wrong with a whole number that must be within [least, most]; None if nothing."""
    allowed = f"{least} or more" if most is None else f"{least} to {most}"
    if isinstance(value, bool) or not isinstance(value, int | float) or not _is_whole(value):
        return f"{value!r} is not a whole number ({allowed})"
    if value < least or (most is not None and value > most):
        return f"{value!r} is out of range: {allowed} is allowed"
    return None


def _is_whole(value: float) -> bool:
    return isinstance(value, int) or value.is_integer()


def capacity_problem(value: object) -> str | None:
    """What is wrong with a ``maxCapacity`` (instances); None if nothing."""
    return whole_number_problem(value, MIN_CAPACITY)


def borrow_limit_problem(value: object) -> str | None:
    """What is wrong with a ``borrowLimit`` (percent of the share's own limit); None if nothing."""
    return whole_number_problem(value, UNLIMITED)


def borrow_limit_strategy_problem(strategy: object) -> str | None:
    """What is wrong with giving a borrow limit beside this strategy; None if nothing."""
    if strategy == SharingStrategy.LEND_AND_BORROW:
        return None
    return f"a borrow limit is only valid with LEND_AND_BORROW, not with {strategy}"


def priority_problem(value: object) -> str | None:
    """What is wrong with a ``schedulingPriority``; None if nothing."""
    return whole_number_problem(value, 0, MAX_PRIORITY)


def time_limit_problem(value: object) -> str | None:
    """What is wrong with a ``maxTimeSeconds``; None if nothing."""
    return whole_number_problem(value, MIN_TIME_LIMIT, MAX_TIME_LIMIT)


def limit_count_problem(count: int) -> str | None:
    """What is wrong with so many capacity limits on one share or environment; None if nothing."""
    if 1 <= count <= MAX_CAPACITY_LIMITS:
        return None
    return f"{count} capacity limits; 1 to {MAX_CAPACITY_LIMITS} are allowed"


def share_count_problem(count: int) -> str | None:
    """What is wrong with so many quota shares on one queue; None if nothing."""
    if count <= MAX_QUOTA_SHARES:
        return None
    return f"{count} quota shares; at most {MAX_QUOTA_SHARES} are allowed on a queue"


def enum_problem(value: object, allowed: type[StrEnum]) -> str | None:
    """What is wrong with an enumeration value; None if nothing."""
    if isinstance(value, str) and value in set(allowed):
        return None
    return f"{value!r} is not one of {', '.join(allowed)}"


# --- field types ---------------------------------------------------------------------------------


def _as_text(value: object) -> object:
    return value.text if isinstance(value, WrittenInt | WrittenFloat) else value


def _as_whole(value: object) -> object:
    if isinstance(value, float) and not isinstance(value, bool) and value == int(value):
        return int(value)
    if isinstance(value, WrittenInt):
        return int(value)
    return value


def _checked(problem: str | None) -> None:
    if problem is not None:
        raise ValueError(problem)


def _name(value: object) -> object:
    value = _as_text(value)
    _checked(name_problem(value))
    return value


def _unit(value: object) -> object:
    value = _as_text(value)
    _checked(unit_problem(value))
    return value


def _capacity(value: object) -> object:
    _checked(capacity_problem(value))
    return _as_whole(value)


def _borrow_limit(value: object) -> object:
    if value is None:
        return None
    _checked(borrow_limit_problem(value))
    return _as_whole(value)


def _priority(value: object) -> object:
    _checked(priority_problem(value))
    return _as_whole(value)


def _time_limit(value: object) -> object:
    _checked(time_limit_problem(value))
    return _as_whole(value)


Text = Annotated[str, BeforeValidator(_as_text)]
"""A string, also where it was written like a number."""
Name = Annotated[str, BeforeValidator(_name), WithJsonSchema({"type": "string", "pattern": NAME_PATTERN})]
Unit = Annotated[str, BeforeValidator(_unit), WithJsonSchema({"type": "string", "pattern": UNIT_PATTERN})]
Capacity = Annotated[int, BeforeValidator(_capacity), WithJsonSchema({"type": "integer", "minimum": MIN_CAPACITY})]
BorrowLimit = Annotated[int, BeforeValidator(_borrow_limit), WithJsonSchema({"type": "integer", "minimum": UNLIMITED})]
Priority = Annotated[
    int,
    BeforeValidator(_priority),
    WithJsonSchema({"type": "integer", "minimum": 0, "maximum": MAX_PRIORITY}),
]
TimeLimitSeconds = Annotated[
    int,
    BeforeValidator(_time_limit),
    WithJsonSchema({"type": "integer", "minimum": MIN_TIME_LIMIT, "maximum": MAX_TIME_LIMIT}),
]
CapacityLimits = Annotated[
    dict[Unit, Capacity],
    WithJsonSchema(
        {
            "type": "object",
            "minProperties": 1,
            "maxProperties": MAX_CAPACITY_LIMITS,
            "propertyNames": {"pattern": UNIT_PATTERN},
            "additionalProperties": {"type": "integer", "minimum": MIN_CAPACITY},
        }
    ),
]


# --- the models ----------------------------------------------------------------------------------


class Declared(BaseModel):
    """Base of what a user declares: immutable, and an unknown key is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Share(Declared):
    """One quota share: what its team always gets, what it lends and what it may borrow."""

    capacity_limits: CapacityLimits = Field(
        description="Instance type to the most instances of it that the share uses without borrowing."
    )
    strategy: SharingStrategy = Field(description="What happens to idle capacity.")
    borrow_limit: BorrowLimit | None = Field(
        default=None,
        description="Percent of the own limit that may be borrowed on top of it; only with"
        " LEND_AND_BORROW. -1 or absent: unlimited. 0: nothing.",
    )
    in_share_preemption: bool = Field(
        strict=True, description="May a job stop jobs of the same share with lower priority?"
    )
    state: State = Field(default=State.ENABLED, description="A DISABLED share takes no new jobs.")

    @field_validator("capacity_limits")
    @classmethod
    def _between_one_and_five(cls, value: dict[str, int]) -> dict[str, int]:
        _checked(limit_count_problem(len(value)))
        return value

    @model_validator(mode="after")
    def _borrow_limit_fits_strategy(self) -> Self:
        if self.borrow_limit is not None:
            _checked(borrow_limit_strategy_problem(self.strategy))
        return self

    def limit(self, unit: str) -> int:
        """The share's own limit for the unit, in instances; 0 where it declares none."""
        return self.capacity_limits.get(unit, 0)

    @property
    def effective_borrow_limit(self) -> int:
        """Percent of the own limit that may be borrowed: 0 for RESERVE and LEND, -1 for unlimited."""
        if not self.strategy.borrows:
            return 0
        return UNLIMITED if self.borrow_limit is None else self.borrow_limit


class ServiceEnvironment(Declared):
    """The capacity that all quota shares of the queue share."""

    capacity_limits: CapacityLimits = Field(description="Instance type to the most instances of it.")
    state: State = Field(default=State.ENABLED, description="DISABLED dispatches nothing.")

    @field_validator("capacity_limits")
    @classmethod
    def _between_one_and_five(cls, value: dict[str, int]) -> dict[str, int]:
        _checked(limit_count_problem(len(value)))
        return value


class JobStateTimeLimit(Declared):
    """Ends a job that has been RUNNABLE for a reason for so long (API JobStateTimeLimitAction)."""

    reason: StuckReason
    max_seconds: TimeLimitSeconds = Field(description="Seconds, 600 to 86400.")


class IgnoredFinding(Declared):
    """A finding of ``check`` that somebody looked at and accepted, with the reason."""

    finding: Text = Field(pattern=r"^QM[0-9]{3}$", description="Its id, such as QM106.")
    share: Name | None = Field(default=None, description="Only for this share.")
    because: Text = Field(min_length=1, description="Why; reports print it.")


class Policy(Declared):
    """The policy of one quota-managed SageMaker Training job queue."""

    queue: Name | None = Field(default=None, description="Name of the job queue.")
    service_environment: ServiceEnvironment
    shares: dict[Name, Share] = Field(description="Quota share name to quota share.")
    job_state_time_limits: tuple[JobStateTimeLimit, ...] = Field(
        default=(), description="What ends jobs that wait at the head of a share for too long."
    )
    state: State = Field(default=State.ENABLED, description="A DISABLED queue takes no new jobs.")
    ignore: tuple[IgnoredFinding, ...] = Field(default=(), description="Findings that were looked at and accepted.")

    @field_validator("shares")
    @classmethod
    def _at_most_twenty(cls, value: dict[str, Share]) -> dict[str, Share]:
        _checked(share_count_problem(len(value)))
        return value

    @property
    def units(self) -> tuple[str, ...]:
        """Every instance type that the environment or a share declares, in order of appearance."""
        seen = dict.fromkeys(self.service_environment.capacity_limits)
        for share in self.shares.values():
            seen.update(dict.fromkeys(share.capacity_limits))
        return tuple(seen)

    def capacity(self, unit: str) -> int:
        """Capacity of the service environment for the unit, in instances; 0 where it has none."""
        return self.service_environment.capacity_limits.get(unit, 0)

    def sum_of_limits(self, unit: str) -> int:
        """Sum of the shares' own limits for the unit, in instances."""
        return sum(share.limit(unit) for share in self.shares.values())

    def others(self, name: str) -> Iterator[tuple[str, Share]]:
        """Every share but the named one, in order of declaration."""
        return ((n, s) for n, s in self.shares.items() if n != name)

    def document(self) -> dict[str, Any]:
        """The policy as the data of a policy document: what ``import`` writes."""
        return self.model_dump(mode="json", exclude_defaults=True)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Policy:
        """The policy of a document's data. Raises pydantic.ValidationError."""
        return cls.model_validate(data)
