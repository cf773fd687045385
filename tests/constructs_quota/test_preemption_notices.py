import json
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sns as sns
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from constructs_quota import QuotaShareOptions, QuotaTrainingQueue, ResourceSharing
from tests.synthesis import assert_documented, template_of

ONE = {"ml.g5.xlarge": 1}
SHARE = QuotaShareOptions(capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False)


@pytest.fixture
def training(stack: cdk.Stack) -> QuotaTrainingQueue:
    return QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": SHARE, "QS2": SHARE})


def of_kind(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == kind]


def test_template(stack: cdk.Stack, training: QuotaTrainingQueue, snapshot: SnapshotAssertion) -> None:
    training.job_queue.notify_preemptions("QS1", sns.Topic(stack, "Topic"))

    assert template_of(stack) == snapshot


def test_every_share_has_a_topic_and_all_have_one_function(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    topics = {name: sns.Topic(stack, f"Topic{name}") for name in ("QS1", "QS2")}
    training.job_queue.notify_preemptions("QS1", topics["QS1"])
    training.job_queue.notify_preemptions(training.quota_shares["QS2"], topics["QS2"])

    template = template_of(stack)
    (function,) = of_kind(template, "AWS::Lambda::Function")
    text = "".join(
        part if isinstance(part, str) else part["Ref"]
        for part in function["Environment"]["Variables"]["TOPICS"]["Fn::Join"][1]
    )
    assert json.loads(text) == {name: stack.resolve(topic.topic_arn)["Ref"] for name, topic in topics.items()}
    assert function["Environment"]["Variables"]["JOB_QUEUE"] == stack.resolve(training.job_queue_arn)


def test_the_role_may_look_up_jobs_and_publish_to_its_topics(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    topic = sns.Topic(stack, "Topic")
    training.job_queue.notify_preemptions("QS1", topic)

    (policy,) = of_kind(template_of(stack), "AWS::IAM::Policy")
    assert policy["PolicyDocument"]["Statement"] == [
        {
            "Action": ["logs:CreateLogStream", "logs:PutLogEvents"],
            "Effect": "Allow",
            "Resource": stack.resolve(only_log_group(stack)),
        },
        {"Action": "batch:DescribeServiceJob", "Effect": "Allow", "Resource": "*"},
        {"Action": "sns:Publish", "Effect": "Allow", "Resource": stack.resolve(topic.topic_arn)},
    ]


def only_log_group(stack: cdk.Stack) -> str:
    (arn,) = (found.log_group_arn for found in stack.node.find_all() if isinstance(found, logs.LogGroup))
    return str(arn)


def test_refuses_an_arn_for_a_topic(training: QuotaTrainingQueue) -> None:
    arn: Any = "arn:aws:sns:eu-west-1:123456789012:team"

    with pytest.raises(ValueError, match=rf"^topic: '{arn}' is not a topic; import one that exists with sns\.Topic\."):
        training.job_queue.notify_preemptions("QS1", arn)


def test_refuses_a_share_that_nobody_declares(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    training.job_queue.notify_preemptions("qs1", sns.Topic(stack, "Topic"))

    with pytest.raises(
        RuntimeError, match="'qs1' is not a quota share that is declared on the queue; there is QS1, QS2"
    ):
        template_of(stack)


def test_cdk_nag_is_clean_but_for_what_is_acknowledged(
    app: cdk.App, stack: cdk.Stack, training: QuotaTrainingQueue
) -> None:
    training.job_queue.notify_preemptions("QS1", sns.Topic(stack, "Topic", enforce_ssl=True))
    reason = "DescribeServiceJob has no resource level, and only reads"
    assert_documented(reason)
    cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="AwsSolutions-IAM5[Resource::*]", reason=reason))
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))

    app.synth()


def test_refuses_a_second_topic_of_a_share(stack: cdk.Stack, training: QuotaTrainingQueue) -> None:
    topic = sns.Topic(stack, "Topic")
    training.job_queue.notify_preemptions("QS1", topic)

    with pytest.raises(ValueError, match=r"PreemptionNotices: quota_share_name: 'QS1' has a topic already"):
        training.job_queue.notify_preemptions("QS1", topic)
