"""Operations on service environments (API CreateServiceEnvironment and its neighbours)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from policy_engine.endpoint.account import Account, lasting, tags_given
from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.operations.paging import named
from policy_engine.endpoint.resources import DELETING, UPDATING, Answer, JobQueue, ServiceEnvironment, by_unit
from policy_engine.policy import ServiceEnvironment as Declared
from policy_engine.policy import State, capacity_problem, limit_count_problem, unit_problem
from policy_engine.scheduler.jobs import UpdateServiceEnvironment

WHAT: Final = "service environment"


def create(account: Account, request: Mapping[str, Any]) -> Answer:
    """CreateServiceEnvironment."""
    environment = account.new(
        ServiceEnvironment,
        account.environments,
        request["serviceEnvironmentName"],
        account.scope.arn("service-environment/"),
        tags=tags_given(request),
        type=request["serviceEnvironmentType"],
        state=request.get("state") or State.ENABLED,
        capacity_limits=limits_given(request["capacityLimits"]),
    )
    account.environments[environment.name] = environment
    return _named(environment)


def describe(account: Account, request: Mapping[str, Any]) -> Answer:
    """DescribeServiceEnvironments; those that do not exist are left out."""
    names = request.get("serviceEnvironments")
    wanted = None if not names else [account.look_up(account.environments, name) for name in names]
    found, more = named(request, wanted, account.environments.values(), lambda environment: environment.number)
    return {"serviceEnvironments": [environment.described() for environment in found], **more}


def update(account: Account, request: Mapping[str, Any]) -> Answer:
    """UpdateServiceEnvironment; a lowered capacity stops nothing (R11)."""
    environment = _find(account, request)
    if request.get("capacityLimits") is not None:
        environment.capacity_limits = limits_given(request["capacityLimits"])
    environment.state = request.get("state") or environment.state
    queue = queue_on(account, environment)
    if queue is not None:
        adopt(account, queue)
    account.changes(environment, UPDATING)
    return _named(environment)


def delete(account: Account, request: Mapping[str, Any]) -> Answer:
    """DeleteServiceEnvironment; it must be DISABLED and no queue's."""
    environment = _find(account, request)
    if environment.state != State.DISABLED:
        raise ClientError(f"service environment {environment.name} is {environment.state}; it must be DISABLED first")
    queue = queue_on(account, environment)
    if queue is not None:
        raise ClientError(f"service environment {environment.name} is associated with job queue {queue.name}")
    account.changes(environment, DELETING)
    return {}


def limits_given(limits: Sequence[Mapping[str, Any]]) -> list[Answer]:
    """Capacity limits of a request, as they are described. Raises ClientError for what no quota share could use."""
    require(limit_count_problem(len(limits)), "capacityLimits")
    for number, limit in enumerate(limits):
        at = f"capacityLimits[{number}]"
        require(unit_problem(limit.get("capacityUnit")), f"{at}.capacityUnit")
        require(capacity_problem(limit.get("maxCapacity")), f"{at}.maxCapacity")
    units = [limit["capacityUnit"] for limit in limits]
    for unit in units:
        if units.count(unit) > 1:
            raise ClientError(f"capacityLimits: {unit} is given {units.count(unit)} times")
    return [{"maxCapacity": limit["maxCapacity"], "capacityUnit": limit["capacityUnit"]} for limit in limits]


def queue_on(account: Account, environment: ServiceEnvironment) -> JobQueue | None:
    """The queue that the environment is connected to."""
    return next((queue for queue in account.queues.values() if queue.environment is environment), None)


def adopt(account: Account, queue: JobQueue) -> None:
    """Tell the queue's scheduler what its environment has become."""
    environment = queue.environment
    limits = by_unit(environment.capacity_limits)
    queue.schedule.clock.change(UpdateServiceEnvironment(account.now, capacity_limits=limits, state=environment.state))


def declared(environment: ServiceEnvironment) -> Declared:
    """The environment as a policy declares it."""
    return Declared(capacity_limits=by_unit(environment.capacity_limits), state=State(environment.state))


def _find(account: Account, request: Mapping[str, Any]) -> ServiceEnvironment:
    return lasting(account.find(account.environments, request["serviceEnvironment"], WHAT), WHAT)


def _named(environment: ServiceEnvironment) -> Answer:
    return {"serviceEnvironmentName": environment.name, "serviceEnvironmentArn": environment.arn}
