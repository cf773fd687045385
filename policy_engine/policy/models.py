"""The models of a declaration: a policy, its shares and what they stand on.

Sources as in :mod:`policy_engine.policy.rules`, whose rules the models apply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    field_validator,
    model_validator,
)

from policy_engine.policy.rules import (
    MAX_CAPACITY_LIMITS,
    MAX_PRIORITY,
    MAX_TIME_LIMIT,
    MIN_CAPACITY,
    MIN_TIME_LIMIT,
    NAME_PATTERN,
    UNIT_PATTERN,
    UNLIMITED,
    SharingStrategy,
    State,
    StuckReason,
    borrow_limit_problem,
    borrow_limit_strategy_problem,
    capacity_problem,
    limit_count_problem,
    name_problem,
    priority_problem,
    share_count_problem,
    time_limit_problem,
    unit_problem,
)
from policy_engine.policy.written import WrittenFloat, WrittenInt

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
