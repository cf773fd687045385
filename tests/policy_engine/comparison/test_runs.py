"""A scenario and a history under both policies: what becomes of each job and each share."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from policy_engine.comparison import Asked, Comparison, compare_sources
from policy_engine.comparison.scenarios import in_transition
from policy_engine.comparison.sides import Policies
from policy_engine.errors import InputError, UndecidedError
from policy_engine.expectations import Answer
from policy_engine.policy import Policy
from policy_engine.replaying import ReplayOptions
from policy_engine.scheduler.jobs import Timing
from policy_engine.sources import Kind, Source
from policy_engine.sources.document import declaration_of
from policy_engine.workload.history import History
from policy_engine.workload.scenario import Scenario, load_scenario
from tests.policy_engine.changes.sides import policy, share
from tests.policy_engine.endless import CIRCLE, OVER_COMMITTED
from tests.policy_engine.replaying.cases import history, job

LENDING = policy(4, a=share(2, "LEND_AND_BORROW"), b=share(2))
KEEPING = policy(4, a=share(2, "LEND_AND_BORROW"), b=share(2, "RESERVE"))
BORROWING = """
timing: {stop_seconds: 20}
jobs:
  - {name: own, share: a, instance_count: 2, duration: 1h}
  - {name: borrowed, share: a, instance_count: 2, submit: 1m, duration: 1h}
  - {name: owner, share: b, submit: 10m, duration: 1h}
until: 4h
expect:
  - {job: borrowed, starts_within: 0s}
  - {job: owner, starts_within: 0s}
  - {share: a, preemptions_suffered: 0}
"""


def source(given: Policy) -> Source:
    return Source(Kind.DOCUMENT, "policy.yaml", "a policy", declaration_of(given))


@pytest.fixture
def scenario(tmp_path: Path) -> Any:
    def made(text: str) -> Scenario:
        path = tmp_path / "jobs.yaml"
        path.write_text(text, encoding="utf-8")
        return load_scenario(path)

    return made


def compared(old: Policy, new: Policy, **asked: Any) -> Comparison:
    return compare_sources(source(old), source(new), Asked(**asked))


def test_each_job_has_both_its_fates(scenario: Any) -> None:
    run = compared(LENDING, KEEPING, scenario=scenario(BORROWING)).scenario
    assert run is not None
    own, borrowed, owner = run.effects
    assert not own.is_changed
    # preempted once for the owner before; it does not begin before own has ended after
    assert borrowed.old is not None
    assert borrowed.new is not None
    assert (borrowed.old.wait_seconds, borrowed.old.preemptions) == (0, 1)
    assert (borrowed.new.wait_seconds, borrowed.new.preemptions) == (3540, 0)
    assert (borrowed.is_worse, borrowed.is_better) == (True, True)
    assert (owner.is_worse, owner.is_better) == (False, True)
    assert (run.changed, run.hit) == ((borrowed, owner), ("a",))


def test_expectations_are_judged_on_both_sides(scenario: Any) -> None:
    run = compared(LENDING, KEEPING, scenario=scenario(BORROWING)).scenario
    assert run is not None
    assert [(one.old.verdict, one.new.verdict) for one in run.judged] == [
        (Answer.HOLDS, Answer.FAILS),
        (Answer.FAILS, Answer.HOLDS),
        (Answer.FAILS, Answer.HOLDS),
    ]
    assert [one.new.name for one in run.lost] == ["borrowed starts within 0s"]


def test_jobs_of_a_share_that_is_gone_cannot_be_submitted(scenario: Any) -> None:
    text = BORROWING.replace("share: a, preempt", "share: b, preempt")
    run = compared(LENDING, policy(4, a=share(4)), scenario=scenario(text)).scenario
    assert run is not None
    owner = run.effects[2]
    assert (owner.new, owner.is_worse, run.new.refused) == (None, True, {"owner": "there is no share b"})
    assert [one.new.message for one in run.judged][1:] == [
        "owner cannot be submitted: there is no share b",
        "there is no share b",
    ]


def test_jobs_of_a_share_that_is_new_could_not_be_submitted_before(scenario: Any) -> None:
    run = compared(policy(4, a=share(4)), LENDING, scenario=scenario(BORROWING)).scenario
    assert run is not None
    assert (run.effects[2].old, run.effects[2].is_better) == (None, True)


def test_what_neither_has_is_an_error(scenario: Any) -> None:
    with pytest.raises(InputError, match=r"jobs\[2\]\.share: no share 'bee'; did you mean 'b'\?"):
        compared(LENDING, KEEPING, scenario=scenario(BORROWING.replace("share: b", "share: bee")))


@pytest.mark.parametrize("name", ["b", "bee"], ids=["by its old name", "by its new name"])
def test_a_share_that_is_renamed_has_its_jobs_on_both_sides(scenario: Any, name: str) -> None:
    renamed = policy(4, a=share(2, "LEND_AND_BORROW"), bee=share(2))
    run = compared(LENDING, renamed, scenario=scenario(BORROWING.replace("share: b,", f"share: {name},"))).scenario
    assert run is not None
    assert (run.changed, run.new.refused) == ((), {})


def test_a_run_without_end_is_undecided(scenario: Any) -> None:
    jobs = [{"name": j.name, "share": j.share, "instance_count": j.instances, "priority": j.priority,
             "submit": j.submit, "duration": j.duration} for j in CIRCLE.jobs]  # fmt: skip
    text = f"jobs: {jobs}"
    with pytest.raises(UndecidedError, match=r"jobs\.yaml"):
        compared(OVER_COMMITTED, OVER_COMMITTED, scenario=scenario(text))


# --- the jobs that a queue holds --------------------------------------------------------------------

HELD = """
timing: {stop_seconds: 20}
running:
  - {name: running, share: a, instance_count: 2, started: -10m, duration: 1h}
  - {name: lent, share: a, instance_count: 2, started: -5m, duration: 1h}
jobs:
  - {name: waiting, share: b, instance_count: 2, duration: 10m}
until: 2h
"""


def test_a_share_that_is_removed_ends_the_jobs_that_are_there(scenario: Any) -> None:
    run = in_transition(scenario(HELD), Policies(LENDING, policy(4, b=share(4))))
    fates = {
        effect.job.name: (effect.old and effect.old.state, effect.new and effect.new.state) for effect in run.effects
    }
    assert fates == {
        "running": ("SUCCEEDED", "FAILED"),
        "lent": ("SUCCEEDED", "FAILED"),
        "waiting": ("SUCCEEDED", "SUCCEEDED"),
    }
    assert (run.hit, run.is_transition) == (("a",), True)


def test_a_limit_that_is_lowered_makes_its_jobs_preemptible(scenario: Any) -> None:
    text = HELD.replace("share: b, instance_count: 2, duration", "share: b, instance_count: 3, duration")
    run = in_transition(scenario(text), Policies(LENDING, policy(4, a=share(1, "LEND_AND_BORROW"), b=share(3))))
    by_name = {effect.job.name: effect for effect in run.effects}
    assert by_name["waiting"].is_better, "3 are more than b had"
    assert sum(effect.new.preemptions for effect in run.effects if effect.new) == 2


def test_nothing_happens_to_them_where_nothing_changes(scenario: Any) -> None:
    assert in_transition(scenario(HELD), Policies(LENDING, LENDING)).changed == ()


def test_everything_that_can_be_updated_is(scenario: Any) -> None:
    off = Policy.of({**LENDING.document(), "state": "DISABLED"})
    off = off.model_copy(
        update={"service_environment": KEEPING.service_environment.model_copy(update={"state": "DISABLED"})}
    )
    run = in_transition(scenario(HELD), Policies(LENDING, off))
    assert {event.kind for event in run.new.run.log} >= {"environment_updated"}
    assert run.effects[2].new is not None
    assert run.effects[2].new.first_started is None


# --- histories ----------------------------------------------------------------------------------------

OPTIONS = ReplayOptions(Timing(stop_seconds=20))


def jobs_of_two_teams() -> History:
    return history(
        [
            *(job(f"a{n}", "a", n, 1000, 2) for n in range(2)),
            job("b0", "b", 100, 300, 2),
            job("large", "a", 200, 10, 4),
            job("nobody", "x", 300, 10),
        ]
    )


def test_each_share_of_a_history_has_both_sides() -> None:
    found = compared(LENDING, KEEPING, history=jobs_of_two_teams(), replaying=OPTIONS).replay
    assert found is not None
    a, b = found.shares
    assert a.old is not None
    assert a.new is not None
    assert (a.old.jobs.preemptions_suffered, a.new.jobs.preemptions_suffered) == (1, 0)
    assert (a.not_run, b.not_run) == ((0, 1), (0, 0)), "four are more than a can reach where b keeps its own"
    assert (a.is_hit, b.is_hit, found.hit) == (True, False, ("a",))


def test_teams_that_neither_policy_has_are_left_out_on_both_sides() -> None:
    found = compared(LENDING, KEEPING, history=jobs_of_two_teams(), replaying=OPTIONS).replay
    assert found is not None
    remarks = [[remark.subject for remark in side.fitted.remarks] for side in (found.old, found.new)]
    assert remarks == [["x"], ["x"]]
    with pytest.raises(InputError, match="the policy has no place for any of 1 jobs"):
        compared(LENDING, KEEPING, history=history([job("nobody", "x", 0, 10)]), replaying=OPTIONS)


def test_jobs_of_a_team_that_loses_its_share_do_not_run() -> None:
    found = compared(LENDING, policy(4, a=share(4)), history=jobs_of_two_teams(), replaying=OPTIONS).replay
    assert found is not None
    b = found.shares[1]
    assert (b.new, b.not_run, b.is_hit) == (None, (0, 1), True)


@pytest.mark.parametrize("name", ["b", "bee"], ids=["by its old name", "by its new name"])
def test_a_renamed_share_keeps_its_team(name: str) -> None:
    renamed = policy(4, a=share(2, "LEND_AND_BORROW"), bee=share(2))
    jobs = [replace(one, share=name) if one.share == "b" else one for one in jobs_of_two_teams().jobs]
    found = compared(LENDING, renamed, history=history(jobs), replaying=OPTIONS).replay
    assert found is not None
    assert [(one.name, one.is_hit, one.old == one.new) for one in found.shares] == [
        ("a", False, True),
        ("b", False, True),
    ]


def test_progress_goes_up_to_all_of_it() -> None:
    told: list[tuple[str, float]] = []
    asked = Asked(history=jobs_of_two_teams(), replaying=OPTIONS)
    compare_sources(source(LENDING), source(KEEPING), asked, progress=lambda what, done: told.append((what, done)))
    assert told == [("share 1 of 2", 0.0), ("share 2 of 2", 0.5), ("replay 1 of 2", 0.0), ("replay 2 of 2", 0.5)]
