"""Tells a team that its jobs are preempted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sns as sns
from constructs import Construct

from constructs_quota.declared import hold
from constructs_quota.handler_function import HandlerFunction
from constructs_quota.monitoring import PREEMPTION_COMPLETED, PREEMPTION_STARTED

if TYPE_CHECKING:
    from constructs_quota.job_queue import JobQueueBase


class PreemptionNotices(Construct):
    """Routes the preemptions of a queue's jobs to a topic for each quota share.

    The events name neither queue nor share (UG service job preemption events), so a function looks each job up. It is
    called for every preemption in the account and Region.
    """

    def __init__(self, scope: Construct, construct_id: str, *, job_queue: JobQueueBase) -> None:
        super().__init__(scope, construct_id)
        self._topics: dict[str, str] = {}
        # The topics that there are when the template is written.
        topics = cdk.Stack.of(self).to_json_string(cdk.Lazy.any(_Topics(self._topics)))
        self._handler = HandlerFunction(
            self,
            "Handler",
            handler="preemption_notices",
            description="Preemption notices per quota share",
            environment={"JOB_QUEUE": job_queue.job_queue_arn, "TOPICS": topics},
            # It has no resource level.
            statements=[iam.PolicyStatement(actions=["batch:DescribeServiceJob"], resources=["*"])],
        )
        events.Rule(
            self,
            "Preemptions",
            event_pattern=events.EventPattern(
                source=["aws.batch"], detail_type=[PREEMPTION_STARTED, PREEMPTION_COMPLETED]
            ),
            targets=[targets.LambdaFunction(self._handler.function)],
        )

    def add(self, quota_share_name: str, topic: sns.ITopic) -> None:
        """Send the share's preemptions to the topic. Raises ValueError: it has one already, or that is no topic."""
        hold("topic", topic, "topic_arn", "a topic; import one that exists with sns.Topic.from_topic_arn")
        if quota_share_name in self._topics:
            raise ValueError(f"{self.node.path}: quota_share_name: {quota_share_name!r} has a topic already")
        self._topics[quota_share_name] = topic.topic_arn
        topic.grant_publish(self._handler.function)


@jsii.implements(cdk.IStableAnyProducer)
class _Topics:
    def __init__(self, topics: dict[str, str]) -> None:
        self._topics = topics

    def produce(self) -> dict[str, str]:
        return self._topics
