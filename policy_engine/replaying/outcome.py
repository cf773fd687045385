"""What is kept of one of many replays: small, whatever the number of its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from policy_engine.outcome.measures import Measures


@dataclass(frozen=True)
class Outcome:
    """One replay."""

    measures: Measures
    never_run: int
    """Jobs that are too large for their share, or for the queue."""
    left_out: int
    """Jobs that the policy has no place for, beside them: no share of that team, no such instance type."""


@dataclass(frozen=True)
class OutcomeWithRows(Outcome):
    """The same, with the rows of its jobs, which are not kept in a file of results."""

    rows: str
