"""The pages of AWS's documentation that findings rest on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_DOCS: Final = "https://docs.aws.amazon.com"


@dataclass(frozen=True, slots=True)
class Page:
    """One page."""

    name: str
    url: str


def _guide(page: str) -> Page:
    return Page(f"AWS Batch User Guide, {page}", f"{_DOCS}/batch/latest/userguide/{page}.html")


def _api(page: str) -> Page:
    return Page(f"AWS Batch API Reference, {page}", f"{_DOCS}/batch/latest/APIReference/API_{page}.html")


def _resource(page: str) -> Page:
    url = f"{_DOCS}/AWSCloudFormation/latest/TemplateReference/aws-resource-batch-{page.lower()}.html"
    return Page(f"CloudFormation Template Reference, AWS::Batch::{page}", url)


SERVICE_LIMITS: Final = _guide("service_limits")
QUOTA_SHARES: Final = _guide("quota-shares")
CREATE_QUEUE: Final = _guide("create-quota-management-resources")
CREATE_SHARES: Final = _guide("create-quota-shares")
PREEMPTION: Final = _guide("preemption")
NEVER_FITS: Final = _guide("sm_job_stuck_in_runnable_misconfiguration")
TIME_LIMITS: Final = _guide("sm_job_stuck_in_runnable_time_limit_actions")
CAPACITY_LIMIT: Final = _api("CapacityLimit")
SHARE_CAPACITY_LIMIT: Final = _api("QuotaShareCapacityLimit")
SHARING: Final = _api("QuotaShareResourceSharingConfiguration")
CREATE_QUOTA_SHARE: Final = _api("CreateQuotaShare")
CREATE_SCHEDULING_POLICY: Final = _api("CreateSchedulingPolicy")
UPDATE_QUOTA_SHARE: Final = _api("UpdateQuotaShare")
UPDATE_SCHEDULING_POLICY: Final = _api("UpdateSchedulingPolicy")
QUOTA_SHARE: Final = _resource("QuotaShare")
JOB_QUEUE: Final = _resource("JobQueue")
PARAMETERS: Final = Page(
    "CloudFormation User Guide, Parameters",
    f"{_DOCS}/AWSCloudFormation/latest/UserGuide/parameters-section-structure.html",
)
SERVICE_QUOTAS: Final = Page(
    "AWS General Reference, Amazon SageMaker AI endpoints and quotas", f"{_DOCS}/general/latest/gr/sagemaker.html"
)
CHECKPOINTS: Final = Page(
    "SageMaker AI Developer Guide, Checkpoints", f"{_DOCS}/sagemaker/latest/dg/model-checkpoints.html"
)
