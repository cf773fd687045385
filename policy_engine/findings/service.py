"""QM001 to QM005, QM007, QM009, QM010, QM012: what AWS would refuse for the company it is in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject, limits_of
from policy_engine.policy import (
    MAX_QUOTA_SHARES,
    borrow_limit_strategy_problem,
    limit_count_problem,
    share_count_problem,
)
from policy_engine.sources.declaration import (
    SAGEMAKER_TRAINING,
    EnvironmentOrder,
    JobQueue,
    QuotaShare,
    Unknown,
)
from policy_engine.sources.validation import MISSING, shown

# --- how many ------------------------------------------------------------------------------------


@rule(
    "QM001",
    Severity.ERROR,
    "more than 20 quota shares on a queue",
    why="AWS Batch takes at most 20 quota shares on a job queue; the deployment fails at the next one.",
    remedy="merge shares, or put some of them on a second queue with a service environment of its own",
    source=pages.SERVICE_LIMITS,
)
def too_many_shares(subject: Subject) -> Iterator[Found]:
    """Counts the shares that are there for certain."""
    certain = [share for share in subject.shares if share.existence is None]
    problem = share_count_problem(len(certain))
    if problem is not None:
        yield Found(problem, subject.queue or certain[0], certain[MAX_QUOTA_SHARES].place)


@rule(
    "QM002",
    Severity.ERROR,
    "fewer than 1 or more than 5 capacity limits on a share or a service environment",
    why="A quota share and the service environment of a quota-managed queue have 1 to 5 capacity limits, one for each"
    " instance type.",
    remedy="keep 1 to 5 instance types; more of them need a second queue",
    source=pages.CREATE_QUEUE,
)
def number_of_limits(subject: Subject) -> Iterator[Found]:
    """Counts the capacity limits of every share and environment."""
    for resource in subject.limited:
        if isinstance(resource.capacity_limits, Unknown):
            continue
        problem = limit_count_problem(len(limits_of(resource)))
        if problem is not None:
            yield Found(problem, resource, resource.where("capacity_limits"))


@rule(
    "QM003",
    Severity.ERROR,
    "an instance type twice in one list of capacity limits",
    why="Only one limit can hold for an instance type, and AWS does not say which.",
    remedy="keep one limit for the instance type, with the sum if that was meant",
    source=pages.CREATE_QUOTA_SHARE,
)
def repeated_units(subject: Subject) -> Iterator[Found]:
    """Looks for a second limit of one type."""
    for resource in subject.limited:
        counts = Counter(limit.unit for limit in limits_of(resource) if isinstance(limit.unit, str))
        for unit, count in counts.items():
            if count > 1:
                limits = [limit for limit in limits_of(resource) if limit.unit == unit]
                listed = " and ".join(shown(limit.maximum) for limit in limits)
                what = f"{count} capacity limits for {shown(unit)}: {listed}"
                yield Found(what, resource, limits[1].place, unit)


@rule(
    "QM004",
    Severity.ERROR,
    "a share's instance type that the service environment has not got",
    why="Jobs run only where the service environment has capacity for their instance type, so this limit gives nothing:"
    " every job on the type stays RUNNABLE.",
    remedy="add the instance type to the service environment, or take it from the share",
    source=pages.CAPACITY_LIMIT,
)
def unit_without_capacity(subject: Subject) -> Iterator[Found]:
    """Compares the shares' instance types with the environment's."""
    environment = subject.environment
    if environment is None:
        return
    has = ", ".join(subject.units(environment)) or "nothing"
    for share in subject.shares:
        for unit, entry in subject.entries(share):
            if subject.limit(environment, unit) == 0:
                what = f"{shown(unit)} is not in service environment {environment.label}, which has {has}"
                yield Found(what, share, entry.place, unit)


@rule(
    "QM005",
    Severity.ERROR,
    "a borrow limit without LEND_AND_BORROW",
    why="A share that reserves or only lends never borrows; the API takes a borrow limit with LEND_AND_BORROW alone.",
    remedy="remove the borrow limit, or set the strategy to LEND_AND_BORROW",
    source=pages.SHARING,
)
def borrow_limit_without_borrowing(subject: Subject) -> Iterator[Found]:
    """Looks for a borrow limit beside RESERVE and LEND."""
    for share in subject.shares:
        strategy = subject.strategy(share)
        given = share.borrow_limit is not None and not isinstance(share.borrow_limit, Unknown)
        problem = borrow_limit_strategy_problem(strategy) if given and strategy is not None else None
        if problem is not None:
            yield Found(f"{shown(share.borrow_limit)}: {problem}", share, share.where("borrow_limit"))


@rule(
    "QM007",
    Severity.ERROR,
    "two shares of one name on a queue",
    why="Jobs name their share, so a name can only be used once on a queue; the second share is refused.",
    remedy="give each share a name of its own",
    source=pages.CREATE_QUOTA_SHARE,
)
def repeated_names(subject: Subject) -> Iterator[Found]:
    """Looks for a second share of a name, among those that are there for certain."""
    first: dict[str, QuotaShare] = {}
    for share in subject.shares:
        if not isinstance(share.name, str) or share.existence is not None:
            continue
        known = first.setdefault(share.name, share)
        if known is not share:
            what = f"{shown(share.name)} is the name of {known.logical_id} already"
            yield Found(what, share, share.where("name"))


# --- what belongs together -----------------------------------------------------------------------


@rule(
    "QM009",
    Severity.ERROR,
    "a queue without exactly one service environment, or an environment on two queues",
    why="A quota-managed queue has exactly one service environment, and that environment serves no other queue.",
    remedy="give each queue one service environment of its own",
    source=pages.CREATE_QUEUE,
)
def environment_of_queue(subject: Subject) -> Iterator[Found]:
    """Counts the queue's environments, and the queues of each of them."""
    queue = subject.queue
    if queue is None:
        return
    if not isinstance(queue.environments, Unknown):
        yield from _environment_count(queue, queue.environments or ())
    for environment in subject.environments:
        for other in subject.declaration.job_queues:
            if other is not queue and environment in subject.declaration.environments_of(other):
                what = f"service environment {environment.label} is on queue {other.label} too"
                yield Found(what, queue, queue.where("environments"))


def _environment_count(queue: JobQueue, entries: tuple[EnvironmentOrder, ...]) -> Iterator[Found]:
    if len(entries) != 1:
        beside = " and compute environments" if queue.compute_environments else ""
        what = f"{len(entries)} service environments{beside}; a queue with quota shares has exactly 1"
        yield Found(what, queue, queue.where("environments"))
    elif queue.compute_environments:
        what = "compute environments beside the service environment; a queue has one kind alone"
        yield Found(what, queue, queue.where("compute_environments"))
    for entry in entries:
        if entry.environment is None:
            yield Found(MISSING, queue, entry.place.at("ServiceEnvironment"))


@rule(
    "QM010",
    Severity.ERROR,
    "quota shares on a queue that is not quota-managed",
    why="Quota shares need a job queue of type SAGEMAKER_TRAINING with a scheduling policy that has a quotaSharePolicy"
    " and nothing else. A queue that was created without one can never get it, and the kind of a policy can never be"
    " changed.",
    remedy="set the queue's type to SAGEMAKER_TRAINING, and link a scheduling policy that has a QuotaSharePolicy alone",
    source=pages.CREATE_QUEUE,
)
def queue_without_quota_management(subject: Subject) -> Iterator[Found]:
    """Looks at the queue's type and at its scheduling policy."""
    queue = subject.queue
    if queue is None:
        return
    if not isinstance(queue.type, Unknown) and str(queue.type).upper() != SAGEMAKER_TRAINING:
        what = MISSING if queue.type is None else f"{shown(queue.type)} is not {SAGEMAKER_TRAINING}"
        yield Found(f"{what}; a queue with quota shares is of type {SAGEMAKER_TRAINING}", queue, queue.where("type"))
    yield from _policy_of_queue(subject, queue)


def _policy_of_queue(subject: Subject, queue: JobQueue) -> Iterator[Found]:
    policy = None if subject.declared is None else subject.declared.scheduling_policy
    if queue.policy is None:
        what = f"{MISSING}; quota shares need a scheduling policy with a QuotaSharePolicy"
        yield Found(what, queue, queue.where("policy"))
    elif policy is not None:
        if policy.fairshare or not policy.quota_share:
            has = "both a QuotaSharePolicy and a FairsharePolicy" if policy.quota_share else "no QuotaSharePolicy"
            what = f"scheduling policy {policy.label} has {has}; quota shares need a QuotaSharePolicy alone"
            yield Found(what, policy, policy.place)
    elif isinstance(queue.policy.value, str) and not queue.policy.value.startswith("arn:"):
        what = f"{shown(queue.policy.value)} is not the ARN of a scheduling policy"
        yield Found(what, queue, queue.policy.place)


@rule(
    "QM012",
    Severity.ERROR,
    "a share linked to its queue by a literal name in the same template",
    why="CloudFormation orders resources by their references. By name alone it may create the share before its queue,"
    " or delete the queue before its shares, and either fails.",
    remedy="link the share with a Ref to the queue, or add the queue to the share's DependsOn",
    source=pages.QUOTA_SHARE,
)
def unordered_shares(subject: Subject) -> Iterator[Found]:
    """Looks for shares whose queue is in their template, and that CloudFormation does not see as linked."""
    queue = subject.queue
    for share in subject.shares if queue is not None else ():
        link = share.queue
        if queue is None or link is None or link.is_reference or share.template != queue.template:
            continue
        if queue.logical_id not in share.depends_on:
            what = f"{shown(link.value)} is queue {queue.logical_id} of this template, and CloudFormation sees no link"
            yield Found(what, share, link.place)
