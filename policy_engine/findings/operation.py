"""QM108 to QM111: what hurts when the queue is used, or changed later."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject
from policy_engine.policy import State, StuckReason
from policy_engine.sources.declaration import (
    JobQueue,
    Place,
    QuotaShare,
    Raw,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
)
from policy_engine.sources.validation import shown

_NEVER_FITS: Final = (StuckReason.SERVICE_ENVIRONMENT_MAX_RESOURCE, StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED)
"""The reasons of a job that can never fit (R12)."""


@rule(
    "QM108",
    Severity.WARNING,
    "no time limit for jobs that can never fit: one of them holds its share for ever",
    why="A job that is larger than its share can ever reach stays RUNNABLE at the front of its share, and the jobs"
    " behind it wait for ever, unless a job state time limit action ends it.",
    remedy="add a job state time limit action (TERMINATE, RUNNABLE, 600 to 86400 seconds) for each of the two reasons",
    source=pages.TIME_LIMITS,
)
def no_time_limit(subject: Subject) -> Iterator[Found]:
    """Looks for a time limit for each of the two reasons for which a job can never fit."""
    queue = subject.queue
    if queue is None or not isinstance(queue.time_limits, tuple | None):
        return
    reasons = [limit.reason for limit in queue.time_limits or ()]
    missing = [reason for reason in _NEVER_FITS if reason not in reasons]
    if missing and all(isinstance(reason, str) for reason in reasons):
        what = f"no job state time limit action for {' and '.join(missing)}"
        yield Found(what, queue, queue.where("time_limits"))


@rule(
    "QM109",
    Severity.INFO,
    "a disabled share, queue or environment",
    why="A disabled share or queue takes no new jobs, and a disabled environment dispatches none; AWS does not say"
    " whether a disabled share goes on lending.",
    remedy="set the state to ENABLED when jobs are to run",
    source=pages.UPDATE_QUOTA_SHARE,
)
def disabled(subject: Subject) -> Iterator[Found]:
    """Looks at the states."""
    for resource in subject.resources:
        if isinstance(resource, QuotaShare | JobQueue | ServiceEnvironment) and resource.state == State.DISABLED:
            yield Found(f"{_kind(resource)} {resource.label} is {State.DISABLED}", resource, resource.where("state"))


@rule(
    "QM110",
    Severity.WARNING,
    "a fixed name on a queue, policy or environment: a replacing change collides or ends jobs",
    why="CloudFormation creates the replacement before it deletes the old one, and with a fixed name that fails (409);"
    " a new name deletes the old queue, and every job in it ends.",
    remedy="leave the name out, and let CloudFormation make one; outputs give it to those who submit jobs",
    source=pages.JOB_QUEUE,
)
def fixed_names(subject: Subject) -> Iterator[Found]:
    """Looks for names that are given. A share has to have one."""
    for resource in subject.resources:
        if resource.fixed_name and not isinstance(resource, QuotaShare):
            what = f"{_kind(resource)} {resource.logical_id} has the fixed name {_name(resource)}"
            yield Found(what, resource, resource.where("name"))


@rule(
    "QM111",
    Severity.WARNING,
    "lower-case enumeration values: drift is reported for ever, and mending them replaces the queue",
    why="CloudFormation takes the value in any case, but the service stores it in upper case: drift detection reports a"
    " difference that never goes away, and changing the case of a queue's type replaces the queue.",
    remedy="write the value in upper case before the first deployment; later, expect a replacement",
    source=pages.JOB_QUEUE,
)
def lower_case(subject: Subject) -> Iterator[Found]:
    """Looks at the values that CloudFormation takes in any case (the states are not among them)."""
    for resource in subject.resources:
        for value, place in _in_any_case(resource):
            if isinstance(value, str) and value != value.upper():
                yield Found(f"{shown(value)} is not in upper case: {value.upper()}", resource, place)


def _in_any_case(resource: Resource) -> Iterator[tuple[Raw, Place]]:
    if isinstance(resource, QuotaShare):
        yield resource.strategy, resource.where("strategy")
        yield resource.in_share_preemption, resource.where("in_share_preemption")
    elif isinstance(resource, ServiceEnvironment):
        yield resource.type, resource.where("type")
    elif isinstance(resource, SchedulingPolicy):
        yield resource.idle_assignment, resource.where("idle_assignment")
    elif isinstance(resource, JobQueue):
        yield resource.type, resource.where("type")
        for limit in resource.time_limits if isinstance(resource.time_limits, tuple) else ():
            yield limit.action, limit.place.at("Action")


def _kind(resource: Resource) -> str:
    kinds = {
        QuotaShare: "quota share",
        JobQueue: "job queue",
        ServiceEnvironment: "service environment",
        SchedulingPolicy: "scheduling policy",
    }
    return kinds[type(resource)]


def _name(resource: Resource) -> str:
    return shown(resource.name) if isinstance(resource.name, str) else "of a parameter or reference"
