"""Live commands against the local AWS Batch: what was declared comes back, and what happened there is followed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import policy_engine
from policy_engine.conforming import Asked, Fit, Standing, conform, read_record
from policy_engine.local_batch import EPOCH, LocalBatch
from policy_engine.observing import drift, hold, look, record
from policy_engine.observing.holding import held_scenario
from policy_engine.policy import UNLIMITED, Policy
from policy_engine.sources import load
from policy_engine.sources.document import declaration_of
from policy_engine.sources.live import open_queue

UNIT = "ml.g5.xlarge"
NOTEBOOK = Policy.of(
    {
        "queue": "training",
        "service_environment": {"capacity_limits": {UNIT: 3}},
        "shares": {
            "QS1": {
                "capacity_limits": {UNIT: 1},
                "strategy": "LEND_AND_BORROW",
                "borrow_limit": 200,
                "in_share_preemption": True,
            },
            "QS2": {"capacity_limits": {UNIT: 1}, "strategy": "LEND", "in_share_preemption": False},
            "QS3": {"capacity_limits": {UNIT: 1}, "strategy": "RESERVE", "in_share_preemption": False},
        },
    }
)
RICH = Policy.of(
    {
        "queue": "rich",
        "service_environment": {"capacity_limits": {UNIT: 40, "ml.p5.48xlarge": 4}, "state": "DISABLED"},
        "shares": {
            f"team-{number}": {
                "capacity_limits": {UNIT: 1 + number} | ({"ml.p5.48xlarge": 1} if number < 3 else {}),
                "strategy": ("RESERVE", "LEND", "LEND_AND_BORROW")[number % 3],
                **({"borrow_limit": number * 10} if number % 3 == 2 else {}),
                "in_share_preemption": bool(number % 2),
                "state": "DISABLED" if number == 4 else "ENABLED",
            }
            for number in range(20)
        },
        "job_state_time_limits": [
            {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 900},
            {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "max_seconds": 86400},
        ],
    }
)
UNSAID = Policy.of(
    {
        "queue": "unsaid",
        "service_environment": {"capacity_limits": {UNIT: 2}},
        "shares": {
            "a": {"capacity_limits": {UNIT: 1}, "strategy": "LEND_AND_BORROW", "in_share_preemption": False},
            "b": {"capacity_limits": {UNIT: 1}, "strategy": "LEND", "in_share_preemption": False},
        },
    }
)


@pytest.fixture
def batch() -> Iterator[LocalBatch]:
    with LocalBatch(NOTEBOOK, stop_seconds=20) as batch:
        yield batch


def submit(client: Any, name: str, share: str, priority: int, seconds: int = 3600, count: int = 1) -> str:
    payload = {
        "TrainingJobName": name,
        "ResourceConfig": {"InstanceType": UNIT, "InstanceCount": count, "VolumeSizeInGB": 1},
        "StoppingCondition": {"MaxRuntimeInSeconds": seconds},
        "Environment": {"TOKEN": "secret"},
    }
    told = client.submit_service_job(
        jobName=name,
        jobQueue="training",
        serviceJobType="SAGEMAKER_TRAINING",
        serviceRequestPayload=json.dumps(payload),
        quotaShareName=share,
        schedulingPriority=priority,
    )
    return str(told["jobId"])


def walk(batch: LocalBatch) -> None:
    """AWS's notebook: QS1 borrows, QS2 takes it back."""
    client = batch.client()
    for name, priority in (("high", 3), ("med", 2), ("low", 1)):
        submit(client, name, "QS1", priority, 1800 + 60 * priority)
        batch.advance(1)
    batch.advance(60)
    submit(client, "owner", "QS2", 1, 600)


# --- the policy -----------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [NOTEBOOK, RICH], ids=lambda policy: policy.queue)
def test_what_is_served_comes_back(policy: Policy) -> None:
    with LocalBatch(policy):
        assert policy_engine.load_policy(f"queue:{policy.queue}") == policy


def test_borrowing_without_a_limit_comes_back_as_what_it_means() -> None:
    with LocalBatch(UNSAID):
        policy = policy_engine.load_policy("queue:unsaid")
    assert policy.shares["a"].borrow_limit in (None, UNLIMITED)
    assert policy.shares["a"].effective_borrow_limit == UNLIMITED
    assert policy.shares["b"] == UNSAID.shares["b"]


@pytest.mark.parametrize("named", ["queue:elsewhere", "queue:arn:aws:batch:us-east-1:123456789012:job-queue/elsewhere"])
@pytest.mark.usefixtures("batch")
def test_no_such_queue(named: str) -> None:
    with pytest.raises(policy_engine.InputError, match="no such job queue in us-east-1"):
        load(named)


# --- drift ----------------------------------------------------------------------------------------


def differences() -> list[str]:
    live = open_queue("queue:training")
    declared = declaration_of(NOTEBOOK).queues[0]
    return [found.message for found in drift(declared, live.declaration.queues[0], live.tags_of).differences]


def share_arn(client: Any, name: str) -> str:
    queue = client.describe_job_queues(jobQueues=["training"])["jobQueues"][0]
    return f"{queue['jobQueueArn']}/quota-share/{name}"


CHANGES: dict[str, tuple[str, dict[str, Any], str]] = {
    "a limit": (
        "QS2",
        {"capacityLimits": [{"capacityUnit": UNIT, "maxCapacity": 2}]},
        "quota share QS2: capacity_limits.ml.g5.xlarge is declared as 1, and is 2",
    ),
    "a borrow limit": (
        "QS1",
        {"resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": 0}},
        "quota share QS1: borrow_limit is declared as 200, and is 0",
    ),
    "a strategy": (
        "QS3",
        {"resourceSharingConfiguration": {"strategy": "LEND"}},
        "quota share QS3: strategy is declared as RESERVE, and is LEND",
    ),
    "preemption": (
        "QS1",
        {"preemptionConfiguration": {"inSharePreemption": "DISABLED"}},
        "quota share QS1: in_share_preemption is declared as ENABLED, and is DISABLED",
    ),
    "a state": ("QS2", {"state": "DISABLED"}, "quota share QS2: state is declared as ENABLED, and is DISABLED"),
}


@pytest.mark.parametrize(("share", "update", "message"), CHANGES.values(), ids=CHANGES)
def test_each_change_of_a_share_is_found(batch: LocalBatch, share: str, update: dict[str, Any], message: str) -> None:
    assert differences() == []
    client = batch.client()
    client.update_quota_share(quotaShareArn=share_arn(client, share), **update)
    assert differences() == [message]


def test_changes_of_the_queue_and_its_environment_are_found(batch: LocalBatch) -> None:
    client = batch.client()
    [environment] = client.describe_service_environments()["serviceEnvironments"]
    client.update_service_environment(
        serviceEnvironment=environment["serviceEnvironmentArn"],
        capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 5}],
    )
    client.update_job_queue(jobQueue="training", state="DISABLED")
    name = environment["serviceEnvironmentName"]
    assert differences() == [
        "job queue training: state is declared as ENABLED, and is DISABLED",
        f"service environment {name}: capacity_limits.ml.g5.xlarge is declared as 3, and is 5",
    ]


# --- jobs -----------------------------------------------------------------------------------------


def test_the_jobs_it_holds_run_on_as_they_do_there(batch: LocalBatch) -> None:
    walk(batch)
    batch.advance(30)
    queue = open_queue("queue:training")
    held = hold(queue, now=EPOCH + batch.now)
    assert {entry["name"]: entry["duration"] for entry in held.data["running"]} == {"high": "33m", "owner": "10m"}
    assert [entry["name"] for entry in held.data["jobs"]] == ["med", "low"]

    result = policy_engine.simulate(load("queue:training"), held_scenario(held, "queue:training"))
    [start] = [event.at for event in result.run.log if event.kind == "started" and event.job == "med"]
    batch.advance(start + 1)
    states = {job["jobName"] for job in batch.client().list_service_jobs(jobQueue="training")["jobSummaryList"]}
    assert states == {"high", "med"}, "as the engine expected"


def test_watch_sees_who_borrows_and_who_waits(batch: LocalBatch) -> None:
    walk(batch)
    sight = look(open_queue("queue:training"), now=EPOCH + batch.now)
    used = {row.share: (row.used, row.borrowed, row.waiting) for row in sight.rows}
    batch.advance(60)
    later = look(open_queue("queue:training"), now=EPOCH + batch.now)
    assert used["QS3"] == (0, 0, 0)
    assert {row.share: (row.used, row.borrowed, row.waiting) for row in later.rows} == {
        "QS1": (1, 0, 2),
        "QS2": (1, 0, 0),
        "QS3": (0, 0, 0),
    }
    assert [(front.share, front.job) for front in later.fronts] == [("QS1", "med")]
    assert later.fronts[0].why


def test_its_history_is_replayed_and_followed(batch: LocalBatch, tmp_path: Path) -> None:
    walk(batch)
    batch.advance("3h")
    path = tmp_path / "jobs.jsonl"
    assert record(open_queue("queue:training"), path, rate=1e6) == (4, 0)
    assert "secret" not in path.read_text(encoding="utf-8")

    history = policy_engine.read_history(path)
    policy = policy_engine.load_policy("queue:training")
    assert [(job.name, job.priority) for job in history.jobs] == [("high", 3), ("med", 2), ("low", 1), ("owner", 1)]
    assert len(policy_engine.replay(policy, history).fitted.jobs) == 4

    recorded = read_record(str(path), policy)
    assert recorded.preemptions == 1
    found = conform(policy, recorded, Asked(tolerance=0, stop_within=20))
    assert found.default.fit is Fit.CONSISTENT, "the endpoint is the same scheduler"
    victims = next(one for one in found.choices if one.choice.name == "victims")
    assert victims.standing is Standing.NARROWED
    assert "borrowed_first" in victims.fitting
    assert "oldest" not in victims.fitting, "high, which started first, was spared"
