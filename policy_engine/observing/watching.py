"""A live queue at a glance: what each share uses and borrows, who is first in line, what the engine expects next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from time import time
from typing import Any, Final

from policy_engine.explaining import explain
from policy_engine.observing.holding import Held, held, held_scenario
from policy_engine.policy import Policy
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.log import Event, Kind
from policy_engine.simulation import Run, simulate
from policy_engine.sources.live import HOLDING, WAITING, LiveQueue, describe_job, list_jobs, queue_snapshot
from policy_engine.workload.history.batch import demand_of, mappings

EXPECTED: Final = 6
"""Of what the engine expects, so many events are told."""
FRESH_SECONDS: Final = 300.0
"""A job that keeps its state is asked for again after so long: its priority may have been changed."""

_TELLING: Final = frozenset({Kind.STARTED, Kind.PREEMPTED, Kind.FAILED, Kind.TERMINATED, Kind.BLOCKED})

_Told = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Row:
    """One share on one instance type. Instances."""

    share: str
    unit: str
    limit: int
    used: int
    waiting: int
    """What the waiting jobs ask for."""
    waiting_jobs: int

    @property
    def own(self) -> int:
        """In use within the share's own limit."""
        return min(self.used, self.limit)

    @property
    def borrowed(self) -> int:
        """In use beyond it."""
        return max(0, self.used - self.limit)


@dataclass(frozen=True, slots=True)
class Front:
    """The first job in line of a share."""

    share: str
    job: str
    since: float | None
    """Seconds that it has been first."""
    demand: Mapping[str, int]
    priority: int | None
    why: str
    """Why it waits, by the engine."""


@dataclass(frozen=True)
class Sight:
    """A queue at one moment."""

    name: str
    description: str
    at: datetime
    policy: Policy
    rows: tuple[Row, ...]
    fronts: tuple[Front, ...]
    held: Held
    expected: tuple[Event, ...]
    """What the engine says comes next. Times are seconds from ``at``."""
    is_endless: bool = False
    """By the documented rules jobs would stop each other over and over: nothing can be expected."""


class Jobs:
    """The jobs of a queue, asked for anew where their state has changed or some time has passed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, float, _Told]] = {}

    def of(self, queue: LiveQueue, now: float) -> list[_Told]:
        """Everything that AWS tells of each job that waits or runs. Raises InputError."""
        known, self._known = self._known, {}
        for summary in list_jobs(queue.access, queue.arn, (*WAITING, *HOLDING)):
            job, status = str(summary["jobId"]), str(summary.get("status"))
            found = known.get(job)
            if found is None or found[0] != status or now - found[1] > FRESH_SECONDS:
                found = (status, now, describe_job(queue.access, job))
            self._known[job] = found
        return [{**told, "status": status} for status, _, told in self._known.values()]


def look(queue: LiveQueue, jobs: Jobs | None = None, *, now: float | None = None) -> Sight:
    """Look at the queue once.

    Args:
        queue: read anew for each look, so that changed limits are seen.
        jobs: what is known from looks before.
        now: seconds since 1970; None asks the clock.

    Raises:
        InputError: AWS cannot be asked, or something in the policy is not known.
    """
    at = time() if now is None else now
    told = (jobs or Jobs()).of(queue, at)
    snapshot = queue_snapshot(queue.access, queue.arn)
    policy = queue.declaration.queues[0].policy()
    moment = datetime.fromtimestamp(at, UTC)
    holding = held(told, queue.name, moment)
    run = _run(policy, holding, queue.access.source)
    return Sight(
        queue.name,
        queue.description,
        moment,
        policy,
        tuple(_rows(policy, snapshot, told)),
        tuple(_fronts(snapshot, told, run, at)),
        holding,
        () if run is None else tuple(_expected(run)),
        is_endless=run is None,
    )


def _run(policy: Policy, holding: Held, source: str) -> Run | None:
    """The engine's own run of the jobs from now on; None where it has no end."""
    scenario = held_scenario(holding, source)
    try:
        return simulate(policy, scenario.workload(policy), scenario.choices())
    except TooManyMovesError:
        return None


def _rows(policy: Policy, snapshot: _Told, told: Sequence[_Told]) -> Iterator[Row]:
    utilization = (snapshot.get("queueUtilization") or {}).get("quotaShareUtilization") or {}
    used: Counter[tuple[str, str]] = Counter()
    for share in mappings(utilization.get("topCapacityUtilization")):
        for usage in mappings(share.get("capacityUsage")):
            used[str(share.get("quotaShareName")), str(usage.get("capacityUnit"))] += int(usage.get("quantity") or 0)
    waiting: Counter[tuple[str, str]] = Counter()
    jobs: Counter[tuple[str, str]] = Counter()
    for job in told:
        if job["status"] in WAITING:
            for unit, count in (demand_of(job) or {}).items():
                waiting[str(job.get("quotaShareName")), unit] += count
                jobs[str(job.get("quotaShareName")), unit] += 1
    for name, declared in policy.shares.items():
        for unit in policy.units:
            key = (name, unit)
            if unit in declared.capacity_limits or used[key] or waiting[key]:
                yield Row(name, unit, declared.limit(unit), used[key], waiting[key], jobs[key])


def _fronts(snapshot: _Told, told: Sequence[_Told], run: Run | None, now: float) -> Iterator[Front]:
    by_arn = {job.get("jobArn"): job for job in told}
    shares = (snapshot.get("frontOfQuotaShares") or {}).get("quotaShares") or {}
    names = {job.name for job in run.workload.jobs} if run is not None else set()
    for share, front in shares.items():
        for entry in mappings(front)[:1]:
            job = by_arn.get(entry.get("jobArn"), {})
            name = str(job.get("jobName") or str(entry.get("jobArn")).rpartition("/")[2])
            unique = next((n for n in (name, f"{name}/{job.get('jobId')}") if n in names), None)
            since = entry.get("earliestTimeAtPosition")
            yield Front(
                str(share),
                unique or name,
                None if not since else max(0.0, now - since / 1000),
                demand_of(job) or {},
                job.get("schedulingPriority"),
                "" if run is None or unique is None else _why(run, unique),
            )


def _why(run: Run, job: str) -> str:
    """How the job stands now, by the engine."""
    return explain(run, job, 0.0).last.message


def _expected(run: Run) -> Iterator[Event]:
    """The first events of the run that change who runs, at and after now."""
    found = (event for event in run.log if event.at >= 0 and event.kind in _TELLING and _is_news(run, event))
    for _, event in zip(range(EXPECTED), found, strict=False):
        yield event


def _is_news(run: Run, event: Event) -> bool:
    """Not the start, at zero, of a job that runs already."""
    already = {job.name for job in run.workload.jobs if job.started is not None}
    return not (event.kind is Kind.STARTED and event.at <= 0 and event.job in already)
