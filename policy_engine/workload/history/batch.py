"""Histories as AWS Batch tells them: JSON of ListServiceJobs and DescribeServiceJob.

One response or many: a list of them, pages one after the other, JSON lines. What the summaries of a list leave out
(priority, the training request) comes from DescribeServiceJob, and both may be given for one job.
Sources: API Reference pages ``ServiceJobSummary``, ``DescribeServiceJob``, ``ServiceJobCapacityUsageSummary``.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from policy_engine.errors import InputError
from policy_engine.policy import priority_problem, unit_problem
from policy_engine.workload.history.assembling import Assembly
from policy_engine.workload.history.statuses import Status, status_of

_STATES: Final = ("SUBMITTED", "PENDING", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED")
"""In the order in which a job goes through them."""
_LISTS: Final = ("jobSummaryList", "jobs")
_MILLISECONDS_FROM: Final = 1e11
"""A number below is seconds: as milliseconds it would be before 1973."""

_NO_ID: Final = "no jobId"
_NO_SUBMIT: Final = "no createdAt that can be read"
_NO_SHARE: Final = "no quotaShareName (a container job, or a queue without quota shares)"
_NO_CAPACITY: Final = "neither capacityUsage of an instance type nor a ResourceConfig in serviceRequestPayload"
_NEVER_STARTED: Final = "never started: how long it would run is not known"
_BACKWARDS: Final = "stopped before it started"
_SECONDS: Final = "times in seconds, where AWS Batch gives milliseconds: read as seconds"
_AGAIN: Final = "told of more than once: put together, the later state counts"
_ATTEMPTS: Final = "more than one attempt: the run time of the last is taken as the work"
_NO_PRIORITY: Final = "no schedulingPriority: ListServiceJobs has none, DescribeServiceJob has"
_ALL_RUNNING: Final = "every job is RUNNING: ListServiceJobs tells of no others unless it is asked for by --job-status"

_Told = Mapping[str, Any]
"""A job, as one response or several tell of it."""


def read_batch(assembly: Assembly, text: str) -> None:
    """Add the jobs of the text to the assembly. Raises InputError for what is wrong with the whole file."""
    reader = BatchReader(assembly)
    reader.gather(text)
    reader.finish()


def _documents(file: str, text: str) -> Iterator[tuple[Any, int]]:
    """The JSON values of the text, however they follow one another, each with its line."""
    decoder = json.JSONDecoder()
    at, line, counted = 0, 1, 0
    while True:
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        if at == len(text):
            return
        line, counted = line + text.count("\n", counted, at), at
        try:
            document, at = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            what = f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}"
            raise InputError(what, file=file, line=error.lineno, column=error.colno) from None
        except RecursionError:
            raise InputError("not valid JSON: nested too deeply", file=file, line=line) from None
        yield document, line


def _jobs_told(file: str, value: Any, line: int) -> Iterator[_Told]:
    """Every job that a response tells of."""
    if isinstance(value, list):
        for item in value:
            yield from _jobs_told(file, item, line)
        return
    if not isinstance(value, dict):
        raise InputError(f"{value!r} where a response of AWS Batch is expected", file=file, line=line)
    lists = [key for key in _LISTS if isinstance(value.get(key), list)]
    if lists:
        yield from (job for key in lists for job in mappings(value[key]))
    elif "jobId" in value or "jobArn" in value:
        yield value
    elif value and all(isinstance(item, dict | list) for item in value.values()):
        yield from _jobs_told(file, list(value.values()), line)
    else:
        keys = ", ".join(map(repr, value)) or "none"
        what = f"no response of ListServiceJobs or DescribeServiceJob; its keys: {keys}"
        raise InputError(what, file=file, line=line)


class BatchReader:
    """Puts together what is told of each job, and makes jobs of it."""

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self.remarks = assembly.remarks
        self.told: dict[str, _Told] = {}
        self.demands: dict[tuple[tuple[str, int], ...], dict[str, int]] = {}
        """Jobs of one size share a mapping."""

    def gather(self, text: str) -> None:
        """Take everything that the text tells. Raises InputError for what is wrong with the whole file."""
        for document, line in _documents(self.assembly.file, text):
            for told in _jobs_told(self.assembly.file, document, line):
                self.take(told)

    def take(self, told: _Told) -> None:
        """Something more is told of a job."""
        job = told.get("jobId") or str(told.get("jobArn", "")).rpartition("/")[2]
        if not isinstance(job, str) or not job:
            self.remarks.lose(_NO_ID, str(told.get("jobName", "?")))
            return
        known = self.told.get(job)
        if known is not None:
            self.remarks.note(_AGAIN, job)
            earlier, later = sorted((known, told), key=_state)
            told = {**earlier, **{key: value for key, value in later.items() if value is not None}}
        self.told[job] = told

    def finish(self) -> None:
        """Make jobs of what was told."""
        states = {told.get("status") for told in self.told.values()}
        if states == {"RUNNING"}:
            self.remarks.note(_ALL_RUNNING, count=len(self.told))
        for (job, told), name in zip(self.told.items(), self.names(), strict=True):
            self._job(job, name, told)

    def names(self) -> list[str]:
        """The name of each job, with its id where another job has the name too."""
        names = [str(told.get("jobName") or job) for job, told in self.told.items()]
        times = Counter(names)
        return [name if times[name] == 1 else f"{name}/{job}" for name, job in zip(names, self.told, strict=True)]

    def _job(self, job: str, name: str, told: _Told) -> None:
        assembly, remarks = self.assembly, self.remarks
        team = told.get("quotaShareName") or told.get("shareIdentifier")
        if not team:
            remarks.lose(_NO_SHARE, job)
            return
        share = assembly.share(str(team), job)
        if share is None:
            return
        submit = self.instant(told.get("createdAt"), job)
        if submit is None:
            remarks.lose(_NO_SUBMIT, job)
            return
        demand = demand_of(told)
        if demand is None:
            remarks.lose(_NO_CAPACITY, job)
            return
        demand = self.demands.setdefault(tuple(demand.items()), demand)
        text = str(told.get("status") or "")
        status = status_of(text)
        if told.get("isTerminated"):
            status = Status.FAILED
        starts, duration = self._ran(job, told)
        if not starts or (duration is None and status is not Status.RUNNING):
            remarks.lose(_NEVER_STARTED, job)
            return
        if duration is not None and duration < 0:
            remarks.lose(_BACKWARDS, job)
            return
        exit_ = assembly.exit(status, text, job)
        retries = retries_of(told)
        assembly.add(submit, name, share, demand, self.priority(told, job), duration, min(starts), exit_, retries)

    def _ran(self, job: str, told: _Told) -> tuple[list[float], float | None]:
        """When its attempts started, and the seconds that the last one ran; None while it does."""
        preempted = (told.get("preemptionSummary") or {}).get("recentPreemptedAttempts")
        attempts = [told, *mappings(told.get("attempts")), *mappings([told.get("latestAttempt")])]
        spans = {
            (start, self.instant(attempt.get("stoppedAt"), job))
            for attempt in (*attempts, *mappings(preempted))
            if (start := self.instant(attempt.get("startedAt"), job)) is not None
        }
        starts = sorted({start for start, _ in spans})
        if len(starts) > 1:
            self.remarks.note(_ATTEMPTS, job)
        if not starts:
            return [], None
        stops = [stop for start, stop in spans if start == starts[-1] and stop is not None]
        return starts, min(stops) - starts[-1] if stops else None

    def instant(self, value: object, job: str) -> float | None:
        """Seconds since 1970; None for what is no time, and for the 0 of a job that never started."""
        if isinstance(value, str):
            try:
                return self.assembly.times.instant(value, job)
            except ValueError:
                return None
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
            return None
        if self.assembly.map.time_unit is None and value < _MILLISECONDS_FROM:
            self.remarks.note(_SECONDS, job)
            return float(value)
        return value * self.assembly.times.scale

    def priority(self, told: _Told, job: str) -> int | None:
        """The job's own priority, or what the map makes of it; None where it has none."""
        given = told.get("schedulingPriority")
        if given is None:
            self.remarks.note(_NO_PRIORITY, job)
            return self.assembly.map.priority("")
        if priority_problem(given) is None:
            return int(given)
        return self.assembly.priority(str(given), job)


def _state(told: _Told) -> int:
    """How far the job has come."""
    status = told.get("status")
    return _STATES.index(status) if status in _STATES else -1


def mappings(value: object) -> Sequence[_Told]:
    """The mappings in a list; none where it is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def demand_of(told: _Told) -> dict[str, int] | None:
    """Instance type to instances, from ``capacityUsage``, else from the training request."""
    usage = ((item.get("capacityUnit"), item.get("quantity")) for item in mappings(told.get("capacityUsage")))
    found = _counted(usage)
    if found is not None:
        return found
    payload = told.get("serviceRequestPayload")
    if isinstance(payload, str):
        try:
            payload = json.loads(payload)
        except ValueError:
            return None
    config = payload.get("ResourceConfig") if isinstance(payload, dict) else None
    if not isinstance(config, dict):
        return None
    groups = mappings(config.get("InstanceGroups")) or [config]
    return _counted((group.get("InstanceType"), group.get("InstanceCount", 1)) for group in groups)


def _counted(pairs: Iterable[tuple[object, object]]) -> dict[str, int] | None:
    """Instances by type, where every pair is one; ``NUM_INSTANCES`` of fair-share queues is no type."""
    demand: dict[str, int] = {}
    for unit, count in pairs:
        if not isinstance(unit, str) or unit_problem(unit) is not None:
            return None
        if isinstance(count, bool) or not isinstance(count, int | float) or count < 1 or count != int(count):
            return None
        demand[unit] = demand.get(unit, 0) + int(count)
    return demand or None


def retries_of(told: _Told) -> int | None:
    """``preemptionRetriesBeforeTermination``; None is without limit (R10)."""
    configuration = told.get("preemptionConfiguration")
    given = configuration.get("preemptionRetriesBeforeTermination") if isinstance(configuration, dict) else None
    return given if isinstance(given, int) and not isinstance(given, bool) and given >= 0 else None
