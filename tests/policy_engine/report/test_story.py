"""What is told of a run where there is more than anybody would read."""

from dataclasses import replace

from policy_engine.outcome import JobOutcome
from policy_engine.report.story import Story, most_telling
from policy_engine.scheduler.jobs import DeleteShare, UpdateServiceEnvironment, UpdateShare
from tests.policy_engine.logs import UNIT, policy_of, run_of

JOB = JobOutcome("job", "a", "SUCCEEDED", None, 0, 0, 10, 0, 0, (), 0, 0)


def test_all_jobs_are_told_where_they_are_few() -> None:
    jobs = [replace(JOB, name=name) for name in "cab"]
    assert [job.name for job in most_telling(jobs, 3)] == ["c", "a", "b"]


def test_of_many_jobs_the_preempted_come_first_then_the_longest_waits_in_the_order_given() -> None:
    jobs = [
        replace(JOB, name="short wait", wait_seconds=1),
        replace(JOB, name="requeued", wait_seconds=0, requeued_seconds=50),
        replace(JOB, name="never started", first_started=None, wait_seconds=None),
        replace(JOB, name="long wait", wait_seconds=99),
        replace(JOB, name="preempted", preemptions=1),
    ]
    assert [job.name for job in most_telling(jobs, 1)] == ["preempted"]
    assert [job.name for job in most_telling(jobs, 2)] == ["never started", "preempted"]
    assert [job.name for job in most_telling(jobs, 4)] == ["requeued", "never started", "long wait", "preempted"]


def test_limits_and_capacity_change_when_their_updates_come() -> None:
    run = run_of(
        policy_of({"a": "1 LEND", "b": "2 LEND"}),
        (),
        """
        10 share_updated a
        20 environment_updated -
        30 share_updated b
        """,
        end=60,
        updates=(
            UpdateShare(10, "a", {UNIT: 5}),
            UpdateServiceEnvironment(20, {UNIT: 4}),
            DeleteShare(30, "b"),
        ),
    )
    story = Story("run", run, ())
    assert story.limit("a", UNIT) == [(0, 1), (10, 5)]
    assert story.limit("b", UNIT) == [(0, 2), (30, 0)]
    assert story.capacity(UNIT) == [(0, 3), (20, 4)]
