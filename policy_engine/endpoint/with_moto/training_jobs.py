"""The training jobs that service jobs became, in moto's SageMaker: DescribeTrainingJob knows them, and so do lists.

Brought up to date when somebody asks, so that nothing is done for those who do not.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from moto.sagemaker.models import sagemaker_backends

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.endpoint import Endpoint
from policy_engine.endpoint.scope import Scope
from policy_engine.endpoint.service_jobs import FAILED, Attempt, ServiceJob, Status

_PAYLOAD: Final = "serviceRequestPayload"


def show_training_jobs(endpoint: Endpoint, scope: Scope) -> None:
    """Write every attempt of every service job into moto's SageMaker, as it is now."""
    backend = sagemaker_backends[scope.account][scope.region]
    with endpoint.holding(scope) as account:
        for queue in account.queues.values():
            queue.schedule.read()
        for job in [placed.job for placed in account.jobs.values()]:
            for attempt in _attempts(job):
                name = attempt.training_job.rpartition("/")[2]
                if name not in backend.training_jobs:
                    _create(backend, name, json.loads(job.asked[_PAYLOAD]))
                _bring_up_to_date(backend.training_jobs[name], account, job, attempt)


def _attempts(job: ServiceJob) -> Iterator[Attempt]:
    yield from reversed(job.preempted)
    yield from job.attempts


def _create(backend: Any, name: str, payload: Mapping[str, Any]) -> None:
    """Create the training job that the payload asks for; moto's parameters are the API's members in snake case."""
    wanted = deepcopy(dict(payload))
    # SageMaker would not take a job without these; Batch has taken it, and its training job is shown as it is
    wanted["OutputDataConfig"] = {"S3OutputPath": "", **(wanted.get("OutputDataConfig") or {})}
    wanted["AlgorithmSpecification"] = wanted.get("AlgorithmSpecification") or {}
    names = set(inspect.signature(backend.create_training_job).parameters) - {"training_job_name", "tags"}
    given = {name: wanted.get("".join(part.capitalize() for part in name.split("_"))) for name in names}
    made = backend.create_training_job(training_job_name=name, tags=[], **given)
    made.algorithm_specification = payload.get("AlgorithmSpecification") or {}  # moto adds a metric to every job's


class _Told(NamedTuple):
    """How SageMaker tells of a state (API DescribeTrainingJob)."""

    status: str
    secondary: str


def _told(job: ServiceJob, attempt: Attempt) -> _Told:
    if attempt.stopped_at is None:
        return _Told("InProgress", "Starting" if attempt.started_at is None else "Training")
    if attempt.reason == FAILED:
        return _Told("Failed", "Failed")
    if attempt is job.latest and job.status is Status.SUCCEEDED:
        return _Told("Completed", "Completed")
    return _Told("Stopped", "Stopped")


def _bring_up_to_date(training_job: Any, account: Account, job: ServiceJob, attempt: Attempt) -> None:
    def time(at: float | None) -> datetime | None:
        """As moto keeps times: UTC, and not saying so."""
        return None if at is None else datetime.fromtimestamp(account.epoch + at, UTC).replace(tzinfo=None)

    told = _told(job, attempt)
    training_job.training_job_status, training_job.secondary_status = told
    training_job.failure_reason = attempt.reason if told.status == "Failed" else None
    training_job.creation_time = time(attempt.scheduled_at)
    training_job.training_start_time = time(attempt.started_at)
    training_job.training_end_time = time(attempt.stopped_at)
    training_job.last_modified_time = max(
        filter(None, map(time, (attempt.scheduled_at, attempt.started_at, attempt.stopped_at)))
    )
    training_job.secondary_status_transitions = None
    training_job.final_metric_data_list = None
