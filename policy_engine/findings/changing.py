"""QM301 to QM303: what a change of the declaration does to what is there (``compare``)."""

from __future__ import annotations

from collections.abc import Iterator

from policy_engine.findings import pages
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject


@rule(
    "QM301",
    Severity.ERROR,
    "(`compare`) a change that replaces a resource and ends its jobs",
    why="A share's name and queue, and a queue's name and type, cannot be changed: CloudFormation makes another one and"
    " deletes the old one, and with it all its jobs, running or waiting. So it is with a share that is removed. Where a"
    " scheduling policy or a service environment is replaced, AWS does not say what becomes of the queue, and it is a"
    " warning.",
    remedy="keep the name and the logical id, or take the steps that `compare` names; once the old one is drained,"
    " ignore the finding with the reason",
    source=pages.QUOTA_SHARE,
)
def ends_jobs(subject: Subject) -> Iterator[Found]:
    """Looks for what is replaced or removed."""
    return _found(subject, "QM301")


@rule(
    "QM302",
    Severity.ERROR,
    "(`compare`) a change that the service does not allow: a policy's kind is switched or removed",
    why="A scheduling policy is for quota shares or for fair share, and stays what it is; a queue's policy can be"
    " replaced and not removed, and a queue that is made without one never gets one.",
    remedy="declare a new queue with the other kind of policy beside the old one, and move the submitters",
    source=pages.UPDATE_SCHEDULING_POLICY,
)
def refused(subject: Subject) -> Iterator[Found]:
    """Looks for a policy of another kind."""
    return _found(subject, "QM302")


@rule(
    "QM303",
    Severity.WARNING,
    "(`compare`) tags of a queue or policy edited: may replace it",
    why="By the resource types' schemas tags are updated in place; by CloudFormation's pages, and so by `cdk diff`, a"
    " queue or policy with other tags is replaced, which ends all jobs.",
    remedy="look at the change set before it is executed: it must not say Replacement",
    source=pages.JOB_QUEUE,
)
def tags(subject: Subject) -> Iterator[Found]:
    """Looks for other tags."""
    return _found(subject, "QM303")


def _found(subject: Subject, rule_id: str) -> Iterator[Found]:
    for danger in subject.dangers:
        if danger.finding == rule_id:
            certain = danger.is_destructive or rule_id == "QM303"
            yield Found(danger.message, danger.resource, danger.place, severity=None if certain else Severity.WARNING)
