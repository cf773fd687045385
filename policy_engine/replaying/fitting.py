"""Which jobs of a history a policy has a place for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.scheduler.bounds import Bounds, Misfit
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history import History, Remark
from policy_engine.workload.history.remarks import Remarks

NO_SHARE: Final = "a team without a quota share of its name: map it with --map"
NO_TYPE: Final = "an instance type that the service environment has not got"


@dataclass(frozen=True, slots=True)
class NeverRun:
    """A job that its share can never run (R12)."""

    job: Job
    misfit: Misfit
    is_in_run: bool
    """Is it in the run, where a job state time limit of the policy ends it? Without one it would hold its share for
    ever, and so it is set aside."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """The jobs of a history that go into a run."""

    jobs: tuple[Job, ...]
    numbers: Sequence[int]
    """Of each, its number in the history."""
    never_run: tuple[NeverRun, ...]
    remarks: tuple[Remark, ...]
    """Jobs that are left out because the policy has no place for them."""


def fit(policy: Policy, history: History, choices: Choices, *, strict: bool = False) -> Fitted:
    """The jobs of the history that a run under the policy can have.

    Raises InputError where there is none, and where ``strict`` forbids that one is left out.
    """
    bounds = Bounds(policy, choices)
    limited = {limit.reason for limit in policy.job_state_time_limits}
    places: dict[tuple[str, int], Misfit | str | None] = {}
    remarks = Remarks()
    numbers: list[int] = []
    never_run: list[NeverRun] = []
    for number, job in enumerate(history.jobs):
        key = job.share, id(job.demand)
        if key not in places:
            places[key] = _place(policy, bounds, job)
        place = places[key]
        if place is not None:
            if isinstance(place, str):
                remarks.lose(place, job.name, _subject(policy, job, place))
                continue
            is_in_run = place.code in limited
            never_run.append(NeverRun(job, place, is_in_run))
            if not is_in_run:
                continue
        numbers.append(number)
    _check(history, remarks, numbers, strict=strict)
    is_all = len(numbers) == len(history.jobs)
    jobs = history.jobs if is_all else tuple(history.jobs[number] for number in numbers)
    return Fitted(jobs, numbers, tuple(never_run), tuple(remarks))


def _place(policy: Policy, bounds: Bounds, job: Job) -> Misfit | str | None:
    """What is in the way of jobs of this share and size; None: nothing."""
    if job.share not in policy.shares:
        return NO_SHARE
    if any(unit not in policy.service_environment.capacity_limits for unit in job.demand):
        return NO_TYPE
    return bounds.never_fits(job.share, job.demand)


def _subject(policy: Policy, job: Job, place: str) -> str:
    if place == NO_SHARE:
        return job.share
    return next(unit for unit in job.demand if unit not in policy.service_environment.capacity_limits)


def _check(history: History, remarks: Remarks, numbers: Sequence[int], *, strict: bool) -> None:
    lost = sum(remark.count for remark in remarks)
    if strict and lost:
        told = "; ".join(remark.text for remark in remarks)
        raise InputError(f"{lost:,} {'job' if lost == 1 else 'jobs'} would be left out: {told}", file=history.source)
    if not numbers:
        told = "; ".join(remark.text for remark in remarks) or "all are larger than their share can ever run"
        raise InputError(f"the policy has no place for any of {len(history.jobs):,} jobs: {told}", file=history.source)
