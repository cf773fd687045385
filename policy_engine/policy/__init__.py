"""What is declared: the quota-share policy of one job queue, and the limits AWS sets on it.

This package is the only place where the rules of a declaration live. The document reader, the template reader, the
CDK constructs and the local endpoint all use its constants, ``*_problem`` functions and models. It imports nothing
else of this project. The models are loaded when one is asked for: pydantic takes longer to load than most apps take to
declare their queues.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from policy_engine.policy.rules import (
    MAX_ATTEMPTS,
    MAX_CAPACITY_LIMITS,
    MAX_PRIORITY,
    MAX_QUEUE_PRIORITY,
    MAX_QUOTA_SHARES,
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
    enum_problem,
    limit_count_problem,
    name_problem,
    priority_problem,
    share_count_problem,
    time_limit_problem,
    unit_problem,
    whole_number_problem,
)
from policy_engine.policy.written import WrittenFloat, WrittenInt

if TYPE_CHECKING:
    from policy_engine.policy.models import (
        BorrowLimit,
        Capacity,
        CapacityLimits,
        Declared,
        IgnoredFinding,
        JobStateTimeLimit,
        Name,
        Policy,
        Priority,
        ServiceEnvironment,
        Share,
        Text,
        TimeLimitSeconds,
        Unit,
    )

_MODELS: Final = (
    "BorrowLimit",
    "Capacity",
    "CapacityLimits",
    "Declared",
    "IgnoredFinding",
    "JobStateTimeLimit",
    "Name",
    "Policy",
    "Priority",
    "ServiceEnvironment",
    "Share",
    "Text",
    "TimeLimitSeconds",
    "Unit",
)

__all__ = [
    "MAX_ATTEMPTS",
    "MAX_CAPACITY_LIMITS",
    "MAX_PRIORITY",
    "MAX_QUEUE_PRIORITY",
    "MAX_QUOTA_SHARES",
    "MAX_TIME_LIMIT",
    "MIN_CAPACITY",
    "MIN_TIME_LIMIT",
    "NAME_PATTERN",
    "UNIT_PATTERN",
    "UNLIMITED",
    "BorrowLimit",
    "Capacity",
    "CapacityLimits",
    "Declared",
    "IgnoredFinding",
    "JobStateTimeLimit",
    "Name",
    "Policy",
    "Priority",
    "ServiceEnvironment",
    "Share",
    "SharingStrategy",
    "State",
    "StuckReason",
    "Text",
    "TimeLimitSeconds",
    "Unit",
    "WrittenFloat",
    "WrittenInt",
    "borrow_limit_problem",
    "borrow_limit_strategy_problem",
    "capacity_problem",
    "enum_problem",
    "limit_count_problem",
    "name_problem",
    "priority_problem",
    "share_count_problem",
    "time_limit_problem",
    "unit_problem",
    "whole_number_problem",
]


def __getattr__(name: str) -> Any:
    if name not in _MODELS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("policy_engine.policy.models"), name)
