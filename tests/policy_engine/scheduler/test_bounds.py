"""R4, R5 and R12 in closed form: golden results 2 of the specification, and the choices they rest on."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policy_engine.policy import Policy, SharingStrategy, State, StuckReason
from policy_engine.scheduler.bounds import Bounds, Rule, percent_of
from policy_engine.scheduler.choices import Choices

U = "ml.g5.xlarge"
V = "ml.g5.2xlarge"

ENVIRONMENT_REASON = (
    "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s) associated with the job queue"
    " cannot meet the capacity requirement of the job."
)
LIMIT_REASON = "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits."
BORROW_REASON = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share capacity limits and"
    " borrow limits."
)
LENDERS_REASON = (
    "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requires borrowing that exceeds all configured"
    " borrowable capacity."
)


def share(strategy: str, borrow_limit: int | None = None, state: str = "ENABLED", /, **limits: int) -> dict[str, Any]:
    units = {"u": U, "v": V}
    return {
        "capacity_limits": {units[key]: count for key, count in limits.items()},
        "strategy": strategy,
        "borrow_limit": borrow_limit,
        "in_share_preemption": False,
        "state": state,
    }


def policy(capacity: dict[str, int], **shares: dict[str, Any]) -> Policy:
    return Policy.of({"service_environment": {"capacity_limits": capacity}, "shares": shares})


@pytest.mark.parametrize(
    ("declared", "count", "rule", "reason", "largest"),
    [
        pytest.param(
            policy({U: 10}, s=share("RESERVE", u=4), rest=share("LEND", u=6)), 5, "R12.2", LIMIT_REASON, 4, id="reserve"
        ),
        pytest.param(
            policy({U: 10}, s=share("LEND", u=4), rest=share("LEND", u=6)), 5, "R12.2", LIMIT_REASON, 4, id="lend"
        ),
        pytest.param(
            policy({U: 10}, s=share("LEND_AND_BORROW", 100, u=2), rest=share("LEND", u=8)),
            5,
            "R12.3",
            BORROW_REASON,
            4,
            id="borrow_limit",
        ),
        pytest.param(
            policy({U: 10}, s=share("LEND_AND_BORROW", 200, u=4), other=share("LEND_AND_BORROW", 200, u=4)),
            10,
            "R12.4",
            LENDERS_REASON,
            8,
            id="lenders",
        ),
        pytest.param(
            policy({U: 10}, s=share("RESERVE", u=4), rest=share("LEND", u=6)),
            12,
            "R12.1",
            ENVIRONMENT_REASON,
            4,
            id="environment",
        ),
        pytest.param(
            policy({U: 10}, s=share("LEND_AND_BORROW", 200, u=4), other=share("LEND", u=8)),
            12,
            "R12.1",
            ENVIRONMENT_REASON,
            10,
            id="environment_before_the_others",
        ),
    ],
)
def test_golden_results_2(declared: Policy, count: int, rule: str, reason: str, largest: int) -> None:
    bounds = Bounds(declared)
    misfit = bounds.never_fits("s", {U: count})
    assert misfit is not None
    assert (misfit.rule, misfit.reason, misfit.largest) == (rule, reason, largest)
    assert misfit.reason.startswith(f"{misfit.code} - ")
    assert bounds.never_fits("s", {U: largest}) is None


def test_code_is_what_a_time_limit_action_names() -> None:
    assert [rule.code for rule in Rule] == [
        StuckReason.SERVICE_ENVIRONMENT_MAX_RESOURCE,
        *[StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED] * 3,
    ]


def test_borrow_limit_comes_before_lenders() -> None:
    bounds = Bounds(policy({U: 10}, s=share("LEND_AND_BORROW", 100, u=1), lender=share("LEND", u=2)))
    misfit = bounds.never_fits("s", {U: 4})
    assert misfit is not None
    assert (misfit.rule, misfit.allowed) == (Rule.BORROW_LIMIT, 2)


def test_a_rule_is_tried_on_every_unit_before_the_next_rule() -> None:
    bounds = Bounds(policy({U: 4, V: 1}, s=share("RESERVE", u=1, v=1)))
    misfit = bounds.never_fits("s", {U: 2, V: 2})
    assert misfit is not None
    assert (misfit.rule, misfit.unit) == (Rule.ENVIRONMENT, V)


def test_units_in_the_order_of_the_job() -> None:
    bounds = Bounds(policy({U: 4, V: 4}, s=share("RESERVE", u=1, v=1)))
    misfit = bounds.never_fits("s", {V: 2, U: 2})
    assert misfit is not None
    assert (misfit.unit, misfit.count) == (V, 2)


def test_a_unit_the_environment_has_not_got_has_capacity_zero() -> None:
    misfit = Bounds(policy({U: 4}, s=share("RESERVE", v=4))).never_fits("s", {V: 1})
    assert misfit is not None
    assert (misfit.rule, misfit.allowed, misfit.largest) == (Rule.ENVIRONMENT, 0, 0)


@pytest.mark.parametrize(
    ("strategy", "borrow_limit", "undeclared_unit", "rule", "bound"),
    [
        ("LEND_AND_BORROW", None, "no", "R12.3", 0),
        ("LEND_AND_BORROW", -1, "no", "R12.3", 0),
        ("LEND_AND_BORROW", 500, "no", "R12.3", 0),
        ("LEND_AND_BORROW", -1, "yes", None, 4),
        ("LEND_AND_BORROW", 500, "yes", "R12.3", 0),
        ("LEND", None, "yes", "R12.2", 0),
        ("RESERVE", None, "no", "R12.2", 0),
    ],
)
def test_a_unit_the_share_does_not_declare(
    strategy: str, borrow_limit: int | None, undeclared_unit: str, rule: str | None, bound: int
) -> None:
    declared = policy({U: 4, V: 4}, s=share(strategy, borrow_limit, u=1), lender=share("LEND", v=4))
    bounds = Bounds(declared, Choices(undeclared_unit=undeclared_unit))
    misfit = bounds.never_fits("s", {V: 1})
    assert (misfit.rule if misfit else None, bounds.bound("s", V)) == (rule, bound)


@pytest.mark.parametrize(("answer", "lends", "bound"), [("yes", True, 4), ("no", False, 1)])
def test_a_disabled_share_lends_as_c12_says(answer: str, lends: bool, bound: int) -> None:
    declared = policy({U: 4}, s=share("LEND_AND_BORROW", -1, u=1), off=share("LEND", None, "DISABLED", u=3))
    bounds = Bounds(declared, Choices(disabled_share_lends=answer))
    assert (bounds.lends("off"), bounds.bound("s", U)) == (lends, bound)


def test_reserve_never_lends() -> None:
    bounds = Bounds(policy({U: 4}, s=share("LEND_AND_BORROW", -1, u=1), keeps=share("RESERVE", u=3)))
    assert (bounds.lends("keeps"), bounds.lenders_limits("s", U), bounds.bound("s", U)) == (False, 0, 1)


@pytest.mark.parametrize(
    ("percent", "limit", "down", "nearest", "up"),
    [
        (50, 1, 0, 1, 1),
        (49, 1, 0, 0, 1),
        (150, 3, 4, 5, 5),
        (100, 7, 7, 7, 7),
        (0, 7, 0, 0, 0),
        (1, 1_000_001, 10_000, 10_000, 10_001),
    ],
)
def test_rounding_of_a_percentage(percent: int, limit: int, down: int, nearest: int, up: int) -> None:
    assert [percent_of(percent, limit, way) for way in ("down", "nearest", "up")] == [down, nearest, up]


def test_rounding_that_is_no_answer_to_c7() -> None:
    with pytest.raises(ValueError, match="'even' is not one of down, up, nearest"):
        percent_of(50, 1, "even")


@pytest.mark.parametrize(("rounding", "bound"), [("down", 1), ("up", 2), ("nearest", 2)])
def test_bound_rounds_as_c7_says(rounding: str, bound: int) -> None:
    declared = policy({U: 4}, s=share("LEND_AND_BORROW", 50, u=1), lender=share("LEND", u=3))
    assert Bounds(declared, Choices(borrow_rounding=rounding)).bound("s", U) == bound


@pytest.mark.parametrize("unallocated", ["unusable", "borrowable"])
def test_unallocated_capacity_moves_no_bound(unallocated: str) -> None:
    declared = policy({U: 10}, s=share("LEND_AND_BORROW", -1, u=2), lender=share("LEND", u=2))
    assert Bounds(declared, Choices(unallocated=unallocated)).reachable("s", U) == 4


def test_allowances_name_every_rule_that_limits() -> None:
    bounds = Bounds(policy({U: 10}, s=share("LEND_AND_BORROW", -1, u=2), lender=share("LEND", u=3)))
    assert dict(bounds.allowances("s", U)) == {Rule.ENVIRONMENT: 10, Rule.LENDERS: 5}
    assert dict(bounds.allowances("lender", U)) == {Rule.ENVIRONMENT: 10, Rule.LIMIT: 3}


shares = st.fixed_dictionaries(
    {
        "capacity_limits": st.dictionaries(st.sampled_from([U, V]), st.integers(1, 9), min_size=1),
        "in_share_preemption": st.just(False),
        "state": st.sampled_from(State),
    }
).flatmap(
    lambda fixed: st.one_of(
        st.sampled_from([SharingStrategy.RESERVE, SharingStrategy.LEND]).map(lambda s: {**fixed, "strategy": s}),
        st.integers(-1, 350).map(
            lambda limit: {**fixed, "strategy": SharingStrategy.LEND_AND_BORROW, "borrow_limit": limit}
        ),
    )
)
policies = st.builds(
    lambda capacity, declared: Policy.of(
        {
            "service_environment": {"capacity_limits": capacity},
            "shares": {f"s{i}": one for i, one in enumerate(declared)},
        }
    ),
    st.dictionaries(st.sampled_from([U, V]), st.integers(1, 20), min_size=1),
    st.lists(shares, min_size=1, max_size=5),
)
choices = st.builds(
    Choices,
    borrow_rounding=st.sampled_from(["down", "up", "nearest"]),
    disabled_share_lends=st.sampled_from(["yes", "no"]),
    undeclared_unit=st.sampled_from(["yes", "no"]),
)


@given(policies, choices)
def test_the_largest_job_fits_and_one_more_never_does(declared: Policy, answers: Choices) -> None:
    bounds = Bounds(declared, answers)
    for name in declared.shares:
        for unit in (U, V):
            reachable = bounds.reachable(name, unit)
            assert bounds.never_fits(name, {unit: reachable}) is None
            misfit = bounds.never_fits(name, {unit: reachable + 1})
            assert misfit is not None
            assert (misfit.largest, misfit.count) == (reachable, reachable + 1)
            assert misfit.allowed >= reachable


@given(policies, choices)
def test_the_bound_is_the_least_that_a_rule_of_the_share_allows(declared: Policy, answers: Choices) -> None:
    bounds = Bounds(declared, answers)
    for name in declared.shares:
        for unit in (U, V):
            of_share = [allowed for rule, allowed in bounds.allowances(name, unit) if rule is not Rule.ENVIRONMENT]
            assert bounds.bound(name, unit) == min(of_share)
            assert declared.shares[name].limit(unit) <= bounds.bound(name, unit) <= declared.sum_of_limits(unit)


@given(policies, choices)
def test_c_prime_never_binds_beyond_the_capacity(declared: Policy, answers: Choices) -> None:
    bounds = Bounds(declared, answers)
    for name in declared.shares:
        for unit in (U, V):
            c_prime = min(declared.capacity(unit), declared.sum_of_limits(unit))
            assert bounds.reachable(name, unit) == min(c_prime, bounds.bound(name, unit))
