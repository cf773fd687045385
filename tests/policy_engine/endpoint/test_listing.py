"""ListServiceJobs and GetJobQueueSnapshot: states, filters, pages, order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from policy_engine.endpoint import Pace
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Timing
from tests.policy_engine.endpoint.calling import EPOCH, QUEUE, UNIT, Caller

START = round(EPOCH * 1000)


@pytest.fixture(scope="module")
def call() -> Caller:
    """Jobs at 0, 10, 20 and 30 s: in each share one runs and the others wait; the first of QS3 is done."""
    call = Caller(duration=3600)
    for at, names in ((0, "Alpha beta"), (10, "alpha BETA"), (20, "alphabet gamma"), (30, "delta alpha")):
        call.endpoint.advance_to(at)
        for name in names.split():
            call.submit(
                name, "QS1" if name.lower().startswith("a") else "QS2", count=1, schedulingPriority=9 - at // 10
            )
        call.submit(f"third-{at}", "QS3", tags={"policy-engine:duration": "5"})
    return call


def by(name: str, *values: str) -> dict[str, Any]:
    return {"filters": [{"name": name, "values": list(values)}]}


@pytest.mark.parametrize(
    ("request_", "names"),
    [
        ({}, ["third-30", "beta", "Alpha"]),
        ({"jobStatus": "RUNNING"}, ["third-30", "beta", "Alpha"]),
        ({"jobStatus": "RUNNABLE"}, ["alpha", "delta", "gamma", "alphabet", "BETA", "alpha"]),
        ({"jobStatus": "SUCCEEDED"}, ["third-20", "third-10", "third-0"]),
        ({"jobStatus": "PENDING"}, []),
        ({"jobStatus": "FAILED"}, []),
        ({"jobStatus": "RUNNABLE", **by("QUOTA_SHARE_NAME", "QS1")}, ["alpha", "alphabet", "alpha"]),
        (by("QUOTA_SHARE_NAME", "QS2"), ["delta", "gamma", "BETA", "beta"]),
        (by("QUOTA_SHARE_NAME", "QS3", "QS2"), [
            "third-30", "delta", "third-20", "gamma", "third-10", "BETA", "third-0", "beta",
        ]),
        (by("QUOTA_SHARE_NAME", "nope"), []),
        (by("SHARE_IDENTIFIER", "QS1"), []),
        ({"jobStatus": "RUNNING", **by("JOB_NAME", "ALPHA")}, ["Alpha", "alpha", "alpha"]),
        (by("JOB_NAME", "alpha*"), ["Alpha", "alpha", "alpha", "alphabet"]),
        (by("JOB_NAME", "*"), [
            "Alpha", "alpha", "alpha", "alphabet", "BETA", "beta", "delta", "gamma",
            "third-0", "third-10", "third-20", "third-30",
        ]),
        (by("JOB_NAME", "alph"), []),
        (by("AFTER_CREATED_AT", str(START + 10_000)), ["third-30", "alpha", "delta", "third-20", "gamma", "alphabet"]),
        (by("BEFORE_CREATED_AT", str(START + 10_000)), ["third-0", "beta", "Alpha"]),
        (by("BEFORE_CREATED_AT", "0"), []),
        (by("AFTER_CREATED_AT", "0"), [
            "third-30", "alpha", "delta", "third-20", "gamma", "alphabet", "third-10", "BETA", "alpha",
            "third-0", "beta", "Alpha",
        ]),
    ],
)  # fmt: skip
def test_what_is_listed(call: Caller, request_: dict[str, Any], names: list[str]) -> None:
    """Whole, and page by page whatever the size."""
    assert call.listed(**request_) == names
    for size in (1, 2, 5):
        assert [name for page in pages(call, size, request_) for name in page] == names


def pages(call: Caller, size: int, request: dict[str, Any]) -> Iterator[list[str]]:
    token = None
    while True:
        answer = call("ListServiceJobs", jobQueue=QUEUE, maxResults=size, nextToken=token, **request)
        names = [job["jobName"] for job in answer["jobSummaryList"]]
        yield names
        token = answer.get("nextToken")
        if token is None:
            return
        assert len(names) == size


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"jobQueue": None}, "jobQueue: is missing"),
        ({"jobQueue": "nope"}, "job queue nope does not exist"),
        ({"jobStatus": "DONE"}, "jobStatus: 'DONE' is not one of SUBMITTED, PENDING, RUNNABLE"),
        ({"maxResults": 101}, "maxResults: 101 is out of range: 1 to 100 is allowed"),
        ({"nextToken": "?"}, "nextToken: is not one that an answer held"),
        ({"nextToken": "YWZ0ZXItOTk5"}, "nextToken: is not one that an answer for this queue held"),
        ({"filters": [*by("JOB_NAME", "a")["filters"]] * 2}, "filters: 2 filters; only one can be used at a time"),
        (by("JOB_STATE", "a"), "filters[0].name: 'JOB_STATE' is not one of JOB_NAME, BEFORE_CREATED_AT"),
        ({"filters": [{}]}, "filters[0].name: None is not one of"),
        ({"filters": [{"name": "JOB_NAME"}]}, "filters[0].values: is empty"),
        (by("JOB_NAME", "a", "b"), "filters[0].values: 2 names; one is allowed"),
        (by("AFTER_CREATED_AT", "today"), "filters[0].values: 'today' is not a number of milliseconds since 1970"),
        (by("BEFORE_CREATED_AT", "-1"), "filters[0].values: '-1' is not a number"),
        (by("BEFORE_CREATED_AT", "9" * 400), f"filters[0].values: '{'9' * 400}' is not a number"),
        (by("BEFORE_CREATED_AT", "\u0661"), "filters[0].values: '\u0661' is not a number"),
    ],
)
def test_what_cannot_be_listed(call: Caller, request_: dict[str, Any], problem: str) -> None:
    assert call.refused("ListServiceJobs", **{"jobQueue": QUEUE, **request_}).startswith(problem)


def test_a_page_is_a_hundred_jobs() -> None:
    call = Caller()
    for number in range(101):
        call.submit(f"j{number}")
    answer = call("ListServiceJobs", jobQueue=QUEUE, filters=[{"name": "QUOTA_SHARE_NAME", "values": ["QS1"]}])
    assert len(answer["jobSummaryList"]) == 100
    assert "nextToken" in answer


def test_jobs_that_come_and_go_between_pages() -> None:
    """A job that changes its state meanwhile is missing or not; none is listed twice, and none is skipped for it."""
    call = Caller()
    jobs = [call.submit(f"j{number}", "QS2") for number in range(10)]
    first = call("ListServiceJobs", jobQueue=QUEUE, jobStatus="RUNNABLE", maxResults=4)
    assert [job["jobName"] for job in first["jobSummaryList"]] == ["j9", "j8", "j7", "j6"]
    for number in (9, 6, 4):
        call("TerminateServiceJob", jobId=jobs[number], reason="enough")
    call.submit("j10", "QS2")
    request = {"jobStatus": "RUNNABLE", "nextToken": first["nextToken"]}
    assert call.listed(**request) == ["j5", "j3", "j2", "j1"]


# --- snapshots --------------------------------------------------------------------------------------


def test_a_snapshot(call: Caller) -> None:
    found = call("GetJobQueueSnapshot", jobQueue=QUEUE)
    names = {
        job["jobArn"]: job["jobName"]
        for job in call("ListServiceJobs", jobQueue=QUEUE, **by("JOB_NAME", "*"))["jobSummaryList"]
    }
    front = [(names[job["jobArn"]], job["earliestTimeAtPosition"] - START) for job in found["frontOfQueue"]["jobs"]]
    assert front == [
        ("alpha", 10_000),
        ("BETA", 10_000),
        ("alphabet", 20_000),
        ("gamma", 20_000),
        ("delta", 30_000),
        ("alpha", 30_000),
    ]
    shares = found["frontOfQuotaShares"]["quotaShares"]
    assert {name: [names[job["jobArn"]] for job in jobs] for name, jobs in shares.items()} == {
        "QS1": ["alpha"],
        "QS2": ["BETA"],
        "QS3": [],
    }
    utilization = found["queueUtilization"]
    assert utilization["totalCapacityUsage"] == [{"capacityUnit": UNIT, "quantity": 3.0}]
    one = [{"capacityUnit": UNIT, "quantity": 1.0}]
    assert utilization["quotaShareUtilization"]["topCapacityUtilization"] == [
        {"quotaShareName": name, "capacityUsage": one} for name in ("QS1", "QS2", "QS3")
    ]
    assert found["frontOfQueue"]["lastUpdatedAt"] == START + 30_000


def test_a_snapshot_of_many() -> None:
    """The first hundred, in the order of dispatch: a higher priority first within a share."""
    call = Caller()
    for number in range(60):
        call.submit(f"a{number}", "QS1", 4, schedulingPriority=number)
        call.submit(f"b{number}", "QS2", 4)
    names = {job.arn: job.name for _, job in call.endpoint.account().jobs.values()}
    front = call("GetJobQueueSnapshot", jobQueue=QUEUE)["frontOfQueue"]["jobs"]
    assert len(front) == 100
    of_first = [names[job["jobArn"]] for job in front if names[job["jobArn"]].startswith("a")]
    assert of_first == sorted(of_first, key=lambda name: -int(name[1:]))


def test_a_job_for_which_others_are_being_stopped_is_next() -> None:
    """It is in no line any more, and RUNNABLE until they have stopped."""
    call = Caller(pace=Pace(Timing(stop_seconds=20)))
    call.submit("borrower", "QS1", 2)
    call("GetJobQueueSnapshot", jobQueue=QUEUE)
    for name, share in (("first", "QS1"), ("owner", "QS2"), ("second", "QS2")):
        call.submit(name, share)
    found = call("GetJobQueueSnapshot", jobQueue=QUEUE)
    names = {job.arn: job.name for _, job in call.endpoint.account().jobs.values()}
    assert [names[job["jobArn"]] for job in found["frontOfQueue"]["jobs"]] == ["owner", "first", "second"]
    shares = found["frontOfQuotaShares"]["quotaShares"]
    assert {share: [names[job["jobArn"]] for job in jobs] for share, jobs in shares.items()} == {
        "QS1": ["first"],
        "QS2": ["owner"],
        "QS3": [],
    }


def test_a_snapshot_of_a_queue_without_jobs() -> None:
    call = Caller(Policy.of({"queue": QUEUE, "service_environment": {"capacity_limits": {UNIT: 1}}, "shares": {}}))
    assert call("GetJobQueueSnapshot", jobQueue=QUEUE) == {
        "frontOfQueue": {"jobs": [], "lastUpdatedAt": START},
        "frontOfQuotaShares": {"quotaShares": {}, "lastUpdatedAt": START},
        "queueUtilization": {
            "totalCapacityUsage": [],
            "quotaShareUtilization": {"topCapacityUtilization": []},
            "lastUpdatedAt": START,
        },
    }
