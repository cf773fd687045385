"""Stacks: the app's template and smaller ones, deployed by CloudFormation's own client."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from policy_engine.endpoint import Pace
from policy_engine.endpoint.with_moto import cloudformation
from policy_engine.endpoint.with_moto.cloudformation import JobQueue, QuotaShare, SchedulingPolicy, ServiceEnvironment
from tests.policy_engine.endpoint.calling import payload
from tests.policy_engine.endpoint.with_moto.serving import ACCOUNT, REGION, Services, services

TEMPLATE = Path(__file__).parents[3] / "stacks/__snapshots__/test_training_queue_stack/test_template.json"
"""Of the app: its own test holds the snapshot to it."""
UNIT = "ml.g5.xlarge"
KINDS = [SchedulingPolicy, ServiceEnvironment, JobQueue, QuotaShare]


@pytest.fixture(scope="module")
def served() -> Iterator[Services]:
    with services() as found:
        yield found


@pytest.fixture
def aws(served: Services) -> Services:
    """With nothing in it."""
    served.endpoint.reset()
    cloudformation_ = served("cloudformation")
    for stack in cloudformation_.describe_stacks()["Stacks"]:
        cloudformation_.delete_stack(StackName=stack["StackName"])
    return served


def share(name: str = "QS1", limit: int = 1, **properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::Batch::QuotaShare",
        "Properties": {
            "QuotaShareName": name,
            "JobQueue": {"Ref": "Queue"},
            "CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": limit}],
            "ResourceSharingConfiguration": {"Strategy": "LEND"},
            "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
            **properties,
        },
    }


def template(**resources: Any) -> dict[str, Any]:
    """A queue, with changes to some of its resources or more of them; None takes one out."""
    given: dict[str, Any] = {
        "Share": share(),
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": "1",
                "SchedulingPolicyArn": {"Fn::GetAtt": ["Policy", "Arn"]},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
            },
        },
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": 3}],
            },
        },
    }
    for name, changes in resources.items():
        if changes is None:
            del given[name]
        elif name in given and "Type" not in changes:
            given[name]["Properties"] = {**given[name]["Properties"], **changes}
        else:
            given[name] = changes
    return {"Resources": given, "Outputs": {"Queue": {"Value": {"Ref": "Queue"}}}}


def create(aws: Services, body: Mapping[str, Any], name: str = "stack") -> dict[str, str]:
    """The outputs of a new stack."""
    aws("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(body))
    return outputs(aws, "CREATE_COMPLETE", name)


def update(aws: Services, body: Mapping[str, Any]) -> dict[str, str]:
    aws("cloudformation").update_stack(StackName="stack", TemplateBody=json.dumps(body))
    return outputs(aws, "UPDATE_COMPLETE")


def outputs(aws: Services, status: str, name: str = "stack") -> dict[str, str]:
    [stack] = aws("cloudformation").describe_stacks(StackName=name)["Stacks"]
    assert stack["StackStatus"] == status
    return {output["OutputKey"]: output["OutputValue"] for output in stack["Outputs"]}


def everything(aws: Services) -> dict[str, Any]:
    """All that is there, but for what differs from stack to stack: the names that moto chooses, and the ARNs."""
    batch = aws("batch")
    queues = batch.describe_job_queues()["jobQueues"]
    arns = [policy["arn"] for policy in batch.list_scheduling_policies()["schedulingPolicies"]]
    found = {
        "policies": batch.describe_scheduling_policies(arns=arns)["schedulingPolicies"] if arns else [],
        "environments": batch.describe_service_environments()["serviceEnvironments"],
        "queues": queues,
        "shares": [
            batch.describe_quota_share(quotaShareArn=listed["quotaShareArn"])
            for queue in queues
            for listed in batch.list_quota_shares(jobQueue=queue["jobQueueArn"])["quotaShares"]
        ],
    }
    unlike = ("ResponseMetadata", "serviceEnvironmentOrder", "name", "serviceEnvironmentName", "jobQueueName")
    return {
        kind: [
            {
                member: value
                for member, value in resource.items()
                if not member.lower().endswith("arn") and member not in unlike
            }
            for resource in resources
        ]
        for kind, resources in found.items()
    }


def refused(call: Any, *arguments: Any) -> str:
    with pytest.raises(ClientError) as error:
        call(*arguments)
    assert error.value.response["Error"]["Code"] == "ValidationError"
    return str(error.value.response["Error"]["Message"])


# --- the app ---------------------------------------------------------------------------------------


def submit(aws: Services, queue: str, share: str, **more: Any) -> str:
    return str(
        aws("batch").submit_service_job(
            jobName="job",
            jobQueue=queue,
            quotaShareName=share,
            serviceJobType="SAGEMAKER_TRAINING",
            serviceRequestPayload=payload(),
            **more,
        )["jobId"]
    )


def states(aws: Services, *jobs: str) -> list[str]:
    return [aws("batch").describe_service_job(jobId=job)["status"] for job in jobs]


def test_the_app_is_created_schedules_is_updated_and_deleted(aws: Services) -> None:
    body = json.loads(TEMPLATE.read_text())
    queue = create(aws, body)["JobQueueName"]
    assert [found["status"] for found in everything(aws)["queues"]] == ["VALID"]

    high, med, low = (submit(aws, queue, "QS1", schedulingPriority=priority) for priority in (3, 2, 1))
    assert states(aws, high, med, low) == ["RUNNING", "RUNNING", "RUNNABLE"]
    owner = submit(aws, queue, "QS2", schedulingPriority=1)
    assert states(aws, high, med, low, owner) == ["RUNNING", "RUNNABLE", "RUNNABLE", "RUNNING"]

    [borrowing] = [
        resource["Properties"]
        for resource in body["Resources"].values()
        if resource["Properties"].get("QuotaShareName") == "QS1"
    ]
    borrowing["CapacityLimits"][0]["MaxCapacity"] = 2
    [environment] = [
        resource["Properties"]
        for resource in body["Resources"].values()
        if resource["Type"] == "AWS::Batch::ServiceEnvironment"
    ]
    environment["CapacityLimits"][0]["MaxCapacity"] = 4
    assert update(aws, body)["JobQueueName"] == queue
    assert states(aws, high, med, low, owner) == ["RUNNING", "RUNNING", "RUNNABLE", "RUNNING"]

    aws("cloudformation").delete_stack(StackName="stack")
    assert not any(everything(aws).values())
    assert states(aws, high, med, low, owner) == ["FAILED"] * 4, "R16"


def test_resources_are_of_the_account_and_region_of_the_stack(aws: Services) -> None:
    queue = create(aws, template())["Queue"]
    assert queue.startswith(f"arn:aws:batch:{REGION}:{ACCOUNT}:job-queue/stack-Queue-")


# --- what an update makes --------------------------------------------------------------------------

LIMITS = [
    {
        "Action": "TERMINATE",
        "MaxTimeSeconds": 600,
        "Reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
        "State": "RUNNABLE",
    }
]
CHANGES: dict[str, dict[str, Any]] = {
    "limits": {"Share": {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": 2}]}},
    "sharing": {"Share": {"ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 50}}},
    "preemption": {"Share": {"PreemptionConfiguration": {"InSharePreemption": "ENABLED"}}},
    "disabled": {"Share": {"State": "DISABLED"}, "Queue": {"State": "DISABLED"}},
    "environment": {"Environment": {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": 9}]}},
    "time limits": {"Queue": {"JobStateTimeLimitActions": LIMITS}},
    "priority": {"Queue": {"Priority": 7}},
    "tags": {"Queue": {"Tags": {"Team": "research", "lower": "x"}}, "Share": {"Tags": {"Team": "a"}}},
    "other tags": {"Queue": {"Tags": {"Team": "production"}}},
    "another share": {"Other": share("QS2")},
    "renamed share": {"Share": {"QuotaShareName": "QS3"}},
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_update_makes_what_a_new_stack_would(aws: Services, change: str) -> None:
    """There and back: also what the template no longer says."""
    create(aws, template())
    begin = everything(aws)
    update(aws, template(**deepcopy(CHANGES[change])))
    updated = everything(aws)
    update(aws, template())
    assert everything(aws) == begin
    aws("cloudformation").delete_stack(StackName="stack")
    create(aws, template(**deepcopy(CHANGES[change])))
    assert everything(aws) == updated != begin


def test_a_renamed_share_is_another_one(aws: Services) -> None:
    queue = create(aws, template())["Queue"]
    update(aws, template(Share={"QuotaShareName": "QS3"}))
    assert [found["quotaShareName"] for found in aws("batch").list_quota_shares(jobQueue=queue)["quotaShares"]] == [
        "QS3"
    ]


# --- what is refused -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (
            {"Share": {"ResourceSharingConfiguration": {"Strategy": "BOGUS"}}},
            "Share: resourceSharingConfiguration.strategy: 'BOGUS' is not one of RESERVE, LEND, LEND_AND_BORROW",
        ),
        ({"Share": {"Colour": "red"}}, "Share: Properties: no property Colour; there is CapacityLimits, JobQueue, "),
        ({"Share": {"state": "ENABLED"}}, "Share: Properties: no property state; there is "),
        (
            {"Share": {"CapacityLimits": [{"CapacityUnit": UNIT, "MaxCapacity": "many"}]}},
            "Share: capacityLimits[0].maxCapacity: ",
        ),
        ({"Share": {"QuotaShareName": "a b"}}, "Share: "),
        ({"Queue": {"JobQueueType": "EKS"}}, "Queue: jobQueueType: EKS; only quota-managed queues are served here"),
        ({"Environment": {"CapacityLimits": []}}, "Environment: capacityLimits: "),
    ],
)
def test_what_is_refused_names_resource_and_property(aws: Services, resources: dict[str, Any], message: str) -> None:
    assert refused(create, aws, template(**resources)).startswith(message)
    # moto does not roll back; deleting takes away what had been made
    aws("cloudformation").delete_stack(StackName="stack")
    assert not any(everything(aws).values())


@pytest.mark.parametrize(
    ("resources", "fixed"),
    [
        ({"Queue": {"JobQueueName": "other"}}, "Queue: JobQueueName"),
        ({"Policy": {"Name": "other"}}, "Policy: Name"),
        ({"Environment": {"ServiceEnvironmentName": "other"}}, "Environment: ServiceEnvironmentName"),
    ],
)
def test_what_others_refer_to_is_not_replaced(aws: Services, resources: dict[str, Any], fixed: str) -> None:
    create(aws, template())
    begin = everything(aws)
    told = refused(update, aws, template(**resources))
    assert told == (
        f"{fixed}: a change replaces the resource, and here CloudFormation does not tell those that refer to it: "
        "delete the stack, then create it anew"
    )
    assert everything(aws) == begin


def test_a_queue_with_shares_of_others_is_not_deleted_and_stays_as_it_was(aws: Services) -> None:
    queue = create(aws, template())["Queue"]
    properties = share("QS9")["Properties"]
    aws("batch").create_quota_share(
        quotaShareName="QS9",
        jobQueue=queue,
        capacityLimits=[{"capacityUnit": UNIT, "maxCapacity": 1}],
        resourceSharingConfiguration={"strategy": properties["ResourceSharingConfiguration"]["Strategy"]},
        preemptionConfiguration={"inSharePreemption": "DISABLED"},
    )
    told = refused(lambda: aws("cloudformation").delete_stack(StackName="stack"))
    assert "job queue" in told, "each of the three that are left says so, and moto passes on one"
    left = everything(aws)
    assert [found["state"] for found in left["queues"] + left["environments"]] == ["ENABLED", "ENABLED"]


def test_what_is_gone_already_is_no_error(aws: Services) -> None:
    queue = create(aws, template())["Queue"]
    batch = aws("batch")
    arn = f"{queue}/quota-share/QS1"
    batch.update_quota_share(quotaShareArn=arn, state="DISABLED")
    batch.delete_quota_share(quotaShareArn=arn)
    aws("cloudformation").delete_stack(StackName="stack")
    assert not any(everything(aws).values())


def test_an_attribute_that_there_is_none_of(aws: Services) -> None:
    body = template()
    body["Outputs"]["Queue"]["Value"] = {"Fn::GetAtt": ["Queue", "Colour"]}
    assert "Colour" in refused(create, aws, body)


def test_a_name_that_is_chosen_is_no_longer_than_a_name_may_be(aws: Services) -> None:
    name = "s" * 128
    aws("cloudformation").create_stack(StackName=name, TemplateBody=json.dumps(template()))
    queues = aws("batch").describe_job_queues()["jobQueues"]
    assert [len(queue["jobQueueName"]) for queue in queues] == [128]


def test_resources_are_valid_when_the_stack_is_complete_also_step_by_step() -> None:
    with services(pace=Pace(stepped=True)) as aws:
        create(aws, template())
        assert [found["status"] for found in everything(aws)["queues"]] == ["VALID"]


# --- the types, as CloudFormation's schemas have them ----------------------------------------------


def schema_of(kind: Any) -> dict[str, Any]:
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

    return dict(PROVIDER_SCHEMA_MANAGER.get_resource_schema(REGION, kind.cloudformation_type()).schema)


def names(pointers: list[str]) -> set[str]:
    return {pointer.rpartition("/")[2] for pointer in pointers}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.kind.noun)
def test_a_type_is_as_its_schema_says(kind: Any) -> None:
    schema = schema_of(kind)
    members = cloudformation._shape(f"Create{kind.kind.noun}").members
    attributes = names(schema["readOnlyProperties"])
    assert attributes == names(schema["primaryIdentifier"]) == {kind.kind.arn}
    properties = {name[0].lower() + name[1:]: name for name in schema["properties"].keys() - attributes}
    assert properties.keys() == members.keys()
    changeable = cloudformation._shape(f"Update{kind.kind.noun}").members
    fixed = {name for member, name in properties.items() if member not in changeable} - {"Tags"}
    assert fixed == names(schema["createOnlyProperties"])
    assert ("State" in schema["properties"]) is kind.kind.enabled
    assert kind.kind.name in schema["properties"]
