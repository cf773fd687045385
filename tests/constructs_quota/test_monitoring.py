import re
from typing import Any

import aws_cdk as cdk
import botocore.session
import pytest
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_sns as sns
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    QueueMonitoring,
    QuotaJobQueue,
    QuotaShareOptions,
    QuotaTrainingQueue,
    ResourceSharing,
    ShareMetrics,
)
from constructs_quota.job_queue import ImportedJobQueue
from constructs_quota.monitoring import METRICS, STATUSES
from tests.constructs_quota.l1s import l1_share
from tests.synthesis import number_token, template_of

ARN = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
ONE = {"ml.g5.xlarge": 1}
SHARE = QuotaShareOptions(capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False)


@pytest.fixture
def queue(stack: cdk.Stack) -> ImportedJobQueue:
    return QuotaJobQueue.from_job_queue_arn(stack, "Queue", ARN)


def of_kind(template: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [r["Properties"] for r in template["Resources"].values() if r["Type"] == kind]


class TestMetrics:
    @pytest.mark.parametrize("name", METRICS)
    def test_is_of_the_queue(self, queue: ImportedJobQueue, name: str) -> None:
        metric = queue.metric(name)

        assert (metric.namespace, metric.metric_name) == ("AWS/Batch", name)
        assert metric.dimensions == {"JobQueueName": "gpus"}
        assert metric.statistic == ("Average" if name.endswith("Duration") else "Sum")

    def test_every_metric_has_a_method(self, queue: ImportedJobQueue) -> None:
        methods = [name for name in dir(queue) if name.startswith("metric_")]

        assert sorted(getattr(queue, name)().metric_name for name in methods) == sorted(METRICS)

    def test_takes_what_a_metric_takes(self, queue: ImportedJobQueue) -> None:
        metric = queue.metric_jobs_preempted(period=cdk.Duration.hours(1), statistic="Maximum")

        assert metric.period.to_seconds() == 3600
        assert metric.statistic == "Maximum"

    def test_refuses_a_metric_that_aws_has_not_got(self, queue: ImportedJobQueue) -> None:
        with pytest.raises(ValueError, match="'JobPreempted' is not a metric of a job queue; did you mean 'Jobs"):
            queue.metric("JobPreempted")


class TestEvents:
    @pytest.mark.parametrize(
        ("method", "arguments", "pattern"),
        [
            (
                "on_job_state_change",
                {},
                {"detail-type": ["Batch Service Job State Change"], "detail": {"jobQueue": [ARN]}},
            ),
            (
                "on_job_state_change",
                {"quota_share_name": "QS1", "statuses": ["FAILED"]},
                {
                    "detail-type": ["Batch Service Job State Change"],
                    "detail": {"jobQueue": [ARN], "quotaShareName": ["QS1"], "status": ["FAILED"]},
                },
            ),
            (
                "on_queue_blocked",
                {},
                {"detail-type": ["Batch Service Job Queue Blocked"], "detail": {"jobQueue": [ARN]}},
            ),
            # These name neither queue nor share.
            ("on_preemption_started", {}, {"detail-type": ["Batch Service Job Preemption Started"]}),
            ("on_preemption_completed", {}, {"detail-type": ["Batch Service Job Preemption Completed"]}),
        ],
    )
    def test_pattern(
        self, stack: cdk.Stack, queue: ImportedJobQueue, method: str, arguments: dict[str, Any], pattern: dict[str, Any]
    ) -> None:
        topic = sns.Topic(stack, "Topic")

        getattr(queue, method)("Rule", target=targets.SnsTopic(topic), **arguments)

        (rule,) = of_kind(template_of(stack), "AWS::Events::Rule")
        assert rule["EventPattern"] == {"source": ["aws.batch"], **pattern}
        assert [target["Arn"] for target in rule["Targets"]] == [stack.resolve(topic.topic_arn)]

    @pytest.mark.parametrize(
        ("statuses", "problem"),
        [
            ("FAILED", "'FAILED' is not a list of statuses"),
            (["FINISHED"], "'FINISHED' is not one of PENDING, RUNNABLE,"),
            (["SUBMITTED"], "'SUBMITTED' is not one of PENDING, RUNNABLE,"),  # there is no event of it
        ],
    )
    def test_refuses_a_status_that_no_event_has(self, queue: ImportedJobQueue, statuses: Any, problem: str) -> None:
        with pytest.raises(ValueError, match=rf"^Stack/Queue/Rule: statuses: {re.escape(problem)}"):
            queue.on_job_state_change("Rule", statuses=statuses)

    @pytest.mark.parametrize("shares", [("research",), ()])
    def test_refuses_a_share_that_nobody_declares(self, stack: cdk.Stack, shares: tuple[str, ...]) -> None:
        training = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares=dict.fromkeys(shares, SHARE))
        training.job_queue.on_job_state_change("Rule", quota_share_name="reserch")

        there = "did you mean 'research'?" if shares else "there is none"
        problem = f"'reserch' is not a quota share that is declared on the queue; {there}"
        with pytest.raises(RuntimeError, match=re.escape(problem)):
            template_of(stack)

    def test_takes_a_share_that_is_declared_later_or_is_a_stock_one_or_a_token(self, stack: cdk.Stack) -> None:
        training = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)
        token = cdk.CfnParameter(stack, "Name").value_as_string
        for rule_id, name in {"Later": "later", "Stock": "stock", "Token": token}.items():
            training.job_queue.on_job_state_change(rule_id, quota_share_name=name)
        training.add_quota_share("later", **vars(SHARE))
        l1_share(stack, training.job_queue.ref, "stock")

        assert len(of_kind(template_of(stack), "AWS::Events::Rule")) == 3

    def test_the_statuses_are_those_of_the_api_but_for_the_submission(self) -> None:
        model = botocore.session.get_session().get_service_model("batch")
        assert {"SUBMITTED", *STATUSES} == set(model.shape_for("ServiceJobStatus").enum)

    def test_a_rule_can_get_its_targets_later(self, stack: cdk.Stack, queue: ImportedJobQueue) -> None:
        queue.on_queue_blocked("Rule").add_target(targets.SnsTopic(sns.Topic(stack, "Topic")))

        (rule,) = of_kind(template_of(stack), "AWS::Events::Rule")
        assert len(rule["Targets"]) == 1


class TestAlarmsAndDashboard:
    def test_template(self, stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
        training = QuotaTrainingQueue(
            stack,
            "Training",
            capacity_limits=ONE,
            quota_shares={"QS1": SHARE},
        )
        QueueMonitoring(
            stack,
            "Monitoring",
            job_queue=training.job_queue,
            alarms={"JobsPreempted": {"Warning": 5, "Critical": 20}},
            share_metrics=ShareMetrics(stack, "Metrics", job_queue=training.job_queue),
        )

        assert template_of(stack) == snapshot

    def test_each_threshold_is_an_alarm(self, stack: cdk.Stack, queue: ImportedJobQueue) -> None:
        QueueMonitoring(stack, "Monitoring", job_queue=queue, alarms={"JobsPreempted": {"Warning": 5, "Critical": 20}})

        alarms = of_kind(template_of(stack), "AWS::CloudWatch::Alarm")
        assert [(a["MetricName"], a["Threshold"], a["ComparisonOperator"]) for a in alarms] == [
            ("JobsPreempted", 5, "GreaterThanThreshold"),
            ("JobsPreempted", 20, "GreaterThanThreshold"),
        ]
        assert {a["TreatMissingData"] for a in alarms} == {"notBreaching"}

    def test_actions_by_word(self, stack: cdk.Stack, queue: ImportedJobQueue) -> None:
        topic = sns.Topic(stack, "Topic")
        monitoring = QueueMonitoring(
            stack,
            "Monitoring",
            job_queue=queue,
            alarms={"JobsPreempted": {"Warning": 5, "Critical": 20}},
            actions={"Critical": [actions.SnsAction(topic)]},
        )

        assert isinstance(monitoring.alarms["JobsPreempted", "Critical"], cloudwatch.Alarm)
        found = of_kind(template_of(stack), "AWS::CloudWatch::Alarm")
        assert [alarm.get("AlarmActions") for alarm in found] == [None, [stack.resolve(topic.topic_arn)]]

    def test_no_alarms_unless_asked(self, stack: cdk.Stack, queue: ImportedJobQueue) -> None:
        QueueMonitoring(stack, "Monitoring", job_queue=queue)

        template = template_of(stack)
        assert not of_kind(template, "AWS::CloudWatch::Alarm")
        assert len(of_kind(template, "AWS::CloudWatch::Dashboard")) == 1

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"alarms": {"JobPreempted": {"Warning": 1}}}, "alarms: 'JobPreempted' is not a metric of a job queue"),
            ({"alarms": {"JobsPreempted": 5}}, "alarms['JobsPreempted']: 5 is not a mapping of word to threshold"),
            (
                {"alarms": {"JobsPreempted": {"Warning": "5"}}},
                "alarms['JobsPreempted']['Warning']: '5' is not a number",
            ),
            ({"alarms": {"JobsPreempted": {"Warning": -1}}}, "alarms['JobsPreempted']['Warning']: -1 is not a number"),
            ({"actions": {"Critical": 5}}, "actions['Critical']: 5 is not a list of alarm actions"),
            ({"actions": {"Critical": []}}, "actions: no alarm is called 'Critical'; there is none"),
        ],
    )
    def test_refuses(self, stack: cdk.Stack, queue: ImportedJobQueue, arguments: dict[str, Any], problem: str) -> None:
        with pytest.raises(ValueError, match=rf"^Stack/Monitoring: {re.escape(problem)}"):
            QueueMonitoring(stack, "Monitoring", job_queue=queue, **arguments)

    def test_a_pattern_is_not_its_queue(self, stack: cdk.Stack) -> None:
        pattern: Any = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)

        with pytest.raises(
            ValueError, match=r"^Stack/Monitoring: job_queue: Stack/Training is not a job queue; pass its "
        ):
            QueueMonitoring(stack, "Monitoring", job_queue=pattern)

    def test_a_threshold_that_is_a_token_is_no_number(self, stack: cdk.Stack, queue: ImportedJobQueue) -> None:
        QueueMonitoring(stack, "Monitoring", job_queue=queue, alarms={"JobsPreempted": {"Warning": number_token()}})

        (alarm,) = of_kind(template_of(stack), "AWS::CloudWatch::Alarm")
        assert alarm["Threshold"] == {"Ref": "Number"}
        assert alarm["AlarmDescription"].endswith("above what is set at deployment (Warning)")
