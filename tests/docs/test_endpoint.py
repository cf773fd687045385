"""Every snippet of docs/endpoint.md does what the page says."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from policy_engine.endpoint import Endpoint
from policy_engine.endpoint.operations import OPERATIONS
from policy_engine.endpoint.serving import Server
from policy_engine.sources import load
from tests.policy_engine.command import run
from tests.policy_engine.endpoint.http_client import served
from tests.synthesis import ROOT

pytest_plugins = ["pytester"]

PAGE = (ROOT / "docs" / "endpoint.md").read_text(encoding="utf-8")


def snippets(language: str) -> list[str]:
    found: list[str] = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return found


FILES = {text.splitlines()[0].removeprefix("# file: "): text for text in snippets("yaml")}
START, EXPORTS, CALLS, SDK, CONTROLS = snippets("sh")
BOTO3, TESTS, CONTEXT, STACK = snippets("python")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The page's files, in the working folder."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def server(folder: Path) -> Iterator[Server]:
    with served(Endpoint(policies=load(folder / "policy.yaml").policies())) as server:
        yield server


def shell(script: str, server: Server) -> str:
    """What a script prints, with the server in the place of the page's."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = script.replace("http://127.0.0.1:8000", server.url)
    done = subprocess.run(
        ["bash", "-euc", script], capture_output=True, text=True, check=False, env={**os.environ, "PATH": path}
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_command_is_one(folder: Path) -> None:
    """It is started by a test of its own; here it is what it says of itself that is held against the page."""
    assert START == "policy-engine serve policy.yaml --port 8000\n"
    help_ = " ".join(run("serve", "--help").stdout.split())
    for option in re.findall(r"^\| `--.*$", PAGE, re.MULTILINE):
        for name in re.findall(r"--[a-z-]+", option.split(" | ")[0]):
            assert f"{name} " in help_, name
    account = Endpoint(policies=load(folder / "policy.yaml").policies()).account()
    for name in (*account.environments, *account.policies):
        assert f"`{name}`" in PAGE


def test_the_aws_cli(server: Server) -> None:
    printed = shell(EXPORTS + CALLS, server)
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(printed.rstrip()):
        value, at = decoder.raw_decode(printed, at + len(printed[at:]) - len(printed[at:].lstrip()))
        found.append(value)
    assert found[0] == ["QS1", "QS2", "QS3"]
    assert found[1]["jobName"] == "nightly"
    assert ":us-west-2:" in found[1]["jobArn"]


@pytest.mark.usefixtures("folder")
def test_boto3(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in re.findall(r"(AWS_\w+)=(\S+)", EXPORTS):
        monkeypatch.setenv(name, value.replace("http://127.0.0.1:8000", server.url))
    exec(compile(BOTO3, "docs/endpoint.md", "exec"), {})  # noqa: S102
    assert capsys.readouterr().out == "RUNNING\n"


def test_the_sdk_is_told_of_a_bucket_and_a_role() -> None:
    """The keys are those of the SDK's configuration schema; the SDK itself is tried by night."""
    settings = yaml.safe_load(FILES["sagemaker-config.yaml"])["SageMaker"]
    assert settings["PythonSDK"]["Modules"]["Session"] == {"DefaultS3Bucket": "local-bucket"}
    assert settings["TrainingJob"]["RoleArn"].startswith("arn:aws:iam::123456789012:role/")
    assert "sagemaker-config.yaml" in SDK


@pytest.mark.skipif(shutil.which("curl") is None, reason="this machine has no curl")
def test_the_clock(server: Server) -> None:
    answers = [json.loads(line + "}") for line in shell(CONTROLS, server).split("}") if line]
    assert [answer["seconds"] for answer in answers] == [0, 600, 7200, 0]
    assert set(answers[0]) == set(json.loads(re.findall(r"`(\{\"seconds\": 600.0.*?\})`", PAGE)[0]))


@pytest.mark.usefixtures("folder")
def test_the_tests(pytester: pytest.Pytester) -> None:
    for name, text in FILES.items():
        (pytester.path / name).write_text(text, encoding="utf-8")
    pytester.makepyfile(test_nightly=TESTS)
    others = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "syrupy", "xdist")]
    pytester.runpytest(*others).assert_outcomes(passed=2)


def test_the_test_of_a_stack(pytester: pytest.Pytester) -> None:
    snapshots = ROOT / "tests/stacks/__snapshots__/test_training_queue_stack"
    (pytester.path / "template.json").write_text((snapshots / "test_template.json").read_text())
    pytester.makepyfile(test_stack=STACK)
    others = [f"-pno:{name}" for name in ("cacheprovider", "hypothesispytest", "syrupy", "xdist")]
    pytester.runpytest(*others).assert_outcomes(passed=1)


@pytest.mark.usefixtures("folder")
def test_the_context() -> None:
    names: dict[str, Any] = {}
    exec(compile(CONTEXT, "docs/endpoint.md", "exec"), names)  # noqa: S102
    assert [queue["jobQueueName"] for queue in names["queues"]] == ["training"]


def test_the_operations_that_the_page_names_are_served() -> None:
    assert set(re.findall(r"\b(?:Submit|Describe|List|Update|Terminate)ServiceJobs?\b", PAGE)) <= set(OPERATIONS)
