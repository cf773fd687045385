"""A look at a live queue: usage from the snapshot, the first of each line, and what the engine expects."""

from typing import Any

import pytest

from policy_engine.observing import look
from policy_engine.observing.watching import FRESH_SECONDS, Jobs
from policy_engine.report.watch import data, expected
from policy_engine.sources.live import open_queue
from tests.policy_engine.sources.live.account import Account, job

NOW = 1_790_003_600
HOUR = 3_600_000


@pytest.fixture
def queue(account: Account) -> Account:
    """AWS's notebook before the owner comes: QS1 holds its own instance and that of QS2."""
    limit: dict[str, Any] = {"timeoutConfig": {"attemptDurationSeconds": 7200}, "scheduledAt": NOW * 1000 - HOUR}
    account.jobs = [
        job("high", "RUNNING", schedulingPriority=3, **limit),
        job("med", "RUNNING", schedulingPriority=2, **limit),
        job("low", "RUNNABLE", createdAt=NOW * 1000 - HOUR // 2),
    ]
    return account


@pytest.mark.usefixtures("queue")
def test_rows_fronts_and_what_is_expected() -> None:
    sight = look(open_queue("queue:training"), now=NOW)

    rows = [
        (row.share, row.limit, row.used, row.own, row.borrowed, row.waiting, row.waiting_jobs) for row in sight.rows
    ]
    assert rows == [("QS1", 1, 2, 1, 1, 1, 1), ("QS2", 1, 0, 0, 0, 0, 0), ("QS3", 1, 0, 0, 0, 0, 0)]
    [front] = sight.fronts
    assert (front.share, front.job, front.since, front.priority) == ("QS1", "low", 1800.0, 1)
    assert front.why.startswith("QS1 uses 2 ml.g5.xlarge and may hold 2")
    assert list(expected(sight)) == ["in 1h low starts in QS1"]


def test_an_owner_that_waits_is_expected_to_take_its_capacity_back(queue: Account) -> None:
    queue.jobs.append(job("owner", "RUNNABLE", "QS2", createdAt=NOW * 1000))
    told = list(expected(look(open_queue("queue:training"), now=NOW)))
    assert told[:2] == ["now med is preempted for owner", "now owner starts in QS2"]


def test_a_job_that_can_never_run_is_told_with_aws_reason(queue: Account) -> None:
    queue.jobs = [job("huge", "RUNNABLE", "QS2", count=2)]
    told = list(expected(look(open_queue("queue:training"), now=NOW)))
    assert told == [
        "now huge can never run: MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share"
        " capacity limits.",
        "in 1h huge is terminated",
    ]


def test_an_empty_queue(account: Account) -> None:
    sight = look(open_queue("queue:training"), now=NOW)
    assert (sight.fronts, list(expected(sight))) == ((), ["nothing until jobs come"])
    assert account.asked["batch:DescribeServiceJob"] == 0


def test_only_what_moved_is_asked_for_again(queue: Account) -> None:
    jobs = Jobs()
    look(open_queue("queue:training"), jobs, now=NOW)
    assert queue.asked["batch:DescribeServiceJob"] == 3
    queue.jobs[2]["status"] = "RUNNING"
    look(open_queue("queue:training"), jobs, now=NOW + 10)
    assert queue.asked["batch:DescribeServiceJob"] == 4
    look(open_queue("queue:training"), jobs, now=NOW + 20 + FRESH_SECONDS)
    assert queue.asked["batch:DescribeServiceJob"] == 7, "priorities may have been changed"


@pytest.mark.usefixtures("queue")
def test_the_data_says_the_same() -> None:
    told = data(look(open_queue("queue:training"), now=NOW))
    assert told["shares"][0] == {
        "name": "QS1", "unit": "ml.g5.xlarge", "limit": 1, "used": 2, "own": 1, "borrowed": 1, "waiting": 1,
        "waiting_jobs": 1,
    }  # fmt: skip
    assert told["expected"] == [{"at": 3600.0, "kind": "started", "job": "low", "by": None, "share": "QS1"}]
    assert told["rests_on"]["live_service_consulted"] is True
