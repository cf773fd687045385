"""Requests over HTTP: whatever is sent is answered in AWS's shape, and never with a 500."""

from __future__ import annotations

import io
import json
from typing import Any
from urllib.parse import urlencode

import pytest

from policy_engine.endpoint import ClientError, Pace
from policy_engine.endpoint.application import MAX_BODY
from policy_engine.policy import Policy
from tests.policy_engine.endpoint.calling import ARN, QUEUE, WALKTHROUGH, Caller

SIGNED = "AWS4-HMAC-SHA256 Credential={key}/20261130/{region}/batch/aws4_request, SignedHeaders=host, Signature=0"


@pytest.fixture(scope="module")
def call() -> Caller:
    return Caller()


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code", "message"),
    [
        ("POST", "/v1/submitservicejob", b"{", 400, "ClientException", "the request is not valid JSON: "),
        ("POST", "/v1/submitservicejob", b"\xff", 400, "ClientException", "the request is not valid JSON: "),
        ("POST", "/v1/submitservicejob", b"[" * 200_000, 400, "ClientException", "the request is not valid JSON: "),
        ("POST", "/v1/submitservicejob", b"9" * 5000, 400, "ClientException", "the request is not valid JSON: "),
        ("POST", "/v1/submitservicejob", b'{"a": NaN}', 400, "ClientException", "the request is not valid JSON: NaN"),
        ("POST", "/v1/submitservicejob", b"[]", 400, "ClientException", "the request is a JSON list; an object"),
        ("POST", "/v1/submitservicejob", b"", 400, "ClientException", ": is missing"),
        ("POST", "/v1/submitservicejob", b" " * (MAX_BODY + 1), 400, "ClientException", "the request has more than"),
        ("POST", "/v1/describejobs", b'{"jobs": []}', 400, "ClientException", "DescribeJobs is not served here"),
        ("GET", "/v1/submitservicejob", b"", 404, "UnknownOperationException", "GET /v1/submitservicejob is no"),
        ("POST", "/v1/nonsense", b"{}", 404, "UnknownOperationException", "POST /v1/nonsense is no operation"),
        ("POST", "/", b"", 404, "UnknownOperationException", "POST / is no operation of AWS Batch"),
        ("PATCH", "/v1/tags/x", b"", 404, "UnknownOperationException", "PATCH /v1/tags/x is no operation"),
        ("GET", "/v1/tags/x", b"", 400, "ClientException", "resourceArn: x does not exist"),
        ("GET", "/_sim/nonsense", b"", 404, "UnknownOperationException", "GET /_sim/nonsense is not one of GET /_sim/"),
        ("POST", "/_sim/advance", b"", 400, "ClientException", '{"seconds": n} or {"to": n} is expected'),
        ("POST", "/_sim/advance", b"{", 400, "ClientException", "the request is not valid JSON: "),
        ("POST", "/_sim/advance", b"[]", 400, "ClientException", "the request is no JSON object"),
        ("POST", "/_sim/advance", b'{"seconds": "1"}', 400, "ClientException", "seconds: '1' is not a number"),
        ("POST", "/_sim/advance", b'{"seconds": NaN}', 400, "ClientException", "seconds: NaN is not a number"),
        ("POST", "/_sim/advance", b'{"seconds": 1' + b"0" * 400 + b"}", 400, "ClientException", "seconds: 1000000"),
        ("POST", "/_sim/advance", b'{"seconds": -1}', 400, "ClientException", "-1 s is out of range: 0 to"),
        ("POST", "/_sim/advance", b'{"to": 1e11}', 400, "ClientException", "1e+11 s is out of range: 0 to 1e+10"),
        ("POST", "/_sim/advance", b'{"to": 1, "seconds": 1}', 400, "ClientException", '{"seconds": n} or'),
        ("POST", "/_sim/step", b"", 400, "ClientException", "the endpoint was not started with --step"),
        ("POST", "/_sim/reset", b'{"seconds": 1}', 400, "ClientException", "seconds: nothing is expected"),
    ],
)  # fmt: skip
def test_what_cannot_be_done(
    call: Caller, method: str, path: str, body: bytes, status: int, code: str, message: str
) -> None:
    response = call.raw(method, path, body)
    answer = json.loads(response.body)
    assert (response.status, dict(response.headers)["x-amzn-errortype"]) == (status, code)
    assert list(answer) == ["message"]
    assert message in answer["message"]


def test_a_defect_of_ours_has_aws_shape_too(
    call: Caller, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(call.endpoint, "perform", broken)
    response = call.raw("POST", "/v1/describejobqueues")
    assert response.status == 500
    assert dict(response.headers)["x-amzn-errortype"] == "ServerException"
    assert json.loads(response.body) == {"message": "ZeroDivisionError: a defect of the local endpoint"}
    assert "oh" in caplog.text


def test_an_operation_that_there_is_not_is_refused_in_process_too(call: Caller) -> None:
    assert call.refused("Nonsense") == "Nonsense is no operation of AWS Batch"


def test_every_answer_has_an_id_of_its_own(call: Caller) -> None:
    ids = {dict(call.raw("POST", "/v1/describejobqueues").headers)["x-amzn-RequestId"] for _ in range(3)}
    assert len(ids) == 3


@pytest.mark.parametrize("name", ["surrogate \ud800", "ü", "\x00"])
def test_any_text_can_be_answered(name: str) -> None:
    call = Caller()
    job = call.submit(tags={"team": name})
    status, answer = call.http("POST", "/v1/describeservicejob", {"jobId": job})
    assert (status, answer["tags"]) == (200, {"team": name})


def test_members_in_the_path_and_in_the_query() -> None:
    call = Caller()
    path = f"/v1/tags/{call.share_arn('QS1')}"
    assert call.http("POST", path, {"tags": {"a": "1", "b": "2", "c": "3"}}) == (200, {})
    assert call.http("DELETE", path, query=urlencode([("tagKeys", "a"), ("tagKeys", "c")])) == (200, {})
    assert call.http("GET", path) == (200, {"tags": {"b": "2"}})
    status, answer = call.http("DELETE", path)
    assert (status, answer) == (400, {"message": "tagKeys: is missing"})


def test_wsgi() -> None:
    call = Caller()
    body = json.dumps({"jobQueues": [QUEUE]}).encode()
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "POST",
        "PATH_INFO": "/v1/describejobqueues",
        "CONTENT_LENGTH": str(len(body)),
        "HTTP_AUTHORIZATION": SIGNED.format(key="AKIA", region="eu-west-1"),
        "wsgi.input": io.BytesIO(body),
    }
    said: list[Any] = []
    [answer] = call.application(environ, lambda status, headers, *_: said.extend((status, dict(headers))))  # type: ignore[arg-type]
    assert said[0] == "200 OK"
    assert said[1]["Content-Type"] == "application/json"
    [queue] = json.loads(answer)["jobQueues"]
    assert queue["jobQueueArn"] == f"arn:aws:batch:eu-west-1:123456789012:job-queue/{QUEUE}"


# --- for whom ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("authorization", "settings", "arn"),
    [
        (None, {}, "arn:aws:batch:us-east-1:123456789012"),
        ("Bearer nonsense", {}, "arn:aws:batch:us-east-1:123456789012"),
        (SIGNED.format(key="AKIAIOSFODNN7EXAMPLE", region="us-west-2"), {}, "arn:aws:batch:us-west-2:123456789012"),
        (SIGNED.format(key="210987654321", region="us-west-2"), {}, "arn:aws:batch:us-west-2:210987654321"),
        (SIGNED.format(key="x", region="cn-north-1"), {}, "arn:aws-cn:batch:cn-north-1:123456789012"),
        (SIGNED.format(key="x", region="us-gov-west-1"), {}, "arn:aws-us-gov:batch:us-gov-west-1:123456789012"),
        (SIGNED.format(key="x", region="us-west-2"), {"region": "eu-west-1"}, "arn:aws:batch:eu-west-1:123456789012"),
        (
            SIGNED.format(key="210987654321", region="us-west-2"),
            {"account": "111122223333"},
            "arn:aws:batch:us-west-2:111122223333",
        ),
        (SIGNED.format(key="x", region="../../etc"), {}, "arn:aws:batch:us-east-1:123456789012"),
    ],
)
def test_account_and_region(authorization: str | None, settings: dict[str, Any], arn: str) -> None:
    call = Caller(**settings)
    response = call.raw("POST", "/v1/describejobqueues", b"", authorization=authorization)
    [queue] = json.loads(response.body)["jobQueues"]
    assert queue["jobQueueArn"] == f"{arn}:job-queue/{QUEUE}"


def test_regions_do_not_see_each_other() -> None:
    call = Caller()
    west = SIGNED.format(key="x", region="us-west-2")
    job = call.submit()
    response = call.raw("POST", "/v1/describeservicejob", {"jobId": job}, authorization=west)
    assert json.loads(response.body) == {"message": f"service job {job} does not exist"}


# --- the clock --------------------------------------------------------------------------------------


def test_the_clock() -> None:
    call = Caller()
    start = {"seconds": 0.0, "timestamp": 1_767_225_600_000, "step": False}
    assert call.http("GET", "/_sim/clock") == (200, start)
    job = call.submit(tags={"policy-engine:duration": "90s"})
    assert call.http("POST", "/_sim/advance", {"seconds": 89.5})[1]["seconds"] == 89.5
    assert call.states(job) == ["RUNNING"]
    status, clock = call.http("POST", "/_sim/advance", {"to": 90})
    assert (status, clock["timestamp"]) == (200, 1_767_225_690_000)
    assert call.states(job) == ["SUCCEEDED"]
    assert call.http("POST", "/_sim/reset") == (200, start)
    assert call.refused("DescribeServiceJob", jobId=job) == f"service job {job} does not exist"
    assert [queue["jobQueueName"] for queue in call("DescribeJobQueues")["jobQueues"]] == [QUEUE]


def test_steps() -> None:
    call = Caller(pace=Pace(stepped=True))
    job = call.submit()
    assert call.http("POST", "/_sim/step")[1]["step"] is True
    assert call.states(job) == ["RUNNABLE"]
    assert call.http("POST", "/_sim/step", {"steps": 3})[0] == 200
    assert call.states(job) == ["RUNNING"]
    for steps in (0, 1001, True, "2", 1.5):
        assert call.http("POST", "/_sim/step", {"steps": steps})[0] == 400


def test_reset_gives_other_ids_but_where_a_seed_is_given() -> None:
    call = Caller()
    first = call.submit()
    call.http("POST", "/_sim/reset")
    assert call.submit() == first, "the seed is 0"


def test_a_policy_that_is_declared_twice_is_refused() -> None:
    call = Caller()
    call.endpoint.account()
    with pytest.raises(ClientError, match="job queue training exists already"):
        call.endpoint.declare(WALKTHROUGH)
    call.endpoint.declare(WALKTHROUGH.model_copy(update={"queue": "another"}))
    assert call.listed() == []
    assert [queue["jobQueueName"] for queue in call("DescribeJobQueues")["jobQueues"]] == [QUEUE, "another"]


def test_a_queue_that_the_policy_does_not_name() -> None:
    call = Caller(Policy.of({**WALKTHROUGH.document(), "queue": None}))
    [queue] = call("DescribeJobQueues")["jobQueues"]
    assert queue["jobQueueArn"] == f"{ARN}:job-queue/quota-queue"
