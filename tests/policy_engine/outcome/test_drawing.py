"""Short runs, drawn: every instance of every share, before and after each step."""

from itertools import pairwise

import pytest

from policy_engine.outcome.drawing import MOST_SHARES, MOST_SIGNS, Instances, bar, drawing, lines
from policy_engine.policy import Policy
from policy_engine.scheduler.jobs import Job, Timing, UpdateShare, Workload
from policy_engine.simulation import simulate
from policy_engine.workload.durations import duration_text
from tests.policy_engine.logs import UNIT, policy_of

POLICY = policy_of({"a": "2 LEND_AND_BORROW", "b": "1 LEND", "c": "1 RESERVE"})


def test_what_is_before_a_step_is_what_was_after_the_one_before() -> None:
    jobs = (
        Job("low", "a", {UNIT: 3}, duration=300.0),
        Job("owner", "b", {UNIT: 1}, submit=60.0, duration=60.0),
    )
    run = simulate(POLICY, Workload(jobs, timing=Timing(stop_seconds=20)))
    drawn = drawing(run)
    assert lines(drawn[:4], duration_text) == [
        "0s: low submitted; low started",
        "    a  .. > ##+",
        "    b  .  > ~",
        "    c  r  > r",
        "1m: owner submitted; low preempted for owner",
        "    a  ##+ > ##+",
        "    b  ~   > ~",
        "    c  r   > r",
        "1m20s: low stopped; low requeued; owner started",
        "    a  ##+ > ..",
        "    b  ~   > #",
        "    c  r   > r",
        "2m20s: owner finished; low started",
        "    a  .. > ##+",
        "    b  #  > ~",
        "    c  r  > r",
        "# own  + borrowed  ~ lent  r reserved  . free; before > after",
    ]
    for earlier, later in pairwise(drawn):
        assert [share.after for share in earlier.shares] == [share.before for share in later.shares]


def test_jobs_that_ran_before_are_there_from_the_first_step_on() -> None:
    jobs = (Job("early", "a", {UNIT: 1}, started=-60.0, submit=-60.0), Job("next", "a", {UNIT: 1}, submit=5.0))
    first, second = drawing(simulate(POLICY, Workload(jobs)))
    assert (first.at, [bar(share.after) for share in first.shares]) == (-60.0, ["#.", ".", "r"])
    assert (bar(second.shares[0].before), bar(second.shares[0].after)) == ("#.", "##")


def test_an_update_changes_what_there_is() -> None:
    update = UpdateShare(60.0, "a", capacity_limits={UNIT: 1})
    _, second = drawing(simulate(POLICY, Workload((Job("j", "a", {UNIT: 2}),), (update,))))
    assert second.told == ("share updated",)
    assert [(bar(share.before), bar(share.after)) for share in second.shares] == [("##", "#+"), (".", "~"), ("r", "r")]


@pytest.mark.parametrize(
    ("instances", "drawn"),
    [
        (Instances(2, 1, 0, 0, 0), "##+"),
        (Instances(0, 0, 2, 0, 1), "~~."),
        (Instances(0, 0, 0, 3, 0), "rrr"),
        (Instances(MOST_SIGNS, 0, 0, 0, 0), "#" * MOST_SIGNS),
        (Instances(MOST_SIGNS, 1, 0, 0, 0), f"{MOST_SIGNS}# 1+"),
        (Instances(0, 0, 0, 0, 0), ""),
    ],
)
def test_a_sign_for_each_instance_while_they_are_few(instances: Instances, drawn: str) -> None:
    assert bar(instances) == drawn


def test_only_shares_with_jobs_where_there_are_many() -> None:
    many = policy_of({f"s{number}": "1 LEND" for number in range(MOST_SHARES + 1)})
    [step] = drawing(simulate(many, Workload((Job("j", "s3", {UNIT: 1}),))))
    assert [share.share for share in step.shares] == ["s3"]


def test_a_share_without_an_instance_type_is_not_drawn_on_it() -> None:
    other = "ml.g5.2xlarge"
    two = Policy.of(
        {
            "service_environment": {"capacity_limits": {UNIT: 1, other: 1}},
            "shares": {
                "a": {"capacity_limits": {UNIT: 1}, "strategy": "LEND", "in_share_preemption": False},
                "b": {"capacity_limits": {other: 1}, "strategy": "LEND", "in_share_preemption": False},
            },
        }
    )
    drawn = drawing(simulate(two, Workload((Job("j", "a", {UNIT: 1}),))))
    assert lines(drawn, duration_text)[1:3] == [f"    a {UNIT}   . > #", f"    b {other}  . > ."]
