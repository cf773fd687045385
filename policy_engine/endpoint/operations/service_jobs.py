"""Operations on service jobs (API SubmitServiceJob and its neighbours)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from policy_engine.endpoint.account import Account, require_valid, tags_given
from policy_engine.endpoint.errors import ClientError, require
from policy_engine.endpoint.resources import Answer, JobQueue, PlacedJob
from policy_engine.endpoint.service_jobs import Attempt, ServiceJob
from policy_engine.endpoint.training_request import wanted_job
from policy_engine.policy import State, name_problem, priority_problem, whole_number_problem
from policy_engine.policy.rules import (
    MAX_BULK_JOBS,
    MAX_REQUEST_BYTES,
    MAX_RETRY_PATTERN,
    MAX_RETRY_RULES,
    attempts_problem,
)

_REPEATED: Final = (
    *("serviceJobType", "serviceRequestPayload", "retryStrategy", "preemptionConfiguration", "timeoutConfig"),
)
"""Members of the request that DescribeServiceJob repeats."""


def submit(account: Account, request: Mapping[str, Any]) -> Answer:
    """SubmitServiceJob; a repeated ``clientToken`` never makes a second job."""
    token, digest = request.get("clientToken"), _digest(request)
    if token is not None and token in account.tokens:
        first = account.tokens[token].job
        if first.digest != digest:
            raise ClientError("clientToken: was used for another request; the same one would be answered as it was")
        return _named(first)
    queue = account.find_queue(request["jobQueue"])
    _check(queue, request)
    wanted = wanted_job(request, account.now, account.settings.duration)
    id_ = str(account.new_id())
    job = ServiceJob(
        id=id_,
        arn=account.scope.arn(f"service-job/{id_}"),
        name=wanted.name,
        share=wanted.share,
        created_at=account.now,
        demand=wanted.demand,
        asked={key: request[key] for key in _REPEATED if request.get(key) is not None},
        tags=tags_given(request),
        digest=digest,
    )
    queue.schedule.submit(job, wanted)
    placed = account.jobs[id_] = PlacedJob(queue, job)
    if token is not None:
        account.tokens[token] = placed
    return _named(job)


def _digest(request: Mapping[str, Any]) -> bytes:
    """Tells one request from another; the token that makes them the same does not count."""
    text = json.dumps({**request, "clientToken": None}, sort_keys=True)
    if len(text) > MAX_REQUEST_BYTES:
        raise ClientError(f"the request has more than {MAX_REQUEST_BYTES} bytes")
    return hashlib.sha256(text.encode("ascii")).digest()


def _check(queue: JobQueue, request: Mapping[str, Any]) -> None:
    """What the model does not say of a request to this queue."""
    require(name_problem(request["jobName"]), "jobName")
    if request.get("shareIdentifier") is not None:
        raise ClientError(f"shareIdentifier: job queue {queue.name} has quota shares: give quotaShareName instead")
    name = request.get("quotaShareName")
    if name is None:
        raise ClientError(f"quotaShareName: is missing; job queue {queue.name} has quota shares")
    if queue.state != State.ENABLED:
        raise ClientError(f"job queue {queue.name} is {queue.state} and takes no new jobs")
    require_valid(queue, "job queue")
    share = queue.shares.get(name)
    if share is None:
        shares = ", ".join(queue.shares) or "none"
        raise ClientError(f"quotaShareName: {name} does not exist in job queue {queue.name}; its shares: {shares}")
    if share.state != State.ENABLED:
        raise ClientError(f"quota share {name} is {share.state} and takes no new jobs")
    if request.get("schedulingPriority") is not None:
        require(priority_problem(request["schedulingPriority"]), "schedulingPriority")
    retries = (request.get("preemptionConfiguration") or {}).get("preemptionRetriesBeforeTermination")
    if retries is not None:
        at = "preemptionConfiguration.preemptionRetriesBeforeTermination"
        require(whole_number_problem(retries, 0), at)
    _check_retries(request.get("retryStrategy") or {})


def _check_retries(strategy: Mapping[str, Any]) -> None:
    if strategy:
        require(attempts_problem(strategy["attempts"]), "retryStrategy.attempts")
    rules = strategy.get("evaluateOnExit") or ()
    at = "retryStrategy.evaluateOnExit"
    if len(rules) > MAX_RETRY_RULES:
        raise ClientError(f"{at}: {len(rules)} rules; at most {MAX_RETRY_RULES} are allowed")
    for number, rule in enumerate(rules):
        length = len(rule.get("onStatusReason") or "")
        if length > MAX_RETRY_PATTERN:
            at = f"{at}[{number}].onStatusReason"
            raise ClientError(f"{at}: {length} characters; at most {MAX_RETRY_PATTERN} are allowed")


def update(account: Account, request: Mapping[str, Any]) -> Answer:
    """UpdateServiceJob: the priority and nothing else (R13); of a job that has ended it changes nothing."""
    queue, job = account.find_job(request["jobId"])
    require(priority_problem(request["schedulingPriority"]), "schedulingPriority")
    queue.schedule.clock.set_priority(job.number, request["schedulingPriority"])
    return _named(job)


def terminate(account: Account, request: Mapping[str, Any]) -> Answer:
    """TerminateServiceJob; of a job that has ended it changes nothing."""
    queue, job = account.find_job(request["jobId"])
    queue.schedule.clock.terminate(job.number, request["reason"])
    return {}


def terminate_several(account: Account, request: Mapping[str, Any]) -> Answer:
    """TerminateServiceJobs; jobs that do not exist count as terminated (API TerminateServiceJobs)."""
    ids = request["jobs"]
    if not 1 <= len(ids) <= MAX_BULK_JOBS:
        raise ClientError(f"jobs: {len(ids)} jobs; 1 to {MAX_BULK_JOBS} are allowed")
    for id_ in ids:
        try:
            terminate(account, {"jobId": id_, "reason": request["reason"]})
        except ClientError:
            continue
    return {"successful": ids, "errors": []}


def _named(job: ServiceJob) -> Answer:
    return {"jobArn": job.arn, "jobName": job.name, "jobId": job.id}


# --- telling of them -----------------------------------------------------------------------------


def describe(account: Account, request: Mapping[str, Any]) -> Answer:
    """DescribeServiceJob."""
    placed = account.find_job(request["jobId"])
    queue, job = placed
    queue.schedule.read()
    said = {
        **summary(account, placed),
        **job.asked,
        "jobQueue": queue.arn,
        "schedulingPriority": queue.schedule.priority(job),
        "tags": dict(job.tags),
        "attempts": [_attempt(account, attempt) for attempt in job.attempts],
    }
    if job.preemptions:
        said["preemptionSummary"] = {
            "preemptedAttemptCount": job.preemptions,
            "recentPreemptedAttempts": [_attempt(account, attempt) for attempt in job.preempted],
        }
    return said


def summary(account: Account, placed: PlacedJob) -> Answer:
    """A job as ListServiceJobs says it."""
    queue, job = placed
    said: Answer = {
        "jobArn": job.arn,
        "jobId": job.id,
        "jobName": job.name,
        "createdAt": account.stamp(job.created_at),
        "status": job.status,
        "serviceJobType": job.asked["serviceJobType"],
        "quotaShareName": job.share,
        "capacityUsage": [{"capacityUnit": unit, "quantity": float(count)} for unit, count in job.demand.items()],
        "isTerminated": job.is_terminated,
    }
    reason = queue.schedule.reason(job)
    if reason is not None:
        said["statusReason"] = reason
    if job.latest is not None:
        said["latestAttempt"] = {"serviceResourceId": _training_job(job.latest)}
    said.update(_times(account, scheduledAt=job.scheduled_at, startedAt=job.started_at, stoppedAt=job.stopped_at))
    return said


def _attempt(account: Account, attempt: Attempt) -> Answer:
    said: Answer = {"serviceResourceId": _training_job(attempt)}
    said.update(_times(account, startedAt=attempt.started_at, stoppedAt=attempt.stopped_at))
    if attempt.reason is not None:
        said["statusReason"] = attempt.reason
    return said


def _training_job(attempt: Attempt) -> Answer:
    return {"name": "TrainingJobArn", "value": attempt.training_job}


def _times(account: Account, **times: float | None) -> dict[str, int]:
    return {name: account.stamp(at) for name, at in times.items() if at is not None}
