"""What a service job asks of the scheduler: its training request, its tags and its retry strategy, read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.service_jobs import FAILED, TIMED_OUT
from policy_engine.policy import unit_problem, whole_number_problem
from policy_engine.policy.rules import payload_problem
from policy_engine.scheduler.jobs import Exit, Job
from policy_engine.workload.durations import parse_duration

DURATION_TAG: Final = "policy-engine:duration"
"""How long the job runs: ``90``, ``90s``, ``1h30m``."""
EXIT_TAG: Final = "policy-engine:exit"
"""How its attempts end: ``succeeded`` or ``failed``."""
PRIVATE_TAGS: Final = (DURATION_TAG, EXIT_TAG)
_EXITS: Final = (Exit.SUCCEEDED, Exit.FAILED)
_PAYLOAD: Final = "serviceRequestPayload"
_MOST: Final = 2**31 - 1
"""Of any whole number in a training request (SageMaker API CreateTrainingJob)."""


def wanted_job(request: Mapping[str, Any], at: float, default_duration: float) -> Job:
    """The job that a SubmitServiceJob asks for, submitted at ``at`` seconds.

    It runs as long as its tag says, else its ``StoppingCondition.MaxRuntimeInSeconds``, else ``default_duration``
    seconds. Raises ClientError.
    """
    payload = _payload(request[_PAYLOAD])
    tags = request.get("tags") or {}
    told = (_tagged_duration(tags), _longest_run(payload))
    duration = next((seconds for seconds in told if seconds is not None), default_duration)
    timeout = (request.get("timeoutConfig") or {}).get("attemptDurationSeconds")
    if timeout is not None:
        require(whole_number_problem(timeout, 1), "timeoutConfig.attemptDurationSeconds")
    reason = TIMED_OUT if timeout is not None and duration > timeout else FAILED
    return Job(
        name=request["jobName"],
        share=request["quotaShareName"],
        demand=_demand(payload),
        priority=request.get("schedulingPriority"),
        submit=at,
        duration=duration,
        attempts=_attempts(request.get("retryStrategy") or {}, reason),
        preemption_retries=(request.get("preemptionConfiguration") or {}).get("preemptionRetriesBeforeTermination"),
        timeout=timeout,
        exit=_exit(tags),
    )


# --- the payload ---------------------------------------------------------------------------------


def _payload(text: str) -> Mapping[str, Any]:
    """The training request, a JSON object. AWS Batch reads no more of it than what follows here."""
    require(payload_problem(text), _PAYLOAD)
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"{_PAYLOAD}: is not valid JSON: {error}") from None
    if not isinstance(payload, dict):
        raise ClientError(f"{_PAYLOAD}: is no JSON object; the request of a SageMaker CreateTrainingJob is expected")
    return payload


def _demand(payload: Mapping[str, Any]) -> dict[str, int]:
    """Instance type to instances of ``ResourceConfig``."""
    config = payload.get("ResourceConfig")
    at = f"{_PAYLOAD}.ResourceConfig"
    if not isinstance(config, dict):
        raise ClientError(f"{at}: is missing; the job takes the instances that it names")
    groups = config.get("InstanceGroups")
    if isinstance(groups, list) and groups:
        return _sum(groups, [f"{at}.InstanceGroups[{number}]" for number in range(len(groups))])
    return _sum([config], [at])


def _sum(groups: Sequence[Any], places: Sequence[str]) -> dict[str, int]:
    demand: dict[str, int] = {}
    for group, at in zip(groups, places, strict=True):
        if not isinstance(group, dict):
            raise ClientError(f"{at}: is no JSON object")
        unit, count = group.get("InstanceType"), group.get("InstanceCount", 1)
        if unit is None:
            raise ClientError(f"{at}.InstanceType: is missing")
        require(unit_problem(unit), f"{at}.InstanceType")
        require(whole_number_problem(count, 1, _MOST), f"{at}.InstanceCount")
        demand[unit] = demand.get(unit, 0) + int(count)
    return demand


def _longest_run(payload: Mapping[str, Any]) -> float | None:
    condition = payload.get("StoppingCondition")
    seconds = condition.get("MaxRuntimeInSeconds") if isinstance(condition, dict) else None
    if seconds is None:
        return None
    require(whole_number_problem(seconds, 1, _MOST), f"{_PAYLOAD}.StoppingCondition.MaxRuntimeInSeconds")
    return float(seconds)


# --- tags and retries ----------------------------------------------------------------------------


def _tagged_duration(tags: Mapping[str, str]) -> float | None:
    if DURATION_TAG not in tags:
        return None
    try:
        seconds = parse_duration(tags[DURATION_TAG])
    except ValueError as error:
        raise ClientError(f"tags[{DURATION_TAG!r}]: {error}") from None
    if not 0 <= seconds <= _MOST:
        raise ClientError(f"tags[{DURATION_TAG!r}]: {tags[DURATION_TAG]!r} is out of range: 0 to {_MOST} s is allowed")
    return seconds


def _exit(tags: Mapping[str, str]) -> Exit:
    given = tags.get(EXIT_TAG, Exit.SUCCEEDED)
    if given not in _EXITS:
        raise ClientError(f"tags[{EXIT_TAG!r}]: {given!r} is not one of {', '.join(_EXITS)}")
    return Exit(given)


def _attempts(strategy: Mapping[str, Any], reason: str) -> int:
    """Placements of a job whose attempts, where they do not succeed, all end for this reason (R15)."""
    for rule in strategy.get("evaluateOnExit") or ():
        pattern = re.escape(rule.get("onStatusReason") or "*").replace(r"\*", ".*")
        if re.fullmatch(pattern, reason, re.DOTALL):
            return 1 if rule.get("action") == "EXIT" else int(strategy.get("attempts", 1))
    return int(strategy.get("attempts", 1))
