"""Everything that was asked about a replay, together: what reports show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nlargest
from typing import Final

from policy_engine.outcome.lives import Lives
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
    waits = (wait for wait in _waits(result, result.lives) if wait.total > 0)
    return tuple(nlargest(most, waits, key=lambda wait: wait.total))


def _waits(result: ReplayResult, lives: Lives) -> Iterator[Wait]:
    end = result.run.end
    for number, job in enumerate(result.fitted.jobs):
        first = lives.first[number]
        if job.submit < result.options.warm_up or (first == job.submit and number not in lives.requeued):
            continue
        if lives.last[number] is None:
            continue
        ended = lives.ended(number)
        until = first if first is not None else end if ended is None else ended
        yield Wait(job, until - job.submit, lives.requeued.get(number, 0.0), first is not None)
