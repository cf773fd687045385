"""AWS's walkthrough through boto3 and the AWS CLI, against the endpoint that ``policy-engine serve`` is."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.policy_engine.command import folder
from tests.policy_engine.endpoint.clients.running import environment, hosts, run, run_flow
from tests.policy_engine.endpoint.test_serve_command import serving

__all__ = ["folder"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("script", "policy"), [("boto3_flow.py", []), ("aws_cli_flow.py", ["policy.yaml"])])
def test_the_walkthrough(script: str, policy: list[str], tmp_path: Path) -> None:
    log = tmp_path / "hosts"
    with serving(*policy) as (url, _):
        run_flow(script, environment(url, log), tmp_path)
    assert hosts(log) == {"127.0.0.1"}


# --- what keeps the clients from the network -------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.create_connection(('192.0.2.1', 80), 1)",
        "import socket; socket.getaddrinfo('sts.us-west-2.amazonaws.com', 443)",
        "import boto3; boto3.client('sts', endpoint_url='http://192.0.2.1').get_caller_identity()",
    ],
)
def test_python_reaches_no_other_host(code: str, tmp_path: Path) -> None:
    log = tmp_path / "hosts"
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment("", log), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "is another host" in done.stderr
    assert hosts(log) <= {"192.0.2.1", "sts.us-west-2.amazonaws.com"}


@pytest.mark.parametrize(
    "code",
    [
        "require('net').connect(80, '192.0.2.1')",
        "require('https').get('https://192.0.2.1/')",
        "require('dns').lookup('aws.amazon.com', () => {})",
        "fetch('http://192.0.2.1/')",
    ],
)
def test_node_reaches_no_other_host(code: str, tmp_path: Path) -> None:
    node = shutil.which("node")
    assert node is not None
    log = tmp_path / "hosts"
    done = subprocess.run(
        [node, "-e", code], env=environment("", log), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    assert "is another host" in done.stderr
    assert hosts(log) <= {"192.0.2.1", "aws.amazon.com"}


def test_a_flow_that_fails_is_told(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        run([sys.executable, "-c", "1 / 0"], environment("", tmp_path / "hosts"), tmp_path)
