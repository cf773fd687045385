"""What is settled over every schedule, what is not, and what is said then."""

from pathlib import Path
from typing import Any

import pytest

from policy_engine.errors import InputError
from policy_engine.expectations import Answer, Verdict
from policy_engine.running import prove, verify
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

POLICY = Path(__file__).parents[3] / "examples" / "policy.yaml"
TIED = """
jobs:
  - {name: a, share: QS1, priority: 2, duration: 1h}
  - {name: b, share: QS1, priority: 2, duration: 1h}
  - {name: owner, share: QS2, submit: 1m, duration: 30s}
"""


def verdict(folder: Path, text: str, policy: Path | str = POLICY, **asked: Any) -> Verdict:
    (folder / "s.yaml").write_text(text, encoding="utf-8")
    [found] = verify(policy, folder / "s.yaml", all_choices=True, **asked).expectations
    return found


# --- ranges -----------------------------------------------------------------------------------------


def test_the_ends_of_a_range_do_not_speak_for_what_is_between(tmp_path: Path) -> None:
    """With stops of 0 s the owner has finished by then, with 120 s it has not started; with 30 s it runs."""
    expectation = "expect: [{at: 100s, running: [a, b], exactly: true}]\n"
    for stop_seconds in ("0s", "120s"):
        timing = f"timing: {{stop_seconds: {stop_seconds}}}\n"
        assert verdict(tmp_path, TIED + timing + expectation, open=["victims"]).verdict is Answer.HOLDS
    between = verdict(tmp_path, TIED + "timing: {stop_seconds: 30s}\n" + expectation, open=["victims"])
    assert between.verdict is Answer.FAILS
    found = verdict(tmp_path, TIED + "timing: {stop_seconds: [0s, 120s]}\n" + expectation, open=["victims"])
    assert found.verdict is Answer.UNDECIDED
    assert found.message.endswith(
        "events may come at other times than were tried; one duration for every job and one value for every time"
        " would settle it"
    )


@pytest.mark.parametrize(
    ("range_", "expectation", "answer"),
    [
        ("timing: {start_seconds: [0s, 90s]}", "{job: owner, finishes_within: 1m}", Answer.FAILS),
        ("timing: {start_seconds: [0s, 30s]}", "{job: owner, starts_within: 0s}", Answer.HOLDS),
        (
            "timing: {checkpoint_every: [10s, 20m], restart_seconds: [0s, 1m]}",
            "{job: b, lost_work: {at_most: 30s}}",
            Answer.FAILS,
        ),
        ("timing: {queue_latency: [0s, 10s]}", "{job: owner, starts_within: 5s}", Answer.FAILS),
        ("choices: {default_priority: [0, 9]}", "{job: owner, starts_within: 0s}", Answer.HOLDS),
    ],
)
def test_every_number_may_be_a_range(range_: str, expectation: str, answer: Answer, tmp_path: Path) -> None:
    found = verdict(tmp_path, f"{TIED}{range_}\nexpect: [{expectation}]\n", open=["victims"])
    assert found.verdict is answer, found


def test_a_default_priority_is_tried_below_beside_and_above_those_that_are_stated(tmp_path: Path) -> None:
    """It takes a priority above 5 to stop the other, and neither end of the range is."""
    text = """
        choices: {default_priority: [0, 4]}
        jobs:
          - {name: a, share: QS1, instance_count: 2, priority: %d}
          - {name: b, share: QS1, instance_count: 2, submit: 1m}
        expect: [{job: a, preempted: 0}]
    """
    for priority, answer in ((2, Answer.FAILS), (4, Answer.HOLDS)):
        found = verdict(tmp_path, text % priority, open=[])
        assert found.verdict is answer
    failed = verdict(tmp_path, text % 2, open=[])
    assert failed.counterexample is not None
    assert failed.counterexample.scenario["choices"] == {"default_priority": 3}


def test_the_report_has_both_ends(folder: Path) -> None:
    ranges = "timing: {stop_seconds: [0s, 20s], start_seconds: [5s, 1m]}\nchoices: {default_priority: [1, 3]}\n"
    (folder / "s.yaml").write_text(TIED + ranges + "expect: [{always: within_bounds}]\n", encoding="utf-8")
    result = run("verify", "policy.yaml", "s.yaml", "--open", "victims")
    told = " ".join(result.stdout.split())
    assert "stop_seconds 0s to 20s, from a preemption to the release of its capacity" in told
    assert "start_seconds: 5s to 1m" in told
    assert "default_priority: 1 to 3" in told


def test_one_run_takes_no_range(folder: Path) -> None:
    (folder / "s.yaml").write_text(TIED + "choices: {default_priority: [1, 3]}\nexpect: [{always: within_bounds}]\n")
    result = run("verify", "policy.yaml", "s.yaml")
    assert result.exit_code == 2
    assert result.stderr.endswith("choices.default_priority: a range is for verify --all-choices; give one value\n")


# --- times ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("duration", ["", ", duration: [1m, 9m30s]"])
def test_a_job_may_also_end_just_before_the_next_event(duration: str, tmp_path: Path) -> None:
    """Only then does the next job, which takes two minutes, still run when the urgent one comes."""
    text = f"""
        jobs:
          - {{name: first, share: QS1, priority: 5{duration}}}
          - {{name: next, share: QS1, priority: 1, instance_count: 2, duration: 2m}}
          - {{name: urgent, share: QS1, priority: 3, instance_count: 2, submit: 10m}}
        expect: [{{never: {{share: QS1, preempted: any}}}}]
    """
    found = verdict(tmp_path, text, open=[])
    assert found.verdict is Answer.FAILS
    assert found.message.startswith("next of QS1, priority 1, was preempted at ")


def test_a_duration_that_begins_at_any_time_says_what_would_settle_it(tmp_path: Path) -> None:
    text = """
        jobs:
          - {name: first, share: QS3, duration: [1m, 9m]}
          - {name: next, share: QS3, duration: 5m}
          - {name: last, share: QS3, submit: 10m, duration: 1m}
        expect: [{job: last, starts_within: 5m}]
    """
    found = verdict(tmp_path, text, open=["victims"])
    assert found.verdict is Answer.UNDECIDED
    assert found.message.endswith("one duration for every job would settle it, or no duration for any")
    settled = text.replace("[1m, 9m]", "9m")
    assert verdict(tmp_path, settled, open=["victims"]).verdict is Answer.HOLDS


@pytest.mark.parametrize("stop_seconds", ["0s", "20s"])
def test_durations_beside_open_ones_are_settled_where_none_begins_when_one_of_these_ends(
    stop_seconds: str, tmp_path: Path
) -> None:
    text = f"""
        timing: {{stop_seconds: {stop_seconds}}}
        jobs:
          - {{name: first, share: QS3, duration: 5m}}
          - {{name: other, share: QS1}}
          - {{name: borrows, share: QS1}}
          - {{name: owner, share: QS2, submit: 5m, duration: 30s}}
          - {{name: next, share: QS3, submit: 6m}}
        expect: [{{job: next, starts_within: 0s}}]
    """
    assert verdict(tmp_path, text, open=["victims"]).verdict is Answer.HOLDS


# --- owners -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("within", "answer"),
    [("20s", Answer.HOLDS), ("30s", Answer.HOLDS), ("10s", Answer.FAILS)],
)
def test_owners_wait_for_one_stop_at_most(within: str, answer: Answer) -> None:
    found = prove(POLICY, f"owner_reclaims={within}", jobs=3, stop_seconds=20.0)
    assert found.verdict is answer


# --- what never happens -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("never", "answer"),
    [
        ("{share: QS3, preempted: any}", Answer.HOLDS),
        ("{share: QS1, preempted: cross_share}", Answer.FAILS),
        ("{priority_at_least: 1, preempted: in_share}", Answer.HOLDS),
    ],
)
def test_what_no_workload_brings_about(never: str, answer: Answer) -> None:
    assert prove(POLICY, never, jobs=3, priorities=[0, 1]).verdict is answer


def test_a_share_that_there_is_not_is_an_error() -> None:
    with pytest.raises(InputError, match="property: no share 'QS4'; there is QS1, QS2, QS3"):
        prove(POLICY, "{share: QS4, preempted: any}", jobs=1)


# --- circles ----------------------------------------------------------------------------------------

HALVES = """
    service_environment: {capacity_limits: {ml.g5.xlarge: 6}}
    shares:
      s0: {capacity_limits: {ml.g5.xlarge: 3}, strategy: LEND_AND_BORROW, in_share_preemption: true}
      s1: {capacity_limits: {ml.g5.xlarge: 3}, strategy: LEND_AND_BORROW, in_share_preemption: true}
"""
PAIR = """
    jobs:
      - {name: a, share: s0, instance_count: 4}
      - {name: b, share: s1, instance_count: 4, submit: 1s}
    choices: {partly_borrowed: yes}
    expect: [{always: within_bounds}]
"""
CIRCLE = "stop each other over and over"


def test_a_circle_among_the_schedules_leaves_it_undecided(folder: Path) -> None:
    write(folder, "halves.yaml", HALVES)
    write(folder, "pair.yaml", PAIR.replace("choices: {partly_borrowed: yes}", ""))
    [found] = verify("halves.yaml", "pair.yaml", open=["partly_borrowed"]).expectations
    assert found.verdict is Answer.UNDECIDED
    assert "a and b can stop each other over and over at one instant (1 s)" in found.message
    assert found.message.endswith("do not say how that ends (with partly_borrowed: yes)")


def test_the_other_scenarios_are_judged_all_the_same(folder: Path) -> None:
    write(folder, "halves.yaml", HALVES)
    write(folder, "circle.yaml", PAIR.replace("yes", "'yes'"))
    write(folder, "holds.yaml", "jobs: [{name: a, share: s0}]\nexpect: [{job: a, starts_within: 0s}]\n")
    write(folder, "fails.yaml", "jobs: [{name: a, share: s0}]\nexpect: [{job: a, never_starts: true}]\n")
    files = ["circle.yaml", "holds.yaml"]
    undecided = run("verify", "halves.yaml", *files)
    assert (undecided.exit_code, undecided.stderr.count(CIRCLE)) == (3, 1)
    assert "undecided: 1 of 2 expectations hold" in undecided.stdout
    failed = run("verify", "halves.yaml", *files, "fails.yaml")
    assert (failed.exit_code, failed.stderr.count(CIRCLE)) == (1, 1)
    assert "fails: 1 of 3 expectations hold" in failed.stdout
    explored = run("verify", "halves.yaml", *files, "fails.yaml", "--open", "victims")
    assert (explored.exit_code, explored.stderr) == (1, "")
    assert "fails: 1 of 3 expectations hold" in explored.stdout


# --- what it hinges on ------------------------------------------------------------------------------


def test_the_fewest_choices_that_settle_it(tmp_path: Path) -> None:
    """That b is stopped takes one answer about victims; that it stays stopped takes another about its place in line."""
    text = """
        jobs:
          - {name: a, share: QS1, priority: 2}
          - {name: b, share: QS1, priority: 2}
          - {name: c, share: QS1, priority: 2, submit: 1m}
          - {name: owner, share: QS2, submit: 2m, duration: 1m}
        until: 5m
        expect: [{at: 4m, running: [a, b], exactly: true}]
    """
    found = verdict(tmp_path, text, open=["victims", "requeue", "share_order"])
    assert (found.verdict, found.depends_on) == (Answer.FAILS, ())
    fixed = text.replace("QS1, priority: 2}", "QS1, priority: 2, duration: 1h}")
    found = verdict(tmp_path, fixed, open=["victims", "requeue", "share_order"])
    assert (found.verdict, found.depends_on) == (Answer.DEPENDS, ("requeue",))


# --- smaller ----------------------------------------------------------------------------------------


def test_a_counterexample_of_a_property_is_shrunk() -> None:
    result = prove(POLICY, "disruption_ratio=0.5", jobs=4, sizes=[1, 2], priorities=[0, 1])
    assert result.property.counterexample is not None
    jobs = result.property.counterexample.scenario["jobs"]
    assert [(job["name"], job["instance_count"]) for job in jobs] == [("QS1-1", 1), ("QS1-2", 1), ("QS1-3", 1)]
    assert [job.get("duration") for job in jobs] == [None, None, None]


def test_a_counterexample_comes_at_the_simplest_times(tmp_path: Path) -> None:
    text = """
        jobs:
          - {name: a, share: QS1, priority: 1, instance_count: 2, submit: 3m17s}
          - {name: b, share: QS1, priority: 2, instance_count: 2, submit: 7m23s}
          - {name: c, share: QS3, submit: 8m}
        expect: [{job: a, preempted: 0}]
    """
    found = verdict(tmp_path, text, open=["victims"])
    assert found.counterexample is not None
    jobs = found.counterexample.scenario["jobs"]
    assert [(job["name"], job["instance_count"], job.get("submit", 0)) for job in jobs] == [("a", 1, 0), ("b", 2, 420)]


@pytest.mark.usefixtures("folder")
def test_stop_seconds_of_a_property() -> None:
    options = ["--property", "owner_reclaims=10s", "--jobs", "3", "--open", "victims"]
    assert run("verify", "policy.yaml", *options).exit_code == 0
    slow = run("verify", "policy.yaml", *options, "--stop-seconds", "20s", "--counterexamples", "broken")
    assert slow.exit_code == 1
    path = slow.stderr.removeprefix("counterexample: ").rstrip("\n")
    assert run("verify", "policy.yaml", path).exit_code == 1
    assert "stop_seconds  20s from a preemption" in slow.stdout
    wrong = run("verify", "policy.yaml", "examples.yaml", "--stop-seconds", "20s")
    assert (wrong.exit_code, wrong.stderr) == (2, "policy-engine: --stop-seconds needs --property\n")
