"""Cases that the schedulers of others got wrong first: who is stopped, for whom, why and when.

Sources: Kueue, KAI, Volcano and Armada; the issue is named where there is one. A case is a line of shares, a line of
jobs, and all that happens but for what is submitted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Job, Terminate, Timing, Update, UpdateServiceEnvironment, UpdateShare, Workload
from policy_engine.scheduler.log import Event, Kind
from policy_engine.simulation import simulate
from tests.oracle.difference import by_first, by_second
from tests.oracle.generator import Scenario
from tests.policy_engine.logs import UNIT, policy_of

OTHER = "ml.p4d.24xlarge"


@dataclass(frozen=True)
class Case:
    """What there is, and what has to happen."""

    about: str
    shares: Mapping[str, str]
    """``LIMIT STRATEGY`` (``LAB`` borrows), borrow limit, ``in_share``, ``g5`` (of that type alone)."""
    jobs: str
    """``NAME SHARE COUNT`` and any of ``p4`` (priority), ``@10`` (submitted), ``60s`` (duration), ``from-10`` (running
    since), ``retries0``, ``every10`` (checkpoints), ``p4d`` (the other instance type).
    """
    happens: str
    stop: float = 0
    updates: tuple[Update, ...] = ()
    choices: Mapping[str, Any] = field(default_factory=dict)
    capacity: int | None = None
    units: tuple[str, ...] = (UNIT,)

    def scenario(self) -> Scenario:
        shares = {name: line.replace("LAB", "LEND_AND_BORROW") for name, line in self.shares.items()}
        declared = [policy_of(shares, self.capacity, unit).model_dump(mode="json") for unit in self.units]
        policy = declared[0]
        for more in declared[1:]:
            environment = more["service_environment"]["capacity_limits"]
            policy["service_environment"]["capacity_limits"].update(environment)
            for name, share in more["shares"].items():
                if "g5" not in self.shares[name]:
                    policy["shares"][name]["capacity_limits"].update(share["capacity_limits"])
        jobs = tuple(_job(line) for line in self.jobs.split(";"))
        workload = Workload(jobs, self.updates, Timing(stop_seconds=self.stop))
        return Scenario(policy, workload, Choices(**self.choices))


def _job(line: str) -> Job:
    name, share, count, *words = line.split()
    given: dict[str, Any] = {}
    unit = UNIT
    for word in words:
        if word == "p4d":
            unit = OTHER
        elif word.startswith("retries"):
            given["preemption_retries"] = int(word.removeprefix("retries"))
        elif word.startswith("every"):
            given["checkpoint_every"] = float(word.removeprefix("every"))
        elif word.startswith("from"):
            given["started"] = float(word.removeprefix("from"))
        elif word.startswith("@"):
            given["submit"] = float(word[1:])
        elif word.startswith("p"):
            given["priority"] = int(word[1:])
        else:
            given["duration"] = float(word.removesuffix("s"))
    return Job(name, share, {unit: int(count)}, **given)


def told(event: Event) -> str:
    """An entry of the log as the cases write it."""
    words = [f"{event.at:g}", str(event.kind), event.job or event.share or ""]
    if event.kind is Kind.PREEMPTED:
        words += ["by", event.by] if event.by else []
        words.append(str(event.why))
    if event.kind is Kind.STOPPED:
        words += ["lost", f"{event.lost_seconds:g}"]
    return " ".join(filter(None, words))


CASES = [
    # --- victims that stop at different times -----------------------------------------------------------
    Case(
        "what the first victim frees is held until the last has stopped (kueue#13662)",
        {"own": "4 LEND", "bor": "1 LAB"},
        "v1 bor 2 p1 30s; v2 bor 2 p1; w bor 2 @10; j own 4 @20 60s",
        """
        0 started v1
        0 started v2
        20 preempted v2 by j cross_share
        20 preempted v1 by j cross_share
        30 finished v1
        40 stopped v2 lost 40
        40 requeued v2
        40 started j
        100 finished j
        100 started v2
        100 started w
        """,
        stop=20,
    ),
    Case(
        "with C13 open the gap is used, and the claimant waits for ever",
        {"own": "4 LEND", "bor": "1 LAB"},
        "v1 bor 2 p1 30s; v2 bor 2 p1; w bor 2 @10 60s; j own 4 @20 60s",
        """
        0 started v1
        0 started v2
        20 preempted v2 by j cross_share
        20 preempted v1 by j cross_share
        30 finished v1
        30 started w
        40 stopped v2 lost 40
        40 requeued v2
        40 started v2
        90 finished w
        """,
        stop=20,
        choices={"freed_capacity": "open"},
    ),
    Case(
        "a victim that ends by itself while it is being stopped has finished and is not requeued",
        {"own": "2 LEND", "bor": "1 LAB"},
        "v bor 2 50s; j own 2 @40 60s",
        """
        0 started v
        40 preempted v by j cross_share
        50 finished v
        50 started j
        110 finished j
        """,
        stop=20,
    ),
    Case(
        "a claimant that is terminated leaves its victims to stop, and what they free to the next in line",
        {"own": "2 LEND", "bor": "1 LAB"},
        "v bor 2 p1; j own 2 @10; k own 1 @15 30s",
        """
        0 started v
        10 preempted v by j cross_share
        20 terminated j
        20 started k
        30 stopped v lost 30
        30 requeued v
        30 started v
        50 finished k
        """,
        stop=20,
        updates=(Terminate(20, "j"),),
    ),
    # --- evicted jobs that sort ahead of their evictors ---------------------------------------------------
    Case(
        "an older job of higher priority, evicted by an owner, does not come straight back",
        {"own": "1 LEND", "bor": "1 LAB in_share"},
        "x bor 1 p9; v bor 1 p9 100s; o own 1 p1 @60 60s",
        """
        0 started x
        0 started v
        60 preempted v by o cross_share
        60 stopped v lost 60
        60 requeued v
        60 started o
        120 finished o
        120 started v
        220 finished v
        """,
    ),
    Case(
        "nor while it is being stopped",
        {"own": "1 LEND", "bor": "1 LAB in_share"},
        "x bor 1 p9; v bor 1 p9 100s; o own 1 p1 @60 60s",
        """
        0 started x
        0 started v
        60 preempted v by o cross_share
        80 stopped v lost 80
        80 requeued v
        80 started o
        140 finished o
        140 started v
        240 finished v
        """,
        stop=20,
    ),
    Case(
        "an older job that is evicted within its share goes behind the job that stopped it",
        {"s": "1 LEND in_share"},
        "old s 1 p1 100s every30; new s 1 p2 @50 60s",
        """
        0 started old
        50 preempted old by new in_share
        70 stopped old lost 10
        70 requeued old
        70 started new
        130 finished new
        130 started old
        170 finished old
        """,
        stop=20,
    ),
    Case(
        "equals never stop each other, whoever came first (kueue#3779)",
        {"s": "1 LEND in_share"},
        "a s 1 p5 60s; b s 1 p5 @10 60s; c s 1 p5 @20 60s",
        """
        0 started a
        60 finished a
        60 started b
        120 finished b
        120 started c
        180 finished c
        """,
    ),
    # --- two owners, overlapping victims --------------------------------------------------------------------
    Case(
        "two owners need what one job holds: it is stopped once, for the first",
        {"o1": "2 LEND", "o2": "2 LEND", "bor": "1 LAB"},
        "v bor 4 p1; j1 o1 2 @10 60s; j2 o2 2 @10 60s",
        """
        0 started v
        10 preempted v by j1 cross_share
        30 stopped v lost 30
        30 requeued v
        30 started j1
        30 started j2
        90 finished j1
        90 finished j2
        90 started v
        """,
        stop=20,
    ),
    Case(
        "two owners at one instant take one victim each, the most recent first",
        {"o1": "2 LEND", "o2": "2 LEND", "bor": "1 LAB"},
        "v1 bor 2 p1; v2 bor 2 p1 @5; j1 o1 2 @10 60s; j2 o2 2 @10 60s",
        """
        0 started v1
        5 started v2
        10 preempted v2 by j1 cross_share
        10 preempted v1 by j2 cross_share
        30 stopped v1 lost 30
        30 requeued v1
        30 stopped v2 lost 25
        30 requeued v2
        30 started j1
        30 started j2
        90 finished j1
        90 finished j2
        90 started v1
        90 started v2
        """,
        stop=20,
    ),
    Case(
        "an owner that comes while a victim stops for another takes the next one",
        {"o1": "2 LEND", "o2": "2 LEND", "bor": "1 LAB"},
        "v1 bor 2 p1; v2 bor 2 p1 @5; j1 o1 2 @10 60s; j2 o2 2 @20 60s",
        """
        0 started v1
        5 started v2
        10 preempted v2 by j1 cross_share
        20 preempted v1 by j2 cross_share
        30 stopped v2 lost 25
        30 requeued v2
        30 started j1
        40 stopped v1 lost 40
        40 requeued v1
        40 started j2
        90 finished j1
        90 started v1
        100 finished j2
        100 started v2
        """,
        stop=20,
    ),
    # --- victims return ------------------------------------------------------------------------------------
    Case(
        "victims return when the claimant finishes, highest priority first",
        {"own": "3 LEND", "bor": "1 LAB"},
        "x bor 1 p9; a bor 1 p1; b bor 1 p2; c bor 1 p3; j own 2 @30 60s",
        """
        0 started x
        0 started c
        0 started b
        0 started a
        30 preempted a by j cross_share
        30 preempted b by j cross_share
        30 stopped a lost 30
        30 requeued a
        30 stopped b lost 30
        30 requeued b
        30 started j
        90 finished j
        90 started b
        90 started a
        """,
    ),
    Case(
        "a victim goes on from its last checkpoint",
        {"own": "1 LEND", "bor": "1 LAB"},
        "x bor 1 p9; v bor 1 p1 100s every20; j own 1 @50 60s",
        """
        0 started x
        0 started v
        50 preempted v by j cross_share
        50 stopped v lost 10
        50 requeued v
        50 started j
        110 finished j
        110 started v
        170 finished v
        """,
    ),
    # --- lowered limits and capacity ---------------------------------------------------------------------------
    Case(
        "a lowered limit stops nobody before somebody needs it, then a job larger than the excess",
        {"a": "4 LEND", "b": "2 LEND"},
        "j1 a 2 p2 100s; j2 a 2 p1 100s; k b 3 @20 60s",
        """
        0 started j1
        0 started j2
        10 share_updated a
        10 share_updated b
        20 preempted j2 by k cross_share
        20 stopped j2 lost 20
        20 requeued j2
        20 started k
        80 finished k
        100 finished j1
        100 started j2
        200 finished j2
        """,
        updates=(UpdateShare(10, "a", {UNIT: 3}), UpdateShare(10, "b", {UNIT: 3})),
    ),
    Case(
        "of a lowered limit a job that fits into the excess goes before a larger one of lower priority",
        {"a": "4 LEND", "b": "2 LEND"},
        "big a 3 p1; small a 1 p2; k b 3 @20 60s",
        """
        0 started small
        0 started big
        10 share_updated a
        10 share_updated b
        20 preempted small by k cross_share
        20 stopped small lost 20
        20 requeued small
        20 started k
        80 finished k
        """,
        updates=(UpdateShare(10, "a", {UNIT: 3}), UpdateShare(10, "b", {UNIT: 3})),
    ),
    Case(
        "a RESERVE share above its lowered limit loses like any other",
        {"a": "4 RESERVE", "b": "2 LEND"},
        "j1 a 2 p2; j2 a 2 p1; k b 4 @20 60s",
        """
        0 started j1
        0 started j2
        10 share_updated a
        10 share_updated b
        20 preempted j2 by k cross_share
        20 stopped j2 lost 20
        20 requeued j2
        20 started k
        80 finished k
        """,
        updates=(UpdateShare(10, "a", {UNIT: 2}), UpdateShare(10, "b", {UNIT: 4})),
    ),
    Case(
        "with C11 at_once the jobs above a lowered limit stop there and then",
        {"a": "4 LEND", "b": "2 LEND"},
        "j1 a 2 p2 100s; j2 a 2 p1 100s",
        """
        0 started j1
        0 started j2
        10 share_updated a
        10 preempted j2 limit_lowered
        10 stopped j2 lost 10
        10 requeued j2
        100 finished j1
        100 started j2
        200 finished j2
        """,
        updates=(UpdateShare(10, "a", {UNIT: 3}),),
        choices={"lowered_limit": "at_once"},
    ),
    Case(
        "a lowered environment stops nobody and holds back what comes",
        {"a": "2 LEND", "b": "2 LEND"},
        "j1 a 2 60s; j2 b 2 100s; k a 1 @30 30s",
        """
        0 started j1
        0 started j2
        10 environment_updated
        60 finished j1
        100 finished j2
        100 started k
        130 finished k
        """,
        updates=(UpdateServiceEnvironment(10, {UNIT: 2}),),
    ),
    Case(
        "claimants whose limit is lowered while they wait start one after the other",
        {"s": "6 LEND in_share", "t": "6 LEND"},
        "v1 s 3 p0 from-10; v2 s 3 p0 from-10; c1 s 3 p5 60s; c2 s 3 p5 60s",
        """
        -10 started v1
        -10 started v2
        0 preempted v2 by c1 in_share
        0 preempted v1 by c2 in_share
        10 share_updated s
        20 stopped v1 lost 30
        20 requeued v1
        20 stopped v2 lost 30
        20 requeued v2
        20 started c1
        80 finished c1
        80 started c2
        140 finished c2
        140 started v1
        """,
        stop=20,
        updates=(UpdateShare(10, "s", {UNIT: 4}),),
    ),
    # --- no flapping --------------------------------------------------------------------------------------------
    Case(
        "an owner that returns and a job that arrives with it settle at once",
        {"own": "1 LEND", "bor": "1 LAB in_share"},
        "x bor 1 p5 200s; v bor 1 p1 200s; o own 1 @60 60s; n bor 1 p9 @60 60s",
        """
        0 started x
        0 started v
        60 preempted v by o cross_share
        60 stopped v lost 60
        60 requeued v
        60 started o
        60 preempted x by n in_share
        60 stopped x lost 60
        60 requeued x
        60 started n
        120 finished o
        120 finished n
        120 started x
        120 started v
        320 finished x
        320 finished v
        """,
    ),
    Case(
        "a share at its limit exactly loses nothing (volcano#561)",
        {"a": "2 LAB", "b": "2 LAB"},
        "a1 a 2 p0; b1 b 2 p0; a2 a 1 p9 @10; b2 b 1 p9 @10",
        """
        0 started a1
        0 started b1
        """,
    ),
    Case(
        "two borrowers do not take from each other what an owner leaves over",
        {"own": "3 LEND", "a": "1 LAB", "b": "1 LAB"},
        "a1 a 2 p1; b1 b 2 p5 @5; o own 2 @10 60s; a2 a 1 p9 @20; b2 b 1 p9 @20",
        """
        0 started a1
        5 started b1
        10 preempted a1 by o cross_share
        10 stopped a1 lost 10
        10 requeued a1
        10 started o
        20 started a2
        70 finished o
        70 started a1
        """,
    ),
    Case(
        "a higher priority that comes during a stop waits for the claimant to start, then stops it",
        {"s": "1 LEND in_share"},
        "low s 1 p1 100s; mid s 1 p2 @10 60s; high s 1 p3 @20 60s",
        """
        0 started low
        10 preempted low by mid in_share
        30 stopped low lost 30
        30 requeued low
        30 started mid
        30 preempted mid by high in_share
        50 stopped mid lost 20
        50 requeued mid
        50 started high
        110 finished high
        110 started mid
        170 finished mid
        170 started low
        270 finished low
        """,
        stop=20,
    ),
    # --- retry caps -----------------------------------------------------------------------------------------------
    Case(
        "with a retry cap of 0 the first preemption is the end",
        {"own": "1 LEND", "bor": "1 LAB"},
        "x bor 1 p9; v bor 1 p1 retries0; o own 1 @60 60s",
        """
        0 started x
        0 started v
        60 preempted v by o cross_share
        80 stopped v lost 80
        80 failed v
        80 started o
        140 finished o
        """,
        stop=20,
    ),
    Case(
        "with a retry cap of 1 the second is",
        {"own": "1 LEND", "bor": "1 LAB"},
        "x bor 1 p9; v bor 1 p1 retries1; o own 1 @60 60s; p own 1 @200 60s",
        """
        0 started x
        0 started v
        60 preempted v by o cross_share
        80 stopped v lost 80
        80 requeued v
        80 started o
        140 finished o
        140 started v
        200 preempted v by p cross_share
        220 stopped v lost 80
        220 failed v
        220 started p
        280 finished p
        """,
        stop=20,
    ),
    # --- no more than is needed -------------------------------------------------------------------------------------
    Case(
        "a small job taken first is put back where a larger one does alone (KAI PR#1565)",
        {"own": "3 LEND", "bor": "1 LAB"},
        "x bor 1 p9; big bor 2 p1; small bor 1 p1 @5; o own 2 @30 60s",
        """
        0 started x
        0 started big
        5 started small
        30 preempted big by o cross_share
        30 stopped big lost 30
        30 requeued big
        30 started o
        90 finished o
        90 started big
        """,
    ),
    Case(
        "the lowest priority pays, so that the victim stops nobody in turn (Armada: preemption stability)",
        {"own": "2 LEND", "bor": "2 LAB in_share"},
        "v bor 2 p9; low bor 2 p1; o own 2 @30 60s",
        """
        0 started v
        0 started low
        30 preempted low by o cross_share
        30 stopped low lost 30
        30 requeued low
        30 started o
        90 finished o
        90 started low
        """,
    ),
    Case(
        "nobody is stopped where all together would not make room",
        {"s": "3 LEND in_share"},
        "keep s 2 p5 100s; low s 1 p1 100s; high s 3 p5 @10 60s",
        """
        0 started keep
        0 started low
        100 finished keep
        100 finished low
        100 started high
        160 finished high
        """,
    ),
    Case(
        "an owner's job larger than its limit takes nothing back",
        {"own": "2 LAB", "bor": "2 LAB"},
        "b bor 3 p1 100s; big own 3 p9 @10 60s",
        """
        0 started b
        100 finished b
        100 started big
        160 finished big
        """,
    ),
    Case(
        "limits that sum to more than there is: an owner waits for another owner (KAI#1750)",
        {"a": "5 LEND", "b": "5 LEND"},
        "a1 a 5 60s; b1 b 5 p9 @10 60s",
        """
        0 started a1
        60 finished a1
        60 started b1
        120 finished b1
        """,
        capacity=7,
    ),
    # --- heads of line ---------------------------------------------------------------------------------------------
    Case(
        "an owner's idle capacity is lent while its own head is too large for it (kueue#4809)",
        {"own": "2 LAB 50", "bor": "1 LAB"},
        "big own 3 p9 @5 30s; behind own 1 p1 @5 30s; b1 bor 1 60s; b2 bor 1 @10 60s",
        """
        0 started b1
        10 started b2
        60 finished b1
        70 finished b2
        70 started big
        100 finished big
        100 started behind
        130 finished behind
        """,
    ),
    Case(
        "with C17 no it is kept",
        {"own": "2 LAB 50", "bor": "1 LAB"},
        "big own 3 p9 @5 30s; behind own 1 p1 @5 30s; b1 bor 1 60s; b2 bor 1 @10 60s",
        """
        0 started b1
        60 finished b1
        60 started b2
        120 finished b2
        120 started big
        150 finished big
        150 started behind
        180 finished behind
        """,
        choices={"blocked_owner_lends": "no"},
    ),
    Case(
        "a head that waits for one type holds back those behind it that need another (kueue#8309)",
        {"s": "1 LEND"},
        "a s 1 60s; b s 1 @10 60s; c s 1 p4d @20 60s",
        """
        0 started a
        60 finished a
        60 started b
        60 started c
        120 finished b
        120 finished c
        """,
        units=(UNIT, OTHER),
    ),
    Case(
        "with C5 per_unit it does not",
        {"s": "1 LEND"},
        "a s 1 60s; b s 1 @10 60s; c s 1 p4d @20 60s",
        """
        0 started a
        20 started c
        60 finished a
        60 started b
        80 finished c
        120 finished b
        """,
        choices={"head_of_line": "per_unit"},
        units=(UNIT, OTHER),
    ),
    Case(
        "a type that a share does not declare is not borrowed without limit (kueue#12207)",
        {"a": "1 LAB g5", "b": "2 LEND"},
        "j a 1 p4d 60s",
        """
        0 blocked j
        """,
        units=(UNIT, OTHER),
    ),
    Case(
        "with C16 yes it is, where the borrow limit is unlimited",
        {"a": "1 LAB g5", "b": "2 LEND"},
        "j a 1 p4d 60s",
        """
        0 started j
        60 finished j
        """,
        choices={"undeclared_unit": "yes"},
        units=(UNIT, OTHER),
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_what_happens(case: Case) -> None:
    made = case.scenario()
    log = simulate(made.declared(), made.workload, made.choices).log
    happened = [told(event) for event in log if event.kind is not Kind.SUBMITTED]
    assert happened == [line.strip() for line in case.happens.strip().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.about)
def test_the_second_engine_agrees(case: Case) -> None:
    made = case.scenario()
    assert by_first(made) == by_second(made)
