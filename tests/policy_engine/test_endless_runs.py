"""Where the documented rules have no end: one clear error at once, and neither a defect nor a run that hangs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from policy_engine import UndecidedError, verify
from policy_engine import simulation as clock
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Exit, Job, Workload
from policy_engine.scheduler.log import Kind
from policy_engine.simulation import simulate
from tests.oracle import engine as oracle
from tests.policy_engine.command import folder, run, write
from tests.policy_engine.endless import BORROWER, CIRCLE, HALVES, OVER_COMMITTED, PAIR, TAKING_BACK
from tests.policy_engine.logs import UNIT, policy_of

__all__ = ["folder"]


def test_a_circle_at_one_instant_is_told_with_the_jobs_in_it() -> None:
    with pytest.raises(TooManyMovesError) as caught:
        simulate(OVER_COMMITTED, CIRCLE)
    assert (caught.value.at, caught.value.since, caught.value.jobs) == (3, 3, ("j1", "j4"))
    told = str(caught.value)
    assert told.startswith("at 3 s: j1 and j4 stop each other over and over (161 moves); ")
    assert "no mistake in the input" in told
    assert "change a priority, a size or a limit" in told


def test_it_is_a_circle_of_the_rules_and_not_of_the_engine() -> None:
    with pytest.raises(oracle.TooManyMovesError, match=r"at 3\.0 s"):
        oracle.run(OVER_COMMITTED, CIRCLE, Choices())


def test_many_jobs_of_no_duration_are_no_circle() -> None:
    """One after the other at one instant: many moves, and each the only one of its job."""
    jobs = Workload(tuple(Job(f"j{number}", "s", {UNIT: 1}, duration=0.0) for number in range(100)))
    log = simulate(policy_of({"s": "1 RESERVE"}), jobs).log
    assert sum(event.kind is Kind.FINISHED for event in log) == 100
    assert len(oracle.run(policy_of({"s": "1 RESERVE"}), jobs, Choices()).log) == len(log)


def test_enough_capacity_ends_the_circle() -> None:
    log = simulate(policy_of({"s0": f"4 {BORROWER}", "s1": f"4 {BORROWER}"}), CIRCLE).log
    assert sorted(event.job or "" for event in log if event.kind is Kind.FINISHED) == ["j0", "j1", "j2", "j3", "j4"]


# --- over time -------------------------------------------------------------------------------------


def test_a_circle_over_time_is_told_with_when_it_began(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "REQUEUES", 100)
    with pytest.raises(TooManyMovesError) as caught:
        simulate(HALVES, PAIR, TAKING_BACK)
    assert (caught.value.since, caught.value.jobs) == (1, ("a", "b"))
    assert str(caught.value).startswith(f"from 1 s to {caught.value.at:g} s: a and b stop each other over and over")
    assert 100 <= caught.value.moves <= 200


def test_it_is_a_circle_over_time_for_both_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(oracle, "MOST_ENTRIES", 500)
    with pytest.raises(oracle.TooManyMovesError, match="more than 500 entries"):
        oracle.run(HALVES, PAIR, TAKING_BACK)


def test_until_ends_a_circle_over_time() -> None:
    run = simulate(HALVES, replace(PAIR, until=3600.0), TAKING_BACK)
    assert run.end == 3600
    assert sum(event.kind is Kind.PREEMPTED for event in run.log) == 180


def test_slow_progress_is_not_taken_for_a_circle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each turn of 20 s keeps two checkpoints, so both end after many."""
    monkeypatch.setattr(clock, "REQUEUES", 100)
    slow = tuple(replace(job, duration=6000.0, checkpoint_every=10.0) for job in PAIR.jobs)
    assert (
        sum(event.kind is Kind.FINISHED for event in simulate(HALVES, replace(PAIR, jobs=slow), TAKING_BACK).log) == 2
    )


# --- jobs that find no capacity ----------------------------------------------------------------------

ALONE = policy_of({"s": "1 RESERVE"})
RETRIED = Job("j", "s", {UNIT: 1}, duration=60.0, exit=Exit.CAPACITY_FAILURE)


@pytest.mark.parametrize(
    "workload",
    [
        pytest.param(Workload((RETRIED,)), id="nothing ends it"),
        pytest.param(Workload((replace(RETRIED, duration=0.0),), until=3600.0), id="attempts that take no time"),
    ],
)
def test_a_job_that_is_retried_without_end_is_refused(workload: Workload, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "REQUEUES", 100)
    with pytest.raises(ValueError, match="job 'j' finds no capacity and is retried without end: give it a duration"):
        simulate(ALONE, workload)


def test_until_ends_the_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "REQUEUES", 10)
    log = simulate(ALONE, Workload((RETRIED,), until=3630.0)).log
    assert sum(event.kind is Kind.STARTED for event in log) == 61


def test_a_time_limit_ends_the_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "REQUEUES", 10)
    limit = {"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "max_seconds": 600}
    limited = Policy.of({**ALONE.model_dump(), "job_state_time_limits": [limit]})
    *_, last = simulate(limited, Workload((RETRIED,))).log
    assert (last.at, last.kind) == (600, Kind.TERMINATED)


# --- what the user sees ------------------------------------------------------------------------------

POLICY = """
    service_environment: {capacity_limits: {ml.g5.xlarge: 7}}
    shares:
      s0: {capacity_limits: {ml.g5.xlarge: 4}, strategy: LEND_AND_BORROW, in_share_preemption: true}
      s1: {capacity_limits: {ml.g5.xlarge: 4}, strategy: LEND_AND_BORROW, in_share_preemption: true}
"""
SCENARIO = """
    jobs:
      - {name: j0, share: s1, instance_count: 4, priority: 0, duration: 1m}
      - {name: j1, share: s1, instance_count: 4, priority: 2, duration: 1m}
      - {name: j2, share: s1, instance_count: 1, priority: 1, submit: 1s, duration: 1m}
      - {name: j3, share: s0, instance_count: 1, priority: 2, submit: 3s, duration: 1m}
      - {name: j4, share: s0, instance_count: 4, priority: 3, submit: 3s, duration: 1m}
    expect: [{job: j4, preempted: 0}]
"""


@pytest.mark.parametrize("command", ["simulate", "verify"])
def test_the_command_is_undecided_and_says_why_in_one_line(folder: Path, command: str) -> None:
    write(folder, "tight.yaml", POLICY)
    write(folder, "circle.yaml", SCENARIO)
    result = run(command, "tight.yaml", "circle.yaml")
    assert (result.exit_code, result.stdout) == (3, "")
    [line] = result.stderr.splitlines()
    assert line.startswith("circle.yaml: at 3 s: j1 and j4 stop each other over and over")
    assert "defect" not in line


def test_python_gets_an_error_of_its_own(folder: Path) -> None:
    write(folder, "tight.yaml", POLICY)
    write(folder, "circle.yaml", SCENARIO)
    with pytest.raises(UndecidedError, match=r"^circle\.yaml: at 3 s: ") as caught:
        verify("tight.yaml", "circle.yaml")
    assert caught.value.file == "circle.yaml"
