"""Scenarios run and judged as a whole: AWS's walkthrough, and what is no pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.expectations import Answer, Verification, verify
from policy_engine.policy import Policy
from policy_engine.sources import load_policy
from policy_engine.workload.scenario import load_scenario
from tests.policy_engine.logs import policy_of

EXAMPLES = Path(__file__).parents[3] / "examples"


def verified(text: str, folder: Path, policy: Policy | None = None) -> Verification:
    path = folder / "s.yaml"
    path.write_text(text, encoding="utf-8")
    return verify(policy or policy_of({"a": "1 LEND", "b": "1 RESERVE"}), load_scenario(path))


def test_the_walkthrough_holds() -> None:
    """Golden results 1: every step of AWS's notebook."""
    policy = load_policy(EXAMPLES / "policy.yaml")
    result = verify(policy, load_scenario(EXAMPLES / "walkthrough.yaml", policy))
    assert [(verdict.name, verdict.message) for verdict in result.verdicts if verdict.verdict != Answer.HOLDS] == []
    assert result.verdict == Answer.HOLDS
    assert all(verdict.because for verdict in result.verdicts)
    assert [(event.at, event.job, event.by, event.why) for event in result.run.log if event.kind == "preempted"] == [
        (60, "qs1_job_med", "qs2_job_1", "cross_share"),
        (120, "qs1_job_high", "qs1_job_low", "in_share"),
    ]


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        # each documented property of a share, taken away, fails the step that rests on it
        (("LEND, in", "RESERVE, in"), "QS1 runs on its own instance and on a borrowed one"),
        (("borrow_limit: 200", "borrow_limit: 0"), "QS1 runs on its own instance and on a borrowed one"),
        (("RESERVE, in", "LEND, in"), "the third job waits although QS3 is idle"),
        (("preemption: true", "preemption: false"), "the raised job takes the place of its share's own"),
    ],
)
def test_the_walkthrough_notices_another_policy(change: tuple[str, str], broken: str, tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    text = (EXAMPLES / "policy.yaml").read_text(encoding="utf-8")
    assert change[0] in text
    path.write_text(text.replace(*change), encoding="utf-8")
    result = verify(load_policy(path), load_scenario(EXAMPLES / "walkthrough.yaml"))
    assert result.verdict == Answer.FAILS
    assert broken in [verdict.name for verdict in result.verdicts if verdict.verdict == Answer.FAILS]


@pytest.mark.parametrize("text", ["jobs: []", "expect: []"])
def test_a_scenario_that_expects_nothing_is_no_pass(text: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        verified(text, tmp_path)
    assert str(caught.value) == f"{tmp_path / 's.yaml'}: expects nothing; say what should hold under 'expect'"


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("expect: [{never: {share: c, preempted: any}}]", ":1:19: expect[0].never.share: no share 'c'; there is a, b"),
        # what is wrong comes before what is missing
        ("jobs: [{name: x, share: c}]", ":1:18: jobs[0].share: no share 'c'; there is a, b"),
        ("timing: {stop_seconds: [0, 120]}", ":1:10: timing.stop_seconds: a range is for verify --all-choices"),
    ],
)
def test_a_scenario_that_does_not_fit_is_wrong_input(text: str, error: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        verified(text, tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 's.yaml'}{error}")


def test_one_failure_fails_the_whole(tmp_path: Path) -> None:
    text = """
        jobs: [{name: x, share: a, duration: 1m}]
        expect:
          - {job: x, finishes_within: 1m}
          - {job: x, never_starts: true}
        """
    result = verified(text, tmp_path)
    assert [verdict.verdict for verdict in result.verdicts] == [Answer.HOLDS, Answer.FAILS]
    assert result.verdict == Answer.FAILS
    assert [verdict.line for verdict in result.verdicts] == [4, 5]


def test_choices_and_timing_of_the_scenario_count(tmp_path: Path) -> None:
    policy = policy_of({"a": "1 LEND_AND_BORROW", "b": "1 LEND"})
    text = """
        choices: {default_priority: 7}
        timing: {stop_seconds: 20}
        jobs:
          - {name: x, share: a, instance_count: 2}
          - {name: y, share: b, submit: 1m}
        expect:
          - {job: y, starts_within: 19s}
          - {never: {priority_at_least: 8, preempted: any}}
          - {never: {priority_at_least: 7, preempted: any}}
        """
    result = verified(text, tmp_path, policy)
    assert [verdict.verdict for verdict in result.verdicts] == [Answer.FAILS, Answer.HOLDS, Answer.FAILS]
    assert result.verdicts[0].message == "y started 20s after its submission; expected at most 19s"


RECLAIM = """
    jobs:
      - {name: old, share: a, priority: 1, duration: 1h}
      - {name: new, share: a, priority: 1, submit: 5, duration: 1h}
      - {name: owner, share: b, submit: 60}
    expect:
      - {job: new, preempted: 1}
      - {job: owner, starts_within: 0}
"""


def test_a_verdict_names_what_it_rests_on(tmp_path: Path) -> None:
    """AWS does not say which of two borrowers is stopped; that one is, it does."""
    policy = policy_of({"a": "1 LEND_AND_BORROW", "b": "1 LEND"})
    result = verified(RECLAIM, tmp_path, policy)
    assert result.verdict == Answer.HOLDS
    assert [verdict.rests_on for verdict in result.verdicts] == [("victims",), ()]
    other = verified(RECLAIM + "    choices: {victims: oldest}\n", tmp_path, policy)
    assert [verdict.verdict for verdict in other.verdicts] == [Answer.FAILS, Answer.HOLDS]
    assert [verdict.rests_on for verdict in other.verdicts] == [("victims",), ()]


def test_long_runs_are_not_run_again(tmp_path: Path) -> None:
    text = """
        jobs: [{name: x, share: a, duration: 1s, copies: 400, every: 1s}]
        expect: [{always: {starts_within: 1s}}]
        """
    [verdict] = verified(text, tmp_path).verdicts
    assert (verdict.verdict, verdict.rests_on) == (Answer.HOLDS, None)
