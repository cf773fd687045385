"""Calls an endpoint as a client would, without the client."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from policy_engine.endpoint import Application, ClientError, Endpoint, Settings
from policy_engine.endpoint.application import Response
from policy_engine.policy import Policy

UNIT = "ml.g5.xlarge"
OTHER = "ml.p4d.24xlarge"
QUEUE = "training"
WALKTHROUGH = Policy.of(
    {
        "queue": QUEUE,
        "service_environment": {"capacity_limits": {UNIT: 3}},
        "shares": {
            "QS1": {
                "capacity_limits": {UNIT: 1},
                "strategy": "LEND_AND_BORROW",
                "borrow_limit": 200,
                "in_share_preemption": True,
            },
            "QS2": {"capacity_limits": {UNIT: 1}, "strategy": "LEND", "in_share_preemption": False},
            "QS3": {"capacity_limits": {UNIT: 1}, "strategy": "RESERVE", "in_share_preemption": False},
        },
    }
)
"""AWS's walkthrough."""
EPOCH = 1_767_225_600.0
ARN = "arn:aws:batch:us-east-1:123456789012"


def payload(count: int = 1, unit: str = UNIT, **more: Any) -> str:
    return json.dumps({"ResourceConfig": {"InstanceType": unit, "InstanceCount": count}, **more})


class Caller:
    """One client of one endpoint."""

    def __init__(self, policy: Policy | None = WALKTHROUGH, **settings: Any) -> None:
        self.endpoint = Endpoint(Settings(epoch=EPOCH, seed=0, **settings), [] if policy is None else [policy])
        self.application = Application(self.endpoint)

    def __call__(self, operation: str, **request: Any) -> dict[str, Any]:
        return self.endpoint.call(operation, request)

    def refused(self, operation: str, **request: Any) -> str:
        """The message with which an operation is refused."""
        with pytest.raises(ClientError) as error:
            self(operation, **request)
        assert error.value.code == "ClientException"
        return error.value.message

    def http(self, method: str, path: str, body: Any = b"", query: str = "", **headers: str) -> tuple[int, Any]:
        """Status and answer over HTTP."""
        response = self.raw(method, path, body, query, headers.get("authorization"))
        return response.status, json.loads(response.body)

    def raw(
        self, method: str, path: str, body: Any = b"", query: str = "", authorization: str | None = None
    ) -> Response:
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        return self.application.answer(method, path, query, authorization, sent)

    # --- jobs -------------------------------------------------------------------------------------

    def job(self, name: str = "job", share: str = "QS1", count: int = 1, **more: Any) -> dict[str, Any]:
        """The request of a job."""
        given: dict[str, Any] = {
            "jobName": name,
            "jobQueue": QUEUE,
            "quotaShareName": share,
            "serviceJobType": "SAGEMAKER_TRAINING",
            "serviceRequestPayload": payload(count),
            **more,
        }
        return {key: value for key, value in given.items() if value is not None}

    def submit(self, name: str = "job", share: str = "QS1", count: int = 1, **more: Any) -> str:
        """Submit a job; its id."""
        return str(self("SubmitServiceJob", **self.job(name, share, count, **more))["jobId"])

    def describe(self, job: str) -> dict[str, Any]:
        return self("DescribeServiceJob", jobId=job)

    def states(self, *jobs: str) -> list[str]:
        return [str(self.describe(job)["status"]) for job in jobs]

    def listed(self, **request: Any) -> list[str]:
        """Names of jobs."""
        return [job["jobName"] for job in self("ListServiceJobs", jobQueue=QUEUE, **request)["jobSummaryList"]]

    def usage(self) -> Mapping[str, float]:
        """Instances of each share that has any."""
        found = self("GetJobQueueSnapshot", jobQueue=QUEUE)["queueUtilization"]["quotaShareUtilization"]
        return {
            entry["quotaShareName"]: sum(used["quantity"] for used in entry["capacityUsage"])
            for entry in found["topCapacityUtilization"]
            if entry["capacityUsage"]
        }

    def share_arn(self, share: str) -> str:
        return f"{ARN}:job-queue/{QUEUE}/quota-share/{share}"
