"""The policy that constructs declare, as the policy engine takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_batch as batch

from policy_engine.policy import State

if TYPE_CHECKING:
    from policy_engine.policy import Policy


class NotKnownError(ValueError):
    """A policy is not known before deployment."""


def declared_policy(
    queue: batch.CfnJobQueue, environment: batch.CfnServiceEnvironment, shares: Iterable[batch.CfnQuotaShare]
) -> Policy:
    """The policy of a queue, read from its resources as they stand: later changes of the L1s' attributes count.

    Raises:
        NotKnownError: Nothing is wrong, but a value is only known at deployment.
        ValueError: A value is wrong.
    """
    # Loading the models takes longer than declaring a queue, and few apps ask for the policy.
    from pydantic import ValidationError

    from policy_engine.policy import Policy

    properties = _properties(queue)
    name = properties.get("jobQueueName")
    data = {
        "queue": name if isinstance(name, str) else queue.stack.resolve(queue.logical_id),
        "service_environment": _common(_properties(environment)),
        "shares": {_text(share["quotaShareName"]): _share(share) for share in map(_properties, shares)},
        "job_state_time_limits": [
            {"reason": action.get("reason"), "max_seconds": action.get("maxTimeSeconds")}
            for action in _list(properties, "jobStateTimeLimitActions")
        ],
        "state": properties.get("state", State.ENABLED),
    }
    try:
        return Policy.of(data)
    except ValidationError as error:
        raise _refusal(queue.node.path, error.errors()) from error


def _refusal(path: str, problems: Sequence[Mapping[str, Any]]) -> ValueError:
    unknown = [problem for problem in problems if _is_reference(problem["input"])]
    wrong = [problem for problem in problems if problem not in unknown]
    if wrong:
        return ValueError("\n".join(f"{path}: policy: {_place(problem)}: {_message(problem)}" for problem in wrong))
    return NotKnownError(f"{path}: policy: not known before deployment: {', '.join(map(_place, unknown))}")


def _is_reference(value: object) -> bool:
    """Is it what is left of a token: an intrinsic function, or a key made of one?"""
    if isinstance(value, Mapping):
        return len(value) == 1 and all(name == "Ref" or name.startswith("Fn::") for name in value)
    return isinstance(value, str) and value.startswith("${")


def _place(problem: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in problem["loc"] if part != "[key]")


def _message(problem: Mapping[str, Any]) -> str:
    """The problem with its value: the rules of the policy name it, those of pydantic do not."""
    said = str(problem["msg"])
    ours = said.removeprefix("Value error, ")
    return ours if ours != said else f"{problem['input']!r}: {said[0].lower()}{said[1:]}"


def _properties(resource: cdk.CfnResource) -> dict[str, Any]:
    """The properties of a resource in the words of the API, tokens resolved as far as they can be before deployment."""
    return dict(resource.stack.resolve(resource._cfn_properties))


def _common(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "capacity_limits": {
            _text(limit.get("capacityUnit", "")): limit.get("maxCapacity")
            for limit in _list(properties, "capacityLimits")
        },
        "state": properties.get("state", State.ENABLED),
    }


def _share(properties: Mapping[str, Any]) -> dict[str, Any]:
    sharing = properties["resourceSharingConfiguration"]
    return _common(properties) | {
        "strategy": sharing.get("strategy"),
        "borrow_limit": sharing.get("borrowLimit"),
        "in_share_preemption": properties["preemptionConfiguration"].get("inSharePreemption") == "ENABLED",
    }


def _list(properties: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """A list of structures."""
    found = properties.get(name, [])
    if not isinstance(found, list):
        raise NotKnownError(f"policy: not known before deployment: {name}")
    return found


def _text(value: object) -> str:
    """A key; a reference to something deployed is kept as one that no rule takes."""
    return value if isinstance(value, str) else f"${{{value}}}"
