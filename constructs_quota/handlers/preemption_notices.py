"""Tells a topic that a job of its quota share was preempted.

AWS Batch's preemption events name a job, but neither its queue nor its share, so the job is looked up. Environment:
``JOB_QUEUE`` (ARN) and ``TOPICS``, the JSON of quota share to the ARN of its topic.

Source: AWS Batch User Guide, service job preemption events; API, DescribeServiceJob.
"""

import json
import os
from typing import Any

import boto3


def handler(event: dict[str, Any], _context: object) -> str | None:
    """Publish the event to the topic of the job's share; gives the topic, or None where it is nobody's."""
    job_id = event["detail"]["preemptedJobArn"].rpartition("/")[2]
    job = boto3.client("batch").describe_service_job(jobId=job_id)
    topic: str | None = json.loads(os.environ["TOPICS"]).get(job.get("quotaShareName"))
    if topic is None or job["jobQueue"] != os.environ["JOB_QUEUE"]:
        return None
    boto3.client("sns").publish(TopicArn=topic, Subject=subject(event, job), Message=json.dumps(notice(event, job)))
    return topic


def subject(event: dict[str, Any], job: dict[str, Any]) -> str:
    """One line, at most the 100 characters of ASCII that SNS takes."""
    began = event["detail-type"].endswith("Started")
    text = f"{job['quotaShareName']}: {job['jobName']} {'is being preempted' if began else 'was preempted'}"
    return text.encode("ascii", "replace").decode()[:100]


def notice(event: dict[str, Any], job: dict[str, Any]) -> dict[str, Any]:
    """What a person or a program wants to know."""
    summary = job.get("preemptionSummary", {})
    return {
        "event": event["detail-type"],
        "time": event["time"],
        "jobQueue": job["jobQueue"],
        "quotaShareName": job["quotaShareName"],
        "jobName": job["jobName"],
        "jobArn": event["detail"]["preemptedJobArn"],
        "status": event["detail"].get("status"),
        "reason": event["detail"].get("statusReason"),
        "preemptions": summary.get("preemptedAttemptCount"),
    }
