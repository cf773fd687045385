"""The plugin under the CDK command, where a plugin that raises would pass for one that found nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

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
    policy_engine.check = None
cdk.Validations.of(app).add_plugins(QuotaPolicyValidation())
app.synth()
"""


def cdk(verb: str, case: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program = folder / "app.py"
    program.write_text(APP)
    return subprocess.run(
        [
            str(ROOT / "node_modules" / ".bin" / "cdk"),
            verb,
            *("--app", f"{sys.executable} {program} {case}", "--output", str(folder / "cdk.out"), "--no-notices"),
            *(("--quiet",) if verb == "synth" else ("--require-approval", "never")),
        ],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("case", "code", "said"),
    [
        ("error", 1, "'PAUSED' is not one of ENABLED, DISABLED"),
        ("crash", 1, "the policy engine failed, so nothing is known: TypeError"),
        pytest.param("right", 0, "", marks=pytest.mark.nightly),
        pytest.param("acknowledged", 0, "", marks=pytest.mark.nightly),
    ],
)
def test_cdk_synth(case: str, code: int, said: str, tmp_path: Path) -> None:
    done = cdk("synth", case, tmp_path)

    assert done.returncode == code, done.stdout + done.stderr
    assert said in " ".join((done.stdout + done.stderr).split())
    if case == "acknowledged":
        report = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text())
        assert "a test" in json.dumps(report)


@pytest.mark.nightly
def test_cdk_deploy_stops_at_a_crash(tmp_path: Path) -> None:
    """Before it asks for credentials, which there are none of."""
    done = cdk("deploy", "crash", tmp_path)

    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 1
    assert "the policy engine failed, so nothing is known" in said
    assert "credential" not in said.lower()
