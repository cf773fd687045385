"""The life of scheduling policies, service environments, job queues and quota shares: states, rules, refusals."""

from __future__ import annotations

from typing import Any

import pytest

from policy_engine.endpoint import Pace
from policy_engine.policy import Policy
from tests.policy_engine.endpoint.calling import ARN, OTHER, QUEUE, UNIT, Caller, payload

POLICY_ARN = f"{ARN}:scheduling-policy/p"
QUOTAS = {"quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"}}


def limits(**units: int) -> list[dict[str, Any]]:
    named = {"unit": UNIT, "other": OTHER}
    return [{"maxCapacity": count, "capacityUnit": named.get(unit, unit)} for unit, count in units.items()]


def environment(name: str = "e", **more: Any) -> dict[str, Any]:
    return {
        "serviceEnvironmentName": name,
        "serviceEnvironmentType": "SAGEMAKER_TRAINING",
        "capacityLimits": limits(unit=4),
        **more,
    }


def queue(name: str = "q", **more: Any) -> dict[str, Any]:
    return {
        "jobQueueName": name,
        "jobQueueType": "SAGEMAKER_TRAINING",
        "priority": 1,
        "schedulingPolicyArn": POLICY_ARN,
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "e"}],
        **more,
    }


def share(name: str = "s", **more: Any) -> dict[str, Any]:
    return {
        "quotaShareName": name,
        "jobQueue": "q",
        "capacityLimits": limits(unit=2),
        "resourceSharingConfiguration": {"strategy": "LEND"},
        "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
        **more,
    }


@pytest.fixture
def call() -> Caller:
    """An endpoint with everything but a share."""
    call = Caller(None)
    call("CreateSchedulingPolicy", name="p", **QUOTAS)
    call("CreateServiceEnvironment", **environment())
    call("CreateJobQueue", **queue())
    return call


SHARE_ARN = f"{ARN}:job-queue/q/quota-share/s"


# --- from the first to the last ---------------------------------------------------------------------


def test_from_creation_to_deletion() -> None:
    """In AWS's order: policy, environment, queue, share; and back, each disabled first."""
    call = Caller(None)
    assert call("CreateSchedulingPolicy", name="p", **QUOTAS) == {"name": "p", "arn": POLICY_ARN}
    environment_arn = f"{ARN}:service-environment/e"
    named = {"serviceEnvironmentName": "e", "serviceEnvironmentArn": environment_arn}
    assert call("CreateServiceEnvironment", **environment(tags={"team": "a"})) == named
    assert call("CreateJobQueue", **queue()) == {"jobQueueName": "q", "jobQueueArn": f"{ARN}:job-queue/q"}
    assert call("CreateQuotaShare", **share()) == {"quotaShareName": "s", "quotaShareArn": SHARE_ARN}

    [found] = call("DescribeServiceEnvironments", serviceEnvironments=["e"])["serviceEnvironments"]
    assert found == named | {
        "serviceEnvironmentType": "SAGEMAKER_TRAINING",
        "state": "ENABLED",
        "status": "VALID",
        "capacityLimits": limits(unit=4),
        "tags": {"team": "a"},
    }
    [found] = call("DescribeJobQueues", jobQueues=[f"{ARN}:job-queue/q"])["jobQueues"]
    assert found == {
        "jobQueueName": "q",
        "jobQueueArn": f"{ARN}:job-queue/q",
        "state": "ENABLED",
        "schedulingPolicyArn": POLICY_ARN,
        "status": "VALID",
        "statusReason": "JobQueue Healthy",
        "priority": 1,
        "computeEnvironmentOrder": [],
        "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": environment_arn}],
        "jobQueueType": "SAGEMAKER_TRAINING",
        "tags": {},
    }
    found = call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)
    assert found == {
        "quotaShareName": "s",
        "quotaShareArn": SHARE_ARN,
        "jobQueueArn": f"{ARN}:job-queue/q",
        "capacityLimits": limits(unit=2),
        "resourceSharingConfiguration": {"strategy": "LEND"},
        "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
        "state": "ENABLED",
        "status": "VALID",
        "tags": {},
    }

    assert call.refused("DeleteQuotaShare", quotaShareArn=SHARE_ARN).endswith("it must be DISABLED first")
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, state="DISABLED")
    assert call.refused("DeleteJobQueue", jobQueue="q") == "job queue q is ENABLED; it must be DISABLED first"
    call("UpdateJobQueue", jobQueue="q", state="DISABLED")
    assert call.refused("DeleteJobQueue", jobQueue="q") == "job queue q has quota shares, delete them first: s"
    call("DeleteQuotaShare", quotaShareArn=SHARE_ARN)
    assert call.refused("DescribeQuotaShare", quotaShareArn=SHARE_ARN) == f"quota share {SHARE_ARN} does not exist"
    assert call.refused("DeleteSchedulingPolicy", arn=POLICY_ARN) == "scheduling policy p is used by job queue q"
    refused = call.refused("DeleteServiceEnvironment", serviceEnvironment="e")
    assert refused == "service environment e is ENABLED; it must be DISABLED first"
    call("UpdateServiceEnvironment", serviceEnvironment="e", state="DISABLED")
    refused = call.refused("DeleteServiceEnvironment", serviceEnvironment="e")
    assert refused == "service environment e is associated with job queue q"
    call("DeleteJobQueue", jobQueue="q")
    call("DeleteSchedulingPolicy", arn=POLICY_ARN)
    call("DeleteServiceEnvironment", serviceEnvironment=environment_arn)
    assert call("DescribeJobQueues", jobQueues=["q"]) == {"jobQueues": []}
    assert call("DescribeServiceEnvironments") == {"serviceEnvironments": []}
    assert call("DescribeSchedulingPolicies", arns=[POLICY_ARN]) == {"schedulingPolicies": []}


@pytest.mark.parametrize(
    ("operation", "request_"),
    [
        ("CreateSchedulingPolicy", {"name": "p", **QUOTAS}),
        ("CreateServiceEnvironment", environment()),
        ("CreateJobQueue", queue(serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "free"}])),
        ("CreateQuotaShare", share()),
    ],
)
def test_a_name_that_is_taken(call: Caller, operation: str, request_: dict[str, Any]) -> None:
    """AWS's text, on which clients decide that there is nothing to do."""
    call("CreateServiceEnvironment", **environment("free"))
    call("CreateQuotaShare", **share())
    assert call.refused(operation, **request_) == "Object already exists"


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("request_", "problem"),
    [
        ({"name": "a b", **QUOTAS}, "name: 'a b' is not a name: 1 to 128 letters, digits, '-' and '_' are allowed"),
        ({"name": "n" * 129, **QUOTAS}, f"name: {'n' * 129!r} is not a name"),
        ({"name": "x"}, "exactly one of quotaSharePolicy and fairsharePolicy must be given, not 0"),
        ({"name": "x", "fairsharePolicy": {}, **QUOTAS}, "exactly one of quotaSharePolicy and fairsharePolicy"),
    ],
)
def test_scheduling_policies_that_are_refused(call: Caller, request_: dict[str, Any], problem: str) -> None:
    assert call.refused("CreateSchedulingPolicy", **request_).startswith(problem)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"serviceEnvironmentName": "a/b"}, "name: 'a/b' is not a name"),
        ({"capacityLimits": []}, "capacityLimits: 0 capacity limits; 1 to 5 are allowed"),
        (
            {"capacityLimits": limits(**{f"ml.c{n}.large": 1 for n in range(6)})},
            "capacityLimits: 6 capacity limits; 1 to 5 are allowed",
        ),
        ({"capacityLimits": limits(NUM_INSTANCES=4)}, "capacityLimits[0].capacityUnit: 'NUM_INSTANCES' is not a Sage"),
        ({"capacityLimits": limits(unit=0)}, "capacityLimits[0].maxCapacity: 0 is out of range: 1 or more is allowed"),
        ({"capacityLimits": [{}]}, "capacityLimits[0].capacityUnit: None is not a string"),
        ({"capacityLimits": [*limits(unit=1), *limits(unit=2)]}, f"capacityLimits: {UNIT} is given 2 times"),
    ],
)
def test_service_environments_that_are_refused(call: Caller, change: dict[str, Any], problem: str) -> None:
    assert call.refused("CreateServiceEnvironment", **environment("new") | change).startswith(problem)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"jobQueueName": "a b"}, "name: 'a b' is not a name"),
        ({"jobQueueType": None}, "jobQueueType: no jobQueueType; only quota-managed queues are served here"),
        ({"jobQueueType": "ECS"}, "jobQueueType: ECS; only quota-managed queues are served here"),
        ({"priority": 1001}, "priority: 1001 is out of range: 0 to 1000 is allowed"),
        ({"schedulingPolicyArn": None}, "schedulingPolicyArn: is missing"),
        ({"schedulingPolicyArn": "nope"}, "scheduling policy nope does not exist"),
        ({"schedulingPolicyArn": f"{ARN}:scheduling-policy/fair"}, "schedulingPolicyArn: fair has no quotaSharePolicy"),
        ({"serviceEnvironmentOrder": None}, "serviceEnvironmentOrder: 0 entries; a quota-managed queue has exactly 1"),
        (
            {"serviceEnvironmentOrder": [{"order": n, "serviceEnvironment": "free"} for n in (1, 2)]},
            "serviceEnvironmentOrder: 2 entries",
        ),
        (
            {"serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "nope"}]},
            "service environment nope does not exist",
        ),
        (
            {"serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": "e"}]},
            "service environment e is connected to job queue q already",
        ),
        (
            {"computeEnvironmentOrder": [{"order": 1, "computeEnvironment": "c"}]},
            "computeEnvironmentOrder: a queue of type SAGEMAKER_TRAINING has a service environment instead",
        ),
    ],
)
def test_queues_that_are_refused(call: Caller, change: dict[str, Any], problem: str) -> None:
    call("CreateServiceEnvironment", **environment("free"))
    call("CreateSchedulingPolicy", name="fair", fairsharePolicy={})
    free = [{"order": 1, "serviceEnvironment": "free"}]
    assert call.refused("CreateJobQueue", **queue("new", serviceEnvironmentOrder=free) | change).startswith(problem)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"reason": "NOT:KNOWN"}, "jobStateTimeLimitActions[0].reason: 'NOT:KNOWN' is not one of CAPACITY:"),
        ({"maxTimeSeconds": 599}, "jobStateTimeLimitActions[0].maxTimeSeconds: 599 is out of range: 600 to 86400"),
        ({"action": "CANCEL"}, "jobStateTimeLimitActions[0].action: CANCEL is not TERMINATE"),
        ({"state": "RUNNING"}, "jobStateTimeLimitActions[0].state: 'RUNNING' is not one of RUNNABLE"),
    ],
)
def test_time_limits_that_are_refused(call: Caller, change: dict[str, Any], problem: str) -> None:
    action = {
        "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
        "state": "RUNNABLE",
        "maxTimeSeconds": 600,
        "action": "TERMINATE",
    }
    request = {"jobQueue": "q", "jobStateTimeLimitActions": [action | change]}
    assert call.refused("UpdateJobQueue", **request).startswith(problem)
    [found] = call("DescribeJobQueues")["jobQueues"]
    assert "jobStateTimeLimitActions" not in found
    call("UpdateJobQueue", jobQueue="q", jobStateTimeLimitActions=[action])
    [found] = call("DescribeJobQueues")["jobQueues"]
    assert found["jobStateTimeLimitActions"] == [action]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"quotaShareName": "a b"}, "name: 'a b' is not a name"),
        ({"jobQueue": "nope"}, "job queue nope does not exist"),
        ({"jobQueue": "arn:aws:batch:eu-west-1:123456789012:job-queue/q"}, "job queue arn:aws:batch:eu-west-1"),
        ({"capacityLimits": []}, "capacityLimits: 0 capacity limits; 1 to 5 are allowed"),
        (
            {"resourceSharingConfiguration": {"strategy": "LEND", "borrowLimit": 5}},
            "resourceSharingConfiguration.borrowLimit: a borrow limit is only valid with LEND_AND_BORROW, not with",
        ),
        (
            {"resourceSharingConfiguration": {"strategy": "LEND_AND_BORROW", "borrowLimit": -2}},
            "resourceSharingConfiguration.borrowLimit: -2 is out of range: -1 or more is allowed",
        ),
    ],
)
def test_shares_that_are_refused(call: Caller, change: dict[str, Any], problem: str) -> None:
    assert call.refused("CreateQuotaShare", **share() | change).startswith(problem)
    assert call("ListQuotaShares", jobQueue="q") == {"quotaShares": []}


def test_the_share_over_the_20(call: Caller) -> None:
    for number in range(20):
        call("CreateQuotaShare", **share(f"s{number}"))
    refused = call.refused("CreateQuotaShare", **share("s20"))
    assert refused == "job queue q: 21 quota shares; at most 20 are allowed on a queue"
    assert call.refused("CreateQuotaShare", **share("s19")) == "Object already exists"


@pytest.mark.parametrize(
    ("operation", "request_", "problem"),
    [
        ("UpdateSchedulingPolicy", {"arn": "x", **QUOTAS}, "scheduling policy x does not exist"),
        ("DeleteSchedulingPolicy", {"arn": "x"}, "scheduling policy x does not exist"),
        ("UpdateServiceEnvironment", {"serviceEnvironment": "x"}, "service environment x does not exist"),
        ("DeleteServiceEnvironment", {"serviceEnvironment": "x"}, "service environment x does not exist"),
        ("UpdateJobQueue", {"jobQueue": "x"}, "job queue x does not exist"),
        ("DeleteJobQueue", {"jobQueue": "x"}, "job queue x does not exist"),
        ("ListQuotaShares", {"jobQueue": "x"}, "job queue x does not exist"),
        ("GetJobQueueSnapshot", {"jobQueue": "x"}, "job queue x does not exist"),
        ("DescribeQuotaShare", {"quotaShareArn": "s"}, "quota share s does not exist"),
        ("DescribeQuotaShare", {"quotaShareArn": SHARE_ARN + "x"}, f"quota share {SHARE_ARN}x does not exist"),
        ("UpdateQuotaShare", {"quotaShareArn": "q/quota-share/s"}, "quota share q/quota-share/s does not exist"),
        ("DeleteQuotaShare", {"quotaShareArn": "x"}, "quota share x does not exist"),
        ("ListTagsForResource", {"resourceArn": "q"}, "resourceArn: q does not exist"),
        ("TagResource", {"resourceArn": "x", "tags": {"a": "b"}}, "resourceArn: x does not exist"),
        ("UntagResource", {"resourceArn": f"{ARN}:job-queue/x", "tagKeys": ["a"]}, f"resourceArn: {ARN}:job-queue/x"),
    ],
)
def test_what_does_not_exist(call: Caller, operation: str, request_: dict[str, Any], problem: str) -> None:
    call("CreateQuotaShare", **share())
    assert call.refused(operation, **request_).startswith(problem)


# --- updates ----------------------------------------------------------------------------------------


def test_a_policy_keeps_its_kind(call: Caller) -> None:
    call("UpdateSchedulingPolicy", arn=POLICY_ARN, **QUOTAS)
    refused = call.refused("UpdateSchedulingPolicy", arn=POLICY_ARN, fairsharePolicy={})
    assert refused == "scheduling policy p has a quotaSharePolicy; its kind cannot change"


def test_a_queue_that_changes_policy_and_environment(call: Caller) -> None:
    call("CreateSchedulingPolicy", name="p2", **QUOTAS)
    call("CreateServiceEnvironment", **environment("e2", capacityLimits=limits(unit=1)))
    call("CreateQuotaShare", **share())
    order = [{"order": 1, "serviceEnvironment": "e2"}]
    second = f"{ARN}:scheduling-policy/p2"
    call("UpdateJobQueue", jobQueue="q", priority=7, schedulingPolicyArn=second, serviceEnvironmentOrder=order)
    [found] = call("DescribeJobQueues")["jobQueues"]
    assert (found["priority"], found["schedulingPolicyArn"]) == (7, second)
    assert found["serviceEnvironmentOrder"][0]["serviceEnvironment"] == f"{ARN}:service-environment/e2"
    call("DeleteSchedulingPolicy", arn=POLICY_ARN)

    jobs = [call.submit(f"j{n}", "s", jobQueue="q") for n in range(2)]
    assert call.states(*jobs) == ["RUNNING", "RUNNABLE"], "the new environment has one instance"
    call("UpdateServiceEnvironment", serviceEnvironment="e", capacityLimits=limits(unit=9))
    assert call.states(*jobs) == ["RUNNING", "RUNNABLE"], "the old one is nobody's"


def test_a_refused_update_changes_nothing(call: Caller) -> None:
    before = call("DescribeJobQueues")
    refused = call.refused("UpdateJobQueue", jobQueue="q", priority=7, state="DISABLED", schedulingPolicyArn="nope")
    assert refused == "scheduling policy nope does not exist"
    assert call("DescribeJobQueues") == before
    call("CreateQuotaShare", **share())
    before = call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)
    broken = {"strategy": "LEND", "borrowLimit": 1}
    call.refused(
        "UpdateQuotaShare",
        quotaShareArn=SHARE_ARN,
        capacityLimits=limits(unit=1),
        resourceSharingConfiguration=broken,
    )
    assert call("DescribeQuotaShare", quotaShareArn=SHARE_ARN) == before


@pytest.mark.parametrize(
    ("sharing", "described"),
    [
        ({"strategy": "LEND_AND_BORROW"}, {"strategy": "LEND_AND_BORROW", "borrowLimit": -1}),
        ({"strategy": "LEND_AND_BORROW", "borrowLimit": 0}, {"strategy": "LEND_AND_BORROW", "borrowLimit": 0}),
        ({"strategy": "RESERVE"}, {"strategy": "RESERVE"}),
    ],
)
def test_a_share_that_shares_otherwise(call: Caller, sharing: dict[str, Any], described: dict[str, Any]) -> None:
    """It is replaced as a whole: without a borrow limit, the default one."""
    borrower = {"strategy": "LEND_AND_BORROW", "borrowLimit": 50}
    call("CreateQuotaShare", **share(resourceSharingConfiguration=borrower))
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, resourceSharingConfiguration=sharing)
    found = call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)
    assert found["resourceSharingConfiguration"] == described
    assert found["capacityLimits"] == limits(unit=2)


def test_updates_reach_the_scheduler(call: Caller) -> None:
    call("CreateQuotaShare", **share(capacityLimits=limits(unit=1)))
    first, second, third = (call.submit(name, "s", jobQueue="q") for name in ("a", "b", "c"))
    assert call.states(first, second, third) == ["RUNNING", "RUNNABLE", "RUNNABLE"]
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, capacityLimits=limits(unit=4))
    assert call.states(first, second, third) == ["RUNNING"] * 3
    call("UpdateServiceEnvironment", serviceEnvironment="e", capacityLimits=limits(unit=1))
    assert call.states(first, second, third) == ["RUNNING"] * 3, "a lowered environment stops nothing (R11)"
    call("UpdateServiceEnvironment", serviceEnvironment="e", state="DISABLED", capacityLimits=limits(unit=9))
    fourth = call.submit("d", "s", jobQueue="q")
    assert call.states(fourth) == ["RUNNABLE"], "a disabled environment dispatches nothing (R14)"
    call("UpdateServiceEnvironment", serviceEnvironment="e", state="ENABLED")
    assert call.states(fourth) == ["RUNNING"]


def test_a_unit_that_comes_later(call: Caller) -> None:
    """A job of a type that nobody has waits until there is a limit for it (API CapacityLimit)."""
    call("CreateQuotaShare", **share())
    job = call.submit("j", "s", jobQueue="q", serviceRequestPayload=payload(1, OTHER))
    assert call.describe(job)["statusReason"].startswith("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - ")
    call("UpdateServiceEnvironment", serviceEnvironment="e", capacityLimits=limits(unit=4, other=2))
    assert call.describe(job)["statusReason"].endswith("Job requirements exceed quota share capacity limits.")
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, capacityLimits=limits(unit=2, other=1))
    described = call.describe(job)
    assert (described["status"], "statusReason" in described) == ("RUNNING", False)


def test_deleting_a_share_terminates_its_jobs(call: Caller) -> None:
    """R16; what became of them can still be asked."""
    call("CreateQuotaShare", **share(capacityLimits=limits(unit=1)))
    jobs = [call.submit(name, "s", jobQueue="q") for name in ("a", "b")]
    assert call.states(*jobs) == ["RUNNING", "RUNNABLE"]
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, state="DISABLED")
    assert call.refused("SubmitServiceJob", **call.job("c", "s", jobQueue="q")).endswith("takes no new jobs")
    assert call.states(*jobs) == ["RUNNING", "RUNNABLE"], "those it has may finish (R14)"
    call("DeleteQuotaShare", quotaShareArn=SHARE_ARN)
    for job in jobs:
        described = call.describe(job)
        assert (described["status"], described["isTerminated"]) == ("FAILED", True)
        assert described["statusReason"] == "quota share s was deleted"
    assert call("GetJobQueueSnapshot", jobQueue="q")["frontOfQuotaShares"]["quotaShares"] == {}
    call("CreateQuotaShare", **share())
    assert call.states(call.submit("d", "s", jobQueue="q")) == ["RUNNING"]
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, state="DISABLED")
    call("DeleteQuotaShare", quotaShareArn=SHARE_ARN)
    call("UpdateJobQueue", jobQueue="q", state="DISABLED")
    call("DeleteJobQueue", jobQueue="q")
    assert call.describe(jobs[0])["status"] == "FAILED", "its queue is gone too"


# --- pages ------------------------------------------------------------------------------------------


def test_pages_of_resources(call: Caller) -> None:
    names = [f"s{number}" for number in range(7)]
    for name in names:
        call("CreateQuotaShare", **share(name))
    found, token = [], None
    while True:
        answer = call("ListQuotaShares", jobQueue="q", maxResults=3, nextToken=token)
        found.append([listed["quotaShareName"] for listed in answer["quotaShares"]])
        token = answer.get("nextToken")
        if token is None:
            break
    assert found == [names[:3], names[3:6], names[6:]]


@pytest.mark.parametrize(
    ("operation", "request_", "key"),
    [
        ("DescribeServiceEnvironments", {}, "serviceEnvironments"),
        ("DescribeServiceEnvironments", {"serviceEnvironments": ["e2", "e", "e", "nope"]}, "serviceEnvironments"),
        ("DescribeJobQueues", {"jobQueues": []}, "jobQueues"),
        ("ListSchedulingPolicies", {}, "schedulingPolicies"),
    ],
)
def test_pages_of_everything_else(call: Caller, operation: str, request_: dict[str, Any], key: str) -> None:
    call("CreateServiceEnvironment", **environment("e2"))
    call("CreateSchedulingPolicy", name="p2", **QUOTAS)
    call("CreateJobQueue", **queue("q2", serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": "e2"}]))
    whole = call(operation, **request_)
    assert (len(whole[key]), "nextToken" in whole) == (2, False)
    first = call(operation, **request_, maxResults=1)
    second = call(operation, **request_, maxResults=1, nextToken=first["nextToken"])
    assert first[key] + second[key] == whole[key]
    assert "nextToken" not in second


@pytest.mark.parametrize(
    "token", ["nonsense", "YWZ0ZXI=", "ü", "YWZ0ZXItLTE=", "A", "YWZ0ZXItMTIzNDU2Nzg5MDEyMzQ1Njc4OTA="]
)
def test_tokens_that_no_answer_held(call: Caller, token: str) -> None:
    refused = call.refused("ListQuotaShares", jobQueue="q", nextToken=token)
    assert refused == "nextToken: is not one that an answer held"


@pytest.mark.parametrize("size", [0, 101, -1])
def test_pages_of_no_size(call: Caller, size: int) -> None:
    refused = call.refused("ListQuotaShares", jobQueue="q", maxResults=size)
    assert refused == f"maxResults: {size} is out of range: 1 to 100 is allowed"


# --- tags -------------------------------------------------------------------------------------------


def test_tags_of_everything(call: Caller) -> None:
    call("CreateQuotaShare", **share())
    job = call("SubmitServiceJob", **call.job("j", "s", jobQueue="q"))["jobArn"]
    for arn in (POLICY_ARN, f"{ARN}:service-environment/e", f"{ARN}:job-queue/q", SHARE_ARN, job):
        assert call("ListTagsForResource", resourceArn=arn) == {"tags": {}}
        call("TagResource", resourceArn=arn, tags={"a": "1", "b": "2"})
        call("TagResource", resourceArn=arn, tags={"b": "3"})
        call("UntagResource", resourceArn=arn, tagKeys=["a", "nope"])
        assert call("ListTagsForResource", resourceArn=arn) == {"tags": {"b": "3"}}
    many = {f"k{number}": "" for number in range(50)}
    refused = call.refused("TagResource", resourceArn=job, tags=many)
    assert refused == "tags: 51 tags; at most 50 are allowed"
    assert call("ListTagsForResource", resourceArn=job) == {"tags": {"b": "3"}}


def test_an_answer_is_the_callers_own(call: Caller) -> None:
    """Who changes an answer, or the request afterwards, changes nothing here."""
    request = share(tags={"a": "1"})
    call("CreateQuotaShare", **request)
    request["preemptionConfiguration"]["inSharePreemption"] = "DISABLED"
    found = call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)
    found["capacityLimits"][0]["maxCapacity"] = 99
    found["tags"]["a"] = "2"
    again = call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)
    assert again["preemptionConfiguration"] == {"inSharePreemption": "ENABLED"}
    assert again["capacityLimits"] == limits(unit=2)
    assert again["tags"] == {"a": "1"}


# --- step by step -----------------------------------------------------------------------------------


def test_resources_step_by_step() -> None:
    """Every state on the way can be seen, and what needs a VALID resource has to wait for it."""
    call = Caller(None, pace=Pace(stepped=True))
    call("CreateSchedulingPolicy", name="p", **QUOTAS)
    call("CreateServiceEnvironment", **environment())
    refused = call.refused("CreateJobQueue", **queue())
    assert refused == "service environment e is CREATING; it must be VALID"
    call.endpoint.step()
    call("CreateJobQueue", **queue())
    assert call.refused("CreateQuotaShare", **share()) == "job queue q is CREATING; it must be VALID"
    call.endpoint.step()
    call("CreateQuotaShare", **share())
    call.endpoint.step()
    call("UpdateQuotaShare", quotaShareArn=SHARE_ARN, state="DISABLED")
    assert call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)["status"] == "UPDATING"
    call.endpoint.step()
    assert call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)["status"] == "VALID"
    call("DeleteQuotaShare", quotaShareArn=SHARE_ARN)
    assert call("DescribeQuotaShare", quotaShareArn=SHARE_ARN)["status"] == "DELETING"
    refused = call.refused("UpdateQuotaShare", quotaShareArn=SHARE_ARN, state="ENABLED")
    assert refused == "quota share s is being deleted"
    call.endpoint.step()
    assert call.refused("DescribeQuotaShare", quotaShareArn=SHARE_ARN).endswith("does not exist")
    call("UpdateJobQueue", jobQueue="q", state="DISABLED")
    call("DeleteJobQueue", jobQueue="q")
    assert call.refused("UpdateJobQueue", jobQueue="q", state="ENABLED") == "job queue q is being deleted"
    assert call.refused("DeleteJobQueue", jobQueue="q") == "job queue q is being deleted"
    assert call.refused("SubmitServiceJob", **call.job("j", "s", jobQueue="q")).startswith("job queue q is DISABLED")
    assert call("DescribeJobQueues")["jobQueues"][0]["status"] == "DELETING"
    assert call("ListServiceJobs", jobQueue="q") == {"jobSummaryList": []}, "it can still be read"
    assert call.refused("DeleteSchedulingPolicy", arn=POLICY_ARN) == "scheduling policy p is used by job queue q"
    call.endpoint.step()
    assert call("DescribeJobQueues") == {"jobQueues": []}
    call("DeleteSchedulingPolicy", arn=POLICY_ARN)
    assert call.refused("CreateJobQueue", **queue()) == "scheduling policy p is being deleted"
    assert call.refused("UpdateSchedulingPolicy", arn=POLICY_ARN, **QUOTAS) == "scheduling policy p is being deleted"
    call("UpdateServiceEnvironment", serviceEnvironment="e", state="DISABLED")
    call("DeleteServiceEnvironment", serviceEnvironment="e")
    refused = call.refused("UpdateServiceEnvironment", serviceEnvironment="e", state="ENABLED")
    assert refused == "service environment e is being deleted"
    call.endpoint.step()
    assert call("DescribeServiceEnvironments") == {"serviceEnvironments": []}
    assert call("ListSchedulingPolicies") == {"schedulingPolicies": []}


def test_a_policy_is_declared_ready_to_use_where_the_endpoint_is_stepped() -> None:
    call = Caller(Policy.of({**Caller().endpoint.policies[0].document()}), pace=Pace(stepped=True))
    assert {found["status"] for found in call("ListQuotaShares", jobQueue=QUEUE)["quotaShares"]} == {"VALID"}
    assert call("DescribeJobQueues")["jobQueues"][0]["status"] == "VALID"


@pytest.mark.parametrize("limit", [None, 600])
def test_a_declared_policy_is_what_it_says(limit: int | None) -> None:
    document = Caller().endpoint.policies[0].document() | {"state": "DISABLED"}
    document["service_environment"]["state"] = "DISABLED"
    document["shares"]["QS2"]["state"] = "DISABLED"
    if limit:
        reason = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
        document["job_state_time_limits"] = [{"reason": reason, "max_seconds": limit}]
    call = Caller(Policy.of(document))
    queue = call.endpoint.account().queues[QUEUE]
    assert queue.schedule.clock.policy == call.endpoint.policies[0].model_copy(update={"queue": None})
