"""Means over equal spans against those of the steps, of which there is one for every change."""

from __future__ import annotations

from dataclasses import astuple

import pytest

from policy_engine.outcome import bins, steps
from policy_engine.outcome.bins import Course, Span
from policy_engine.report.series import timeline, timeline_of
from policy_engine.scheduler.jobs import Job, Timing
from policy_engine.simulation import Run, simulate
from tests.oracle.generator import scenario
from tests.policy_engine.logs import UNIT, policy_of, run_of

COUNT = 7


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    made = [scenario(seed) for seed in range(250)]
    return [simulate(one.declared(), one.workload, one.choices) for one in made]


def test_means_of_a_run_on_paper() -> None:
    run = run_of(
        policy_of({"a": "2 LEND_AND_BORROW", "b": "2 LEND", "c": "1 RESERVE"}, capacity=6),
        [Job("x", "a", {UNIT: 3}), Job("y", "b", {UNIT: 1}, submit=30)],
        "0 submitted x\n0 started x\n30 submitted y\n30 started y\n40 finished x finished\n80 finished y finished",
        end=80,
        timing=Timing(),
    )
    found = bins(run, UNIT, 2, 80)
    assert found.width == 40
    assert found.queue.spans == (
        Span(own=2.25, borrowed=1, lent=0, reserved=1, free=0.75, unallocated=1),
        Span(own=1, borrowed=0, lent=0, reserved=1, free=3, unallocated=1),
    )
    assert found.shares["b"].spans[0] == Span(own=0.25, borrowed=0, lent=1, reserved=0, free=0.75, unallocated=0)
    assert found.shares["a"] == Course(
        (Span(2, 1, 0, 0, 0, 0), Span(0, 0, 0, 0, 2, 0)), most=Span(2, 1, 0, 0, 2, 0), most_used=3
    )


def test_means_are_those_of_the_steps(runs: list[Run]) -> None:
    for run in runs:
        for unit in run.policy.units:
            end = max(run.end, 1.0)
            exact = timeline(steps(run, unit), run.policy.shares, end, most=10**9)
            found = timeline_of(bins(run, unit, COUNT, end))
            for mine, theirs in (
                (found.queue, exact.queue),
                *((found.shares[s], exact.shares[s]) for s in exact.shares),
            ):
                assert mine.mean_over == end / COUNT
                assert mine.mean() == pytest.approx(theirs.mean(), abs=1e-9)
                assert mine.most_used == theirs.most_used
                for place in (0, 1, 5, 6):  # own, by borrowers, unallocated, borrowed
                    assert mine.peaks[place] == theirs.peaks[place]


def test_every_span_is_the_mean_of_its_steps(runs: list[Run]) -> None:
    averaged = 0
    for run in runs:
        for unit in run.policy.units:
            end = max(run.end, 1.0)
            few = timeline(steps(run, unit), run.policy.shares, end, most=2)
            found = timeline_of(bins(run, unit, 2, end))
            for name, course in few.shares.items():
                if course.mean_over is not None:
                    averaged += 1
                    for mine, theirs in zip(found.shares[name].intervals, course.intervals, strict=True):
                        assert astuple(mine) == (*astuple(theirs)[:2], pytest.approx(theirs.levels, abs=1e-9))
    assert averaged > 100
