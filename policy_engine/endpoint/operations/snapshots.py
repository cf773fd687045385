"""GetJobQueueSnapshot: who is next, and who holds what."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from policy_engine.endpoint.account import Account
from policy_engine.endpoint.resources import Answer, JobQueue
from policy_engine.endpoint.service_jobs import ServiceJob
from policy_engine.policy.rules import MAX_SNAPSHOT_JOBS


def snapshot(account: Account, request: Mapping[str, Any]) -> Answer:
    """GetJobQueueSnapshot."""
    queue = account.find_queue(request["jobQueue"])
    schedule = queue.schedule
    schedule.read()
    now = account.stamp(account.now)
    fronts = {
        share: [] if job is None else [_position(account, queue, job)] for share, job in schedule.fronts().items()
    }
    return {
        "frontOfQueue": {
            "jobs": [_position(account, queue, job) for job in islice(schedule.next_in_line(), MAX_SNAPSHOT_JOBS)],
            "lastUpdatedAt": now,
        },
        "frontOfQuotaShares": {"quotaShares": fronts, "lastUpdatedAt": now},
        "queueUtilization": {**_utilization(schedule.usage()), "lastUpdatedAt": now},
    }


def _position(account: Account, queue: JobQueue, job: ServiceJob) -> Answer:
    """The job, and since when it is in line; when it got to its very place is not kept."""
    since = queue.schedule.clock.state.runnable_since[job.number]
    return {"jobArn": job.arn, "earliestTimeAtPosition": account.stamp(since)}


def _utilization(usage: Mapping[str, Mapping[str, int]]) -> Answer:
    total: dict[str, int] = {}
    for of_share in usage.values():
        for unit, count in of_share.items():
            total[unit] = total.get(unit, 0) + count
    ranked = sorted(usage.items(), key=lambda entry: -sum(entry[1].values()))
    return {
        "totalCapacityUsage": _capacity_usage(total),
        "quotaShareUtilization": {
            "topCapacityUtilization": [
                {"quotaShareName": share, "capacityUsage": _capacity_usage(of_share)} for share, of_share in ranked
            ]
        },
    }


def _capacity_usage(usage: Mapping[str, int]) -> list[Answer]:
    return [{"capacityUnit": unit, "quantity": float(count)} for unit, count in usage.items() if count]
