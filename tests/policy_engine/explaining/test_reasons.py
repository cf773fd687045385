"""Every reason that can be given: small scenarios, each with the rule that stands in the way and its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from policy_engine.explaining import MEANINGS, About, Because, Chapter, Explanation, What
from policy_engine.policy import Policy
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Timing, UpdatePriority, UpdateServiceEnvironment, UpdateShare
from tests.policy_engine.explaining.setups import Setup, U, V, job, policy, share


@dataclass(frozen=True)
class Waits:
    """What is expected of an explanation of a wait."""

    because: Because
    numbers: Mapping[str, float] = field(default_factory=dict)
    told: str = ""
    """A part of the message."""
    rule: str = ""
    rests_on: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    across: Because | None = None
    in_share: Because | None = None


OWNER = share(2, "LEND")
IDLE = share(1, "LEND")

WAITS: dict[str, tuple[Setup, Waits]] = {
    "the decision is yet to come": (
        Setup(policy(1, s=share(1)), (job("x", "s", submit=10),), at=12, timing=Timing(queue_latency=5)),
        Waits(
            Because.DECISION_PENDING,
            {"decision_at": 15, "queue_latency": 5},
            "the decision comes at 15s: queue_latency is 5s",
        ),
    ),
    "its victims are being stopped": (
        Setup(
            policy(2, s=share(1, "LEND"), t=share(1)),
            (job("b1", "t"), job("b2", "t"), job("x", "s", submit=10)),
            at=15,
            timing=Timing(stop_seconds=20),
        ),
        Waits(
            Because.ITS_VICTIMS_STOP,
            {"until": 30},
            "b2 is being stopped for it until 30s",
            "C14",
            ("stop_seconds",),
            ("b2",),
        ),
    ),
    "the environment is DISABLED": (
        Setup(
            policy(1, s=share(1)),
            (job("x", "s", submit=20),),
            at=30,
            updates=(UpdateServiceEnvironment(10, state="DISABLED"),),
        ),
        Waits(
            Because.ENVIRONMENT_DISABLED,
            {"since": 10},
            "the service environment is DISABLED since 10s and dispatches nothing",
            "R14",
        ),
    ),
    "the environment is DISABLED when its victims have stopped": (
        Setup(
            policy(2, s=share(1, "LEND"), t=share(1)),
            (job("b1", "t"), job("b2", "t"), job("x", "s", submit=10)),
            at=40,
            timing=Timing(stop_seconds=20),
            updates=(UpdateServiceEnvironment(25, state="DISABLED"),),
        ),
        Waits(Because.ENVIRONMENT_DISABLED, {"since": 25}),
    ),
    "behind a higher priority": (
        Setup(policy(1, s=share(1, "LEND")), (job("h", "s", 1, 3), job("x", "s", 1, 1), job("r", "s", 1, 9))),
        Waits(
            Because.NOT_FIRST,
            {"place": 2, "before": 1, "priority": 1, "first_priority": 3},
            "1 job of s is before it in line; h, which is first, has the higher priority, 3 to 1",
            "R2",
            ("head_of_line",),
            ("h",),
        ),
    ),
    "behind an equal priority": (
        Setup(policy(1, s=share(1, "LEND")), (job("r", "s"), job("h", "s"), job("i", "s"), job("x", "s"))),
        Waits(
            Because.NOT_FIRST,
            {"place": 3, "before": 2, "priority": 0, "first_priority": 0},
            "2 jobs of s are before it in line; h, which is first, has the same priority, 0, and stands before it",
            rests_on=("equal_priority", "head_of_line"),
            jobs=("h",),
        ),
    ),
    "behind a job that was preempted and kept its place": (
        Setup(
            policy(2, s=share(1), t=share(1, "LEND")),
            (job("r", "s", 1, 9), job("h", "s"), job("o", "t", submit=10), job("x", "s", submit=5)),
            at=10,
        ),
        Waits(Because.NOT_FIRST, rests_on=("requeue", "equal_priority", "head_of_line"), jobs=("h",)),
    ),
    "behind a job of the same instance type (C5 per_unit)": (
        Setup(
            policy({U: 1, V: 1}, s=share({U: 1, V: 1}, "LEND")),
            (job("r", "s", {V: 1}), job("h", "s", {U: 1, V: 1}), job("x", "s", {U: 1})),
            choices=Choices(head_of_line="per_unit"),
        ),
        Waits(
            Because.NOT_FIRST,
            {"place": 2},
            f"h, which is first for {U}, has the same priority",
            "R2",
            ("equal_priority", "head_of_line"),
            ("h",),
        ),
    ),
    "larger than the environment": (
        Setup(policy(3, s=share(4)), (job("x", "s", 4),)),
        Waits(
            Because.NEVER_FITS,
            {"count": 4, "allowed": 3, "largest": 3},
            f"asks for 4 {U}; R12.1 allows 3, and the largest job of s that can run has 3",
            "R12.1",
        ),
    ),
    "larger than the limit": (
        Setup(policy(4, s=share(2, "RESERVE"), t=share(2)), (job("x", "s", 3),)),
        Waits(Because.NEVER_FITS, {"count": 3, "allowed": 2, "largest": 2}, rule="R12.2"),
    ),
    "larger than limit and borrow limit": (
        Setup(policy(9, s=share(3, borrow=50), t=share(6, "LEND")), (job("x", "s", 5),)),
        Waits(
            Because.NEVER_FITS,
            {"count": 5, "allowed": 4, "largest": 4},
            rule="R12.3",
            # half of 3 instances is 1 or 2
            rests_on=("borrow_rounding",),
        ),
    ),
    "larger than all that is lent": (
        Setup(policy(6, s=share(2), t=share(2, "LEND"), w=share(2, "RESERVE")), (job("x", "s", 5),)),
        Waits(Because.NEVER_FITS, {"count": 5, "allowed": 4, "largest": 4}, rule="R12.4"),
    ),
    "of a type for which the share has no limit": (
        Setup(policy({U: 1, V: 1}, s=share(1), t=share({V: 1}, "LEND")), (job("x", "s", {V: 1}),)),
        Waits(Because.NEVER_FITS, {"allowed": 0}, rule="R12.3", rests_on=("undeclared_unit",)),
    ),
    "the share is at its limit": (
        Setup(policy(3, s=share(2, "LEND"), t=IDLE), (job("r", "s", 2), job("x", "s"))),
        Waits(
            Because.OWN_LIMIT,
            {"count": 1, "usage": 2, "limit": 2, "bound": 2},
            f"s uses 2 {U} of its limit 2 and borrows nothing, as it is LEND; 1 more would be 3",
            "R3",
            across=Because.BEYOND_LIMIT,
            in_share=Because.IN_SHARE_OFF,
        ),
    ),
    "the share is at its borrow limit": (
        Setup(policy(6, s=share(2, borrow=50), t=share(4, "LEND")), (job("r", "s", 3), job("x", "s"))),
        Waits(
            Because.BORROW_LIMIT,
            {"usage": 3, "limit": 2, "bound": 3, "borrow_limit": 50, "allowance": 1, "lenders_limits": 4},
            f"s uses 3 {U} and may hold 3: its limit 2 and 50 % of it, 1, on top; 1 more would be 4",
            "R5",
        ),
    ),
    "the borrow limit was rounded": (
        Setup(policy(6, s=share(2, borrow=75), t=share(4, "LEND")), (job("r", "s", 3), job("x", "s"))),
        Waits(Because.BORROW_LIMIT, {"allowance": 1, "borrow_limit": 75}, rests_on=("borrow_rounding",)),
    ),
    "the share has borrowed all that others lend": (
        Setup(
            policy(5, s=share(2), t=share(1, "LEND"), w=share(2, "RESERVE")),
            (job("r", "s", 3), job("x", "s")),
        ),
        Waits(
            Because.LENDERS_LIMITS,
            {"usage": 3, "limit": 2, "bound": 3, "lenders_limits": 1},
            f"s uses 3 {U} and may hold 3: its limit 2 and the 1 of the other lending shares; 1 more would be 4",
            "R5",
        ),
    ),
    "a lender that may not lend is DISABLED": (
        Setup(
            policy(4, s=share(2), t=share(1, "LEND"), w=share(1, "LEND", state="DISABLED")),
            (job("r", "s", 3), job("x", "s")),
            choices=Choices(disabled_share_lends="no"),
        ),
        Waits(Because.LENDERS_LIMITS, {"lenders_limits": 1, "bound": 3}, rests_on=("disabled_share_lends",)),
    ),
    "a stop under way makes room": (
        Setup(
            policy(3, s=share(1), t=share(2, "LEND")),
            (job("b", "s", 3), job("o", "t", submit=10), job("x", "t", submit=15)),
            at=15,
            timing=Timing(stop_seconds=20),
        ),
        Waits(
            Because.STOP_UNDER_WAY,
            {"count": 1, "room": 0, "held": 0, "until": 30},
            f"0 {U} are free for it now and it needs 1; b stops by 30s; it will fit when that is over",
            "C14",
            ("stop_seconds",),
            ("b",),
        ),
    ),
    "what is free is held for another": (
        Setup(
            policy(4, c=share(1), a=share(2, "LEND"), b=share(1, "LEND")),
            (
                job("v1", "c"),
                job("v2", "c", 2, 1),
                job("claims2", "a", 2, submit=10),
                job("claims1", "b", submit=10),
                job("x", "c", submit=15),
            ),
            at=15,
            timing=Timing(stop_seconds=20),
        ),
        Waits(
            Because.HELD,
            {"count": 1, "room": 0, "held": 1, "until": 30},
            "v1 and v2 stop by 30s; 1 are held for claims2",
            "C13",
            ("freed_capacity", "stop_seconds"),
            ("v1", "v2", "claims2"),
        ),
    ),
    "the environment was lowered": (
        Setup(
            policy(4, s=share(2, "LEND"), t=share(2, "LEND")),
            (job("r", "t", 2), job("x", "s", submit=20)),
            at=20,
            updates=(UpdateServiceEnvironment(10, {U: 2}),),
        ),
        Waits(
            Because.ENVIRONMENT_LOWERED,
            {"lowered_from": 4, "lowered_at": 10, "capacity": 2, "used": 2, "count": 1},
            f"the service environment was lowered from 4 {U} to 2 at 10s, and 2 are in use; it needs 1",
            "R11",
            across=Because.NOBODY_OVER_LIMIT,
        ),
    ),
    "what no share declares is not used": (
        Setup(policy(4, s=share(1), t=share(2)), (job("r", "t", 2), job("q", "s"), job("x", "s"))),
        Waits(
            Because.UNOWNED,
            {"capacity": 4, "limits": 3, "usable": 3, "used": 3, "unowned": 1},
            f"the shares declare 3 of the 4 {U} and use 3; the other 1 belong to no share and are not used",
            "C6",
            ("unallocated",),
        ),
    ),
    "all is in use": (
        Setup(policy(4, s=share(2), t=share(2)), (job("r", "t", 2), job("q", "s"), job("x", "s", 2))),
        Waits(
            Because.IN_USE,
            {"capacity": 4, "usable": 4, "used": 3, "reserved": 0, "room": 1, "count": 2},
            f"the service environment has 4 {U} and 3 are in use (s 1, t 2); it needs 2",
            "R1",
            across=Because.BEYOND_LIMIT,
        ),
    ),
    "what is idle is reserved": (
        Setup(
            policy(3, s=share(1), t=share(1, "LEND"), w=share(1, "RESERVE")),
            (job("o", "t"), job("q", "s"), job("x", "s")),
        ),
        Waits(
            Because.RESERVED,
            {"used": 2, "reserved": 1, "room": 0, "count": 1},
            f"1 of 3 {U} is idle, of which 1 is kept for w (RESERVE): 0 are left and it needs 1",
            "R4",
        ),
    ),
    "a blocked owner keeps what is idle (C17)": (
        Setup(
            policy(4, s=share(1), t=share(3, "LEND"), w=share(1, "LEND")),
            (job("o", "t", 2), job("large", "t", 2), job("w", "w"), job("q", "s"), job("x", "s", submit=10)),
            at=10,
            choices=Choices(blocked_owner_lends="no"),
        ),
        Waits(Because.IN_USE, {"used": 4}),
    ),
    "a blocked owner keeps its idle instance (C17)": (
        Setup(
            policy(4, s=share(1), t=share(3, "LEND")),
            (job("o", "t", 2), job("large", "t", 2), job("q", "s"), job("x", "s", submit=10)),
            at=10,
            choices=Choices(blocked_owner_lends="no"),
        ),
        Waits(
            Because.RESERVED,
            {"reserved": 1, "room": 0},
            "1 is kept for t (its own first job waits for more)",
            rests_on=("blocked_owner_lends",),
        ),
    ),
    "a DISABLED share keeps what is idle (C12)": (
        Setup(
            policy(4, s=share(1), t=share(2, "LEND"), w=share(1, "LEND", state="DISABLED")),
            (job("o", "t", 2), job("q", "s"), job("x", "s")),
            choices=Choices(disabled_share_lends="no"),
        ),
        Waits(Because.RESERVED, {"reserved": 1}, "kept for w (DISABLED)", rests_on=("disabled_share_lends",)),
    ),
}


def told(explanation: Explanation) -> Chapter:
    [chapter] = [chapter for chapter in explanation.chapters if chapter.what is What.WAITS]
    return chapter


@pytest.mark.parametrize(("setup", "expected"), WAITS.values(), ids=WAITS)
def test_why_a_job_waits(setup: Setup, expected: Waits) -> None:
    explanation = setup.explain()
    diagnosis = told(explanation).diagnosis
    assert diagnosis is not None
    waits = diagnosis.waits
    assert waits.because is expected.because
    assert {key: waits.numbers.get(key) for key in expected.numbers} == expected.numbers
    assert expected.told in waits.message
    assert waits.follows_from == (expected.rule or MEANINGS[expected.because].rule)
    assert set(waits.rests_on) == set(expected.rests_on)
    assert waits.jobs == expected.jobs
    refused = {reason.about: reason.because for reason in diagnosis.not_stopped}
    for about, because in ((About.ACROSS_SHARES, expected.across), (About.IN_SHARE, expected.in_share)):
        assert because in (None, refused.get(about))


AWS = {
    "larger than the environment": "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE - Service environment(s)",
    "larger than the limit": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed quota share"
    " capacity limits.",
    "larger than limit and borrow limit": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requirements exceed"
    " quota share capacity limits and borrow limits.",
    "larger than all that is lent": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED - Job requires borrowing that"
    " exceeds all configured borrowable capacity.",
}


@pytest.mark.parametrize(("case", "words"), AWS.items(), ids=AWS)
def test_it_says_so_in_the_words_of_aws(case: str, words: str) -> None:
    diagnosis = told(WAITS[case][0].explain()).diagnosis
    assert diagnosis is not None
    assert (diagnosis.waits.aws_reason or "").startswith(words)


def test_a_time_limit_that_ends_a_stuck_job_is_told() -> None:
    declared = policy(4, s=share(2, "RESERVE"), t=share(2))
    limit = {"reason": "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", "max_seconds": 600}
    limited = Policy.of({**declared.document(), "job_state_time_limits": [limit]})
    diagnosis = told(Setup(limited, (job("x", "s", 3, submit=5),), at=50).explain()).diagnosis
    assert diagnosis is not None
    assert diagnosis.waits.numbers["ends_at"] == 605
    assert diagnosis.waits.message.endswith("a job state time limit ends it at 10m5s")


def test_of_a_job_behind_another_the_other_is_explained_too() -> None:
    setup = Setup(
        policy(2, s=share(2, "LEND", on=True)),
        (job("r", "s", priority=3), job("q", "s", priority=3), job("h", "s", priority=3), job("x", "s", 3)),
    )
    diagnosis = told(setup.explain()).diagnosis
    assert diagnosis is not None
    assert diagnosis.ahead is not None
    assert (diagnosis.ahead.job, diagnosis.ahead.waits.because) == ("h", Because.OWN_LIMIT)
    assert [reason.because for reason in diagnosis.ahead.not_stopped] == [
        Because.BEYOND_LIMIT,
        Because.EQUAL_PRIORITY,
    ]
    # and once it is first, something else will stand in its way
    assert [(reason.because, reason.follows_from) for reason in diagnosis.further] == [(Because.NEVER_FITS, "R12.1")]
    assert [(reason.about, reason.because) for reason in diagnosis.not_stopped] == [(About.ANYBODY, Because.NOT_FIRST)]


# --- who came first ----------------------------------------------------------------------------------

FIRST: dict[str, tuple[Setup, str, tuple[str, ...]]] = {
    "an owner": (
        Setup(policy(2, s=share(1), t=share(1)), (job("q", "s"), job("x", "s"), job("o", "t"))),
        "o came first: it is inside t's own limit",
        (),
    ),
    "another borrower": (
        Setup(
            policy(3, s=share(1), t=share(1), w=share(1, "LEND")),
            (job("q", "s"), job("o", "t"), job("first", "t"), job("x", "s")),
        ),
        "first of t came first: idle_assignment is submitted",
        ("idle_assignment",),
    ),
    "another owner": (
        Setup(policy(1, t=share(1, "LEND"), s=share(1, "LEND")), (job("first", "t"), job("x", "s"))),
        "first of t came first: share_order is oldest_head",
        ("share_order",),
    ),
}


@pytest.mark.parametrize(("setup", "message", "rests_on"), FIRST.values(), ids=FIRST)
def test_who_came_first(setup: Setup, message: str, rests_on: tuple[str, ...]) -> None:
    diagnosis = told(setup.explain()).diagnosis
    assert diagnosis is not None
    first = [reason for reason in diagnosis.further if reason.because is Because.SERVED_FIRST]
    assert first[-1].message == message
    assert first[-1].rests_on == rests_on
    assert set(rests_on) <= set(setup.explain().rests_on)


# --- why nobody was stopped --------------------------------------------------------------------------


@dataclass(frozen=True)
class Refused:
    """What is expected of a reason why nobody was stopped."""

    about: About
    because: Because
    numbers: Mapping[str, float] = field(default_factory=dict)
    told: str = ""
    rests_on: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()


ACROSS, IN_SHARE, BOTH = About.ACROSS_SHARES, About.IN_SHARE, About.BOTH
LOWERED = (UpdateServiceEnvironment(5, {U: 1}),)

REFUSED: dict[str, tuple[Setup, Refused]] = {
    "larger than its own limit (C10)": (
        Setup(policy(4, s=share(1), t=share(3)), (job("r", "t", 4), job("x", "s", 2, submit=10)), at=10),
        Refused(
            ACROSS,
            Because.LARGER_THAN_LIMIT,
            {"count": 2, "limit": 1},
            f"it needs 2 {U} and s's own limit is 1: it takes nothing back",
            ("partly_borrowed",),
        ),
    ),
    "it would borrow": (
        Setup(policy(4, s=share(2), t=share(2)), (job("r", "t", 2), job("q", "s"), job("x", "s", 2))),
        Refused(
            ACROSS,
            Because.BEYOND_LIMIT,
            {"count": 2, "usage": 1, "limit": 2},
            f"s uses 1 {U} of its limit 2; with 2 more it would borrow 1, and nobody is stopped for that",
        ),
    ),
    "what it would borrow besides is not idle (C10 yes)": (
        Setup(
            policy(4, s=share(1), t=share(1), w=share(2)),
            (job("r", "t", 2), job("o", "w", 2), job("x", "s", 3, submit=10)),
            at=10,
            choices=Choices(partly_borrowed="yes"),
        ),
        Refused(
            ACROSS,
            Because.REST_NOT_IDLE,
            {"count": 3, "own": 1, "room": 0},
            f"of the 3 {U} it needs, 1 are s's own and can be taken back; of the other 2, 0 are idle",
            ("partly_borrowed",),
        ),
    ),
    "no other share is over its limit": (
        Setup(policy(3, s=share(2, "LEND"), t=share(2, "LEND")), (job("r", "t", 2), job("x", "s", 2))),
        Refused(ACROSS, Because.NOBODY_OVER_LIMIT, {"over_limit": 0}, f"no other share uses more {U} than its limit"),
    ),
    "who is over its limit has not started yet": (
        Setup(
            policy(2, s=share(1, "LEND"), t=share(1, on=True)),
            (job("low", "t", 2), job("high", "t", 2, 5, submit=10), job("x", "s", submit=12)),
            at=12,
            timing=Timing(stop_seconds=20),
        ),
        Refused(
            ACROSS, Because.NOBODY_OVER_LIMIT, {"over_limit": 1}, "t is over the limit, and no job of it can be stopped"
        ),
    ),
    "in-share preemption is off": (
        Setup(policy(1, s=share(1, "LEND")), (job("r", "s"), job("x", "s", priority=5, submit=10)), at=10),
        Refused(IN_SHARE, Because.IN_SHARE_OFF, {}, "in-share preemption of s is off"),
    ),
    "nothing of its share runs": (
        Setup(policy(1, s=share(1, "LEND", on=True), t=share(1, "LEND")), (job("r", "t"), job("x", "s"))),
        Refused(IN_SHARE, Because.NOTHING_RUNS, {}, f"no job of s runs on {U}"),
    ),
    "an equal priority runs": (
        Setup(policy(1, s=share(1, "LEND", on=True)), (job("r", "s", 1, 2), job("x", "s", 1, 2))),
        Refused(
            IN_SHARE,
            Because.EQUAL_PRIORITY,
            {"priority": 2, "lowest_priority": 2},
            f"the lowest priority of s that runs on {U} is 2, of r: equal to its own",
            (),
            ("r",),
        ),
    ),
    "an equal priority by default runs (C15)": (
        Setup(policy(1, s=share(1, "LEND", on=True)), (job("r", "s", 1, None), job("x", "s", 1, 0))),
        Refused(IN_SHARE, Because.EQUAL_PRIORITY, rests_on=("default_priority",), jobs=("r",)),
    ),
    "a higher priority runs": (
        Setup(policy(1, s=share(1, "LEND", on=True)), (job("r", "s", 1, 7), job("x", "s", 1, 2))),
        Refused(
            IN_SHARE,
            Because.HIGHER_PRIORITY,
            {"priority": 2, "lowest_priority": 7},
            f"the lowest priority of s that runs on {U} is 7, of r: higher than its own, 2",
            (),
            ("r",),
        ),
    ),
    "lower priorities of its share would not do": (
        Setup(
            policy(3, s=share(3, "LEND", on=True)),
            (job("low", "s", 1, 1), job("mid", "s", 2, 5), job("x", "s", 3, 5, submit=10)),
            at=10,
        ),
        Refused(
            IN_SHARE,
            Because.TOO_LITTLE,
            {"needed": 3, "left": 1, "candidates": 1, "held": 1},
            f"low would leave 1 of the 3 {U} that it needs: that would be futile",
            (),
            ("low",),
        ),
    ),
    "borrowers would not do": (
        Setup(
            policy(4, s=share(1, "LEND"), t=share(2), w=share(1)),
            (job("r1", "t", 2), job("r2", "t", 1, 3), job("x", "s", submit=10)),
            at=10,
            updates=LOWERED,
        ),
        # t is over its limit by 1: either job may go, not both
        Refused(
            ACROSS,
            Because.TOO_LITTLE,
            {"needed": 1, "left": 0, "candidates": 2, "held": 3},
            f"r1 and r2 together would leave 0 of the 1 {U} that it needs",
            (),
            ("r1", "r2"),
        ),
    ),
    "in the order of C8 there is no set": (
        Setup(
            policy(1, s=share(1), t=share(1, "LEND")),
            (job("r1", "t", 1, 4, started=-20.0), job("r2", "t", 2, 0, started=-20.0), job("x", "s")),
        ),
        Refused(
            ACROSS,
            Because.NO_LEGAL_SET,
            {"candidates": 2},
            "taken in the order of borrowed_first, no set of the 2 candidates makes room while",
            ("victims",),
            ("r2", "r1"),
        ),
    ),
    "both kinds together would not do": (
        Setup(
            policy(6, s=share(2, on=True), t=share(1), w=share(3)),
            (job("low", "s"), job("r", "t", 3), job("o", "w"), job("x", "s", 2, 5, submit=10)),
            at=10,
            updates=(UpdateServiceEnvironment(5, {U: 2}),),
        ),
        Refused(
            BOTH,
            Because.TOO_LITTLE,
            {"needed": 2, "left": 1, "candidates": 2, "held": 4},
            f"r and low together would leave 1 of the 2 {U} that it needs",
            (),
            ("r", "low"),
        ),
    ),
}


@pytest.mark.parametrize(("setup", "expected"), REFUSED.values(), ids=REFUSED)
def test_why_nobody_was_stopped(setup: Setup, expected: Refused) -> None:
    diagnosis = told(setup.explain()).diagnosis
    assert diagnosis is not None
    found = {reason.about: reason for reason in diagnosis.not_stopped}
    reason = found[expected.about]
    assert reason.because is expected.because
    assert {key: reason.numbers.get(key) for key in expected.numbers} == expected.numbers
    assert expected.told in reason.message
    assert reason.rests_on == expected.rests_on
    assert reason.jobs == expected.jobs


# --- the rest ----------------------------------------------------------------------------------------

OTHERS: dict[str, tuple[Setup, What, Because, dict[str, float]]] = {
    "it runs on its share's own capacity": (
        Setup(policy(2, s=share(2)), (job("x", "s"),)),
        What.RUNS,
        Because.OWN_CAPACITY,
        {"usage": 1, "limit": 2, "borrowed": 0},
    ),
    "it runs on borrowed capacity": (
        Setup(policy(3, s=share(1), t=share(2)), (job("x", "s", 3),)),
        What.RUNS,
        Because.BORROWS,
        {"usage": 3, "limit": 1, "borrowed": 2},
    ),
    "its share's limit was lowered (C11)": (
        Setup(
            policy(2, s=share(2, "LEND")),
            (job("x", "s", 2),),
            at=10,
            updates=(UpdateShare(10, "s", {U: 1}),),
            choices=Choices(lowered_limit="at_once"),
        ),
        What.PREEMPTED,
        Because.LIMIT_LOWERED,
        {"usage": 2, "limit": 1},
    ),
    "its share takes no new jobs": (
        Setup(policy(2, s=share(2, state="DISABLED")), (job("x", "s"),)),
        What.REFUSED,
        Because.REFUSED,
        {},
    ),
    "its retries are used up": (
        Setup(
            policy(1, s=share(1, "LEND", on=True)),
            (job("x", "s", preemption_retries=0), job("h", "s", 1, 3, submit=10)),
            at=10,
        ),
        What.FAILED,
        Because.RETRIES_USED_UP,
        {"preemptions": 1, "retries": 0},
    ),
}


@pytest.mark.parametrize(("setup", "what", "because", "numbers"), OTHERS.values(), ids=OTHERS)
def test_the_other_reasons(setup: Setup, what: What, because: Because, numbers: dict[str, float]) -> None:
    [chapter] = [chapter for chapter in setup.explain().chapters if chapter.what is what]
    [reason] = chapter.reasons
    assert (reason.because, reason.numbers) == (because, numbers)


def test_every_reason_has_a_case() -> None:
    cases = {expected.because for _, expected in WAITS.values()}
    cases |= {expected.because for _, expected in REFUSED.values()}
    cases |= {because for _, _, because, _ in OTHERS.values()}
    assert cases | {Because.SERVED_FIRST} == set(Because) == set(MEANINGS)


def test_every_choice_that_is_named_exists() -> None:
    setups = [setup for setup, _ in WAITS.values()] + [setup for setup, _ in REFUSED.values()]
    named = {name for setup in setups for name in setup.explain().rests_on}
    assert named <= set(BY_NAME)
    assert len(named) > 8


def test_a_priority_that_changes_is_told() -> None:
    setup = Setup(policy(1, s=share(1)), (job("x", "s"),), at=10, updates=(UpdatePriority(10, "x", 5),))
    [change] = [chapter for chapter in setup.explain().chapters if chapter.what is What.PRIORITY_UPDATED]
    assert change.message == "its priority goes from 0 to 5"
