"""Requests made at random over the whole service model: whatever is sent, the answer has AWS's shape, and is no 500."""

from __future__ import annotations

import json
from random import Random
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.parsers import create_parser

from policy_engine.endpoint import Pace
from policy_engine.endpoint.operations import OPERATIONS
from policy_engine.policy import SharingStrategy, State, StuckReason
from policy_engine.scheduler.jobs import Timing
from tests.policy_engine.endpoint.calling import ARN, OTHER, QUEUE, UNIT, Caller, payload

MODEL = ServiceModel(Loader().load_service_model("batch", "service-2"))
SEEDS = 3
REQUESTS = 700
NIGHTLY = 20_000
NIGHTLY_AT_ONCE = 2_000

WORDS: tuple[Any, ...] = (
    *(
        QUEUE,
        "q2",
        "e",
        "e2",
        "p",
        "QS1",
        "QS2",
        "QS3",
        "s",
        UNIT,
        OTHER,
        "NUM_INSTANCES",
        "",
        "a b",
        "\ud800",
        "x" * 300,
    ),
    *(f"{ARN}:job-queue/{QUEUE}", f"{ARN}:job-queue/{QUEUE}/quota-share/QS1", f"{ARN}:job-queue/q2/quota-share/s"),
    *(
        f"{ARN}:scheduling-policy/{QUEUE}-policy",
        f"{ARN}:service-environment/{QUEUE}-environment",
        f"{ARN}:service-job/",
    ),
    *(
        "JOB_NAME",
        "AFTER_CREATED_AT",
        "BEFORE_CREATED_AT",
        "QUOTA_SHARE_NAME",
        "*",
        "a*",
        "1767225600000",
        "SAGEMAKER_TRAINING",
    ),
    *StuckReason,
    *State,
    *SharingStrategy,
    payload(),
    payload(2, OTHER),
    payload(10**9),
    payload(StoppingCondition={"MaxRuntimeInSeconds": 5}),
    '{"ResourceConfig": []}',
    "[" * 2000,
)
NUMBERS: tuple[Any, ...] = (0, 1, 2, 3, 5, 9, 50, 100, 600, 9999, -1, 2**31 - 1, 2**31, 2**63, 10**40, 1.5, 1e308)
NONSENSE: tuple[Any, ...] = (None, True, [], {}, [None], {"": None}, "text", 7, 0.5, [[]], {"a": {"b": []}})
TAGS: tuple[dict[str, str], ...] = (
    {"policy-engine:duration": "5"},
    {"policy-engine:duration": "1h", "policy-engine:exit": "failed"},
    {"policy-engine:duration": "soon"},
    {"a": "b"},
)


class Maker:
    """Makes requests: mostly as the model wants them, of words that mean something, and now and then of nonsense."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 (a test's choice, not a secret)
        self.seen: list[str] = []
        """Ids, ARNs and tokens that answers held."""

    def value(self, shape: Any, depth: int = 0) -> Any:
        random = self.random
        if random.random() < 0.01 or depth > 6:
            return random.choice(NONSENSE)
        match shape.type_name:
            case "structure":
                return self.structure(shape, depth)
            case "list":
                return [self.value(shape.member, depth + 1) for _ in range(random.choice((0, 1, 1, 1, 2, 7)))]
            case "map":
                return random.choice(TAGS) if random.random() < 0.9 else {self.text(): self.text()}
            case "string":
                known = shape.metadata.get("enum")
                return random.choice(known) if known and random.random() < 0.95 else self.text()
            case "boolean":
                return random.choice((True, False))
        return random.choice(NUMBERS[:6] if random.random() < 0.8 else NUMBERS)

    def structure(self, shape: Any, depth: int) -> dict[str, Any]:
        made = {}
        for name, member in shape.members.items():
            if name in shape.required_members or self.random.random() < 0.3:
                made[name] = self.known(name) if self.random.random() < 0.6 else None
                if made[name] is None:
                    made[name] = self.value(member, depth + 1)
            if self.random.random() < 0.01:
                made.pop(name, None)
        return made

    def known(self, member: str) -> Any:
        """What makes sense for a member of that name."""
        pick = self.random.choice
        sensible: dict[str, Any] = {
            "jobQueue": QUEUE,
            "quotaShareName": pick(("QS1", "QS2", "QS3", "s")),
            "quotaShareArn": f"{ARN}:job-queue/{QUEUE}/quota-share/{pick(('QS1', 'QS2', 'QS3', 's'))}",
            "serviceRequestPayload": payload(pick((1, 1, 2, 4))),
            "capacityUnit": UNIT,
            "maxCapacity": pick((1, 2, 3)),
            "jobName": pick(("a", "b", "ab")),
            "borrowLimit": pick((0, 100)),
            "attempts": pick((1, 2)),
            "schedulingPriority": pick((0, 1, 5)),
            "clientToken": pick(("t1", "t2", f"t{self.random.random()}")),
        }
        if member in ("jobId", "resourceArn", "nextToken", "arn") and self.seen:
            return pick(self.seen)
        return sensible.get(member)

    def text(self) -> str:
        if self.seen and self.random.random() < 0.3:
            return self.random.choice(self.seen)
        return str(self.random.choice(WORDS))

    def request(self) -> tuple[str, str, str, bytes]:
        """Method, path, query and body."""
        random = self.random
        if random.random() < 0.03:
            path = random.choice(("/_sim/advance", "/_sim/step", "/_sim/clock", "/v1/", "/", "/v1/tags/", "//"))
            moved = {"seconds": random.choice((0, 1, 60, 1e5, -1, "x"))}
            return random.choice(("GET", "POST", "PUT")), path, "", json.dumps(moved).encode()
        names = list(OPERATIONS) if random.random() < 0.9 else MODEL.operation_names
        described = MODEL.operation_model(random.choice(names))
        asked = self.structure(described.input_shape, 0) if random.random() > 0.01 else random.choice(NONSENSE)
        path, query = described.http["requestUri"], ""
        if isinstance(asked, dict):
            for name, member in described.input_shape.members.items():
                location = member.serialization.get("location")
                if location and name in asked:
                    given = asked.pop(name)
                    if location == "uri":
                        path = path.replace(f"{{{name}}}", str(given))
                    else:
                        keys = given if isinstance(given, list) else [given]
                        query = urlencode([(name, str(key).encode("utf-8", "replace")) for key in keys])
        body = json.dumps(asked).encode()
        if random.random() < 0.01:
            body = body[: random.randrange(len(body) + 1)] + random.choice((b"", b"\x00", b"\xff", b"}"))
        return described.http["method"], path, query, body


def answers(call: Caller, seed: int, count: int) -> dict[int, int]:
    """How often each status was answered to so many requests."""
    maker, parser = Maker(seed), create_parser("rest-json")
    statuses: dict[int, int] = {}
    for number in range(count):
        method, path, query, body = maker.request()
        response = call.raw(method, path, body, query)
        what = f"seed {seed}, request {number}: {method} {path}?{query} {body[:500]!r}: {response}"
        assert response.status in (200, 400, 404), what
        statuses[response.status] = statuses.get(response.status, 0) + 1
        answer = json.loads(response.body)
        headers = dict(response.headers)
        assert int(headers["Content-Length"]) == len(response.body)
        if response.status != 200:
            assert isinstance(answer["message"], str), what
            assert answer["message"], what
            code = {400: "ClientException", 404: "UnknownOperationException"}[response.status]
            assert headers["x-amzn-errortype"] == code
        elif not path.startswith("/_sim/"):
            parses(parser, method, path, response.body, headers, what)
            remember(maker, answer)
    assert_consistent(call)
    return statuses


def assert_consistent(call: Caller) -> None:
    """Every job is listed in the state that it is described in and in no other; what they hold is what is told."""
    for queue in call.endpoint.account().queues:
        listed: dict[str, str] = {}
        held: dict[str, float] = {}
        for status in ("SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"):
            for job in every_job(call, queue, jobStatus=status):
                assert job["jobId"] not in listed
                listed[job["jobId"]] = call.describe(job["jobId"])["status"]
                assert job["status"] == status == listed[job["jobId"]]
                if status in ("SCHEDULED", "STARTING", "RUNNING"):
                    for used in job["capacityUsage"]:
                        held[used["capacityUnit"]] = held.get(used["capacityUnit"], 0) + used["quantity"]
        everything = every_job(call, queue, filters=[{"name": "JOB_NAME", "values": ["*"]}])
        assert sorted(listed) == sorted(job["jobId"] for job in everything)
        told = call("GetJobQueueSnapshot", jobQueue=queue)["queueUtilization"]["totalCapacityUsage"]
        assert {used["capacityUnit"]: used["quantity"] for used in told} == held


def every_job(call: Caller, queue: str, **request: Any) -> list[dict[str, Any]]:
    found, token = [], None
    while True:
        answer = call("ListServiceJobs", jobQueue=queue, nextToken=token, **request)
        found += answer["jobSummaryList"]
        token = answer.get("nextToken")
        if token is None:
            return found


def parses(parser: Any, method: str, path: str, body: bytes, headers: dict[str, str], what: str) -> None:
    """A client reads the answer as the model has it, and it has all that the model requires."""
    name = next(name for name in OPERATIONS if asks_for(MODEL.operation_model(name).http, method, path))
    shape = MODEL.operation_model(name).output_shape
    parsed = parser.parse({"status_code": 200, "headers": headers, "body": body}, shape)
    # a job that waits has not started, whatever the model says
    required = set(shape.required_members) - {"startedAt"}
    assert required <= parsed.keys(), what
    assert json.loads(body).keys() <= shape.members.keys(), what


def asks_for(http: dict[str, str], method: str, path: str) -> bool:
    fixed, member, _ = http["requestUri"].partition("{")
    return http["method"] == method and (path.startswith(fixed) if member else path == fixed)


def remember(maker: Maker, answer: dict[str, Any]) -> None:
    for key, value in answer.items():
        if key.endswith(("Arn", "arn", "Id", "Token")) and isinstance(value, str):
            maker.seen.append(value)
    del maker.seen[:-200]


PACES = (Pace(), Pace(Timing(stop_seconds=20, start_seconds=5)), Pace(stepped=True))


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_request_is_answered_with_a_500(seed: int) -> None:
    statuses = answers(Caller(pace=PACES[seed % len(PACES)]), seed, REQUESTS)
    assert statuses[200] > REQUESTS / 4, "most requests that are refused say nothing about those that are not"
    assert statuses[400] > REQUESTS / 10


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1000 + NIGHTLY // NIGHTLY_AT_ONCE))
def test_none_of_20_000_is(seed: int) -> None:
    answers(Caller(pace=PACES[seed % len(PACES)]), seed, NIGHTLY_AT_ONCE)
