"""The handler against botocore's model of the API: what it sends is checked, what it reads has the API's shape."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import boto3
import pytest
from botocore.stub import ANY, Stubber

from constructs_quota.handlers import share_metrics

QUEUE = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
LIMITS = {"QS1": {"ml.g5.xlarge": 1, "ml.p5.48xlarge": 2}, "QS2": {"ml.g5.xlarge": 1}}


def usage(quantity: float, unit: str = "ml.g5.xlarge") -> list[dict[str, Any]]:
    return [{"capacityUnit": unit, "quantity": quantity}]


SNAPSHOT = {
    "queueUtilization": {
        "totalCapacityUsage": usage(3),
        "quotaShareUtilization": {
            "topCapacityUtilization": [
                {"quotaShareName": "QS1", "capacityUsage": usage(3)},
                {"quotaShareName": "deleted", "capacityUsage": usage(1)},
            ]
        },
    }
}


def job(number: int, share: str, capacity: list[dict[str, Any]] | None) -> dict[str, Any]:
    described = {
        "jobId": f"job-{number}",
        "jobName": f"job-{number}",
        "jobArn": f"arn:aws:batch:eu-west-1:123456789012:service-job/job-{number}",
        "serviceJobType": "SAGEMAKER_TRAINING",
        "quotaShareName": share,
        "createdAt": number,
    }
    return described if capacity is None else {**described, "capacityUsage": capacity}


@pytest.fixture
def clients(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    """The AWS clients that the handler makes, each with a stub that expects what a test adds to it."""
    made = {name: boto3.client(name, region_name="eu-west-1") for name in ("batch", "cloudwatch")}
    for name, value in {"JOB_QUEUE": QUEUE, "NAMESPACE": "Teams", "LIMITS": json.dumps(LIMITS)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("boto3.client", made.__getitem__)
    with ExitStack() as stack:
        yield {name: stack.enter_context(Stubber(client)) for name, client in made.items()}


def answer(clients: dict[str, Any], snapshot: dict[str, Any], *pages: list[dict[str, Any]]) -> None:
    clients["batch"].add_response("get_job_queue_snapshot", snapshot, {"jobQueue": QUEUE})
    for number, jobs in enumerate(pages, start=1):
        following = {"nextToken": f"page {number + 1}"} if number < len(pages) else {}
        asked = {"nextToken": f"page {number}"} if number > 1 else {}
        clients["batch"].add_response(
            "list_service_jobs",
            {"jobSummaryList": jobs, **following},
            {"jobQueue": QUEUE, "jobStatus": "RUNNABLE", **asked},
        )


def test_publishes_four_metrics_for_each_share_and_type(clients: dict[str, Any]) -> None:
    answer(clients, SNAPSHOT, [job(1, "QS2", usage(4))], [job(2, "QS2", usage(1))])
    published: list[dict[str, Any]] = []
    clients["cloudwatch"].add_response("put_metric_data", {}, {"Namespace": "Teams", "MetricData": Recorder(published)})

    assert share_metrics.handler({}, None) == 12

    values = {
        (*(dimension["Value"] for dimension in datum["Dimensions"][1:]), datum["MetricName"]): datum["Value"]
        for datum in published
    }
    assert {key: value for key, value in values.items() if value} == {
        ("QS1", "ml.g5.xlarge", "Used"): 3,
        ("QS1", "ml.g5.xlarge", "Own"): 1,
        ("QS1", "ml.g5.xlarge", "Borrowed"): 2,
        ("QS2", "ml.g5.xlarge", "Waiting"): 5,
    }
    assert len(values) == 12
    assert {datum["Dimensions"][0]["Value"] for datum in published} == {"gpus"}
    for stub in clients.values():
        stub.assert_no_pending_responses()


class Recorder:
    """Equal to anything, and remembers what."""

    def __init__(self, into: list[dict[str, Any]]) -> None:
        self._into = into

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, list)
        self._into[:] = other
        return True

    __hash__ = None  # type: ignore[assignment]


def test_an_idle_queue_is_all_zeros(clients: dict[str, Any]) -> None:
    answer(clients, {}, [])
    published: list[dict[str, Any]] = []
    clients["cloudwatch"].add_response("put_metric_data", {}, {"Namespace": ANY, "MetricData": Recorder(published)})

    share_metrics.handler({}, None)

    assert {datum["Value"] for datum in published} == {0}


def test_says_where_the_capacity_of_a_waiting_job_is_not_known(
    clients: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    answer(clients, {}, [job(1, "QS1", None), job(2, "QS1", usage(2, "ml.p5.48xlarge"))])
    published: list[dict[str, Any]] = []
    clients["cloudwatch"].add_response("put_metric_data", {}, {"Namespace": ANY, "MetricData": Recorder(published)})

    share_metrics.handler({}, None)

    assert "1 waiting jobs whose capacity is not known, such as job-1" in caplog.text
    waiting = [datum["Value"] for datum in published if datum["MetricName"] == "Waiting"]
    assert waiting == [0, 2, 0]


def test_publishes_no_more_at_once_than_cloudwatch_takes(
    clients: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(share_metrics, "AT_ONCE", 5)
    answer(clients, {}, [])
    sizes = []
    for size in (5, 5, 2):
        into: list[dict[str, Any]] = []
        clients["cloudwatch"].add_response("put_metric_data", {}, {"Namespace": ANY, "MetricData": Recorder(into)})
        sizes.append((into, size))

    share_metrics.handler({}, None)

    assert [len(into) for into, _ in sizes] == [size for _, size in sizes]
