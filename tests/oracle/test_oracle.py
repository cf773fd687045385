"""The second engine against the golden results of the specification, event for event."""

from __future__ import annotations

from typing import Any

import pytest

from policy_engine.policy import Policy
from policy_engine.scheduler.choices import Choices
from tests.oracle.conformance import case_of, read, workload_of
from tests.oracle.engine import Clock, run
from tests.oracle.victims import minimal_legal_sets
from tests.oracle.world import Entry, Phase

TIMELINES = read("timelines.json", "timelines")
CASES = read("preemption-cases.json", "cases")


def as_golden(entry: Entry) -> dict[str, Any]:
    """An entry as the golden timelines write it."""
    at, kind, job, by, why, detail = entry
    reason = detail.partition(" - ")[0] if kind == "blocked" else None
    fields = {"at": at, "kind": kind, "job": job, "by": by, "why": why, "reason": reason}
    return {key: value for key, value in fields.items() if value is not None}


def name_of(golden: dict[str, Any]) -> str:
    return str(golden["id"])


@pytest.mark.parametrize("timeline", TIMELINES, ids=name_of)
def test_it_makes_every_golden_timeline(timeline: dict[str, Any]) -> None:
    log = run(Policy.of(timeline["policy"]), workload_of(timeline["scenario"]), Choices()).log
    left_out = {"submitted", "priority_updated"}
    assert [as_golden(entry) for entry in log if entry[1] not in left_out] == timeline["events"]


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_it_stops_what_every_golden_case_stops(case: dict[str, Any]) -> None:
    log = run(*case_of(case), Choices()).log
    incoming = case["incoming"]["name"]
    preempted = sorted(job or "" for _, kind, job, by, _, _ in log if kind == "preempted" and by == incoming)
    started = any(kind == "started" and job == incoming for _, kind, job, *_ in log)
    assert (started, preempted) == (case["outcome"] != "waits", case["default"] or [])


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_it_finds_every_minimal_legal_set_of_a_golden_case(case: dict[str, Any]) -> None:
    world = Clock(*case_of(case), Choices()).world
    for job in world.jobs:
        job.phase = Phase.WAITING if job.job.started is None else Phase.DISPATCHED
    found = minimal_legal_sets(world, world.jobs[-1])
    assert sorted(map(sorted, found)) == sorted(map(sorted, case["minimal_legal_sets"]))
