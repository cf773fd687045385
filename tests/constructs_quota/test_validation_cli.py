"""The plugin under the CDK command, where a plugin that raises would pass for one that found nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.synthesis import ROOT

APP = """
import sys
import aws_cdk as cdk
import policy_engine
from constructs_quota import *

case = sys.argv[1]
app = cdk.App(analytics_reporting=False)
stack = cdk.Stack(app, "Stack", synthesizer=cdk.BootstraplessSynthesizer())
one = {"ml.g5.xlarge": 1}
share = QuotaShareOptions(capacity_limits=one, resource_sharing=ResourceSharing.reserve(), in_share_preemption=False)
queue = QuotaTrainingQueue(stack, "Training", capacity_limits=one, quota_shares={"QS1": share})
if case in ("error", "acknowledged"):
    queue.quota_shares["QS1"].add_property_override("State", "PAUSED")
if case == "acknowledged":
    cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM011", reason="a test"))
if case == "crash":
    policy_engine.load_source = None
cdk.Validations.of(app).add_plugins(QuotaPolicyValidation())
app.synth()
"""


def cdk(folder: Path, verb: str, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(ROOT / "node_modules" / ".bin" / "cdk"), verb, *options, "--no-notices"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "JSII_HOST_STACK_TRACES": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def synthesise(folder: Path, case: str) -> subprocess.CompletedProcess[str]:
    (folder / "app.py").write_text(APP)
    return cdk(folder, "synth", "--app", f"{sys.executable} app.py {case}", "--output", "cdk.out", "--quiet")


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Without the lines that it is broken into."""
    return " ".join((done.stdout + done.stderr).split())


def report(folder: Path) -> dict[str, Any]:
    reports = json.loads((folder / "cdk.out" / "validation-report.json").read_text())["pluginReports"]
    return dict(next(report for report in reports if report["pluginName"] == "Quota-Policy"))


@pytest.mark.nightly
def test_what_is_right_passes(tmp_path: Path) -> None:
    done = synthesise(tmp_path, "right")

    assert done.returncode == 0, said(done)


def test_an_error_fails_and_is_traced_to_the_user_s_line(tmp_path: Path) -> None:
    done = synthesise(tmp_path, "error")

    assert done.returncode == 1
    assert "'PAUSED' is not one of ENABLED, DISABLED" in said(done)
    (violation,) = report(tmp_path)["violations"]
    (where,) = violation["violatingConstructs"]
    assert "app.py:12" in " ".join(where["stackTraces"])


def test_what_is_acknowledged_passes_and_stays_in_the_report(tmp_path: Path) -> None:
    done = synthesise(tmp_path, "acknowledged")

    assert done.returncode == 0, said(done)
    (kept,) = report(tmp_path)["suppressedViolations"]
    assert kept["ruleName"] == "QM011"
    assert "a test" in json.dumps(kept)


def test_a_crash_lets_neither_synth_nor_deploy_pass(tmp_path: Path) -> None:
    """The deployment is of what was written all the same, and ends before it asks for credentials: there are none."""
    crashed = "the policy engine failed, so nothing is known: TypeError"
    done = synthesise(tmp_path, "crash")
    assert done.returncode == 1
    assert crashed in said(done)

    deployed = cdk(tmp_path, "deploy", "--app", "cdk.out", "--require-approval", "never")

    assert deployed.returncode == 1
    assert crashed in said(deployed)
    assert "credential" not in said(deployed).lower()
