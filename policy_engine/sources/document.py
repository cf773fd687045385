"""Reads a policy document, the policy in the engine's own words, and gives it as the resources it stands for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from policy_engine.policy import Policy, Share, State
from policy_engine.sources.declaration import (
    FIFO,
    SAGEMAKER_TRAINING,
    TERMINATE,
    CapacityLimit,
    Declaration,
    EnvironmentOrder,
    Ignored,
    JobQueue,
    Link,
    Place,
    QuotaShare,
    SchedulingPolicy,
    ServiceEnvironment,
    TimeLimit,
)
from policy_engine.sources.reading import Document
from policy_engine.sources.validation import validated

_QUEUE: Final = "queue"
_ENVIRONMENT: Final = "service_environment"
_POLICY: Final = "scheduling_policy"
"""What stands for a logical id where a document has none."""


def read_policy(document: Document) -> Policy:
    """The policy of the document. Raises InputError."""
    return validated(document, Policy)


def declaration_of(policy: Policy, *, source: str = "", document: Document | None = None) -> Declaration:
    """The policy as a quota-managed queue with its scheduling policy, its environment and its shares.

    What a document leaves out because there is no choice (the types, FIFO) is as AWS Batch needs it.
    """
    top = Place("", document=document)
    queue = _queue(policy, top)
    return Declaration(
        source=source,
        job_queues=(queue,),
        service_environments=(
            ServiceEnvironment(
                logical_id=_ENVIRONMENT,
                place=top.at(_ENVIRONMENT),
                paths=_same("capacity_limits", "state"),
                type=SAGEMAKER_TRAINING,
                state=policy.service_environment.state,
                capacity_limits=_limits(policy.service_environment.capacity_limits, top.at(_ENVIRONMENT)),
            ),
        ),
        scheduling_policies=(
            SchedulingPolicy(logical_id=_POLICY, place=top, paths={}, quota_share=True, idle_assignment=FIFO),
        ),
        quota_shares=tuple(_share(policy, name, share, queue, top) for name, share in policy.shares.items()),
        ready=policy,
    )


def _queue(policy: Policy, top: Place) -> JobQueue:
    environment = Link(None, top.at(_ENVIRONMENT), target=("", _ENVIRONMENT))
    return JobQueue(
        logical_id=policy.queue or _QUEUE,
        place=top,
        paths={"name": ("queue",), "state": ("state",), "time_limits": ("job_state_time_limits",)},
        name=policy.queue,
        ignores=_ignores(policy, None, top),
        type=SAGEMAKER_TRAINING,
        state=policy.state,
        priority=1,
        environments=(EnvironmentOrder(1, environment, top.at(_ENVIRONMENT)),),
        policy=Link(None, top, target=("", _POLICY)),
        time_limits=tuple(
            TimeLimit(TERMINATE, "RUNNABLE", limit.reason, limit.max_seconds, top.at("job_state_time_limits", index))
            for index, limit in enumerate(policy.job_state_time_limits)
        ),
    )


def _share(policy: Policy, name: str, share: Share, queue: JobQueue, top: Place) -> QuotaShare:
    place = top.at("shares", name)
    return QuotaShare(
        logical_id=name,
        place=place,
        paths=_same("capacity_limits", "strategy", "borrow_limit", "in_share_preemption", "state"),
        name=name,
        ignores=_ignores(policy, name, top),
        queue=Link(None, place, target=queue.key),
        capacity_limits=_limits(share.capacity_limits, place),
        strategy=share.strategy,
        borrow_limit=share.borrow_limit,
        in_share_preemption=State.ENABLED if share.in_share_preemption else State.DISABLED,
        state=share.state,
    )


def _limits(limits: Mapping[str, int], holder: Place) -> tuple[CapacityLimit, ...]:
    return tuple(CapacityLimit(unit, count, holder.at("capacity_limits", unit)) for unit, count in limits.items())


def _ignores(policy: Policy, share: str | None, top: Place) -> tuple[Ignored, ...]:
    return tuple(
        Ignored(entry.finding, entry.because, top.at("ignore", index))
        for index, entry in enumerate(policy.ignore)
        if entry.share == share
    )


def _same(*names: str) -> dict[str, tuple[str, ...]]:
    return {name: (name,) for name in names}
