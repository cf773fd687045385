"""CloudFormation templates: values, links, parameters, and what is wrong or unknown in one line."""

import copy
import json
from typing import Any

import pytest

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import load, load_policy
from policy_engine.sources.declaration import QuotaShare, Unknown
from tests.policy_engine.sources.conftest import Write
from tests.policy_engine.sources.templates import Json, template_of

POLICY = Policy.of(
    {
        "queue": "gpu",
        "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}},
        "shares": {
            "QS1": {
                "capacity_limits": {"ml.g5.xlarge": 1},
                "strategy": "LEND_AND_BORROW",
                "borrow_limit": 200,
                "in_share_preemption": True,
            },
            "QS2": {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "LEND", "in_share_preemption": False},
        },
        "job_state_time_limits": [{"reason": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", "max_seconds": 600}],
    }
)
QUEUE, ENVIRONMENT, PLAN = "TrainingQueue0C", "TrainingEnvironment0B", "TrainingPolicy0A"
FIRST, SECOND = "TrainingShares00000000", "TrainingShares00000001"
ABSENT = object()


def template(*changes: tuple[str, Any]) -> Json:
    """The template of the policy above, changed: ``("ID.CapacityLimits.0.MaxCapacity", 0)``."""
    made = template_of(POLICY)
    for path, value in changes:
        logical_id, *parts = path.split(".")
        at: Any = made["Resources"][logical_id]
        if parts[0] not in ("Metadata", "Condition", "DependsOn"):
            at = at["Properties"]
        *way, last = [int(part) if part.isdecimal() else part for part in parts]
        for part in way:
            at = at[part]
        if value is ABSENT:
            del at[last]
        else:
            at[last] = copy.deepcopy(value)
    return made


def share_of(write: Write, made: Json, parameters: dict[str, str] | None = None) -> QuotaShare:
    name = write("t.json", json.dumps(made, indent=1))
    shares = load(name, parameters=parameters).declaration.quota_shares
    return next(share for share in shares if share.logical_id == FIRST)


# --- values --------------------------------------------------------------------------------------

SECTIONS: Json = {
    "Parameters": {
        "Number": {"Type": "Number", "Default": "2"},
        "Text": {"Type": "String", "Default": "007"},
        "List": {"Type": "CommaDelimitedList", "Default": "a, b,c"},
        "Numbers": {"Type": "List<Number>", "Default": "1, 2"},
        "Nothing": {"Type": "String"},
        "Stored": {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/a/b"},
    },
    "Mappings": {"Map": {"one": {"x": "found", "list": ["p", "q"]}}},
    "Conditions": {
        "Never": {"Fn::Equals": ["a", "b"]},
        "Yes": {"Fn::Equals": [{"Ref": "Number"}, 2]},
        "No": {"Fn::Not": [{"Condition": "Yes"}]},
        "Open": {"Fn::Equals": [{"Ref": "Nothing"}, "x"]},
        "Both": {"Fn::And": [{"Condition": "Yes"}, {"Condition": "Open"}]},
        "Settled": {"Fn::And": [{"Condition": "No"}, {"Condition": "Open"}]},
        "Either": {"Fn::Or": [{"Condition": "Open"}, {"Condition": "Yes"}]},
        "Circle": {"Fn::Not": [{"Condition": "Circle"}]},
        "Odd": {"Fn::Contains": [["a"], "a"]},
    },
}
NOTHING = "Nothing has no default; give it with --parameter Nothing=VALUE"
REGION = "AWS::Region depends on the deployment; give it with --parameter AWS::Region=VALUE"


def chosen(condition: str) -> Json:
    return {"Fn::If": [condition, "then", "else"]}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("plain", "plain"),
        (7, "7"),
        (True, "true"),
        ({"Ref": "Text"}, "007"),
        ({"Ref": "Number"}, "2"),
        ({"Ref": "AWS::NoValue"}, None),
        ({"Fn::Sub": "${Text}-${!Text}-${ Number }"}, "007-${Text}-2"),
        ({"Fn::Sub": ["${a}${Text}", {"a": {"Ref": "Number"}}]}, "2007"),
        ({"Fn::Join": ["-", ["a", {"Ref": "Number"}, 3, {"Ref": "AWS::NoValue"}]]}, "a-2-3"),
        ({"Fn::Join": ["", {"Ref": "List"}]}, "abc"),
        ({"Fn::Select": [1, {"Ref": "List"}]}, "b"),
        ({"Fn::Select": ["0", {"Fn::Split": ["-", "a-b"]}]}, "a"),
        ({"Fn::Select": [1, [{"Ref": "Nothing"}, "known"]]}, "known"),
        ({"Fn::Select": [1, {"Ref": "Numbers"}]}, "2"),
        ({"Fn::FindInMap": ["Map", "one", "x"]}, "found"),
        ({"Fn::Select": [1, {"Fn::FindInMap": ["Map", "one", "list"]}]}, "q"),
        ({"Fn::FindInMap": ["Map", "two", "x", {"DefaultValue": "other"}]}, "other"),
        (chosen("Yes"), "then"),
        (chosen("No"), "else"),
        (chosen("Settled"), "else"),
        (chosen("Either"), "then"),
        ({"Fn::If": ["No", {"Ref": "Nothing"}, {"Ref": "AWS::NoValue"}]}, None),
    ],
)
def test_values_that_are_known(write: Write, value: object, expected: object) -> None:
    made = template((f"{FIRST}.QuotaShareName", value)) | SECTIONS
    assert share_of(write, made).name == expected


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"Ref": "Nothing"}, NOTHING),
        ({"Ref": "Stored"}, "parameter Stored is read from Systems Manager"),
        ({"Ref": "AWS::Region"}, REGION),
        ({"Ref": "Nobody"}, "the template has no parameter or resource 'Nobody'"),
        ({"Ref": PLAN}, f"it comes from resource '{PLAN}'"),
        ({"Fn::GetAtt": [PLAN, "Arn"]}, f"it comes from resource '{PLAN}'"),
        ({"Fn::GetAtt": "Nobody.Arn"}, "the template has no resource 'Nobody'"),
        ({"Fn::Sub": "a-${AWS::Region}"}, REGION),
        ({"Fn::Sub": "a-${TrainingPolicy0A.Arn}"}, f"it comes from resource '{PLAN}'"),
        ({"Fn::Join": ["", ["a", {"Ref": "Nothing"}]]}, NOTHING),
        ({"Fn::Select": [0, {"Fn::Split": ["-", {"Ref": "Nothing"}]}]}, NOTHING),
        ({"Fn::Select": [{"Ref": "Nothing"}, ["a"]]}, NOTHING),
        ({"Fn::FindInMap": ["Map", {"Ref": "Nothing"}, "x"]}, NOTHING),
        (chosen("Open"), f"condition 'Open': {NOTHING}"),
        (chosen("Both"), f"condition 'Both': condition 'Open': {NOTHING}"),
        (chosen("Circle"), "condition 'Circle': condition 'Circle' depends on itself"),
        (chosen("Odd"), "condition 'Odd': the condition function Fn::Contains"),
        (chosen("None"), "the template has no condition 'None'"),
        ({"Fn::ImportValue": "Shared"}, "the import of 'Shared'"),
        ({"Fn::ImportValue": {"Fn::Sub": "${AWS::Region}-x"}}, "the import of an unknown name"),
        ({"Fn::GetStackOutput": {"StackName": "Net", "OutputName": "Q"}}, "output 'Q' of stack 'Net'"),
        ({"Fn::Transform": {"Name": "X"}}, "the function Fn::Transform"),
        ("{{resolve:ssm:/a/b:1}}", "the dynamic reference {{resolve:ssm:/a/b:1}}"),
        ({"Fn::Sub": "{{resolve:ssm:${Text}}}"}, "the dynamic reference {{resolve:ssm:007}}"),
        ({"Fn::Select": [3, ["a"]]}, "Fn::Select needs an index within a list"),
        ({"Fn::Select": "a"}, "Fn::Select needs an index and a list"),
        ({"Fn::Join": ["", "a"]}, "Fn::Join needs a delimiter and a list"),
        ({"Fn::Join": ["", [["a"]]]}, "Fn::Join needs texts to join"),
        ({"Fn::Split": ["", "a"]}, "Fn::Split needs a delimiter and a text"),
        ({"Fn::Sub": [1, 2]}, "Fn::Sub needs a text, or a text and a mapping"),
        ({"Fn::If": ["Yes"]}, "Fn::If needs a condition and two values"),
        ({"Fn::GetAtt": "Queue"}, "Fn::GetAtt needs a resource and an attribute"),
        ({"Fn::FindInMap": ["Map", "two", "x"]}, "Fn::FindInMap finds nothing for 'Map', 'two', 'x'"),
        ({"Ref": ["a"]}, "Ref needs a name"),
        ({"Fn::GetStackOutput": "a"}, "Fn::GetStackOutput needs a StackName and an OutputName"),
    ],
)
def test_values_that_are_not_known_say_why(write: Write, value: object, reason: str) -> None:
    made = template((f"{FIRST}.QuotaShareName", value)) | SECTIONS
    name = share_of(write, made).name
    assert isinstance(name, Unknown)
    assert (name.reason, name.logical_id, name.property) == (reason, FIRST, "QuotaShareName")


@pytest.mark.parametrize(
    ("written", "number"),
    [("3", 3), ("3.0", 3.0), (3, 3), (-1, -1), ({"Ref": "Number"}, 2), ({"Ref": "Text"}, 7), ("three", "three")],
)
def test_cloudformation_takes_text_for_a_number(write: Write, written: object, number: object) -> None:
    made = template((f"{FIRST}.CapacityLimits.0.MaxCapacity", written)) | SECTIONS
    limits = share_of(write, made).capacity_limits
    assert isinstance(limits, tuple)
    assert limits[0].maximum == number


def test_an_unknown_part_makes_all_below_it_unknown(write: Write) -> None:
    share = share_of(
        write,
        template(
            (f"{FIRST}.ResourceSharingConfiguration", {"Fn::ImportValue": "S"}),
            (f"{FIRST}.CapacityLimits", [{"Fn::ImportValue": "L"}]),
        ),
    )
    assert isinstance(share.strategy, Unknown)
    assert share.strategy == share.borrow_limit
    assert share.strategy.property == "ResourceSharingConfiguration"
    assert isinstance(share.capacity_limits, tuple)
    assert isinstance(share.capacity_limits[0].unit, Unknown)
    assert share.capacity_limits[0].unit.property == "CapacityLimits[0]"


def test_the_unknown_values_of_a_queue_are_listed_once(write: Write) -> None:
    made = template(
        (f"{QUEUE}.JobQueueName", {"Fn::ImportValue": "N"}),
        (f"{FIRST}.ResourceSharingConfiguration", {"Fn::ImportValue": "S"}),
        (f"{SECOND}.Tags", [{"Key": "a", "Value": {"Fn::ImportValue": "T"}}]),
    )
    (queue,) = load(write("t.json", json.dumps(made))).queues
    assert [(u.logical_id, u.property) for u in queue.unknowns] == [
        (QUEUE, "JobQueueName"),
        (FIRST, "ResourceSharingConfiguration"),
    ]
    assert queue.name == QUEUE


# --- links ---------------------------------------------------------------------------------------

ARN = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpu"


@pytest.mark.parametrize(
    ("value", "is_reference"),
    [
        ({"Ref": QUEUE}, True),
        ({"Fn::GetAtt": [QUEUE, "JobQueueArn"]}, True),
        ({"Fn::GetAtt": f"{QUEUE}.JobQueueArn"}, True),
        ({"Fn::Sub": f"${{{QUEUE}}}"}, True),
        ({"Fn::Sub": ["${q}", {"q": {"Ref": QUEUE}}]}, True),
        ({"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": QUEUE}]}]}, True),
        ({"Fn::Join": ["", [{"Ref": QUEUE}]]}, True),
        ("gpu", False),
        (ARN, False),
        ({"Ref": "Name"}, False),
    ],
)
def test_links_to_the_queue(write: Write, value: object, is_reference: bool) -> None:
    made = template((f"{FIRST}.JobQueue", value)) | {"Parameters": {"Name": {"Type": "String", "Default": "gpu"}}}
    (queue,) = load(write("t.json", json.dumps(made))).queues
    assert [share.name for share in queue.shares] == ["QS1", "QS2"]
    assert queue.shares[0].queue is not None
    assert queue.shares[0].queue.is_reference is is_reference


@pytest.mark.parametrize(
    "value",
    [
        "other",
        "arn:aws:batch:eu-west-1:123456789012:scheduling-policy/gpu",
        {"Ref": PLAN},
        {"Ref": "Name"},
        {"Fn::Join": ["", [{"Ref": QUEUE}, {"Ref": PLAN}]]},
        None,
    ],
)
def test_shares_of_no_declared_queue_are_strays(write: Write, value: object) -> None:
    made = template((f"{FIRST}.JobQueue", value)) | {"Parameters": {"Name": {"Type": "String"}}}
    declaration = load(write("t.json", json.dumps(made))).declaration
    assert [share.name for share in declaration.stray_shares] == ["QS1"]
    assert [share.name for share in declaration.queues[0].shares] == ["QS2"]


def test_a_queue_is_quota_managed_by_its_policy_or_its_shares(write: Write) -> None:
    made = template()
    made["Resources"]["Other"] = copy.deepcopy(made["Resources"][QUEUE])
    del made["Resources"]["Other"]["Properties"]["JobQueueName"]
    made["Resources"]["Plain"] = {
        "Type": "AWS::Batch::JobQueue",
        "Properties": {"Priority": 1, "ComputeEnvironmentOrder": [{"Order": 1, "ComputeEnvironment": "c"}]},
    }
    made["Resources"][SECOND]["Properties"]["JobQueue"] = {"Ref": "Plain"}
    source = load(write("t.json", json.dumps(made)))
    assert [queue.name for queue in source.queues] == ["gpu", "Other", "Plain"]
    assert source.declaration.job_queues[2].compute_environments
    del made["Resources"][SECOND]
    assert [queue.name for queue in load(write("t.json", json.dumps(made))).queues] == ["gpu", "Other"]


def test_a_scheduling_policy_is_linked_by_its_arn_not_by_its_name(write: Write) -> None:
    arn = "arn:aws:batch:eu-west-1:123456789012:scheduling-policy/plan"
    for value, found in ((arn, True), ("plan", False)):
        made = template((f"{QUEUE}.SchedulingPolicyArn", value), (f"{PLAN}.Name", "plan"))
        (queue,) = load(write("t.json", json.dumps(made))).queues
        assert (queue.scheduling_policy is not None) is found


# --- existence -----------------------------------------------------------------------------------


def test_a_resource_of_a_false_condition_is_not_there(write: Write) -> None:
    made = template((f"{FIRST}.Condition", "No"), (f"{SECOND}.Condition", "Yes")) | SECTIONS
    policy = load_policy(write("t.json", json.dumps(made)))
    assert list(policy.shares) == ["QS2"]


def test_a_resource_of_an_unknown_condition_may_be_there(write: Write) -> None:
    made = template((f"{FIRST}.Condition", "Open")) | SECTIONS
    name = write("t.json", json.dumps(made, indent=1))
    (queue,) = load(name).queues
    assert [(u.logical_id, u.property, u.reason) for u in queue.unknowns] == [
        (FIRST, "Condition", f"condition 'Open': {NOTHING}")
    ]
    assert list(load_policy(name, parameters={"Nothing": "y"}).shares) == ["QS2"]
    assert list(load_policy(name, parameters={"Nothing": "x"}).shares) == ["QS1", "QS2"]


# --- parameters ----------------------------------------------------------------------------------


def parameter(**spec: Any) -> Json:
    made = template((f"{FIRST}.CapacityLimits.0.MaxCapacity", {"Ref": "Limit"}))
    return {"Parameters": {"Limit": spec}} | made


@pytest.mark.parametrize(
    ("spec", "given", "value"),
    [
        ({"Type": "Number"}, "4", 4),
        ({"Type": "Number", "Default": 2}, "4", 4),
        ({"Type": "Number", "Default": 2}, None, 2),
        ({"Type": "Number", "AllowedValues": [2, "4"]}, "4", 4),
        ({"Type": "Number", "MinValue": 4, "MaxValue": "4"}, "4", 4),
        ({"Type": "String", "AllowedPattern": "[0-9]+", "MinLength": 1, "MaxLength": 1}, "4", 4),
        ({"Type": "String", "AllowedPattern": "\\p{Digit}+"}, "4", 4),
        ({}, "4", 4),
    ],
)
def test_parameters_have_the_given_value_or_their_default(
    write: Write, spec: Json, given: str | None, value: int
) -> None:
    name = write("t.json", json.dumps(parameter(**spec)))
    policy = load_policy(name, parameters={} if given is None else {"Limit": given})
    assert policy.shares["QS1"].limit("ml.g5.xlarge") == value


@pytest.mark.parametrize(
    ("spec", "given", "line"),
    [
        ({"Type": "Number"}, {"Limt": "4"}, "--parameter Limt: there is no such parameter; did you mean 'Limit'?"),
        ({"Type": "Number"}, {"Other": "4"}, "--parameter Other: there is no such parameter"),
        ({"Type": "Number"}, {"Limit": "four"}, "--parameter Limit: 'four' is not a number"),
        ({"Type": "Number"}, {"Limit": ""}, "--parameter Limit: '' is not a number"),
        ({"AllowedValues": ["1", 2]}, {"Limit": "4"}, "--parameter Limit: '4' is not one of 1, 2"),
        ({"AllowedPattern": "[a-z]"}, {"Limit": "4"}, "--parameter Limit: '4' does not match [a-z]"),
        (
            {"Type": "Number", "MinValue": 5},
            {"Limit": "4"},
            "--parameter Limit: 4 is out of range: at least 5 is allowed",
        ),
        (
            {"Type": "Number", "MaxValue": 3},
            {"Limit": "4"},
            "--parameter Limit: 4 is out of range: at most 3 is allowed",
        ),
        (
            {"MinLength": 2},
            {"Limit": "4"},
            "--parameter Limit: the length of '4' is out of range: at least 2 is allowed",
        ),
        (
            {"MaxLength": 0},
            {"Limit": "4"},
            "--parameter Limit: the length of '4' is out of range: at most 0 is allowed",
        ),
        ({"Type": "List<Number>"}, {"Limit": "1,x"}, "--parameter Limit: 'x' is not a number"),
    ],
)
def test_parameters_that_are_not_allowed(write: Write, spec: Json, given: dict[str, str], line: str) -> None:
    name = write("t.json", json.dumps(parameter(**spec)))
    with pytest.raises(InputError) as caught:
        load(name, parameters=given)
    assert str(caught.value) == f"t.json: {line}"


def test_a_default_that_is_not_allowed(write: Write) -> None:
    name = write("t.json", json.dumps(parameter(Type="Number", Default="x"), indent=1))
    with pytest.raises(InputError) as caught:
        load(name)
    assert str(caught.value) == "t.json:5:4: Parameters.Limit.Default: 'x' is not a number"


def test_pseudo_parameters_can_be_given(write: Write) -> None:
    made = template((f"{FIRST}.QuotaShareName", {"Fn::Sub": "QS-${AWS::Region}"}))
    name = write("t.json", json.dumps(made))
    assert "QS-eu-west-1" in load_policy(name, parameters={"AWS::Region": "eu-west-1"}).shares


# --- what is wrong -------------------------------------------------------------------------------

NAME = "1 to 128 letters, digits, '-' and '_' are allowed"
BAD: dict[str, tuple[list[tuple[str, Any]], str]] = {
    "share name": ([(f"{FIRST}.QuotaShareName", "a b")], f"{FIRST}.QuotaShareName: 'a b' is not a name: {NAME}"),
    "no share name": ([(f"{FIRST}.QuotaShareName", ABSENT)], f"{FIRST}.QuotaShareName: required, but missing"),
    "share name a list": ([(f"{FIRST}.QuotaShareName", ["a"])], f"{FIRST}.QuotaShareName: ['a'] is not a string"),
    "share name twice": (
        [(f"{SECOND}.QuotaShareName", "QS1")],
        f"{SECOND}.QuotaShareName: a second quota share 'QS1' on the queue",
    ),
    "queue name": ([(f"{QUEUE}.JobQueueName", "a b")], f"{QUEUE}.JobQueueName: 'a b' is not a name: {NAME}"),
    "capacity 0": (
        [(f"{FIRST}.CapacityLimits.0.MaxCapacity", 0)],
        f"{FIRST}.CapacityLimits[0].MaxCapacity: 0 is out of range: 1 or more is allowed",
    ),
    "capacity unknown": (
        [(f"{FIRST}.CapacityLimits.0.MaxCapacity", {"Ref": "AWS::AccountId"})],
        f"{FIRST}.CapacityLimits[0].MaxCapacity: unknown until deployment: AWS::AccountId depends on the deployment;"
        " give it with --parameter AWS::AccountId=VALUE",
    ),
    "no capacity": (
        [(f"{FIRST}.CapacityLimits.0.MaxCapacity", ABSENT)],
        f"{FIRST}.CapacityLimits[0].MaxCapacity: required, but missing",
    ),
    "no unit": (
        [(f"{FIRST}.CapacityLimits.0.CapacityUnit", ABSENT)],
        f"{FIRST}.CapacityLimits[0].CapacityUnit: required, but missing",
    ),
    "NUM_INSTANCES": (
        [(f"{ENVIRONMENT}.CapacityLimits.0.CapacityUnit", "NUM_INSTANCES")],
        f"{ENVIRONMENT}.CapacityLimits[0].CapacityUnit: 'NUM_INSTANCES' is not a SageMaker instance type such as"
        " 'ml.g5.xlarge'",
    ),
    "unit twice": (
        [(f"{FIRST}.CapacityLimits", [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}] * 2)],
        f"{FIRST}.CapacityLimits[1].CapacityUnit: a second limit for 'ml.g5.xlarge'",
    ),
    "no limits": ([(f"{FIRST}.CapacityLimits", [])], f"{FIRST}.CapacityLimits: 0 capacity limits; 1 to 5 are allowed"),
    "limits missing": ([(f"{FIRST}.CapacityLimits", ABSENT)], f"{FIRST}.CapacityLimits: required, but missing"),
    "limits a text": ([(f"{FIRST}.CapacityLimits", "x")], f"{FIRST}.CapacityLimits: 'x' is not a list"),
    "limit a text": ([(f"{FIRST}.CapacityLimits", ["x"])], f"{FIRST}.CapacityLimits[0]: 'x' is not a mapping"),
    "strategy": (
        [(f"{FIRST}.ResourceSharingConfiguration.Strategy", "BORROW")],
        f"{FIRST}.ResourceSharingConfiguration.Strategy: 'BORROW' is not one of RESERVE, LEND, LEND_AND_BORROW",
    ),
    "no sharing": (
        [(f"{FIRST}.ResourceSharingConfiguration", ABSENT)],
        f"{FIRST}.ResourceSharingConfiguration.Strategy: required, but missing",
    ),
    "sharing a text": (
        [(f"{FIRST}.ResourceSharingConfiguration", "LEND")],
        f"{FIRST}.ResourceSharingConfiguration: 'LEND' is not a mapping",
    ),
    "borrow limit": (
        [(f"{FIRST}.ResourceSharingConfiguration.BorrowLimit", -5)],
        f"{FIRST}.ResourceSharingConfiguration.BorrowLimit: -5 is out of range: -1 or more is allowed",
    ),
    "borrow limit and strategy": (
        [(f"{FIRST}.ResourceSharingConfiguration.Strategy", "LEND")],
        f"{FIRST}.ResourceSharingConfiguration.BorrowLimit: a borrow limit is only valid with LEND_AND_BORROW, not"
        " with LEND",
    ),
    "preemption": (
        [(f"{FIRST}.PreemptionConfiguration.InSharePreemption", "ON")],
        f"{FIRST}.PreemptionConfiguration.InSharePreemption: 'ON' is not one of ENABLED, DISABLED",
    ),
    "no preemption": (
        [(f"{FIRST}.PreemptionConfiguration", ABSENT)],
        f"{FIRST}.PreemptionConfiguration.InSharePreemption: required, but missing",
    ),
    "state": ([(f"{FIRST}.State", "enabled")], f"{FIRST}.State: 'enabled' is not one of ENABLED, DISABLED"),
    "queue type": (
        [(f"{QUEUE}.JobQueueType", "ECS")],
        f"{QUEUE}.JobQueueType: 'ECS' is not SAGEMAKER_TRAINING; a queue with quota shares is of type"
        " SAGEMAKER_TRAINING",
    ),
    "no queue type": (
        [(f"{QUEUE}.JobQueueType", ABSENT)],
        f"{QUEUE}.JobQueueType: required, but missing; a queue with quota shares is of type SAGEMAKER_TRAINING",
    ),
    "no policy": (
        [(f"{QUEUE}.SchedulingPolicyArn", ABSENT)],
        f"{QUEUE}.SchedulingPolicyArn: required, but missing; quota shares need a scheduling policy with a"
        " QuotaSharePolicy",
    ),
    "fair-share policy": (
        [(f"{PLAN}.QuotaSharePolicy", ABSENT), (f"{PLAN}.FairsharePolicy", {})],
        f"{PLAN}: no QuotaSharePolicy; quota shares need a QuotaSharePolicy alone",
    ),
    "both policies": (
        [(f"{PLAN}.FairsharePolicy", {})],
        f"{PLAN}: both a QuotaSharePolicy and a FairsharePolicy; quota shares need a QuotaSharePolicy alone",
    ),
    "unknown policy": (
        [(f"{PLAN}.QuotaSharePolicy", {"Fn::ImportValue": "P"})],
        f"{PLAN}.QuotaSharePolicy.IdleResourceAssignmentStrategy: unknown until deployment: the import of 'P'",
    ),
    "no environment": (
        [(f"{QUEUE}.ServiceEnvironmentOrder", [])],
        f"{QUEUE}.ServiceEnvironmentOrder: 0 service environments; a queue with quota shares has exactly 1",
    ),
    "unnamed environment": (
        [(f"{QUEUE}.ServiceEnvironmentOrder", [{"Order": 1}])],
        f"{QUEUE}.ServiceEnvironmentOrder[0].ServiceEnvironment: required, but missing",
    ),
    "environment elsewhere": (
        [(f"{QUEUE}.ServiceEnvironmentOrder.0.ServiceEnvironment", "shared")],
        f"{QUEUE}.ServiceEnvironmentOrder[0].ServiceEnvironment: the service environment 'shared' is not declared here,"
        " so its capacity is unknown",
    ),
    "environment imported": (
        [(f"{QUEUE}.ServiceEnvironmentOrder.0.ServiceEnvironment", {"Fn::ImportValue": "E"})],
        f"{QUEUE}.ServiceEnvironmentOrder[0].ServiceEnvironment: unknown until deployment: the import of 'E'",
    ),
    "time limit": (
        [(f"{QUEUE}.JobStateTimeLimitActions.0.MaxTimeSeconds", 1)],
        f"{QUEUE}.JobStateTimeLimitActions[0].MaxTimeSeconds: 1 is out of range: 600 to 86400 is allowed",
    ),
    "time limit's action": (
        [(f"{QUEUE}.JobStateTimeLimitActions.0.Action", "CANCEL")],
        f"{QUEUE}.JobStateTimeLimitActions[0].Action: 'CANCEL' is not TERMINATE",
    ),
    "ignored": (
        [(f"{FIRST}.Metadata", {"PolicyEngine": {"Ignore": [{"Finding": "QM106"}]}})],
        f"{FIRST}.Metadata.PolicyEngine.Ignore[0]: because: required, but missing",
    ),
}


@pytest.mark.parametrize(("changes", "line"), BAD.values(), ids=BAD.keys())
def test_what_is_wrong_is_one_line_at_its_place(write: Write, changes: list[tuple[str, Any]], line: str) -> None:
    name = write("t.json", json.dumps(template(*changes), indent=1))
    with pytest.raises(InputError) as caught:
        load_policy(name)
    assert f"{caught.value.key}: {caught.value.message}" == line
    assert str(caught.value) == f"t.json:{caught.value.line}:{caught.value.column}: {line}"


@pytest.mark.parametrize(
    ("case", "at"),
    [
        ("capacity 0", '"MaxCapacity": 0'),
        ("no capacity", '{\n      "CapacityUnit"'),  # absent: the entry of the list
        ("share name", '"QuotaShareName": "a b"'),
        ("no sharing", '"Properties": {'),  # absent: what would hold it
        ("both policies", f'"{PLAN}": {{'),
        ("strategy", '"Strategy": "BORROW"'),
    ],
)
def test_the_place_is_that_of_the_property_or_of_what_would_hold_it(write: Write, case: str, at: str) -> None:
    text = json.dumps(template(*BAD[case][0]), indent=1)
    with pytest.raises(InputError) as caught:
        load_policy(write("t.json", text))
    assert caught.value.line is not None
    assert caught.value.column is not None
    lines = text.split("\n")[caught.value.line - 1 :]
    assert "\n".join(lines)[caught.value.column - 1 :].startswith(at)


STRUCTURE = {
    "resources a list": ({"Resources": []}, "Resources: a list is not a mapping"),
    "resource a text": ({"Resources": {"A": "x"}}, "Resources.A: 'x' is not a mapping"),
    "properties a list": (
        {"Resources": {"A": {"Type": "AWS::Batch::QuotaShare", "Properties": ["x"]}}},
        "A: a list is not a mapping",
    ),
    "each": (
        {"Resources": {"Fn::ForEach::Shares": ["N", ["a"], {}]}},
        "Resources.Fn::ForEach::Shares: Fn::ForEach is not read; give the processed template (aws cloudformation"
        " get-template --template-stage Processed)",
    ),
}


@pytest.mark.parametrize(("made", "line"), STRUCTURE.values(), ids=STRUCTURE.keys())
def test_what_is_no_template(write: Write, made: Json, line: str) -> None:
    with pytest.raises(InputError) as caught:
        load(write("t.json", json.dumps(made)))
    assert f"{caught.value.key}: {caught.value.message}" == line


@pytest.mark.parametrize(
    "noise",
    [
        {"Parameters": []},
        {"Parameters": {"P": 1}},
        {"Mappings": 1},
        {"Conditions": "x"},
        {"Outputs": []},
        {"Metadata": 1},
    ],
)
def test_what_does_not_matter_may_be_wrong(write: Write, noise: Json) -> None:
    made = template() | noise
    made["Resources"]["Bucket"] = {"Type": "AWS::S3::Bucket", "Properties": 3, "Condition": "Never"}
    made["Resources"]["Odd"] = {"Type": ["x"]}
    assert load_policy(write("t.json", json.dumps(made))) == POLICY


@pytest.mark.parametrize("metadata", [None, 1, {}, {"PolicyEngine": None}, {"PolicyEngine": {"Ignore": None}}])
def test_metadata_without_ignored_findings(write: Write, metadata: object) -> None:
    assert share_of(write, template((f"{FIRST}.Metadata", metadata))).ignores == ()


def test_ignored_findings_depends_on_and_construct_path(write: Write) -> None:
    share = share_of(
        write,
        template(
            (
                f"{FIRST}.Metadata",
                {
                    "aws:cdk:path": "App/Training/Shares/QS1/Resource",
                    "PolicyEngine": {"Ignore": [{"finding": "QM106", "because": "agreed"}]},
                },
            ),
            (f"{FIRST}.DependsOn", [QUEUE, ENVIRONMENT]),
        ),
    )
    assert [(i.finding, i.because, i.place.key) for i in share.ignores] == [
        ("QM106", "agreed", f"{FIRST}.Metadata.PolicyEngine.Ignore[0]")
    ]
    assert share.depends_on == (QUEUE, ENVIRONMENT)
    assert share.place.construct_path == "App/Training/Shares/QS1/Resource"
    assert share.where("name").construct_path == "App/Training/Shares/QS1/Resource"


def test_names_are_fixed_where_they_are_given(write: Write) -> None:
    made = template((f"{PLAN}.Name", {"Fn::Sub": "${AWS::StackName}-plan"}))
    declaration = load(write("t.json", json.dumps(made))).declaration
    assert [queue.fixed_name for queue in declaration.job_queues] == [True]
    assert [policy.fixed_name for policy in declaration.scheduling_policies] == [True]
    assert [environment.fixed_name for environment in declaration.service_environments] == [False]


def test_values_stay_as_they_are_written(write: Write) -> None:
    share = share_of(
        write,
        template(
            (f"{FIRST}.ResourceSharingConfiguration.Strategy", "lend_and_borrow"),
            (f"{FIRST}.PreemptionConfiguration.InSharePreemption", "enabled"),
            (f"{FIRST}.CapacityLimits.0.MaxCapacity", -3),
            (f"{FIRST}.State", ABSENT),
        ),
    )
    assert (share.strategy, share.in_share_preemption, share.state) == ("lend_and_borrow", "enabled", None)
    assert isinstance(share.capacity_limits, tuple)
    assert share.capacity_limits[0].maximum == -3


def test_conditions_that_double_are_decided_once(write: Write) -> None:
    conditions: Json = {"C0": {"Fn::Equals": ["a", "a"]}}
    for index in range(60):
        twice = {"Condition": f"C{index}"}
        conditions[f"C{index + 1}"] = {"Fn::And": [twice, twice]}
    made = template((f"{FIRST}.QuotaShareName", {"Fn::If": ["C60", "yes", "no"]})) | {"Conditions": conditions}
    assert share_of(write, made).name == "yes"


def test_a_chain_of_conditions_without_end(write: Write) -> None:
    conditions: Json = {f"C{index}": {"Fn::Not": [{"Condition": f"C{index + 1}"}]} for index in range(5000)}
    made = template((f"{FIRST}.QuotaShareName", {"Fn::If": ["C0", "yes", "no"]})) | {"Conditions": conditions}
    with pytest.raises(InputError) as caught:
        load(write("t.json", json.dumps(made)))
    assert str(caught.value) == "t.json: values that refer to each other without end"
