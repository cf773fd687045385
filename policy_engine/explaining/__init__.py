"""Why a job waits, why it was preempted, and why nobody was stopped for it.

The run is made once more and the scheduler's own state is looked at whenever it decides something about the job. What
is said follows from that state and from the documented rules; nothing is decided here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from policy_engine.explaining.life import Watched, watch
from policy_engine.explaining.reasons import (
    MEANINGS,
    About,
    Because,
    Candidate,
    Chapter,
    Diagnosis,
    Explanation,
    Fate,
    Reason,
    Selection,
    What,
)
from policy_engine.explaining.telling import chapters
from policy_engine.explaining.waiting import ContradictionError
from policy_engine.scheduler.moves import Chooser
from policy_engine.simulation import Run

__all__ = [
    "MEANINGS",
    "About",
    "Because",
    "Candidate",
    "Chapter",
    "ContradictionError",
    "Diagnosis",
    "Explanation",
    "Fate",
    "Reason",
    "Selection",
    "What",
    "explain",
]


def explain(run: Run, job: str, at: float | None = None, chooser: Chooser | None = None) -> Explanation:
    """What became of the job in the run and why; with ``at``, how it stands at that time.

    Args:
        run: what happened.
        job: the job's name.
        at: seconds from the scenario's zero, 0 to ``run.end``; just after everything due at that instant.
        chooser: makes the moves of the run once more; None for the rule.

    Raises:
        ValueError: there is no such job, or the time is outside the run.
        ContradictionError: the job waits though nothing stands in its way: a bug.
    """
    number = next((number for number, one in enumerate(run.workload.jobs) if one.name == job), None)
    if number is None:
        raise ValueError(f"no job {job!r}")
    if at is not None and not 0 <= at <= run.end:
        raise ValueError(f"{at} s is outside the run")
    watched = watch(run, number, at, chooser)
    told = chapters(run, number, watched)
    return Explanation(run, job, at, tuple(told if at is None else _episode(told, at, watched)))


_ON_THE_WAY: Final = frozenset({What.STOPS})
"""Lasting chapters that lead from one moment to another of the same episode."""


def _episode(told: Sequence[Chapter], at: float, watched: Watched) -> list[Chapter]:
    """How the job stands at the time, and the moments that brought it there."""
    *earlier, now = told[: 1 + max(n for n, chapter in enumerate(told) if chapter.at <= at and chapter.lasts)]
    later = [chapter for chapter in told[len(earlier) + 1 :] if chapter.at <= at]
    moments: list[Chapter] = []
    for chapter in reversed(earlier):
        if not chapter.lasts or chapter.what in _ON_THE_WAY:
            moments.append(chapter)
        elif chapter.what is not now.what:
            break
    if watched.exact is not None:
        now = replace(now, message=watched.exact.waits.message, diagnosis=watched.exact)
    return [*moments[::-1], *later, now]
