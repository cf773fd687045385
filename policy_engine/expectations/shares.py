"""Judges what is expected of a share, and of the queue, over the run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from policy_engine.expectations.evidence import Evidence
from policy_engine.expectations.finding import Finding, bounded
from policy_engine.expectations.wording import counted, listed, number
from policy_engine.outcome import ShareOutcome
from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import QueueExpectation, ShareExpectation, Waits

_COUNTED: Final = {
    "usage": ("peak_usage", "used up to {} at once", "instance"),
    "borrowed": ("peak_borrowed", "borrowed up to {} at once", "instance"),
    "preemptions_suffered": ("preemptions_suffered", "suffered {}", "preemption"),
    "preemptions_caused": ("preemptions_caused", "caused {}", "preemption"),
}
"""Key of an expectation to the field of the outcome, how it is told, and what is counted."""
_SECONDS_PER_HOUR: Final = 3600


def judge_share(expectation: ShareExpectation, evidence: Evidence) -> Iterator[Finding]:
    """What one share comes to, all its instance types together."""
    share = evidence.shares[expectation.share]
    if expectation.wait is not None:
        yield from _judge_waits(expectation.wait, share)
    for key, (field, told, what) in _COUNTED.items():
        bound = getattr(expectation, key)
        if bound is not None:
            value = getattr(share, field)
            yield bounded(bound, value, f"{share.name} {told.format(counted(value, what))}", number)
    if expectation.lost_instance_hours is not None:
        hours = share.lost_instance_seconds / _SECONDS_PER_HOUR
        told = f"{share.name} lost {number(hours)} instance-hours"
        yield bounded(expectation.lost_instance_hours, hours, told, number)


def _judge_waits(waits: Waits, share: ShareOutcome) -> Iterator[Finding]:
    never = f" ({share.never_started} more never started)" if share.never_started else ""
    if share.wait_seconds is None:
        jobs = f"none of its {share.never_started} jobs started" if share.never_started else "it had no job"
        yield Finding(False, f"{share.name} has no wait to judge: {jobs}")
        return
    for statistic, bound in waits.bounds.items():
        seconds = getattr(share.wait_seconds, statistic)
        told = f"jobs of {share.name} waited {duration_text(seconds)} ({statistic}){never}"
        yield bounded(bound, seconds, told, duration_text)


def describe_share(expectation: ShareExpectation) -> str:
    """What is expected, as a sentence."""
    clauses = []
    if expectation.wait is not None:
        clauses += [f"wait {name} {bound.text(duration_text)}" for name, bound in expectation.wait.bounds.items()]
    for key in _COUNTED:
        bound = getattr(expectation, key)
        if bound is not None:
            clauses.append(f"{key.replace('_', ' ')} {bound.text(number)}")
    if expectation.lost_instance_hours is not None:
        clauses.append(f"lost instance-hours {expectation.lost_instance_hours.text(number)}")
    return f"share {expectation.share}: {listed(clauses)}"


def judge_queue(expectation: QueueExpectation, evidence: Evidence) -> Iterator[Finding]:
    """What the queue comes to."""
    utilization = evidence.queue.utilization
    if utilization is None:
        yield Finding(False, "the run has no length, and so no utilization")
        return
    yield bounded(expectation.bound, utilization, f"the queue's utilization was {number(utilization)}", number)


def describe_queue(expectation: QueueExpectation) -> str:
    """What is expected, as a sentence."""
    return f"the queue's utilization is {expectation.bound.text(number)}"
