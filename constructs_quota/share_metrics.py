"""Metrics per quota share, which is what every team asks for and AWS Batch has not got."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

import aws_cdk as cdk
import jsii
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from constructs import Construct

from constructs_quota.arns import JOB_QUEUE, name_in
from constructs_quota.declared import Refusal
from constructs_quota.handler_function import HandlerFunction

if TYPE_CHECKING:
    from constructs_quota.job_queue import JobQueueBase
    from constructs_quota.quota_share import QuotaShare

KINDS: Final = ("Used", "Own", "Borrowed", "Waiting")
"""Instances: held by dispatched jobs, those within and beyond the share's limit, and asked for by waiting jobs."""


class ShareMetrics(Construct):
    """Publishes what each quota share of a queue uses, borrows and waits for, by instance type.

    A function reads GetJobQueueSnapshot and the waiting jobs on a schedule. Every metric costs money: there are four
    for each share and instance type, and the stack outputs how many.

    Attributes:
        namespace: Of the metrics.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        job_queue: JobQueueBase,
        namespace: str = "QuotaShares",
        every: cdk.Duration | None = None,
    ) -> None:
        """Declare the function and its schedule.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            job_queue: The queue; its shares are those that this app declares on it, also later.
            namespace: CloudWatch namespace of the metrics; not one of AWS's own.
            every: How often. Default: every minute.

        Raises:
            ValueError: The namespace is AWS's.
        """
        refusal = Refusal(scope, construct_id)
        if not namespace or namespace.startswith("AWS/"):
            refusal.add("namespace", f"{namespace!r} is not one of your own; 'AWS/...' is AWS's")
        refusal.raise_if_any()
        super().__init__(scope, construct_id)
        self.namespace = namespace
        self._queue = job_queue
        # The shares that there are when the template is written.
        limits = cdk.Lazy.any(_Limits(job_queue.quota_shares))
        made = HandlerFunction(
            self,
            "Handler",
            handler="share_metrics",
            description="Metrics per quota share",
            environment={
                "JOB_QUEUE": job_queue.job_queue_arn,
                "NAMESPACE": namespace,
                "LIMITS": cdk.Stack.of(self).to_json_string(limits),
            },
            statements=[
                iam.PolicyStatement(actions=["batch:GetJobQueueSnapshot"], resources=[job_queue.job_queue_arn]),
                # It has no resource level.
                iam.PolicyStatement(actions=["batch:ListServiceJobs"], resources=["*"]),
                # Nor has this one; the namespace is what restricts it.
                iam.PolicyStatement(
                    actions=["cloudwatch:PutMetricData"],
                    resources=["*"],
                    conditions={"StringEquals": {"cloudwatch:namespace": namespace}},
                ),
            ],
        )
        events.Rule(
            self,
            "Schedule",
            schedule=events.Schedule.rate(every or cdk.Duration.minutes(1)),
            targets=[targets.LambdaFunction(made.function)],
        )
        cdk.CfnOutput(
            self,
            "MetricCount",
            value=cdk.Token.as_string(cdk.Lazy.any(_Count(job_queue.quota_shares))),
            description="custom metrics that are published, each of which costs money",
        )

    @property
    def metric_count(self) -> int:
        """How many metrics the shares declared so far have."""
        return _count(self._queue.quota_shares)

    def metric(self, kind: str, quota_share_name: str, instance_type: str) -> cloudwatch.Metric:
        """A metric of one share: the average of the instances ``Used``, ``Own``, ``Borrowed`` or ``Waiting``.

        Raises:
            ValueError: There is no such kind.
        """
        if kind not in KINDS:
            raise ValueError(f"{self.node.path}: kind: {kind!r} is not one of {', '.join(KINDS)}")
        return cloudwatch.Metric(
            namespace=self.namespace,
            metric_name=kind,
            dimensions_map={
                "JobQueueName": name_in(self._queue.job_queue_arn, JOB_QUEUE),
                "QuotaShareName": quota_share_name,
                "InstanceType": instance_type,
            },
            statistic="Average",
            period=cdk.Duration.minutes(1),
        )

    def widgets(self) -> list[cloudwatch.IWidget]:
        """A graph for each share declared so far: what it uses of its own, borrows and waits for."""
        return [
            cloudwatch.GraphWidget(
                title=f"Quota share {name}",
                left=[self.metric(kind, name, unit) for unit in share._limits for kind in ("Own", "Borrowed")],
                right=[self.metric("Waiting", name, unit) for unit in share._limits],
                stacked=True,
                width=8,
            )
            for name, share in self._queue.quota_shares.items()
        ]


def _count(shares: Mapping[str, QuotaShare]) -> int:
    return len(KINDS) * sum(len(share._limits) for share in shares.values())


@jsii.implements(cdk.IStableAnyProducer)
class _Limits:
    def __init__(self, shares: Mapping[str, QuotaShare]) -> None:
        self._shares = shares

    def produce(self) -> dict[str, dict[str, int]]:
        return {name: share._limits for name, share in self._shares.items()}


@jsii.implements(cdk.IStableAnyProducer)
class _Count:
    def __init__(self, shares: Mapping[str, QuotaShare]) -> None:
        self._shares = shares

    def produce(self) -> str:
        return str(_count(self._shares))
