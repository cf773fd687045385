"""Each form of expectation, judged on runs written by hand: the verdict and the reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from policy_engine.expectations import Answer, Verdict, judge
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing, UpdateShare
from policy_engine.simulation import Run
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.logs import UNIT, policy_of, run_of

POLICY = policy_of({"a": "1 LEND_AND_BORROW 200 in_share", "b": "2 LEND", "c": "1 RESERVE"})


def job(name: str, share: str, count: int = 1, **more: Any) -> Job:
    return Job(name, share, {UNIT: count}, **more)


def judged(run: Run, text: str, folder: Path) -> Verdict:
    path = folder / "s.yaml"
    path.write_text(f"expect:\n  - {text}\n", encoding="utf-8")
    [verdict] = judge(run, load_scenario(path))
    assert (verdict.file, verdict.line) == (str(path), 2)
    return verdict


# x runs on its share's own instance and y borrows two; z takes them back; w waits; v has the largest wait
DAY = run_of(
    POLICY,
    [
        job("x", "a", priority=5, duration=300.0),
        job("y", "a", 2, priority=3),
        job("z", "b", 2, priority=1, submit=60.0),
        job("w", "c", 9, submit=70.0),
        job("v", "b", submit=400.0),
        job("late", "b", submit=9000.0),
    ],
    """
    0 submitted x
    0 submitted y
    0 started x
    0 started y
    60 submitted z
    60 preempted y by z cross_share
    70 submitted w
    70 blocked w because MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - too large
    80 stopped y lost 80
    80 requeued y
    80 started z
    200 finished z finished
    200 started y
    300 finished x finished
    310 preempted y by w in_share
    320 terminated y terminated because by hand
    400 submitted v
    3600 started v
    """,
    end=3600,
    timing=Timing(stop_seconds=20, start_seconds=10),
)

AT = [
    ("{at: 10s, running: [x, y]}", True, "x and y were running"),
    ("{at: 9s, running: [x]}", False, "x was SCHEDULED, not running, at 9s: started at 0s"),
    ("{at: 9s, dispatched: [x, y]}", True, "x and y were dispatched"),
    ("{at: 75s, running: [y], runnable: [z]}", True, "y was running; z was runnable"),
    ("{at: 80s, running: [y]}", False, "y was RUNNABLE, not running, at 1m20s: preempted at 1m by z (cross_share)"),
    ("{at: 79.9s, running: [y]}", True, "y was running"),
    ("{at: 1h, runnable: [x]}", False, "x was SUCCEEDED, not runnable, at 1h: finished at 5m"),
    ("{at: 1h, failed: [y]}", True, "y was failed"),
    ("{at: 1h, succeeded: [y]}", False, "y was FAILED, not succeeded, at 1h: terminated at 5m20s: by hand"),
    ("{at: 1h, succeeded: [x, z]}", True, "x and z were succeeded"),
    (
        "{at: 100s, running: [w]}",
        False,
        "w was RUNNABLE, not running, at 1m40s: waiting since its submission at 1m10s: MISCONFIGURATION:QUOTA",
    ),
    ("{at: 410s, running: [v]}", False, "v was RUNNABLE, not running, at 6m50s: waiting since its submission at 6m40s"),
    ("{at: 30s, runnable: [z]}", False, "z was SUBMITTED, not runnable, at 30s: it is submitted at 1m"),
    ("{at: 10s, running: [x, y], exactly: true}", True, "no other job was running"),
    ("{at: 10s, running: [x], exactly: true}", False, "y was running too, at 10s"),
    ("{at: 10s, running: [], exactly: true}", False, "x and y were running too, at 10s"),
    ("{at: 10s, failed: [], exactly: true}", True, "no other job was failed"),
    # after the end of the run: its final state
    ("{at: 2h, running: [v], runnable: [w]}", True, "v was running; w was runnable"),
    ("{at: 2h, runnable: [late]}", False, "late was SUBMITTED, not runnable, at 2h: it is submitted at 2h30m"),
]

JOB = [
    ("{job: z, starts_within: 20s}", True, "z started 20s after its submission"),
    ("{job: z, starts_within: 19s}", False, "z started 20s after its submission; expected at most 19s"),
    (
        "{job: w, starts_within: 1d}",
        False,
        "w, submitted at 1m10s, had not started when the run ended at 1h: MISCONFIG",
    ),
    ("{job: x, finishes_within: 5m}", True, "x finished 5m after its submission"),
    ("{job: z, finishes_within: 2m}", False, "z finished 2m20s after its submission; expected at most 2m"),
    ("{job: y, finishes_within: 1d}", False, "y was FAILED, not succeeded, at 5m20s: by hand"),
    ("{job: v, finishes_within: 1d}", False, "v was SCHEDULED, not succeeded, at 1h"),
    ("{job: y, preempted: 1}", True, "y was preempted at 1m by z (cross_share)"),
    ("{job: y, preempted: 2}", False, "y was preempted at 1m by z (cross_share); expected exactly 2"),
    ("{job: y, preempted: {at_most: 1}}", True, "y was preempted at 1m"),
    ("{job: y, preempted: {at_most: 0}}", False, "expected at most 0"),
    ("{job: y, preempted: {at_least: 1, at_most: 3}}", True, "y was preempted"),
    ("{job: x, preempted: 0}", True, "x was never preempted"),
    ("{job: x, preempted: {at_least: 1}}", False, "x was never preempted; expected at least 1"),
    ("{job: y, preempted: 1, by: z, reason: cross_share}", True, "preempted at 1m by z"),
    ("{job: y, preempted: 1, by: x}", False, "by z (cross_share), of which 0 count; expected exactly 1"),
    ("{job: y, preempted: 1, reason: in_share}", False, "of which 0 count"),
    ("{job: y, by: z}", True, "preempted at 1m by z"),
    ("{job: y, by: x}", False, "y was preempted at 1m by z (cross_share); expected a preemption by x"),
    ("{job: y, reason: in_share}", False, "expected a preemption (in_share)"),
    ("{job: y, reason: by hand}", True, "y was given 'by hand'"),
    (
        "{job: w, never_starts: true, reason: 'MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED'}",
        True,
        "w never started; w was given 'MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - too large'",
    ),
    ("{job: x, reason: CAPACITY}", False, "x was given no status reason; expected one that begins with 'CAPACITY'"),
    ("{job: x, never_starts: true}", False, "x started at 0s"),
    ("{job: x, never_starts: false}", True, "x started at 0s"),
    ("{job: y, lost_work: {at_most: 160}}", True, "y lost 2m40s of instance-time"),
    ("{job: y, lost_work: {at_most: 2m39s}}", False, "y lost 2m40s of instance-time; expected at most 2m39s"),
    (
        "{job: y, preempted: 0, lost_work: 0}",
        False,
        "y lost 2m40s of instance-time; expected exactly 0s; y was pre",
    ),
]

SHARE = [
    (
        "{share: a, usage: {at_least: 3}, borrowed: {at_most: 2}}",
        True,
        "a used up to 3 instances at once; a borrowed up to 2",
    ),
    ("{share: a, borrowed: {at_most: 1}}", False, "a borrowed up to 2 instances at once; expected at most 1"),
    ("{share: a, preemptions_suffered: 1, preemptions_caused: 0}", True, "a suffered 1 preemption; a caused 0"),
    ("{share: b, preemptions_caused: 2}", False, "b caused 1 preemption; expected exactly 2"),
    ("{share: a, lost_instance_hours: {at_most: 0.05}}", True, "a lost 0.044 instance-hours"),
    ("{share: a, lost_instance_hours: {at_most: 0.04}}", False, "expected at most 0.04"),
    (
        "{share: b, wait: {max: {at_most: 1h}, p50: 20s}}",
        True,
        "jobs of b waited 20s (p50); jobs of b waited 53m20s (max)",
    ),
    ("{share: b, wait: {mean: {at_most: 1m}}}", False, "jobs of b waited 26m50s (mean)"),
    ("{share: c, wait: {max: {at_most: 1h}}}", False, "c has no wait to judge: none of its 1 jobs started"),
    ("{queue: {utilization: {at_least: 0.04}}}", True, "the queue's utilization was 0.0"),
    ("{queue: q, utilization: {at_least: 0.8}}", False, "expected at least 0.8"),
]

NEVER = [
    ("{never: {share: a, preempted: any}}", False, "y of a, priority 3, was preempted at 1m by z (cross_share)"),
    ("{never: {share: a, preempted: cross_share}}", False, "y of a"),
    # the second one found y terminated
    ("{never: {share: a, preempted: in_share}}", True, "at no instant up to 1h"),
    ("{never: {preempted: limit_lowered}}", True, "at no instant"),
    ("{never: {share: b, preempted: any}}", True, "at no instant"),
    ("{never: {priority_at_least: 3, preempted: any}}", False, "y of a, priority 3"),
    ("{never: {priority_at_least: 4, preempted: any}}", True, "at no instant"),
]


@pytest.mark.parametrize(("text", "holds", "message"), AT + JOB + SHARE + NEVER, ids=lambda value: str(value))
def test_expectation(text: str, holds: bool, message: str, tmp_path: Path) -> None:
    verdict = judged(DAY, text, tmp_path)
    assert verdict.verdict == (Answer.HOLDS if holds else Answer.FAILS), verdict.message
    assert message in verdict.message


def test_a_job_that_failed_by_preemption_says_by_whom(tmp_path: Path) -> None:
    log = "0 submitted x\n0 started x\n9 preempted x by y in_share\n9 stopped x lost 9\n9 failed x"
    run = run_of(POLICY, [job("x", "a"), job("y", "a")], log, end=9)
    assert judged(run, "{at: 9, running: [x]}", tmp_path).message == (
        "x was FAILED, not running, at 9s: preempted at 9s by y (in_share)"
    )


def test_a_job_that_timed_out_says_so(tmp_path: Path) -> None:
    log = "0 submitted x\n0 started x\n9 stopped x timeout\n9 requeued x"
    run = run_of(POLICY, [job("x", "a")], log, end=9)
    assert (
        "x was RUNNABLE, not running, at 9s: stopped at 9s (timeout)"
        in judged(run, "{at: 9, running: [x]}", tmp_path).message
    )


def test_a_share_without_jobs_has_no_wait(tmp_path: Path) -> None:
    run = run_of(POLICY, [], "", end=9)
    verdict = judged(run, "{share: a, wait: {max: {at_most: 1d}}}", tmp_path)
    assert (verdict.verdict, verdict.message) == (Answer.FAILS, "a has no wait to judge: it had no job")


def test_waits_tell_who_never_started(tmp_path: Path) -> None:
    run = run_of(POLICY, [job("x", "a"), job("y", "a")], "0 submitted x\n0 submitted y\n5 started x", end=9)
    verdict = judged(run, "{share: a, wait: {max: {at_most: 5}}}", tmp_path)
    assert (verdict.verdict, verdict.message) == (Answer.HOLDS, "jobs of a waited 5s (max) (1 more never started)")


def test_a_preemption_under_way_at_the_end_breaks_never(tmp_path: Path) -> None:
    log = "0 submitted x\n0 started x\n9 preempted x by y in_share"
    run = run_of(POLICY, [job("x", "a", priority=2), job("y", "a")], log, end=10)
    assert judged(run, "{never: {share: a, preempted: in_share}}", tmp_path).verdict == Answer.FAILS
    assert judged(run, "{job: x, preempted: 0}", tmp_path).verdict == Answer.HOLDS


def test_the_priority_that_counts_is_the_one_at_the_decision(tmp_path: Path) -> None:
    log = """
        0 submitted x
        0 started x
        5 priority_updated x to 8
        9 preempted x by y in_share
        9 stopped x
        9 requeued x
        """
    run = run_of(POLICY, [job("x", "a", priority=2), job("y", "a")], log, end=10)
    assert judged(run, "{never: {priority_at_least: 8, preempted: any}}", tmp_path).verdict == Answer.FAILS
    assert judged(run, "{never: {priority_at_least: 9, preempted: any}}", tmp_path).verdict == Answer.HOLDS


def test_the_default_priority_counts_too(tmp_path: Path) -> None:
    log = "0 submitted x\n0 started x\n9 preempted x by y in_share\n9 stopped x\n9 requeued x"
    run = run_of(POLICY, [job("x", "a"), job("y", "a")], log, end=10, choices=Choices(default_priority=7))
    assert judged(run, "{never: {priority_at_least: 7, preempted: any}}", tmp_path).verdict == Answer.FAILS


# --- always ----------------------------------------------------------------------------------------

# One log that keeps a property and one that breaks it, each with what is then told.
ALWAYS = [
    # usage within bounds: a has 1 and may borrow 2 of b's
    ("within_bounds", {"x": ("a", 3)}, "0 submitted x\n0 started x", None),
    (
        "within_bounds",
        {"x": ("a", 4)},
        "0 submitted x\n0 started x",
        "x started at 0s and brought a to 4 ml.g5.xlarge, beyond",
    ),
    (
        "within_bounds",
        {"x": ("b", 2), "y": ("a", 3)},
        "0 submitted x\n0 started x\n0 submitted y\n5 started y",
        "y started at 5s and brought the queue to 5 ml.g5.xlarge, beyond the environment's 4",
    ),
    # c reserves 1 of 4
    ("reserve_never_lent", {"x": ("a", 3)}, "0 submitted x\n0 started x", None),
    ("reserve_never_lent", {"x": ("c", 1), "y": ("a", 3)}, "0 started x\n5 started y", None),
    (
        "reserve_never_lent",
        {"x": ("b", 1), "y": ("a", 3)},
        "0 started x\n5 started y",
        "y of a started at 5s on borrowed ml.g5.xlarge and left 0 idle, where RESERVE shares have 1 reserved",
    ),
    # whoever claims capacity starts on it
    (
        "no_futile_preemption",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n5 stopped x\n5 requeued x\n5 started y",
        None,
    ),
    (
        "no_futile_preemption",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n5 stopped x\n5 requeued x",
        "x was preempted at 5s for y, which had not started when the run ended at 50s",
    ),
    (
        "no_futile_preemption",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n9 stopped x\n9 requeued x\n9 terminated y terminated",
        None,
    ),
    ("no_futile_preemption", {"x": ("a", 1), "y": ("b", 1)}, "0 started x\n45 preempted x by y cross_share", None),
    # nobody comes back on who stopped it
    (
        "no_preemption_cycle",
        {"x": ("a", 1), "y": ("b", 1), "z": ("c", 1)},
        "0 started x\n5 preempted x by y cross_share\n5 stopped x\n"
        "6 started z\n7 preempted z by y cross_share\n7 stopped z",
        None,
    ),
    (
        "no_preemption_cycle",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n5 stopped x\n"
        "5 started y\n9 preempted y by x cross_share\n9 stopped y",
        "stopped",
    ),
    (
        "no_preemption_cycle",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n6 finished x finished\n"
        "6 started y\n9 preempted y by x in_share\n9 stopped y",
        None,
    ),
    # every job, or those of a share up to a size
    ("{starts_within: 5s}", {"x": ("a", 1)}, "0 submitted x\n5 started x", None),
    (
        "{starts_within: 4s}",
        {"x": ("a", 1)},
        "0 submitted x\n5 started x",
        "x started 5s after its submission; expected",
    ),
    (
        "{starts_within: 1d}",
        {"x": ("a", 1)},
        "0 submitted x",
        "x, submitted at 0s, had not started when the run ended at 50s",
    ),
    ("{starts_within: 4s, share: b}", {"x": ("a", 1)}, "0 submitted x\n5 started x", None),
    ("{starts_within: 4s, at_most_instances: 1}", {"x": ("a", 2)}, "0 submitted x\n5 started x", None),
    (
        "{starts_within: 4s, share: a, at_most_instances: 2}",
        {"x": ("a", 2)},
        "0 submitted x\n5 started x",
        "x started 5s",
    ),
    # instances stopped at once, per instance asked for
    (
        "{disruption_ratio: {at_most: 1}}",
        {"x": ("a", 1), "y": ("b", 1)},
        "0 started x\n5 preempted x by y cross_share\n5 stopped x\n5 started y",
        None,
    ),
    (
        "{disruption_ratio: {at_most: 2}}",
        {"x": ("a", 2), "w": ("a", 1), "y": ("b", 1)},
        "0 started x\n0 started w\n5 preempted x by y cross_share\n"
        "5 preempted w by y in_share\n5 stopped x\n5 stopped w",
        "for y, which asks for 1, 3 instances had to stop at 5s, a ratio of 3; expected at most 2",
    ),
    # owners
    ("owner_reclaims", {"y": ("b", 2)}, "0 submitted y\n0 started y", None),
    (
        "owner_reclaims",
        {"y": ("b", 2)},
        "0 submitted y\n5 started y",
        "y, first in line of b and inside its limit from 0s on, started 5s; expected a start within 0s",
    ),
    ("{owner_reclaims: {within: 5s}}", {"y": ("b", 2)}, "0 submitted y\n5 started y", None),
    (
        "{owner_reclaims: {within: 1d}}",
        {"y": ("b", 2)},
        "0 submitted y",
        "y, first in line of b and inside its limit from 0s on, had not started when the run ended at 50s",
    ),
    # y is larger than its share's limit: no owner
    ("owner_reclaims", {"y": ("b", 3)}, "0 submitted y\n5 started y", None),
    # y comes to the front when z is gone
    (
        "{owner_reclaims: {within: 4s}}",
        {"z": ("b", 3), "y": ("b", 1)},
        "0 submitted z\n0 submitted y\n6 terminated z terminated\n10 started y",
        None,
    ),
    # a claimant's time goes on, also while its share has a next job
    (
        "{owner_reclaims: {within: 19s}}",
        {"x": ("a", 3), "y": ("b", 1)},
        "0 submitted x\n0 started x\n5 submitted y\n"
        "5 preempted x by y cross_share\n25 stopped x\n25 requeued x\n25 started y",
        "y, first in line of b and inside its limit from 5s on, started 25s; expected a start within 19s",
    ),
    (
        "{owner_reclaims: {within: 20s}}",
        {"x": ("a", 3), "y": ("b", 1)},
        "0 submitted x\n0 started x\n5 submitted y\n"
        "5 preempted x by y cross_share\n25 stopped x\n25 requeued x\n25 started y",
        None,
    ),
]


@pytest.mark.parametrize(("text", "jobs", "log", "broken"), ALWAYS)
def test_always(text: str, jobs: dict[str, tuple[str, int]], log: str, broken: str | None, tmp_path: Path) -> None:
    run = run_of(POLICY, [job(name, *about) for name, about in jobs.items()], log, end=50)
    verdict = judged(run, f"{{always: {text}}}", tmp_path)
    assert verdict.verdict == (Answer.HOLDS if broken is None else Answer.FAILS), verdict.message
    assert (broken or "at every instant up to 50s") in verdict.message


LATE = "0 submitted y\n30 started y"


@pytest.mark.parametrize(
    ("timing", "within", "holds"),
    [
        (Timing(stop_seconds=30), None, True),
        (Timing(stop_seconds=29), None, False),
        (Timing(stop_seconds=20, queue_latency=5), None, True),
        (Timing(stop_seconds=60), "29s", False),
    ],
)
def test_owners_have_by_default_what_stopping_takes(
    timing: Timing, within: str | None, holds: bool, tmp_path: Path
) -> None:
    run = run_of(POLICY, [job("y", "b")], LATE, end=50, timing=timing)
    text = "{always: owner_reclaims}" if within is None else f"{{always: owner_reclaims, within: {within}}}"
    assert judged(run, text, tmp_path).verdict == (Answer.HOLDS if holds else Answer.FAILS)


@pytest.mark.parametrize(("text", "until"), [("owner_reclaims, within: 40s", 30), ("{starts_within: 40s}", 30)])
def test_what_the_end_of_the_run_leaves_open_breaks_nothing(text: str, until: float, tmp_path: Path) -> None:
    """It is over at 30 s because the scenario says so; without ``until`` nothing more would happen."""
    jobs = [job("y", "b")]
    cut_off = run_of(POLICY, jobs, "0 submitted y", end=until, until=until)
    assert judged(cut_off, f"{{always: {text}}}", tmp_path).verdict == Answer.HOLDS
    later = run_of(POLICY, jobs, "0 submitted y", end=50, until=50)
    assert judged(later, f"{{always: {text}}}", tmp_path).verdict == Answer.FAILS
    over = run_of(POLICY, jobs, "0 submitted y", end=until)
    assert judged(over, f"{{always: {text}}}", tmp_path).verdict == Answer.FAILS


def test_bounds_follow_the_limits(tmp_path: Path) -> None:
    log = "0 started x\n5 share_updated b\n6 finished x finished\n7 started y"
    updates = (UpdateShare(5, "b", capacity_limits={UNIT: 1}),)
    run = run_of(POLICY, [job("x", "a", 3), job("y", "a", 3)], log, end=9, updates=updates)
    verdict = judged(run, "{always: within_bounds}", tmp_path)
    # x, there before, breaks nothing
    assert verdict.message == "y started at 7s and brought a to 3 ml.g5.xlarge, beyond its bound of 2"


def test_only_the_first_that_breaks_a_property_is_told(tmp_path: Path) -> None:
    log = "0 submitted x\n0 submitted y\n5 started x\n6 started y"
    run = run_of(POLICY, [job("x", "a"), job("y", "b")], log, end=9)
    told = judged(run, "{always: {starts_within: 1s}}", tmp_path).message
    assert told == "x started 5s after its submission; expected at most 1s (and 1 more)"


# --- sentences -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{at: 1m, running: [x, y], runnable: [z]}", "at 1m: x and y are running; z is runnable"),
        ("{at: 1m, running: [x], failed: [], exactly: true}", "at 1m: only x is running; no job is failed"),
        ("{job: x, starts_within: 5m, finishes_within: 1h}", "x starts within 5m and finishes within 1h"),
        ("{job: y, preempted: 1, by: z}", "y is preempted once by z"),
        ("{job: y, preempted: 2, reason: in_share}", "y is preempted 2 times (in_share)"),
        ("{job: y, preempted: 0}", "y is never preempted"),
        ("{job: y, preempted: {at_least: 1, at_most: 3}}", "y is preempted at least 1 and at most 3 times"),
        ("{job: y, by: z}", "y is preempted at least once by z"),
        ("{job: w, never_starts: true, reason: CODE}", "w never starts and is given the reason CODE"),
        ("{job: w, never_starts: false}", "w starts"),
        ("{job: y, lost_work: {at_most: 2h}}", "y loses at most 2h of instance-time"),
        (
            "{share: a, wait: {p95: {at_most: 1h}}, usage: {at_least: 2}, preemptions_suffered: 0}",
            "share a: wait p95 at most 1h, usage at least 2 and preemptions suffered exactly 0",
        ),
        ("{share: a, lost_instance_hours: {at_most: 1.5}}", "share a: lost instance-hours at most 1.5"),
        ("{queue: {utilization: {at_least: 0.8}}}", "the queue's utilization is at least 0.8"),
        ("{always: within_bounds}", "no start ever exceeds a share's bound or the environment's capacity"),
        ("{always: owner_reclaims}", "a job first in line inside its share's own limit always starts within 20s"),
        (
            "{always: {starts_within: 10m, share: a, at_most_instances: 1}}",
            "every job of a of at most 1 instance starts within 10m",
        ),
        (
            "{always: {disruption_ratio: {at_most: 2}}}",
            "instances stopped at once for a job, per instance it asks for, are at most 2",
        ),
        ("{never: {share: c, preempted: cross_share}}", "no job of c is ever preempted for another share's job"),
        ("{never: {priority_at_least: 5, preempted: any}}", "no job of priority 5 or higher is ever preempted"),
    ],
)
def test_an_expectation_without_a_name_is_told_in_a_sentence(text: str, sentence: str, tmp_path: Path) -> None:
    assert judged(DAY, text, tmp_path).name == sentence


def test_name_and_because_are_the_users(tmp_path: Path) -> None:
    verdict = judged(DAY, "{name: <b>x, because: of this, always: within_bounds}", tmp_path)
    assert (verdict.name, verdict.because, verdict.depends_on, verdict.counterexample) == ("<b>x", "of this", (), None)
