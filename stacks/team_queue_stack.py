"""The teams' queue in one stage."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from constructs_quota import QuotaTrainingQueue
from stacks.stages import Stage


class TeamQueueStack(cdk.Stack):
    """A training queue shared by teams, the same in every stage but for what the stage says.

    Outputs what a submitter has to name: the queue, and one of its quota shares.

    Attributes:
        queue: The queue.
    """

    def __init__(self, scope: Construct, construct_id: str, *, stage: Stage, **kwargs: Any) -> None:
        """Declare the stack; the other keywords are those of ``aws_cdk.Stack``."""
        super().__init__(scope, construct_id, termination_protection=stage.termination_protection, **kwargs)
        self.queue = QuotaTrainingQueue(
            self,
            "Training",
            capacity_limits=stage.capacity_limits,
            quota_shares=stage.quota_shares,
        )
        cdk.CfnOutput(self, "JobQueueName", value=self.queue.job_queue_name, description="jobQueue of a job")
        cdk.CfnOutput(
            self,
            "QuotaShareNames",
            value=",".join(self.queue.quota_shares),
            description="quotaShareName of a job: one of these",
        )
