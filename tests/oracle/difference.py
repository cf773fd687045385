"""Where two engines disagree on a scenario, and the smallest scenario on which they still do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from policy_engine.outcome import job_outcomes
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError as FirstTooManyMovesError
from policy_engine.scheduler.jobs import Exit, Job, Timing, Workload
from policy_engine.simulation import simulate
from tests.oracle.engine import TooManyMovesError
from tests.oracle.engine import run as by_words
from tests.oracle.generator import Scenario
from tests.oracle.world import Entry

OWN_WORDS = {"failed", "terminated"}
"""Kinds whose reason is the engine's own wording, but for the one that AWS documents."""
TIME_LIMIT = "Terminated by JobStateTimeLimit"
END = float("inf")
"""Stands for the end of the run, when the log is followed by how each job stands: its state and what it lost."""
DISPATCHED = dict.fromkeys(("SCHEDULED", "STARTING", "RUNNING"), "DISPATCHED")
NO_REST: list[Entry] = [(0.0, "no rest", None, None, None, None)]
"""Of an engine that stops with an error: it made too many moves at one instant."""


@dataclass(frozen=True)
class Comparison:
    """The logs of both engines on one scenario."""

    scenario: Scenario
    first: list[Entry]
    second: list[Entry]

    @property
    def agree(self) -> bool:
        return self.first == self.second

    @property
    def preempts(self) -> bool:
        return any(kind == "preempted" for _, kind, *_ in self.second)

    def __str__(self) -> str:
        """The scenario, what the engines agree on, and how each goes on."""
        pairs = enumerate(zip(self.first, self.second, strict=False))
        at = next((i for i, (one, other) in pairs if one != other), min(len(self.first), len(self.second)))
        lines = [f"policy = {self.scenario.policy}", *_described(self.scenario), "agreed:"]
        lines += [f"    {entry}" for entry in self.first[:at]]
        lines += ["the first engine:", *(f"    {entry}" for entry in self.first[at : at + 6])]
        lines += ["the second engine:", *(f"    {entry}" for entry in self.second[at : at + 6])]
        return "\n".join(lines)


def _described(scenario: Scenario) -> Iterator[str]:
    """What is not as it is by default."""
    workload = scenario.workload
    yield f"timing = {_not_default(workload.timing, Timing())}, until = {workload.until}"
    yield f"choices = {_not_default(scenario.choices, Choices())}"
    for job in workload.jobs:
        plain = Job(job.name, job.share, job.demand)
        yield f"job {job.name} of {job.share}: {dict(job.demand)}, {_not_default(job, plain)}"
    for update in workload.updates:
        set_ = {name: value for name, value in asdict(update).items() if value is not None}
        yield f"{type(update).__name__} {set_}"


def _not_default(value: Any, default: Any) -> dict[str, Any]:
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(default, name)}


def compare(scenario: Scenario) -> Comparison:
    return Comparison(scenario, by_first(scenario), by_second(scenario))


def by_first(scenario: Scenario) -> list[Entry]:
    """The log of the engine under test and what became of each job, in the words of the second."""
    jobs = scenario.workload.jobs
    try:
        run = simulate(scenario.declared(), scenario.workload, scenario.choices)
    except FirstTooManyMovesError:
        return NO_REST
    names = [*(job.name for job in jobs), None]
    log = [
        _compared((at, str(kind), names[job], names[by], None if why is None else str(why), detail))
        for at, kind, job, by, why, detail in run.log.rows
    ]
    return log + [
        (END, "stands", job.name, None, DISPATCHED.get(job.state, job.state), job.lost_instance_seconds)
        for job in job_outcomes(run)
    ]


def by_second(scenario: Scenario) -> list[Entry]:
    try:
        run = by_words(scenario.declared(), scenario.workload, scenario.choices)
    except TooManyMovesError:
        return NO_REST
    ends: list[Entry] = [
        (END, "stands", name, None, outcome.state, outcome.lost_instance_seconds) for name, outcome in run.jobs.items()
    ]
    return list(map(_compared, run.log)) + ends


def _compared(entry: Entry) -> Entry:
    """Without what is no more than the engine's own wording."""
    at, kind, job, by, why, detail = entry
    said = kind not in OWN_WORDS or str(detail).startswith(TIME_LIMIT)
    return at, kind, job, by, None if why == kind else why, detail if said else None


# --- shrinking --------------------------------------------------------------------------------------


def shrunk(found: Comparison) -> Comparison:
    """Leave out what can be left out, one thing at a time, while the engines still differ."""
    for smaller in _smaller(found.scenario):
        try:
            again = compare(smaller)
        except ValueError:
            continue
        if not again.agree:
            return shrunk(again)
    return found


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    yield from (replace(scenario, workload=workload) for workload in _smaller_workloads(scenario.workload))
    for name in _not_default(scenario.choices, Choices()):
        yield replace(scenario, choices=replace(scenario.choices, **{name: getattr(Choices(), name)}))
    yield from (replace(scenario, policy=policy) for policy in _smaller_policies(scenario))


def _smaller_workloads(workload: Workload) -> Iterator[Workload]:
    for i, job in enumerate(workload.jobs):
        of_job = tuple(u for u in workload.updates if getattr(u, "job", None) != job.name)
        yield replace(workload, jobs=_without(workload.jobs, i), updates=of_job)
    for i in range(len(workload.updates)):
        yield replace(workload, updates=_without(workload.updates, i))
    for name in _not_default(workload.timing, Timing()):
        yield replace(workload, timing=replace(workload.timing, **{name: getattr(Timing(), name)}))
    for i, job in enumerate(workload.jobs):
        for simpler in _simpler_jobs(job):
            yield replace(workload, jobs=(*workload.jobs[:i], simpler, *workload.jobs[i + 1 :]))


def _simpler_jobs(job: Job) -> Iterator[Job]:
    plain: dict[str, tuple[Any, ...]] = {
        "priority": (0, 1),
        "attempts": (1,),
        "preemption_retries": (None,),
        "timeout": (None,),
        "checkpoint_every": (None,),
        # A job without an end has no way to end.
        "duration": (None,) if job.exit is Exit.SUCCEEDED else (job.duration,),
    }
    for name, values in plain.items():
        for value in values:
            if getattr(job, name) == value:
                break
            yield replace(job, **{name: value})
    for unit, count in job.demand.items():
        if len(job.demand) > 1:
            yield replace(job, demand={u: n for u, n in job.demand.items() if u != unit})
        if count > 1:
            yield replace(job, demand={**job.demand, unit: count - 1})


def _smaller_policies(scenario: Scenario) -> Iterator[dict[str, Any]]:
    policy = scenario.policy
    used = {job.share for job in scenario.workload.jobs}
    used |= {getattr(update, "share", "") for update in scenario.workload.updates}
    for name in policy["shares"].keys() - used:
        yield {**policy, "shares": {n: s for n, s in policy["shares"].items() if n != name}}
    if "job_state_time_limits" in policy:
        yield {key: value for key, value in policy.items() if key != "job_state_time_limits"}


def _without(items: tuple[Any, ...], i: int) -> tuple[Any, ...]:
    return items[:i] + items[i + 1 :]
