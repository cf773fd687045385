"""What a source is, and what is said where it is none."""

import json
from pathlib import Path

import pytest

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import Kind, load, load_policy
from tests.policy_engine.sources.conftest import Write
from tests.policy_engine.sources.templates import template_of, write_assembly

DOCUMENT = "service_environment: {capacity_limits: {ml.g5.xlarge: 3}}\nshares: {}\n"
ENVIRONMENT = {"capacity_limits": {"ml.g5.xlarge": 3}}
TEMPLATE = json.dumps(template_of(Policy.of({"queue": "gpu", "service_environment": ENVIRONMENT, "shares": {}})))


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("p.yaml", DOCUMENT, Kind.DOCUMENT),
        ("p", DOCUMENT, Kind.DOCUMENT),
        ("t.json", TEMPLATE, Kind.TEMPLATE),
        ("t.yml", TEMPLATE, Kind.TEMPLATE),
        ("t.template", TEMPLATE, Kind.TEMPLATE),
    ],
)
def test_a_file_is_known_by_what_it_holds(write: Write, name: str, content: str, kind: Kind) -> None:
    source = load(write(name, content))
    assert source.kind is kind
    assert source.description == f"{kind} {name}"
    assert source.name == name


def test_a_path_is_a_source_too(write: Write) -> None:
    assert load(Path(write("p.yaml", DOCUMENT)).absolute()).kind is Kind.DOCUMENT


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("absent.yaml", "absent.yaml: no such file"),
        ("absent/", "absent/: no such file"),
        (
            "folder",
            "folder: a folder without manifest.json; expected a cloud assembly (the folder that cdk synth writes,"
            " cdk.out), a template or a policy document",
        ),
        ("queue:gpu", "queue:gpu: no region: give --region, set AWS_REGION, or name the queue by its ARN"),
        ("empty.yaml", "empty.yaml: the file is empty"),
        ("none.json", "none.json: no quota-managed job queue in this CloudFormation template"),
        (
            "shares.json",
            "shares.json: no quota-managed job queue in this CloudFormation template; 1 quota share belongs to a queue"
            " that it does not declare",
        ),
        ("", "the policy source is empty"),
    ],
)
def test_what_is_no_source_is_one_line(write: Write, source: str, line: str) -> None:
    write("folder/x", "")
    write("empty.yaml", "")
    write("none.json", '{"Resources": {"B": {"Type": "AWS::S3::Bucket"}}}')
    write("shares.json", '{"Resources": {"S": {"Type": "AWS::Batch::QuotaShare", "Properties": {"JobQueue": "q"}}}}')
    with pytest.raises(InputError) as caught:
        load_policy(source)
    assert str(caught.value) == line


def test_a_document_without_a_name_serves_for_any_queue(write: Write) -> None:
    assert load_policy(write("p.yaml", DOCUMENT), queue="anything").queue is None


def test_a_document_with_a_name_serves_for_that_queue(write: Write) -> None:
    name = write("p.yaml", f"queue: gpu\n{DOCUMENT}")
    assert load_policy(name, queue="gpu").queue == "gpu"
    with pytest.raises(InputError) as caught:
        load_policy(name, queue="cpu")
    assert str(caught.value) == "p.yaml: no queue 'cpu'; there is gpu"


def test_one_queue_needs_no_name_and_may_have_one(write: Write) -> None:
    name = write("t.json", TEMPLATE)
    assert load_policy(name) == load_policy(name, queue="gpu") == load_policy(name, queue="TrainingQueue0C")
    with pytest.raises(InputError) as caught:
        load_policy(name, queue="cpu")
    assert str(caught.value) == "t.json: no queue 'cpu'; there is gpu (TrainingQueue0C)"


def test_a_folder_with_a_manifest_is_an_assembly(tmp_path: Path) -> None:
    write_assembly(tmp_path / "out", {"A": json.loads(TEMPLATE)})
    source = load(tmp_path / "out")
    assert source.kind is Kind.ASSEMBLY
    assert source.description == f"cloud assembly {tmp_path / 'out'} (stack A)"
