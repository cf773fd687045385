"""The life of a job as a short story, and how it stands at a time."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine import load_policy, load_scenario
from policy_engine.explaining import Because, Explanation, What, explain
from policy_engine.scheduler.jobs import Exit, Terminate, Timing, UpdatePriority, Workload
from policy_engine.simulation import simulate
from tests.policy_engine.explaining.setups import U, job, policy, share

EXAMPLES = Path(__file__).parents[3] / "examples"


def walkthrough(job: str, at: float | None = None) -> Explanation:
    declared, scenario = load_policy(EXAMPLES / "policy.yaml"), load_scenario(EXAMPLES / "walkthrough.yaml")
    run = simulate(declared, scenario.workload(declared), scenario.choices())
    return explain(run, job, at)


def story(explanation: Explanation) -> list[tuple[What, float, float | None]]:
    return [(chapter.what, chapter.at, chapter.until) for chapter in explanation.chapters]


def test_the_whole_life_of_the_borrower_of_the_walkthrough() -> None:
    explanation = walkthrough("qs1_job_med")
    assert story(explanation) == [
        (What.SUBMITTED, 0, 0),
        (What.RUNS, 0, 60),
        (What.PREEMPTED, 60, 60),
        (What.REQUEUED, 60, 60),
        (What.WAITS, 60, 120),
        (What.WAITS, 120, None),
    ]
    told = [chapter.message for chapter in explanation.chapters]
    assert told[0] == f"submitted to QS1 with priority 2, for 1 {U}"
    assert told[1] == f"QS1 uses 2 {U}, 1 above its limit 1: borrowed capacity"
    assert told[3] == "is RUNNABLE again; 1m of its work is lost"
    # AWS's notebook: the third share is idle, and its capacity reserved
    assert told[4] == f"1 of 3 {U} is idle, of which 1 is kept for QS3 (RESERVE): 0 are left and it needs 1"
    diagnoses = [chapter.diagnosis for chapter in explanation.chapters if chapter.diagnosis is not None]
    assert [diagnosis.waits.because for diagnosis in diagnoses] == [Because.RESERVED, Because.NOT_FIRST]
    ahead = diagnoses[1].ahead
    assert ahead is not None
    assert (ahead.job, ahead.waits.because) == ("qs1_job_high", Because.RESERVED)


def test_why_the_third_job_of_the_walkthrough_does_not_borrow_what_is_idle() -> None:
    [_, waits] = walkthrough("qs1_job_low", 30).chapters
    assert waits.diagnosis is not None
    assert waits.diagnosis.waits.because is Because.LENDERS_LIMITS
    assert waits.diagnosis.waits.numbers == {
        "count": 1,
        "usage": 2,
        "limit": 1,
        "bound": 2,
        "lenders_limits": 1,
    }


def test_at_a_time_only_what_led_there_is_told() -> None:
    assert story(walkthrough("qs1_job_med", 30)) == [(What.SUBMITTED, 0, 0), (What.RUNS, 0, 60)]
    assert story(walkthrough("qs1_job_med", 90)) == [
        (What.PREEMPTED, 60, 60),
        (What.REQUEUED, 60, 60),
        (What.WAITS, 60, 120),
    ]
    # of a later wait for another reason, what put it in line is still told
    assert story(walkthrough("qs1_job_med", 150))[:2] == [(What.PREEMPTED, 60, 60), (What.REQUEUED, 60, 60)]
    assert story(walkthrough("qs2_job_1", 30)) == [(What.NOT_SUBMITTED, 0, 60)]


def test_just_after_an_instant_is_at_it() -> None:
    assert walkthrough("qs1_job_med", 59.9).last.what is What.RUNS
    assert walkthrough("qs1_job_med", 60).last.what is What.WAITS


@pytest.mark.parametrize("at", [-1, 1e9])
def test_a_time_outside_the_run_is_an_error(at: float) -> None:
    with pytest.raises(ValueError, match="outside the run"):
        walkthrough("qs1_job_med", at)


def test_a_job_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="no job 'qs1'"):
        walkthrough("qs1")


def test_a_run_that_fails_times_out_and_is_terminated_is_told() -> None:
    endings = {
        "fails": "the attempt failed",
        "times_out": "the attempt timed out",
        "stops": "is terminated",
        "ends": "has done its work",
    }
    jobs = (
        job("fails", "s", duration=10, exit=Exit.FAILED),
        job("times_out", "s", timeout=10.0),
        job("stops", "s"),
        job("ends", "s", duration=10),
    )
    run = simulate(policy(4, s=share(4)), Workload(jobs, (Terminate(10, "stops"),)))
    assert {name: explain(run, name).last.message for name in endings} == endings
    states = {name: explain(run, name).last.state for name in endings}
    assert states == {"fails": "FAILED", "times_out": "FAILED", "stops": "FAILED", "ends": "SUCCEEDED"}


def test_attempts_that_are_retried_are_told() -> None:
    jobs = (job("x", "s", duration=10, exit=Exit.FAILED, attempts=2),)
    explanation = explain(simulate(policy(1, s=share(1)), Workload(jobs)), "x")
    assert [chapter.what for chapter in explanation.chapters] == [
        What.SUBMITTED,
        What.RUNS,
        What.REQUEUED,
        What.RUNS,
        What.FAILED,
    ]
    assert explanation.chapters[2].message == "is RUNNABLE again: the attempt failed"


def test_a_claim_is_told_from_the_decision_to_the_start() -> None:
    jobs = (job("b", "t", 2), job("x", "s", submit=10))
    run = simulate(policy(2, s=share(1, "LEND"), t=share(1)), Workload(jobs, timing=Timing(stop_seconds=20), until=100))
    assert story(explain(run, "x")) == [
        (What.NOT_SUBMITTED, 0, 10),
        (What.SUBMITTED, 10, 10),
        (What.STOPS_OTHERS, 10, 10),
        (What.WAITS, 10, 30),
        (What.RUNS, 30, None),
    ]
    assert story(explain(run, "x", 15)) == [
        (What.SUBMITTED, 10, 10),
        (What.STOPS_OTHERS, 10, 10),
        (What.WAITS, 10, 30),
    ]


def test_a_job_of_running_was_dispatched_before() -> None:
    run = simulate(policy(1, s=share(1)), Workload((job("x", "s", started=-30.0),), until=10))
    explanation = explain(run, "x", 5)
    assert explanation.chapters[0].message.endswith(", and dispatched before the run began")
    assert (explanation.last.what, explanation.last.at) == (What.RUNS, -30)


def test_a_wait_for_one_reason_is_one_chapter_and_at_a_time_its_numbers_are_exact() -> None:
    jobs = (*(job(f"r{n}", "s", duration=10) for n in range(20)), job("x", "s"))
    updates = tuple(UpdatePriority(float(at), "r19", at) for at in range(1, 5))
    run = simulate(policy(1, s=share(1, "LEND")), Workload(jobs, updates, until=100))
    waits = [chapter for chapter in explain(run, "x").chapters if chapter.what is What.WAITS]
    assert [(chapter.at, chapter.until) for chapter in waits] == [(0, None)]
    assert waits[0].diagnosis is not None
    assert waits[0].diagnosis.waits.numbers["place"] == 20
    [exact] = [chapter for chapter in explain(run, "x", 95).chapters if chapter.what is What.WAITS]
    assert exact.diagnosis is not None
    assert exact.diagnosis.waits.numbers["place"] == 11
