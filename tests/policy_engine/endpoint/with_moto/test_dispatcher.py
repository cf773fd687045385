"""One address for all services: who answers what, and what is forgotten together."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from policy_engine.endpoint.with_moto import dispatcher
from tests.policy_engine.endpoint.calling import UNIT, WALKTHROUGH, payload
from tests.policy_engine.endpoint.with_moto.serving import ACCOUNT, REGION, Services, services

QUEUE = "training"
ROLE = f"arn:aws:iam::{ACCOUNT}:role/Training"


@pytest.fixture(scope="module")
def served() -> Iterator[Services]:
    with services() as found:
        yield found


@pytest.fixture
def aws(served: Services) -> Services:
    """With one queue, the same in all accounts and regions."""
    post(served, "/moto-api/reset")
    served.endpoint.policies = ()
    served.endpoint.declare(WALKTHROUGH)
    return served


def post(aws: Services, path: str, body: Any = None) -> bytes:
    request = urllib.request.Request(aws.url + path, b"" if body is None else json.dumps(body).encode())  # noqa: S310
    with urllib.request.urlopen(request, timeout=20) as response:  # noqa: S310
        return bytes(response.read())


def submit(aws: Services, share: str, name: str = "job", **request: Any) -> str:
    """A job whose payload is the whole of a training request."""
    asked = payload(
        AlgorithmSpecification={"TrainingImage": "image", "TrainingInputMode": "File"},
        HyperParameters={"epochs": "3"},
        OutputDataConfig={"S3OutputPath": "s3://bucket/output"},
        RoleArn=ROLE,
        StoppingCondition={"MaxRuntimeInSeconds": 600},
    )
    return str(
        aws("batch").submit_service_job(
            jobName=name,
            jobQueue=QUEUE,
            quotaShareName=share,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=asked,
            **request,
        )["jobId"]
    )


def training_job(aws: Services, job: str) -> dict[str, Any]:
    """What SageMaker says of the latest training job of a service job."""
    attempt = aws("batch").describe_service_job(jobId=job)["latestAttempt"]["serviceResourceId"]["value"]
    described = aws("sagemaker").describe_training_job(TrainingJobName=attempt.rpartition("/")[2])
    assert described["TrainingJobArn"] == attempt
    return dict(described)


# --- who answers -----------------------------------------------------------------------------------


def test_batch_is_ours_and_the_rest_is_motos(aws: Services) -> None:
    [queue] = aws("batch").describe_job_queues()["jobQueues"]
    assert queue["jobQueueArn"] == f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/{QUEUE}"
    assert aws("sts").get_caller_identity()["Account"] == ACCOUNT
    assert aws("iam").list_roles()["Roles"] == []
    assert json.loads(post(aws, "/_sim/advance", {"seconds": 60}))["seconds"] == 60
    unsigned = json.loads(post(aws, "/v1/describejobqueues", {}))
    assert [queue["jobQueueName"] for queue in unsigned["jobQueues"]] == [QUEUE]


def test_objects_of_any_usual_size(aws: Services) -> None:
    s3 = aws("s3")
    s3.create_bucket(Bucket="local-bucket", CreateBucketConfiguration={"LocationConstraint": REGION})
    body = b"0123456789abcdef" * (1 << 20)  # more than AWS Batch itself is sent
    s3.put_object(Bucket="local-bucket", Key="code/source.tar.gz", Body=body + b"!")
    assert s3.head_object(Bucket="local-bucket", Key="code/source.tar.gz")["ContentLength"] == (16 << 20) + 1
    with pytest.raises(s3.exceptions.NoSuchKey):
        s3.get_object(Bucket="local-bucket", Key="nothing")


@pytest.mark.parametrize("path", ["/_sim/reset", "/moto-api/reset"])
def test_a_reset_forgets_everything(aws: Services, path: str) -> None:
    aws("s3").create_bucket(Bucket="local-bucket", CreateBucketConfiguration={"LocationConstraint": REGION})
    submit(aws, "QS1")
    post(aws, "/_sim/advance", {"seconds": 5})
    post(aws, path)
    assert aws("s3").list_buckets()["Buckets"] == []
    assert aws("batch").list_service_jobs(jobQueue=QUEUE)["jobSummaryList"] == []
    assert json.loads(urllib.request.urlopen(f"{aws.url}/_sim/clock", timeout=20).read())["seconds"] == 0  # noqa: S310


def test_the_account_is_one_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOTO_ACCOUNT_ID", raising=False)
    with services(account="999999999999") as aws:
        aws.endpoint.declare(WALKTHROUGH)
        assert aws("sts").get_caller_identity()["Account"] == "999999999999"
        [queue] = aws("batch").describe_job_queues()["jobQueues"]
        assert ":999999999999:" in queue["jobQueueArn"]
        submit(aws, "QS1")
        [summary] = aws("sagemaker").list_training_jobs()["TrainingJobSummaries"]
        assert ":999999999999:" in summary["TrainingJobArn"]


# --- training jobs ---------------------------------------------------------------------------------


def test_a_training_job_is_what_the_payload_asks_for(aws: Services) -> None:
    described = training_job(aws, submit(aws, "QS2"))
    assert described["AlgorithmSpecification"] == {"TrainingImage": "image", "TrainingInputMode": "File"}
    assert described["HyperParameters"] == {"epochs": "3"}
    assert described["ResourceConfig"]["InstanceType"] == UNIT
    assert (described["RoleArn"], described["StoppingCondition"]) == (ROLE, {"MaxRuntimeInSeconds": 600})
    assert (described["TrainingJobStatus"], described["SecondaryStatus"]) == ("InProgress", "Training")
    assert "TrainingEndTime" not in described
    assert "FinalMetricDataList" not in described


def test_training_jobs_end_as_their_service_jobs_do(aws: Services) -> None:
    done = submit(aws, "QS1")
    failed = submit(aws, "QS2", tags={"policy-engine:exit": "failed"})
    cut = submit(aws, "QS3", timeoutConfig={"attemptDurationSeconds": 60})
    begun = training_job(aws, done)["TrainingStartTime"]
    post(aws, "/_sim/advance", {"seconds": 600})
    told = [training_job(aws, job) for job in (done, failed, cut)]
    assert [job["TrainingJobStatus"] for job in told] == ["Completed", "Failed", "Stopped"]
    assert [(job["TrainingEndTime"] - begun).total_seconds() for job in told] == [600, 600, 60]
    assert "AlgorithmError" in told[1]["FailureReason"]
    assert "FailureReason" not in told[0]


def test_a_preempted_job_has_two_training_jobs(aws: Services) -> None:
    kept, lent = submit(aws, "QS1", schedulingPriority=2), submit(aws, "QS1", "lent", schedulingPriority=1)
    first = training_job(aws, lent)
    owner = submit(aws, "QS2")
    assert aws("batch").describe_service_job(jobId=lent)["status"] == "RUNNABLE"
    stopped = aws("sagemaker").describe_training_job(TrainingJobName=first["TrainingJobName"])
    assert (first["TrainingJobStatus"], stopped["TrainingJobStatus"]) == ("InProgress", "Stopped")

    for job in (kept, owner):
        aws("batch").terminate_service_job(jobId=job, reason="enough")
    second = training_job(aws, lent)
    assert second["TrainingJobName"] != first["TrainingJobName"]
    assert second["TrainingJobStatus"] == "InProgress"
    listed = aws("sagemaker").list_training_jobs()["TrainingJobSummaries"]
    assert sorted(job["TrainingJobStatus"] for job in listed) == ["InProgress", "Stopped", "Stopped", "Stopped"]


def test_a_payload_that_says_no_more_than_its_instances(aws: Services) -> None:
    job = aws("batch").submit_service_job(
        jobName="job",
        jobQueue=QUEUE,
        quotaShareName="QS1",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=payload(),
    )["jobId"]
    assert training_job(aws, job)["TrainingJobStatus"] == "InProgress"


def test_nothing_is_shown_where_nobody_asks(aws: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "show_training_jobs", lambda *_: pytest.fail("was shown"))
    submit(aws, "QS1")
    aws("sagemaker").list_models()
