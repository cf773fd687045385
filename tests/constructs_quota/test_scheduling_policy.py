import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from syrupy.assertion import SnapshotAssertion

from constructs_quota import QuotaSchedulingPolicy
from tests.synthesis import only, template_of, warnings_of

ARN = "arn:aws:batch:eu-west-1:123456789012:scheduling-policy/teams"


def test_template(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    QuotaSchedulingPolicy(stack, "Policy")

    assert template_of(stack) == snapshot


def test_has_a_quota_share_policy_and_no_fair_share_policy(stack: cdk.Stack) -> None:
    QuotaSchedulingPolicy(stack, "Policy", scheduling_policy_name="teams")

    assert only(template_of(stack), "SchedulingPolicy") == {
        "Name": "teams",
        "QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"},
    }


@pytest.mark.parametrize("name", ["", "a b", "x" * 129, 7])
def test_refuses_what_is_no_name(stack: cdk.Stack, name: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Policy: scheduling_policy_name: ") as refused:
        QuotaSchedulingPolicy(stack, "Policy", scheduling_policy_name=name)

    assert repr(name) in str(refused.value)
    assert stack.node.try_find_child("Policy") is None


def test_a_token_is_a_name(stack: cdk.Stack) -> None:
    name = cdk.CfnParameter(stack, "Name").value_as_string

    QuotaSchedulingPolicy(stack, "Policy", scheduling_policy_name=name)

    assert only(template_of(stack), "SchedulingPolicy")["Name"] == {"Ref": "Name"}


def test_name_is_a_name_and_arn_an_arn(stack: cdk.Stack) -> None:
    policy = QuotaSchedulingPolicy(stack, "Policy")

    ref = {"Ref": "Policy"}
    assert stack.resolve(policy.scheduling_policy_arn) == ref
    assert stack.resolve(policy.scheduling_policy_name) == {"Fn::Select": [1, {"Fn::Split": ["/", ref]}]}


def test_stock_cdk_takes_it(stack: cdk.Stack) -> None:
    policy = QuotaSchedulingPolicy(stack, "Policy")

    assert batch.CfnSchedulingPolicy.arn_for_scheduling_policy(policy) == policy.scheduling_policy_arn


def test_import_by_arn(stack: cdk.Stack) -> None:
    policy = QuotaSchedulingPolicy.from_scheduling_policy_arn(stack, "Imported", ARN)

    assert policy.scheduling_policy_arn == ARN
    assert policy.scheduling_policy_name == "teams"
    assert policy.env.region == "eu-west-1"
    assert batch.CfnSchedulingPolicy.arn_for_scheduling_policy(policy) == ARN


def test_import_by_name(stack: cdk.Stack) -> None:
    policy = QuotaSchedulingPolicy.from_scheduling_policy_name(stack, "Imported", "teams")

    assert stack.resolve(policy.scheduling_policy_arn)["Fn::Join"][1][-1] == ":scheduling-policy/teams"
    assert policy.scheduling_policy_name == "teams"


def test_import_refuses_another_kind_of_arn(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Imported: arn: '.*job-queue/q' is not an ARN of the form .*policy/"):
        QuotaSchedulingPolicy.from_scheduling_policy_arn(
            stack, "Imported", ARN.replace("scheduling-policy/teams", "job-queue/q")
        )


def test_import_refuses_an_empty_arn(stack: cdk.Stack) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Imported: arn: '' is not an ARN of the form "):
        QuotaSchedulingPolicy.from_scheduling_policy_arn(stack, "Imported", "")


def test_warns_of_a_fixed_name(stack: cdk.Stack) -> None:
    QuotaSchedulingPolicy(stack, "Named", scheduling_policy_name="teams")
    QuotaSchedulingPolicy(stack, "Generated")

    assert [(w.id, "409" in str(w.entry.data)) for w in warnings_of(stack)] == [("/Stack/Named", True)]
