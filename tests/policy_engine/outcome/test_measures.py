"""Measures of long runs: numbers worked out on paper, and laws that hold of every run."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import astuple, replace
from typing import Any

import pytest

from policy_engine.outcome import ShareOutcome, Waits, job_outcomes, queue_outcome, share_outcomes
from policy_engine.outcome.claims import Claims
from policy_engine.outcome.ledger import Ledger
from policy_engine.outcome.measures import JobMeasures, Lost, PairMeasures, measure, team_measures
from policy_engine.scheduler.endless import TooManyMovesError
from policy_engine.scheduler.jobs import Exit, Job, Timing, Workload
from policy_engine.scheduler.state import Phase, State
from policy_engine.simulation import Run, simulate
from tests.oracle.generator import Scenario, scenario
from tests.policy_engine.logs import UNIT, policy_of, run_of

TWO = {"a": "2 LEND_AND_BORROW", "b": "2 LEND"}
OTHER = "ml.p4d.24xlarge"


def job(name: str, share: str, count: int = 1, submit: float = 0.0) -> Job:
    return Job(name, share, {UNIT: count}, submit=submit)


def lent_and_taken_back(timing: Timing | None = None) -> Run:
    """x borrows both instances of b's; y of b waits for the stop of it, from 50 to 70."""
    return run_of(
        policy_of(TWO),
        [job("w", "a", 2), job("x", "a", 2), job("y", "b", submit=50), job("z", "b", 2, submit=80)],
        """
        0 submitted w
        0 started w
        0 submitted x
        0 started x
        50 submitted y
        50 preempted x by y cross_share
        70 stopped x lost 70
        70 requeued x
        70 started y
        80 submitted z
        100 finished w finished
        120 finished y finished
        120 started z
        140 finished z finished
        140 started x
        """,
        end=200,
        timing=timing,
    )


def test_shares_measured_from_the_beginning() -> None:
    measures = measure(lent_and_taken_back(), checkpoint_seconds=30)
    a, b = measures.shares
    assert a.jobs == JobMeasures(2, 0, Waits(0, 0, 0, 0), requeued_seconds=70, preemptions_suffered=1)
    assert b.jobs == JobMeasures(2, 0, Waits(30, 20, 40, 40), requeued_seconds=0, preemptions_suffered=0)
    assert (b.reclaims, b.reclaim_seconds) == (1, Waits(20, 20, 20, 20))  # z was inside the limit when y ended: at once
    assert (b.preemptions_caused, b.instances_claimed, b.instances_evicted, b.evicted_per_claimed) == (1, 1, 2, 2)
    assert a.lost == Lost(instance_seconds=140, without_checkpoints=140, with_checkpoints=20)  # 70 s, 10 since the last
    assert (a.caused_lost_instance_seconds, b.caused_lost_instance_seconds) == (0, 140)
    assert a.busy_instance_seconds == 4 * 70 + 2 * 30 + 2 * 60
    assert (a.borrowed_instance_seconds, b.lent_instance_seconds) == (2 * 70, 2 * 70)
    assert measures.pairs == (PairMeasures("b", "a", "cross_share", 1, 2, 140),)


def test_what_a_share_has_while_its_jobs_wait() -> None:
    a, b = measure(lent_and_taken_back()).shares
    # b: from 50 to 70 it has nothing of its two, from 80 to 120 one
    assert (b.short_seconds, b.entitlement_while_short) == (20 + 40, (0 * 20 + 1 * 40) / (2 * 60))
    # a: from 70 to 140 it has first two, then none of its two
    assert (a.short_seconds, a.entitlement_while_short) == (70, (2 * 30 + 0 * 40) / (2 * 70))


def test_a_warm_up_is_run_and_not_measured() -> None:
    measures = measure(lent_and_taken_back(), since=60)
    a, b = measures.shares
    assert measures.all.jobs == 1
    assert b.jobs.wait_seconds == Waits(40, 40, 40, 40)
    assert a.jobs == JobMeasures(0, 0, None, requeued_seconds=0, preemptions_suffered=1)  # it was stopped at 70
    assert a.busy_instance_seconds == 4 * 10 + 2 * 30 + 2 * 60
    assert (b.instances_claimed, b.evicted_per_claimed) == (0, None)  # that was decided before
    assert b.short_seconds == 10 + 40
    [unit] = measures.units
    assert unit.capacity_instance_seconds == 4 * 140
    assert measures.utilization == (4 * 10 + 3 * 30 + 1 * 20 + 2 * 20 + 2 * 60) / (4 * 140)


def test_utilization_without_the_time_in_which_the_last_jobs_run_out() -> None:
    measures = measure(lent_and_taken_back())
    assert measures.utilization_to_last_submission == (4 * 70 + 3 * 10) / (4 * 80)


def test_work_begins_when_the_attempt_is_up() -> None:
    lost = measure(lent_and_taken_back(Timing(start_seconds=25)), checkpoint_seconds=40).lost
    assert (lost.without_checkpoints, lost.with_checkpoints) == (2 * 45, 2 * 5)


def test_sizes_of_all_shares_and_of_each() -> None:
    sizes = [(size.share, size.size, size.jobs.jobs) for size in measure(lent_and_taken_back()).sizes]
    one, two = ((UNIT, 1),), ((UNIT, 2),)
    assert sizes == [(None, one, 1), (None, two, 3), ("a", two, 2), ("b", one, 1), ("b", two, 1)]


def test_jobs_of_teams_whatever_their_share() -> None:
    run = lent_and_taken_back()
    assert team_measures(run, ["t", "u", "u", "t"]) == {
        "t": JobMeasures(2, 0, Waits(20, 0, 40, 40), requeued_seconds=0, preemptions_suffered=0),
        "u": JobMeasures(2, 0, Waits(10, 0, 20, 20), requeued_seconds=70, preemptions_suffered=1),
    }


def test_a_victim_that_ends_by_itself_is_evicted_by_nobody() -> None:
    run = run_of(
        policy_of(TWO),
        [job("x", "a", 4), job("y", "b", submit=50)],
        """
        0 submitted x
        0 started x
        50 submitted y
        50 preempted x by y cross_share
        60 finished x finished
        60 started y
        """,
        end=100,
    )
    measures = measure(run)
    of_b = measures.shares[1]
    assert (measures.preemptions, of_b.instances_evicted, of_b.instances_claimed) == (0, 0, 1)
    assert of_b.reclaim_seconds == Waits(10, 10, 10, 10)


# --- laws --------------------------------------------------------------------------------------------


def approximately(outcome: ShareOutcome) -> tuple[Any, ...]:
    """Sums in another order differ in the last bit."""
    return tuple(pytest.approx(value) if isinstance(value, float) else value for value in astuple(outcome))


@pytest.fixture(scope="module")
def runs() -> list[Run]:
    """Under one policy each, as the jobs of a history are."""
    made = (scenario(seed) for seed in range(300))
    return [simulate(one.declared(), replace(one.workload, updates=()), one.choices) for one in made]


def test_measures_agree_with_the_outcomes_of_jobs_and_shares(runs: list[Run]) -> None:
    for run in runs:
        measures = measure(run)
        jobs = [job for job in job_outcomes(run) if job.state != "SUBMITTED"]
        waits = sorted(job.wait_seconds for job in jobs if job.wait_seconds is not None)
        assert (measures.all.jobs, measures.all.never_started) == (len(jobs), len(jobs) - len(waits))
        assert (measures.all.wait_seconds.max if measures.all.wait_seconds else None) == (waits[-1] if waits else None)
        assert [astuple(cell) for cell in measures.by_unit] == [approximately(cell) for cell in share_outcomes(run)]
        for share, whole in zip(measures.shares, share_outcomes(run, by_unit=False), strict=True):
            assert share.jobs.wait_seconds == whole.wait_seconds
            assert share.preemptions_caused == whole.preemptions_caused
            assert share.lost.instance_seconds == pytest.approx(whole.lost_instance_seconds)
            assert share.lent_instance_seconds == pytest.approx(whole.lent_instance_seconds)
            assert share.busy_instance_seconds == pytest.approx(whole.busy_instance_seconds)
        utilization = queue_outcome(run).utilization
        assert measures.utilization == (None if utilization is None else pytest.approx(utilization))


def test_parts_add_up(runs: list[Run]) -> None:
    for run in runs:
        measures = measure(run)
        for of in (
            [size for size in measures.sizes if size.share is None],
            [size for size in measures.sizes if size.share is not None],
            measures.shares,
        ):
            assert sum(part.jobs.jobs for part in of) == measures.all.jobs
            assert sum(part.jobs.preemptions_suffered for part in of) == measures.preemptions
            assert sum(part.jobs.requeued_seconds for part in of) == pytest.approx(measures.all.requeued_seconds)
        assert sum(pair.preemptions for pair in measures.pairs) == measures.preemptions
        assert sum(pair.lost_instance_seconds for pair in measures.pairs) == pytest.approx(
            measures.lost.instance_seconds
        )
        assert sum(share.instances_evicted for share in measures.shares) == sum(
            pair.instances for pair in measures.pairs
        )
        for of_share in measures.shares:
            assert of_share.lost.with_checkpoints <= of_share.lost.without_checkpoints + 1e-6


def test_a_warm_up_of_nothing_and_one_of_everything(runs: list[Run]) -> None:
    for run in runs:
        late = measure(run, since=run.end + 1)
        assert (late.all.jobs, late.preemptions, late.utilization) == (0, 0, None)
        assert all(share.busy_instance_seconds == share.borrowed_instance_seconds == 0 for share in late.shares)


def test_what_is_before_and_after_an_instant_is_all(runs: list[Run]) -> None:
    for run in runs:
        middle = run.end / 2
        early = simulate(run.policy, replace(run.workload, until=middle), run.choices)
        for cell, first, second in zip(
            *(Ledger(of, since).cells.values() for of, since in ((run, 0.0), (early, 0.0), (run, middle))), strict=True
        ):
            for name in ("busy_seconds", "borrowed_seconds", "lent_seconds", "short_seconds", "short_busy_seconds"):
                assert getattr(cell, name) == pytest.approx(getattr(first, name) + getattr(second, name), abs=1e-6)


STARTED = (Phase.RUNNING, Phase.STOPPING)
"""A job may be stopped at the instant at which it starts."""


class Heads:
    """Watches a run: since when the head of each share has been first in line and inside the share's limit."""

    def __init__(self) -> None:
        self.since: dict[int, float] = {}
        self.phases: list[Phase] = []
        self.waits: defaultdict[str, list[float]] = defaultdict(list)

    def __call__(self, state: State, at: float) -> None:
        lines_left = {state.share_of[number] for number in self._left(state, at)}
        entitled = set(self._entitled(state))
        for number in list(self.since):
            if state.phase[number] in STARTED:
                self._started(state, number, at)
            elif state.phase[number] is not Phase.CLAIMING and (
                number not in entitled or state.share_of[number] in lines_left
            ):
                del self.since[number]  # another one was before it, or is now
        for number in (*entitled, *self._claimed_at_once(state)):
            self.since.setdefault(number, at)
        self.phases = list(state.phase)

    def _left(self, state: State, at: float) -> Iterator[int]:
        """Jobs that left their share's line just now."""
        for number, phase in enumerate(state.phase):
            before = self.phases[number] if self.phases else Phase.NEW
            again = before is not Phase.CLAIMING and state.runnable_since[number] == at
            if phase in (Phase.RUNNING, Phase.CLAIMING) and (before in (Phase.NEW, Phase.WAITING) or again):
                yield number

    def _claimed_at_once(self, state: State) -> Iterator[int]:
        """Jobs that had others stopped as soon as they came, and were inside the limit before that."""
        new = (claim for claim in state.claims if not self.phases or self.phases[claim.job] is not Phase.CLAIMING)
        for claim in new:
            used = Counter({cell: state.after[cell] for cell, _, _ in state.demand[claim.job]})
            used.update(
                {cell: n for victim in claim.outstanding for cell, _, n in state.demand[victim] if cell in used}
            )
            if claim.job not in self.since and all(count <= state.limit[cell] for cell, count in used.items()):
                yield claim.job

    def _entitled(self, state: State) -> Iterator[int]:
        for share in state.waiting:
            head = next(state.fronts(share))
            if all(state.after[cell] + count <= state.limit[cell] for cell, _, count in state.demand[head]):
                yield head

    def _started(self, state: State, number: int, at: float) -> None:
        waited = at - self.since.pop(number)
        if waited > 0:
            self.waits[state.share_names[state.share_of[number]]].append(waited)


def like_a_history(made: Scenario) -> Workload:
    """Every job submitted, and run once unless it is preempted."""
    jobs = (replace(job, started=None, timeout=None, exit=Exit.SUCCEEDED) for job in made.workload.jobs)
    return Workload(tuple(jobs), timing=replace(made.workload.timing, queue_latency=0.0))


def test_owners_wait_as_long_as_one_sees_who_watches_the_lines() -> None:
    seen = 0
    for made in map(scenario, range(600)):
        heads = Heads()
        try:
            run = simulate(made.declared(), like_a_history(made), watch=heads)
        except TooManyMovesError:
            continue
        found = {name: sorted(wait for wait in waits if wait > 0) for name, waits in Claims(run).reclaims.items()}
        watched = {name: sorted(waits) for name, waits in heads.waits.items()}
        assert {name: waits for name, waits in found.items() if waits} == watched
        seen += sum(map(len, watched.values()))
    assert seen > 100


def test_the_runs_have_what_is_measured(runs: list[Run]) -> None:
    kinds = Counter(
        kind
        for run in runs
        for kind, there in {
            "preempts": measure(run).preemptions > 0,
            "several types": len(run.policy.units) > 1,
            "reclaims": any(share.reclaims for share in measure(run).shares),
            "short": any(share.short_seconds for share in measure(run).shares),
        }.items()
        if there
    )
    assert min(kinds[kind] for kind in ("preempts", "several types", "reclaims", "short")) > 40
