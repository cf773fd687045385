"""The policy that constructs declare, as the policy engine takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_batch as batch

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
            {"reason": action["reason"], "max_seconds": action["maxTimeSeconds"]}
            for action in properties.get("jobStateTimeLimitActions", ())
        ],
        "state": properties["state"],
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
    """Is it what is left of a token: an object where text or a number belongs, or a key made of one?"""
    return isinstance(value, Mapping) or (isinstance(value, str) and value.startswith("${"))


def _place(problem: Mapping[str, Any]) -> str:
    return ".".join(str(part) for part in problem["loc"] if part != "[key]")


def _message(problem: Mapping[str, Any]) -> str:
    return str(problem["msg"]).removeprefix("Value error, ")


def _properties(resource: cdk.CfnResource) -> dict[str, Any]:
    """The properties of a resource in the words of the API, tokens resolved as far as they can be before deployment."""
    return dict(resource.stack.resolve(resource._cfn_properties))


def _common(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "capacity_limits": {
            _text(limit["capacityUnit"]): limit["maxCapacity"] for limit in properties["capacityLimits"]
        },
        "state": properties["state"],
    }


def _share(properties: Mapping[str, Any]) -> dict[str, Any]:
    sharing = properties["resourceSharingConfiguration"]
    return _common(properties) | {
        "strategy": sharing["strategy"],
        "borrow_limit": sharing.get("borrowLimit"),
        "in_share_preemption": properties["preemptionConfiguration"]["inSharePreemption"] == "ENABLED",
    }


def _text(value: object) -> str:
    """A key; a reference to something deployed is kept as one that no rule takes."""
    return value if isinstance(value, str) else f"${{{value}}}"
