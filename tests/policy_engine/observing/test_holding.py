"""The jobs of a live queue are a scenario that the engine runs as it stands."""

import json
from typing import Any

import pytest

import policy_engine
from policy_engine.observing import hold
from policy_engine.observing.holding import held_scenario
from policy_engine.sources import load
from policy_engine.sources.live import open_queue
from tests.policy_engine.sources.live.account import Account, job

NOW = 1_790_010_000
MINUTE = 60_000


def ago(minutes: float) -> int:
    """Milliseconds, as AWS tells times."""
    return int(NOW * 1000 - minutes * MINUTE)


def told(account: Account, *jobs: dict[str, Any], **given: Any) -> Any:
    account.jobs = list(jobs)
    return hold(open_queue("queue:training"), now=NOW, **given)


def entries(account: Account, *jobs: dict[str, Any], **given: Any) -> list[dict[str, Any]]:
    held = told(account, *jobs, **given)
    return [*held.data["running"], *held.data["jobs"]]


def test_running_jobs_run_and_waiting_ones_wait_in_the_order_of_their_coming(account: Account) -> None:
    held = told(
        account,
        job("late", "RUNNABLE", createdAt=ago(1)),
        job("early", "RUNNABLE", "QS2", createdAt=ago(50)),
        job("second", "RUNNING", createdAt=ago(60), scheduledAt=ago(10)),
        job("first", "SCHEDULED", "QS3", createdAt=ago(40), scheduledAt=ago(20)),
        job("ended", "SUCCEEDED", createdAt=ago(90)),
    )
    assert held.data == {
        "queue": "training",
        "running": [
            {"name": "first", "share": "QS3", "instance_type": "ml.g5.xlarge", "instance_count": 1, "priority": 1,
             "duration": "1d", "started": "-20m"},
            {"name": "second", "share": "QS1", "instance_type": "ml.g5.xlarge", "instance_count": 1, "priority": 1,
             "duration": "1d", "started": "-10m"},
        ],
        "jobs": [
            {"name": "early", "share": "QS2", "instance_type": "ml.g5.xlarge", "instance_count": 1, "priority": 1,
             "duration": "1d"},
            {"name": "late", "share": "QS1", "instance_type": "ml.g5.xlarge", "instance_count": 1, "priority": 1,
             "duration": "1d"},
        ],
    }  # fmt: skip
    assert (held.running, held.waiting, held.guessed, held.left_out) == (2, 2, 4, ())


@pytest.mark.parametrize(
    ("more", "default", "duration"),
    [
        ({"tags": {"policy-engine:duration": "90m"}, "timeoutConfig": {"attemptDurationSeconds": 60}}, 5.0, "1h30m"),
        ({"tags": {"policy-engine:duration": "soon"}}, 7200.0, "2h"),
        ({"timeoutConfig": {"attemptDurationSeconds": 7200}}, 5.0, "2h"),
        ({"serviceRequestPayload": json.dumps({"StoppingCondition": {"MaxRuntimeInSeconds": 3600}})}, 5.0, "1h"),
        (
            {
                "timeoutConfig": {"attemptDurationSeconds": 7200},
                "serviceRequestPayload": '{"StoppingCondition": {"MaxRuntimeInSeconds": 3600}}',
            },
            None,
            "1h",
        ),
        ({"serviceRequestPayload": "{not json"}, 600.0, "10m"),
        ({}, None, "1d"),
    ],
    ids=["tag", "bad tag", "timeout", "request", "the shorter", "bad payload", "a day"],
)
def test_how_long_a_job_runs(account: Account, more: dict[str, Any], default: float | None, duration: str) -> None:
    [entry] = entries(account, job("a", "RUNNABLE", **more), duration=default)
    assert entry["duration"] == duration


def test_a_job_beyond_its_time_ends_soon(account: Account) -> None:
    limit: dict[str, Any] = {"timeoutConfig": {"attemptDurationSeconds": 600}}
    [entry] = entries(account, job("a", "RUNNING", scheduledAt=ago(30), **limit))
    assert (entry["started"], entry["duration"]) == ("-30m", "31m")


def test_a_job_that_is_being_stopped_waits_already(account: Account) -> None:
    reason = "PREEMPTION_IN_PROGRESS: Cross-share preemption triggered to reclaim borrowed capacity"
    held = told(account, job("victim", "RUNNING", scheduledAt=ago(5), statusReason=reason))
    assert (held.running, held.waiting) == (0, 1)


def test_retries_that_are_left(account: Account) -> None:
    more: dict[str, Any] = {
        "preemptionConfiguration": {"preemptionRetriesBeforeTermination": 3},
        "preemptionSummary": {"preemptedAttemptCount": 2},
    }
    [entry] = entries(account, job("a", "RUNNABLE", **more))
    assert entry["preemption_retries"] == 1


def test_instances_come_from_the_request_where_aws_does_not_count_them(account: Account) -> None:
    groups = [{"InstanceType": "ml.g5.xlarge", "InstanceCount": 2}, {"InstanceType": "ml.m5.large", "InstanceCount": 1}]
    payload = json.dumps({"ResourceConfig": {"InstanceGroups": groups}})
    [entry] = entries(account, job("a", "RUNNABLE", capacityUsage=None, serviceRequestPayload=payload))
    assert entry["instance_groups"] == [
        {"instance_type": "ml.g5.xlarge", "instance_count": 2},
        {"instance_type": "ml.m5.large", "instance_count": 1},
    ]


def test_a_job_of_which_nothing_tells_the_instances_is_left_out_and_named(account: Account) -> None:
    held = told(account, job("a", "RUNNABLE", capacityUsage=None), job("b", "RUNNABLE"))
    assert held.left_out == ("a (id-a)",)
    assert held.waiting == 1


def test_names_that_are_taken_get_their_ids(account: Account) -> None:
    twin = job("a", "RUNNABLE") | {"jobId": "other"}
    assert [entry["name"] for entry in entries(account, job("a", "RUNNABLE"), twin)] == ["a/id-a", "a/other"]


def test_a_job_that_was_preempted_between_two_lists_is_found(account: Account) -> None:
    """RUNNABLE is asked for twice: a job that goes back to it after the first time is in no other list."""
    victim = job("victim", "RUNNING", scheduledAt=ago(5))
    answer = account._ListServiceJobs

    def moving(asked: Any) -> list[Any]:
        found = answer(asked)
        if asked["jobStatus"] == "SCHEDULED":
            victim["status"] = "RUNNABLE"
        return found

    account._ListServiceJobs = moving  # type: ignore[method-assign]
    assert told(account, victim).waiting == 1


def test_the_scenario_runs_as_it_stands(account: Account) -> None:
    """AWS's notebook, caught just after the owner's job came."""
    held = told(
        account,
        job("high", "RUNNING", schedulingPriority=3, scheduledAt=ago(10)),
        job("med", "RUNNING", schedulingPriority=2, scheduledAt=ago(9)),
        job("low", "RUNNABLE"),
        job("owner", "RUNNABLE", "QS2"),
    )
    result = policy_engine.simulate(load("queue:training"), held_scenario(held, "queue:training"))
    stops = [(event.at, event.job, event.by) for event in result.run.log if event.kind == "preempted"]
    assert stops == [(0.0, "med", "owner")]


def test_progress_is_told(account: Account) -> None:
    heard: list[tuple[str, float]] = []
    told(account, job("a", "RUNNABLE"), job("b", "RUNNING"), tell=lambda what, done: heard.append((what, done)))
    assert heard == [("job 1 of 2", 0.5), ("job 2 of 2", 1.0)]
