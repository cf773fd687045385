import json
from typing import Any

import aws_cdk as cdk
import pytest
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from constructs_quota import QuotaShareOptions, QuotaTrainingQueue, ResourceSharing, ShareMetrics
from tests.synthesis import assert_documented, template_of

ONE = {"ml.g5.xlarge": 1}
SHARE = QuotaShareOptions(capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False)


@pytest.fixture
def training(stack: cdk.Stack) -> QuotaTrainingQueue:
    return QuotaTrainingQueue(
        stack, "Training", capacity_limits={"ml.g5.xlarge": 3, "ml.p5.48xlarge": 2}, quota_shares={"QS1": SHARE}
    )


def of_kind(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == kind]


def test_template(stack: cdk.Stack, training: QuotaTrainingQueue, snapshot: SnapshotAssertion) -> None:
    ShareMetrics(stack, "Metrics", job_queue=training.job_queue)

    assert template_of(stack) == snapshot


def test_says_how_many_metrics_there_are_also_of_later_shares(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    metrics = ShareMetrics(stack, "Metrics", job_queue=training.job_queue)
    training.add_quota_share(
        "QS2",
        capacity_limits={"ml.g5.xlarge": 1, "ml.p5.48xlarge": 2},
        resource_sharing=ResourceSharing.lend(),
        in_share_preemption=False,
    )

    assert metrics.metric_count == 12
    template = template_of(stack)
    (output,) = template["Outputs"].values()
    assert output["Value"] == "12"
    (function,) = of_kind(template, "AWS::Lambda::Function")
    assert json.loads(function["Environment"]["Variables"]["LIMITS"]) == {
        "QS1": {"ml.g5.xlarge": 1},
        "QS2": {"ml.g5.xlarge": 1, "ml.p5.48xlarge": 2},
    }


def test_runs_every_minute_unless_told(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    ShareMetrics(stack, "Metrics", job_queue=training.job_queue, every=cdk.Duration.minutes(5))

    (rule,) = of_kind(template_of(stack), "AWS::Events::Rule")
    assert rule["ScheduleExpression"] == "rate(5 minutes)"


def test_the_role_may_do_what_the_handler_does(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    ShareMetrics(stack, "Metrics", job_queue=training.job_queue)

    (policy,) = of_kind(template_of(stack), "AWS::IAM::Policy")
    statements = {
        str(statement["Action"]): (statement["Resource"], statement.get("Condition"))
        for statement in policy["PolicyDocument"]["Statement"]
        if "logs:PutLogEvents" not in statement["Action"]
    }
    assert statements == {
        "batch:GetJobQueueSnapshot": (stack.resolve(training.job_queue_arn), None),
        "batch:ListServiceJobs": ("*", None),
        "cloudwatch:PutMetricData": ("*", {"StringEquals": {"cloudwatch:namespace": "QuotaShares"}}),
    }


def test_a_metric_is_of_a_share_and_a_type(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    metrics = ShareMetrics(stack, "Metrics", job_queue=training.job_queue, namespace="Teams")

    metric = metrics.metric("Borrowed", "QS1", "ml.g5.xlarge")

    assert (metric.namespace, metric.metric_name) == ("Teams", "Borrowed")
    assert stack.resolve(metric.dimensions) == {
        "JobQueueName": stack.resolve(training.job_queue_name),
        "QuotaShareName": "QS1",
        "InstanceType": "ml.g5.xlarge",
    }
    with pytest.raises(ValueError, match=r"^Stack/Metrics: kind: 'Lent' is not one of Used, Own, Borrowed, Waiting$"):
        metrics.metric("Lent", "QS1", "ml.g5.xlarge")


@pytest.mark.parametrize("namespace", ["AWS/Batch", ""])
def test_refuses_a_namespace_of_aws(stack: cdk.Stack, training: QuotaTrainingQueue, namespace: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Metrics: namespace: "):
        ShareMetrics(stack, "Metrics", job_queue=training.job_queue, namespace=namespace)


def test_cdk_nag_is_clean_but_for_what_is_acknowledged(
    app: cdk.App, stack: cdk.Stack, training: QuotaTrainingQueue
) -> None:
    ShareMetrics(stack, "Metrics", job_queue=training.job_queue)
    reason = "ListServiceJobs and PutMetricData have no resource level; the namespace is a condition"
    assert_documented(reason)
    cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason=reason))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()
