"""How far a replay is from what the history recorded."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean
from typing import Final

from policy_engine.outcome.shares import nearest_rank
from policy_engine.replaying.replay import ReplayResult

CLOSE_SECONDS: Final = 60.0
"""A start so near to the recorded one is the same for people."""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Starts of the replay against those of the history, in seconds; of jobs that have both.

    They differ for many reasons that a history cannot show: the policy of that time was another one, machines were
    down, people held jobs back.
    """

    jobs: int
    """Compared."""
    recorded_mean_wait: float
    replayed_mean_wait: float
    mean_error: float
    """Mean of how far apart the starts are, whichever is first."""
    p50_error: float
    p95_error: float
    max_error: float
    close: float
    """The part of the jobs, 0 to 1, that start within a minute of the recorded start."""
    deviation: float | None
    """All errors by all the time between submission and end that the history records; None where that is no time."""


def fidelity(result: ReplayResult) -> Fidelity | None:
    """How far the replay is from the history; None where the history has no starts."""
    started, first = result.history.started, result.lives.first
    if started.count(None) == len(started):
        return None
    waits: list[tuple[float, float]] = []
    spent = 0.0
    for number, (job, place) in enumerate(zip(result.fitted.jobs, result.fitted.numbers, strict=True)):
        recorded, replayed = started[place], first[number]
        if recorded is None or replayed is None or job.submit < result.options.warm_up:
            continue
        waits.append((recorded - job.submit, replayed - job.submit))
        spent += recorded - job.submit + (job.duration or 0.0)
    if not waits:
        return None
    errors = sorted(abs(replayed - recorded) for recorded, replayed in waits)
    return Fidelity(
        jobs=len(waits),
        recorded_mean_wait=fmean(recorded for recorded, _ in waits),
        replayed_mean_wait=fmean(replayed for _, replayed in waits),
        mean_error=fmean(errors),
        p50_error=nearest_rank(errors, 50),
        p95_error=nearest_rank(errors, 95),
        max_error=errors[-1],
        close=sum(1 for error in errors if error <= CLOSE_SECONDS) / len(errors),
        deviation=sum(errors) / spent if spent > 0 else None,
    )
