"""The schedule that breaks an expectation: made into a workload that replays, and run again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, Workload
from policy_engine.scheduler.log import Kind, Row
from policy_engine.scheduler.script import Decision, Script, decisions_of
from policy_engine.simulation import Clock, Run, simulate


class NotReplayedError(RuntimeError):
    """A counterexample that the plain simulator does not confirm: a bug of the engine."""


@dataclass(frozen=True, slots=True)
class Counterexample:
    """A schedule that breaks an expectation, with everything that is open fixed."""

    policy: Policy
    workload: Workload
    """With the durations that break it."""
    choices: Choices
    decisions: tuple[Decision, ...]
    """Moves of the instants at which the choices alone would have moved otherwise."""
    run: Run
    """The plain run of these, with what happened."""


def replayed(policy: Policy, workload: Workload, choices: Choices, broken: Clock, *, over: bool) -> Counterexample:
    """The schedule that an exploration found, run again in the plain simulator.

    ``over``: it is broken once nothing is to come, so that the run must not be cut short. Raises NotReplayedError where
    the log comes out otherwise.
    """
    jobs = tuple(_with_duration(number, job, workload.timing, broken.rows) for number, job in enumerate(workload.jobs))
    fixed = replace(workload, jobs=jobs, until=workload.until if over else broken.at)
    script = Script(decisions_of(broken.rows, jobs), jobs)
    run = simulate(policy, fixed, choices, chooser=script)
    if _what_happens(run.log.rows) != _what_happens(broken.rows):
        raise NotReplayedError("the schedule that was found does not come out when it is run again: please report this")
    decisions = _needed(decisions_of(run.log.rows, jobs), script.departed)
    return Counterexample(policy, fixed, choices, tuple(decisions), run)


def again(found: Counterexample) -> Run:
    """The plain run of a counterexample, from what its scenario file says alone."""
    script = Script(found.decisions, found.workload.jobs)
    return simulate(found.policy, found.workload, found.choices, chooser=script)


def rerun(found: Counterexample, workload: Workload) -> Counterexample:
    """The moves of a counterexample on another workload of the same jobs, as far as they come about there.

    Raises NotReplayedError where they do not.
    """
    script = Script(found.decisions, workload.jobs)
    run = simulate(found.policy, workload, found.choices, chooser=script)
    if script.to_come:
        raise NotReplayedError("a move does not come about")
    every = Script(decisions_of(run.log.rows, workload.jobs), workload.jobs)
    once_more = simulate(found.policy, workload, found.choices, chooser=every)
    if _what_happens(once_more.log.rows) != _what_happens(run.log.rows):
        raise NotReplayedError("a run with all of its moves fixed comes out otherwise")
    decisions = _needed(decisions_of(run.log.rows, workload.jobs), every.departed)
    return Counterexample(found.policy, workload, found.choices, tuple(decisions), once_more)


def _with_duration(number: int, job: Job, timing: Timing, rows: list[Row]) -> Job:
    """A job that may end at more than one time works as long as it did in the log.

    A last attempt that was the longest did all of its work; else what the others had done was kept.
    """
    if job.duration is not None and job.shortest is None:
        return job
    works = list(_attempts(number, job, timing, rows))
    if not any(row[1] is Kind.FINISHED and row[2] == number for row in rows):
        return replace(job, shortest=None)
    keeps = job.checkpoint_every is not None or timing.checkpoint_every is not None
    if len(works) == 1 or (not keeps and max(works[:-1]) < works[-1]):
        return replace(job, duration=works[-1], shortest=None)
    return replace(job, duration=sum(works), shortest=None, checkpoint_every=_step(works))


def _attempts(number: int, job: Job, timing: Timing, rows: list[Row]) -> Iterator[float]:
    """Seconds of work of each attempt: what it takes to start, and to go on after a preemption, is none."""
    began: float | None = None
    lost = 0.0 if job.started is not None else timing.start_seconds
    for at, kind, which, _, _, _ in rows:
        if which != number:
            continue
        if kind is Kind.STARTED:
            began = at + lost
        elif began is not None and kind in (Kind.STOPPED, Kind.FINISHED):
            yield max(0.0, at - began)
            began, lost = None, timing.start_seconds + timing.restart_seconds


def _step(lengths: list[float]) -> float:
    """The longest of 1 s, 1/2 s, 1/4 s, ... that all lengths are multiples of."""
    step = 1.0
    while any(length % step for length in lengths):
        step /= 2
    return step


def _what_happens(rows: list[Row]) -> list[tuple[float, Kind, int, int]]:
    return [(at, kind, job, by) for at, kind, job, by, _, _ in rows]


def _needed(decisions: list[Decision], departed: list[bool]) -> Iterator[Decision]:
    """All decisions of every instant at which one departs from the rule."""
    instants = {decision.at for decision, other in zip(decisions, departed, strict=False) if other}
    return (decision for decision in decisions if decision.at in instants)
