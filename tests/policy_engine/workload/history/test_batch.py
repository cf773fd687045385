import json
from pathlib import Path
from typing import Any

import pytest

from policy_engine.errors import InputError
from policy_engine.scheduler.jobs import Exit
from policy_engine.workload.history import Format
from tests.policy_engine.workload.history.histories import LARGE, SMALL, listed, reading, short, summary, told

NO_PRIORITY = "no schedulingPriority: ListServiceJobs has none, DescribeServiceJob has"
NO_CAPACITY = "neither capacityUsage of an instance type nor a ResourceConfig in serviceRequestPayload"
COUNTED = {"capacityUnit": "NUM_INSTANCES", "quantity": 4.0}
PAYLOAD = json.dumps({"ResourceConfig": {"InstanceType": LARGE, "InstanceCount": 4}})


@pytest.mark.parametrize(
    "content",
    [
        listed(summary("a"), summary("b")),
        f"[{listed(summary('a'))}, {listed(summary('b'))}]",
        f"{listed(summary('a'))}\n{listed(summary('b'))}\n",
        json.dumps(json.loads(listed(summary("a"))), indent=2) + listed(summary("b")),
        json.dumps(summary("a")) + "\n" + json.dumps(summary("b")),
        json.dumps([summary("a"), summary("b")]),
        json.dumps({"first": summary("a"), "then": [summary("b")]}),
    ],
    ids=["one page", "list of pages", "JSON lines", "pages after each other", "described", "list", "by name"],
)
def test_responses_in_every_arrangement(tmp_path: Path, content: str) -> None:
    history = reading(tmp_path, content)
    assert history.format is Format.BATCH
    assert [short(job) for job in history.jobs] == [
        ("name-a", "QS1", 0, 60, {SMALL: 2}),
        ("name-b", "QS1", 0, 60, {SMALL: 2}),
    ]
    assert list(history.started) == [100, 100]


@pytest.mark.parametrize(
    ("more", "demand"),
    [
        ({}, {SMALL: 2}),
        ({"capacityUsage": None, "serviceRequestPayload": PAYLOAD}, {LARGE: 4}),
        ({"capacityUsage": [], "serviceRequestPayload": PAYLOAD}, {LARGE: 4}),
        ({"capacityUsage": [COUNTED], "serviceRequestPayload": PAYLOAD}, {LARGE: 4}),
        (
            {"capacityUsage": [{"capacityUnit": SMALL, "quantity": 1.0}, {"capacityUnit": LARGE, "quantity": 2.0}]},
            {SMALL: 1, LARGE: 2},
        ),
        (
            {
                "capacityUsage": None,
                "serviceRequestPayload": json.dumps(
                    {
                        "ResourceConfig": {
                            "InstanceGroups": [
                                {"InstanceType": SMALL, "InstanceCount": 1, "InstanceGroupName": "x"},
                                {"InstanceType": LARGE, "InstanceCount": 2, "InstanceGroupName": "y"},
                            ]
                        }
                    }
                ),
            },
            {SMALL: 1, LARGE: 2},
        ),
    ],
)
def test_instances(tmp_path: Path, more: dict[str, Any], demand: dict[str, int]) -> None:
    assert reading(tmp_path, listed(summary("a", **more))).jobs[0].demand == demand


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"quotaShareName": None}, "no quotaShareName (a container job, or a queue without quota shares)"),
        ({"createdAt": None}, "no createdAt that can be read"),
        ({"createdAt": 0}, "no createdAt that can be read"),
        ({"startedAt": None}, "never started: how long it would run is not known"),
        ({"stoppedAt": 1_700_000_000_000}, "stopped before it started"),
        ({"capacityUsage": None}, NO_CAPACITY),
        ({"capacityUsage": [COUNTED], "serviceRequestPayload": "{"}, NO_CAPACITY),
        ({"jobId": None}, "no jobId"),
    ],
)
def test_a_job_that_cannot_be_used_is_counted(tmp_path: Path, more: dict[str, Any], reason: str) -> None:
    history = reading(tmp_path, listed(summary("a", **more), summary("good")))
    assert [job.name for job in history.jobs] == ["name-good"]
    assert told(history)[0].startswith(f"1 x {reason}")
    assert history.lost == 1


def test_a_job_that_is_told_of_twice_is_one_and_its_later_state_counts(tmp_path: Path) -> None:
    described = summary("a", schedulingPriority=7, serviceRequestPayload=PAYLOAD, capacityUsage=None)
    earlier = summary("a", status="RUNNING", stoppedAt=None)
    for pages in ((earlier, described), (described, earlier)):
        history = reading(tmp_path, listed(*pages))
        assert [(short(job), job.priority) for job in history.jobs] == [(("name-a", "QS1", 0, 60, {SMALL: 2}), 7)]
        assert told(history) == ["1 x told of more than once: put together, the later state counts (a)"]


def test_names_that_several_jobs_have_get_their_ids(tmp_path: Path) -> None:
    jobs = (summary("a", jobName="train"), summary("b", jobName="train"), summary("c", jobName="other"))
    assert [job.name for job in reading(tmp_path, listed(*jobs)).jobs] == ["train/a", "train/b", "other"]


def test_a_file_of_running_jobs_alone_is_pointed_out(tmp_path: Path) -> None:
    history = reading(tmp_path, listed(summary("a", status="RUNNING", stoppedAt=None)))
    only = "every job is RUNNING: ListServiceJobs tells of no others unless it is asked for by --job-status"
    assert f"1 x {only}" in told(history)


def test_what_describe_adds(tmp_path: Path) -> None:
    job = summary(
        "a",
        schedulingPriority=9999,
        preemptionConfiguration={"preemptionRetriesBeforeTermination": 0},
        isTerminated=True,
        status="FAILED",
    )
    history = reading(tmp_path, listed(job), strict=True)
    found = history.jobs[0]
    assert (found.priority, found.preemption_retries, found.exit) == (9999, 0, Exit.FAILED)
    assert told(history) == []


def test_priorities_that_are_missing_are_pointed_out(tmp_path: Path) -> None:
    assert told(reading(tmp_path, listed(summary("a"), summary("b")))) == [f"2 x {NO_PRIORITY} (a, b)"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "1:2: not valid JSON: expecting property name enclosed in double quotes"),
        ('{"a": 1}', "1: no response of ListServiceJobs or DescribeServiceJob; its keys: 'a'"),
        ("{}", "1: no response of ListServiceJobs or DescribeServiceJob; its keys: none"),
        ("[1]", "1: 1 where a response of AWS Batch is expected"),
        ('{"jobSummaryList": []}\n[2]', "2: 2 where a response of AWS Batch is expected"),
        ("[" * 100_000, "1: not valid JSON: nested too deeply"),
        ('{"jobSummaryList": []}', " no jobs"),
    ],
)
def test_what_is_no_response_is_told_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        reading(tmp_path, content)
    assert str(caught.value) == f"{tmp_path / 'history'}:{message}"
