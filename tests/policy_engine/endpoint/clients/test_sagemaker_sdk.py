"""AWS's walkthrough through its own clients, unmodified: the CDK command deploys, the SageMaker SDK submits."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.test_endpoint_with_moto import BUCKET, CONFIG, DEPLOY, DESTROY, PATH, QUEUE
from tests.policy_engine.endpoint.clients.running import environment, hosts, run, run_flow
from tests.policy_engine.endpoint.test_serve_command import post, serving
from tests.synthesis import ROOT

SDK = ROOT / "build" / "sagemaker" / "bin" / "python"


@pytest.mark.nightly
def test_the_walkthrough(tmp_path: Path) -> None:
    """The commands, and the settings of the SDK, are those of docs/endpoint.md."""
    assert SDK.exists(), "the SageMaker SDK has an environment of its own: run `make nightly`"
    cdk_log, sdk_log = tmp_path / "cdk-hosts", tmp_path / "sdk-hosts"
    with serving("--moto") as (url, _):
        variables = environment(url, cdk_log) | {"PATH": PATH, "VIRTUAL_ENV": sys.prefix}

        def shell(command: str) -> str:
            return run(["bash", "-euc", command], variables, ROOT)

        elsewhere = f" --output {tmp_path / 'cdk.out'}"  # the repository's own is a report's
        shell(DEPLOY + elsewhere)
        queue = shell(QUEUE).strip()
        assert queue.startswith("QuotaTraining-")
        shell(BUCKET)
        config = tmp_path / "sagemaker-config.yaml"
        config.write_text(CONFIG)
        settings = {
            "SAGEMAKER_USER_CONFIG_OVERRIDE": str(config),
            "SAGEMAKER_VALIDATE_ROLE": "false",  # moto has no iam:SimulatePrincipalPolicy
            "HOME": str(tmp_path),
        }
        run_flow("sagemaker_flow.py", environment(url, sdk_log) | settings, tmp_path, SDK, queue)
        shell(DESTROY + elsewhere)
        left = [post(f"{url}/v1/{operation}", {}) for operation in ("describejobqueues", "describeserviceenvironments")]
    assert left == [{"jobQueues": []}, {"serviceEnvironments": []}]
    assert hosts(cdk_log) == hosts(sdk_log) == {"127.0.0.1"}
