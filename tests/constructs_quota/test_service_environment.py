from typing import Any

import aws_cdk as cdk
import jsii
import pytest
from aws_cdk import aws_batch as batch
from syrupy.assertion import SnapshotAssertion

from constructs_quota import QuotaServiceEnvironment, State
from tests.synthesis import number_token, only, template_of, warnings_of

ARN = "arn:aws:batch:eu-west-1:123456789012:service-environment/gpus"
ONE = {"ml.g5.xlarge": 1}
SIX = {f"ml.g5.{size}xlarge": 1 for size in (2, 4, 8, 12, 16, 24)}


@jsii.implements(cdk.IStableAnyProducer)
class Three:
    def produce(self) -> int:
        return 3


def test_template(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    QuotaServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 8, "ml.g5.12xlarge": 4})

    assert template_of(stack) == snapshot


def test_emits_what_it_is_told(stack: cdk.Stack) -> None:
    QuotaServiceEnvironment(
        stack, "Environment", capacity_limits=ONE, service_environment_name="gpus", state=State.DISABLED
    )

    assert only(template_of(stack), "ServiceEnvironment") == {
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}],
        "ServiceEnvironmentName": "gpus",
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "State": "DISABLED",
    }


@pytest.mark.parametrize(
    ("key", "argument", "problem"),
    [
        ("capacity_limits", {}, "capacity_limits: 0 capacity limits; 1 to 5 are allowed"),
        ("capacity_limits", SIX, "capacity_limits: 6 capacity limits; 1 to 5 are allowed"),
        ("capacity_limits", None, "capacity_limits: None is not a mapping of instance type to instances"),
        ("capacity_limits", [{"capacity_unit": "ml.g5.xlarge", "max_capacity": 1}], "is not a mapping"),
        ("capacity_limits", {"capacity_unit": "ml.g5.xlarge"}, "capacity_limits: 'capacity_unit' is not a SageMaker"),
        ("capacity_limits", {"NUM_INSTANCES": 3}, "capacity_limits: 'NUM_INSTANCES' is not a SageMaker instance type"),
        ("capacity_limits", {"g5.xlarge": 3}, "capacity_limits: 'g5.xlarge' is not a SageMaker instance type"),
        ("capacity_limits", {7: 3}, "capacity_limits: 7 is not a string"),
        ("capacity_limits", {"ml.g5.xlarge": 2.5}, "capacity_limits['ml.g5.xlarge']: 2.5 is not a whole number"),
        ("capacity_limits", {"ml.g5.xlarge": True}, "capacity_limits['ml.g5.xlarge']: True is not a whole number"),
        ("capacity_limits", {"ml.g5.xlarge": "2"}, "capacity_limits['ml.g5.xlarge']: '2' is not a whole number"),
        ("capacity_limits", {"ml.g5.xlarge": None}, "capacity_limits['ml.g5.xlarge']: None is not a whole number"),
        ("capacity_limits", {"ml.g5.xlarge": float("nan")}, "capacity_limits['ml.g5.xlarge']: nan is not a whole"),
        ("capacity_limits", {"ml.g5.xlarge": float("inf")}, "capacity_limits['ml.g5.xlarge']: inf is not a whole"),
        ("capacity_limits", {"ml.g5.xlarge": 0}, "capacity_limits['ml.g5.xlarge']: 0 is out of range: 1 or more"),
        ("capacity_limits", {"ml.g5.xlarge": -1}, "capacity_limits['ml.g5.xlarge']: -1 is out of range: 1 or more"),
        ("service_environment_name", "a/b", "service_environment_name: 'a/b' is not a name"),
        ("state", "enabled", "state: 'enabled' is not one of ENABLED, DISABLED"),
        ("state", None, "state: None is not one of ENABLED, DISABLED"),
    ],
)
def test_refuses(stack: cdk.Stack, key: str, argument: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Environment: ") as refused:
        QuotaServiceEnvironment(stack, "Environment", **{"capacity_limits": ONE, key: argument})

    assert problem in str(refused.value)
    assert stack.node.try_find_child("Environment") is None


def test_names_everything_that_is_wrong(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match="Stack/Environment: ") as refused:
        QuotaServiceEnvironment(stack, "Environment", capacity_limits={"g5": 0}, state="on")  # type: ignore[arg-type]

    assert [line.split(": ")[1] for line in str(refused.value).splitlines()] == [
        "capacity_limits",
        "capacity_limits['g5']",
        "state",
    ]


def test_tokens_pass(stack: cdk.Stack) -> None:
    unit = cdk.CfnParameter(stack, "Unit").value_as_string
    state: Any = cdk.CfnParameter(stack, "State").value_as_string

    QuotaServiceEnvironment(stack, "Environment", capacity_limits={unit: number_token()}, state=state)

    template = only(template_of(stack), "ServiceEnvironment")
    assert template["CapacityLimits"] == [{"CapacityUnit": {"Ref": "Unit"}, "MaxCapacity": {"Ref": "Number"}}]
    assert template["State"] == {"Ref": "State"}


@pytest.mark.parametrize("form", ["text", "object"])
def test_a_number_token_of_any_form_passes(stack: cdk.Stack, form: str) -> None:
    parameter = cdk.CfnParameter(stack, "Number", type="Number")
    count: Any = parameter.value_as_string if form == "text" else cdk.Lazy.any(Three())

    QuotaServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": count})

    (limit,) = only(template_of(stack), "ServiceEnvironment")["CapacityLimits"]
    assert limit["MaxCapacity"] == ({"Ref": "Number"} if form == "text" else 3)


def test_name_is_a_name_and_arn_an_arn(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment(stack, "Environment", capacity_limits=ONE)

    ref = {"Ref": "Environment"}
    assert stack.resolve(environment.service_environment_arn) == ref
    assert stack.resolve(environment.service_environment_name) == {"Fn::Select": [1, {"Fn::Split": ["/", ref]}]}


def test_stock_cdk_takes_it(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment(stack, "Environment", capacity_limits=ONE)

    arn = batch.CfnServiceEnvironment.arn_for_service_environment(environment)
    assert arn == environment.service_environment_arn


def test_import_by_arn(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment.from_service_environment_arn(stack, "Imported", ARN)

    assert environment.service_environment_arn == ARN
    assert environment.service_environment_name == "gpus"
    assert environment.env.account == "123456789012"
    assert batch.CfnServiceEnvironment.arn_for_service_environment(environment) == ARN


def test_import_by_name(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment.from_service_environment_name(stack, "Imported", "gpus")

    assert stack.resolve(environment.service_environment_arn)["Fn::Join"][1][-1] == ":service-environment/gpus"
    assert environment.service_environment_name == "gpus"


@pytest.mark.parametrize("name", ["a/b", "", None])
def test_import_refuses_what_is_no_name(stack: cdk.Stack, name: Any) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Imported: name: "):
        QuotaServiceEnvironment.from_service_environment_name(stack, "Imported", name)


def test_warns_of_a_fixed_name(stack: cdk.Stack) -> None:
    QuotaServiceEnvironment(stack, "Named", capacity_limits=ONE, service_environment_name="gpus")
    QuotaServiceEnvironment(stack, "Generated", capacity_limits=ONE)

    assert [(w.id, "409" in str(w.entry.data)) for w in warnings_of(stack)] == [("/Stack/Named", True)]
