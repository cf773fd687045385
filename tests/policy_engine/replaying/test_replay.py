"""What a replay comes to: numbers worked out on paper, and what has no place in it."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.outcome import Waits
from policy_engine.outcome.measures import Measures, PairMeasures
from policy_engine.replaying import (
    Asked,
    Baseline,
    ReplayOptions,
    Spreading,
    ask,
    compare_with_baselines,
    costs,
    fidelity,
    load_prices,
    replay,
    shake,
)
from policy_engine.replaying.baselines import AS_IT_IS, opened, partitioned
from policy_engine.replaying.replayed import worst_waits
from policy_engine.replaying.sweeping import shaken
from policy_engine.scheduler.jobs import Timing
from policy_engine.workload.generator import Shape, generate, history_csv
from policy_engine.workload.history import History, read_history
from policy_engine.workload.history.remarks import Remark
from tests.policy_engine.replaying.cases import (
    ROOT,
    UNIT,
    borrowed_and_taken_back,
    example,
    generated,
    history,
    job,
    policy,
    teams,
)
from tests.policy_engine.workload.history.histories import trace


def test_stopping_takes_as_long_as_aws_s_sample_unless_told_otherwise() -> None:
    assert ReplayOptions().timing == Timing(stop_seconds=20)


def test_a_replay_on_paper() -> None:
    result = replay(policy(), borrowed_and_taken_back())
    a, b = result.measures.shares
    assert b.jobs.wait_seconds == b.reclaim_seconds == Waits(20, 20, 20, 20)
    assert (a.jobs.preemptions_suffered, a.jobs.requeued_seconds) == (1, 300)  # from 120 until b0 ends at 420
    assert (b.instances_claimed, b.instances_evicted) == (1, 1)
    assert a.lost.instance_seconds == 117  # a3 came last, at 3
    assert result.measures.pairs == (PairMeasures("b", "a", "cross_share", 1, 1, 117),)
    # two more than its two from 3 to 120 and, with the restart of a3, from 420 to 1000; one in between and before
    assert a.borrowed_instance_seconds == 1 + 2 * 117 + 300 + 2 * 580
    assert b.lent_instance_seconds == pytest.approx(a.borrowed_instance_seconds)
    assert (result.measures.all.jobs, result.run.end) == (5, 420 + 997)


def test_jobs_that_can_never_run_are_set_aside_where_nothing_would_end_them() -> None:
    jobs = [job("huge", "b", 0, 60, count=3), job("next", "b", 1, 60), job("larger", "a", 2, 60, count=5)]
    result = replay(policy(), history(jobs))
    assert [
        (never.job.name, never.misfit.rule, never.misfit.largest, never.is_in_run) for never in result.fitted.never_run
    ] == [
        ("huge", "R12.2", 2, False),
        ("larger", "R12.1", 4, False),
    ]
    assert [j.name for j in result.run.workload.jobs] == ["next"]
    assert result.measures.all.wait_seconds == Waits(0, 0, 0, 0)


def test_jobs_that_can_never_run_hold_their_share_as_long_as_the_policy_lets_them() -> None:
    limits = [{"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 600}]
    jobs = [job("huge", "b", 0, 60, count=3), job("next", "b", 1, 60), job("larger", "a", 2, 60, count=5)]
    result = replay(policy(job_state_time_limits=limits), history(jobs))
    assert [(never.job.name, never.is_in_run) for never in result.fitted.never_run] == [
        ("huge", True),
        ("larger", False),
    ]
    _, b = result.measures.shares
    assert (b.jobs.never_started, b.jobs.wait_seconds) == (1, Waits(599, 599, 599, 599))


NOWHERE = "a team without a quota share of its name: map it with --map"


def test_jobs_that_the_policy_has_no_place_for_are_counted_by_reason() -> None:
    jobs = [job("x", "c", 0, 5), job("y", "a", 1, 5), job("z", "a", 2, 5, unit="ml.p5.48xlarge"), job("w", "c", 3, 5)]
    result = replay(policy(), history(jobs))
    assert [remark.text for remark in result.fitted.remarks] == [
        f"2 x {NOWHERE}: c (x, w)",
        "1 x an instance type that the service environment has not got: ml.p5.48xlarge (z)",
    ]
    assert [j.name for j in result.run.workload.jobs] == ["y"]
    with pytest.raises(
        InputError, match=rf"^jobs.csv: 3 jobs would be left out: 2 x {NOWHERE}: c \(x, w\); 1 x an inst"
    ):
        replay(policy(), history(jobs), ReplayOptions(strict=True))


@pytest.mark.parametrize(
    ("jobs", "message"),
    [
        ([job("x", "c", 0, 5)], f"the policy has no place for any of 1 jobs: 1 x {NOWHERE}: c (x)"),
        ([job("x", "b", 0, 5, count=3)], "the policy has no place for any of 1 jobs: all are larger than their share"),
    ],
)
def test_a_history_of_which_nothing_fits_is_wrong_input(jobs: list[object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        replay(policy(), history(jobs))  # type: ignore[arg-type]
    assert caught.value.message.startswith(message)


def test_the_longest_waits_by_name() -> None:
    result = replay(policy(), borrowed_and_taken_back())
    assert [(wait.job.name, wait.to_start, wait.after_preemptions) for wait in worst_waits(result)] == [
        ("a3", 0, 300),
        ("b0", 20, 0),
    ]
    assert [wait.job.name for wait in worst_waits(result, most=1)] == ["a3"]
    assert worst_waits(replace(result, options=ReplayOptions(warm_up=101))) == ()


# --- beside other runs ---------------------------------------------------------------------------------


def test_baselines_are_the_same_jobs_without_lending_and_without_shares() -> None:
    result = replay(policy(), borrowed_and_taken_back())
    rows = compare_with_baselines(result)
    assert [row.name for row in rows] == [Baseline.PARTITIONS, AS_IT_IS, Baseline.OPEN_QUEUE]
    assert rows[1].result is result
    # alone with two instances, a's third job waits for its first, and its fourth for the second; b's never waits
    waits = [row.of_team["a"].wait_seconds for row in rows]
    assert waits == [Waits((998 + 997) / 4, 0, 998, 998), Waits(0, 0, 0, 0), Waits(0, 0, 0, 0)]
    waits = [row.of_team["b"].wait_seconds for row in rows]
    assert waits == [Waits(0, 0, 0, 0), Waits(20, 20, 20, 20), Waits(900, 900, 900, 900)]
    assert [row.measures.preemptions for row in rows] == [0, 1, 0]
    assert [row.measures.borrowed_instance_seconds > 0 for row in rows] == [False, True, False]


def test_baselines_keep_limits_and_capacity() -> None:
    assert [share.strategy for share in partitioned(policy()).shares.values()] == ["RESERVE", "RESERVE"]
    [everyone] = opened(policy()).shares.values()
    assert (everyone.capacity_limits, everyone.strategy) == ({UNIT: 4}, "RESERVE")


def test_jobs_larger_than_their_partition_are_told_beside_the_waits() -> None:
    rows = compare_with_baselines(replay(policy(), history([job("x", "a", 0, 5, count=3), job("y", "b", 0, 5)])))
    assert [row.never_run for row in rows] == [1, 0, 0]
    assert [row.measures.all.jobs for row in rows] == [1, 2, 2]


def mean_wait(measures: Measures) -> float | None:
    return None if measures.all.wait_seconds is None else measures.all.wait_seconds.mean


@pytest.mark.unwatched
@pytest.mark.parametrize("workers", [1, 2])
def test_perturbed_replays_are_the_same_whatever_the_number_of_workers(workers: int) -> None:
    found = shake(teams(), generated(), ReplayOptions(), 4, seed=7, spreading=Spreading(workers))
    again = [replay(teams(), shaken(generated(), 7, number, 60)).measures for number in range(1, 5)]
    assert list(found.runs) == again
    waits = found.spread(mean_wait)
    assert waits is not None
    assert waits.least < waits.mean < waits.most
    assert waits.deviation > 0


def test_a_perturbed_history_has_the_same_jobs_at_other_times() -> None:
    before, after = generated(), shaken(generated(), seed=1, number=1, seconds=60)
    assert [j.submit for j in after.jobs] == sorted(j.submit for j in after.jobs)
    by_name = {j.name: j for j in after.jobs}
    moved = [by_name[j.name].submit - j.submit for j in before.jobs]
    assert max(map(abs, moved)) <= 60
    assert len({round(move, 6) for move in moved}) > 0.9 * len(moved)
    assert all(replace(by_name[j.name], submit=j.submit) == j for j in before.jobs)
    other = shaken(generated(), seed=1, number=2, seconds=60)
    assert [j.submit for j in other.jobs] != [j.submit for j in after.jobs]


# --- against the recorded starts -----------------------------------------------------------------------


def recorded(replayed: History, late: float) -> History:
    """The history with the starts of its replay, every second one so many seconds later."""
    first = replay(teams(), replayed).lives.first
    return replace(replayed, started=[None if at is None else at + late * (n % 2) for n, at in enumerate(first)])


@pytest.mark.unwatched
def test_a_history_that_the_policy_made_is_replayed_to_the_second() -> None:
    found = fidelity(replay(teams(), recorded(generated(), 0)))
    assert found is not None
    assert (found.max_error, found.close, found.deviation) == (0, 1, 0)
    assert found.jobs == len(generated().jobs)


@pytest.mark.unwatched
def test_how_far_starts_are_apart() -> None:
    found = fidelity(replay(teams(), recorded(generated(), 100)))
    assert found is not None
    assert [found.p50_error, found.max_error] == pytest.approx([0, 100])
    assert found.mean_error == pytest.approx(100 * (found.jobs // 2) / found.jobs)
    assert found.recorded_mean_wait - found.replayed_mean_wait == pytest.approx(found.mean_error)
    assert found.close == pytest.approx(1 - (found.jobs // 2) / found.jobs)


def test_a_history_without_starts_has_no_fidelity() -> None:
    assert fidelity(replay(policy(), borrowed_and_taken_back())) is None


# --- money ---------------------------------------------------------------------------------------------


def test_the_measures_in_money(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(f"{UNIT}: 3.6\n", encoding="utf-8")
    measures = replay(policy(), borrowed_and_taken_back()).measures
    found = costs(measures, load_prices(path, [UNIT]))
    a, b = found.shares["a"], found.shares["b"]
    assert [a.lost, b.caused_lost] == pytest.approx([0.117, 0.117])
    assert a.busy == pytest.approx(measures.shares[0].busy_instance_seconds / 1000)
    assert found.idle == pytest.approx(found.capacity - a.busy - b.busy)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (f"{UNIT}: -1", f"1:1: {UNIT}: -1 is not a price; 0 or more is allowed"),
        (f"{UNIT}: free", f"1:1: {UNIT}: 'free' is not a price; 0 or more is allowed"),
        ("p5: 1", "1:1: p5: 'p5' is not a SageMaker instance type such as 'ml.g5.xlarge'"),
        ("ml.p5.48xlarge: 1", f" no price for {UNIT}"),
        ("[1]", "1:1: a list is not a mapping"),
    ],
)
def test_what_is_wrong_with_prices_is_told_with_its_place(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        load_prices(path, [UNIT])
    assert str(caught.value) == f"{path}:{message}"


# --- asked together --------------------------------------------------------------------------------------


@pytest.mark.unwatched
def test_progress_is_told_until_all_is_done() -> None:
    told: list[tuple[str, float]] = []
    replayed = ask(
        teams(), generated(), Asked(baselines=True, shakes=2, spreading=Spreading(1)), lambda *step: told.append(step)
    )
    assert [step for step in told if step[1] in (0.2, 0.4, 0.6, 0.8, 1.0)] == [
        ("replay 2 of 5", 0.2),
        ("replay 3 of 5", 0.4),
        ("replay 4 of 5", 0.6),
        ("replay 5 of 5", 0.8),
        ("replay 5 of 5", 1.0),
    ]
    assert len(replayed.baselines) == 3
    assert replayed.shaken is not None
    assert len(replayed.shaken.runs) == 2


# --- generated -------------------------------------------------------------------------------------------


def test_the_example_history_is_what_the_generator_makes() -> None:
    text = (ROOT / "examples" / "history.csv").read_text(encoding="utf-8")
    assert text == history_csv(generate(Shape(jobs=500, days=7), seed=8))
    assert len(example().jobs) == text.count("\n") - 1


def test_generated_workloads_have_the_shape_of_the_traces() -> None:
    jobs = generate(Shape(jobs=20_000, days=90), seed=3)
    small = sorted(j.duration or 0 for j in jobs if j.demand == {UNIT: 1})
    assert 0.90 < len(small) / len(jobs) < 0.96  # 76,627 of 82,247
    assert 900 < small[len(small) // 2] < 1500  # 1,170 s
    assert 6000 < small[len(small) * 9 // 10] < 16_000  # 8,628 s
    gaps = sorted(after.submit - before.submit for before, after in pairwise(jobs))
    assert gaps[len(gaps) * 45 // 100] <= 10  # 55 % follow within ten seconds
    of_research = [j for j in jobs if j.share == "research"]
    assert 0.45 < len(of_research) / len(jobs) < 0.55
    hours = {
        team: sum(j.instances * (j.duration or 0) for j in jobs if j.share == team) for team in ("language", "tests")
    }
    assert hours["language"] > 3 * hours["tests"]


def test_the_same_seed_is_the_same_workload_and_another_is_not() -> None:
    assert generate(seed=5) == generate(seed=5)
    assert generate(seed=5) != generate(seed=6)


# --- the real one ----------------------------------------------------------------------------------------


@pytest.mark.unwatched
def test_a_day_of_philly_under_fifteen_shares() -> None:
    found = read_history(trace("philly_1day.csv"))
    limits = {UNIT: 15, "ml.g5.12xlarge": 5, "ml.g5.48xlarge": 4}
    shares = {
        team: {"capacity_limits": limits, "strategy": "LEND_AND_BORROW", "in_share_preemption": False}
        for team in sorted({j.share for j in found.jobs})
    }
    capacity = {unit: count * len(shares) for unit, count in limits.items()}
    result = replay(policy(service_environment={"capacity_limits": capacity}, shares=shares), found)
    measures = result.measures
    assert (measures.all.jobs, measures.all.never_started, result.fitted.never_run) == (1972, 0, ())
    assert measures.preemptions > 0
    assert all(share.reclaim_seconds is None or share.reclaim_seconds.p95 <= 20 for share in measures.shares)


def test_remarks_of_the_reader_come_before_those_of_the_policy() -> None:
    read = Remark("no duration", None, 3, ("line 2",), is_loss=True)
    given = history([job("x", "a", 0, 5), job("y", "c", 0, 5)], remarks=[read])
    assert [remark.count for remark in ask(policy(), given, Asked()).remarks] == [3, 1]
