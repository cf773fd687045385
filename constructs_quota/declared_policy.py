"""The policy that constructs declare, as the policy engine takes it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import aws_cdk as cdk
from aws_cdk import aws_batch as batch

if TYPE_CHECKING:
    from policy_engine.policy import Policy


def declared_policy(
    queue: batch.CfnJobQueue, environment: batch.CfnServiceEnvironment, shares: Iterable[batch.CfnQuotaShare]
) -> Policy:
    """The policy of a queue, read from its resources as they stand: later changes of the L1s' attributes count.

    Raises:
        ValueError: A value is wrong, or only known at deployment.
    """
    # Loading the models takes longer than declaring a queue, and few apps ask for the policy.
    from pydantic import ValidationError

    from policy_engine.policy import Policy

    properties = _properties(queue)
    data = {
        "queue": _known_name(properties.get("jobQueueName")) or queue.stack.resolve(queue.logical_id),
        "service_environment": _common(_properties(environment)),
        "shares": {share["quotaShareName"]: _share(share) for share in map(_properties, shares)},
        "job_state_time_limits": [
            {"reason": action["reason"], "max_seconds": action["maxTimeSeconds"]}
            for action in properties.get("jobStateTimeLimitActions", ())
        ],
        "state": properties["state"],
    }
    try:
        return Policy.of(data)
    except ValidationError as error:
        # The constructors have refused what is wrong, so what is left here is a reference to something deployed.
        places = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors())
        raise ValueError(f"{queue.node.path}: policy: not known before deployment: {places}") from error


def _properties(resource: cdk.CfnResource) -> dict[str, Any]:
    """The properties of a resource in the words of the API, tokens resolved as far as they can be before deployment."""
    return dict(resource.stack.resolve(resource._cfn_properties))


def _common(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "capacity_limits": {limit["capacityUnit"]: limit["maxCapacity"] for limit in properties["capacityLimits"]},
        "state": properties["state"],
    }


def _share(properties: Mapping[str, Any]) -> dict[str, Any]:
    sharing = properties["resourceSharingConfiguration"]
    return _common(properties) | {
        "strategy": sharing["strategy"],
        "borrow_limit": sharing.get("borrowLimit"),
        "in_share_preemption": properties["preemptionConfiguration"]["inSharePreemption"] == "ENABLED",
    }


def _known_name(name: object) -> str | None:
    return name if isinstance(name, str) else None
