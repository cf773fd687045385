"""The commands on live queues, as a user runs them."""

import json
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
import yaml

import policy_engine
from policy_engine.cli import main
from policy_engine.schema import SCHEMAS
from tests.policy_engine.command import SCENARIO, folder, run, write
from tests.policy_engine.sources.live.account import QUEUE, Account, RefusalError, job

__all__ = ["folder"]

RESULT = jsonschema.Draft202012Validator(SCHEMAS["result"]())
START = 1_790_000_000_000
COMMANDS = [
    ("check", "queue:training"),
    ("simulate", "queue:training", "scenario.yaml"),
    ("verify", "queue:training", "scenario.yaml"),
    ("explain", "queue:training", "scenario.yaml", "--job", "owner"),
    ("replay", "queue:training", "jobs.csv"),
    ("compare", "queue:training", "policy.yaml", "--now"),
    ("compare", "policy.yaml", "queue:training", "jobs.csv"),
    ("import", "queue:training"),
    ("import", "queue:training", "--jobs"),
    ("history", "queue:training"),
    ("drift", "policy.yaml", "queue:training"),
    ("watch", "queue:training", "--once"),
]


@pytest.fixture
def account(folder: Path) -> Iterator[Account]:
    write(folder, "jobs.csv", "submit_time_s,team,instance_type,instance_count,duration_s\n0,QS1,ml.g5.xlarge,1,60\n")
    account = Account()
    account.jobs = [
        job("a", "RUNNING", scheduledAt=START, timeoutConfig={"attemptDurationSeconds": 3600}),
        job("b", "RUNNABLE", timeoutConfig={"attemptDurationSeconds": 3600}),
        job("c", "SUCCEEDED", startedAt=START + 1000, stoppedAt=START + 61_000),
    ]
    with account.reached():
        yield account


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_takes_a_live_queue(account: Account, arguments: tuple[str, ...]) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stderr) == (1 if "drift" in arguments else 0, "")
    assert result.stdout
    assert account.asked["batch:DescribeJobQueues"] == 1


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_every_command_says_in_one_line_what_it_lacks(account: Account, arguments: tuple[str, ...]) -> None:
    account.refuse["DescribeServiceEnvironments"] = [RefusalError("AccessDeniedException", "", 403)]
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == (
        "queue:training: access denied: the credentials lack batch:DescribeServiceEnvironments; docs/live.md has the"
        " policy that it needs\n"
    )


@pytest.mark.parametrize("command", [("import",), ("history",), ("watch", "--once"), ("drift", "policy.yaml")])
@pytest.mark.usefixtures("account")
def test_a_live_queue_is_asked_for(command: tuple[str, ...]) -> None:
    result = run(*command, "policy.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == "policy.yaml: is no live queue; expected queue:NAME or queue:ARN\n"


@pytest.mark.usefixtures("account")
def test_import_writes_a_document_that_reads_back(folder: Path) -> None:
    assert run("import", "queue:training", "--output", "live.yaml").stdout == ""
    assert (folder / "live.yaml").read_text().startswith("# live queue training (us-west-2, account 123456789012)\n")
    assert policy_engine.load_policy("live.yaml") == policy_engine.load_policy("queue:training")
    assert run("drift", "live.yaml", "queue:training").exit_code == 0


@pytest.mark.usefixtures("account")
def test_import_jobs_writes_a_scenario_that_runs(folder: Path) -> None:
    result = run("import", "queue:training", "--jobs", "--output", "now.yaml")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "")
    data = yaml.safe_load((folder / "now.yaml").read_text())
    assert ([entry["name"] for entry in data["running"]], data["jobs"][0]["name"]) == (["a"], "b")
    assert run("simulate", "queue:training", "now.yaml").exit_code == 0


@pytest.mark.usefixtures("account")
def test_a_guess_is_told() -> None:
    line = "jobs without a limit that do not say how long they run: 1, taken as a day (--duration)\n"
    account = Account()
    account.jobs = [job("x", "RUNNABLE")]
    with account.reached():
        assert run("import", "queue:training", "--jobs").stderr == line
        assert run("import", "queue:training", "--jobs", "--duration", "2h").stderr == ""


@pytest.mark.usefixtures("account")
def test_history_goes_to_a_file() -> None:
    result = run("history", "queue:training", "--output", "jobs.jsonl", "--rate", "1000000")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "jobs.jsonl: 3 jobs written, 0 were there\n")
    assert run("history", "queue:training", "--output", "jobs.jsonl").stderr.endswith("2 jobs written, 1 were there\n")
    assert run("replay", "policy.yaml", "jobs.jsonl").exit_code == 0


@pytest.mark.usefixtures("account")
def test_drift_in_every_format(folder: Path) -> None:
    result = run("drift", "policy.yaml", "queue:training", "--format", "json", "--junit", "j.xml", "--sarif", "s.json")
    told = json.loads(result.stdout)
    RESULT.validate(told)
    limit = "time_limits.MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED"
    assert (result.exit_code, told["verdict"], told["compared"]) == (1, "fails", 19)
    assert told["differences"] == [
        {
            "resource": "job queue training",
            "field": limit,
            "declared": "none",
            "live": "3600 s",
            "where": "policy.yaml:2:1: job_state_time_limits",
        }
    ]
    assert told["rests_on"]["live_service_consulted"] is True
    assert 'failures="1"' in (folder / "j.xml").read_text()
    assert json.loads((folder / "s.json").read_text())["runs"][0]["results"][0]["ruleId"] == "drift"
    assert "| job queue training |" in run("drift", "policy.yaml", "queue:training", "--format", "markdown").stdout


def test_watch_as_json_is_for_scripts(account: Account) -> None:
    told = json.loads(run("watch", "queue:training", "--format", "json").stdout)
    RESULT.validate(told)
    assert [share["name"] for share in told["shares"]] == ["QS1", "QS2", "QS3"]
    assert account.asked["batch:GetJobQueueSnapshot"] == 1


@pytest.mark.usefixtures("account")
def test_names_of_the_account_cannot_move_the_cursor() -> None:
    account = Account()
    account.jobs = [job("a\x1b[2J", "RUNNABLE", "QS2", count=2)]
    with account.reached():
        assert "\x1b" not in run("watch", "queue:training", "--once").stdout


def test_region_and_profile(account: Account) -> None:
    account.queue["jobQueueArn"] = QUEUE.replace("us-west-2", "eu-west-1")
    result = run("check", "queue:training", "--region", "eu-west-1", "--profile", "ops")
    assert result.exit_code == 0
    assert "live queue training (eu-west-1, account 123456789012)" in " ".join(result.stdout.split())


def test_a_scenario_may_name_the_live_queue(account: Account, folder: Path) -> None:
    write(folder, "named.yaml", f"    policy: queue:training\n{SCENARIO.strip(chr(10))}\n")
    assert run("verify", "named.yaml").exit_code == 0
    assert account.asked["batch:ListQuotaShares"] == 2


def test_watch_goes_on_until_it_is_interrupted(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[float] = []

    def sleep(seconds: float) -> None:
        looks.append(seconds)
        if len(looks) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("time.sleep", sleep)
    result = run("watch", "queue:training", "--every", "30s")
    assert (result.exit_code, looks) == (130, [30.0, 30.0, 30.0])
    assert account.asked["batch:GetJobQueueSnapshot"] == 3
    assert "QS1" in result.stdout


def test_help_says_that_aws_is_asked() -> None:
    assert "AWS is asked where a live queue is named, and never changed." in " ".join(run("--help").stdout.split())
    assert {"import", "history", "drift", "watch"} <= set(main.commands)


# --- the account ----------------------------------------------------------------------------------


def test_check_account_holds_all_environments_against_the_quota(account: Account) -> None:
    account.environments += [account.environment(f"more{number}", 3) for number in range(3)]
    account.quotas |= {f"other {number}": 1.0 for number in range(3)} | {"ml.g5.xlarge for spot training job usage": 1}
    result = run("check", "queue:training", "--account", "--fail-on", "warning", "--format", "json")
    [found] = [found for found in json.loads(result.stdout)["findings"] if found["id"] == "QM401"]
    assert result.exit_code == 1
    assert found["message"] == (
        "the environments have 12 ml.g5.xlarge (gpus 3, more0 3, more1 3, more2 3), and the account may train on 10"
    )
    assert account.asked["servicequotas:ListServiceQuotas"] == 3


def test_check_account_says_which_action_is_missing(account: Account) -> None:
    account.refuse["ListServiceQuotas"] = [RefusalError("AccessDeniedException", "", 403)]
    result = run("check", "queue:training", "--account")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the credentials lack servicequotas:ListServiceQuotas;" in result.stderr


@pytest.mark.usefixtures("account")
def test_check_account_is_of_a_live_queue() -> None:
    result = run("check", "policy.yaml", "--account")
    assert (result.exit_code, result.stderr) == (
        2,
        "policy.yaml: --account needs a live queue (queue:NAME or queue:ARN)\n",
    )


def test_compare_says_what_becomes_of_the_jobs_that_are_there(account: Account, folder: Path) -> None:
    account.jobs.append(job("d", "RUNNING", scheduledAt=START, retryStrategy={"attempts": 1}))
    document = yaml.safe_load((folder / "policy.yaml").read_text())
    del document["shares"]["QS1"]
    (folder / "new.yaml").write_text(yaml.safe_dump(document))

    result = run("compare", "queue:training", "new.yaml", "--now", "--format", "json")

    held = json.loads(result.stdout)["held"]
    assert held["transition"]
    assert {job["name"]: (job["old"]["state"], job["new"]["state"]) for job in held["jobs"]} == dict.fromkeys(
        "abd", ("SUCCEEDED", "FAILED")
    )
    assert result.stderr == "1 jobs have no limit and do not say how long they run: taken as a day\n"


@pytest.mark.usefixtures("account")
def test_reports_say_that_aws_was_asked_for_the_policy_alone() -> None:
    said = "the live service was asked for the policy alone; the rules are those that AWS documents"
    for arguments in (("check",), ("simulate", "scenario.yaml"), ("verify", "scenario.yaml"), ("replay", "jobs.csv")):
        command, *rest = arguments
        assert said in " ".join(run(command, "queue:training", *rest).stdout.split())
        told = json.loads(run(command, "queue:training", *rest, "--format", "json").stdout)
        assert told["rests_on"]["live_service_consulted"] is True
        told = json.loads(run(command, "policy.yaml", *rest, "--format", "json").stdout)
        assert told["rests_on"]["live_service_consulted"] is False
