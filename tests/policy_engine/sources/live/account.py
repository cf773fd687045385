"""An AWS account in memory: answers requests as they leave botocore, so that parsing, pages and retries are real."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import boto3
from botocore.awsrequest import AWSResponse

ACCOUNT = "123456789012"
REGION = "us-west-2"
ARN = f"arn:aws:batch:{REGION}:{ACCOUNT}"
QUEUE = f"{ARN}:job-queue/training"
PAGE = 2
"""Items of a page, so that there are several."""

Answer = Callable[[Mapping[str, Any]], Mapping[str, Any]]
_LISTS = {
    "DescribeJobQueues": "jobQueues",
    "DescribeServiceEnvironments": "serviceEnvironments",
    "ListQuotaShares": "quotaShares",
    "ListServiceJobs": "jobSummaryList",
    "ListServiceQuotas": "Quotas",
}


class RefusalError(Exception):
    """AWS's answer is an error."""

    def __init__(self, code: str, message: str = "", status: int = 400) -> None:
        super().__init__(code)
        self.code, self.message, self.status = code, message, status


def limits(**units: int) -> list[dict[str, Any]]:
    """``capacityLimits`` of ``g5_xlarge=3``."""
    return [{"capacityUnit": f"ml.{unit.replace('_', '.')}", "maxCapacity": count} for unit, count in units.items()]


def share(name: str, strategy: str, limit: int = 1, **more: Any) -> dict[str, Any]:
    """What ListQuotaShares says of one."""
    borrow = more.pop("borrow", None)
    return {
        "quotaShareName": name,
        "quotaShareArn": f"{QUEUE}/quota-share/{name}",
        "jobQueueArn": QUEUE,
        "capacityLimits": limits(g5_xlarge=limit),
        "resourceSharingConfiguration": {"strategy": strategy} | ({} if borrow is None else {"borrowLimit": borrow}),
        "preemptionConfiguration": {"inSharePreemption": "ENABLED" if more.pop("in_share", False) else "DISABLED"},
        "state": "ENABLED",
        "status": "VALID",
        **more,
    }


class Account:
    """The queue of AWS's announcement, unless a test changes it, and what was asked."""

    def __init__(self) -> None:
        self.queue: dict[str, Any] = {
            "jobQueueName": "training",
            "jobQueueArn": QUEUE,
            "state": "ENABLED",
            "status": "VALID",
            "priority": 1,
            "schedulingPolicyArn": f"{ARN}:scheduling-policy/quota",
            "serviceEnvironmentOrder": [{"order": 1, "serviceEnvironment": f"{ARN}:service-environment/gpus"}],
            "jobQueueType": "SAGEMAKER_TRAINING",
            "jobStateTimeLimitActions": [
                {
                    "action": "TERMINATE",
                    "state": "RUNNABLE",
                    "reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED",
                    "maxTimeSeconds": 3600,
                }
            ],
            "tags": {"team": "ml"},
        }
        self.policy: dict[str, Any] = {
            "name": "quota",
            "arn": f"{ARN}:scheduling-policy/quota",
            "quotaSharePolicy": {"idleResourceAssignmentStrategy": "FIFO"},
        }
        self.environments: list[dict[str, Any]] = [self.environment("gpus", 3)]
        self.shares = [
            share("QS1", "LEND_AND_BORROW", borrow=200, in_share=True),
            share("QS2", "LEND"),
            share("QS3", "RESERVE"),
        ]
        self.share_tags: dict[str, str] = {}
        self.jobs: list[dict[str, Any]] = []
        self.quotas: dict[str, float] = {"ml.g5.xlarge for training job usage": 10.0}
        self.asked: Counter[str] = Counter()
        """IAM actions of the requests that came."""
        self.refuse: dict[str, list[RefusalError]] = {}
        """Operation to the errors with which its next requests are answered."""

    @staticmethod
    def environment(name: str, capacity: int, **more: Any) -> dict[str, Any]:
        return {
            "serviceEnvironmentName": name,
            "serviceEnvironmentArn": f"{ARN}:service-environment/{name}",
            "serviceEnvironmentType": "SAGEMAKER_TRAINING",
            "state": "ENABLED",
            "status": "VALID",
            "capacityLimits": limits(g5_xlarge=capacity),
            **more,
        }

    # --- answers --------------------------------------------------------------------------------

    def answer(self, operation: str, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        errors = self.refuse.get(operation)
        if errors:
            raise errors.pop(0)
        found: Mapping[str, Any] | list[Any] = getattr(self, f"_{operation}")(asked)
        return self._page(_LISTS[operation], found, asked) if isinstance(found, list) else found

    @staticmethod
    def _page(key: str, items: list[Any], asked: Mapping[str, Any]) -> Mapping[str, Any]:
        token = "NextToken" if key == "Quotas" else "nextToken"
        start = int(asked.get(token) or 0)
        page: dict[str, Any] = {key: items[start : start + PAGE]}
        if start + PAGE < len(items):
            page[token] = str(start + PAGE)
        return page

    def _DescribeJobQueues(self, asked: Mapping[str, Any]) -> list[Any]:  # noqa: N802
        names = {self.queue["jobQueueName"], self.queue["jobQueueArn"]}
        return [self.queue] if names & set(asked["jobQueues"]) else []

    def _DescribeSchedulingPolicies(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: N802
        return {"schedulingPolicies": [self.policy] if self.policy["arn"] in asked["arns"] else []}

    def _DescribeServiceEnvironments(self, asked: Mapping[str, Any]) -> list[Any]:  # noqa: N802
        wanted = asked.get("serviceEnvironments") or [one["serviceEnvironmentArn"] for one in self.environments]
        return [one for one in self.environments if one["serviceEnvironmentArn"] in wanted]

    def _ListQuotaShares(self, _: Mapping[str, Any]) -> list[Any]:  # noqa: N802
        return self.shares

    def _DescribeQuotaShare(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: N802
        one = next(one for one in self.shares if one["quotaShareArn"] == asked["quotaShareArn"])
        return {**one, "tags": self.share_tags}

    def _ListServiceJobs(self, asked: Mapping[str, Any]) -> list[Any]:  # noqa: N802
        keys = ("jobId", "jobName", "jobArn", "status", "createdAt", "startedAt", "scheduledAt", "quotaShareName")
        jobs = [job for job in self.jobs if job["status"] == asked.get("jobStatus", "RUNNING")]
        return [
            {key: job[key] for key in keys if key in job} | {"serviceJobType": "SAGEMAKER_TRAINING"} for job in jobs
        ]

    def _DescribeServiceJob(self, asked: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: N802
        found = next((job for job in self.jobs if job["jobId"] == asked["jobId"]), None)
        if found is None:
            raise RefusalError("ClientException", f"Job {asked['jobId']} does not exist")
        return {"serviceJobType": "SAGEMAKER_TRAINING", "jobQueue": QUEUE, **found}

    def _GetJobQueueSnapshot(self, _: Mapping[str, Any]) -> Mapping[str, Any]:  # noqa: N802
        fronts: dict[str, list[Any]] = {one["quotaShareName"]: [] for one in self.shares}
        for job in sorted(self.jobs, key=lambda job: (-job.get("schedulingPriority", 0), job["createdAt"])):
            if job["status"] == "RUNNABLE" and not fronts[job["quotaShareName"]]:
                front = {"jobArn": job["jobArn"], "earliestTimeAtPosition": job["createdAt"]}
                fronts[job["quotaShareName"]].append(front)
        used: Counter[str] = Counter()
        for job in self.jobs:
            if job["status"] in ("SCHEDULED", "STARTING", "RUNNING"):
                used[job["quotaShareName"]] += job["capacityUsage"][0]["quantity"]
        usage = [
            {"quotaShareName": name, "capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": float(count)}]}
            for name, count in used.items()
        ]
        return {
            "frontOfQuotaShares": {"quotaShares": fronts},
            "queueUtilization": {"quotaShareUtilization": {"topCapacityUtilization": usage}},
        }

    def _ListServiceQuotas(self, _: Mapping[str, Any]) -> list[Any]:  # noqa: N802
        return [{"QuotaName": name, "Value": value} for name, value in self.quotas.items()]

    # --- the wire -------------------------------------------------------------------------------

    def respond(self, request: Any, event_name: str, **_: Any) -> Any:
        """Handles ``before-send``: nothing reaches the network."""
        service, operation = event_name.split(".")[1:]
        prefix = {"batch": "batch", "service-quotas": "servicequotas"}[service]
        self.asked[f"{prefix}:{operation}"] += 1
        try:
            status, body, headers = 200, self.answer(operation, json.loads(request.body or b"{}")), {}
        except RefusalError as error:
            status, body = error.status, {"message": error.message, "__type": error.code}
            headers = {"x-amzn-errortype": error.code}
        return AWSResponse(request.url, status, headers, _Raw(json.dumps(body).encode()))

    @contextmanager
    def reached(self) -> Iterator[None]:
        """Within it every session of boto3 reaches this account."""

        def session(profile_name: str | None = None, region_name: str | None = None) -> Any:
            assert profile_name in (None, "ops")
            return _Session(self, region_name)

        with patch("boto3.Session", session), patch("time.sleep"):
            yield


class _Session:
    """A session whose clients reach the account; what they load is loaded once for all tests."""

    _shared = boto3.Session("testing", "testing")

    def __init__(self, account: Account, region: str | None) -> None:
        self._account = account
        self._region = region

    def client(self, service: str, *, region_name: str | None, config: Any) -> Any:
        made = self._shared.client(service, region_name=region_name or self._region or REGION, config=config)
        made.meta.events.register("before-send", self._account.respond)
        return made


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


def job(name: str, status: str, share: str = "QS1", count: int = 1, **more: Any) -> dict[str, Any]:
    """What DescribeServiceJob says of one. Times in milliseconds."""
    return {
        "jobId": f"id-{name}",
        "jobName": name,
        "jobArn": f"{ARN}:service-job/id-{name}",
        "status": status,
        "quotaShareName": share,
        "createdAt": 1_790_000_000_000,
        "capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": float(count)}],
        "schedulingPriority": 1,
        **more,
    }
