"""The jobs that a live queue holds now, as a scenario that begins now.

What a scenario cannot say is read so: a running job is submitted when it was dispatched; waiting ones are submitted at
zero, in the order in which AWS got them; a job that AWS is stopping already waits again. How long a job will run AWS
does not know either: it is what the job says of itself, or at most what it is allowed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from policy_engine.policy import priority_problem
from policy_engine.sources.live import HOLDING, WAITING, LiveQueue, describe_job, list_jobs
from policy_engine.sources.reading import Document, Spot
from policy_engine.sources.validation import validated
from policy_engine.workload.durations import duration_text, parse_duration
from policy_engine.workload.history.batch import demand_of, mappings, retries_of
from policy_engine.workload.scenario import Scenario
from policy_engine.workload.scenario_file import ScenarioFile

DURATION_TAG: Final = "policy-engine:duration"
"""Tag with which a job says how long it runs: ``2h``."""
OVERDUE_SECONDS: Final = 60.0
"""A job that has run longer than it may is taken to end so long from now."""
_STOPPING: Final = "PREEMPTION_IN_PROGRESS"
"""How the status reason of a running job begins that AWS is stopping (UG batch-service-job-preemption-events)."""
_DAY: Final = 86_400.0
"""SageMaker's own limit where a training request gives none (SageMaker API StoppingCondition)."""

_Told = Mapping[str, Any]


@dataclass(frozen=True)
class Held:
    """The jobs of one queue at one moment."""

    data: Mapping[str, Any]
    """The scenario, as its file would have it."""
    at: datetime
    """The scenario's zero."""
    left_out: tuple[str, ...]
    """Jobs whose instance type nothing tells, each with its id."""
    guessed: int
    """Jobs that run until SageMaker's limit of a day, for all that is known."""

    @property
    def running(self) -> int:
        """Jobs that hold instances."""
        return len(self.data["running"])

    @property
    def waiting(self) -> int:
        """Jobs that wait for some."""
        return len(self.data["jobs"])


def hold(
    queue: LiveQueue,
    *,
    duration: float | None = None,
    now: float | None = None,
    tell: Callable[[str, float], None] | None = None,
) -> Held:
    """Ask AWS for every job that waits or runs.

    Args:
        queue: from ``open_queue``.
        duration: seconds that a job runs which neither says it nor has a limit; None: SageMaker's own limit, a day.
        now: seconds since 1970; None asks the clock.
        tell: told what is done, and the part of it, 0 to 1.

    Raises:
        InputError: AWS cannot be asked.
    """
    listed = list(list_jobs(queue.access, queue.arn, (*WAITING, *HOLDING)))
    told: list[_Told] = []
    for number, summary in enumerate(listed):
        told.append({**summary, **describe_job(queue.access, str(summary["jobId"]))})
        if tell is not None:
            tell(f"job {number + 1} of {len(listed)}", (number + 1) / len(listed))
    moment = datetime.now(UTC) if now is None else datetime.fromtimestamp(now, UTC)
    return held(told, queue.name, moment, duration)


def held(told: Iterable[_Told], queue: str, at: datetime, duration: float | None = None) -> Held:
    """What DescribeServiceJob tells of jobs, as a scenario from ``at`` on; those that ended are no part of it."""
    jobs = sorted((job for job in told if job.get("status") in (*WAITING, *HOLDING)), key=_place)
    named = Counter(_name(job) for job in jobs)
    left_out: list[str] = []
    running: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []
    guessed = 0
    for job in jobs:
        name = _name(job) if named[_name(job)] == 1 else f"{_name(job)}/{job['jobId']}"
        demand = demand_of(job)
        if demand is None or not job.get("quotaShareName"):
            left_out.append(f"{name} ({job['jobId']})")
            continue
        length, is_guessed = _length(job, duration)
        guessed += is_guessed
        entry = {"name": name, "share": job["quotaShareName"], **_instances(demand), **_priority(job), **_retries(job)}
        if _holds(job):
            started = min(0.0, _seconds(_dispatched(job)) - at.timestamp())
            running.append(
                entry | {"duration": _text(max(length, OVERDUE_SECONDS - started)), "started": _text(started)}
            )
        else:
            waiting.append(entry | {"duration": _text(length)})
    running.sort(key=lambda entry: parse_duration(entry["started"]))
    data = {"queue": queue, "running": running, "jobs": waiting}
    return Held(data, at, tuple(left_out), guessed)


def held_scenario(held: Held, source: str) -> Scenario:
    """The scenario itself; errors about it name ``source``. Raises InputError."""
    document = Document(source, "", dict(held.data), lambda: Spot(0))
    return Scenario(document, validated(document, ScenarioFile))


def _holds(job: _Told) -> bool:
    return job["status"] in HOLDING and not str(job.get("statusReason") or "").startswith(_STOPPING)


def _place(job: _Told) -> tuple[float, str]:
    return float(job.get("createdAt") or 0), str(job["jobId"])


def _name(job: _Told) -> str:
    return str(job.get("jobName") or job["jobId"])


def _dispatched(job: _Told) -> float:
    """When it got its instances, in milliseconds; the nearest time that AWS tells."""
    attempts = [attempt.get("startedAt") for attempt in mappings(job.get("attempts"))]
    times = (job.get("scheduledAt"), job.get("startedAt"), *reversed(attempts), job.get("createdAt"))
    return next((float(time) for time in times if time), 0.0)


def _seconds(milliseconds: float) -> float:
    return milliseconds / 1000


def _instances(demand: Mapping[str, int]) -> dict[str, Any]:
    groups = [{"instance_type": unit, "instance_count": count} for unit, count in demand.items()]
    return groups[0] if len(groups) == 1 else {"instance_groups": groups}


def _priority(job: _Told) -> dict[str, int]:
    given = job.get("schedulingPriority")
    return {} if given is None or priority_problem(given) is not None else {"priority": int(given)}


def _retries(job: _Told) -> dict[str, int]:
    """What is left of its requeues after preemption."""
    retries = retries_of(job)
    if retries is None:
        return {}
    suffered = (job.get("preemptionSummary") or {}).get("preemptedAttemptCount") or 0
    return {"preemption_retries": max(0, retries - int(suffered))}


def _length(job: _Told, default: float | None) -> tuple[float, bool]:
    """Seconds that it runs: by its tag, else as long as it may, else the default; is it a guess?"""
    tag = (job.get("tags") or {}).get(DURATION_TAG)
    if tag is not None:
        with suppress(ValueError):
            return max(0.0, parse_duration(tag)), False
    allowed = [seconds for seconds in _allowed(job) if seconds > 0]
    if allowed:
        return min(allowed), False
    return (_DAY, True) if default is None else (default, False)


def _allowed(job: _Told) -> Iterator[float]:
    """Seconds that the job's own limits give it."""
    attempt = (job.get("timeoutConfig") or {}).get("attemptDurationSeconds")
    payload = job.get("serviceRequestPayload")
    try:
        request = json.loads(payload) if isinstance(payload, str) else payload
    except ValueError:
        request = None
    condition = request.get("StoppingCondition") if isinstance(request, dict) else None
    longest = condition.get("MaxRuntimeInSeconds") if isinstance(condition, dict) else None
    for seconds in (attempt, longest):
        if isinstance(seconds, int | float) and not isinstance(seconds, bool):
            yield float(seconds)


def _text(seconds: float) -> str:
    return duration_text(round(seconds))
