"""What a policy promises: numbers, who takes from whom, and the same by trying everything on small queues."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.expectations import Answer
from policy_engine.guarantees import Guarantee, Kind, MostEvicted, Preemption, guarantees, preemptions
from policy_engine.policy import Policy
from policy_engine.running import prove
from policy_engine.scheduler.bounds import Bounds, Rule
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Timing
from tests.oracle.victims import minimal_legal_sets
from tests.oracle.world import Phase, World
from tests.policy_engine.arrivals import Queue

U = "ml.g5.xlarge"
V = "ml.g5.2xlarge"


def share(limit: int, strategy: str, borrow_limit: int | None = None, *, in_share: bool = False) -> dict[str, Any]:
    return {
        "capacity_limits": {U: limit},
        "strategy": strategy,
        "borrow_limit": borrow_limit,
        "in_share_preemption": in_share,
    }


def policy(capacity: int, **shares: dict[str, Any]) -> Policy:
    return Policy.of({"service_environment": {"capacity_limits": {U: capacity}}, "shares": shares})


def of_share(declared: Policy, name: str, choices: Choices | None = None) -> Guarantee:
    return next(g for g in guarantees(declared, choices) if g.share == name)


WALKTHROUGH = policy(
    3,
    QS1=share(1, "LEND_AND_BORROW", 200, in_share=True),
    QS2=share(1, "LEND"),
    QS3=share(1, "RESERVE"),
)


def test_the_walkthrough_in_numbers() -> None:
    assert guarantees(WALKTHROUGH) == (
        Guarantee("QS1", U, 1, 1, 2, 1, 2, Rule.LENDERS, MostEvicted(0, 2), is_contested=False),
        Guarantee("QS2", U, 1, 1, 1, 1, 1, Rule.LIMIT, MostEvicted(2, 0), is_contested=True),
        Guarantee("QS3", U, 1, 1, 1, 0, 1, Rule.LIMIT, MostEvicted(0, 0), is_contested=False),
    )


def test_the_walkthrough_s_preemptions_with_their_reasons() -> None:
    assert preemptions(WALKTHROUGH) == (
        Preemption(
            "QS1",
            "QS1",
            U,
            Kind.IN_SHARE,
            "QS1 has in-share preemption on: a higher priority stops a strictly lower one",
        ),
        Preemption(
            "QS2", "QS1", U, Kind.CROSS_SHARE, f"QS2 lends {U}, and QS1 can reach 2 with a limit of 1"
        ),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "limit", "guaranteed", "reachable", "lendable", "at_risk"),
    [
        pytest.param(policy(10, s=share(4, "RESERVE"), o=share(6, "LEND")), 4, 4, 4, 0, 0, id="reserve"),
        pytest.param(policy(10, s=share(4, "LEND"), o=share(6, "LEND")), 4, 4, 4, 4, 0, id="lend"),
        pytest.param(policy(10, s=share(4, "LEND_AND_BORROW"), o=share(6, "LEND")), 4, 4, 10, 4, 6, id="borrow"),
        pytest.param(policy(10, s=share(4, "LEND_AND_BORROW", 50), o=share(6, "LEND")), 4, 4, 6, 4, 2, id="half more"),
        pytest.param(policy(10, s=share(4, "LEND_AND_BORROW"), o=share(6, "RESERVE")), 4, 4, 4, 4, 0, id="no lender"),
        pytest.param(policy(7, s=share(4, "LEND"), o=share(6, "LEND")), 4, 1, 4, 4, 3, id="over-committed by 3"),
        pytest.param(policy(3, s=share(4, "RESERVE"), o=share(6, "LEND")), 4, 0, 3, 0, 3, id="beyond the environment"),
        pytest.param(policy(20, s=share(4, "LEND_AND_BORROW"), o=share(6, "LEND")), 4, 4, 10, 4, 6, id="unowned"),
    ],
)  # fmt: skip
def test_the_numbers_of_a_share(
    declared: Policy, limit: int, guaranteed: int, reachable: int, lendable: int, at_risk: int
) -> None:
    found = of_share(declared, "s")
    assert (found.limit, found.guaranteed, found.reachable, found.lendable, found.at_risk) == (
        limit,
        guaranteed,
        reachable,
        lendable,
        at_risk,
    )


@pytest.mark.parametrize(
    ("declared", "largest", "rule"),
    [
        (policy(10, s=share(4, "RESERVE"), o=share(6, "LEND")), 4, Rule.LIMIT),
        (policy(10, s=share(2, "LEND_AND_BORROW", 100), o=share(8, "LEND")), 4, Rule.BORROW_LIMIT),
        (policy(10, s=share(4, "LEND_AND_BORROW", 200), o=share(4, "LEND_AND_BORROW", 200)), 8, Rule.LENDERS),
        (policy(10, s=share(4, "LEND_AND_BORROW"), o=share(8, "LEND")), 10, Rule.ENVIRONMENT),
    ],
)
def test_the_largest_job_and_the_rule_that_stops_a_larger_one(declared: Policy, largest: int, rule: Rule) -> None:
    found = of_share(declared, "s")
    assert (found.largest_job, found.larger_jobs) == (largest, rule)
    misfit = Bounds(declared).never_fits("s", {U: largest + 1})
    assert misfit is not None
    assert misfit.rule is rule


@pytest.mark.parametrize(
    ("declared", "across", "within"),
    [
        pytest.param(policy(10, s=share(8, "LEND"), b=share(2, "LEND_AND_BORROW")), 10, 0, id="one large borrower"),
        pytest.param(
            policy(6, s=share(3, "LEND"), **{name: share(1, "LEND_AND_BORROW", 100) for name in "abc"}),
            4,
            0,
            id="two victims of 2, either of which falls short of 3",
        ),
        pytest.param(
            policy(6, s=share(4, "LEND", in_share=True), b=share(2, "LEND_AND_BORROW", 100)), 6, 4, id="own 2 and its 4"
        ),
        pytest.param(policy(6, s=share(4, "RESERVE"), b=share(2, "LEND_AND_BORROW")), 0, 0, id="nothing is lent"),
        pytest.param(policy(6, s=share(4, "LEND"), b=share(2, "LEND")), 0, 0, id="nobody borrows"),
        pytest.param(policy(6, s=share(4, "RESERVE", in_share=True), b=share(2, "LEND")), 0, 4, id="only in-share"),
    ],
)
def test_the_most_that_one_arrival_evicts(declared: Policy, across: int, within: int) -> None:
    most = of_share(declared, "s").most_evicted
    assert (most.across_shares, most.within_share, most.either) == (across, within, max(across, within))


@pytest.mark.parametrize(
    ("declared", "seconds"),
    [
        pytest.param(policy(6, s=share(4, "LEND"), b=share(2, "LEND_AND_BORROW")), 20, id="borrowed by another"),
        pytest.param(policy(6, s=share(4, "LEND"), b=share(2, "LEND")), 0, id="nobody borrows"),
        pytest.param(policy(6, s=share(4, "RESERVE"), b=share(2, "LEND_AND_BORROW")), 0, id="never lent"),
        pytest.param(policy(2, s=share(4, "LEND"), b=share(2, "LEND_AND_BORROW")), 0, id="nothing guaranteed"),
    ],
)
def test_time_to_get_capacity_back(declared: Policy, seconds: float) -> None:
    assert of_share(declared, "s").reclaim_seconds(20) == seconds


def test_a_reserve_share_takes_back_what_is_over_committed() -> None:
    declared = policy(6, s=share(4, "RESERVE"), b=share(2, "LEND_AND_BORROW"), lender=share(2, "LEND"))
    assert [(row.takes_from, row.kind, row.why) for row in preemptions(declared) if row.share == "s"] == [
        (
            "b",
            Kind.CROSS_SHARE,
            "the limits sum to 2 more than the environment holds, and b can reach 4 with a limit of 2",
        )
    ]


def test_instance_types_are_apart() -> None:
    declared = Policy.of(
        {
            "service_environment": {"capacity_limits": {U: 4, V: 4}},
            "shares": {
                "both": share(2, "LEND_AND_BORROW") | {"capacity_limits": {V: 2, U: 2}},
                "one": share(2, "LEND"),
            },
        }
    )
    found = [(g.share, g.unit, g.reachable) for g in guarantees(declared)]
    assert found == [("both", V, 2), ("both", U, 4), ("one", U, 2)]
    assert {(row.share, row.unit) for row in preemptions(declared)} == {("one", U)}


def test_an_undeclared_type_that_may_be_borrowed_is_listed() -> None:
    declared = Policy.of(
        {
            "service_environment": {"capacity_limits": {U: 4, V: 4}},
            "shares": {"b": share(4, "LEND_AND_BORROW"), "o": share(1, "LEND") | {"capacity_limits": {V: 4}}},
        }
    )
    answers = Choices(undeclared_unit="yes")
    assert [(g.unit, g.limit, g.guaranteed, g.reachable) for g in guarantees(declared, answers) if g.share == "b"] == [
        (U, 4, 4, 4),
        (V, 0, 0, 4),
    ]
    assert [(row.share, row.takes_from, row.unit) for row in preemptions(declared, answers)] == [("o", "b", V)]
    assert preemptions(declared) == ()


# --- laws ----------------------------------------------------------------------------------------

shares = st.builds(
    share,
    st.integers(1, 30),
    st.sampled_from(["RESERVE", "LEND"]),
    in_share=st.booleans(),
) | st.builds(
    share,
    st.integers(1, 30),
    st.just("LEND_AND_BORROW"),
    st.sampled_from([None, -1, 0, 10, 50, 100, 350]),
    in_share=st.booleans(),
)
policies = st.builds(
    lambda capacity, listed: policy(capacity, **{f"s{i}": one for i, one in enumerate(listed)}),
    st.integers(1, 120),
    st.lists(shares, min_size=1, max_size=8),
)


@given(policies)
def test_what_is_guaranteed_is_within_reach_and_adds_up(declared: Policy) -> None:
    found = guarantees(declared)
    for g in found:
        assert 0 <= g.guaranteed <= g.reachable == g.largest_job
        assert g.guaranteed <= g.limit
        assert g.at_risk == g.reachable - g.guaranteed >= 0
    assert sum(g.guaranteed for g in found) <= declared.capacity(U)


@given(policies)
def test_the_largest_job_can_run_and_a_larger_one_is_stopped_by_the_rule_named(declared: Policy) -> None:
    bounds = Bounds(declared)
    for g in guarantees(declared):
        assert bounds.never_fits(g.share, {U: g.largest_job}) is None
        misfit = bounds.never_fits(g.share, {U: g.largest_job + 1})
        assert misfit is not None
        assert misfit.rule is g.larger_jobs


@given(policies)
def test_no_arrival_evicts_more_than_there_is_or_without_being_able_to(declared: Policy) -> None:
    rows = preemptions(declared)
    for g in guarantees(declared):
        most = g.most_evicted
        assert most.either <= min(declared.capacity(U), declared.sum_of_limits(U))
        across = {row.takes_from for row in rows if row.share == g.share and row.kind is Kind.CROSS_SHARE}
        assert (most.across_shares > 0) == bool(across)
        assert (most.within_share > 0) == any(row.share == g.share == row.takes_from for row in rows)


# --- against everything that can happen ----------------------------------------------------------


def seeded(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311  chance, not secrets


def small_policy(draw: random.Random) -> Policy:
    """At most 4 shares with limits of at most 6 in all; the environment holds as much, or 3 less to 1 more."""
    while True:
        listed = []
        for _ in range(draw.randint(2, 4)):
            strategy = draw.choice(["RESERVE", "LEND", *["LEND_AND_BORROW"] * 3])
            borrow_limit = draw.choice([None, 0, 50, 100, 100, 200]) if strategy == "LEND_AND_BORROW" else None
            listed.append(share(draw.randint(1, 4), strategy, borrow_limit, in_share=draw.random() < 0.35))
        total = sum(one["capacity_limits"][U] for one in listed)
        if total <= 6:
            capacity = max(1, total + draw.choice([0, 0, 0, 1, -1, -2, -3]))
            return policy(capacity, **{f"s{i}": one for i, one in enumerate(listed)})


def assert_equal_to_everything_that_can_happen(declared: Policy) -> None:
    seen = Queue(declared).look()
    rows = preemptions(declared)
    for g in guarantees(declared):
        what = seen[g.share]
        takes_from = {row.takes_from for row in rows if row.share == g.share and row.kind is Kind.CROSS_SHARE}
        formula = (g.guaranteed, g.reachable, g.largest_job, g.most_evicted, takes_from)
        tried = (
            g.limit if what.blocked is None else what.blocked - 1,
            what.most_used,
            what.largest,
            MostEvicted(what.across_shares, what.within_share),
            what.takes_from,
        )
        assert formula == tried, f"{g.share} of {declared.document()}"


@pytest.mark.parametrize("seed", range(20))
def test_the_formulas_equal_everything_that_can_happen(seed: int) -> None:
    assert_equal_to_everything_that_can_happen(small_policy(seeded(seed)))


@pytest.mark.parametrize(
    ("capacity", "shares"),
    [
        (5, [(2, 50), (3, 100), (1, 0), (2, 50)]),
        (5, [(4, 100), (2, 100), (2, 100)]),
    ],
)
def test_the_formulas_equal_everything_where_borrowers_compete_for_too_little(
    capacity: int, shares: list[tuple[int, int]]
) -> None:
    """Two shares cannot both be over their limits."""
    listed = {f"s{n}": share(limit, "LEND_AND_BORROW", borrow) for n, (limit, borrow) in enumerate(shares)}
    assert_equal_to_everything_that_can_happen(policy(capacity, **listed))


def test_the_formulas_equal_everything_where_several_shares_lose_at_once() -> None:
    declared = policy(
        6,
        s=share(3, "LEND"),
        a=share(1, "LEND_AND_BORROW", 100),
        b=share(1, "LEND_AND_BORROW", 100),
        c=share(1, "LEND_AND_BORROW", 100),
    )
    assert of_share(declared, "s").most_evicted.across_shares == 4
    assert_equal_to_everything_that_can_happen(declared)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1400))
def test_the_formulas_equal_everything_that_can_happen_at_night(seed: int) -> None:
    assert_equal_to_everything_that_can_happen(small_policy(seeded(seed)))


def test_trying_agrees_with_the_slow_scheduler_about_legal_sets() -> None:
    """The search above is a second writing of the rules; here it meets the project's own slow scheduler."""
    draw = seeded(7)
    compared = 0
    while compared < 150:
        declared = small_policy(draw)
        queue = Queue(declared)
        states = sorted(queue.states())
        for state in draw.sample(states, min(10, len(states))):
            index = draw.randrange(len(queue.names))
            count = draw.randint(1, queue.bound[index])
            if queue.fits([sum(jobs) for jobs in state], index, count):
                continue
            running = [
                Job(f"{other}-{at}", queue.names[other], {U: size}, priority=0)
                for other, jobs in enumerate(state)
                for at, size in enumerate(jobs)
            ]
            world = World(
                declared, [*running, Job("in", queue.names[index], {U: count}, priority=1)], Choices(), Timing()
            )
            for job in world.jobs[:-1]:
                job.phase = Phase.DISPATCHED
            world.jobs[-1].phase = Phase.WAITING
            sizes = {job.name: (queue.names.index(job.share), job.instances) for job in running}
            by_world = sorted(
                sorted(sizes[name] for name in names) for names in minimal_legal_sets(world, world.jobs[-1])
            )
            by_trying = sorted(sorted(victims) for victims in queue.minimal_legal_sets(state, index, count))
            assert by_trying == by_world
            compared += bool(by_trying)


# --- against every schedule --------------------------------------------------------------------------


def without_overcommitment(seed: int) -> Policy:
    """A small policy on which every owner's limit is guaranteed."""
    draw = seeded(seed)
    while True:
        declared = small_policy(draw)
        if declared.sum_of_limits(U) <= min(3, declared.capacity(U)):
            return declared


@pytest.mark.parametrize("seed", range(12))
def test_owners_get_their_capacity_back_in_just_that_time(seed: int) -> None:
    """Over every workload of three jobs it is enough, and one second less is not."""
    declared = without_overcommitment(seed)
    sizes = range(1, declared.sum_of_limits(U) + 1)
    longest = max(g.reclaim_seconds(20) for g in guarantees(declared))
    within = {seconds: owners_reclaim(declared, seconds, sizes) for seconds in (longest, longest - 1) if seconds >= 0}
    assert within == {longest: Answer.HOLDS} | ({longest - 1: Answer.FAILS} if longest else {}), declared.document()


def owners_reclaim(declared: Policy, within: float, sizes: range) -> Answer:
    opened = ["share_order", "idle_assignment", "victims", "reclaim_or_in_share"]
    return prove(declared, f"owner_reclaims={within:g}s", jobs=3, sizes=sizes, stop_seconds=20.0, open=opened).verdict


@pytest.mark.parametrize("seed", range(20))
def test_what_a_share_lends_is_what_a_greedy_one_gets_of_it(seed: int) -> None:
    """While all others keep what is theirs, and the share itself is idle."""
    declared = small_policy(seeded(seed))
    for g in guarantees(declared):
        kept = {"strategy": "RESERVE", "borrow_limit": None}
        others = {
            name: other.model_dump() | (kept if name != g.share else {}) for name, other in declared.shares.items()
        }
        total = declared.sum_of_limits(U) + 1
        greedy = policy(total, **others, greedy=share(1, "LEND_AND_BORROW"))
        states = Queue(greedy).states()
        at = list(greedy.shares).index(g.share)
        most = max(sum(state[-1]) for state in states if not state[at])
        assert most == 1 + g.lendable, declared.document()
