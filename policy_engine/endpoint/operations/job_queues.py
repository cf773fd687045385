"""Operations on job queues (API CreateJobQueue and its neighbours): quota-managed ones of SageMaker Training alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from policy_engine.endpoint.account import Account, lasting, require_valid, tags_given
from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.operations.paging import named
from policy_engine.endpoint.operations.service_environments import adopt, declared, queue_on
from policy_engine.endpoint.resources import (
    DELETING,
    UPDATING,
    Answer,
    JobQueue,
    SchedulingPolicy,
    ServiceEnvironment,
)
from policy_engine.policy import (
    JobStateTimeLimit,
    Policy,
    State,
    StuckReason,
    enum_problem,
    time_limit_problem,
)
from policy_engine.policy.rules import queue_priority_problem
from policy_engine.scheduler.jobs import UpdateQueue

TYPE: Final = "SAGEMAKER_TRAINING"
TERMINATE: Final = "TERMINATE"
"""The one action that a queue of SageMaker Training may take (API JobStateTimeLimitAction)."""


def create(account: Account, request: Mapping[str, Any]) -> Answer:
    """CreateJobQueue, for which a quota-managed queue needs all of UG create-quota-management-resources."""
    if request.get("jobQueueType") != TYPE:
        given = request.get("jobQueueType") or "no jobQueueType"
        raise ClientError(f"jobQueueType: {given}; only quota-managed queues are served here, of type {TYPE}")
    _refuse_compute_environments(request)
    require(queue_priority_problem(request["priority"]), "priority")
    policy = _policy(account, request.get("schedulingPolicyArn"))
    environment = _environment(account, request.get("serviceEnvironmentOrder"), None)
    actions = request.get("jobStateTimeLimitActions") or ()
    state = request.get("state") or State.ENABLED
    declaration = Policy(
        service_environment=declared(environment),
        shares={},
        state=State(state),
        job_state_time_limits=_time_limits(actions),
    )
    queue = account.new(
        JobQueue,
        account.queues,
        request["jobQueueName"],
        account.scope.arn("job-queue/"),
        tags=tags_given(request),
        type=TYPE,
        state=state,
        priority=request["priority"],
        policy=policy,
        environment=environment,
        environment_order=request["serviceEnvironmentOrder"],
        time_limit_actions=actions,
        schedule=account.new_schedule(declaration),
    )
    account.queues[queue.name] = queue
    return _named(queue)


def describe(account: Account, request: Mapping[str, Any]) -> Answer:
    """DescribeJobQueues; those that do not exist are left out."""
    names = request.get("jobQueues")
    wanted = None if not names else [account.look_up(account.queues, name) for name in names]
    found, more = named(request, wanted, account.queues.values(), lambda queue: queue.number)
    for queue in found:
        queue.schedule.read()
    return {"jobQueues": [queue.described() for queue in found], **more}


def update(account: Account, request: Mapping[str, Any]) -> Answer:
    """UpdateJobQueue; what is not given stays."""
    queue = lasting(account.find_queue(request["jobQueue"]), "job queue")
    _refuse_compute_environments(request)
    if request.get("priority") is not None:
        require(queue_priority_problem(request["priority"]), "priority")
    policy = queue.policy
    if request.get("schedulingPolicyArn") is not None:
        policy = _policy(account, request["schedulingPolicyArn"])
    environment = queue.environment
    if request.get("serviceEnvironmentOrder") is not None:
        environment = _environment(account, request["serviceEnvironmentOrder"], queue)
    limits = None
    if request.get("jobStateTimeLimitActions") is not None:
        limits = _time_limits(request["jobStateTimeLimitActions"])
    # nothing is refused from here on
    queue.policy = policy
    if request.get("priority") is not None:
        queue.priority = request["priority"]
    if environment is not queue.environment:
        queue.environment = environment
        adopt(account, queue)
    if request.get("serviceEnvironmentOrder") is not None:
        queue.environment_order = request["serviceEnvironmentOrder"]
    if limits is not None:
        queue.time_limit_actions = request["jobStateTimeLimitActions"]
        queue.schedule.clock.set_time_limits(limits)
    if request.get("state") is not None:
        queue.state = request["state"]
        queue.schedule.clock.change(UpdateQueue(account.now, state=queue.state))
    account.changes(queue, UPDATING)
    return _named(queue)


def delete(account: Account, request: Mapping[str, Any]) -> Answer:
    """DeleteJobQueue; it must be DISABLED, and its shares must be gone."""
    queue = lasting(account.find_queue(request["jobQueue"]), "job queue")
    if queue.state != State.DISABLED:
        raise ClientError(f"job queue {queue.name} is {queue.state}; it must be DISABLED first")
    if queue.shares:
        raise ClientError(f"job queue {queue.name} has quota shares, delete them first: {', '.join(queue.shares)}")
    account.changes(queue, DELETING)
    return {}


def _refuse_compute_environments(request: Mapping[str, Any]) -> None:
    if request.get("computeEnvironmentOrder"):
        raise ClientError(f"computeEnvironmentOrder: a queue of type {TYPE} has a service environment instead")


def _policy(account: Account, arn: str | None) -> SchedulingPolicy:
    if arn is None:
        raise ClientError("schedulingPolicyArn: is missing; a quota-managed queue needs a policy with quotaSharePolicy")
    policy = lasting(account.find(account.policies, arn, "scheduling policy"), "scheduling policy")
    if not policy.manages_quotas:
        raise ClientError(f"schedulingPolicyArn: {policy.name} has no quotaSharePolicy; a quota-managed queue needs it")
    return policy


def _environment(
    account: Account, order: Sequence[Mapping[str, Any]] | None, queue: JobQueue | None
) -> ServiceEnvironment:
    """The one environment of a queue, which is no other queue's."""
    if order is None or len(order) != 1:
        raise ClientError(f"serviceEnvironmentOrder: {len(order or ())} entries; a quota-managed queue has exactly 1")
    environment = account.find(account.environments, order[0]["serviceEnvironment"], "service environment")
    require_valid(environment, "service environment")
    user = queue_on(account, environment)
    if user is not None and user is not queue:
        raise ClientError(f"service environment {environment.name} is connected to job queue {user.name} already")
    return environment


def _time_limits(actions: Sequence[Mapping[str, Any]]) -> tuple[JobStateTimeLimit, ...]:
    for number, action in enumerate(actions):
        at = f"jobStateTimeLimitActions[{number}]"
        require(enum_problem(action["reason"], StuckReason), f"{at}.reason")
        require(time_limit_problem(action["maxTimeSeconds"]), f"{at}.maxTimeSeconds")
        if action["action"] != TERMINATE:
            raise ClientError(f"{at}.action: {action['action']} is not {TERMINATE}, the one for queues of type {TYPE}")
    return tuple(
        JobStateTimeLimit(reason=StuckReason(action["reason"]), max_seconds=action["maxTimeSeconds"])
        for action in actions
    )


def _named(queue: JobQueue) -> Answer:
    return {"jobQueueName": queue.name, "jobQueueArn": queue.arn}
