"""What holds for the outcome of every run, whatever the scheduler did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import pytest

from policy_engine.outcome import Step, job_outcomes, policies, queue_outcome, share_outcomes, steps
from policy_engine.scheduler.bounds import Bounds
from policy_engine.scheduler.jobs import DeleteShare, UpdateServiceEnvironment, UpdateShare
from policy_engine.scheduler.state import Phase
from policy_engine.simulation import Run, simulate
from tests.oracle.generator import scenario

SEEDS = range(400)


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    made = [scenario(seed) for seed in SEEDS]
    return [simulate(one.declared(), one.workload, one.choices) for one in made]


def units_of(run: Run) -> list[str]:
    return sorted({unit for _, policy in policies(run) for unit in policy.units})


def capacities(run: Run, unit: str) -> list[tuple[float, int]]:
    """Since when the environment has had how many."""
    rows = run.log.rows
    return [(max(0.0, rows[at][0]) if at >= 0 else 0.0, policy.capacity(unit)) for at, policy in policies(run)]


def total(of_shares: Mapping[str, float]) -> float:
    return sum(of_shares.values())


def changes_limits(run: Run) -> bool:
    changes = (UpdateShare, DeleteShare, UpdateServiceEnvironment)
    return any(isinstance(update, changes) for update in run.workload.updates)


def spans(run: Run, unit: str) -> list[tuple[Step, float]]:
    """Each step and how long it lasts."""
    found = steps(run, unit)
    ends = [step.at for step in found[1:]] + [run.end]
    return [(step, end - step.at) for step, end in zip(found, ends, strict=True)]


def test_the_runs_are_of_every_kind(runs: list[Run]) -> None:
    kinds = Counter(
        kind
        for run in runs
        for kind, there in {
            "preempts": any(job.preemptions for job in job_outcomes(run)),
            "changes limits": changes_limits(run),
            "several types": len(units_of(run)) > 1,
            "takes time to stop": run.workload.timing.stop_seconds > 0,
            "borrows unowned": run.choices.unallocated == "borrowable",
        }.items()
        if there
    )
    assert min(kinds[kind] for kind in ("preempts", "changes limits", "several types", "takes time to stop")) > 60
    assert kinds["borrows unowned"] > 20


def test_every_instance_is_counted_once(runs: list[Run]) -> None:
    for run in runs:
        for unit in units_of(run):
            of_environment = capacities(run, unit)
            for step in steps(run, unit):
                capacity = [of for since, of in of_environment if since <= step.at][-1]
                used = total(step.own) + total(step.borrowed)
                idle = total(step.reserved) + total(step.free) + step.unallocated
                assert used + idle == pytest.approx(max(capacity, used))
                assert min(*step.reserved.values(), *step.free.values(), *step.lent.values(), step.unallocated) >= 0


def test_what_is_borrowed_is_lent(runs: list[Run]) -> None:
    """Or is what nobody owns (C6), unless jobs were there from the start or limits change."""
    checked, unowned_used = 0, 0
    for run in runs:
        given = changes_limits(run) or any(job.started is not None for job in run.workload.jobs)
        for unit in units_of(run):
            unowned = max(0, run.policy.capacity(unit) - run.policy.sum_of_limits(unit))
            for step in steps(run, unit):
                assert total(step.lent) <= total(step.borrowed) + 1e-9
                if not given:
                    used = unowned - step.unallocated
                    assert total(step.borrowed) == pytest.approx(total(step.lent) + used)
                    assert used == 0 or run.choices.unallocated == "borrowable"
                    checked += total(step.borrowed) > 0
                    unowned_used += used > 0
    assert checked > 100
    assert unowned_used > 0


def test_a_share_is_made_of_its_limit(runs: list[Run]) -> None:
    """Own, lent, reserved and free add up to the limit, as long as the environment has all of it."""
    for run in runs:
        bounds = Bounds(run.policy, run.choices)
        if changes_limits(run) or any(job.started is not None for job in run.workload.jobs):
            continue
        for unit in units_of(run):
            if run.policy.sum_of_limits(unit) > run.policy.capacity(unit):
                continue
            for step in steps(run, unit):
                for name, share in run.policy.shares.items():
                    parts = step.own[name] + step.lent[name] + step.reserved[name] + step.free[name]
                    assert parts == pytest.approx(share.limit(unit))
                    assert (step.reserved[name] if bounds.lends(name) else step.lent[name]) == 0


def test_steps_change_something_and_come_in_order(runs: list[Run]) -> None:
    for run in runs:
        for unit in units_of(run):
            found = steps(run, unit)
            assert found[0].at == 0
            for one, other in pairwise(found):
                assert one.at < other.at <= run.end
                assert (one.own, one.borrowed, one.lent, one.reserved, one.free, one.unallocated) != (
                    other.own,
                    other.borrowed,
                    other.lent,
                    other.reserved,
                    other.free,
                    other.unallocated,
                )


def test_shares_are_the_sum_of_their_steps(runs: list[Run]) -> None:
    for run in runs:
        timelines = {unit: spans(run, unit) for unit in units_of(run)}
        for share in share_outcomes(run):
            assert share.unit is not None
            timeline, name = timelines[share.unit], share.name
            busy = sum((step.own[name] + step.borrowed[name]) * span for step, span in timeline)
            assert share.busy_instance_seconds == pytest.approx(busy)
            borrowed = sum(step.borrowed[name] * span for step, span in timeline)
            assert share.borrowed_instance_seconds == pytest.approx(borrowed)
            assert share.lent_instance_seconds == pytest.approx(sum(step.lent[name] * span for step, span in timeline))
            assert share.peak_usage >= max(step.own[name] + step.borrowed[name] for step, _ in timeline)
            assert share.peak_borrowed >= max(step.borrowed[name] for step, _ in timeline)


def test_shares_are_the_sum_of_their_jobs(runs: list[Run]) -> None:
    for run in runs:
        jobs = job_outcomes(run)
        demands = {job.name: job for job in run.workload.jobs}
        for share in share_outcomes(run, by_unit=False):
            own = [job for job in jobs if job.share == share.name]
            busy = sum(
                (max(0.0, run.end if a.stopped is None else a.stopped) - max(0.0, a.scheduled))
                * demands[job.name].instances
                for job in own
                for a in job.attempts
            )
            assert share.busy_instance_seconds == pytest.approx(busy)
            assert share.preemptions_suffered == sum(job.preemptions for job in own)
            assert share.lost_instance_seconds == pytest.approx(sum(job.lost_instance_seconds for job in own))
            assert share.requeued_seconds == pytest.approx(sum(job.requeued_seconds for job in own))
            waits = sorted(job.wait_seconds for job in own if job.wait_seconds is not None)
            assert (share.wait_seconds is None) is (waits == [])
            if share.wait_seconds is not None:
                assert (share.wait_seconds.max, share.wait_seconds.p50) == (waits[-1], waits[(len(waits) - 1) // 2])


def test_what_some_suffer_others_cause(runs: list[Run]) -> None:
    for run in runs:
        by_nobody = [
            (job, attempt)
            for job in job_outcomes(run)
            for attempt in job.attempts
            if attempt.ended_by == "limit_lowered"
        ]
        shares = share_outcomes(run, by_unit=False)
        caused = sum(share.preemptions_caused for share in shares)
        assert caused + len(by_nobody) == sum(share.preemptions_suffered for share in shares)
        for unit in units_of(run):
            of_unit = [share for share in share_outcomes(run) if share.unit == unit]
            if not by_nobody:
                lost = sum(share.lost_instance_seconds for share in of_unit)
                assert sum(share.caused_lost_instance_seconds for share in of_unit) == pytest.approx(lost)
                suffered = sum(share.preemptions_suffered for share in of_unit)
                assert sum(share.preemptions_caused for share in of_unit) == suffered


def test_all_types_together_are_the_sum_of_each(runs: list[Run]) -> None:
    for run in runs:
        by_unit = share_outcomes(run)
        for share in share_outcomes(run, by_unit=False):
            parts = [part for part in by_unit if part.name == share.name]
            assert share.limit == sum(part.limit for part in parts)
            assert share.busy_instance_seconds == pytest.approx(sum(part.busy_instance_seconds for part in parts))
            assert share.lent_instance_seconds == pytest.approx(sum(part.lent_instance_seconds for part in parts))
            assert share.peak_usage <= sum(part.peak_usage for part in parts)
        queue = queue_outcome(run)
        assert queue.busy_instance_seconds == pytest.approx(sum(part.busy_instance_seconds for part in by_unit))


def test_jobs_end_as_the_scheduler_left_them(runs: list[Run]) -> None:
    meant = {
        Phase.NEW: {"SUBMITTED"},
        Phase.WAITING: {"RUNNABLE"},
        Phase.CLAIMING: {"RUNNABLE"},
        Phase.RUNNING: {"SCHEDULED", "RUNNING"},
        Phase.STOPPING: {"SCHEDULED", "RUNNING"},
        Phase.ENDED: {"SUCCEEDED", "FAILED"},
    }
    for run in runs:
        for number, job in enumerate(job_outcomes(run)):
            assert job.state in meant[run.final.phase[number]]
            assert (job.finished is not None) is (job.state in ("SUCCEEDED", "FAILED"))
            assert [a.stopped for a in job.attempts[:-1] if a.stopped is None] == []
            holds = bool(job.attempts) and job.attempts[-1].stopped is None
            assert holds is (job.state in ("SCHEDULED", "RUNNING"))
