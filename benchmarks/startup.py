"""How long `policy-engine check` takes on a template of 20 shares, from process start to exit, beside a bare Python.

    python benchmarks/startup.py [--rounds 7]

Prints the medians in seconds. Exits 1 where check takes more than 0.6 s.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

MOST = 0.6


def template() -> dict[str, Any]:
    """A queue of 20 shares that lend and borrow."""
    limits = [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 4}]
    shares = {
        f"Share{number}": {
            "Type": "AWS::Batch::QuotaShare",
            "Properties": {
                "QuotaShareName": f"team-{number}",
                "JobQueue": {"Ref": "Queue"},
                "CapacityLimits": limits,
                "PreemptionConfiguration": {"InSharePreemption": "ENABLED"},
                "ResourceSharingConfiguration": {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 100},
            },
        }
        for number in range(20)
    }
    policy = {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}}
    environment = {
        "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 80}],
    }
    queue = {
        "JobQueueType": "SAGEMAKER_TRAINING",
        "Priority": 1,
        "SchedulingPolicyArn": {"Ref": "Policy"},
        "ServiceEnvironmentOrder": [{"Order": 1, "ServiceEnvironment": {"Ref": "Environment"}}],
    }
    return {
        "Resources": {
            "Policy": {"Type": "AWS::Batch::SchedulingPolicy", "Properties": policy},
            "Environment": {"Type": "AWS::Batch::ServiceEnvironment", "Properties": environment},
            "Queue": {"Type": "AWS::Batch::JobQueue", "Properties": queue},
            **shares,
        }
    }


def seconds(command: list[str]) -> float:
    """From process start to exit."""
    began = perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return perf_counter() - began


def main() -> None:
    """Measure in turns."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    rounds = parser.parse_args().rounds
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "template.json"
        file.write_text(json.dumps(template()))
        bare, check = [], []
        for _ in range(rounds):
            bare.append(seconds([sys.executable, "-c", "pass"]))
            check.append(seconds([sys.executable, "-P", "-m", "policy_engine", "check", str(file)]))
    print(f"check {median(check):.2f} s (at most {MOST}), a bare Python {median(bare):.2f} s")
    sys.exit(0 if median(check) <= MOST else 1)


if __name__ == "__main__":
    main()
