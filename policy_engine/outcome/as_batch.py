"""The jobs of a run as AWS Batch would tell of them afterwards: DescribeServiceJob, a line of JSON each.

It tells that a job was preempted and when, and never for whom. Sources: API Reference pages ``DescribeServiceJob``,
``ServiceJobPreemptedAttempt``; User Guide page ``batch-service-job-preemption-events``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from policy_engine.outcome.history import PREEMPTIONS
from policy_engine.outcome.jobs import Attempt, JobOutcome, job_outcomes
from policy_engine.scheduler.jobs import Job
from policy_engine.scheduler.log import CROSS_SHARE_REASON, Kind, Why
from policy_engine.simulation import Run

EPOCH: Final = 1_767_225_600.0
"""2026-01-01T00:00:00Z, in seconds since 1970: what stands for a scenario's zero."""


def history_text(run: Run, epoch: float = EPOCH) -> str:
    """JSON lines that ``replay`` and ``conform`` take; ``epoch`` is the date of the run's zero."""
    return "".join(f"{json.dumps(told)}\n" for told in as_batch(run, epoch))


def as_batch(run: Run, epoch: float = EPOCH) -> Iterator[dict[str, Any]]:
    """Every job that was submitted, in the order in which the jobs are given. Times in milliseconds since 1970."""
    terminated = {job for _, kind, job, *_ in run.log.rows if kind is Kind.TERMINATED}
    priorities = {job: priority for _, kind, job, _, _, priority in run.log.rows if kind is Kind.PRIORITY_UPDATED}
    for number, (job, outcome) in enumerate(zip(run.workload.jobs, job_outcomes(run), strict=True)):
        if outcome.state == "SUBMITTED":
            continue
        told = _told(number, job, outcome, run.workload.timing.start_seconds, epoch)
        told["schedulingPriority"] = priorities.get(number, job.priority)
        told["isTerminated"] = number in terminated or None
        yield {key: value for key, value in told.items() if value is not None}


def _told(number: int, job: Job, outcome: JobOutcome, start_seconds: float, epoch: float) -> dict[str, Any]:
    """All but what the job's last state alone does not say."""
    attempts = outcome.attempts
    # a job of `running:` runs when it is dispatched
    waits = [0.0 if job.started is not None and place == 0 else start_seconds for place in range(len(attempts))]
    spans = [_span(attempt, wait, epoch) for attempt, wait in zip(attempts, waits, strict=True)]
    preempted = [span for span, attempt in zip(spans, attempts, strict=True) if _is_preempted(attempt)]
    others = [span for span, attempt in zip(spans, attempts, strict=True) if not _is_preempted(attempt)]
    holds = bool(attempts) and attempts[-1].stopped is None
    last = spans[-1] if attempts and (holds or not _is_preempted(attempts[-1])) else {}
    return {
        "jobId": f"job-{number}",
        "jobName": job.name,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "quotaShareName": job.share,
        "status": outcome.state,
        "statusReason": outcome.reason,
        "createdAt": _milliseconds(outcome.submitted, epoch),
        "scheduledAt": _milliseconds(attempts[-1].scheduled, epoch) if last else None,
        "startedAt": last.get("startedAt"),
        "stoppedAt": None if outcome.finished is None else _milliseconds(outcome.finished, epoch),
        "capacityUsage": [{"capacityUnit": unit, "quantity": float(count)} for unit, count in job.demand.items()],
        "attempts": others or None,
        "preemptionConfiguration": _retries(job),
        "preemptionSummary": _summary(preempted),
    }


def _is_preempted(attempt: Attempt) -> bool:
    return attempt.ended_by in PREEMPTIONS


def _span(attempt: Attempt, start_seconds: float, epoch: float) -> dict[str, Any]:
    """An attempt; without its start where it was stopped before it ran."""
    starts = attempt.scheduled + start_seconds
    span: dict[str, Any] = {}
    if attempt.stopped is None or attempt.stopped >= starts:
        span["startedAt"] = _milliseconds(starts, epoch)
    if attempt.stopped is not None:
        span["stoppedAt"] = _milliseconds(attempt.stopped, epoch)
    if attempt.ended_by == Why.CROSS_SHARE:
        span["statusReason"] = CROSS_SHARE_REASON
    return span


def _summary(preempted: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The most recent attempt first, as AWS's own notebook reads it."""
    if not preempted:
        return None
    return {"preemptedAttemptCount": len(preempted), "recentPreemptedAttempts": preempted[::-1]}


def _retries(job: Job) -> dict[str, int] | None:
    retries = job.preemption_retries
    return None if retries is None else {"preemptionRetriesBeforeTermination": retries}


def _milliseconds(seconds: float, epoch: float) -> int:
    return round((epoch + seconds) * 1000)
