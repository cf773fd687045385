"""How the command starts: what it loads, and how long it takes on a template."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TEMPLATE = {
    "Resources": {
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
        },
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 20}],
            },
        },
        "Queue": {
            "Type": "AWS::Batch::JobQueue",
            "Properties": {
                "JobQueueType": "SAGEMAKER_TRAINING",
                "Priority": 1,
                "SchedulingPolicyArn": {"Ref": "Policy"},
                "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
            },
        },
        **{
            f"Share{number}": {
                "Type": "AWS::Batch::QuotaShare",
                "Properties": {
                    "QuotaShareName": f"team-{number}",
                    "JobQueue": {"Ref": "Queue"},
                    "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}],
                    "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200},
                    "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
                },
            }
            for number in range(3)
        },
    }
}

Check = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def check(tmp_path: Path) -> Check:
    """Runs ``check`` on the template in a process of its own."""
    template = tmp_path / "template.json"
    template.write_text(json.dumps(TEMPLATE), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *options, "-m", "policy_engine", "check", str(template)]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    return run


def test_check_loads_neither_the_cdk_nor_boto3(check: Check) -> None:
    lines = check("-X", "importtime").stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip().split(".")[0] for line in lines if line.startswith("import time:")}
    assert {"policy_engine", "pydantic"} <= loaded
    # Altair draws the HTML page, and it too is slow to load.
    assert loaded.isdisjoint({"aws_cdk", "constructs", "jsii", "boto3", "botocore", "altair", "vl_convert"})
