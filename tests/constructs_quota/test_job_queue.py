from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    NEVER_FITS,
    QuotaJobQueue,
    QuotaSchedulingPolicy,
    QuotaServiceEnvironment,
    QuotaShare,
    ResourceSharing,
    State,
    StuckReason,
)
from tests.synthesis import number_token, of_type, only, template_of, warnings_of

ARN = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
TOO_LARGE = StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED


@pytest.fixture
def environment(stack: cdk.Stack) -> QuotaServiceEnvironment:
    return QuotaServiceEnvironment(stack, "Environment", capacity_limits={"ml.g5.xlarge": 3, "ml.g5.12xlarge": 1})


@pytest.fixture
def policy(stack: cdk.Stack) -> QuotaSchedulingPolicy:
    return QuotaSchedulingPolicy(stack, "Policy")


@pytest.fixture
def arguments(environment: QuotaServiceEnvironment, policy: QuotaSchedulingPolicy) -> dict[str, Any]:
    return {"service_environment": environment, "scheduling_policy": policy}


def test_template(stack: cdk.Stack, arguments: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    QuotaJobQueue(stack, "Queue", **arguments)

    assert template_of(stack) == snapshot


def test_is_linked_by_ref_so_that_cloudformation_orders(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    QuotaJobQueue(stack, "Queue", **arguments)

    template = template_of(stack)
    queue = only(template, "JobQueue")
    (environment,) = of_type(template, "ServiceEnvironment")
    (policy,) = of_type(template, "SchedulingPolicy")
    assert queue["ServiceEnvironmentOrder"] == [{"Order": 1, "ServiceEnvironment": {"Ref": environment}}]
    assert queue["SchedulingPolicyArn"] == {"Ref": policy}
    assert queue["JobQueueType"] == "SAGEMAKER_TRAINING"
    assert "ComputeEnvironmentOrder" not in queue


def action(reason: str, seconds: Any) -> dict[str, Any]:
    return {"Action": "TERMINATE", "MaxTimeSeconds": seconds, "Reason": reason, "State": "RUNNABLE"}


def test_by_default_a_job_that_never_fits_is_ended_after_a_day(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    QuotaJobQueue(stack, "Queue", **arguments)

    assert only(template_of(stack), "JobQueue")["JobStateTimeLimitActions"] == [
        action("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", 86400),
        action("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", 86400),
    ]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        (600, 600),
        (cdk.Duration.hours(2), 7200),
        (number_token(), {"Ref": "Number"}),
        (cdk.Duration.seconds(number_token()), {"Ref": "Number"}),
    ],
    ids=["seconds", "duration", "token", "duration of a token"],
)
def test_a_time_limit_can_be_changed(stack: cdk.Stack, arguments: dict[str, Any], limit: Any, seconds: Any) -> None:
    QuotaJobQueue(stack, "Queue", **arguments, job_state_time_limits={**NEVER_FITS, TOO_LARGE: limit})

    actions = only(template_of(stack), "JobQueue")["JobStateTimeLimitActions"]
    assert actions == [
        action("MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", 86400),
        action("MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", seconds),
    ]


def test_time_limits_can_be_turned_off(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    QuotaJobQueue(stack, "Queue", **arguments, job_state_time_limits={})

    assert "JobStateTimeLimitActions" not in only(template_of(stack), "JobQueue")


@pytest.mark.parametrize(
    ("key", "argument", "problem"),
    [
        ("job_queue_name", "gpu queue", "job_queue_name: 'gpu queue' is not a name"),
        ("state", "Enabled", "state: 'Enabled' is not one of ENABLED, DISABLED"),
        ("service_environment", "gpus", "service_environment: 'gpus' is not a service environment; import one"),
        ("service_environment", None, "service_environment: None is not a service environment; import one"),
        ("scheduling_policy", "fifo", "scheduling_policy: 'fifo' is not a scheduling policy; import one"),
        ("job_state_time_limits", {TOO_LARGE: 599}, "599 is out of range: 600 to 86400 is allowed; give sec"),
        ("job_state_time_limits", {TOO_LARGE: "1h"}, f"[{str(TOO_LARGE)!r}]: '1h' is not a whole number"),
        ("job_state_time_limits", {TOO_LARGE: cdk.Duration.days(2)}, "172800 is out of range: 600 to 86400"),
        ("job_state_time_limits", {TOO_LARGE: cdk.Duration.millis(700_500)}, "700.5 is not a whole number"),
        ("job_state_time_limits", {"STUCK": 600}, "job_state_time_limits: 'STUCK' is not one of CAPACITY:INSUFFICIENT"),
        ("job_state_time_limits", [{"reason": TOO_LARGE}], "is not a mapping of StuckReason to seconds"),
    ],
)
def test_refuses(stack: cdk.Stack, arguments: dict[str, Any], key: str, argument: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Queue: ") as refused:
        QuotaJobQueue(stack, "Queue", **{**arguments, key: argument})

    assert problem in str(refused.value)
    assert stack.node.try_find_child("Queue") is None


def test_refuses_an_environment_that_serves_another_queue(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    QuotaJobQueue(stack, "First", **arguments)

    with pytest.raises(
        ValueError, match=r"^Stack/Second: service_environment: Stack/Environment already serves Stack/First"
    ):
        QuotaJobQueue(stack, "Second", **arguments)


def test_refuses_a_fair_share_policy(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    fair = batch.FairshareSchedulingPolicy(stack, "Fair")

    with pytest.raises(ValueError, match=r"scheduling_policy: Stack/Fair is a fair-share policy"):
        QuotaJobQueue(stack, "Queue", **{**arguments, "scheduling_policy": fair})


def test_takes_stock_and_imported_resources(stack: cdk.Stack) -> None:
    account = "arn:aws:batch:us-east-1:123456789012:"
    stock = batch.CfnSchedulingPolicy(
        stack,
        "Stock",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    imported = QuotaServiceEnvironment.from_service_environment_arn(stack, "Env", f"{account}service-environment/e")

    QuotaJobQueue(stack, "Queue", service_environment=imported, scheduling_policy=stock)

    queue = only(template_of(stack), "JobQueue")
    assert queue["SchedulingPolicyArn"] == {"Ref": "Stock"}
    assert queue["ServiceEnvironmentOrder"][0]["ServiceEnvironment"] == f"{account}service-environment/e"


def test_name_is_a_name_and_arn_an_arn(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    queue = QuotaJobQueue(stack, "Queue", **arguments, job_queue_name="gpus")

    (ref,) = of_type(template_of(stack), "JobQueue")
    assert stack.resolve(queue.job_queue_arn) == {"Ref": ref}
    assert stack.resolve(queue.job_queue_name) == {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": ref}]}]}


def test_a_name_cannot_be_set_afterwards(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    """It would be lost: the L1's attribute of this name is not the name of the queue."""
    queue = QuotaJobQueue(stack, "Queue", **arguments)

    with pytest.raises(AttributeError, match=r"^job_queue_name: a name is given to the constructor"):
        queue.job_queue_name = "gpus"


def test_stock_cdk_takes_it(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    queue = QuotaJobQueue(stack, "Queue", **arguments)

    assert batch.CfnJobQueue.arn_for_job_queue(queue) == queue.job_queue_arn


def test_import_by_arn(stack: cdk.Stack) -> None:
    queue = QuotaJobQueue.from_job_queue_arn(stack, "Imported", ARN)

    assert (queue.job_queue_arn, queue.job_queue_name, queue.env.region) == (ARN, "gpus", "eu-west-1")
    assert batch.CfnJobQueue.arn_for_job_queue(queue) == ARN


def test_import_by_an_arn_that_is_a_token(stack: cdk.Stack) -> None:
    queue = QuotaJobQueue.from_job_queue_arn(stack, "Imported", cdk.Fn.import_value("QueueArn"))

    arn = {"Fn::ImportValue": "QueueArn"}
    assert stack.resolve(queue.job_queue_arn) == arn
    assert stack.resolve(queue.job_queue_name) == {"Fn::Select": [1, {"Fn::Split": ["/", arn]}]}


def test_import_by_name(stack: cdk.Stack) -> None:
    queue = QuotaJobQueue.from_job_queue_name(stack, "Imported", "gpus")

    assert stack.resolve(queue.job_queue_arn)["Fn::Join"][1][-1] == ":job-queue/gpus"
    assert queue.job_queue_name == "gpus"


@pytest.mark.parametrize("arn", ["", "gpus", ARN + "/quota-share/QS1", ARN + "\n", ARN.replace("1234", "12"), None])
def test_import_refuses_what_is_no_arn_of_a_queue(stack: cdk.Stack, arn: Any) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Imported: arn: .* is not an ARN of the form .*:job-queue/NAME$"):
        QuotaJobQueue.from_job_queue_arn(stack, "Imported", arn)


def test_warns_of_a_fixed_name(stack: cdk.Stack, arguments: dict[str, Any]) -> None:
    queue = QuotaJobQueue(stack, "Named", **arguments, job_queue_name="gpus")

    (warning,) = warnings_of(stack)
    assert warning.id == "/Stack/Named"
    assert "deletes the queue and ends its jobs" in str(warning.entry.data)

    cdk.Validations.of(queue).acknowledge(
        cdk.Acknowledgment(id="Quota-Policy::QM110", reason="submitters have it in their code")
    )
    assert warnings_of(stack) == []


class TestPolicy:
    def test_holds_what_is_declared_so_far(self, stack: cdk.Stack, arguments: dict[str, Any]) -> None:
        queue = QuotaJobQueue(
            stack,
            "Queue",
            **arguments,
            job_queue_name="gpus",
            job_state_time_limits={TOO_LARGE: cdk.Duration.hours(1)},
            state=State.DISABLED,
        )
        assert queue.policy.document() == {
            "queue": "gpus",
            "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3, "ml.g5.12xlarge": 1}},
            "shares": {},
            "job_state_time_limits": [{"reason": TOO_LARGE, "max_seconds": 3600}],
            "state": "DISABLED",
        }

        QuotaShare(
            stack,
            "Share",
            job_queue=queue,
            quota_share_name="QS1",
            capacity_limits={"ml.g5.xlarge": 1},
            resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=0),
            in_share_preemption=True,
        )
        assert queue.policy.document()["shares"] == {
            "QS1": {
                "capacity_limits": {"ml.g5.xlarge": 1},
                "strategy": "LEND_AND_BORROW",
                "borrow_limit": 0,
                "in_share_preemption": True,
            }
        }

    def test_a_queue_without_a_name_is_known_by_its_logical_id(
        self, stack: cdk.Stack, arguments: dict[str, Any]
    ) -> None:
        queue = QuotaJobQueue(stack, "Queue", **arguments)

        assert [queue.policy.queue] == list(of_type(template_of(stack), "JobQueue"))

    def test_is_not_guessed_where_a_value_is_a_token(self, stack: cdk.Stack, policy: QuotaSchedulingPolicy) -> None:
        environment = QuotaServiceEnvironment(stack, "Env", capacity_limits={"ml.g5.xlarge": number_token()})
        queue = QuotaJobQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)

        with pytest.raises(
            ValueError, match=r"^Stack/Queue: policy: not known before deployment: service_.*\.ml\.g5\.xlarge$"
        ):
            _ = queue.policy

    def test_is_not_guessed_where_the_environment_is_imported(
        self, stack: cdk.Stack, policy: QuotaSchedulingPolicy
    ) -> None:
        environment = QuotaServiceEnvironment.from_service_environment_name(stack, "Env", "gpus")
        queue = QuotaJobQueue(stack, "Queue", service_environment=environment, scheduling_policy=policy)

        with pytest.raises(ValueError, match=r"^Stack/Queue: policy: the capacity of an imported service environment"):
            _ = queue.policy
