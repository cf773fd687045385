"""AWS's walkthrough through its own clients, unmodified: the CDK command deploys, the SageMaker SDK submits."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.policy_engine.endpoint.clients.running import HERE, environment, hosts, run, run_flow
from tests.policy_engine.endpoint.test_serve_command import post, serving
from tests.synthesis import ROOT

SDK = ROOT / "build" / "sagemaker" / "bin" / "python"
CDK = ROOT / "node_modules" / ".bin" / "cdk"


@pytest.mark.nightly
def test_the_walkthrough(tmp_path: Path) -> None:
    assert SDK.exists(), "the SageMaker SDK has an environment of its own: run `make nightly`"
    cdk_log, sdk_log = tmp_path / "cdk-hosts", tmp_path / "sdk-hosts"
    with serving("--moto") as (url, _):

        def cdk(*arguments: str) -> None:
            options = ("-c", "bootstrap=false", "--output", str(tmp_path / "cdk.out"), "--no-notices")
            run([CDK, *arguments, *options], environment(url, cdk_log) | {"VIRTUAL_ENV": sys.prefix}, ROOT)

        outputs = tmp_path / "outputs.json"
        cdk("deploy", "--method=direct", "--require-approval=never", "--outputs-file", str(outputs))
        queue = json.loads(outputs.read_text())["QuotaTraining"]["JobQueueName"]
        settings = {
            "SAGEMAKER_USER_CONFIG_OVERRIDE": str(HERE / "sagemaker-config.yaml"),
            "SAGEMAKER_VALIDATE_ROLE": "false",  # moto has no iam:SimulatePrincipalPolicy
            "HOME": str(tmp_path),
        }
        run_flow("sagemaker_flow.py", environment(url, sdk_log) | settings, tmp_path, SDK, queue)
        cdk("destroy", "--force")
        left = [post(f"{url}/v1/{operation}", {}) for operation in ("describejobqueues", "describeserviceenvironments")]
    assert left == [{"jobQueues": []}, {"serviceEnvironments": []}]
    assert hosts(cdk_log) == hosts(sdk_log) == {"127.0.0.1"}
