"""The app as a user runs it: through the CDK command, with CDK's own validation on."""

import json
import os
import subprocess
import sys
import tarfile
from importlib.resources import files
from pathlib import Path

import pytest

from tests.synthesis import CDK_JSON, ROOT

CDK = ROOT / "node_modules" / ".bin" / "cdk"


def test_every_recommended_feature_flag_is_set() -> None:
    (library,) = (Path(str(files("aws_cdk") / "_jsii"))).glob("aws-cdk-lib@*.jsii.tgz")
    with tarfile.open(library) as archive:
        member = archive.extractfile("package/recommended-feature-flags.json")
        assert member is not None
        recommended = json.load(member)

    assert {name: CDK_JSON["context"].get(name) for name in recommended} == recommended


@pytest.mark.parametrize("activated", [True, False])
def test_the_app_command_finds_python(activated: bool, tmp_path: Path) -> None:
    """The Python of an activated environment, else that of `make setup`."""
    environment = tmp_path / ("elsewhere" if activated else ".venv")
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/bin/echo")
    variables = {"PATH": os.environ["PATH"]} | ({"VIRTUAL_ENV": str(environment)} if activated else {})

    said = subprocess.run(CDK_JSON["app"], shell=True, cwd=tmp_path, env=variables, capture_output=True, text=True)  # noqa: S602

    assert said.stdout == "app.py\n", said.stderr


def test_cdk_synth(tmp_path: Path) -> None:
    """The one test with CDK's own validation on; cdk.json makes what it finds errors."""
    assert CDK.exists(), "node_modules is missing: run `make setup`"
    environment = {name: value for name, value in os.environ.items() if name != "CDK_VALIDATION"}
    environment |= {"VIRTUAL_ENV": str(Path(sys.prefix))}

    done = subprocess.run(
        [str(CDK), "synth", "--quiet", "--strict", "--output", str(tmp_path / "cdk.out")],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((tmp_path / "cdk.out" / "validation-report.json").read_text())
    assert report["pluginReports"] == []
    template = json.loads((tmp_path / "cdk.out" / "QuotaTraining.template.json").read_text())
    kinds = [resource["Type"] for resource in template["Resources"].values()]
    assert kinds.count("AWS::Batch::QuotaShare") == 3
    assert "AWS::CDK::Metadata" not in kinds


def synthesise(stage: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """The app as the CDK command starts it for `-c stage=`, without the command and its second."""
    context = json.dumps(CDK_JSON["context"] | {"stage": stage} | more)
    environment = os.environ | {"CDK_OUTDIR": str(folder), "CDK_CONTEXT_JSON": context}
    return subprocess.run([sys.executable, "app.py"], cwd=ROOT, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize(("stage", "more"), [("dev", {"bootstrap": "false"}), ("prod", {})])
def test_a_stage_is_a_stack_of_its_own(stage: str, more: dict[str, str], tmp_path: Path) -> None:
    done = synthesise(stage, tmp_path, **more)

    assert done.returncode == 0, done.stderr
    [template] = tmp_path.glob("*.template.json")
    assert template.name == f"QuotaTraining-{stage}.template.json"
    assert ("BootstrapVersion" in template.read_text()) is (not more)


def test_an_unknown_stage_is_one_line(tmp_path: Path) -> None:
    done = synthesise("test", tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "stage: 'test' is not one of dev, prod; give one of them: -c stage=dev\n"
    assert not list(tmp_path.glob("*.template.json"))
