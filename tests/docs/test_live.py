"""docs/live.md: every command does what the page says, with exactly the permissions that the page gives it."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.policy_engine.command import run
from tests.policy_engine.sources.live.account import ARN, Account, job
from tests.synthesis import ROOT

PAGE = (ROOT / "docs" / "live.md").read_text(encoding="utf-8")
START = 1_790_000_000_000
SCENARIO = """
jobs:
  - {name: med, share: QS1, priority: 2, instance_count: 2}
  - {name: owner, share: QS2, submit: 1m}
until: 2m
expect:
  - {job: owner, starts_within: 0s}
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


COMMANDS = [line.removeprefix("$ ") for block in blocks("console") for line in block.splitlines()]


@pytest.fixture
def account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Account]:
    """The queue of the page, a reader's files beside it, and what is asked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    (tmp_path / "jobs.csv").write_text(
        "submit_time_s,team,instance_type,instance_count,duration_s\n0,QS1,ml.g5.xlarge,1,60\n", encoding="utf-8"
    )
    account = Account()
    queue = f"{ARN}:job-queue/gpu-training"
    account.queue |= {"jobQueueName": "gpu-training", "jobQueueArn": queue}
    for share in account.shares:
        share["quotaShareArn"] = f"{queue}/quota-share/{share['quotaShareName']}"
    account.jobs = [
        job("a", "RUNNING", scheduledAt=START, timeoutConfig={"attemptDurationSeconds": 3600}),
        job("b", "RUNNABLE", timeoutConfig={"attemptDurationSeconds": 3600}),
        job("c", "SUCCEEDED", startedAt=START + 1000, stoppedAt=START + 61_000),
    ]
    with account.reached():
        declare(tmp_path, account)
        account.asked.clear()
        yield account


def declare(folder: Path, account: Account) -> None:
    """``cdk.out`` as a template with tags on a share, and ``policy.yaml``; both say what AWS has."""
    run("import", "queue:gpu-training", "--output", "policy.yaml")
    policy = yaml.safe_load((folder / "policy.yaml").read_text(encoding="utf-8"))
    account.share_tags = {"owner": "a"}
    resources: dict[str, Any] = {
        "Env": resource(
            "ServiceEnvironment",
            ServiceEnvironmentType="SAGEMAKER_TRAINING",
            CapacityLimits=limits(policy["service_environment"]),
        ),
        "Policy": resource("SchedulingPolicy", QuotaSharePolicy={"IdleResourceAssignmentStrategy": "FIFO"}),
        "Queue": resource(
            "JobQueue",
            JobQueueType="SAGEMAKER_TRAINING",
            Priority=1,
            SchedulingPolicyArn={"Ref": "Policy"},
            ServiceEnvironmentOrder=[{"Order": 1, "ServiceEnvironment": {"Ref": "Env"}}],
            JobStateTimeLimitActions=[
                {
                    "Action": "TERMINATE",
                    "State": "RUNNABLE",
                    "Reason": limit["reason"],
                    "MaxTimeSeconds": limit["max_seconds"],
                }
                for limit in policy["job_state_time_limits"]
            ],
        ),
    }
    for name, share in policy["shares"].items():
        borrow = {"BorrowLimit": share["borrow_limit"]} if "borrow_limit" in share else {}
        resources[name] = resource(
            "QuotaShare",
            QuotaShareName=name,
            JobQueue={"Ref": "Queue"},
            CapacityLimits=limits(share),
            ResourceSharingConfiguration={"Strategy": share["strategy"], **borrow},
            PreemptionConfiguration={"InSharePreemption": "ENABLED" if share["in_share_preemption"] else "DISABLED"},
            Tags={"owner": "a"},
        )
    (folder / "cdk.json").write_text(json.dumps({"Resources": resources}), encoding="utf-8")


def resource(kind: str, **properties: Any) -> dict[str, Any]:
    return {"Type": f"AWS::Batch::{kind}", "Properties": properties}


def limits(holder: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"CapacityUnit": unit, "MaxCapacity": count} for unit, count in holder["capacity_limits"].items()]


def arguments(command: str) -> list[str]:
    """The command line of the page, once and at once, with a template where it has a cloud assembly."""
    program, *rest = shlex.split(command)
    assert program == "policy-engine"
    given = ["cdk.json" if argument == "cdk.out" else argument for argument in rest]
    if given[0] == "watch" and "--once" not in given:
        given.append("--once")
    return [*given, "--rate", "1000000"] if given[0] == "history" else given


def actions(heading: str) -> set[str]:
    """The actions of the policy under a heading."""
    section = PAGE.split(f"### {heading}")[1]
    policy = json.loads(re.findall(r"```json\n(.*?)```", section, re.DOTALL)[0])
    found: set[str] = set()
    for statement in policy["Statement"]:
        named = statement["Action"]
        found |= {named} if isinstance(named, str) else set(named)
    return found


READING, DRIFT, JOBS, WATCH, ACCOUNT = (
    "Reading a policy",
    "`drift`, where shares",
    "`import --jobs`, `history`",
    "`watch`",
    "`check --account`",
)


def heading(given: list[str]) -> str | None:
    """Whose permissions a command line needs; None where it asks AWS for nothing."""
    if not any(argument.startswith("queue:") for argument in given):
        return None
    if given[0] in ("history", "watch"):
        return JOBS if given[0] == "history" else WATCH
    if given[0] == "drift":
        return DRIFT if "cdk.json" in given else READING
    return JOBS if "--jobs" in given or "--now" in given else ACCOUNT if "--account" in given else READING


@pytest.mark.usefixtures("account")
def test_the_page_from_top_to_bottom(account: Account) -> None:
    """In order, as later commands read what earlier ones wrote."""
    assert len(COMMANDS) >= 14
    for command in COMMANDS:
        account.asked.clear()
        given = arguments(command)
        result = run(*given)
        assert result.exit_code == 0, f"{command}: {result.stderr}{result.stdout}"
        needed = heading(given)
        assert set(account.asked) == (set() if needed is None else actions(needed)), command


def test_compare_now_needs_what_the_page_says(account: Account) -> None:
    result = run("compare", "queue:gpu-training", "policy.yaml", "--now")
    assert result.exit_code == 0, result.stderr
    assert set(account.asked) == actions(JOBS)


def test_explain_needs_no_more_than_any_policy(account: Account) -> None:
    assert run("explain", "queue:gpu-training", "scenario.yaml", "--job", "owner").exit_code == 0
    assert set(account.asked) == actions(READING)


@pytest.mark.usefixtures("account")
def test_the_python_prints_the_jobs(capsys: pytest.CaptureFixture[str]) -> None:
    [code] = blocks("python")
    exec(compile(code, "docs/live.md", "exec"), {})  # noqa: S102
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["a", "b"]


def test_the_index_leads_here() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    assert "(live.md)" in index
    assert "(conforming.md)" in index
