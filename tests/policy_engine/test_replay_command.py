"""The command ``replay``: what it takes, where things go, and what it exits with."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from tests.policy_engine.command import folder, run, write

__all__ = ["folder"]

POLICY = """
    queue: training
    service_environment: {capacity_limits: {ml.g5.xlarge: 4}}
    shares:
      a: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND_AND_BORROW, in_share_preemption: false}
      b: {capacity_limits: {ml.g5.xlarge: 2}, strategy: LEND, in_share_preemption: false}
"""
HISTORY = """
    submit_time_s,job_id,team,instance_type,instance_count,duration_s
    0,a0,a,ml.g5.xlarge,4,1000
    100,b0,b,ml.g5.xlarge,1,300
    200,x,nobody,ml.g5.xlarge,1,5
    300,y,a,ml.g5.xlarge,1,-1
"""
NO_TYPE = "is not a SageMaker instance type such as 'ml.g5.xlarge'"
NO_DURATION = "is not a duration such as 90, 90s, 5m, 2h, 1d or 1h30m"
MAP = "teams: {nobody: b}"


@pytest.fixture
def there(folder: Path) -> Path:
    """The folder, with a policy of two shares and a history in it."""
    write(folder, "shares.yaml", POLICY)
    write(folder, "jobs.csv", HISTORY.lstrip("\n"))
    write(folder, "map.yaml", MAP)
    return folder


def replay(*options: str) -> Result:
    return run("replay", "shares.yaml", "jobs.csv", *options)


@pytest.mark.usefixtures("there")
def test_a_replay_ends_well_and_says_on_standard_error_what_is_left_out() -> None:
    result = replay()
    assert result.exit_code == 0
    assert result.stderr.splitlines() == [
        "left out: 1 x no duration (line 5)",
        "left out: 1 x a team without a quota share of its name: map it with --map: nobody (x)",
    ]
    assert result.stdout.startswith(
        "policy   policy document shares.yaml, queue training\nhistory  CSV jobs.csv (3 jobs)\n"
    )
    assert "replayed: 2 jobs over 3m20s; nothing was judged" in result.stdout


@pytest.mark.usefixtures("there")
def test_a_map_finds_a_share_for_every_team() -> None:
    data = json.loads(replay("--map", "map.yaml", "--format", "json").stdout)
    assert [(job["name"], job["share"]) for job in data["jobs"]] == [("a0", "a"), ("b0", "b"), ("x", "b")]


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("options", "seconds"), [([], 20), (["--stop-seconds", "2m"], 120), (["--stop-seconds", "0"], 0)]
)
def test_stopping_takes_what_the_option_says(options: list[str], seconds: float) -> None:
    data = json.loads(replay(*options, "--format", "json").stdout)
    assert data["rests_on"]["stop_seconds"] == seconds
    [b0] = [job for job in data["jobs"] if job["name"] == "b0"]
    assert b0["wait_seconds"] == seconds
    [share] = [share for share in data["shares"] if share["name"] == "a"]
    assert (share["preemptions_suffered"], share["lost_instance_seconds"]) == (1, 4 * (100 + seconds))


@pytest.mark.usefixtures("there")
def test_everything_at_once(there: Path) -> None:
    write(there, "prices.yaml", "ml.g5.xlarge: 1.5")
    options = [
        "--baselines",
        "--shake",
        "2",
        "--seed",
        "3",
        "--workers",
        "1",
        "--warm-up",
        "50s",
        "--checkpoint-every",
        "1m",
    ]
    files = ["--prices", "prices.yaml", "--events", "events.json", "--rows", "rows.csv", "--json", "out/result.json"]
    result = replay(*options, *files, "--markdown", "result.md", "--format", "json")
    assert result.exit_code == 0, result.stderr
    data = json.loads(result.stdout)
    assert json.loads((there / "out/result.json").read_text(encoding="utf-8")) == data
    assert (data["shaken"]["replays"], data["shaken"]["seed"], data["measured"]["from"]) == (2, 3, 50)
    assert data["rests_on"]["checkpoint_every"] == 60
    assert data["costs"]["queue"]["busy"] > 0
    assert len(data["baselines"]) == 3
    lines = (there / "rows.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("run,job,share,")
    runs = ("hard partitions", "as it is", "open queue", "copy 1", "copy 2")
    assert list(dict.fromkeys(line.partition(",")[0] for line in lines[1:])) == list(runs)
    assert json.loads((there / "events.json").read_text(encoding="utf-8"))[0]["kind"] == "submitted"
    assert "## replayed" in (there / "result.md").read_text(encoding="utf-8").replace("**", "")


@pytest.mark.usefixtures("there")
def test_names_are_replaced_everywhere() -> None:
    result = replay("--anonymise", "--format", "json")
    assert result.stderr.splitlines() == [
        "left out: 1 x no duration",
        "left out: 1 x a team without a quota share of its name: map it with --map: share-3 (job-3)",
    ]
    data = json.loads(result.stdout)
    assert data["policy"] == {"source": "policy", "queue": "queue", "read_as": "a policy document"}
    assert [job["name"] for job in data["jobs"]] == ["job-1", "job-2"]
    assert "jobs.csv" not in result.stdout


@pytest.mark.usefixtures("there")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--strict"], "jobs.csv: 1 job is left out with --strict: 1 x no duration (line 5)"),
        (["--map", "nothing.yaml"], "nothing.yaml: no such file"),
        (["--prices", "map.yaml"], f"map.yaml:1:1: teams: 'teams' {NO_TYPE}"),
        (["--warm-up", "soon"], f"policy-engine: invalid value for '--warm-up': 'soon' {NO_DURATION}"),
        (["--warm-up", "-1d"], "policy-engine: invalid value for '--warm-up': '-1d' is below zero"),
        (["--shake", "-1"], "policy-engine: invalid value for '--shake': -1 is not in the range x>=0"),
        (["--workers", "0"], "policy-engine: invalid value for '--workers': 0 is not in the range x>=1"),
    ],
)
def test_what_is_wrong_is_one_line_and_exits_with_2(options: list[str], message: str) -> None:
    result = replay(*options)
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"{message}\n")


@pytest.mark.usefixtures("there")
def test_a_history_that_is_none_is_wrong_input() -> None:
    result = run("replay", "shares.yaml", "shares.yaml")
    assert result.exit_code == 2
    assert result.stderr.startswith("shares.yaml:1: not a job history; expected CSV with a header")


@pytest.mark.usefixtures("there")
def test_a_value_that_is_unknown_until_deployment_cannot_be_replayed(there: Path) -> None:
    write(
        there,
        "template.yaml",
        """
        Resources:
          Environment:
            Type: AWS::Batch::ServiceEnvironment
            Properties:
              ServiceEnvironmentType: SAGEMAKER_TRAINING
              CapacityLimits: [{CapacityUnit: ml.g5.xlarge, MaxCapacity: !ImportValue Capacity}]
          Policy:
            Type: AWS::Batch::SchedulingPolicy
            Properties: {QuotaSharePolicy: {IdleResourceAssignmentStrategy: FIFO}}
          Queue:
            Type: AWS::Batch::JobQueue
            Properties:
              JobQueueType: SAGEMAKER_TRAINING
              Priority: 1
              SchedulingPolicyArn: !Ref Policy
              ServiceEnvironmentOrder: [{Order: 1, ServiceEnvironment: !Ref Environment}]
        """,
    )
    result = run("replay", "template.yaml", "jobs.csv")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "MaxCapacity" in result.stderr
