"""Suggestions: the smallest there are where all can be looked at, and honest where there is none."""

from itertools import product
from math import inf

import pytest

from policy_engine import Goals, Spreading, Suggestion, suggest
from policy_engine.errors import InputError
from policy_engine.policy import UNLIMITED
from policy_engine.replaying import ReplayOptions, replay
from policy_engine.replaying.outcome import Outcome
from policy_engine.replaying.sweeping import replays
from policy_engine.suggesting import Point, Space
from policy_engine.suggesting.judging import LOST_WORK, judge
from policy_engine.suggesting.space import divided
from policy_engine.workload.generator import SMALL, Shape, Size, Team, generate
from policy_engine.workload.history import History
from tests.policy_engine.replaying.cases import history, job

pytestmark = pytest.mark.unwatched
HERE = Spreading(1)
BIG = "ml.g5.48xlarge"
TEAMS = tuple(
    Team(name, weight, (Size(SMALL, 1, 8), Size(SMALL, 2, 2)), median, session=session)
    for name, weight, median, session in (("a", 5, 2000, 6), ("b", 3, 4000, 3), ("c", 2, 9000, 2))
)


def jobs_of(seed: int) -> History:
    """Two days of three teams."""
    return history(generate(Shape(jobs=60, days=2, teams=TEAMS), seed))


def smallest(found: History, goals: Goals, most: int) -> int | None:
    """The fewest instances that meet the goals, of all ways to divide them and some to borrow."""
    borrows = [(UNLIMITED,) * 3, (0,) * 3, (100,) * 3, (-1, 0, 0), (0, -1, 0), (0, 0, -1)]
    space = Space.of(found, {SMALL: most})
    with replays({"": found}, ReplayOptions(), spreading=HERE) as run:
        for total in range(3, most + 1):
            for limits in product(range(1, most), repeat=3):
                if sum(limits) == total:
                    points = [Point(tuple((limit,) for limit in limits), borrow) for borrow in borrows]
                    made = run([(space.policy(point), "", 0) for point in points], None)
                    for point, outcome in zip(points, made, strict=True):
                        assert isinstance(outcome, Outcome)
                        if judge(space, goals, point, outcome).is_met:
                            return total
    return None


@pytest.mark.parametrize(("seed", "hours", "lost"), [(5, 1, None), (5, 0.5, 1), (6, 2, 3)])
def test_no_smaller_answer_exists_where_all_can_be_looked_at(seed: int, hours: float, lost: float | None) -> None:
    found = jobs_of(seed)
    goals = Goals({"*": hours * 3600}, lost)
    answer = suggest(found, {SMALL: 10}, goals, spreading=HERE)
    assert (answer.answer.point.instances if answer.is_met else None) == smallest(found, goals, 10)


@pytest.fixture(scope="module")
def found() -> Suggestion:
    """One that meets its goals."""
    return suggest(jobs_of(6), {SMALL: 12}, Goals({"a": 1800.0, "*": 7200.0}, 10), shakes=2, spreading=HERE)


def test_what_is_said_of_the_answer_is_what_its_policy_does(found: Suggestion) -> None:
    assert found.is_met
    measures = replay(found.policy, found.history).measures
    p95 = {share.name: share.jobs.wait_seconds.p95 for share in measures.shares if share.jobs.wait_seconds}
    assert found.answer.score.waits == p95
    assert p95["a"] <= 1800
    assert max(p95["b"], p95["c"]) <= 7200
    assert found.answer.score.lost_hours == measures.lost.instance_seconds / 3600 <= 10
    assert found.policy.sum_of_limits(SMALL) == found.answer.point.instances
    assert dict(found.policy.service_environment.capacity_limits) == {SMALL: 12}


def test_no_limit_and_no_borrow_limit_of_the_answer_can_be_cut_alone(found: Suggestion) -> None:
    space, point = found.space, found.answer.point
    cuts = [point.with_limit(team, unit, point.limits[team][unit] - 1) for team, unit in space.cells]
    cuts = [cut for cut in cuts if all(sum(limits) for limits in cut.limits)]
    cuts += [point.with_borrow(team, percent - 5) for team, percent in enumerate(point.borrow) if percent]
    assert len(cuts) > 2
    for cut in cuts:
        result = replay(space.policy(cut), found.history)
        outcome = Outcome(result.measures, len(result.fitted.never_run), 0)
        assert not judge(space, found.goals, cut, outcome).is_met, cut


def test_the_frontier_goes_from_few_to_many_and_holds_the_answer(found: Suggestion) -> None:
    points = found.frontier
    assert found.answer in points
    assert len(points) > 3
    assert [one.point.instances for one in points] == sorted({one.point.instances for one in points})
    parts = [one.score.worst[1] for one in points]
    assert parts == sorted(parts, reverse=True)
    before = points[: points.index(found.answer)]
    assert before
    assert not any(one.is_met for one in before)


def test_it_is_the_same_from_two_processes(found: Suggestion) -> None:
    again = suggest(jobs_of(6), {SMALL: 12}, Goals({"a": 1800.0, "*": 7200.0}, 10), shakes=2, spreading=Spreading(2))
    assert (again.policy, again.frontier, again.copies, again.replays) == (
        found.policy,
        found.frontier,
        found.copies,
        found.replays,
    )


def test_the_copies_are_replays_of_perturbed_histories(found: Suggestion) -> None:
    assert len(found.copies) == 2
    assert all(copy.point == found.answer.point for copy in found.copies)
    assert len({copy.outcome and copy.outcome.measures for copy in (*found.copies, found.answer)}) == 3


# --- where there is no answer --------------------------------------------------------------------------


def test_a_team_that_would_wait_alone_too_is_told() -> None:
    jobs = history([*(job(f"a{n}", "a", 0, 3600) for n in range(8)), job("b", "b", 0, 60)])
    found = suggest(jobs, {SMALL: 4}, Goals({"*": 600.0}), spreading=HERE)
    assert not found.is_met
    assert found.answer.score.missed == ("a",)
    assert found.alone == {"a": 3600}


def test_goals_that_exclude_each_other_are_missed_by_nobody_alone() -> None:
    jobs = history([*(job(f"a{n}", "a", 0, 3600) for n in range(4)), *(job(f"b{n}", "b", 1, 3600) for n in range(4))])
    found = suggest(jobs, {SMALL: 5}, Goals({"*": 600.0}), spreading=HERE)
    assert not found.is_met
    assert found.alone == {}
    assert found.answer.point.instances <= 5


def test_lost_work_is_bought_off_by_borrowing_less() -> None:
    jobs = history([*(job(f"a{n}", "a", n, 36_000) for n in range(4)), job("b", "b", 18_000, 600)])
    free = suggest(jobs, {SMALL: 4}, Goals({"b": 60.0}), spreading=HERE)
    assert free.is_met
    bound = suggest(jobs, {SMALL: 4}, Goals({"b": 60.0}, lost_hours=0.0), spreading=HERE)
    assert bound.is_met
    assert bound.answer.score.lost_hours == 0
    assert dict(bound.answer.score.parts)[LOST_WORK] == 0


def test_a_search_ends_with_its_replays_and_says_so() -> None:
    found = suggest(jobs_of(6), {SMALL: 12}, Goals({"*": 7200.0}), most_replays=20, spreading=HERE)
    assert (found.replays, found.is_spent) == (20, True)
    longer = suggest(jobs_of(6), {SMALL: 12}, Goals({"*": 7200.0}), spreading=HERE)
    assert not longer.is_spent
    assert longer.answer.point.instances <= found.answer.point.instances


def test_progress_is_told() -> None:
    told: list[tuple[str, float]] = []
    jobs = history([job("x", "a", 0, 60)])
    suggest(jobs, {SMALL: 2}, spreading=HERE, progress=lambda what, done: told.append((what, done)))
    assert told[0] == ("how many instances: replay 1", 1 / 300)
    assert [done for _, done in told] == sorted(done for _, done in told)


# --- what is looked at -----------------------------------------------------------------------------------


def test_the_cheapest_is_looked_for_where_there_are_prices() -> None:
    jobs = history([job(f"{unit}{n}", "a", n, 3600, unit=unit) for n in range(6) for unit in (SMALL, BIG)])
    found = suggest(jobs, {SMALL: 6, BIG: 6}, Goals({"*": 3600.0}), prices={SMALL: 1.0, BIG: 10.0}, spreading=HERE)
    assert found.is_met
    small, big = found.answer.point.limits[0]
    assert found.space.price(found.answer.point) == small + 10 * big
    assert big <= small


def test_jobs_larger_than_the_environment_stand_in_nobodys_way() -> None:
    jobs = history([job("huge", "a", 0, 60, count=9), job("x", "a", 1, 60), job("two", "b", 2, 60, count=2)])
    found = suggest(jobs, {SMALL: 4}, spreading=HERE)
    assert found.is_met
    assert found.space.too_large == 1
    assert found.answer.point.instances == 2  # the two of b run on a's and its own


def test_types_that_the_environment_has_not_got_are_left_out() -> None:
    jobs = history([job("x", "a", 0, 60), job("y", "b", 1, 60, unit="ml.p5.48xlarge")])
    found = suggest(jobs, {SMALL: 2, BIG: 3}, spreading=HERE)
    assert (found.space.teams, found.space.units) == (("a",), (SMALL,))
    assert dict(found.policy.shares["a"].capacity_limits) == {SMALL: 1}


@pytest.mark.parametrize(
    ("jobs", "environment", "goals", "message"),
    [
        ([job("x", "a", 0, 60)], {BIG: 1}, None, "no job asks for an instance type of the environment; they ask for"),
        ([job(f"x{n}", f"t{n}", 0, 60) for n in range(21)], {SMALL: 40}, None, "21 teams; a queue has at most 20"),
        ([job("x", "a b", 0, 60)], {SMALL: 1}, None, "give the team another name with 'teams' in --map"),
        ([job(n, n, 0, 60) for n in "abc"], {SMALL: 2}, None, "3 teams use ml.g5.xlarge, and the environment has 2"),
        (
            [job("x", "a", 0, 60)],
            {SMALL: 1},
            Goals({"z": 1.0}),
            "no team 'z' has jobs for the environment; there are a",
        ),
    ],
)
def test_what_cannot_be_searched_is_an_error(
    jobs: list[object], environment: dict[str, int], goals: Goals | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        suggest(history(jobs), environment, goals, spreading=HERE)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("total", "weights", "parts"),
    [
        (10, [1, 1], [5, 5]),
        (3, [5, 0, 0], [1, 1, 1]),
        (7, [9, 1, 0], [5, 1, 1]),
        (4, [0, 0], [2, 2]),
        (11, [2, 1, 1], [5, 3, 3]),
    ],
)
def test_instances_are_divided_by_work_one_at_least(total: int, weights: list[float], parts: list[int]) -> None:
    assert divided(total, weights) == parts


def test_a_replay_without_an_end_meets_nothing() -> None:
    space = Space.of(jobs_of(5), {SMALL: 10})
    found = judge(space, Goals(), space.scaled(0), None)
    assert set(found.score.waits.values()) == {inf}
    assert (found.is_met, found.mean_wait) == (False, inf)
