"""Faults seeded into a good template, one at a time, and who finds them: this engine, cfn-lint, CDK's validation."""

import copy
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from policy_engine.checking import check
from policy_engine.findings import Severity

Data = dict[str, Any]
Fault = Callable[[Data], None]

GOOD: Data = {
    "Resources": {
        "Environment": {
            "Type": "AWS::Batch::ServiceEnvironment",
            "Properties": {
                "ServiceEnvironmentType": "SAGEMAKER_TRAINING",
                "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 4}],
            },
        },
        "Policy": {
            "Type": "AWS::Batch::SchedulingPolicy",
            "Properties": {"QuotaSharePolicy": {"IdleResourceAssignmentStrategy": "FIFO"}},
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
            logical_id: {
                "Type": "AWS::Batch::QuotaShare",
                "Properties": {
                    "QuotaShareName": logical_id,
                    "JobQueue": {"Ref": "Queue"},
                    "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 2}],
                    "ResourceSharingConfiguration": sharing,
                    "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
                },
            }
            for logical_id, sharing in (
                ("Lender", {"Strategy": "LEND"}),
                ("Borrower", {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 50}),
            )
        },
    }
}


def setting(logical_id: str, *path: str | int, to: Any) -> Fault:
    """Sets a property."""

    def fault(template: Data) -> None:
        holder: Any = template["Resources"][logical_id]["Properties"]
        for part in path[:-1]:
            holder = holder[part]
        holder[path[-1]] = to

    return fault


def without(logical_id: str, name: str) -> Fault:
    """Leaves a property out."""

    def fault(template: Data) -> None:
        del template["Resources"][logical_id]["Properties"][name]

    return fault


def both(*faults: Fault) -> Fault:
    """Does one thing and then the other."""

    def fault(template: Data) -> None:
        for one in faults:
            one(template)

    return fault


def limit(unit: str, most: Any) -> Data:
    return {"CapacityUnit": unit, "MaxCapacity": most}


SIX = [limit(f"ml.g5.{size}", 1) for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge")]

MISSED_BY_BOTH: dict[str, tuple[Fault, str]] = {
    "borrow limit with RESERVE": (
        setting("Borrower", "ResourceSharingConfiguration", "Strategy", to="RESERVE"),
        "QM005",
    ),
    "borrow limit with LEND": (setting("Lender", "ResourceSharingConfiguration", "BorrowLimit", to=100), "QM005"),
    "no capacity limits": (setting("Lender", "CapacityLimits", to=[]), "QM002"),
    "six capacity limits": (setting("Environment", "CapacityLimits", to=SIX), "QM002"),
    "an instance type twice": (
        setting("Lender", "CapacityLimits", to=[limit("ml.g5.xlarge", 1), limit("ml.g5.xlarge", 1)]),
        "QM003",
    ),
    "a type the environment has not got": (
        setting("Lender", "CapacityLimits", to=[limit("ml.p5.48xlarge", 1)]),
        "QM004",
    ),
    "a made-up type": (setting("Lender", "CapacityLimits", 0, "CapacityUnit", to="ml.g5.bogus"), "QM008"),
    "a size that there is not": (setting("Lender", "CapacityLimits", 0, "CapacityUnit", to="ml.g5.3xlarge"), "QM008"),
    "NUM_INSTANCES": (setting("Environment", "CapacityLimits", 0, "CapacityUnit", to="NUM_INSTANCES"), "QM008"),
    "limits beyond the environment": (setting("Environment", "CapacityLimits", 0, "MaxCapacity", to=3), "QM101"),
    "a capacity below 1": (setting("Environment", "CapacityLimits", 0, "MaxCapacity", to=-1), "QM011"),
    "a queue without type": (without("Queue", "JobQueueType"), "QM010"),
    "a queue of type ECS": (setting("Queue", "JobQueueType", to="ECS"), "QM010"),
    "a queue without policy": (without("Queue", "SchedulingPolicyArn"), "QM010"),
    "a policy of both kinds": (setting("Policy", "FairsharePolicy", to={"ShareDecaySeconds": 600}), "QM010"),
    "a policy of neither kind": (without("Policy", "QuotaSharePolicy"), "QM010"),
    "an empty policy": (setting("Policy", "QuotaSharePolicy", to={}), "QM011"),
    "a bad share name": (setting("Lender", "QuotaShareName", to="team a"), "QM006"),
    "a bad queue name": (setting("Queue", "JobQueueName", to="gpu.queue"), "QM006"),
    "two shares of one name": (setting("Lender", "QuotaShareName", to="Borrower"), "QM007"),
    "a state in lower case": (setting("Environment", "State", to="enabled"), "QM011"),
    "a literal queue name": (
        both(setting("Queue", "JobQueueName", to="gpu"), setting("Lender", "JobQueue", to="gpu")),
        "QM012",
    ),
}
"""What is wrong, and the finding: neither cfn-lint nor CDK's validation says anything."""

FOUND_BY_OTHERS: dict[str, tuple[Fault, str]] = {
    "no preemption configuration": (without("Lender", "PreemptionConfiguration"), "QM011"),
    "no queue": (without("Lender", "JobQueue"), "QM011"),
    "a strategy that there is not": (
        setting("Lender", "ResourceSharingConfiguration", "Strategy", to="BORROW"),
        "QM011",
    ),
    "LIFO": (setting("Policy", "QuotaSharePolicy", "IdleResourceAssignmentStrategy", to="LIFO"), "QM011"),
    "a share's state in lower case": (setting("Lender", "State", to="enabled"), "QM011"),
    "a borrow limit below -1": (setting("Borrower", "ResourceSharingConfiguration", "BorrowLimit", to=-5), "QM011"),
    "a limit of 0": (setting("Lender", "CapacityLimits", 0, "MaxCapacity", to=0), "QM011"),
    "a limit of 2.5": (setting("Lender", "CapacityLimits", 0, "MaxCapacity", to=2.5), "QM011"),
    "a priority beyond 1000": (setting("Queue", "Priority", to=5000), "QM011"),
    "a queue without environment": (without("Queue", "ServiceEnvironmentOrder"), "QM009"),
    "a policy's name for its ARN": (setting("Queue", "SchedulingPolicyArn", to="fifo"), "QM010"),
    "an empty ARN": (setting("Queue", "SchedulingPolicyArn", to=""), "QM010"),
}
"""The same for what at least one of the others finds."""


def seeded(fault: Fault) -> Data:
    template = copy.deepcopy(GOOD)
    fault(template)
    assert template != GOOD
    return template


def written(folder: Path, template: Data, name: str = "faulty") -> Path:
    path = folder / f"{name}.template.json"
    path.write_text(json.dumps(template), encoding="utf-8")
    return path


FOLLOWS = dict.fromkeys(("a made-up type", "a size that there is not", "NUM_INSTANCES"), "QM004")
"""An error that comes with the fault."""


@pytest.mark.parametrize("name", MISSED_BY_BOTH | FOUND_BY_OTHERS)
def test_seeded_fault_is_found(name: str, tmp_path: Path) -> None:
    fault, finding_id = (MISSED_BY_BOTH | FOUND_BY_OTHERS)[name]
    findings = [f for f in check(written(tmp_path, seeded(fault))).findings if f.id != "QM108"]
    assert finding_id in [f.id for f in findings]
    assert {f.id for f in findings if f.severity is Severity.ERROR} <= {finding_id, FOLLOWS.get(name)}


# --- beside the others ---------------------------------------------------------------------------

BY_CDK_ALONE = {"a limit of 2.5"}
"""Of those that at least one of the others finds; the rest are found by both."""
FAULTS = MISSED_BY_BOTH | FOUND_BY_OTHERS


def merged(faults: dict[str, tuple[Fault, str]]) -> Data:
    """One template with every fault, which the others read in one go: ``F3Lender`` is the Lender of fault 3."""
    resources = {
        f"F{number}{logical_id}": _prefixed(resource, f"F{number}")
        for number, (fault, _) in enumerate(faults.values())
        for logical_id, resource in seeded(fault)["Resources"].items()
    }
    return {"Resources": resources}


def _prefixed(value: Any, prefix: str) -> Any:
    if isinstance(value, dict):
        return {key: prefix + part if key == "Ref" else _prefixed(part, prefix) for key, part in value.items()}
    return [_prefixed(part, prefix) for part in value] if isinstance(value, list) else value


def names_of(logical_ids: Iterable[str]) -> set[str]:
    """The faults whose resources these are."""
    numbers = (re.match(r"F([0-9]+)", logical_id) for logical_id in logical_ids)
    return {list(FAULTS)[int(number[1])] for number in numbers if number is not None}


def found_by_us(folder: Path) -> set[str]:
    """Faults whose finding is among those that ``check`` has on them."""
    reports = {name: check(written(folder, seeded(fault))).findings for name, (fault, _) in FAULTS.items()}
    return {name for name, findings in reports.items() if FAULTS[name][1] in [finding.id for finding in findings]}


def found_by_cfn_lint(template: Data) -> set[str]:
    from cfnlint.api import ManualArgs, lint  # type: ignore[import-untyped]

    matches = lint(json.dumps(template), config=ManualArgs(regions=["us-east-1"]))
    return names_of(match.path[1] for match in matches)


CDK_APP = """
import json, sys
import aws_cdk as cdk

app = cdk.App(outdir=sys.argv[2], context={"@aws-cdk/core:validateAgainstDefaultRules": True})
stack = cdk.Stack(app, "Faults", synthesizer=cdk.BootstraplessSynthesizer())
for logical_id, resource in json.load(open(sys.argv[1]))["Resources"].items():
    cdk.CfnResource(stack, logical_id, type=resource["Type"], properties=resource["Properties"])
app.synth()
"""


def start_cdk(folder: Path, template: Data) -> subprocess.Popen[str]:
    """CDK's validation in a process of its own: in this one it is switched off."""
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    command = [sys.executable, "-c", CDK_APP, str(written(folder, template, "all")), str(folder / "out")]
    return subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)


def found_by_cdk(folder: Path, process: subprocess.Popen[str]) -> set[str]:
    _, told = process.communicate()
    assert "ValidationFailed" in told
    report = json.loads((folder / "out" / "validation-report.json").read_text(encoding="utf-8"))
    return names_of(
        construct["cloudFormationResource"]["logicalId"]
        for plugin in report["pluginReports"]
        for violation in plugin["violations"]
        for construct in violation["violatingConstructs"]
    )


def test_the_three_side_by_side(tmp_path: Path) -> None:
    """Should this fail for one of the others, it has learnt something: the claim about it goes, the finding stays."""
    template = merged(FAULTS)
    process = start_cdk(tmp_path, template)  # while the others look
    found = {
        "policy-engine": found_by_us(tmp_path),
        "cfn-lint": found_by_cfn_lint(template),
        "CDK": found_by_cdk(tmp_path, process),
    }
    assert found == {
        "policy-engine": set(FAULTS),
        "cfn-lint": set(FOUND_BY_OTHERS) - BY_CDK_ALONE,
        "CDK": set(FOUND_BY_OTHERS),
    }
