import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber

from constructs_quota.handlers import preemption_notices

QUEUE = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
JOB_ARN = "arn:aws:batch:eu-west-1:123456789012:service-job/1234"
TOPIC = "arn:aws:sns:eu-west-1:123456789012:team"
STARTED = {
    "detail-type": "Batch Service Job Preemption Started",
    "time": "2026-11-30T12:00:00Z",
    "detail": {
        "preemptedJobArn": JOB_ARN,
        "status": "RUNNING",
        "statusReason": "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity",
    },
}


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    made = {name: boto3.client(name, region_name="eu-west-1") for name in ("batch", "sns")}
    monkeypatch.setenv("JOB_QUEUE", QUEUE)
    monkeypatch.setenv("TOPICS", json.dumps({"QS1": TOPIC}))
    monkeypatch.setattr("boto3.client", made.__getitem__)
    with ExitStack() as stack:
        yield {name: stack.enter_context(Stubber(client)) for name, client in made.items()}


def describe(clients: dict[str, Any], **changes: Any) -> None:
    job = {
        "jobId": "1234",
        "jobName": "train",
        "jobQueue": QUEUE,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "status": "RUNNING",
        "startedAt": 1,
        "quotaShareName": "QS1",
        "preemptionSummary": {"preemptedAttemptCount": 2},
    }
    clients["batch"].add_response("describe_service_job", {**job, **changes}, {"jobId": "1234"})


def test_tells_the_topic_of_the_job_s_share(clients: dict[str, Any]) -> None:
    describe(clients)
    message = {
        "event": "Batch Service Job Preemption Started",
        "time": "2026-11-30T12:00:00Z",
        "jobQueue": QUEUE,
        "quotaShareName": "QS1",
        "jobName": "train",
        "jobArn": JOB_ARN,
        "status": "RUNNING",
        "reason": "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity",
        "preemptions": 2,
    }
    clients["sns"].add_response(
        "publish",
        {"MessageId": "1"},
        {"TopicArn": TOPIC, "Subject": "QS1: train is being preempted", "Message": json.dumps(message)},
    )

    assert preemption_notices.handler(STARTED, None) == TOPIC
    clients["sns"].assert_no_pending_responses()


@pytest.mark.parametrize(
    "changes",
    [
        {"quotaShareName": "QS2"},
        {"jobQueue": QUEUE.replace("gpus", "other")},
    ],
)
def test_tells_nobody_of_another_s_job(clients: dict[str, Any], changes: dict[str, str]) -> None:
    describe(clients, **changes)

    assert preemption_notices.handler(STARTED, None) is None


def test_the_subject_is_what_sns_takes() -> None:
    completed = {**STARTED, "detail-type": "Batch Service Job Preemption Completed"}

    subject = preemption_notices.subject(completed, {"quotaShareName": "QS1", "jobName": "ä" + "x" * 200})

    assert subject == f"QS1: ?{'x' * 94}"
    assert len(subject) == 100
