"""CDK constructs for SageMaker quota shares on AWS Batch.

``QuotaTrainingQueue`` is the whole pattern; the others are one AWS resource each.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from constructs_quota.checkpoints import CheckpointOptions, Checkpoints
from constructs_quota.grants import JobQueueGrants, QuotaShareGrants
from constructs_quota.job_queue import NEVER_FITS, QuotaJobQueue
from constructs_quota.monitoring import QueueMonitoring
from constructs_quota.quota_share import QuotaShare, QuotaShareOptions
from constructs_quota.resource_sharing import ResourceSharing
from constructs_quota.scheduling_policy import QuotaSchedulingPolicy
from constructs_quota.service_environment import QuotaServiceEnvironment
from constructs_quota.training_queue import QuotaTrainingQueue
from constructs_quota.validation import QuotaPolicyValidation
from policy_engine.policy import SharingStrategy, State, StuckReason

if TYPE_CHECKING:
    from constructs_quota.preemption_notices import PreemptionNotices
    from constructs_quota.share_metrics import ShareMetrics

__all__ = [
    "NEVER_FITS",
    "CheckpointOptions",
    "Checkpoints",
    "JobQueueGrants",
    "PreemptionNotices",
    "QueueMonitoring",
    "QuotaJobQueue",
    "QuotaPolicyValidation",
    "QuotaSchedulingPolicy",
    "QuotaServiceEnvironment",
    "QuotaShare",
    "QuotaShareGrants",
    "QuotaShareOptions",
    "QuotaTrainingQueue",
    "ResourceSharing",
    "ShareMetrics",
    "SharingStrategy",
    "State",
    "StuckReason",
]

_LAZY: Final = {"PreemptionNotices": "preemption_notices", "ShareMetrics": "share_metrics"}
"""What needs AWS services that take long to load, and where it is."""


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
