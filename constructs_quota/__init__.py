"""CDK constructs for SageMaker quota shares on AWS Batch.

``QuotaTrainingQueue`` is the whole pattern; the others are one AWS resource each.
"""

from constructs_quota.checkpoints import CheckpointOptions, Checkpoints
from constructs_quota.grants import JobQueueGrants, QuotaShareGrants
from constructs_quota.job_queue import NEVER_FITS, QuotaJobQueue
from constructs_quota.quota_share import QuotaShare, QuotaShareOptions
from constructs_quota.resource_sharing import ResourceSharing
from constructs_quota.scheduling_policy import QuotaSchedulingPolicy
from constructs_quota.service_environment import QuotaServiceEnvironment
from constructs_quota.training_queue import QuotaTrainingQueue
from constructs_quota.validation import QuotaPolicyValidation
from policy_engine.policy import SharingStrategy, State, StuckReason

__all__ = [
    "NEVER_FITS",
    "CheckpointOptions",
    "Checkpoints",
    "JobQueueGrants",
    "QuotaJobQueue",
    "QuotaPolicyValidation",
    "QuotaSchedulingPolicy",
    "QuotaServiceEnvironment",
    "QuotaShare",
    "QuotaShareGrants",
    "QuotaShareOptions",
    "QuotaTrainingQueue",
    "ResourceSharing",
    "SharingStrategy",
    "State",
    "StuckReason",
]
