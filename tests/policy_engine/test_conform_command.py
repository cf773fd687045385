"""`conform` and `simulate --history`, as a user runs them."""

import json
from pathlib import Path

import jsonschema
import pytest

from policy_engine.schema import SCHEMAS
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

OWNERS = """
    service_environment: {capacity_limits: {ml.g5.xlarge: 1}}
    shares:
      zebra: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
      ant: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
"""
LESSER = """
    service_environment: {capacity_limits: {ml.g5.xlarge: 1, ml.p5.48xlarge: 1}}
    shares:
      zebra: {capacity_limits: {ml.p5.48xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
      ant: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
"""
JOBS = """
    jobs:
      - {name: first, share: zebra, duration: 1h}
      - {name: old, share: zebra, submit: 10m, duration: 1h}
      - {name: young, share: ant, submit: 20m, duration: 1h}
"""
RAISED = """
    jobs:
      - {name: low, share: ant, priority: 1, duration: 1h}
      - {name: high, share: ant, priority: 2, submit: 1m, duration: 1h}
      - {name: raised, share: ant, priority: 0, submit: 2m, duration: 1h}
    events:
      - {at: 5m, update_priority: {job: raised, priority: 9}}
"""
EVENTS = """
    events:
      - {at: 0s, update_priority: {job: raised, priority: 0}}
      - {at: 5m, update_priority: {job: raised, priority: 9}}
"""


@pytest.fixture
def history(folder: Path) -> Path:
    """Two owners and one instance; the older head gets it."""
    write(folder, "owners.yaml", OWNERS)
    write(folder, "jobs.yaml", JOBS)
    assert run("simulate", "owners.yaml", "jobs.yaml", "--history", "jobs.jsonl").exit_code == 0
    return folder / "jobs.jsonl"


@pytest.mark.usefixtures("history")
def test_the_answers_that_fit_and_what_refutes_the_others() -> None:
    result = run("conform", "owners.yaml", "jobs.jsonl", "--tolerance", "0", "--stop-within", "0")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 0
    assert "narrowed: oldest_head, declared, least_used" in text
    assert "name is refuted at 1h (2026-01-01 01:00:00 UTC): old started; expected: young starts" in text
    assert "The engine's default answers fit together" in text
    assert "Every answer to these fits" in text
    assert text.endswith("holds: 3 jobs, 0 preemptions; 1 answer refuted")


@pytest.mark.usefixtures("history")
def test_json_and_files(folder: Path) -> None:
    options = ("--tolerance", "0", "--stop-within", "0", "--format", "json", "--junit", "j.xml", "--markdown", "m.md")
    told = json.loads(run("conform", "owners.yaml", "jobs.jsonl", *options).stdout)
    jsonschema.Draft202012Validator(SCHEMAS["result"]()).validate(told)
    assert (told["command"], told["verdict"], told["together"]) == ("conform", "holds", {})
    [order] = [choice for choice in told["choices"] if choice["name"] == "share_order"]
    assert order["standing"] == "narrowed"
    assert {answer["answer"]: answer["fit"] for answer in order["answers"]} == {
        "oldest_head": "consistent",
        "declared": "consistent",
        "name": "refuted",
        "least_used": "consistent",
    }
    assert order["answers"][2]["refuted_by"] == {
        "at": 3600,
        "job": "young",
        "happened": "old started",
        "expected": "young starts",
    }
    assert told["rests_on"]["tolerance_seconds"] == 0
    assert 'name="C1 share_order"' in (folder / "j.xml").read_text()
    assert "| C1 share\\_order |" in (folder / "m.md").read_text()


@pytest.mark.usefixtures("history")
def test_a_history_that_nothing_explains_exits_with_1(folder: Path) -> None:
    write(folder, "lesser.yaml", LESSER)
    result = run("conform", "lesser.yaml", "jobs.jsonl", "--tolerance", "0")
    text = " ".join(result.stdout.split())
    assert result.exit_code == 1
    assert "Not reachable: at 0s (2026-01-01 00:00:00 UTC): first started; expected:" in text
    assert text.endswith("fails: 3 jobs, 0 preemptions; no answer to the open choices explains them")


def test_events_tell_what_no_history_does(folder: Path) -> None:
    write(folder, "owners.yaml", OWNERS)
    write(folder, "raised.yaml", RAISED)
    write(folder, "events.yaml", EVENTS)
    assert run("simulate", "owners.yaml", "raised.yaml", "--history", "jobs.jsonl").exit_code == 0
    arguments = ("conform", "owners.yaml", "jobs.jsonl", "--tolerance", "0")
    assert run(*arguments, "--events", "events.yaml").exit_code == 0
    history = (folder / "jobs.jsonl").read_text()
    assert history.count('"schedulingPriority": 9') == 1, "AWS tells of the last priority"


@pytest.mark.usefixtures("history")
@pytest.mark.parametrize(
    ("events", "line"),
    [
        ("jobs: []\n", "events.yaml:1:1: jobs: does not belong here; a file of events has `events` alone"),
        (
            "events: [{at: 1m, terminate: {job: old}}]\n",
            "events.yaml:1:19: events[0].terminate: is in the history already; allowed are update_priority,"
            " update_share, update_service_environment",
        ),
        (
            "events: [{at: 1m, update_priority: {job: gone, priority: 1}}]\n",
            "events.yaml:1:37: events[0].update_priority.job: no job 'gone' in the history",
        ),
        (
            "events: [{at: 1m, update_share: {share: gone, state: DISABLED}}]\n",
            "events.yaml:1:34: events[0].update_share.share: no share 'gone' in the policy",
        ),
    ],
)
def test_bad_events_are_one_line(folder: Path, events: str, line: str) -> None:
    write(folder, "events.yaml", events)
    result = run("conform", "owners.yaml", "jobs.jsonl", "--events", "events.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{line}\n")


@pytest.mark.usefixtures("history")
def test_what_is_left_out_is_told_on_standard_error() -> None:
    result = run("conform", "policy.yaml", "jobs.jsonl")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "3 jobs cannot be used: " in result.stderr
    assert "a quota share that the policy has not got" in result.stderr


@pytest.mark.usefixtures("history")
def test_replay_takes_the_history_too() -> None:
    assert run("replay", "owners.yaml", "jobs.jsonl").exit_code == 0
