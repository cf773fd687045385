"""Service jobs: what is asked, what becomes of them, and how it is told."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from policy_engine.endpoint import Pace
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from tests.policy_engine.endless import CIRCLE, OVER_COMMITTED
from tests.policy_engine.endpoint.calling import ARN, EPOCH, OTHER, QUEUE, UNIT, WALKTHROUGH, Caller, payload

START = round(EPOCH * 1000)
CROSS = "Cross-share preemption triggered to reclaim borrowed capacity"


@pytest.fixture
def call() -> Caller:
    return Caller()


# --- what a client reads ----------------------------------------------------------------------------


def test_a_job_as_it_is_told(call: Caller) -> None:
    request = call.job(
        "train_model",
        schedulingPriority=7,
        retryStrategy={"attempts": 2, "evaluateOnExit": [{"action": "RETRY", "onStatusReason": "*"}]},
        timeoutConfig={"attemptDurationSeconds": 86_400},
        preemptionConfiguration={"preemptionRetriesBeforeTermination": 3},
        tags={"team": "a", "policy-engine:duration": "10m"},
    )
    submitted = call("SubmitServiceJob", **request)
    job = submitted["jobId"]
    assert submitted == {"jobArn": f"{ARN}:service-job/{job}", "jobName": "train_model", "jobId": job}

    described = call.describe(submitted["jobArn"])
    training_job = described["latestAttempt"]["serviceResourceId"]
    assert training_job["name"] == "TrainingJobArn"
    pattern = r"arn:aws:sagemaker:us-east-1:123456789012:training-job/AWSBatchtrain-model[0-9a-f]{32}"
    assert re.fullmatch(pattern, training_job["value"])
    assert described == {
        **submitted,
        "jobQueue": f"{ARN}:job-queue/{QUEUE}",
        "quotaShareName": "QS1",
        "schedulingPriority": 7,
        "serviceJobType": "SAGEMAKER_TRAINING",
        "serviceRequestPayload": payload(),
        "retryStrategy": request["retryStrategy"],
        "timeoutConfig": request["timeoutConfig"],
        "preemptionConfiguration": request["preemptionConfiguration"],
        "tags": request["tags"],
        "capacityUsage": [{"capacityUnit": UNIT, "quantity": 1.0}],
        "createdAt": START,
        "scheduledAt": START,
        "startedAt": START,
        "status": "RUNNING",
        "isTerminated": False,
        "latestAttempt": {"serviceResourceId": training_job},
        "attempts": [{"serviceResourceId": training_job, "startedAt": START}],
    }

    call.endpoint.advance(600)
    done = call.describe(job)
    assert (done["status"], done["stoppedAt"]) == ("SUCCEEDED", START + 600_000)
    assert done["attempts"] == [
        {"serviceResourceId": training_job, "startedAt": START, "stoppedAt": START + 600_000},
    ]


def test_a_job_that_waits(call: Caller) -> None:
    """No attempt, no start, no preemption summary, and a priority though none was given."""
    call.submit("large", "QS2", 1)
    described = call.describe(call.submit("waits", "QS2"))
    assert described["status"] == "RUNNABLE"
    assert described["schedulingPriority"] == 0
    assert described["attempts"] == []
    absent = {"startedAt", "scheduledAt", "stoppedAt", "latestAttempt", "statusReason", "preemptionSummary"}
    assert not absent & described.keys()


def test_the_default_priority_is_a_choice() -> None:
    call = Caller(pace=Pace(choices=Choices(default_priority=5)))
    assert call.describe(call.submit())["schedulingPriority"] == 5
    assert call.describe(call.submit(schedulingPriority=0))["schedulingPriority"] == 0


def test_training_jobs_have_names_of_their_own(call: Caller) -> None:
    """However long the job's name, at most 63 characters, which are SageMaker's."""
    names = set()
    for name in ("j" * 128, "j" * 127, "a_b-c", "a_b-c"):
        job = call.submit(name, "QS1")
        attempt = call.describe(job)["latestAttempt"]["serviceResourceId"]["value"].rpartition("/")[2]
        assert re.fullmatch(r"[a-zA-Z0-9](-*[a-zA-Z0-9]){0,62}", attempt)
        names.add(attempt)
        call("TerminateServiceJob", jobId=job, reason="enough")
    assert len(names) == 4


@pytest.mark.parametrize(
    ("config", "usage"),
    [
        ({"InstanceType": UNIT}, {UNIT: 1.0}),
        ({"InstanceType": UNIT, "InstanceCount": 2.0}, {UNIT: 2.0}),
        (
            {
                "InstanceGroups": [
                    {"InstanceGroupName": "a", "InstanceType": UNIT, "InstanceCount": 2},
                    {"InstanceGroupName": "b", "InstanceType": OTHER, "InstanceCount": 1},
                    {"InstanceGroupName": "c", "InstanceType": UNIT, "InstanceCount": 1},
                ]
            },
            {UNIT: 3.0, OTHER: 1.0},
        ),
    ],
)
def test_the_capacity_of_a_job(call: Caller, config: dict[str, Any], usage: dict[str, float]) -> None:
    job = call.submit(serviceRequestPayload=json.dumps({"ResourceConfig": config}))
    said = call.describe(job)["capacityUsage"]
    assert {entry["capacityUnit"]: entry["quantity"] for entry in said} == usage


# --- what is refused --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"jobName": "a b"}, "jobName: 'a b' is not a name"),
        ({"jobQueue": "nope"}, "job queue nope does not exist"),
        ({"quotaShareName": None}, "quotaShareName: is missing; job queue training has quota shares"),
        ({"quotaShareName": "QS9"}, "quotaShareName: QS9 does not exist in job queue training; its shares: QS1, QS2,"),
        ({"shareIdentifier": "a"}, "shareIdentifier: job queue training has quota shares: give quotaShareName instead"),
        ({"schedulingPriority": 10_000}, "schedulingPriority: 10000 is out of range: 0 to 9999 is allowed"),
        ({"schedulingPriority": -1}, "schedulingPriority: -1 is out of range: 0 to 9999 is allowed"),
        ({"retryStrategy": {"attempts": 0}}, "retryStrategy.attempts: 0 is out of range: 1 to 10 is allowed"),
        ({"retryStrategy": {"attempts": 11}}, "retryStrategy.attempts: 11 is out of range: 1 to 10 is allowed"),
        (
            {"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"action": "EXIT"}] * 6}},
            "retryStrategy.evaluateOnExit: 6 rules; at most 5 are allowed",
        ),
        (
            {"retryStrategy": {"attempts": 1, "evaluateOnExit": [{"onStatusReason": "x" * 513}]}},
            "retryStrategy.evaluateOnExit[0].onStatusReason: 513 characters; at most 512 are allowed",
        ),
        (
            {"preemptionConfiguration": {"preemptionRetriesBeforeTermination": -1}},
            "preemptionConfiguration.preemptionRetriesBeforeTermination: -1 is out of range: 0 or more is allowed",
        ),
        (
            {"timeoutConfig": {"attemptDurationSeconds": 0}},
            "timeoutConfig.attemptDurationSeconds: 0 is out of range: 1 or more is allowed",
        ),
        ({"serviceRequestPayload": "{"}, "serviceRequestPayload: is not valid JSON: "),
        ({"serviceRequestPayload": "[" * 9000}, "serviceRequestPayload: is not valid JSON: "),
        ({"serviceRequestPayload": "[]"}, "serviceRequestPayload: is no JSON object"),
        ({"serviceRequestPayload": "{}"}, "serviceRequestPayload.ResourceConfig: is missing"),
        (
            {"serviceRequestPayload": '{"ResourceConfig": {}}'},
            "serviceRequestPayload.ResourceConfig.InstanceType: is ",
        ),
        (
            {"serviceRequestPayload": '{"ResourceConfig": {"InstanceGroups": [7]}}'},
            "serviceRequestPayload.ResourceConfig.InstanceGroups[0]: is no JSON object",
        ),
        ({"serviceRequestPayload": payload(1, "m5.large")}, "serviceRequestPayload.ResourceConfig.InstanceType: 'm5."),
        (
            {"serviceRequestPayload": payload(0)},
            "serviceRequestPayload.ResourceConfig.InstanceCount: 0 is out of range",
        ),
        (
            {"serviceRequestPayload": payload(StoppingCondition={"MaxRuntimeInSeconds": "1h"})},
            "serviceRequestPayload.StoppingCondition.MaxRuntimeInSeconds: '1h' is not a whole number",
        ),
        ({"serviceRequestPayload": payload(Filler="x" * 10_240)}, "serviceRequestPayload: 103"),
        ({"tags": {"policy-engine:duration": "long"}}, "tags['policy-engine:duration']: 'long' is not a duration"),
        ({"tags": {"policy-engine:duration": "-1"}}, "tags['policy-engine:duration']: '-1' is out of range"),
        (
            {"tags": {"policy-engine:exit": "maybe"}},
            "tags['policy-engine:exit']: 'maybe' is not one of succeeded, failed",
        ),
        ({"tags": {f"k{n}" + "x" * 120: "v" * 256 for n in range(50)}, "jobName": "j"}, None),
        (
            {
                "tags": {f"k{n}" + "x" * 120: "v" * 256 for n in range(50)},
                "retryStrategy": {"attempts": 1, "evaluateOnExit": [{"onStatusReason": "\u20ac" * 512}] * 5},
            },
            "the request has more than 30720 bytes",
        ),
    ],
)
def test_jobs_that_are_refused(call: Caller, change: dict[str, Any], problem: str | None) -> None:
    request = {key: value for key, value in (call.job() | change).items() if value is not None}
    if problem is None:
        assert call("SubmitServiceJob", **request)["jobName"] == "j"
        return
    assert call.refused("SubmitServiceJob", **request).startswith(problem)
    assert call.listed(filters=[{"name": "JOB_NAME", "values": ["*"]}]) == []


def test_the_largest_payload(call: Caller) -> None:
    filler = 10_240 - len(payload(Filler=""))
    call.submit(serviceRequestPayload=payload(Filler="x" * filler))
    refused = call.refused("SubmitServiceJob", **call.job(serviceRequestPayload=payload(Filler="x" * (filler + 1))))
    assert refused == "serviceRequestPayload: 10241 bytes; at most 10240 are allowed"
    euro = payload(Filler="")[:-2] + "\u20ac" * (filler // 3 + 1) + '"}'
    assert call.refused("SubmitServiceJob", **call.job(serviceRequestPayload=euro)).endswith("10240 are allowed")


def test_shares_and_queues_that_take_no_jobs(call: Caller) -> None:
    call("UpdateQuotaShare", quotaShareArn=call.share_arn("QS1"), state="DISABLED")
    assert call.refused("SubmitServiceJob", **call.job()) == "quota share QS1 is DISABLED and takes no new jobs"
    call("UpdateJobQueue", jobQueue=QUEUE, state="DISABLED")
    refused = call.refused("SubmitServiceJob", **call.job(share="QS2"))
    assert refused == f"job queue {QUEUE} is DISABLED and takes no new jobs"
    call("UpdateJobQueue", jobQueue=QUEUE, state="ENABLED")
    assert call.states(call.submit(share="QS2")) == ["RUNNING"]


@pytest.mark.parametrize("operation", ["DescribeServiceJob", "UpdateServiceJob", "TerminateServiceJob"])
@pytest.mark.parametrize("job", ["nope", "", f"{ARN}:service-job/nope", "{id}x", "x/{id}"])
def test_jobs_that_do_not_exist(call: Caller, operation: str, job: str) -> None:
    job = job.format(id=call.submit())
    others: dict[str, dict[str, Any]] = {
        "UpdateServiceJob": {"schedulingPriority": 1},
        "TerminateServiceJob": {"reason": "r"},
    }
    assert call.refused(operation, jobId=job, **others.get(operation, {})) == f"service job {job} does not exist"


# --- the same request twice -------------------------------------------------------------------------


def test_a_repeated_token_makes_no_second_job(call: Caller) -> None:
    first = call("SubmitServiceJob", **call.job(clientToken="t", tags={"a": "1", "b": "2"}))
    again = call("SubmitServiceJob", **call.job(tags={"b": "2", "a": "1"}, clientToken="t"))
    assert again == first
    call.endpoint.advance(1e6)
    assert call("SubmitServiceJob", **call.job(clientToken="t", tags={"a": "1", "b": "2"})) == first, "it has ended"
    assert len(call.listed(filters=[{"name": "JOB_NAME", "values": ["*"]}])) == 1


@pytest.mark.parametrize(
    "change", [{"name": "other"}, {"share": "QS2"}, {"count": 2}, {"schedulingPriority": 1}, {"tags": {"a": "1"}}]
)
def test_a_token_of_another_request_is_refused(call: Caller, change: dict[str, Any]) -> None:
    call.submit(clientToken="t")
    refused = call.refused("SubmitServiceJob", **call.job(**change, clientToken="t"))
    assert refused.startswith("clientToken: was used for another request")
    assert len(call.listed(filters=[{"name": "JOB_NAME", "values": ["*"]}])) == 1
    assert call.submit(**change, clientToken="u") != call.submit(**change, clientToken="v")


def test_a_refused_request_uses_no_token(call: Caller) -> None:
    call.refused("SubmitServiceJob", **call.job(share="QS9", clientToken="t"))
    call.submit(clientToken="t")


def test_a_token_outlives_the_share(call: Caller) -> None:
    first = call.submit(clientToken="t")
    call("UpdateQuotaShare", quotaShareArn=call.share_arn("QS1"), state="DISABLED")
    assert call.submit(clientToken="t") == first


# --- how long ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "stopping", "seconds"),
    [
        ("1h30m", {"MaxRuntimeInSeconds": 60}, 5400),
        (None, {"MaxRuntimeInSeconds": 60}, 60),
        (None, {}, 7),
        (None, None, 7),
        ("0", None, 0),
    ],
    ids=["tag", "stopping condition", "default", "no condition", "nothing to do"],
)
def test_how_long_a_job_runs(tag: str | None, stopping: dict[str, int] | None, seconds: int) -> None:
    call = Caller(duration=7)
    tags = None if tag is None else {"policy-engine:duration": tag}
    more: dict[str, Any] = {} if stopping is None else {"StoppingCondition": stopping}
    job = call.submit(tags=tags, serviceRequestPayload=payload(**more))
    if seconds:
        call.endpoint.advance(seconds - 0.001)
        assert call.states(job) == ["RUNNING"]
        call.endpoint.advance(0.001)
    described = call.describe(job)
    assert (described["status"], described["stoppedAt"]) == ("SUCCEEDED", START + seconds * 1000)


def test_reading_lets_no_time_go_by(call: Caller) -> None:
    job = call.submit(tags={"policy-engine:duration": "1s"})
    for _ in range(100):
        assert call.states(job) == ["RUNNING"]
    assert call.endpoint.now == 0


def test_starting_up_takes_time() -> None:
    call = Caller(pace=Pace(Timing(start_seconds=90)))
    job = call.submit(tags={"policy-engine:duration": "1m"})
    described = call.describe(job)
    assert (described["status"], described["scheduledAt"]) == ("SCHEDULED", START)
    assert "startedAt" not in described
    call.endpoint.advance(90)
    described = call.describe(job)
    assert (described["status"], described["startedAt"]) == ("RUNNING", START + 90_000)
    call.endpoint.advance(60)
    assert call.states(job) == ["SUCCEEDED"]
    job = call.submit(tags={"policy-engine:duration": "1m"})
    call.endpoint.advance(1000)
    described = call.describe(job)
    assert (described["startedAt"], described["stoppedAt"]) == (START + 240_000, START + 300_000)


# --- how it ends ------------------------------------------------------------------------------------


def test_a_job_that_fails_is_tried_again(call: Caller) -> None:
    """R15: as often as its retry strategy says; every attempt is a training job of its own."""
    tags = {"policy-engine:duration": "60", "policy-engine:exit": "failed"}
    job = call.submit(tags=tags, retryStrategy={"attempts": 3})
    call.endpoint.advance(60)
    described = call.describe(job)
    assert (described["status"], len(described["attempts"])) == ("RUNNING", 2)
    assert described["attempts"][0]["statusReason"].startswith("Received status from SageMaker: ")
    call.endpoint.advance(120)
    described = call.describe(job)
    assert described["status"] == "FAILED"
    assert described["statusReason"] == described["attempts"][0]["statusReason"]
    names = [attempt["serviceResourceId"]["value"] for attempt in described["attempts"]]
    assert (len(set(names)), described["latestAttempt"]["serviceResourceId"]["value"]) == (3, names[-1])
    assert described["isTerminated"] is False


@pytest.mark.parametrize(
    ("rules", "attempts"),
    [
        ([{"action": "EXIT", "onStatusReason": "*"}], 1),
        ([{"action": "EXIT", "onStatusReason": "Received status from SageMaker: Algo*"}], 1),
        ([{"action": "EXIT", "onStatusReason": "*AlgorithmError*"}], 1),
        ([{"action": "EXIT", "onStatusReason": "*CapacityError*"}], 3),
        ([{"action": "RETRY", "onStatusReason": "*Algorithm*"}, {"action": "EXIT", "onStatusReason": "*"}], 3),
        ([{"action": "EXIT", "onStatusReason": "Received [status]*"}], 3),
        ([], 3),
    ],
)
def test_rules_for_retries(call: Caller, rules: list[dict[str, str]], attempts: int) -> None:
    tags = {"policy-engine:duration": "60", "policy-engine:exit": "failed"}
    strategy = {"attempts": 3, "evaluateOnExit": rules}
    job = call.submit(tags=tags, retryStrategy=strategy)
    call.endpoint.advance(1000)
    assert len(call.describe(job)["attempts"]) == attempts


def test_an_attempt_that_takes_too_long(call: Caller) -> None:
    job = call.submit(
        tags={"policy-engine:duration": "2h"},
        timeoutConfig={"attemptDurationSeconds": 3600},
        retryStrategy={"attempts": 2, "evaluateOnExit": [{"action": "EXIT", "onStatusReason": "*timeout"}]},
    )
    call.endpoint.advance(7200)
    described = call.describe(job)
    assert (described["status"], described["stoppedAt"]) == ("FAILED", START + 3_600_000)
    assert described["statusReason"] == "Job attempt duration exceeded timeout"


def test_a_job_that_is_terminated(call: Caller) -> None:
    running, waiting = call.submit("running", "QS2"), call.submit("waiting", "QS2")
    assert call.states(running, waiting) == ["RUNNING", "RUNNABLE"]
    call.endpoint.advance(5)
    assert call("TerminateServiceJob", jobId=waiting, reason="not needed") == {}
    assert call("TerminateServiceJob", jobId=running, reason="a mistake") == {}
    for job, reason in ((running, "a mistake"), (waiting, "not needed")):
        described = call.describe(job)
        assert (described["status"], described["isTerminated"]) == ("FAILED", True)
        assert (described["statusReason"], described["stoppedAt"]) == (reason, START + 5000)
    call("TerminateServiceJob", jobId=running, reason="again")
    assert call.describe(running)["statusReason"] == "a mistake"
    assert call.usage() == {}


def test_jobs_that_are_terminated_together(call: Caller) -> None:
    jobs = [call.submit(f"j{number}") for number in range(3)]
    answer = call("TerminateServiceJobs", jobs=[*jobs[:2], "nope"], reason="cleaning up")
    assert answer == {"successful": [*jobs[:2], "nope"], "errors": []}
    assert call.states(*jobs) == ["FAILED", "FAILED", "RUNNING"]
    assert call.refused("TerminateServiceJobs", jobs=[], reason="r") == "jobs: 0 jobs; 1 to 50 are allowed"
    assert call.refused("TerminateServiceJobs", jobs=["x"] * 51, reason="r") == "jobs: 51 jobs; 1 to 50 are allowed"


def test_a_priority_that_comes_too_late(call: Caller) -> None:
    """Of a job that has ended it changes nothing."""
    job = call.submit(schedulingPriority=1)
    call("TerminateServiceJob", jobId=job, reason="enough")
    assert call("UpdateServiceJob", jobId=job, schedulingPriority=9)["jobId"] == job
    assert call.describe(job)["schedulingPriority"] == 1
    refused = call.refused("UpdateServiceJob", jobId=job, schedulingPriority=10_000)
    assert refused == "schedulingPriority: 10000 is out of range: 0 to 9999 is allowed"


# --- preemption -------------------------------------------------------------------------------------


def test_a_preemption_as_it_is_told() -> None:
    call = Caller(pace=Pace(Timing(stop_seconds=20)))
    borrower = call.submit("borrower", count=2, tags={"policy-engine:duration": "1h"})
    assert call.states(borrower) == ["RUNNING"]
    first = call.describe(borrower)["latestAttempt"]["serviceResourceId"]
    call.endpoint.advance(100)
    owner = call.submit("owner", "QS2", tags={"policy-engine:duration": "10s"})
    described = call.describe(borrower)
    assert described["status"] == "RUNNING"
    assert described["statusReason"] == f"PREEMPTION_IN_PROGRESS: {CROSS}"
    assert "preemptionSummary" not in described
    assert call.states(owner) == ["RUNNABLE"]

    call.endpoint.advance(20)
    described = call.describe(borrower)
    assert described["status"] == "RUNNABLE"
    assert not {"statusReason", "startedAt", "scheduledAt", "stoppedAt"} & described.keys()
    assert described["attempts"] == [], "a preempted one uses none (R10)"
    times = {"startedAt": START, "stoppedAt": START + 120_000}
    attempt = {"serviceResourceId": first, **times, "statusReason": CROSS}
    assert described["preemptionSummary"] == {"preemptedAttemptCount": 1, "recentPreemptedAttempts": [attempt]}
    assert call.states(owner) == ["RUNNING"]

    call.endpoint.advance(10)
    described = call.describe(borrower)
    assert described["status"] == "RUNNING"
    assert described["latestAttempt"]["serviceResourceId"] != first
    assert len(described["attempts"]) == 1


def test_recent_preemptions_come_the_most_recent_first(call: Caller) -> None:
    """As many as are kept; the count is of all."""
    victim = call.submit("victim", count=2)
    attempts = []
    for number in range(12):
        attempts.append(call.describe(victim)["latestAttempt"]["serviceResourceId"])
        call.submit(f"owner-{number}", "QS2", tags={"policy-engine:duration": "10"})
        assert call.states(victim) == ["RUNNABLE"]
        call.endpoint.advance(10)
    summary = call.describe(victim)["preemptionSummary"]
    assert summary["preemptedAttemptCount"] == 12
    recent = [attempt["serviceResourceId"] for attempt in summary["recentPreemptedAttempts"]]
    assert recent == attempts[::-1][:10]


def test_a_job_that_may_not_be_preempted_again(call: Caller) -> None:
    job = call.submit(count=2, preemptionConfiguration={"preemptionRetriesBeforeTermination": 0})
    call.states(job)
    call.submit("owner", "QS2")
    described = call.describe(job)
    assert (described["status"], described["statusReason"], described["isTerminated"]) == ("FAILED", CROSS, False)
    assert described["preemptionSummary"]["preemptedAttemptCount"] == 1


def test_a_victim_that_is_done_before_it_is_stopped() -> None:
    call = Caller(pace=Pace(Timing(stop_seconds=20)))
    job = call.submit(count=2, tags={"policy-engine:duration": "30"})
    call.endpoint.advance(20)
    call.submit("owner", "QS2")
    assert "PREEMPTION_IN_PROGRESS" in call.describe(job)["statusReason"]
    call.endpoint.advance(20)
    described = call.describe(job)
    assert described["status"] == "SUCCEEDED"
    assert not {"preemptionSummary", "statusReason"} & described.keys()


def test_a_lowered_limit() -> None:
    """C11 ``at_once``: AWS publishes no text for it."""
    call = Caller(pace=Pace(choices=Choices(lowered_limit="at_once")))
    document = WALKTHROUGH.document()
    document["shares"]["QS2"]["capacity_limits"] = {UNIT: 2}
    document["queue"] = "wide"
    document["service_environment"]["capacity_limits"] = {UNIT: 4}
    call.endpoint.declare(Policy.of(document))
    job = call.submit(share="QS2", count=2, jobQueue="wide")
    assert call.states(job) == ["RUNNING"]
    arn = f"{ARN}:job-queue/wide/quota-share/QS2"
    call("UpdateQuotaShare", quotaShareArn=arn, capacityLimits=[{"maxCapacity": 1, "capacityUnit": UNIT}])
    [attempt] = call.describe(job)["preemptionSummary"]["recentPreemptedAttempts"]
    assert attempt["statusReason"] == "Preemption triggered by lowered capacity limits of the quota share"


# --- jobs that can never fit ------------------------------------------------------------------------


def test_a_job_that_can_never_fit_says_so_at_the_front_of_its_share(call: Caller) -> None:
    reason = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits."
    first, _, large = call.submit("first", "QS2"), call.submit("second", "QS2"), call.submit("large", "QS2", 2)
    assert "statusReason" not in call.describe(large), "it is not at the front"
    call("TerminateServiceJob", jobId=first, reason="enough")
    assert call.describe(large)["statusReason"] == reason
    [listed] = call("ListServiceJobs", jobQueue=QUEUE, jobStatus="RUNNABLE")["jobSummaryList"]
    assert listed["statusReason"] == reason
    call("UpdateQuotaShare", quotaShareArn=call.share_arn("QS2"), capacityLimits=[
        {"maxCapacity": 2, "capacityUnit": UNIT}
    ])  # fmt: skip
    described = call.describe(large)
    assert (described["status"], "statusReason" in described) == ("RUNNABLE", False), "it could run, after the second"


def test_a_time_limit_ends_it(call: Caller) -> None:
    reason = "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    action = {"reason": reason, "state": "RUNNABLE", "maxTimeSeconds": 600, "action": "TERMINATE"}
    job = call.submit(count=4)
    assert call.describe(job)["statusReason"].startswith(f"{reason} - ")
    call.endpoint.advance(100)
    call("UpdateJobQueue", jobQueue=QUEUE, jobStateTimeLimitActions=[action])
    call.endpoint.advance(499)
    assert call.states(job) == ["RUNNABLE"]
    call.endpoint.advance(1)
    described = call.describe(job)
    assert (described["status"], described["isTerminated"]) == ("FAILED", True)
    assert described["statusReason"] == f"Terminated by JobStateTimeLimit action due to reason: {reason}"


# --- jobs that stop each other without end ----------------------------------------------------------


def test_a_queue_without_rest_is_invalid_until_something_is_done() -> None:
    """The documented rules have no end here: every request is answered all the same."""
    call = Caller(OVER_COMMITTED.model_copy(update={"queue": QUEUE}))
    jobs = {}
    for job in CIRCLE.jobs:
        call.endpoint.advance_to(job.submit)
        jobs[job.name] = call.submit(job.name, job.share, job.instances, schedulingPriority=job.priority)
    states = call.states(*jobs.values())
    [queue] = call("DescribeJobQueues")["jobQueues"]
    assert queue["status"] == "INVALID"
    assert "stop each other over and over" in queue["statusReason"]
    call.endpoint.advance(5)
    assert call.states(*jobs.values()) == states, "time stands still in it"
    assert call.refused("SubmitServiceJob", **call.job(share="s0")) == f"job queue {QUEUE} is INVALID; it must be VALID"

    call("TerminateServiceJob", jobId=jobs["j4"], reason="make an end")
    call.endpoint.advance(5)
    [queue] = call("DescribeJobQueues")["jobQueues"]
    assert (queue["status"], queue["statusReason"]) == ("VALID", "JobQueue Healthy")
    assert call.states(jobs["j4"]) == ["FAILED"]
    call.submit(share="s0")


# --- step by step -----------------------------------------------------------------------------------


def test_a_job_step_by_step() -> None:
    call = Caller(pace=Pace(stepped=True))
    job = call.submit(tags={"policy-engine:duration": "60"})
    seen = []
    for _ in range(6):
        seen.append(call.states(job)[0])
        call.endpoint.step()
    assert seen == ["SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "RUNNING"]
    described = call.describe(job)
    assert (described["scheduledAt"], described["startedAt"]) == (START, START)
    call.endpoint.advance(60)
    assert call.states(job) == ["SUCCEEDED"]


def test_time_takes_a_job_through_all_steps() -> None:
    call = Caller(pace=Pace(stepped=True))
    job = call.submit(tags={"policy-engine:duration": "60"})
    call.endpoint.advance(59)
    assert call.states(job) == ["RUNNING"]
    call.endpoint.advance(1)
    assert call.states(job) == ["SUCCEEDED"]


def test_a_preemption_step_by_step() -> None:
    call = Caller(pace=Pace(stepped=True))
    borrower = call.submit("borrower", count=2)
    for _ in range(4):
        call.endpoint.step()
    owner = call.submit("owner", "QS2")
    assert call.states(borrower, owner) == ["RUNNING", "SUBMITTED"]
    call.endpoint.step()
    assert call.states(borrower, owner) == ["RUNNING", "RUNNABLE"]
    call.endpoint.step()
    assert call.states(borrower, owner) == ["RUNNABLE", "SCHEDULED"]


def test_a_job_that_is_terminated_before_it_is_in_line() -> None:
    call = Caller(pace=Pace(stepped=True))
    job = call.submit()
    assert call.listed(jobStatus="SUBMITTED") == ["job"]
    call("TerminateServiceJob", jobId=job, reason="a mistake")
    described = call.describe(job)
    assert (described["status"], described["statusReason"]) == ("FAILED", "a mistake")
    call.endpoint.step()
    call.endpoint.step()
    assert call.states(job) == ["FAILED"]
