"""AWS's walkthrough and the golden timelines, through the operations that a client calls."""

from __future__ import annotations

from typing import Any

import pytest

from policy_engine.endpoint import Pace
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Timing
from policy_engine.scheduler.log import Kind, Log
from tests.policy_engine.endpoint.calling import QUEUE, Caller
from tests.policy_engine.test_conformance import TIMELINES, as_written

CROSS = "Cross-share preemption triggered to reclaim borrowed capacity"


def test_the_walkthrough() -> None:
    """Golden result 1: borrow, reclaim by the owner, in-share preemption after the raise."""
    call = Caller()
    high, med, low = (call.submit(name, schedulingPriority=p) for name, p in (("high", 3), ("med", 2), ("low", 1)))
    assert call.states(high, med, low) == ["RUNNING", "RUNNING", "RUNNABLE"]
    assert call.usage() == {"QS1": 2}

    owner = call.submit("qs2_job_1", "QS2", schedulingPriority=1)
    assert call.states(high, med, low, owner) == ["RUNNING", "RUNNABLE", "RUNNABLE", "RUNNING"]
    [attempt] = call.describe(med)["preemptionSummary"]["recentPreemptedAttempts"]
    assert attempt["statusReason"] == CROSS

    call("UpdateServiceJob", jobId=low, schedulingPriority=4)
    assert call.states(high, med, low, owner) == ["RUNNABLE", "RUNNABLE", "RUNNING", "RUNNING"]
    [attempt] = call.describe(high)["preemptionSummary"]["recentPreemptedAttempts"]
    assert attempt["statusReason"].startswith("In-share preemption")
    assert "preemptionSummary" not in call.describe(low)


def instants_of_what_is_done(timeline: dict[str, Any]) -> set[float]:
    scenario = timeline["scenario"]
    return {job["submit"] for job in scenario["jobs"]} | {event["at"] for event in scenario.get("events", ())}


def can_be_done(timeline: dict[str, Any]) -> bool:
    """Does nothing end as something is done, and can everything be said in a request?

    A client that lets time go on to an instant sees the moves of that instant made first; and no request says how
    often a job writes checkpoints.
    """
    ends = {event["at"] for event in timeline["events"] if event["kind"] in ("finished", "stopped", "terminated")}
    starts = {event["at"] for event in timeline["events"] if event["kind"] in ("started", "preempted")}
    checkpoints = any("checkpoint_every" in job for job in timeline["scenario"]["jobs"])
    return not checkpoints and not (instants_of_what_is_done(timeline) & (ends - starts))


FEASIBLE = [timeline for timeline in TIMELINES if can_be_done(timeline)]


def test_most_timelines_can_be_done() -> None:
    assert len(FEASIBLE) >= 30


@pytest.mark.parametrize("timeline", FEASIBLE, ids=[f"{t['id']} {t['about']}" for t in FEASIBLE])
def test_timeline(timeline: dict[str, Any]) -> None:
    scenario = timeline["scenario"]
    policy = Policy.of(timeline["policy"]).model_copy(update={"queue": QUEUE})
    call = Caller(policy, pace=Pace(Timing(stop_seconds=scenario["timing"]["stop_seconds"])))
    jobs: dict[str, str] = {}
    for at in sorted(instants_of_what_is_done(timeline)):
        call.endpoint.advance_to(at)
        for job in scenario["jobs"]:
            if job["submit"] == at:
                jobs[job["name"]] = submit(call, job)
        for event in scenario.get("events", ()):
            if event["at"] == at:
                update = event["update_priority"]
                call("UpdateServiceJob", jobId=jobs[update["job"]], schedulingPriority=update["priority"])
    call.endpoint.advance_to(1e6)
    assert written(call) == timeline["events"]


def submit(call: Caller, job: dict[str, Any]) -> str:
    retries = job.get("preemption_retries")
    return call.submit(
        job["name"],
        job["share"],
        job["instance_count"],
        schedulingPriority=job["priority"],
        tags={"policy-engine:duration": f"{job['duration']:g}"},
        preemptionConfiguration=None if retries is None else {"preemptionRetriesBeforeTermination": retries},
    )


def written(call: Caller) -> list[dict[str, Any]]:
    """The log of the queue's clock, as the golden results write it."""
    clock = call.endpoint.account().queues[QUEUE].schedule.clock
    log = Log(clock.jobs)
    log.rows = clock.rows
    unlisted = (Kind.SUBMITTED, Kind.PRIORITY_UPDATED, Kind.SHARE_UPDATED, Kind.ENVIRONMENT_UPDATED)
    return [as_written(event) for event in log if event.kind not in unlisted]
