"""Declares a policy as the resources that it describes, by the operations that a client would use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.operations import OPERATIONS
from policy_engine.endpoint.operations.job_queues import TERMINATE, TYPE
from policy_engine.endpoint.resources import Answer
from policy_engine.policy import Policy, Share, State

QUEUE: Final = "quota-queue"
"""Name of the queue where the policy names none."""


def declare(account: Account, policy: Policy) -> None:
    """Create the policy's queue with all that belongs to it. Raises ClientError."""
    queue = policy.queue or QUEUE
    if queue in account.queues:
        raise ClientError(f"job queue {queue} exists already; of several policies each needs a queue of its own name")
    environment, scheduling = f"{queue}-environment"[:128], f"{queue}-policy"[:128]

    def do(operation: str, **request: Any) -> Answer:
        return OPERATIONS[operation](account, request)

    arn = do("CreateSchedulingPolicy", name=scheduling, quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})[
        "arn"
    ]
    do(
        "CreateServiceEnvironment",
        serviceEnvironmentName=environment,
        serviceEnvironmentType=TYPE,
        state=policy.service_environment.state,
        capacityLimits=_limits(policy.service_environment.capacity_limits),
    )
    account.settle_resources()
    do(
        "CreateJobQueue",
        jobQueueName=queue,
        jobQueueType=TYPE,
        state=policy.state,
        priority=1,
        schedulingPolicyArn=arn,
        serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": environment}],
        jobStateTimeLimitActions=[
            {"reason": limit.reason, "state": "RUNNABLE", "maxTimeSeconds": limit.max_seconds, "action": TERMINATE}
            for limit in policy.job_state_time_limits
        ],
    )
    account.settle_resources()
    for name, share in policy.shares.items():
        do("CreateQuotaShare", quotaShareName=name, jobQueue=queue, **_share(share))
    account.settle_resources()


def _share(share: Share) -> Answer:
    sharing: Answer = {"strategy": share.strategy}
    if share.borrow_limit is not None:
        sharing["borrowLimit"] = share.borrow_limit
    return {
        "capacityLimits": _limits(share.capacity_limits),
        "resourceSharingConfiguration": sharing,
        "preemptionConfiguration": {
            "inSharePreemption": State.ENABLED if share.in_share_preemption else State.DISABLED
        },
        "state": share.state,
    }


def _limits(limits: Mapping[str, int]) -> list[Answer]:
    return [{"maxCapacity": count, "capacityUnit": unit} for unit, count in limits.items()]
