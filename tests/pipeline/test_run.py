"""The pipeline's script: what it refuses, and with which exit code. .ci/run runs all of it for both stages."""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.stages import STAGES
from tests.synthesis import ROOT

RELEASED = ROOT / "pipeline" / "released" / "QuotaTraining-dev.template.json"
# A test of `deploy` must find nobody's credentials, whatever it gets wrong; conftest.py takes the variables.
NO_ACCOUNT = {"AWS_SHARED_CREDENTIALS_FILE": os.devnull, "AWS_CONFIG_FILE": os.devnull}

Template = dict[str, Any]


def run(out: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [ROOT / "pipeline" / "run", *arguments],
        env=os.environ | NO_ACCOUNT | {"PIPELINE_OUT": str(out)} | variables,
        capture_output=True,
        text=True,
        check=False,
    )


def share_of(template: Template, name: str) -> dict[str, Any]:
    (properties,) = (
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Properties"].get("QuotaShareName") == name
    )
    return dict(properties)


def rename_share(template: Template) -> None:
    """As a construct does it: the name is in the logical id too."""
    resources = template["Resources"]
    (logical_id,) = (key for key, value in resources.items() if value["Properties"].get("QuotaShareName") == "research")
    renamed = resources.pop(logical_id)
    renamed["Properties"]["QuotaShareName"] = "science"
    resources[logical_id.replace("research", "science")] = renamed


def rename_queue(template: Template) -> None:
    (queue,) = (value for value in template["Resources"].values() if value["Type"] == "AWS::Batch::JobQueue")
    queue["Properties"]["JobQueueName"] = "training"


def switch_kind(template: Template) -> None:
    """What `cdk diff` takes for an update."""
    (policy,) = (value for value in template["Resources"].values() if value["Type"] == "AWS::Batch::SchedulingPolicy")
    policy["Properties"] = {"FairsharePolicy": {"ShareDecaySeconds": 600}}


def raise_limit(template: Template) -> None:
    share_of(template, "research")["CapacityLimits"][0]["MaxCapacity"] = 2


@pytest.fixture
def assembly(tmp_path: Path) -> Callable[[Callable[[Template], None]], Path]:
    """Makes the folder of a stage, whose assembly is the released one after a change."""

    def make(change: Callable[[Template], None]) -> Path:
        template = json.loads(RELEASED.read_text())
        change(template)
        folder = tmp_path / "cdk.out"
        folder.mkdir()
        (folder / RELEASED.name).write_text(json.dumps(template))
        stack = {
            "type": "aws:cloudformation:stack",
            "environment": "aws://unknown-account/unknown-region",
            "properties": {"templateFile": RELEASED.name},
        }
        manifest = {"version": "55.0.0", "artifacts": {"QuotaTraining-dev": stack}}
        (folder / "manifest.json").write_text(json.dumps(manifest))
        return tmp_path

    return make


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (
            raise_limit,
            0,
            ["[~] AWS::Batch::QuotaShare", "Number of stacks with differences: 1", "capacity_limits ml.g5.12xlarge"],
        ),
        (rename_share, 1, ["destroy", "quota share research becomes science"]),
        (rename_queue, 1, ["replace", "declare the new queue beside the old one"]),
        (switch_kind, 1, ["from quota shares to fair share"]),
    ],
)
def test_a_destructive_change_fails(
    change: Callable[[Template], None], code: int, said: list[str], assembly: Callable[..., Path]
) -> None:
    out = assembly(change)
    done = run(out, "dev", "diff")

    assert done.returncode == code, done.stdout + done.stderr
    told = (out / "compare-QuotaTraining-dev.md").read_text(encoding="utf-8").replace("\\_", "_")
    for text in said:
        assert text in done.stdout + done.stderr + told


def test_nothing_to_compare_with_is_no_success(assembly: Callable[..., Path], tmp_path: Path) -> None:
    done = run(assembly(raise_limit), "dev", "diff", PIPELINE_RELEASED=str(tmp_path / "none"))

    assert done.returncode == 2
    assert "pipeline/run dev release" in done.stderr


def test_the_release_is_what_the_next_change_is_compared_with(assembly: Callable[..., Path], tmp_path: Path) -> None:
    released = tmp_path / "released"
    out = assembly(rename_share)

    assert run(out, "dev", "release", PIPELINE_RELEASED=str(released)).returncode == 0
    assert (released / RELEASED.name).read_bytes() == (out / "cdk.out" / RELEASED.name).read_bytes()


def test_check_ends_at_the_first_failure_with_its_exit_code(assembly: Callable[..., Path]) -> None:
    out = assembly(raise_limit)

    done = run(out, "dev", "check", PIPELINE_TESTS="exit 7")

    assert done.returncode == 7
    assert "pipeline/run: tests of dev failed with exit code 7" in done.stderr
    assert "synth" not in done.stdout
    assert not (out / "checked.sha256").exists()


@pytest.mark.parametrize("sealed", [False, True])
def test_deploys_nothing_but_what_was_checked(sealed: bool, assembly: Callable[..., Path]) -> None:
    out = assembly(raise_limit)
    if sealed:
        (out / "checked.sha256").write_text(f"{'0' * 64}  ./{RELEASED.name}\n")

    done = run(out, "dev", "deploy")

    assert done.returncode == (1 if sealed else 2)
    assert ("is not what was checked" if sealed else "nothing checked to deploy") in done.stderr


def test_deploys_what_was_checked(assembly: Callable[..., Path]) -> None:
    """As far as to the account, of which there is none."""
    out = assembly(raise_limit)
    digests = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  ./{path.name}" for path in (out / "cdk.out").iterdir()
    ]
    (out / "checked.sha256").write_text("\n".join(digests) + "\n")

    done = run(out, "dev", "deploy")

    assert done.returncode == 1
    assert "Unable to resolve AWS account to use" in done.stderr


@pytest.mark.parametrize("arguments", [(), ("../prod",), ("dev", "destroy"), ("dev", "check", "prod")])
def test_a_wrong_command_line_is_told_the_right_one(arguments: tuple[str, ...], tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)

    assert done.returncode == 2
    assert done.stderr.startswith("usage: pipeline/run STAGE [COMMAND]\n")


def test_lint_and_verify_hold_the_assembly_to_account(assembly: Callable[..., Path]) -> None:
    def misspell(template: Template) -> None:
        share_of(template, "production")["ResourceSharingConfiguration"]["Strategy"] = "KEEP"

    out = assembly(misspell)

    assert "E3030" in run(out, "dev", "lint").stdout
    done = run(out, "dev", "verify")
    assert done.returncode == 1
    assert "QM011" in done.stdout


def test_the_workflow_runs_the_script_for_every_stage() -> None:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "quota-shares.yml").read_text())
    jobs = workflow["jobs"]
    assert jobs["check"]["strategy"]["matrix"]["stage"] == list(STAGES)
    assert jobs["deploy"]["strategy"]["matrix"]["stage"] == list(STAGES)
    commands = {name: [step["run"] for step in job["steps"] if "run" in step] for name, job in jobs.items()}
    assert 'pipeline/run "$STAGE" check' in commands["check"]
    assert 'pipeline/run "$STAGE" deploy' in commands["deploy"]
    # A pull request, which anybody can open, gets no token for AWS.
    assert "id-token" not in {**workflow["permissions"], **jobs["check"].get("permissions", {})}
    assert jobs["deploy"]["permissions"]["id-token"] == "write"
