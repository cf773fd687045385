"""What each operation does to an account: a function of the account and the request, held to the model already."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.operations import (
    job_queues,
    listing_jobs,
    quota_shares,
    scheduling_policies,
    service_environments,
    service_jobs,
    snapshots,
    tags,
)
from policy_engine.endpoint.resources import Answer

OPERATIONS: Final[Mapping[str, Callable[[Account, Mapping[str, Any]], Answer]]] = {
    "CreateSchedulingPolicy": scheduling_policies.create,
    "DescribeSchedulingPolicies": scheduling_policies.describe,
    "ListSchedulingPolicies": scheduling_policies.list_all,
    "UpdateSchedulingPolicy": scheduling_policies.update,
    "DeleteSchedulingPolicy": scheduling_policies.delete,
    "CreateServiceEnvironment": service_environments.create,
    "DescribeServiceEnvironments": service_environments.describe,
    "UpdateServiceEnvironment": service_environments.update,
    "DeleteServiceEnvironment": service_environments.delete,
    "CreateJobQueue": job_queues.create,
    "DescribeJobQueues": job_queues.describe,
    "UpdateJobQueue": job_queues.update,
    "DeleteJobQueue": job_queues.delete,
    "CreateQuotaShare": quota_shares.create,
    "DescribeQuotaShare": quota_shares.describe,
    "ListQuotaShares": quota_shares.list_all,
    "UpdateQuotaShare": quota_shares.update,
    "DeleteQuotaShare": quota_shares.delete,
    "SubmitServiceJob": service_jobs.submit,
    "DescribeServiceJob": service_jobs.describe,
    "UpdateServiceJob": service_jobs.update,
    "TerminateServiceJob": service_jobs.terminate,
    "TerminateServiceJobs": service_jobs.terminate_several,
    "ListServiceJobs": listing_jobs.list_jobs,
    "GetJobQueueSnapshot": snapshots.snapshot,
    "ListTagsForResource": tags.list_all,
    "TagResource": tags.add,
    "UntagResource": tags.remove,
}
"""The operations of quota management; the others of AWS Batch are not served."""
