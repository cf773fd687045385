"""The walkthrough through boto3 at AWS_ENDPOINT_URL_BATCH: resources made, jobs run, everything deleted."""

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import boto3

if TYPE_CHECKING:
    from tests.policy_engine.endpoint.clients.walkthrough import walk
else:
    from walkthrough import walk  # beside this script, also where there is no package `tests`

UNIT = "ml.g5.xlarge"
SHARES: dict[str, tuple[dict[str, Any], str]] = {
    "QS1": ({"strategy": "LEND_AND_BORROW", "borrowLimit": 200}, "ENABLED"),
    "QS2": ({"strategy": "LEND"}, "DISABLED"),
    "QS3": ({"strategy": "RESERVE"}, "DISABLED"),
}


class Boto3:
    """boto3 as the client of the walkthrough."""

    def __init__(self) -> None:
        self.batch = boto3.client("batch")

    def create(self) -> None:
        """The queue with all that belongs to it, waited for as one would."""
        policy = self.batch.create_scheduling_policy(
            name="policy", quotaSharePolicy={"idleResourceAssignmentStrategy": "FIFO"}
        )["arn"]
        self.batch.create_service_environment(
            serviceEnvironmentName="environment",
            serviceEnvironmentType="SAGEMAKER_TRAINING",
            state="ENABLED",
            capacityLimits=[{"maxCapacity": 3, "capacityUnit": UNIT}],
        )
        [environment] = self.batch.describe_service_environments(serviceEnvironments=["environment"])[
            "serviceEnvironments"
        ]
        assert environment["status"] == "VALID"
        self.batch.create_job_queue(
            jobQueueName="queue",
            jobQueueType="SAGEMAKER_TRAINING",
            state="ENABLED",
            priority=1,
            schedulingPolicyArn=policy,
            serviceEnvironmentOrder=[{"order": 1, "serviceEnvironment": environment["serviceEnvironmentArn"]}],
        )
        for name, (sharing, in_share) in SHARES.items():
            arn = self.batch.create_quota_share(
                quotaShareName=name,
                jobQueue="queue",
                capacityLimits=[{"maxCapacity": 1, "capacityUnit": UNIT}],
                resourceSharingConfiguration=sharing,
                preemptionConfiguration={"inSharePreemption": in_share},
                state="ENABLED",
            )["quotaShareArn"]
            assert self.batch.describe_quota_share(quotaShareArn=arn)["status"] == "VALID"

    def submit(self, name: str, share: str, priority: int) -> str:
        return str(
            self.batch.submit_service_job(
                jobName=name,
                jobQueue="queue",
                quotaShareName=share,
                schedulingPriority=priority,
                serviceJobType="SAGEMAKER_TRAINING",
                serviceRequestPayload=json.dumps({"ResourceConfig": {"InstanceType": UNIT, "InstanceCount": 1}}),
            )["jobId"]
        )

    def listed(self, share: str, status: str) -> Sequence[str]:
        pages = self.batch.get_paginator("list_service_jobs").paginate(
            jobQueue="queue", jobStatus=status, filters=[{"name": "QUOTA_SHARE_NAME", "values": [share]}]
        )
        return [job["jobName"] for page in pages for job in page["jobSummaryList"]]

    def raise_to(self, job: str, priority: int) -> None:
        self.batch.update_service_job(jobId=job, schedulingPriority=priority)

    def preempted_because(self, job: str) -> str | None:
        summary = self.batch.describe_service_job(jobId=job).get("preemptionSummary")
        return None if summary is None else str(summary["recentPreemptedAttempts"][0]["statusReason"])

    def delete(self) -> None:
        """As AWS wants it: disabled first, from the shares to the environment."""
        for share in self.batch.list_quota_shares(jobQueue="queue")["quotaShares"]:
            self.batch.update_quota_share(quotaShareArn=share["quotaShareArn"], state="DISABLED")
            self.batch.delete_quota_share(quotaShareArn=share["quotaShareArn"])
        [queue] = self.batch.describe_job_queues(jobQueues=["queue"])["jobQueues"]
        self.batch.update_job_queue(jobQueue="queue", state="DISABLED")
        self.batch.delete_job_queue(jobQueue="queue")
        self.batch.update_service_environment(serviceEnvironment="environment", state="DISABLED")
        self.batch.delete_service_environment(serviceEnvironment="environment")
        self.batch.delete_scheduling_policy(arn=queue["schedulingPolicyArn"])
        assert self.batch.describe_job_queues()["jobQueues"] == []
        assert self.batch.describe_service_environments()["serviceEnvironments"] == []


if __name__ == "__main__":
    client = Boto3()
    client.create()
    jobs = walk(client)
    client.delete()
    ended = [client.batch.describe_service_job(jobId=job)["status"] for job in jobs.values()]
    assert ended == ["FAILED"] * len(jobs), "the jobs of a deleted share are terminated"
