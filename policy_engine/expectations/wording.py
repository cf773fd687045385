"""How expectations and what happened are put into words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from policy_engine.expectations.evidence import Preemption
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import Run
from policy_engine.workload.durations import duration_text

_SHOWN: Final = 5
"""Things of a list that are named; of the others, how many."""


def listed(things: Sequence[str], last: str = " and ") -> str:
    """``a, b and c``; of many, the first few."""
    if len(things) > _SHOWN:
        return f"{', '.join(things[:_SHOWN])} and {len(things) - _SHOWN} more"
    if len(things) < 2:
        return "".join(things)
    return f"{', '.join(things[:-1])}{last}{things[-1]}"


def number(value: float) -> str:
    """A number without needless digits."""
    return f"{round(value, 3):g}" if abs(value) < 1e6 else f"{value:.0f}"


def counted(count: int, what: str) -> str:
    """``1 job``, ``2 jobs``."""
    return f"{count} {what}{'' if count == 1 else 's'}"


def times(count: int) -> str:
    """``once``, ``2 times``."""
    return {0: "never", 1: "once"}.get(count, f"{count} times")


def preempted(run: Run, preemption: Preemption) -> str:
    """``preempted at 1m by qs2_job_1 (cross_share)``."""
    by = f" by {run.workload.jobs[preemption.by].name}" if preemption.by >= 0 else ""
    return f"preempted at {duration_text(preemption.at)}{by} ({preemption.why})"


def how_it_came(run: Run, job: int, index: int, at: float) -> str:
    """How the job came into the state that the row with this index put it in; -1 for no row."""
    if index < 0:
        submit = run.workload.jobs[job].submit
        return f"it is submitted at {duration_text(submit)}"
    when, kind, _, _, _, detail = run.log.rows[index]
    if kind is Kind.SUBMITTED:
        return _how_it_waits(run, job, index, at)
    if kind in (Kind.REQUEUED, Kind.STOPPED) or (kind is Kind.FAILED and detail is None):
        return _how_it_was_stopped(run, job, index)
    return f"{kind} at {duration_text(when)}{f': {detail}' if detail else ''}"


def _how_it_waits(run: Run, job: int, index: int, at: float) -> str:
    """A job that has not started: AWS's reason, where it can never fit."""
    rows = run.log.rows
    since = f"waiting since its submission at {duration_text(rows[index][0])}"
    for when, kind, number_, _, _, detail in rows[index:]:
        if when > at:
            break
        if kind is Kind.BLOCKED and number_ == job:
            return f"{since}: {detail}"
    return since


def _how_it_was_stopped(run: Run, job: int, index: int) -> str:
    rows = run.log.rows
    for back in range(index, -1, -1):
        when, kind, number_, by, why, _ = rows[back]
        if number_ != job:
            continue
        if kind is Kind.PREEMPTED and why is not None:
            return preempted(run, Preemption(when, job, by, why, 0))
        if kind in (Kind.STOPPED, Kind.FAILED) and why is not None:
            return f"{kind} at {duration_text(when)} ({why})"
    return f"{rows[index][1]} at {duration_text(rows[index][0])}"
