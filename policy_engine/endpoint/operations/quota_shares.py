"""Operations on quota shares (API CreateQuotaShare and its neighbours)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policy_engine.endpoint.account import Account, lasting, require_valid, tags_given
from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.operations.paging import named
from policy_engine.endpoint.operations.service_environments import limits_given
from policy_engine.endpoint.resources import DELETING, UPDATING, Answer, QuotaShare, by_unit
from policy_engine.policy import (
    Share,
    SharingStrategy,
    State,
    borrow_limit_problem,
    borrow_limit_strategy_problem,
    share_count_problem,
)
from policy_engine.scheduler.jobs import DeleteShare, UpdateShare


def create(account: Account, request: Mapping[str, Any]) -> Answer:
    """CreateQuotaShare; its queue must be VALID."""
    queue = account.find_queue(request["jobQueue"])
    require_valid(queue, "job queue")
    if request["quotaShareName"] not in queue.shares:
        require(share_count_problem(len(queue.shares) + 1), f"job queue {queue.name}")
    share = account.new(
        QuotaShare,
        queue.shares,
        request["quotaShareName"],
        f"{queue.arn}/quota-share/",
        tags=tags_given(request),
        queue_arn=queue.arn,
        state=request.get("state") or State.ENABLED,
        capacity_limits=limits_given(request["capacityLimits"]),
        sharing=_sharing(request["resourceSharingConfiguration"]),
        preemption=request["preemptionConfiguration"],
    )
    queue.shares[share.name] = share
    queue.schedule.clock.add_share(share.name, declared(share))
    return _named(share)


def describe(account: Account, request: Mapping[str, Any]) -> Answer:
    """DescribeQuotaShare."""
    return account.find_share(request["quotaShareArn"]).described()


def list_all(account: Account, request: Mapping[str, Any]) -> Answer:
    """ListQuotaShares."""
    queue = account.find_queue(request["jobQueue"])
    found, more = named(request, None, queue.shares.values(), lambda share: share.number)
    return {"quotaShares": [share.listed() for share in found], **more}


def update(account: Account, request: Mapping[str, Any]) -> Answer:
    """UpdateQuotaShare; what is not given stays, what is given is replaced as a whole."""
    share = lasting(account.find_share(request["quotaShareArn"]), "quota share")
    limits, sharing = share.capacity_limits, share.sharing
    if request.get("capacityLimits") is not None:
        limits = limits_given(request["capacityLimits"])
    if request.get("resourceSharingConfiguration") is not None:
        sharing = _sharing(request["resourceSharingConfiguration"])
    # nothing is refused from here on
    share.capacity_limits, share.sharing = limits, sharing
    share.preemption = request.get("preemptionConfiguration") or share.preemption
    share.state = request.get("state") or share.state
    ready = declared(share)
    account.queue_of(share).schedule.clock.change(
        UpdateShare(
            account.now,
            share=share.name,
            capacity_limits=ready.capacity_limits,
            strategy=ready.strategy,
            borrow_limit=ready.effective_borrow_limit if ready.strategy.borrows else None,
            in_share_preemption=ready.in_share_preemption,
            state=ready.state,
        )
    )
    account.changes(share, UPDATING)
    return _named(share)


def delete(account: Account, request: Mapping[str, Any]) -> Answer:
    """DeleteQuotaShare; it must be DISABLED, and its jobs are terminated (R16)."""
    share = lasting(account.find_share(request["quotaShareArn"]), "quota share")
    if share.state != State.DISABLED:
        raise ClientError(f"quota share {share.name} is {share.state}; it must be DISABLED first")
    account.queue_of(share).schedule.clock.change(DeleteShare(account.now, share=share.name))
    account.changes(share, DELETING)
    return {}


def _sharing(configuration: Mapping[str, Any]) -> Answer:
    at = "resourceSharingConfiguration.borrowLimit"
    given: Answer = {"strategy": configuration["strategy"]}
    if configuration.get("borrowLimit") is not None:
        require(borrow_limit_problem(configuration["borrowLimit"]), at)
        require(borrow_limit_strategy_problem(configuration["strategy"]), at)
        given["borrowLimit"] = configuration["borrowLimit"]
    return given


def declared(share: QuotaShare) -> Share:
    """The share as a policy declares it."""
    return Share(
        capacity_limits=by_unit(share.capacity_limits),
        strategy=SharingStrategy(share.sharing["strategy"]),
        borrow_limit=share.sharing.get("borrowLimit"),
        in_share_preemption=share.preemption["inSharePreemption"] == State.ENABLED,
        state=State(share.state),
    )


def _named(share: QuotaShare) -> Answer:
    return {"quotaShareName": share.name, "quotaShareArn": share.arn}
