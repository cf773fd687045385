"""AWS Batch in the process of a test: which clients it answers, beside moto, and as a fixture of pytest."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent

import boto3
import pytest
from botocore import handlers
from botocore.exceptions import ClientError
from moto import mock_aws

from policy_engine.errors import InputError
from policy_engine.local_batch import LocalBatch
from policy_engine.policy import Policy
from policy_engine.sources import load
from tests.policy_engine.command import POLICY, folder
from tests.policy_engine.endpoint.calling import ARN, QUEUE, WALKTHROUGH, payload

__all__ = ["folder"]

pytest_plugins = ["pytester"]

JOB = {
    "jobQueue": QUEUE,
    "quotaShareName": "QS1",
    "serviceJobType": "SAGEMAKER_TRAINING",
    "serviceRequestPayload": payload(),
}


@pytest.fixture(autouse=True)
def _no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing here may reach the network, nor so much as the loopback."""

    def refuse(*_: object) -> None:
        raise AssertionError("a socket is connected")

    monkeypatch.setattr(socket.socket, "connect", refuse)


@pytest.fixture
def batch() -> Iterator[LocalBatch]:
    with LocalBatch(WALKTHROUGH) as batch:
        yield batch


@pytest.mark.usefixtures("batch")
def test_any_client_is_answered() -> None:
    """The default session's, another session's, a resource's own meta client; in whatever region."""
    session = boto3.Session(region_name="eu-west-1")
    for client, region in (
        (boto3.client("batch"), "us-east-1"),
        (boto3.client("batch", region_name="us-west-2"), "us-west-2"),
        (session.client("batch"), "eu-west-1"),
        (session.client("batch", endpoint_url="http://batch.example.com"), "eu-west-1"),
    ):
        job = client.submit_service_job(jobName="j", **JOB)
        described = client.describe_service_job(jobId=job["jobArn"])
        assert described["status"] == "RUNNING"
        assert described["jobQueue"] == f"arn:aws:batch:{region}:123456789012:job-queue/{QUEUE}"
        assert described["ResponseMetadata"]["HTTPStatusCode"] == 200
        client.terminate_service_job(jobId=job["jobId"], reason="enough")


def test_a_client_that_was_made_before() -> None:
    keys = {"aws_access_key_id": "x", "aws_secret_access_key": "x"}
    early = boto3.Session(region_name="us-east-1", **keys).client("batch")
    with LocalBatch(WALKTHROUGH) as batch:
        batch.attach(early)
        assert [queue["jobQueueName"] for queue in early.describe_job_queues()["jobQueues"]] == [QUEUE]


def test_errors_are_a_clients(batch: LocalBatch) -> None:
    """The modelled exception, with the lower-case message that AWS's notebook reads; nothing is tried again."""
    client = batch.client()
    with pytest.raises(client.exceptions.ClientException) as error:
        client.create_quota_share(
            quotaShareName="QS1",
            jobQueue=QUEUE,
            capacityLimits=[{"maxCapacity": 1, "capacityUnit": "ml.g5.xlarge"}],
            resourceSharingConfiguration={"strategy": "LEND"},
            preemptionConfiguration={"inSharePreemption": "DISABLED"},
        )
    assert error.value.response["message"] == "Object already exists"
    assert error.value.response["ResponseMetadata"]["RetryAttempts"] == 0
    with pytest.raises(ClientError, match="DescribeJobs is not served here"):
        client.describe_jobs(jobs=["x"])


def test_the_same_request_again_makes_no_second_job(batch: LocalBatch, monkeypatch: pytest.MonkeyPatch) -> None:
    """botocore sends a request again that got no answer; its token is the same."""
    client = batch.client()
    answer = batch._in_process.application.answer
    lost = iter([True, False])

    def answered(*request: object) -> object:
        given = answer(*request)  # type: ignore[arg-type]
        return given._replace(status=503) if next(lost) else given

    monkeypatch.setattr(batch._in_process.application, "answer", answered)
    monkeypatch.setattr("time.sleep", lambda _: None)
    job = client.submit_service_job(jobName="j", **JOB)
    assert job["ResponseMetadata"]["RetryAttempts"] == 1
    monkeypatch.undo()
    assert len(client.list_service_jobs(jobQueue=QUEUE)["jobSummaryList"]) == 1


def test_pages_by_a_paginator(batch: LocalBatch) -> None:
    client = batch.client()
    for number in range(5):
        client.submit_service_job(jobName=f"j{number}", **JOB)
    pages = client.get_paginator("list_service_jobs").paginate(
        jobQueue=QUEUE, filters=[{"name": "QUOTA_SHARE_NAME", "values": ["QS1"]}], PaginationConfig={"PageSize": 2}
    )
    assert [[job["jobName"] for job in page["jobSummaryList"]] for page in pages] == [
        ["j4", "j3"],
        ["j2", "j1"],
        ["j0"],
    ]


def test_tags_go_by_path_and_query(batch: LocalBatch) -> None:
    client, arn = batch.client(), f"{ARN}:job-queue/{QUEUE}/quota-share/QS1"
    client.tag_resource(resourceArn=arn, tags={"a": "1", "b c&d": "2"})
    client.untag_resource(resourceArn=arn, tagKeys=["a", "x"])
    assert client.list_tags_for_resource(resourceArn=arn)["tags"] == {"b c&d": "2"}


def test_time(batch: LocalBatch) -> None:
    client = batch.client()
    job = client.submit_service_job(jobName="j", tags={"policy-engine:duration": "1h30m"}, **JOB)["jobId"]
    batch.advance("1h")
    assert batch.now == 3600
    assert client.describe_service_job(jobId=job)["status"] == "RUNNING"
    batch.advance(1800)
    assert client.describe_service_job(jobId=job)["status"] == "SUCCEEDED"


def test_steps() -> None:
    with LocalBatch(WALKTHROUGH, step=True) as batch:
        client = batch.client()
        job = client.submit_service_job(jobName="j", **JOB)["jobId"]
        seen = []
        for _ in range(5):
            seen.append(client.describe_service_job(jobId=job)["status"])
            batch.step()
    assert seen == ["SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING"]


def test_how_long_things_take() -> None:
    with LocalBatch(WALKTHROUGH, duration="2m", stop_seconds="20s", start_seconds=30) as batch:
        client = batch.client()
        job = client.submit_service_job(jobName="j", **JOB)["jobId"]
        states = []
        for time in (0, 29, 1, 119, 1):
            batch.advance(time)
            states.append(client.describe_service_job(jobId=job)["status"])
        assert states == ["SCHEDULED", "SCHEDULED", "RUNNING", "RUNNING", "SUCCEEDED"]
        assert batch.endpoint.settings.pace.timing.stop_seconds == 20


# --- what it leaves as it was ------------------------------------------------------------------------


def test_nothing_of_it_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "somebody's")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    session, hooks = boto3.DEFAULT_SESSION, list(handlers.BUILTIN_HANDLERS)
    with LocalBatch(WALKTHROUGH):
        assert os.environ["AWS_ACCESS_KEY_ID"] == "testing"
        assert boto3.client("batch").meta.region_name == "eu-central-1"
        assert boto3.DEFAULT_SESSION is not session
    assert os.environ["AWS_ACCESS_KEY_ID"] == "somebody's"
    assert "AWS_SESSION_TOKEN" not in os.environ
    assert boto3.DEFAULT_SESSION is session
    assert hooks == handlers.BUILTIN_HANDLERS


def test_the_inner_one_of_two_answers_alone() -> None:
    with LocalBatch(WALKTHROUGH) as outer, LocalBatch(WALKTHROUGH) as inner:
        boto3.client("batch").submit_service_job(jobName="j", **JOB)
        outer.client().submit_service_job(jobName="k", **JOB)
        assert [job.name for _, job in inner.endpoint.account().jobs.values()] == ["j"]
        assert [job.name for _, job in outer.endpoint.account().jobs.values()] == ["k"]


# --- where the policy comes from ---------------------------------------------------------------------


@pytest.mark.usefixtures("folder")
def test_policies() -> None:
    for policy in ("policy.yaml", Path("policy.yaml"), load("policy.yaml"), WALKTHROUGH):
        shares = LocalBatch(policy).endpoint.call("ListQuotaShares", {"jobQueue": "training"})["quotaShares"]
        assert [share["quotaShareName"] for share in shares] == ["QS1", "QS2", "QS3"]


@pytest.mark.usefixtures("folder")
def test_what_is_wrong_with_them(batch: LocalBatch) -> None:
    with pytest.raises(InputError, match=r"nope\.yaml: no such file"):
        LocalBatch("nope.yaml")
    batch.client().describe_job_queues()
    with pytest.raises(InputError, match="training: job queue training exists already"):
        batch.load("policy.yaml")
    with pytest.raises(InputError, match="no queue 'other'"):
        batch.load("policy.yaml", queue="other")
    batch.load(Policy.of({**WALKTHROUGH.document(), "queue": "another"}))
    assert len(batch.client().describe_job_queues()["jobQueues"]) == 2


# --- beside moto -------------------------------------------------------------------------------------


@pytest.mark.parametrize("moto_first", [True, False])
def test_beside_moto(moto_first: bool) -> None:
    """moto answers for the other services, and does not know of quota shares."""
    first, second = (mock_aws(), LocalBatch(WALKTHROUGH)) if moto_first else (LocalBatch(WALKTHROUGH), mock_aws())
    with first, second:
        storage = boto3.client("s3")
        storage.create_bucket(Bucket="checkpoints")
        assert [bucket["Name"] for bucket in storage.list_buckets()["Buckets"]] == ["checkpoints"]
        batch = boto3.client("batch")
        batch.create_scheduling_policy(name="p", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"})
        job = batch.submit_service_job(jobName="j", **JOB)
        assert batch.describe_service_job(jobId=job["jobId"])["status"] == "RUNNING"


# --- as a fixture ------------------------------------------------------------------------------------

TEST = """
    import boto3

    def shares(queue):
        found = boto3.client("batch").list_quota_shares(jobQueue=queue)["quotaShares"]
        return [share["quotaShareName"] for share in found]
"""


def passes(pytester: pytest.Pytester, test: str, *options: str, count: int = 1) -> None:
    pytester.makepyfile(dedent(TEST) + dedent(test))
    others = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "syrupy", "xdist")]
    pytester.runpytest(*others, *options).assert_outcomes(passed=count)


def test_the_fixture_without_a_policy(pytester: pytest.Pytester) -> None:
    passes(
        pytester,
        """
        def test_it(quota_batch):
            assert boto3.client("batch").describe_job_queues()["jobQueues"] == []

        def test_another_one(quota_batch):
            quota_batch.advance("1h")

        def test_each_has_its_own(quota_batch):
            assert quota_batch.now == 0
        """,
        count=3,
    )


@pytest.mark.parametrize("way", ["option", "configuration", "fixture"])
def test_where_its_policy_comes_from(pytester: pytest.Pytester, way: str) -> None:
    (pytester.path / "policy.yaml").write_text(dedent(POLICY), encoding="utf-8")
    test = "def test_it(quota_batch):\n    assert shares('training') == ['QS1', 'QS2', 'QS3']\n"
    if way == "configuration":
        pytester.makeini("[pytest]\npolicy_engine_policy = policy.yaml\n")
    if way == "fixture":
        test += "import pytest\n@pytest.fixture\ndef quota_batch_policy():\n    return 'policy.yaml'\n"
    passes(pytester, test, *(["--policy", "policy.yaml"] if way == "option" else []))
