"""Publishes what each quota share uses and waits for, which AWS Batch has no metric of.

Runs on a schedule. Environment: ``JOB_QUEUE`` (name or ARN), ``NAMESPACE``, and ``LIMITS``, the JSON of quota share to
instance type to the share's own limit.

Source: AWS Batch API, GetJobQueueSnapshot and ListServiceJobs; CloudWatch API, PutMetricData (1000 metrics a call).
"""

import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import boto3

AT_ONCE = 1000
Usage = Counter[tuple[str, str]]


def handler(_event: object, _context: object) -> int:
    """Publish the metrics of the queue; gives how many."""
    queue, limits = os.environ["JOB_QUEUE"], json.loads(os.environ["LIMITS"])
    batch = boto3.client("batch")
    snapshot = batch.get_job_queue_snapshot(jobQueue=queue)
    data = list(metrics(queue.rpartition("/")[2], limits, used(snapshot), waiting(batch, queue)))
    cloudwatch = boto3.client("cloudwatch")
    for start in range(0, len(data), AT_ONCE):
        cloudwatch.put_metric_data(Namespace=os.environ["NAMESPACE"], MetricData=data[start : start + AT_ONCE])
    return len(data)


def used(snapshot: dict[str, Any]) -> Usage:
    """Instances that each share's dispatched jobs hold, by share and instance type."""
    shares = snapshot.get("queueUtilization", {}).get("quotaShareUtilization", {}).get("topCapacityUtilization", [])
    return total((share["quotaShareName"], share.get("capacityUsage", [])) for share in shares)


def waiting(batch: Any, queue: str) -> Usage:
    """Instances that each share's RUNNABLE jobs ask for, by share and instance type."""
    pages = batch.get_paginator("list_service_jobs").paginate(jobQueue=queue, jobStatus="RUNNABLE")
    jobs = [job for page in pages for job in page["jobSummaryList"]]
    unknown = [job["jobId"] for job in jobs if not job.get("capacityUsage")]
    if unknown:
        logging.getLogger().warning("%d waiting jobs whose capacity is not known, such as %s", len(unknown), unknown[0])
    return total((job.get("quotaShareName", ""), job.get("capacityUsage", [])) for job in jobs)


def total(usages: Iterable[tuple[str, list[dict[str, Any]]]]) -> Usage:
    """The sum of capacity usages, by share and instance type."""
    instances: Usage = Counter()
    for share, usage in usages:
        for entry in usage:
            instances[share, entry["capacityUnit"]] += entry["quantity"]
    return instances


def metrics(queue: str, limits: dict[str, dict[str, int]], used: Usage, waiting: Usage) -> Iterator[dict[str, Any]]:
    """Four metrics for each share and instance type that has a limit."""
    for share, units in limits.items():
        for unit, limit in units.items():
            now = used[share, unit]
            values = {
                "Used": now,
                "Own": min(now, limit),
                "Borrowed": max(0, now - limit),
                "Waiting": waiting[share, unit],
            }
            names = {"JobQueueName": queue, "QuotaShareName": share, "InstanceType": unit}
            dimensions = [{"Name": name, "Value": value} for name, value in names.items()]
            for name, value in values.items():
                yield {"MetricName": name, "Dimensions": dimensions, "Value": value, "Unit": "Count"}
