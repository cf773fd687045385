"""Operations on scheduling policies (API CreateSchedulingPolicy and its neighbours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from policy_engine.endpoint.account import Account, lasting, tags_given
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.operations.paging import last_seen, page
from policy_engine.endpoint.resources import DELETING, UPDATING, Answer, SchedulingPolicy

WHAT: Final = "scheduling policy"
_KINDS: Final = ("quotaSharePolicy", "fairsharePolicy")


def create(account: Account, request: Mapping[str, Any]) -> Answer:
    """CreateSchedulingPolicy."""
    policy = account.new(
        SchedulingPolicy,
        account.policies,
        request["name"],
        account.scope.arn("scheduling-policy/"),
        tags=tags_given(request),
        body=_body(request),
    )
    account.policies[policy.name] = policy
    return {"name": policy.name, "arn": policy.arn}


def _body(request: Mapping[str, Any]) -> Answer:
    given = {kind: request[kind] for kind in _KINDS if request.get(kind) is not None}
    if len(given) != 1:
        raise ClientError(f"exactly one of {' and '.join(_KINDS)} must be given, not {len(given)}")
    return given


def describe(account: Account, request: Mapping[str, Any]) -> Answer:
    """DescribeSchedulingPolicies; those that do not exist are left out."""
    found = {arn: account.look_up(account.policies, arn) for arn in request["arns"]}
    return {"schedulingPolicies": [policy.described() for arn, policy in found.items() if policy is not None]}


def list_all(account: Account, request: Mapping[str, Any]) -> Answer:
    """ListSchedulingPolicies."""
    after = last_seen(request) or 0
    rest = (policy for policy in account.policies.values() if policy.number > after)
    found, more = page(request, rest, lambda policy: policy.number)
    return {"schedulingPolicies": [{"arn": policy.arn} for policy in found], **more}


def update(account: Account, request: Mapping[str, Any]) -> Answer:
    """UpdateSchedulingPolicy; its kind stays (API UpdateSchedulingPolicy)."""
    policy = _find(account, request)
    body = _body(request)
    if body.keys() != policy.body.keys():
        raise ClientError(f"scheduling policy {policy.name} has a {next(iter(policy.body))}; its kind cannot change")
    policy.body = body
    account.changes(policy, UPDATING)
    return {}


def delete(account: Account, request: Mapping[str, Any]) -> Answer:
    """DeleteSchedulingPolicy; not while a queue uses it."""
    policy = _find(account, request)
    users = [queue.name for queue in account.queues.values() if queue.policy is policy]
    if users:
        raise ClientError(f"scheduling policy {policy.name} is used by job queue {', '.join(users)}")
    account.changes(policy, DELETING)
    return {}


def _find(account: Account, request: Mapping[str, Any]) -> SchedulingPolicy:
    return lasting(account.find(account.policies, request["arn"], WHAT), WHAT)
