"""The queue of AWS's announcement of quota management: three teams on three instances."""

from typing import Any

import aws_cdk as cdk
from constructs import Construct

from constructs_quota import QuotaShareOptions, QuotaTrainingQueue, ResourceSharing


class TrainingQueueStack(cdk.Stack):
    """A training queue with one share that borrows, one that lends and one that keeps what it has.

    Outputs what a submitter has to name: the queue, and one of its quota shares.

    Attributes:
        queue: The queue.
    """

    def __init__(self, scope: Construct, construct_id: str, **kwargs: Any) -> None:
        """Declare the stack; the keywords are those of ``aws_cdk.Stack``."""
        super().__init__(scope, construct_id, **kwargs)
        self.queue = QuotaTrainingQueue(
            self,
            "Training",
            capacity_limits={"ml.g5.xlarge": 3},
            quota_shares={
                "QS1": QuotaShareOptions(
                    capacity_limits={"ml.g5.xlarge": 1},
                    resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=200),
                    in_share_preemption=True,
                ),
                "QS2": QuotaShareOptions(
                    capacity_limits={"ml.g5.xlarge": 1},
                    resource_sharing=ResourceSharing.lend(),
                    in_share_preemption=False,
                ),
                "QS3": QuotaShareOptions(
                    capacity_limits={"ml.g5.xlarge": 1},
                    resource_sharing=ResourceSharing.reserve(),
                    in_share_preemption=False,
                ),
            },
        )
        cdk.CfnOutput(self, "JobQueueName", value=self.queue.job_queue_name, description="jobQueue of a job")
        cdk.CfnOutput(
            self,
            "QuotaShareNames",
            value=",".join(self.queue.quota_shares),
            description="quotaShareName of a job: one of these",
        )
