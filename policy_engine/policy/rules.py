"""The rules of a declaration: the limits, the allowed values, and what is wrong with a value.

Standard library alone, so that who only holds values to the rules (the CDK constructs) does not load the models.

Sources: AWS Batch User Guide (UG) pages ``quota-shares``, ``create-quota-management-resources``,
``service_limits``; API Reference (API) pages ``CreateQuotaShare``, ``QuotaShareCapacityLimit``,
``QuotaShareResourceSharingConfiguration``, ``JobStateTimeLimitAction``.
"""

import re
from enum import StrEnum
from typing import Final

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
MAX_RETRY_RULES: Final = 5
"""Most rules of ``retryStrategy.evaluateOnExit`` (API ServiceJobRetryStrategy)."""
MAX_RETRY_PATTERN: Final = 512
"""Most characters of an ``onStatusReason`` (API ServiceJobEvaluateOnExit)."""
MAX_PAYLOAD_BYTES: Final = 10 * 1024
"""Most bytes of a ``serviceRequestPayload`` (UG service_limits)."""
MAX_REQUEST_BYTES: Final = 30 * 1024
"""Most bytes of a SubmitServiceJob request (UG service_limits)."""
MAX_BULK_JOBS: Final = 50
"""Most jobs of one TerminateServiceJobs (API TerminateServiceJobs)."""
MAX_TAGS: Final = 50
"""Most tags of a resource or job (API TagResource)."""
MAX_PAGE: Final = 100
"""Most results of one page, and as many as come where none are asked for (API ListServiceJobs)."""
MAX_SNAPSHOT_JOBS: Final = 100
"""RUNNABLE jobs of a queue that GetJobQueueSnapshot tells of (API FrontOfQueueDetail)."""
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


def queue_priority_problem(value: object) -> str | None:
    """What is wrong with the ``priority`` of a job queue; None if nothing."""
    return whole_number_problem(value, 0, MAX_QUEUE_PRIORITY)


def attempts_problem(value: object) -> str | None:
    """What is wrong with ``retryStrategy.attempts``; None if nothing."""
    return whole_number_problem(value, 1, MAX_ATTEMPTS)


def payload_problem(value: str) -> str | None:
    """What is wrong with the size of a ``serviceRequestPayload``; None if nothing."""
    size = len(value.encode("utf-8", "surrogatepass"))
    if size <= MAX_PAYLOAD_BYTES:
        return None
    return f"{size} bytes; at most {MAX_PAYLOAD_BYTES} are allowed"


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
