"""What AWS tells of jobs, read as attempts: nothing twice, nothing dropped in silence."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from policy_engine.conforming import Asked, Fit, conform, read_record
from policy_engine.conforming.following import Follower, Timeline
from policy_engine.conforming.record import Record
from policy_engine.errors import InputError
from policy_engine.exploration.space import PER_DECISION
from policy_engine.scheduler.choices import Choices
from tests.policy_engine.conforming.setups import policy, share

T = 1_790_000_000_000
POLICY = policy(2, a=share(1), b=share(1))


def told(name: str, status: str, **more: Any) -> dict[str, Any]:
    """Times in seconds after the first job."""
    kinds = ("createdAt", "scheduledAt", "startedAt", "stoppedAt")
    times: dict[str, Any] = {key: T + 1000 * more.pop(key) for key in kinds if key in more}
    return {
        "jobId": f"id-{name}",
        "jobName": name,
        "status": status,
        "quotaShareName": name[0],
        "createdAt": T,
        "capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": 1.0}],
        "schedulingPriority": 1,
        **times,
        **more,
    }


def span(start: float | None, stop: float | None, reason: str | None = None) -> dict[str, Any]:
    times = {"startedAt": start, "stoppedAt": stop}
    data: dict[str, Any] = {key: int(T + 1000 * time) for key, time in times.items() if time is not None}
    return data if reason is None else data | {"statusReason": reason}


def read(folder: Path, *jobs: dict[str, Any], **options: Any) -> Record:
    path = folder / "jobs.jsonl"
    path.write_text("".join(f"{json.dumps(job)}\n" for job in jobs), encoding="utf-8")
    return read_record(str(path), POLICY, **options)


def attempts(folder: Path, job: dict[str, Any]) -> list[tuple[float | None, float | None, bool]]:
    """Start, stop and preempted of each attempt, in seconds."""
    [recorded] = read(folder, job).jobs
    seconds = [[None if time is None else time / 1000 for time in (one.start, one.stop)] for one in recorded.attempts]
    return [(start, stop, one.is_preempted) for (start, stop), one in zip(seconds, recorded.attempts, strict=True)]


def summary(*spans: dict[str, Any], count: int | None = None) -> dict[str, Any]:
    return {"preemptedAttemptCount": len(spans) if count is None else count, "recentPreemptedAttempts": list(spans)}


@pytest.mark.parametrize(
    ("job", "expected"),
    [
        (told("a", "RUNNABLE"), []),
        (told("a", "SUCCEEDED", startedAt=10, stoppedAt=60), [(10, 60, False)]),
        (
            told("a", "SUCCEEDED", scheduledAt=4, startedAt=10, stoppedAt=60, attempts=[span(10, 60)]),
            [(4, 60, False)],
        ),
        (told("a", "SCHEDULED", scheduledAt=4), [(4, None, False)]),
        (told("a", "RUNNING", scheduledAt=4, startedAt=10, attempts=[span(10, None)]), [(4, None, False)]),
        (
            told("a", "RUNNABLE", scheduledAt=4, preemptionSummary=summary(span(50, 80), span(5, 20))),
            [(5, 20, True), (50, 80, True)],
        ),
        (
            told(
                "a",
                "RUNNING",
                scheduledAt=90,
                startedAt=95,
                attempts=[span(5, 20), span(95, None)],
                preemptionSummary=summary(span(5, 20)),
            ),
            [(5, 20, True), (90, None, False)],
        ),
        (
            told("a", "FAILED", stoppedAt=20, startedAt=5, preemptionSummary=summary(span(5, 20))),
            [(5, 20, True)],
        ),
        (
            told("a", "FAILED", scheduledAt=70, startedAt=75, stoppedAt=99, attempts=[span(5, 60), span(75, 99)]),
            [(5, 60, False), (70, 99, False)],
        ),
        (
            told("a", "FAILED", scheduledAt=3, startedAt=5, stoppedAt=99, attempts=[span(5, 60)], isTerminated=True),
            [(5, 60, False)],
        ),
        (told("a", "FAILED", stoppedAt=99, isTerminated=True), []),
        (told("a", "RUNNABLE", preemptionSummary=summary(span(None, 20))), [(None, 20, True)]),
        (
            told("a", "RUNNING", scheduledAt=4, attempts=[span(5, None)], statusReason="PREEMPTION_IN_PROGRESS: Cross"),
            [(5, None, True)],
        ),
    ],
    ids=[
        *("waits", "ran", "dispatched before it ran", "scheduled", "running", "preempted twice, newest first"),
        *("preempted ones among the attempts too", "failed on its last retry", "failed and ran again"),
        *("terminated in line again", "terminated in line", "stopped before it ran", "being stopped"),
    ],
)
def test_attempts(tmp_path: Path, job: dict[str, Any], expected: list[tuple[float | None, float | None, bool]]) -> None:
    assert attempts(tmp_path, job) == expected


def test_the_end_of_a_job_that_was_terminated_in_line(tmp_path: Path) -> None:
    [job] = read(tmp_path, told("a", "FAILED", stoppedAt=99, isTerminated=True)).jobs
    assert job.end == 99_000


def test_jobs_are_in_the_order_of_submission_and_times_from_the_first(tmp_path: Path) -> None:
    record = read(tmp_path, told("b", "RUNNABLE", createdAt=50), told("a", "RUNNABLE", createdAt=20))
    assert [(one.job.name, one.submit) for one in record.jobs] == [("a", 0), ("b", 30_000)]
    assert record.date(0).isoformat() == "2026-09-21T14:13:40+00:00"


def test_attempts_that_aws_has_forgotten_put_the_judgement_off(tmp_path: Path) -> None:
    """Two preemptions, of which one is told: where the job was before is not known."""
    forgetful = told("a1", "RUNNABLE", preemptionSummary=summary(span(500, 520), count=2))
    impossible = told("a2", "SUCCEEDED", startedAt=5, stoppedAt=100)
    later = told("a3", "RUNNING", createdAt=600, startedAt=600)
    record = read(tmp_path, forgetful, impossible, later)
    assert record.known_from == 500_000
    assert any("tells of no more" in remark.text for remark in record.remarks)
    assert conform(POLICY, record, Asked(0, 0)).judged_from == 500.0


@pytest.mark.parametrize(
    ("job", "reason"),
    [
        (told("x", "RUNNABLE"), "a quota share that the policy has not got"),
        (told("a", "RUNNABLE") | {"quotaShareName": None}, "no quotaShareName"),
        (told("a", "RUNNABLE") | {"capacityUsage": None}, "neither capacityUsage"),
        (
            told("a", "RUNNABLE") | {"capacityUsage": [{"capacityUnit": "ml.p5.48xlarge", "quantity": 1}]},
            "an instance type that the policy has not got",
        ),
        (told("a", "RUNNABLE") | {"createdAt": None}, "no createdAt"),
        (told("a", "SUCCEEDED", startedAt=60, stoppedAt=10), "attempts that overlap, or end before they begin"),
    ],
)
def test_a_job_that_cannot_be_used_is_told(tmp_path: Path, job: dict[str, Any], reason: str) -> None:
    record = read(tmp_path, job, told("b", "RUNNABLE"))
    assert [remark.reason.startswith(reason) for remark in record.remarks if remark.is_loss] == [True]
    with pytest.raises(InputError, match=f"1 jobs cannot be used: .*{reason}"):
        read(tmp_path, job, told("b", "RUNNABLE"), strict=True)
    with pytest.raises(InputError, match="1 jobs cannot be used"):
        read(tmp_path, job)


def test_other_formats_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    path.write_text("submit_time_s,team\n", encoding="utf-8")
    with pytest.raises(InputError, match="no AWS Batch JSON; conform needs attempts and preemptions"):
        read_record(str(path), POLICY)


def test_a_job_that_starts_though_its_share_is_full_is_refuted_there(tmp_path: Path) -> None:
    record = read(tmp_path, told("a1", "RUNNING", startedAt=0), told("a2", "RUNNING", createdAt=5, startedAt=5))
    found = conform(POLICY, record, Asked(0, 0)).anything
    assert (found.fit, found.contradiction and found.contradiction.happened) == (Fit.REFUTED, "a2 started")


def test_a_decision_and_its_start_may_each_be_late_by_the_tolerance(tmp_path: Path) -> None:
    record = read(tmp_path, told("a1", "RUNNING", startedAt=30))
    assert conform(POLICY, record, Asked(15, 0)).anything.fit is Fit.CONSISTENT
    found = conform(POLICY, record, Asked(14, 0)).anything.contradiction
    assert found is not None
    assert (found.at, found.happened, found.expected) == (0.0, "a1 started later", "a1 starts")


# --- anything -------------------------------------------------------------------------------------

_TIMES = st.integers(0, 60).map(lambda seconds: seconds * 5)
_SPANS = st.builds(
    span,
    st.none() | _TIMES,
    _TIMES,
    st.sampled_from([None, "Cross-share preemption triggered to reclaim borrowed capacity"]),
)


@st.composite
def anything(draw: st.DrawFn) -> dict[str, Any]:
    """What no queue would do, as like as not."""
    times = {key: draw(_TIMES) for key in ("createdAt", "scheduledAt", "startedAt", "stoppedAt") if draw(st.booleans())}
    recent = draw(st.lists(_SPANS, max_size=3))
    name = f"{draw(st.sampled_from('ab'))}{draw(st.integers(0, 10_000))}"
    return told(
        name,
        draw(st.sampled_from(["SUBMITTED", "RUNNABLE", "SCHEDULED", "RUNNING", "SUCCEEDED", "FAILED"])),
        **times,
        attempts=draw(st.lists(_SPANS, max_size=2)),
        preemptionSummary=summary(*recent, count=len(recent) + draw(st.integers(0, 1))),
        statusReason=draw(st.sampled_from([None, "PREEMPTION_IN_PROGRESS: x"])),
        isTerminated=draw(st.booleans()),
        schedulingPriority=draw(st.integers(0, 2)),
    )


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(jobs=st.lists(anything(), min_size=1, max_size=6), tolerance=st.sampled_from([0, 20]), open_too=st.booleans())
def test_whatever_is_told_is_followed_or_refuted(
    tmp_path: Path, jobs: list[dict[str, Any]], tolerance: int, open_too: bool
) -> None:
    try:
        record = read(tmp_path, *jobs)
    except InputError:
        return
    timeline = Timeline(record, tolerance=tolerance * 1000, stop_within=tolerance * 1000)
    found = Follower(timeline, POLICY, Choices(), PER_DECISION if open_too else frozenset()).follow(0, eager=False)
    if found.contradiction is not None:
        assert found.contradiction.happened
        assert found.contradiction.expected
        assert 0 <= found.contradiction.at <= record.end / 1000
