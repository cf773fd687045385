"""Outcomes of logs written by hand: each number against one worked out on paper."""

from __future__ import annotations

from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.outcome import Attempt, Waits, job_outcomes, last_rows, queue_outcome, share_outcomes, steps
from policy_engine.outcome.shares import nearest_rank
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Job,
    Timing,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
)
from tests.policy_engine.logs import UNIT, policy_of, run_of

THREE = {"a": "1 LEND_AND_BORROW 200", "b": "1 LEND", "c": "1 RESERVE"}


def job(name: str, share: str, count: int = 1, **more: float) -> Job:
    return Job(name, share, {UNIT: count}, **more)  # type: ignore[arg-type]


# --- jobs ------------------------------------------------------------------------------------------


def test_a_preempted_job_waits_again_and_loses_its_work() -> None:
    run = run_of(
        policy_of(THREE),
        [job("x", "a", 2), job("y", "b", submit=50.0)],
        """
        10 submitted x
        20 started x
        50 submitted y
        60 preempted x by y cross_share
        80 stopped x lost 45
        80 requeued x
        80 started y
        100 finished y finished
        100 started x
        """,
        end=150,
    )
    x, y = job_outcomes(run)
    assert (x.state, x.submitted, x.first_started, x.finished, x.wait_seconds) == ("RUNNING", 0, 20, None, 20)
    assert (x.requeued_seconds, x.preemptions, x.lost_instance_seconds) == (20, 1, 90)
    assert x.attempts == (
        Attempt(scheduled=20, stopped=80, ended_by="cross_share", by="y", lost_seconds=45),
        Attempt(scheduled=100, stopped=None, ended_by=None, by=None, lost_seconds=0),
    )
    assert (y.state, y.finished, y.wait_seconds, y.preemptions) == ("SUCCEEDED", 100, 30, 0)
    [of_a, of_b, _] = share_outcomes(run)
    assert (of_a.preemptions_suffered, of_a.lost_instance_seconds, of_a.requeued_seconds) == (1, 90, 20)
    assert (of_b.preemptions_caused, of_b.caused_lost_instance_seconds, of_b.preemptions_suffered) == (1, 90, 0)


def test_a_victim_whose_work_ends_during_the_stop_counts_nowhere() -> None:
    log = """
        0 submitted x
        0 started x
        60 preempted x by y cross_share
        70 finished x finished
        70 started y
        """
    run = run_of(policy_of(THREE), [job("x", "a"), job("y", "b")], log, end=100)
    x, _ = job_outcomes(run)
    assert (x.preemptions, x.lost_instance_seconds, x.state) == (0, 0, "SUCCEEDED")
    assert (x.attempts[0].ended_by, x.attempts[0].by) == ("finished", None)
    shares = share_outcomes(run)
    assert [share.preemptions_suffered + share.preemptions_caused for share in shares] == [0, 0, 0]


@pytest.mark.parametrize(
    ("log", "state", "reason", "ended_by", "preemptions"),
    [
        ("", "SUBMITTED", None, [], 0),
        ("0 submitted x", "RUNNABLE", None, [], 0),
        ("0 submitted x\n0 blocked x because CODE - text", "RUNNABLE", "CODE - text", [], 0),
        ("0 submitted x\n0 blocked x because CODE - text\n5 started x", "RUNNING", None, [None], 0),
        ("0 submitted x\n0 started x", "RUNNING", None, [None], 0),
        ("0 submitted x\n95 started x", "SCHEDULED", None, [None], 0),
        ("0 submitted x\n0 started x\n9 preempted x by y in_share", "RUNNING", None, [None], 0),
        ("0 submitted x\n0 started x\n9 failed x failed because exit 1", "FAILED", "exit 1", ["failed"], 0),
        ("0 submitted x\n0 started x\n9 terminated x terminated", "FAILED", None, ["terminated"], 0),
        (
            "0 submitted x\n0 started x\n9 preempted x by y in_share\n9 stopped x lost 9\n9 failed x",
            "FAILED",
            None,
            ["in_share"],
            1,
        ),
        (
            "0 submitted x\n0 started x\n9 preempted x by y in_share\n9 terminated x terminated",
            "FAILED",
            None,
            ["terminated"],
            0,
        ),
        ("0 submitted x\n0 started x\n9 stopped x timeout\n9 requeued x", "RUNNABLE", None, ["timeout"], 0),
        ("0 submitted x\n0 started x\n9 failed x timeout", "FAILED", None, ["timeout"], 0),
        ("0 submitted x\n3 terminated x terminated because by hand", "FAILED", "by hand", [], 0),
        ("0 failed x failed because refused", "FAILED", "refused", [], 0),
    ],
)
def test_the_state_at_the_end(
    log: str, state: str, reason: str | None, ended_by: list[str | None], preemptions: int
) -> None:
    timing = Timing(start_seconds=10)
    run = run_of(policy_of(THREE), [job("x", "a"), job("y", "a")], log, end=100, timing=timing)
    x, _ = job_outcomes(run)
    assert (x.state, x.reason, x.preemptions) == (state, reason, preemptions)
    assert [attempt.ended_by for attempt in x.attempts] == ended_by


def test_waiting_after_a_failure_is_no_waiting_after_a_preemption() -> None:
    log = "0 submitted x\n0 started x\n9 stopped x failed\n9 requeued x\n30 started x"
    run = run_of(policy_of(THREE), [job("x", "a")], log, end=50)
    assert job_outcomes(run)[0].requeued_seconds == 0


@pytest.mark.parametrize(
    ("last", "requeued"),
    [("", 91), ("30 started x", 21), ("40 terminated x terminated", 31), ("50 failed x failed", 41)],
)
def test_waiting_after_a_preemption_ends_with_a_start_the_job_or_the_run(last: str, requeued: float) -> None:
    log = "0 submitted x\n0 started x\n9 preempted x by y in_share\n9 stopped x\n9 requeued x\n"
    run = run_of(policy_of(THREE), [job("x", "a"), job("y", "a")], log + last, end=100)
    assert job_outcomes(run)[0].requeued_seconds == requeued


def test_a_running_job_was_submitted_when_it_started() -> None:
    started = Job("x", "a", {UNIT: 1}, submit=-60, started=-60)
    run = run_of(policy_of(THREE), [started], "-60 submitted x\n-60 started x\n10 finished x finished", end=10)
    [x] = job_outcomes(run)
    assert (x.submitted, x.first_started, x.wait_seconds, x.finished) == (-60, -60, 0, 10)
    assert share_outcomes(run)[0].busy_instance_seconds == 10
    assert steps(run, UNIT)[0].own["a"] == 1


def test_states_just_after_everything_due_at_an_instant() -> None:
    log = "0 submitted x\n0 started x\n9 stopped x failed\n9 requeued x\n9 started x"
    run = run_of(policy_of(THREE), [job("x", "a"), job("y", "a")], log, end=50)
    assert dict(last_rows(run, [9, 5, 0, 1e9])) == {0: [1, -1], 5: [1, -1], 9: [4, -1], 1e9: [4, -1]}


# --- shares ----------------------------------------------------------------------------------------

LENT = """
    0 submitted x
    0 started x
    10 submitted y
    10 started y
    30 finished x finished
    """


def test_lenders_lend_in_proportion_to_what_they_have_idle() -> None:
    policy = policy_of({"a": "1 LEND_AND_BORROW", "b": "4 LEND", "c": "2 LEND", "d": "3 RESERVE"})
    run = run_of(policy, [job("x", "a", 4), job("y", "b", 3)], LENT, end=40)
    a, b, c, d = share_outcomes(run)
    # 3 are borrowed for 30 s: at first 2 from b and 1 from c; from 10 s on b has 1 idle and c 2
    assert (a.busy_instance_seconds, a.borrowed_instance_seconds, a.lent_instance_seconds) == (120, 90, 0)
    assert b.lent_instance_seconds == pytest.approx(10 * 2 + 20 * 1)
    assert c.lent_instance_seconds == pytest.approx(10 * 1 + 20 * 2)
    assert (d.lent_instance_seconds, d.busy_instance_seconds) == (0, 0)
    assert (a.peak_usage, a.peak_borrowed, b.peak_usage, b.peak_borrowed) == (4, 3, 3, 0)
    assert (a.limit, b.limit, c.limit, d.limit) == (1, 4, 2, 3)
    first, second, third = steps(run, UNIT)
    assert (first.at, second.at, third.at) == (0, 10, 30)
    assert asdict(first) == {
        "at": 0,
        "own": {"a": 1, "b": 0, "c": 0, "d": 0},
        "borrowed": {"a": 3, "b": 0, "c": 0, "d": 0},
        "lent": {"a": 0, "b": 2, "c": 1, "d": 0},
        "reserved": {"a": 0, "b": 0, "c": 0, "d": 3},
        "free": {"a": 0, "b": 2, "c": 1, "d": 0},
        "unallocated": 0,
    }
    assert third.free == {"a": 1, "b": 1, "c": 2, "d": 0}


def test_what_nobody_owns_is_nobodys_to_lend() -> None:
    policy = policy_of({"a": "1 LEND_AND_BORROW", "b": "1 LEND"}, capacity=5)
    log = "0 submitted x\n0 started x\n30 finished x finished"
    run = run_of(policy, [job("x", "a", 4)], log, end=30, choices=Choices(unallocated="borrowable"))
    a, b = share_outcomes(run)
    assert (a.borrowed_instance_seconds, b.lent_instance_seconds) == (90, 30)
    assert [step.unallocated for step in steps(run, UNIT)] == [1, 3]


def test_over_committed_idle_is_not_there() -> None:
    """Limits of 4, 2 and 2 in an environment of 5: of 3 idle, none is anybody's to reserve beyond 2 - 3."""
    policy = policy_of({"a": "4 LEND_AND_BORROW", "b": "2 LEND", "c": "2 RESERVE"}, capacity=5)
    run = run_of(policy, [job("x", "a", 2)], "0 submitted x\n0 started x", end=10)
    [step] = steps(run, UNIT)
    assert sum(step.reserved.values()) == 0
    assert sum(step.free.values()) == pytest.approx(3)


def test_a_lowered_limit_is_followed() -> None:
    policy = policy_of({"a": "3 LEND", "b": "1 LEND"})
    run = run_of(
        policy,
        [job("x", "a", 3)],
        """
        0 submitted x
        0 started x
        10 share_updated a
        20 environment_updated
        30 share_updated a
        40 finished x finished
        """,
        end=50,
        updates=(
            UpdateServiceEnvironment(20, capacity_limits={UNIT: 2}),
            UpdateQueue(15, state="DISABLED"),
            UpdateShare(10, "a", capacity_limits={UNIT: 1}),
            UpdateShare(30, "a", capacity_limits={UNIT: 2}),
        ),
    )
    a, b = share_outcomes(run)
    # 2 above the limit from 10 s to 30 s, 1 from 30 s to 40 s; b has 1 idle to lend, whoever it is from
    assert (a.limit, a.busy_instance_seconds, a.borrowed_instance_seconds, a.peak_borrowed) == (2, 120, 50, 2)
    assert b.lent_instance_seconds == pytest.approx(30)
    queue = queue_outcome(run)
    assert (queue.busy_instance_seconds, queue.capacity_instance_seconds) == (120, 4 * 20 + 2 * 30)
    assert queue.utilization == pytest.approx(120 / 140)
    assert [step.own["a"] for step in steps(run, UNIT)] == [3, 1, 1, 2, 0]


def test_a_deleted_share_keeps_its_past() -> None:
    run = run_of(
        policy_of({"a": "2 LEND", "b": "1 LEND"}),
        [job("x", "a", 2)],
        "0 submitted x\n0 started x\n10 terminated x terminated\n10 share_updated a",
        end=20,
        updates=(DeleteShare(10, "a"),),
    )
    a, b = share_outcomes(run)
    assert (a.name, a.limit, a.busy_instance_seconds, b.limit) == ("a", 0, 20, 1)
    last = steps(run, UNIT)[-1]
    assert (last.free, last.unallocated) == ({"a": 0, "b": 1}, 2)


def test_a_job_of_several_types_counts_under_each_and_once_for_its_share() -> None:
    other = "ml.p5.48xlarge"
    policy = policy_of({"a": "2 LEND", "b": "1 LEND_AND_BORROW"})
    run = run_of(
        policy,
        [Job("x", "a", {UNIT: 2, other: 3}), Job("y", "b", {UNIT: 1})],
        "0 submitted x\n5 started x\n9 preempted x by y cross_share\n9 stopped x lost 4\n9 requeued x",
        end=20,
    )
    by_unit = {(share.name, share.unit): share for share in share_outcomes(run)}
    assert by_unit["a", UNIT].lost_instance_seconds == 8
    assert by_unit["a", other].lost_instance_seconds == 12
    assert by_unit["a", other].limit == 0
    assert by_unit["b", other].preemptions_caused == 1
    together = {share.name: share for share in share_outcomes(run, by_unit=False)}
    assert (together["a"].preemptions_suffered, together["b"].preemptions_caused) == (1, 1)
    assert together["a"].lost_instance_seconds == 20
    assert together["a"].peak_usage == 5
    assert together["a"].wait_seconds == Waits(5, 5, 5, 5)


def test_jobs_that_never_started_are_counted_apart() -> None:
    log = "0 submitted x\n7 started x\n0 submitted y"
    run = run_of(policy_of(THREE), [job("x", "a"), job("y", "a"), job("z", "a", submit=99.0)], log, end=9)
    a, b, _ = share_outcomes(run)
    assert (a.never_started, a.wait_seconds) == (1, Waits(7, 7, 7, 7))
    assert (b.never_started, b.wait_seconds) == (0, None)


def test_a_run_without_length_has_no_utilization() -> None:
    run = run_of(policy_of(THREE), [], "", end=0)
    assert queue_outcome(run).utilization is None
    [step] = steps(run, UNIT)
    assert (step.free, step.reserved) == ({"a": 1, "b": 1, "c": 0}, {"a": 0, "b": 0, "c": 1})


@pytest.mark.parametrize(
    ("values", "p50", "p95"),
    [([5], 5, 5), ([1, 2], 1, 2), ([1, 2, 3], 2, 3), (list(range(1, 21)), 10, 19), (list(range(1, 101)), 50, 95)],
)
def test_percentiles_are_by_nearest_rank(values: list[float], p50: float, p95: float) -> None:
    assert (nearest_rank(values, 50), nearest_rank(values, 95)) == (p50, p95)


@given(st.lists(st.floats(0, 1e6), min_size=1), st.integers(0, 100))
def test_at_least_so_many_percent_do_not_exceed_the_nearest_rank(values: list[float], percent: int) -> None:
    rank = nearest_rank(sorted(values), percent)
    assert rank in values
    assert 100 * sum(value <= rank for value in values) >= percent * len(values)
    assert 100 * sum(value < rank for value in values) <= percent * len(values)
