"""Apps and stacks for tests of CDK code: quick, deterministic, with the flags of cdk.json."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import aws_cdk as cdk
import pytest
from aws_cdk.assertions import Annotations, Match
from aws_cdk.cx_api import SynthesisMessage
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.json import JSONSnapshotExtension

ROOT = Path(__file__).parent.parent
CDK_JSON = json.loads((ROOT / "cdk.json").read_text())


def new_app(folder: Path) -> cdk.App:
    """An app as the CDK command makes it, but for what costs time and is in no template."""
    return cdk.App(
        outdir=str(folder),
        context=CDK_JSON["context"],
        analytics_reporting=False,
        tree_metadata=False,
        builtin_cloud_formation_validation=False,
    )


def new_stack(app: cdk.App, name: str = "Stack") -> cdk.Stack:
    """A stack without the parameter and the rule of the bootstrap version."""
    return cdk.Stack(app, name, synthesizer=cdk.BootstraplessSynthesizer())


def template_of(stack: cdk.Stack) -> dict[str, Any]:
    """The stack's template, its app synthesised."""
    app = cdk.App.of(stack)
    assert app is not None
    assembly = app.synth(force=True)
    return dict(json.loads((Path(assembly.directory) / stack.template_file).read_text()))


def of_type(template: Mapping[str, Any], kind: str) -> dict[str, dict[str, Any]]:
    """Logical id to properties of the resources of ``AWS::Batch::<kind>``."""
    return {
        logical_id: resource.get("Properties", {})
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == f"AWS::Batch::{kind}"
    }


def only(template: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The properties of the one resource of ``AWS::Batch::<kind>``."""
    (properties,) = of_type(template, kind).values()
    return properties


def warnings_of(stack: cdk.Stack) -> list[SynthesisMessage]:
    """The warnings of the stack's constructs."""
    return Annotations.from_stack(stack).find_warning("*", Match.any_value())


def assert_documented(reason: str) -> None:
    """Does the page of the constructs say why a finding of cdk-nag is acceptable?"""
    assert f"| {reason} |" in (ROOT / "docs" / "constructs.md").read_text(encoding="utf-8")


def number_token() -> int:
    """The value of the parameter Number, as CDK hides it in a float; and to the type checker what it stands for."""
    return cast("int", cdk.Token.as_number({"Ref": "Number"}))


@pytest.fixture
def app(tmp_path: Path) -> cdk.App:
    return new_app(tmp_path / "cdk.out")


@pytest.fixture
def stack(app: cdk.App) -> cdk.Stack:
    return new_stack(app)


@pytest.fixture
def snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """Templates are kept as JSON, one file per test."""
    return snapshot.use_extension(JSONSnapshotExtension)
