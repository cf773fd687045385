"""The log read along time: which policy held when, and which state a job was in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import DeleteShare, UpdateServiceEnvironment, UpdateShare
from policy_engine.scheduler.log import Kind, Row, Why
from policy_engine.simulation import Run, updated_environment, updated_share

PREEMPTIONS: Final = frozenset({Why.CROSS_SHARE, Why.IN_SHARE, Why.LIMIT_LOWERED})
"""Ends of an attempt that are preemptions."""


def policies(run: Run) -> list[tuple[int, Policy]]:
    """The policies of a run, each with the index of the log row that brings it; the declared one first, at -1."""
    found = [(-1, run.policy)]
    if not run.workload.updates:
        return found
    changes = (u for u in run.workload.updates if isinstance(u, UpdateShare | DeleteShare | UpdateServiceEnvironment))
    rows = (n for n, row in enumerate(run.log.rows) if row[1] in (Kind.SHARE_UPDATED, Kind.ENVIRONMENT_UPDATED))
    # one row for each, in order; `until` may have come before the last ones
    for index, update in zip(rows, sorted(changes, key=lambda update: update.at), strict=False):
        found.append((index, _updated(found[-1][1], update)))
    return found


def _updated(policy: Policy, update: UpdateShare | DeleteShare | UpdateServiceEnvironment) -> Policy:
    if isinstance(update, UpdateServiceEnvironment):
        environment = updated_environment(policy.service_environment, update)
        return policy.model_copy(update={"service_environment": environment})
    if isinstance(update, DeleteShare):
        return policy.model_copy(update={"shares": dict(policy.others(update.share))})
    share = updated_share(policy.shares[update.share], update)
    return policy.model_copy(update={"shares": {**policy.shares, update.share: share}})


_STATES: Final = {
    Kind.SUBMITTED: "RUNNABLE",
    Kind.STARTED: "SCHEDULED",
    Kind.STOPPED: "RUNNABLE",
    Kind.REQUEUED: "RUNNABLE",
    Kind.FINISHED: "SUCCEEDED",
    Kind.FAILED: "FAILED",
    Kind.TERMINATED: "FAILED",
}
"""Kind of event to AWS's state of its job just after it."""


def state_after(row: Row | None, at: float, start_seconds: float) -> str:
    """AWS's state, at ``at`` seconds, of a job of which this row is the last that changed its state.

    A job is RUNNING ``start_seconds`` after it was SCHEDULED; SUBMITTED where there is no row.
    """
    if row is None:
        return "SUBMITTED"
    if row[1] is Kind.STARTED and row[0] + start_seconds <= at:
        return "RUNNING"
    return _STATES[row[1]]


def last_rows(run: Run, instants: Iterable[float]) -> Iterator[tuple[float, list[int]]]:
    """For each instant, in order of time: the index of the row that last changed each job's state, -1 for none.

    "Just after everything due at that instant"; what comes after the run's last event finds its final state.
    """
    rows = run.log.rows
    last = [-1] * len(run.workload.jobs)
    index = 0
    for instant in sorted(instants):
        while index < len(rows) and rows[index][0] <= instant:
            if rows[index][1] in _STATES:
                last[rows[index][2]] = index
            index += 1
        yield instant, list(last)
