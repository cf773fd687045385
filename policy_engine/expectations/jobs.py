"""Judges what is expected of jobs: their state at an instant, and what becomes of one over the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from policy_engine.expectations.evidence import Evidence
from policy_engine.expectations.finding import Finding, bounded, within
from policy_engine.expectations.wording import how_it_came, listed, preempted, times
from policy_engine.outcome import PREEMPTIONS, JobOutcome, state_after
from policy_engine.scheduler.log import Kind
from policy_engine.workload.durations import duration_text
from policy_engine.workload.expected import AtExpectation, JobExpectation

MEANT: Final = {
    "running": ("RUNNING",),
    "runnable": ("RUNNABLE",),
    "succeeded": ("SUCCEEDED",),
    "failed": ("FAILED",),
    "dispatched": ("SCHEDULED", "RUNNING"),
}
"""The key of an expectation to AWS's states."""


# --- at an instant ---------------------------------------------------------------------------------


def judge_at(expectation: AtExpectation, evidence: Evidence) -> Iterator[Finding]:
    """The states just after everything due at the instant; after the end of the run, the final ones."""
    for state, names in expectation.states.items():
        wrong = [told for name in names if (told := _otherwise(state, name, expectation.at, evidence))]
        if wrong:
            yield Finding(False, "; ".join(wrong))
        elif names:
            yield Finding(True, f"{listed(names)} {_was(names)} {state}")
        if expectation.exactly:
            others = [job for job in _jobs_that_are(state, expectation.at, evidence) if job not in names]
            too = f"{listed(others)} {_was(others)} {state} too, at {duration_text(expectation.at)}"
            yield Finding(not others, too if others else f"no other job was {state}")


def _otherwise(state: str, name: str, at: float, evidence: Evidence) -> str | None:
    """What the job was instead of being in the state, and how that came; None where it was in it."""
    job = evidence.number_of[name]
    actual = _state(job, at, evidence)
    if actual in MEANT[state]:
        return None
    why = how_it_came(evidence.run, job, evidence.rows_at[at][job], at)
    return f"{name} was {actual}, not {state}, at {duration_text(at)}: {why}"


def _jobs_that_are(state: str, at: float, evidence: Evidence) -> list[str]:
    jobs = enumerate(evidence.run.workload.jobs)
    return [job.name for number, job in jobs if _state(number, at, evidence) in MEANT[state]]


def _state(job: int, at: float, evidence: Evidence) -> str:
    run = evidence.run
    index = evidence.rows_at[at][job]
    return state_after(run.log.rows[index] if index >= 0 else None, at, run.workload.timing.start_seconds)


def _was(names: Sequence[str]) -> str:
    return "was" if len(names) == 1 else "were"


def describe_at(expectation: AtExpectation) -> str:
    """What is expected, as a sentence."""
    clauses = []
    for state, jobs in expectation.states.items():
        if jobs:
            only = "only " if expectation.exactly else ""
            clauses.append(f"{only}{listed(jobs)} {'is' if len(jobs) == 1 else 'are'} {state}")
        elif expectation.exactly:
            clauses.append(f"no job is {state}")
    return f"at {duration_text(expectation.at)}: {'; '.join(clauses)}"


# --- one job ---------------------------------------------------------------------------------------


def judge_job(expectation: JobExpectation, evidence: Evidence) -> Iterator[Finding]:
    """What becomes of one job over the run."""
    job = evidence.jobs[expectation.job]
    if expectation.starts_within is not None:
        yield judge_start(job, expectation.starts_within, evidence.run.end)
    if expectation.finishes_within is not None:
        yield _judge_finish(job, expectation.finishes_within, evidence.run.end)
    if expectation.never_starts is not None:
        started = job.first_started
        told = "never started" if started is None else f"started at {duration_text(started)}"
        yield Finding((started is None) is expectation.never_starts, f"{job.name} {told}")
    if expectation.lost_work is not None:
        lost = job.lost_instance_seconds
        told = f"{job.name} lost {duration_text(lost)} of instance-time"
        yield bounded(expectation.lost_work, lost, told, duration_text)
    if _counts_preemptions(expectation):
        yield _judge_preemptions(expectation, evidence)
    if expectation.reason is not None and expectation.reason not in PREEMPTIONS:
        yield _judge_reason(job, expectation.reason, evidence)


def judge_start(job: JobOutcome, most: float, end: float) -> Finding:
    """Did the job start within ``most`` seconds of its submission, in a run that ended at ``end``?"""
    if job.wait_seconds is None:
        reason = f": {job.reason}" if job.reason else ""
        told = f"{job.name}, submitted at {duration_text(job.submitted)}, had not started when the run ended at"
        return Finding(False, f"{told} {duration_text(end)}{reason}")
    return within(job.wait_seconds, most, f"{job.name} started {duration_text(job.wait_seconds)} after its submission")


def _judge_finish(job: JobOutcome, most: float, end: float) -> Finding:
    if job.finished is None or job.state != "SUCCEEDED":
        reason = f": {job.reason}" if job.reason else ""
        when = duration_text(end if job.finished is None else job.finished)
        return Finding(False, f"{job.name} was {job.state}, not succeeded, at {when}{reason}")
    took = job.finished - job.submitted
    return within(took, most, f"{job.name} finished {duration_text(took)} after its submission")


def _counts_preemptions(expectation: JobExpectation) -> bool:
    return expectation.preempted is not None or expectation.by is not None or expectation.reason in PREEMPTIONS


def _judge_preemptions(expectation: JobExpectation, evidence: Evidence) -> Finding:
    """Only those count that ended an attempt, and that ``by`` and ``reason`` do not rule out."""
    number = evidence.number_of[expectation.job]
    all_of_it = [p for p in evidence.preemptions if p.victim == number and p.released is not None and not p.spared]
    counted = [
        p
        for p in all_of_it
        if expectation.by in (None, evidence.run.workload.jobs[p.by].name if p.by >= 0 else "")
        and (expectation.reason not in PREEMPTIONS or p.why == expectation.reason)
    ]
    told = listed([preempted(evidence.run, p) for p in all_of_it]) or "never preempted"
    told = f"{expectation.job} was {told}"
    if expectation.preempted is None:
        by = f" by {expectation.by}" if expectation.by else ""
        kind = f" ({expectation.reason})" if expectation.reason in PREEMPTIONS else ""
        return Finding(bool(counted), told if counted else f"{told}; expected a preemption{by}{kind}")
    if len(counted) != len(all_of_it):
        told = f"{told}, of which {len(counted)} count{'s' if len(counted) == 1 else ''}"
    return bounded(expectation.preempted, len(counted), told, "{:g}".format)


def _judge_reason(job: JobOutcome, reason: str, evidence: Evidence) -> Finding:
    """Did AWS give the job a status reason that begins like this?"""
    number = evidence.number_of[job.name]
    kinds = (Kind.BLOCKED, Kind.FAILED, Kind.TERMINATED)
    given = [
        str(detail)
        for _, kind, of, _, _, detail in evidence.run.log.rows
        if of == number and kind in kinds and detail is not None
    ]
    told = f"{job.name} was given {listed([repr(text) for text in given]) or 'no status reason'}"
    holds = any(text.startswith(reason) for text in given)
    return Finding(holds, told if holds else f"{told}; expected one that begins with {reason!r}")


def describe_job(expectation: JobExpectation) -> str:
    """What is expected, as a sentence."""
    clauses = []
    if expectation.starts_within is not None:
        clauses.append(f"starts within {duration_text(expectation.starts_within)}")
    if expectation.finishes_within is not None:
        clauses.append(f"finishes within {duration_text(expectation.finishes_within)}")
    if expectation.never_starts is not None:
        clauses.append("never starts" if expectation.never_starts else "starts")
    if _counts_preemptions(expectation):
        clauses.append(_describe_preemptions(expectation))
    if expectation.reason is not None and expectation.reason not in PREEMPTIONS:
        clauses.append(f"is given the reason {expectation.reason}")
    if expectation.lost_work is not None:
        clauses.append(f"loses {expectation.lost_work.text(duration_text)} of instance-time")
    return f"{expectation.job} {listed(clauses)}"


def _describe_preemptions(expectation: JobExpectation) -> str:
    bound = expectation.preempted
    how_often = "at least once"
    if bound is not None:
        exact = bound.at_least == bound.at_most
        how_often = times(int(bound.at_least or 0)) if exact else f"{bound.text()} times"
    by = f" by {expectation.by}" if expectation.by is not None else ""
    kind = f" ({expectation.reason})" if expectation.reason in PREEMPTIONS else ""
    return f"is never preempted{by}{kind}" if how_often == "never" else f"is preempted {how_often}{by}{kind}"
