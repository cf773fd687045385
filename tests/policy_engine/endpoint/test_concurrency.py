"""Many clients at once: no job is lost, none is doubled, and no limit is exceeded at any instant."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event

import pytest

from policy_engine.endpoint import Endpoint, Settings
from policy_engine.endpoint.live_clock import LiveClock
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Update, Workload
from policy_engine.scheduler.log import Kind
from tests.laws import laws
from tests.laws.account import Account
from tests.policy_engine.endpoint.calling import ARN, EPOCH, QUEUE, UNIT, payload
from tests.policy_engine.endpoint.http_client import Client, served

SHARES = ("lender", "borrower", "reserve", "owner")
POLICY = Policy.of(
    {
        "queue": QUEUE,
        "service_environment": {"capacity_limits": {UNIT: 20}},
        "shares": {
            name: {"capacity_limits": {UNIT: 5}, "strategy": strategy, "in_share_preemption": name != "reserve"}
            for name, strategy in zip(SHARES, ("LEND", "LEND_AND_BORROW", "RESERVE", "LEND_AND_BORROW"), strict=True)
        },
    }
)
THREADS = 8


@dataclass
class Watched:
    """The clock of the queue, and what was done to its shares."""

    clock: LiveClock
    policy: Policy
    begun: int
    updates: list[Update] = field(default_factory=list)


@contextmanager
def watched(endpoint: Endpoint) -> Iterator[Watched]:
    """Notes every update of a share."""
    clock = endpoint.account().queues[QUEUE].schedule.clock
    seen = Watched(clock, clock.policy, len(clock.rows))
    change = clock.change

    def noted(update: Update) -> None:
        seen.updates.append(update)
        change(update)

    clock.change = noted  # type: ignore[method-assign]
    yield seen


def broken_law(seen: Watched) -> str | None:
    """Whatever the log says that exceeds a limit in force at that instant."""
    clock = seen.clock
    account = Account(seen.policy, Workload(tuple(clock.jobs), tuple(seen.updates)), clock.choices)
    for row in clock.rows[seen.begun :]:
        account.book(row)
        if row[1] is Kind.STARTED:
            for law in (laws.within_bounds, laws.reserved_never_lent, laws.held_for_its_claimant):
                broken = law(account, row[2])
                if broken is not None:
                    return f"{law.__name__} at {row[0]:g} s: {broken}"
    return None


def submit_many(port: int, thread: int, count: int) -> list[str]:
    """Submit jobs, each twice with one token as a client does whose first answer got lost; their ids."""
    client, chosen = Client(port), random.Random(thread)  # noqa: S311 (a test's choice, not a secret)
    ids = []
    for number in range(count):
        request = {
            "jobName": f"job-{thread}-{number}",
            "jobQueue": QUEUE,
            "quotaShareName": chosen.choice(SHARES),
            "schedulingPriority": chosen.randrange(4),
            "serviceJobType": "SAGEMAKER_TRAINING",
            "serviceRequestPayload": payload(chosen.choice((1, 1, 1, 2, 5))),
            "tags": {"policy-engine:duration": str(chosen.choice((1, 5, 30)))},
            "clientToken": f"token-{thread}-{number}",
        }
        first = client.do("SubmitServiceJob", **request)
        if number % 10 == 0:
            assert client.do("SubmitServiceJob", **request) == first
        ids.append(str(first["jobId"]))
    client.close()
    return ids


def list_and_snapshot(client: Client, chosen: random.Random) -> None:
    status = chosen.choice(("RUNNING", "RUNNABLE", "SUCCEEDED", "FAILED"))
    answer = client.do("ListServiceJobs", jobQueue=QUEUE, jobStatus=status, maxResults=20)
    assert {job["status"] for job in answer["jobSummaryList"]} <= {status}
    snapshot = client.do("GetJobQueueSnapshot", jobQueue=QUEUE)
    total = sum(used["quantity"] for used in snapshot["queueUtilization"]["totalCapacityUsage"])
    assert total <= 20


def update(client: Client, chosen: random.Random) -> None:
    share = chosen.choice(SHARES)
    limits = [{"maxCapacity": chosen.randint(1, 5), "capacityUnit": UNIT}]
    arn = f"{ARN}:job-queue/{QUEUE}/quota-share/{share}"
    client.do("UpdateQuotaShare", quotaShareArn=arn, capacityLimits=limits)
    jobs = client.do("ListServiceJobs", jobQueue=QUEUE, jobStatus="RUNNABLE", maxResults=5)["jobSummaryList"]
    for job in jobs[:2]:
        client.do("UpdateServiceJob", jobId=job["jobId"], schedulingPriority=chosen.randrange(10))
    for job in jobs[2:3]:
        client.do("TerminateServiceJob", jobId=job["jobId"], reason="enough")


def let_time_go_by(client: Client, chosen: random.Random) -> None:
    status, _ = client("/_sim/advance", {"seconds": chosen.choice((0.5, 1, 2))})
    assert status == 200


def until(over: Event, port: int, act: Callable[[Client, random.Random], None], seed: int) -> int:
    """Do it again and again."""
    client, chosen = Client(port), random.Random(seed)  # noqa: S311 (a test's choice, not a secret)
    count = 0
    while not over.is_set():
        act(client, chosen)
        count += 1
    client.close()
    return count


def assert_all_is_kept(jobs: int) -> None:
    endpoint = Endpoint(Settings(epoch=EPOCH, seed=0), [POLICY])
    over = Event()
    with watched(endpoint) as seen, served(endpoint) as server, ThreadPoolExecutor(THREADS + 3) as pool:
        port = server.port
        submitting = [pool.submit(submit_many, port, thread, jobs // THREADS) for thread in range(THREADS)]
        acts = (list_and_snapshot, update, let_time_go_by)
        others = [pool.submit(until, over, port, act, seed) for seed, act in enumerate(acts)]
        try:
            ids = [id_ for one in submitting for id_ in one.result(600)]
        finally:
            over.set()
        assert min(one.result(60) for one in others) > 0
        client = Client(port)
        client("/_sim/advance", {"seconds": 1e7})
        assert len(set(ids)) == len(ids) == jobs
        found, token = [], None
        while True:
            answer = client.do(
                "ListServiceJobs",
                jobQueue=QUEUE,
                filters=[{"name": "JOB_NAME", "values": ["*"]}],
                **({} if token is None else {"nextToken": token}),
            )
            found += answer["jobSummaryList"]
            token = answer.get("nextToken")
            if token is None:
                break
        client.close()
    assert sorted(job["jobId"] for job in found) == sorted(ids)
    names = [job["jobName"] for job in found]
    assert len(set(names)) == jobs
    # a limit may have been lowered for good below what a job asks for: it waits, and with it what is behind it
    assert {job["status"] for job in found} <= {"SUCCEEDED", "FAILED", "RUNNABLE"}
    assert {job["statusReason"] for job in found if job["status"] == "FAILED"} <= {"enough"}
    assert broken_law(seen) is None


def test_many_clients_at_once() -> None:
    assert_all_is_kept(400)


@pytest.mark.nightly
def test_ten_thousand_jobs_by_eight_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.endpoint.live_clock._ROWS", 10_000_000)
    assert_all_is_kept(10_000)
