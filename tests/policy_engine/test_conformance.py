"""Golden results: what the scheduler has to do, event for event and victim for victim.

``tests/conformance`` holds them as data; ``conformance/*.json`` of the specification is the original.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from policy_engine.outcome import job_outcomes
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job, Workload
from policy_engine.scheduler.log import Event, Kind
from policy_engine.simulation import Run, simulate
from policy_engine.workload.scenario import load_scenario

FOLDER = Path(__file__).parent.parent / "conformance"
UNIT = "ml.g5.xlarge"


def read(name: str, what: str) -> list[dict[str, Any]]:
    data: dict[str, list[dict[str, Any]]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return data[what]


TIMELINES = read("timelines.json", "timelines")
CASES = read("preemption-cases.json", "cases")


def test_the_golden_results_are_all_there() -> None:
    assert [timeline["id"] for timeline in TIMELINES] == [f"T{number:02}" for number in range(1, 37)]
    assert len(CASES) == 20


# --- timelines -------------------------------------------------------------------------------------


def as_written(event: Event) -> dict[str, Any]:
    """The event as the golden results write it: without what is empty, and of a status reason its code alone."""
    reason = event.reason and event.reason.split(" ")[0]
    preempted = event.kind is Kind.PREEMPTED
    said = {"job": event.job, "by": event.by, "why": event.why if preempted else None, "reason": reason}
    return {"at": event.at, "kind": str(event.kind), **{key: str(value) for key, value in said.items() if value}}


@pytest.mark.parametrize("timeline", TIMELINES, ids=[f"{t['id']} {t['about']}" for t in TIMELINES])
def test_timeline(timeline: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "scenario.json"
    path.write_text(json.dumps(timeline["scenario"]), encoding="utf-8")
    policy = Policy.of(timeline["policy"])
    scenario = load_scenario(path, policy)
    run = simulate(policy, scenario.workload(policy), scenario.choices())
    unlisted = (Kind.SUBMITTED, Kind.PRIORITY_UPDATED)
    assert [as_written(event) for event in run.log if event.kind not in unlisted] == timeline["events"]


# --- jobs that can never fit (golden results 2) ----------------------------------------------------

LIMITS = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - "
CAPACITY = "Job requirements exceed quota share capacity limits."
BORROW = "Job requirements exceed quota share capacity limits and borrow limits."
LENDERS = "Job requires borrowing that exceeds all configured borrowable capacity."
ENVIRONMENT = (
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue cannot"
    " meet the capacity requirement of the job."
)
LEND = {"strategy": "LEND"}
BORROWER = {"strategy": "LEND_AND_BORROW"}


@pytest.mark.parametrize(
    ("mine", "other", "count", "reason", "largest"),
    [
        ({"limit": 4, "strategy": "RESERVE"}, {"limit": 6, **LEND}, 5, LIMITS + CAPACITY, 4),
        ({"limit": 4, **LEND}, {"limit": 6, **LEND}, 5, LIMITS + CAPACITY, 4),
        ({"limit": 2, "borrow_limit": 100, **BORROWER}, {"limit": 8, **LEND}, 5, LIMITS + BORROW, 4),
        (
            {"limit": 4, "borrow_limit": 200, **BORROWER},
            {"limit": 4, "borrow_limit": 200, **BORROWER},
            10,
            LIMITS + LENDERS,
            8,
        ),
        ({"limit": 10, **LEND}, {"limit": 1, **LEND}, 12, ENVIRONMENT, 10),
    ],
    ids=["R12.2 RESERVE", "R12.2 LEND", "R12.3", "R12.4", "R12.1"],
)
def test_job_that_can_never_fit(
    mine: dict[str, Any], other: dict[str, Any], count: int, reason: str, largest: int
) -> None:
    """It stays RUNNABLE with AWS's reason; the largest that can run does."""
    policy = Policy.of(
        {
            "service_environment": {"capacity_limits": {UNIT: 10}},
            "shares": {
                name: {
                    "capacity_limits": {UNIT: share["limit"]},
                    "in_share_preemption": False,
                    **{key: share[key] for key in ("strategy", "borrow_limit") if key in share},
                }
                for name, share in (("mine", mine), ("other", other))
            },
        }
    )
    for instances, state, why in ((count, "RUNNABLE", reason), (largest, "RUNNING", None)):
        [outcome] = job_outcomes(simulate(policy, Workload((Job("j", "mine", {UNIT: instances}),))))
        assert (outcome.state, outcome.reason) == (state, why)


# --- preemption ------------------------------------------------------------------------------------


def run_case(case: dict[str, Any]) -> Run:
    """The incoming job comes at 1 s; the environment is the sum of the limits."""
    shares = {
        name: {
            "capacity_limits": {UNIT: share["limit"]},
            **{key: share[key] for key in ("strategy", "borrow_limit", "in_share_preemption")},
        }
        for name, share in case["shares"].items()
    }
    capacity = sum(share["limit"] for share in case["shares"].values())
    policy = Policy.of({"service_environment": {"capacity_limits": {UNIT: capacity}}, "shares": shares})
    jobs = [
        Job(job["name"], job["share"], {UNIT: job["count"]}, job["priority"], job["started"], started=job["started"])
        for job in case["running"]
    ]
    incoming = case["incoming"]
    jobs.append(Job(incoming["name"], incoming["share"], {UNIT: incoming["count"]}, incoming["priority"], submit=1))
    return simulate(policy, Workload(tuple(jobs)))


@pytest.mark.parametrize("case", CASES, ids=[f"{c['id']} {c['about']}" for c in CASES])
def test_preemption_case(case: dict[str, Any]) -> None:
    run = run_case(case)
    jobs = {job.name: job for job in run.workload.jobs}
    incoming = jobs[case["incoming"]["name"]]
    first = next((event.by for event in run.log if event.kind is Kind.PREEMPTED), incoming.name)
    assert first == incoming.name
    stopped = [event for event in run.log if event.kind is Kind.PREEMPTED and event.by == incoming.name]
    [outcome] = [outcome for outcome in job_outcomes(run) if outcome.name == incoming.name]
    kinds = {"waits": (False, False), "preempts": (True, True), "starts": (True, False)}
    assert (outcome.first_started is not None, bool(stopped)) == kinds[case["outcome"]]
    assert sorted(str(event.job) for event in stopped) == (case["default"] or [])
    for event in stopped:
        same_share = jobs[str(event.job)].share == incoming.share
        assert event.at == 1
        assert event.why == ("in_share" if same_share else "cross_share")


def test_the_default_is_one_of_the_minimal_legal_sets() -> None:
    """Of the data: a copy that was damaged would not say what the specification says."""
    for case in CASES:
        assert (case["default"] in case["minimal_legal_sets"]) is (case["outcome"] == "preempts")
