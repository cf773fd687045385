"""The section of docs/endpoint.md on moto: the commands of its quick part; those of the CDK are run by night."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.policy_engine.endpoint.with_moto.serving import services
from tests.synthesis import ROOT

_PAGE = (ROOT / "docs" / "endpoint.md").read_text(encoding="utf-8")
_LINES = re.findall(r"^\$ (.*)$", "".join(re.findall(r"```console\n(.*?)```", _PAGE, re.DOTALL)), re.MULTILINE)
SERVE, ADDRESS, CREDENTIALS, DEPLOY, QUEUE, DESTROY, BUCKET = _LINES
"""The commands of the page's console blocks."""
CONFIG = "".join(re.findall(r"```yaml\n# file: sagemaker-config.yaml\n(.*?)```", _PAGE, re.DOTALL))
"""The SDK's, which keeps it from AWS itself."""
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])


def test_the_commands_are_those_of_the_page() -> None:
    assert SERVE == "policy-engine serve --moto --port 8000"
    assert ADDRESS == "export AWS_ENDPOINT_URL=http://127.0.0.1:8000"
    assert [" deploy " in DEPLOY, " destroy " in DESTROY] == [True, True]


def test_the_aws_cli() -> None:
    with services() as aws:
        script = "\n".join([ADDRESS, CREDENTIALS, BUCKET]).replace("http://127.0.0.1:8000", aws.url)
        done = subprocess.run(
            ["bash", "-euc", script],
            env={**os.environ, "PATH": PATH},
            capture_output=True,
            text=True,
            check=True,
        )
        assert json.loads(done.stdout)["Location"].rstrip("/").endswith("/local-bucket")
        assert [bucket["Name"] for bucket in aws("s3").list_buckets()["Buckets"]] == ["local-bucket"]
