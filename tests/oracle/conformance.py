"""The golden results of the specification, read into the engines' inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job, Timing, Update, UpdatePriority, Workload

FOLDER = Path(__file__).parent.parent / "conformance"
UNIT = "ml.g5.xlarge"


def read(name: str, what: str) -> list[dict[str, Any]]:
    """What a file of golden results holds."""
    data: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return data[what]


def workload_of(scenario: Mapping[str, Any]) -> Workload:
    """The workload of a timeline, which uses few of a scenario's keys."""
    return Workload(
        jobs=tuple(_job(job) for job in scenario["jobs"]),
        updates=tuple(_update(event) for event in scenario.get("events", [])),
        timing=Timing(**scenario["timing"]),
    )


def _job(data: Mapping[str, Any]) -> Job:
    plain = {key: value for key, value in data.items() if key != "instance_count"}
    return Job(demand={UNIT: data["instance_count"]}, **plain)


def _update(event: Mapping[str, Any]) -> Update:
    match dict(event):
        case {"at": at, "update_priority": fields}:
            return UpdatePriority(at, **fields)
    raise NotImplementedError(f"no timeline has had {event} before")


def case_of(case: Mapping[str, Any]) -> tuple[Policy, Workload]:
    """The policy and workload of a preemption case: the incoming job comes last."""
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {UNIT: sum(s["limit"] for s in case["shares"].values())}},
            "shares": {
                name: {
                    "capacity_limits": {UNIT: share["limit"]},
                    "strategy": share["strategy"],
                    "borrow_limit": share["borrow_limit"],
                    "in_share_preemption": share["in_share_preemption"],
                }
                for name, share in case["shares"].items()
            },
        }
    )
    jobs = [
        Job(job["name"], job["share"], {UNIT: job["count"]}, job["priority"], started=job["started"])
        for job in case["running"]
    ]
    new = case["incoming"]
    incoming = Job(new["name"], new["share"], {UNIT: new["count"]}, new["priority"], submit=1)
    return policy, Workload(jobs=(*jobs, incoming))
