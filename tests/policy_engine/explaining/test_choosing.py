"""How victims were chosen: the order of C8, the excess at that moment, what decided, what pruning put back."""

from __future__ import annotations

import pytest

from policy_engine.explaining import Fate, Selection, What, explain
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing, Workload
from policy_engine.scheduler.log import Why
from policy_engine.scheduler.script import Decision, Script
from policy_engine.simulation import simulate
from tests.policy_engine.explaining.setups import Setup, U, V, job, policy, share

STOPPED, PUT_BACK, SPARED, WITHIN = Fate.STOPPED, Fate.PUT_BACK, Fate.SPARED, Fate.WITHIN_LIMIT


def selection(setup: Setup) -> Selection:
    [chapter] = [chapter for chapter in setup.explain().chapters if chapter.what is What.STOPS_OTHERS]
    assert chapter.selection is not None
    return chapter.selection


def fates(found: Selection) -> list[tuple[str, Fate]]:
    return [(candidate.job, candidate.fate) for candidate in found.candidates]


def borrowers(victims: str = "borrowed_first", count: int = 1) -> Setup:
    """An owner of ``count`` comes; t has borrowed 3 of 4 for these jobs."""
    return Setup(
        policy(4, s=share(3, "LEND"), t=share(1)),
        (
            job("one", "t", 1, 5, submit=0.0),
            job("two", "t", 2, 4, submit=1.0),
            job("late", "t", 1, 5, submit=2.0),
            job("x", "s", count, submit=10),
        ),
        at=10,
        choices=Choices(victims=victims),
    )


# --- who came before whom, and why -------------------------------------------------------------------

ORDERS: dict[str, tuple[Setup, str, str]] = {
    "borrowed_first": (borrowers(), "two", "its priority is lower than that of late: 4 to 5"),
    "lowest_priority": (borrowers("lowest_priority"), "two", "its priority is lower than that of late: 4 to 5"),
    "newest": (borrowers("newest"), "late", "it started later than two: 2s to 1s"),
    "oldest": (borrowers("oldest"), "one", "it started earlier than two: 0s to 1s"),
    "largest": (borrowers("largest"), "two", "it is larger than late: 2 to 1 instances"),
    "fewest_jobs": (borrowers("fewest_jobs", 2), "two", "its priority is lower than that of late: 4 to 5"),
    "a job that fits into what its share borrows": (
        Setup(
            policy(4, s=share(2, "LEND"), t=share(2)),
            (job("large", "t", 3, 0), job("small", "t", 1, 9), job("x", "s", submit=10)),
            at=10,
        ),
        "small",
        "it fits into what its share borrows, large does not",
    ),
    "a later start": (
        Setup(
            policy(2, s=share(1, "LEND"), t=share(1)),
            (job("a", "t"), job("b", "t", submit=5), job("x", "s", submit=10)),
            at=10,
        ),
        "b",
        "it started later than a: 5s to 0s",
    ),
    "a later place in the file": (
        Setup(
            policy(2, s=share(1, "LEND"), t=share(1)), (job("a", "t"), job("b", "t"), job("x", "s", submit=10)), at=10
        ),
        "b",
        "it is given after a",
    ),
}


@pytest.mark.parametrize(("setup", "first", "before"), ORDERS.values(), ids=ORDERS)
def test_what_put_one_before_the_other(setup: Setup, first: str, before: str) -> None:
    found = selection(setup)
    assert (found.candidates[0].job, found.candidates[0].before) == (first, before)
    assert found.order == setup.choices.victims
    assert (found.kind, found.claimant, found.share) == (Why.CROSS_SHARE, "x", "s")


def test_a_later_submission_comes_before_an_earlier_one() -> None:
    # both wait for f, and start together when it ends
    setup = Setup(
        policy(4, s=share(2, "LEND"), t=share(1), w=share(1)),
        (
            job("f", "s", 2, duration=9),
            job("g", "t", 1, duration=9),
            job("h", "w", 1, duration=9),
            job("a", "t", 2, submit=1),
            job("b", "w", 2, submit=2),
            job("x", "s", submit=10),
        ),
        at=10,
    )
    assert selection(setup).candidates[0].before == "it was submitted later than a: 2s to 1s"


# --- the walk -----------------------------------------------------------------------------------------


def test_the_excess_is_reckoned_anew_after_each() -> None:
    found = selection(borrowers(count=3))
    assert fates(found) == [("two", STOPPED), ("late", STOPPED), ("one", WITHIN)]
    assert [candidate.excess for candidate in found.candidates] == [{U: 3}, {U: 1}, {U: 0}]
    assert (found.needed, found.room, found.unit) == (3, 0, U)


def test_what_pruning_puts_back_is_told() -> None:
    # small goes first by its priority; large alone makes the room, so small is put back
    setup = Setup(
        policy(4, s=share(3, "LEND"), t=share(1)),
        (job("small", "t", 1, 0), job("large", "t", 3, 5), job("x", "s", 2, submit=10)),
        at=10,
    )
    found = selection(setup)
    assert fates(found) == [("small", PUT_BACK), ("large", STOPPED)]
    assert [candidate.excess for candidate in found.candidates] == [{U: 3}, {U: 2}]
    assert found.victims == ("large",)
    assert found.rests_on == ("victims",)


def test_those_whose_turn_did_not_come_are_told() -> None:
    found = selection(borrowers())
    assert fates(found) == [("two", STOPPED), ("late", SPARED), ("one", SPARED)]
    # after two, t borrows 1 still
    assert [candidate.excess for candidate in found.candidates] == [{U: 3}, {U: 1}, {U: 1}]


def test_where_the_walk_ends_without_a_set_the_search_goes_on() -> None:
    # first would end what t has above its limit and free 2; only the other two free 3
    setup = Setup(
        policy(3, s=share(2), t=share(3, "LEND")),
        (
            job("first", "t", 2, 0, started=-20.0),
            job("second", "t", 1, 1, started=-20.0),
            job("third", "t", 2, 2, started=-20.0),
            job("x", "s"),
        ),
    )
    found = selection(setup)
    assert found.went_on
    assert fates(found) == [("second", STOPPED), ("third", STOPPED), ("first", WITHIN)]
    assert not selection(borrowers()).went_on


def test_the_only_candidate_leaves_nothing_open() -> None:
    setup = Setup(policy(2, s=share(1, "LEND"), t=share(1)), (job("b", "t", 2), job("x", "s", submit=10)), at=10)
    found = selection(setup)
    assert (fates(found), found.rests_on) == ([("b", STOPPED)], ())
    assert found.message == (
        f"b is stopped for x (cross-share, R7: s uses 0 {U} of its limit 1 and takes back what is lent): it needs 1 {U}"
        " and there are 0 for it"
    )
    assert found.aws_reason == "Cross-share preemption triggered to reclaim borrowed capacity"


# --- kinds --------------------------------------------------------------------------------------------


def test_in_share() -> None:
    setup = Setup(
        policy(3, s=share(3, "LEND", on=True)),
        (job("low", "s", 1, 1), job("mid", "s", 2, 2), job("x", "s", 1, 3, submit=10)),
        at=10,
    )
    found = selection(setup)
    assert (found.kind, fates(found)) == (Why.IN_SHARE, [("low", STOPPED), ("mid", SPARED)])
    assert [candidate.excess for candidate in found.candidates] == [{}, {}]
    assert found.candidates[0].before == "its priority is lower than that of mid: 1 to 2"
    assert "in-share, R8: priority 3 is higher than theirs" in found.message
    assert found.aws_reason is None


def test_both_kinds() -> None:
    setup = Setup(
        policy(3, s=share(2, on=True), t=share(1)),
        (job("low", "s", 1, 1), job("b", "t", 2), job("x", "s", 2, 3, submit=10)),
        at=10,
    )
    found = selection(setup)
    assert (found.kind, fates(found)) == (None, [("b", STOPPED), ("low", STOPPED)])
    assert found.candidates[0].before == "it is of another share, low of its own"
    assert found.message.startswith("b and low are stopped for x (both kinds, R7 and R8: ")


def test_a_job_that_could_use_either_kind_rests_on_c9() -> None:
    jobs = (job("low", "s"), job("b1", "t"), job("b2", "t"), job("x", "s", 1, 3, submit=10))
    reclaims = Setup(policy(3, s=share(2, on=True), t=share(1)), jobs, at=10)
    assert (selection(reclaims).kind, selection(reclaims).rests_on) == (
        Why.CROSS_SHARE,
        ("victims", "reclaim_or_in_share"),
    )
    other = Setup(reclaims.policy, jobs, at=10, choices=Choices(reclaim_or_in_share="in_share_first"))
    assert (selection(other).kind, selection(other).rests_on) == (Why.IN_SHARE, ("reclaim_or_in_share",))


def test_a_job_larger_than_its_limit_rests_on_c10() -> None:
    setup = Setup(
        policy(4, s=share(1), t=share(1), w=share(2, "LEND")),
        (job("a", "t"), job("b", "t"), job("c", "t"), job("x", "s", 2, submit=10)),
        at=10,
        choices=Choices(partly_borrowed="yes"),
    )
    assert selection(setup).rests_on == ("victims", "partly_borrowed")


def test_of_several_instance_types_the_excess_is_told_by_type() -> None:
    both = {U: 1, V: 1}
    setup = Setup(
        policy({U: 2, V: 2}, s=share(both, "LEND"), t=share(both)),
        (job("b", "t", {U: 2, V: 2}), job("x", "s", both, submit=10)),
        at=10,
    )
    [candidate] = selection(setup).candidates
    assert (candidate.excess, candidate.instances) == ({U: 1, V: 1}, {U: 2, V: 2})


# --- the victim's side --------------------------------------------------------------------------------


def test_the_victim_is_told_by_whom_and_why_it() -> None:
    setup = borrowers()
    explanation = Setup(setup.policy, setup.jobs, 10, "two").explain()
    [preempted] = [chapter for chapter in explanation.chapters if chapter.what is What.PREEMPTED]
    assert preempted.message.startswith("two is stopped for x (cross-share, R7: ")
    assert preempted.message.endswith(
        "; of the candidates in the order of borrowed_first, its priority is lower than that of late: 4 to 5"
    )
    # as a job of 2 it is larger than t's limit, and takes nothing back itself
    assert explanation.rests_on == ("victims", "partly_borrowed")


def test_a_stop_that_takes_time_is_told_while_it_lasts() -> None:
    setup = borrowers()
    during = Setup(setup.policy, setup.jobs, 15, "two", timing=Timing(stop_seconds=20)).explain()
    assert [chapter.what for chapter in during.chapters] == [What.PREEMPTED, What.STOPS]
    assert during.last.message == "is being stopped, which takes 20s"
    assert (during.last.at, during.last.until) == (10, 30)
    after = Setup(setup.policy, setup.jobs, 40, "two", timing=Timing(stop_seconds=20)).explain()
    assert [chapter.what for chapter in after.chapters] == [What.PREEMPTED, What.STOPS, What.REQUEUED, What.WAITS]
    assert after.chapters[2].message == "is RUNNABLE again; 29s of its work is lost"


def test_a_move_that_the_scenario_fixes_is_no_rules() -> None:
    setup = borrowers()
    workload = Workload(setup.jobs, until=100)

    def script() -> Script:
        return Script([Decision(10, "x", ("one",))], setup.jobs)

    run = simulate(setup.policy, workload, chooser=script())
    explanation = explain(run, "one", chooser=script())
    [chosen] = [chapter.selection for chapter in explanation.chapters if chapter.selection is not None]
    assert (chosen.order, chosen.victims, chosen.rests_on) == ("decisions", ("one",), ())
    assert all(candidate.before is None for candidate in chosen.candidates)
