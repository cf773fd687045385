"""The command ``compare``: what it takes, what it exits with, where things go."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from policy_engine.expectations import Answer
from policy_engine.running import verify
from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

OLD = """
    queue: training
    service_environment: {capacity_limits: {ml.g5.xlarge: 6}}
    shares:
      a: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, borrow_limit: 100, in_share_preemption: false}
      b: {capacity_limits: {ml.g5.xlarge: 4}, strategy: LEND, in_share_preemption: false}
"""
NEW = OLD.replace("ml.g5.xlarge: 4", "ml.g5.xlarge: 3")
RENAMED = OLD.replace("      b:", "      bee:")
HISTORY = "submit_time_s,team,instance_type,instance_count,duration_s\n0,a,ml.g5.xlarge,4,60\n9,x,ml.g5.xlarge,1,5\n"
EXPECTING = "jobs: [{name: x, share: b, instance_count: 4}]\nexpect: [{job: x, starts_within: 0s}]\n"


@pytest.fixture
def there(folder: Path) -> Path:
    for name, content in (("old.yaml", OLD), ("new.yaml", NEW), ("renamed.yaml", RENAMED), ("jobs.csv", HISTORY)):
        write(folder, name, content)
    write(folder, "jobs.yaml", EXPECTING)
    return folder


def compare(*arguments: str) -> Result:
    return run("compare", *arguments)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["old.yaml", "new.yaml"], 0),
        (["old.yaml", "old.yaml", "--fail-on", "worse"], 0),
        (["old.yaml", "new.yaml", "--fail-on", "worse"], 1),
        (["old.yaml", "new.yaml", "--fail-on", "destructive"], 0),
        (["old.yaml", "renamed.yaml"], 0),
        (["old.yaml", "renamed.yaml", "--fail-on", "destructive"], 1),
        (["old.yaml", "new.yaml", "--fail-on", "worse", "--intends", "b"], 1),
        (["old.yaml", "new.yaml", "--fail-on", "worse", "--intends", "a,b"], 0),
        (["old.yaml", "new.yaml", "jobs.yaml"], 0),
        (["old.yaml", "new.yaml", "jobs.csv", "--fail-on", "destructive"], 0),
    ],
)
@pytest.mark.usefixtures("there")
def test_exit_codes(arguments: list[str], code: int) -> None:
    result = compare(*arguments)
    assert (result.exit_code, result.exception.__class__) == (code, SystemExit if code else type(None)), result.stderr


@pytest.mark.parametrize("fail_on", ["worse", "destructive"])
@pytest.mark.usefixtures("there")
def test_the_verdict_is_the_exit_code(fail_on: str) -> None:
    for new in ("old.yaml", "new.yaml", "renamed.yaml"):
        result = compare("old.yaml", new, "--fail-on", fail_on, "--format", "json")
        assert json.loads(result.stdout)["verdict"] == {0: "holds", 1: "fails"}[result.exit_code]
    assert json.loads(compare("old.yaml", "new.yaml", "--format", "json").stdout)["verdict"] is None


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["old.yaml"], "policy-engine: missing argument 'NEW'"),
        (["old.yaml", "nothing.yaml"], "nothing.yaml: no such file"),
        (["old.yaml", "new.yaml", "nothing.csv"], "nothing.csv: no such file"),
        (
            ["old.yaml", "new.yaml", "new.yaml"],
            "new.yaml:3:1: service_environment: unknown key 'service_environment'; allowed: policy, queue, choices,"
            " timing, running, jobs, events, decisions, until, expect",
        ),
        (["old.yaml", "new.yaml", "--intends", "c"], "intends: no share 'c' before or after the change; there is a, b"),
        (["old.yaml", "new.yaml", "--warm-up", "3d"], "policy-engine: --warm-up needs a job history"),
        (["old.yaml", "new.yaml", "jobs.yaml", "--map", "m.yaml"], "policy-engine: --map needs a job history"),
        (["old.yaml", "new.yaml", "--stop-seconds", "5"], "policy-engine: --stop-seconds needs a job history"),
        (["old.yaml", "new.yaml", "--now"], "old.yaml: --now needs a live queue as OLD (queue:NAME or queue:ARN)"),
        (
            ["old.yaml", "new.yaml", "--fail-on", "better"],
            "policy-engine: invalid value for '--fail-on': 'better' is not one of 'worse', 'destructive'",
        ),
        (["old.yaml", "new.yaml", "scenario.yaml"], "scenario.yaml:3:17: jobs[0].share: no share 'QS1'; there is a, b"),
    ],
)
@pytest.mark.usefixtures("there")
def test_what_is_wrong_is_one_line(arguments: list[str], line: str) -> None:
    result = compare(*arguments)
    assert (result.exit_code, result.stdout, result.stderr.splitlines()) == (2, "", [line])


@pytest.mark.usefixtures("there")
def test_teams_that_neither_has_are_told_of() -> None:
    result = compare("old.yaml", "new.yaml", "jobs.csv", "--strict")
    assert (result.exit_code, "1 x a team without a quota share" in result.stderr) == (2, True)


@pytest.mark.usefixtures("there")
def test_intents_are_repeated_or_listed() -> None:
    for given in (["--intends", "a", "--intends", "b"], ["--intends", "a, b"]):
        data = json.loads(compare("old.yaml", "new.yaml", *given, "--format", "json").stdout)
        assert (data["intends"], data["hit"]) == (["a", "b"], [])


@pytest.mark.usefixtures("there")
def test_witnesses_are_written_and_replay(tmp_path: Path) -> None:
    result = compare("old.yaml", "new.yaml", "--witnesses", "witnesses")
    assert result.stderr.splitlines() == [f"witness: witnesses/{name}.yaml" for name in "ab"]
    for path in sorted((tmp_path / "witnesses").iterdir()):
        assert verify("old.yaml", path).verdict is Answer.HOLDS
        assert verify("new.yaml", path).verdict is Answer.FAILS
        again = json.loads(compare("old.yaml", "new.yaml", str(path), "--format", "json").stdout)
        assert [one["lost"] for one in again["scenario"]["expectations"]] == [True]


def test_a_json_file_is_a_scenario_or_a_history(there: Path) -> None:
    jobs = [{"name": "x", "share": "a"}]
    write(there, "scenario.json", json.dumps({"jobs": jobs}))
    told = {
        "jobId": "1",
        "jobName": "x",
        "quotaShareName": "a",
        "status": "SUCCEEDED",
        "createdAt": 1000,
        "startedAt": 1000,
        "stoppedAt": 61000,
        "capacityUsage": [{"capacityUnit": "ml.g5.xlarge", "quantity": 1}],
    }
    write(there, "history.json", json.dumps({"jobSummaryList": [told]}))
    write(there, "pages.json", f"{json.dumps({'jobSummaryList': [told]})}\n" * 2)
    for name, kind in (("scenario.json", "scenario"), ("history.json", "replay"), ("pages.json", "replay")):
        data = json.loads(compare("old.yaml", "new.yaml", name, "--format", "json").stdout)
        assert {key for key in ("scenario", "replay") if data[key] is not None} == {kind}
