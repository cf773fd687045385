"""Smaller counterexamples: fewer jobs and updates, smaller counts, simpler times."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

from policy_engine.expectations import judge_one
from policy_engine.expectations.verdict import Answer
from policy_engine.exploration.counterexample import Counterexample, NotReplayedError, rerun
from policy_engine.exploration.explored import Bounds
from policy_engine.proving.question import ALL, Question, UnsettledError, with_answers
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.simulation import simulate
from policy_engine.workload.scenario import jobs_named

SECONDS: Final = 10.0
"""To look for smaller ones, all in all."""


def smallest(
    question: Question,
    found: Counterexample,
    choices: Choices,
    relevant: Sequence[str],
    holding: Choices | None,
) -> Counterexample:
    """The smallest counterexample that leaving things out one after the other leads to.

    ``holding``: where the answer depends, choices under which a smaller one has to hold.
    """
    until = monotonic() + SECONDS
    named = frozenset(name for _, name in jobs_named(question.wanted))

    def look(workload: Workload) -> Counterexample | None:
        bounds = Bounds(5_000, 2.0, min(monotonic() + 2.0, until))
        try:
            smaller = question.about(workload, bounds).broken(choices, relevant)
        except (UnsettledError, ValueError, StopIteration):
            return None
        if smaller is not None and holding is not None and not _holds(question, smaller.workload, holding):
            return None
        return smaller

    workload = question.workload
    if question.arrivals is not None:
        workload = replace(found.workload, until=None, jobs=tuple(map(_open, found.workload.jobs)))
    smaller = True
    while smaller and monotonic() < until:
        smaller = False
        for candidate in _smaller(workload, named):
            other = look(candidate) if monotonic() < until else None
            if other is not None:
                found, workload, smaller = other, candidate, True
                break
    return _with_choices_of(question, choices, _simpler(question, found, holding))


def _with_choices_of(question: Question, choices: Choices, found: Counterexample) -> Counterexample:
    """The same moves, with every choice answered as in the scenario that does not bring them about."""
    for name in ALL:
        asked = getattr(choices, name)
        if getattr(found.choices, name) != asked:
            other = replace(found, choices=with_answers(found.choices, [name], [asked]))
            found = _again(question, other, found.workload) or found
    return found


def _open(job: Job) -> Job:
    """The job as it was before the counterexample said when it ends."""
    return replace(job, duration=None)


def _holds(question: Question, workload: Workload, choices: Choices) -> bool:
    try:
        run = simulate(question.policy, workload, choices)
    except (TooManyMovesError, ValueError):
        return False
    return judge_one(run, question.wanted).verdict is Answer.HOLDS


def _smaller(workload: Workload, keep: frozenset[str]) -> Iterator[Workload]:
    """Without one job, without one update, with one instance less, with a job that comes at a simpler time."""
    jobs = workload.jobs
    touched = {name for update in workload.updates if (name := getattr(update, "job", None)) is not None}
    for number in reversed(range(len(jobs))):
        if jobs[number].name not in keep | touched:
            yield replace(workload, jobs=jobs[:number] + jobs[number + 1 :])
    for number in reversed(range(len(workload.updates))):
        yield replace(workload, updates=workload.updates[:number] + workload.updates[number + 1 :])
    for number, job in enumerate(jobs):
        for unit, count in job.demand.items():
            if count > 1:
                yield _with(workload, number, replace(job, demand={**job.demand, unit: count - 1}))
    for number, job in enumerate(jobs):
        if job.started is None:
            for submit in _simpler_times(job.submit):
                yield _with(workload, number, replace(job, submit=submit))


def _with(workload: Workload, number: int, job: Job) -> Workload:
    return replace(workload, jobs=(*workload.jobs[:number], job, *workload.jobs[number + 1 :]))


_UNITS: Final = (3_600.0, 60.0, 10.0, 1.0)


def _simpler_times(time: float) -> Iterator[float]:
    """Zero, and the whole hour, minute, ten seconds or second before a time that is none itself."""
    if time <= 0:
        return
    yield 0.0
    for unit in _UNITS:
        if time % unit == 0:
            return
        if time > unit:
            yield time - time % unit


def _simpler(question: Question, found: Counterexample, holding: Choices | None) -> Counterexample:
    """The same schedule with durations left out, or whole minutes or seconds long, where it breaks all the same.

    Only of jobs whose duration the exploration made up.
    """
    given = {job.name: job for job in question.workload.jobs}
    for number, job in enumerate(found.workload.jobs):
        asked = given.get(job.name)
        if job.duration is None or (asked is not None and asked.duration is not None):
            continue
        for duration in (None, *_simpler_times(job.duration)):
            if duration == 0:
                continue
            simpler = _again(question, found, _with(found.workload, number, replace(job, duration=duration)))
            if simpler is not None and (holding is None or _holds(question, simpler.workload, holding)):
                found = simpler
                break
    return found


def _again(question: Question, found: Counterexample, workload: Workload) -> Counterexample | None:
    """The same moves on another workload, where that breaks the expectation too."""
    try:
        other = rerun(found, workload)
    except (NotReplayedError, TooManyMovesError, ValueError):
        return None
    return other if judge_one(other.run, question.wanted).verdict is Answer.FAILS else None
