"""A clock that learns its workload as it goes does what a run does that knows it from the beginning."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from typing import Any

import pytest

from policy_engine.endpoint.live_clock import LiveClock
from policy_engine.policy import JobStateTimeLimit, Policy, StuckReason
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Job,
    Terminate,
    Timing,
    Update,
    UpdatePriority,
    UpdateServiceEnvironment,
    UpdateShare,
    Workload,
)
from policy_engine.scheduler.log import Kind, Row, Why
from policy_engine.simulation import simulate
from tests.oracle.generator import Scenario, scenario
from tests.policy_engine.endless import CIRCLE, HALVES, OVER_COMMITTED, PAIR, TAKING_BACK

UNIT = "ml.g5.xlarge"
UNTIL = 5_000.0
LATE = 1e5
SCENARIOS = 100
NIGHTLY = 10_000
NIGHTLY_AT_ONCE = 2_000

Entry = tuple[Any, ...]


def at_instants_of_their_own(found: Scenario) -> Scenario:
    """What is done to the queue comes at instants at which nothing ends, in the order of submission.

    A client that lets time go on to an instant sees the moves of that instant made before it can do anything.
    """
    coming = (job if job.started is None else replace(job, started=None, submit=0.0) for job in found.workload.jobs)
    jobs = sorted(coming, key=lambda job: job.submit)
    updates = found.workload.updates
    instants = sorted({what.submit for what in jobs} | {what.at for what in updates})
    moved = {at: at + 0.001 * (number + 1) for number, at in enumerate(instants)}
    workload = replace(
        found.workload,
        jobs=tuple(replace(job, submit=moved[job.submit]) for job in jobs),
        updates=tuple(replace(update, at=moved[update.at]) for update in updates),
        until=UNTIL,
    )
    return replace(found, workload=workload)


def entries(rows: list[Row], names: list[str]) -> list[Entry]:
    """The log with names for numbers."""
    named = [*names, None]
    return [(at, kind, named[job], named[by], why, detail) for at, kind, job, by, why, detail in rows]


def simulated(found: Scenario) -> list[Entry] | None:
    """The log of a run; None where jobs stop each other without end."""
    try:
        run = simulate(found.declared(), found.workload, found.choices)
    except (TooManyMovesError, ValueError):
        return None
    return entries(run.log.rows, [job.name for job in run.workload.jobs])


def live(found: Scenario) -> list[Entry] | None:
    """The log of a live clock to which shares, jobs and updates come one at a time; None likewise."""
    policy = found.declared()
    clock = LiveClock(policy.model_copy(update={"shares": {}}), found.workload.timing, found.choices, at=-1e3)
    for name, share in policy.shares.items():
        clock.add_share(name, share)
    clock.go_to(0.0)
    added = len(clock.news())
    for at, coming in groupby(in_order(found.workload), key=lambda what: what[0]):
        clock.go_to(at)
        for _, what in coming:
            do(clock, what)
        clock.settle()
    clock.go_to(UNTIL)
    return None if clock.stands_still else entries(clock.rows[added:], [job.name for job in clock.jobs])


def in_order(workload: Workload) -> Iterator[tuple[float, Job | Update]]:
    """Everything that is done, by instant and at one instant by kind (scheduling.md, One pass)."""
    kinds: list[tuple[float, int, Job | Update]] = [(job.submit, 1, job) for job in workload.jobs]
    for update in workload.updates:
        kind = 2 if isinstance(update, UpdatePriority) else 3 if isinstance(update, Terminate) else 0
        kinds.append((update.at, kind, update))
    for at, _, what in sorted(kinds, key=lambda entry: entry[:2]):
        yield at, what


def do(clock: LiveClock, what: Job | Update) -> None:
    if isinstance(what, Job):
        clock.take(what, wait=False)
    elif isinstance(what, UpdatePriority):
        clock.set_priority(clock.number_of[what.job], what.priority)
    elif isinstance(what, Terminate):
        clock.terminate(clock.number_of[what.job], None)
    else:
        clock.change(what)


def test_it_does_what_a_run_does() -> None:
    assert_alike(range(SCENARIOS))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, NIGHTLY, NIGHTLY_AT_ONCE))
def test_it_does_what_a_run_does_in_many(first: int) -> None:
    assert_alike(range(first, first + NIGHTLY_AT_ONCE))


def assert_alike(seeds: range) -> None:
    preempting = 0
    for seed in seeds:
        found = at_instants_of_their_own(scenario(seed))
        expected = simulated(found)
        assert live(found) == expected, f"seed {seed}"
        preempting += any(entry[1] is Kind.PREEMPTED for entry in expected or ())
    assert preempting > len(seeds) / 3


# --- what no scenario has ---------------------------------------------------------------------------

POLICY = Policy.of(
    {
        "service_environment": {"capacity_limits": {UNIT: 2}},
        "shares": {
            "a": {"capacity_limits": {UNIT: 1}, "strategy": "LEND", "in_share_preemption": True},
            "b": {"capacity_limits": {UNIT: 1}, "strategy": "RESERVE", "in_share_preemption": False},
        },
    }
)


def clock_of(policy: Policy = POLICY, **timing: float) -> LiveClock:
    return LiveClock(policy, Timing(**timing), Choices(), at=0.0)


def phases(clock: LiveClock) -> list[str]:
    return [phase.name for phase in clock.state.phase]


def test_nothing_moves_before_it_is_settled() -> None:
    clock = clock_of()
    clock.take(Job("j", "a", {UNIT: 1}), wait=False)
    assert phases(clock) == ["WAITING"]
    clock.settle()
    assert phases(clock) == ["RUNNING"]


def test_who_watches_is_told_after_every_pass() -> None:
    clock, told = clock_of(), []
    clock.watch = lambda state, at: told.append((at, state.usage()["a"][UNIT]))
    clock.take(Job("j", "a", {UNIT: 1}, duration=5), wait=False)
    clock.settle()
    clock.settle()
    clock.go_to(9)
    assert told == [(0, 1), (5, 0)]


def test_what_is_done_twice_settles_to_the_same() -> None:
    clock = clock_of()
    clock.take(Job("j", "a", {UNIT: 1}, duration=5), wait=False)
    clock.settle()
    rows = list(clock.rows)
    clock.settle()
    clock.go_to(0)
    assert clock.rows == rows


def test_instance_types_come_with_shares_jobs_and_environments() -> None:
    clock = clock_of()
    running = clock.take(Job("old", "a", {UNIT: 1}), wait=False)
    clock.settle()
    other = "ml.p4d.24xlarge"
    waiting = clock.take(Job("new", "a", {other: 1}), wait=False)
    clock.settle()
    assert clock.stuck[waiting][0] == "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE"
    clock.change(UpdateServiceEnvironment(0, capacity_limits={UNIT: 2, other: 4}))
    clock.change(UpdateShare(0, share="a", capacity_limits={UNIT: 1, other: 2}))
    clock.settle()
    assert phases(clock) == ["RUNNING", "RUNNING"]
    assert clock.state.usage()["a"] == {UNIT: 1, other: 1}
    clock.terminate(running, "enough")
    assert clock.state.usage()["a"] == {UNIT: 0, other: 1}


def test_a_share_that_comes_again_takes_jobs_again() -> None:
    clock = clock_of()
    clock.take(Job("first", "a", {UNIT: 1}), wait=False)
    clock.change(DeleteShare(0, share="a"))
    clock.add_share("a", POLICY.shares["a"])
    clock.take(Job("second", "a", {UNIT: 1}), wait=False)
    clock.settle()
    assert phases(clock) == ["ENDED", "RUNNING"]


def test_jobs_of_a_deleted_share_that_were_not_in_line_are_terminated_too() -> None:
    clock = clock_of()
    clock.take(Job("j", "a", {UNIT: 1}), wait=True)
    assert phases(clock) == ["NEW"]
    clock.change(DeleteShare(0, share="a"))
    assert [row[1:] for row in clock.rows if row[1] is Kind.TERMINATED] == [
        (Kind.TERMINATED, 0, -1, Why.TERMINATED, "quota share a was deleted")
    ]


def test_a_job_that_is_not_in_line_can_be_terminated() -> None:
    clock = clock_of()
    clock.take(Job("j", "a", {UNIT: 1}), wait=True)
    clock.terminate(0, "a mistake")
    clock.line_up()
    clock.settle()
    assert [(row[1], row[5]) for row in clock.rows] == [(Kind.TERMINATED, "a mistake")]


@pytest.mark.parametrize(
    ("stuck_for", "limit", "ends"),
    [(0, 600, 600), (100, 600, 600), (700, 600, 700), (100, None, None)],
    ids=["from the beginning", "counted from when it got stuck", "overdue at once", "none any more"],
)
def test_time_limits_that_change(stuck_for: float, limit: int | None, ends: float | None) -> None:
    reason = StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED
    before = (JobStateTimeLimit(reason=reason, max_seconds=86_400),)
    clock = clock_of(POLICY.model_copy(update={"job_state_time_limits": before}))
    clock.take(Job("large", "a", {UNIT: 2}), wait=False)
    clock.go_to(stuck_for)
    clock.set_time_limits(() if limit is None else (JobStateTimeLimit(reason=reason, max_seconds=limit),))
    clock.go_to(90_000)
    assert [row[0] for row in clock.rows if row[1] is Kind.TERMINATED] == ([] if ends is None else [ends])


def test_the_log_is_cut_and_nothing_of_it_is_told_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("policy_engine.endpoint.live_clock._ROWS", 10)
    clock = clock_of()
    told: list[Row] = []
    for number in range(20):
        clock.take(Job(f"j{number}", "a", {UNIT: 1}, duration=1), wait=False)
        clock.go_to(number * 10.0)
        told += clock.news()
        assert len(clock.rows) <= 20
    assert [row[2] for row in told if row[1] is Kind.SUBMITTED] == list(range(20))


# --- jobs that stop each other without end ----------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "workload", "choices"),
    [(OVER_COMMITTED, CIRCLE, Choices()), (HALVES, PAIR, TAKING_BACK)],
    ids=["at one instant", "over time"],
)
def test_time_stands_still_until_something_is_done(
    policy: Policy, workload: Workload, choices: Choices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("policy_engine.simulation.REQUEUES", 100)
    clock = LiveClock(policy, workload.timing, choices, at=0.0)
    for at, coming in groupby(in_order(workload), key=lambda what: what[0]):
        clock.go_to(at)
        for _, what in coming:
            do(clock, what)
    clock.go_to(LATE)
    assert "stop each other over and over" in (clock.stands_still or "")
    stood = clock.at
    assert stood < LATE
    clock.go_to(LATE + 1)
    assert clock.at == stood

    for job in range(len(clock.jobs)):
        clock.terminate(job, "enough")
    clock.settle()
    assert clock.stands_still is None
    assert clock.at == LATE + 1
    assert set(phases(clock)) == {"ENDED"}
