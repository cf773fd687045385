"""Everything that was asked about a replay, together: what reports show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from operator import itemgetter
from typing import Final

from policy_engine.replaying.baselines import Compared
from policy_engine.replaying.fidelity import Fidelity
from policy_engine.replaying.prices import Costs
from policy_engine.replaying.replay import ReplayResult
from policy_engine.replaying.shaking import Shaken
from policy_engine.scheduler.jobs import Job
from policy_engine.workload.history import Remark

MOST_WAITS: Final = 20
"""Of the worst waits, so many are told by name."""


@dataclass(frozen=True, slots=True)
class Wait:
    """How long a job waited. Seconds."""

    job: Job
    to_start: float
    """To its first start, or to the end of the run."""
    after_preemptions: float
    has_started: bool

    @property
    def total(self) -> float:
        """All of it."""
        return self.to_start + self.after_preemptions


@dataclass(frozen=True)
class Replayed:
    """A replay, and what was asked about it."""

    result: ReplayResult
    baselines: tuple[Compared, ...] = ()
    shaken: Shaken | None = None
    fidelity: Fidelity | None = None
    costs: Costs | None = None
    worst: tuple[Wait, ...] = field(default=())

    @property
    def remarks(self) -> Iterator[Remark]:
        """What was left out or read with a reservation, by the reader and by the policy."""
        yield from self.result.history.remarks
        yield from self.result.fitted.remarks


def worst_waits(result: ReplayResult, most: int = MOST_WAITS) -> tuple[Wait, ...]:
    """The jobs that waited longest, after the warm-up; those that did not wait at all are none of them."""
    jobs = result.fitted.jobs
    # of a hundred thousand only a few become objects
    worst = nlargest(most, _totals(result), key=itemgetter(0))
    return tuple(
        Wait(jobs[number], total - requeued, requeued, result.lives.first[number] is not None)
        for total, number, requeued in worst
    )


def _totals(result: ReplayResult) -> Iterator[tuple[float, int, float]]:
    """Of the jobs that waited: seconds in all, number, seconds after preemptions."""
    lives, warm_up = result.lives, result.options.warm_up
    for number, (job, first) in enumerate(zip(result.fitted.jobs, lives.first, strict=True)):
        submit = job.submit
        if first != submit or number in lives.requeued:
            if submit < warm_up or lives.last[number] is None:
                continue
            if first is None:
                ended = lives.ended(number)
                first = result.run.end if ended is None else ended
            requeued = lives.requeued.get(number, 0.0)
            yield first - submit + requeued, number, requeued
