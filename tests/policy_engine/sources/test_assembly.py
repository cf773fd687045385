"""Cloud assemblies: several stacks, stages, nested stacks, and what crosses between them."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import load, load_policy
from policy_engine.sources.declaration import Unknown
from tests.policy_engine.sources.conftest import Write
from tests.policy_engine.sources.templates import Json, resource, template_of, write_assembly

POLICY = Policy.of(
    {
        "queue": "gpu",
        "service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}},
        "shares": {
            "QS1": {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "LEND", "in_share_preemption": True},
        },
    }
)
QUEUE = "TrainingQueue0C"


def share(name: str, queue: Any) -> Json:
    properties = {
        "QuotaShareName": name,
        "JobQueue": queue,
        "CapacityLimits": [{"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}],
        "PreemptionConfiguration": {"InSharePreemption": "DISABLED"},
        "ResourceSharingConfiguration": {"Strategy": "RESERVE"},
    }
    return {"Resources": {name: resource("QuotaShare", properties)}}


def unnamed(policy: Policy) -> Json:
    return template_of(policy.model_copy(update={"queue": None}))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("cdk.out")


def test_every_stack_and_stage_is_read(folder: Path) -> None:
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "assembly-Prod"}}
    tree = {"type": "cdk:tree", "properties": {"file": "tree.json"}}
    write_assembly(folder, {"Dev": unnamed(POLICY), "Empty": {"Outputs": {}}}, Prod=stage, Tree=tree)
    write_assembly(folder / "assembly-Prod", {"Prod/Training": template_of(POLICY)})
    source = load("cdk.out")
    assert source.description == "cloud assembly cdk.out (stacks Dev, Empty, Prod/Training)"
    assert [(queue.name, queue.queue.template) for queue in source.queues] == [(QUEUE, "Dev"), ("gpu", "Prod/Training")]
    assert load_policy("cdk.out", queue="gpu") == POLICY
    file = source.queue("gpu").queue.place.file
    assert file == "cdk.out/assembly-Prod/ProdTraining.template.json"


def test_one_of_several_queues_is_named(folder: Path) -> None:
    second = unnamed(POLICY)
    second["Resources"][QUEUE]["Metadata"] = {"aws:cdk:path": "B/Training/Queue/Resource"}
    write_assembly(folder, {"A": template_of(POLICY), "B": second})
    listed = f"gpu (A/{QUEUE}), B/{QUEUE}"
    for wanted, line in (
        (None, f"cdk.out: 2 queues, name one with --queue: {listed}"),
        (QUEUE, f"cdk.out: 2 queues, name one with --queue: {listed}"),
        ("gpus", f"cdk.out: no queue 'gpus'; there is {listed}"),
    ):
        with pytest.raises(InputError) as caught:
            load_policy("cdk.out", queue=wanted)
        assert str(caught.value) == line
    assert load_policy("cdk.out", queue="gpu") == POLICY
    for wanted in (f"B/{QUEUE}", "B/Training/Queue/Resource"):
        assert load_policy("cdk.out", queue=wanted).queue == QUEUE


def with_output(export: Any = None) -> Json:
    made = template_of(POLICY)
    output: Json = {"Value": {"Ref": QUEUE}}
    if export is not None:
        output["Export"] = {"Name": export}
    return made | {"Outputs": {"QueueArn": output}}


WEAK = {"Fn::GetStackOutput": {"StackName": "A", "Region": {"Ref": "AWS::Region"}, "OutputName": "QueueArn"}}


@pytest.mark.parametrize(
    ("export", "queue"),
    [
        ("A:Queue", {"Fn::ImportValue": "A:Queue"}),
        ({"Fn::Sub": "${AWS::StackName}:Queue"}, {"Fn::ImportValue": "A:Queue"}),
        (None, WEAK),
        (None, {"Fn::Select": [1, {"Fn::Split": [":job-queue/", WEAK]}]}),
    ],
)
def test_a_share_of_a_queue_in_another_stack(folder: Path, export: Any, queue: Any) -> None:
    write_assembly(folder, {"A": with_output(export), "B": share("QS2", queue)})
    (declared,) = load("cdk.out").queues
    assert [s.name for s in declared.shares] == ["QS1", "QS2"]
    assert declared.unknowns == ()
    assert list(declared.policy().shares) == ["QS1", "QS2"]


@pytest.mark.parametrize(
    ("queue", "reason"),
    [
        ({"Fn::ImportValue": "Other"}, "the import of 'Other'"),
        ({"Fn::GetStackOutput": {"StackName": "Z", "OutputName": "QueueArn"}}, "output 'QueueArn' of stack 'Z'"),
        ({"Fn::GetStackOutput": {"StackName": "A", "OutputName": "Other"}}, "output 'Other' of stack 'A'"),
    ],
)
def test_what_no_stack_gives_is_unknown(folder: Path, queue: Any, reason: str) -> None:
    write_assembly(folder, {"A": with_output("A:Queue"), "B": share("QS2", queue)})
    (stray,) = load("cdk.out").declaration.stray_shares
    assert stray.queue is not None
    assert isinstance(stray.queue.value, Unknown)
    assert stray.queue.value.reason == reason


def test_outputs_in_a_circle_are_unknown(folder: Path) -> None:
    def importing(name: str, other: str) -> Json:
        output = {"Value": {"Fn::ImportValue": other}, "Export": {"Name": name}}
        return {"Outputs": {"O": output}, **share(f"S{name}", {"Fn::ImportValue": name})}

    write_assembly(folder, {"A": importing("a", "b"), "B": importing("b", "a")})
    strays = load("cdk.out").declaration.stray_shares
    assert [s.queue.value.reason for s in strays if s.queue and isinstance(s.queue.value, Unknown)] == [
        "output 'O' depends on itself"
    ] * 2


def test_a_literal_name_means_the_queue_of_its_own_stack(folder: Path) -> None:
    both = template_of(POLICY)
    both["Resources"] |= share("QS2", "gpu")["Resources"]
    write_assembly(folder, {"A": both, "B": copy.deepcopy(both), "C": share("QS3", "gpu")})
    declaration = load("cdk.out").declaration
    assert [[s.name for s in queue.shares] for queue in declaration.queues] == [["QS1", "QS2"]] * 2
    assert [s.name for s in declaration.stray_shares] == ["QS3"]  # either could be meant


def test_stacks_of_one_name_are_told_apart_by_their_environment(folder: Path) -> None:
    write_assembly(folder, {"A": with_output("Queue"), "B": with_output("Queue"), "C": share("QS2", WEAK)})
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    for stack, region in (("A", "eu-west-1"), ("B", "us-east-1"), ("C", "us-east-1")):
        manifest["artifacts"][stack]["environment"] = f"aws://123456789012/{region}"
    manifest["artifacts"]["B"]["properties"]["stackName"] = "A"
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    first, second = load("cdk.out").queues
    assert [s.name for s in first.shares] == ["QS1"]
    assert [s.name for s in second.shares] == ["QS1", "QS2"]


def test_a_stack_knows_its_account_region_and_name(folder: Path) -> None:
    made = template_of(POLICY)
    made["Resources"][QUEUE]["Properties"]["JobQueueName"] = {
        "Fn::Sub": "${AWS::AccountId}-${AWS::Region}-${AWS::StackName}"
    }
    write_assembly(folder, {"A": made})
    assert load("cdk.out").queue().unknowns[0].reason.startswith("AWS::AccountId depends on the deployment")
    manifest = (folder / "manifest.json").read_text(encoding="utf-8")
    known = manifest.replace("unknown-account", "123456789012").replace("unknown-region", "eu-west-1")
    (folder / "manifest.json").write_text(known, encoding="utf-8")
    assert load_policy("cdk.out").queue == "123456789012-eu-west-1-A"
    assert load_policy("cdk.out", parameters={"AWS::Region": "x"}).queue == "123456789012-x-A"


def test_parameters_reach_the_stacks_that_declare_them(folder: Path) -> None:
    made = template_of(POLICY)
    limits = made["Resources"]["TrainingEnvironment0B"]["Properties"]["CapacityLimits"]
    limits[0]["MaxCapacity"] = {"Ref": "Instances"}
    write_assembly(folder, {"A": made | {"Parameters": {"Instances": {"Type": "Number"}}}, "B": {"Resources": {}}})
    assert load_policy("cdk.out", parameters={"Instances": "7"}).capacity("ml.g5.xlarge") == 7
    with pytest.raises(InputError) as caught:
        load("cdk.out", parameters={"Instance": "7"})
    assert str(caught.value) == (
        "cdk.out/manifest.json: --parameter Instance: there is no such parameter; did you mean 'Instances'?"
    )


# --- nested stacks -------------------------------------------------------------------------------

HASH, OTHER = "a" * 64, "b" * 64


def nested_stack(asset: str, **parameters: Any) -> Json:
    url = {"Fn::Join": ["", ["https://s3.", {"Ref": "AWS::Region"}, f"/{asset}.json"]]}
    return {"Type": "AWS::CloudFormation::Stack", "Properties": {"TemplateURL": url, "Parameters": parameters}}


def write_nested(folder: Path, parent: Json, **nested: Json) -> None:
    files = {HASH: {"source": {"path": "one.nested.template.json"}}, OTHER: {"source": {"path": "two.json"}}}
    folder.mkdir(parents=True)
    (folder / "A.assets.json").write_text(json.dumps({"version": "55.0.0", "files": files}), encoding="utf-8")
    for name, made in nested.items():
        (folder / {"one": "one.nested.template.json", "two": "two.json"}[name]).write_text(json.dumps(made))
    assets = {"type": "cdk:asset-manifest", "properties": {"file": "A.assets.json"}}
    write_assembly(folder, {"A": parent}, **{"A.assets": assets})


def test_a_share_in_a_nested_stack_of_the_queues_stack(folder: Path) -> None:
    parent = template_of(POLICY)
    parent["Resources"]["Nested"] = nested_stack(HASH, Queue={"Ref": QUEUE}, Limit=2)
    child = share("QS2", {"Ref": "Queue"})
    child["Resources"]["QS2"]["Properties"]["CapacityLimits"][0]["MaxCapacity"] = {"Ref": "Limit"}
    child["Parameters"] = {"Queue": {"Type": "String"}, "Limit": {"Type": "Number"}}
    write_nested(folder, parent, one=child)
    (queue,) = load("cdk.out").queues
    assert [s.key for s in queue.shares] == [("A", "TrainingShares00000000"), ("A/Nested", "QS2")]
    assert queue.policy().shares["QS2"].limit("ml.g5.xlarge") == 2
    assert queue.shares[1].place.file == "cdk.out/one.nested.template.json"


def test_a_queue_in_a_nested_stack_and_a_share_in_another(folder: Path) -> None:
    child = template_of(POLICY) | {"Outputs": {"Queue": {"Value": {"Ref": QUEUE}}}}
    output = {"Fn::GetAtt": ["One", "Outputs.Queue"]}
    parent = {
        "Resources": {
            "Two": nested_stack(OTHER, Queue=output),
            "One": nested_stack(HASH),
            **share("QS3", output)["Resources"],
        }
    }
    sibling = share("QS2", {"Ref": "Queue"}) | {"Parameters": {"Queue": {"Type": "String"}}}
    write_nested(folder, parent, one=child, two=sibling)
    (queue,) = load("cdk.out").queues
    assert queue.queue.key == ("A/One", QUEUE)
    assert sorted(str(s.name) for s in queue.shares) == ["QS1", "QS2", "QS3"]


NOTHING = "Nothing has no default; give it with --parameter Nothing=VALUE"


@pytest.mark.parametrize(
    ("condition", "reason"),
    [
        ({"Fn::Equals": ["a", "b"]}, None),
        ({"Fn::Equals": [{"Ref": "Nothing"}, "b"]}, f"condition 'There': {NOTHING}"),
    ],
)
def test_a_nested_stack_of_a_condition(folder: Path, condition: Json, reason: str | None) -> None:
    parent: Json = {
        "Resources": {"Nested": nested_stack(HASH) | {"Condition": "There"}},
        "Conditions": {"There": condition},
        "Parameters": {"Nothing": {"Type": "String"}},
    }
    write_nested(folder, parent, one=template_of(POLICY))
    queues = load("cdk.out").queues
    assert [queue.queue.existence and queue.queue.existence.reason for queue in queues] == ([reason] if reason else [])


def test_a_nested_stack_has_the_parameters_of_its_parent_alone(folder: Path) -> None:
    parent: Json = {
        "Resources": {"Nested": nested_stack(HASH)},
        "Parameters": {"Limit": {"Type": "Number", "Default": 5}},
    }
    child = template_of(POLICY) | {"Parameters": {"Limit": {"Type": "Number", "Default": 2}}}
    limits = child["Resources"]["TrainingShares00000000"]["Properties"]["CapacityLimits"]
    limits[0]["MaxCapacity"] = {"Ref": "Limit"}
    write_nested(folder, parent, one=child)
    assert load_policy("cdk.out", parameters={"Limit": "7"}).shares["QS1"].limit("ml.g5.xlarge") == 2


def test_an_output_of_a_false_condition_is_not_there(folder: Path) -> None:
    made = with_output("A:Queue") | {"Conditions": {"No": {"Fn::Equals": ["a", "b"]}}}
    made["Outputs"]["QueueArn"]["Condition"] = "No"
    write_assembly(folder, {"A": made, "B": share("QS2", {"Fn::ImportValue": "A:Queue"}), "C": share("QS3", WEAK)})
    assert [s.name for s in load("cdk.out").declaration.stray_shares] == ["QS2", "QS3"]


def test_a_nested_stack_whose_template_is_not_there(folder: Path) -> None:
    parent = template_of(POLICY)
    parent["Resources"]["Nested"] = nested_stack("c" * 64)
    parent["Resources"] |= share("QS2", {"Fn::GetAtt": ["Nested", "Outputs.Queue"]})["Resources"]
    write_nested(folder, parent)
    (stray,) = load("cdk.out").declaration.stray_shares
    assert stray.name == "QS2"


def test_a_nested_stack_in_itself_is_read_once(folder: Path) -> None:
    child = template_of(POLICY)
    child["Resources"]["Again"] = nested_stack(HASH)
    write_nested(folder, {"Resources": {"Nested": nested_stack(HASH)}}, one=child)
    assert [queue.queue.key for queue in load("cdk.out").queues] == [("A/Nested", QUEUE)]


def test_an_assembly_within_itself_is_read_once(folder: Path) -> None:
    stage = {"type": "cdk:cloud-assembly", "properties": {"directoryName": "."}}
    write_assembly(folder, {"A": template_of(POLICY)}, Self=stage)
    assert load_policy("cdk.out") == POLICY


# --- what is no assembly -------------------------------------------------------------------------

STACK = {"type": "aws:cloudformation:stack"}
BAD: dict[str, tuple[Any, str]] = {
    "a list": ([], "manifest.json:1:1: a list is not a mapping"),
    "no artifacts": (
        {"version": "1"},
        "manifest.json:1:1: artifacts: required, but missing: this is no manifest of a CDK cloud assembly",
    ),
    "no stacks": ({"artifacts": {"T": {"type": "cdk:tree"}}}, "manifest.json: a cloud assembly without stacks"),
    "no template": (
        {"artifacts": {"A": STACK}},
        "manifest.json:1:16: artifacts.A.properties.templateFile: required, but missing",
    ),
    "template a number": (
        {"artifacts": {"A": {**STACK, "properties": {"templateFile": 3}}}},
        "manifest.json:1:73: artifacts.A.properties.templateFile: 3 is not text",
    ),
    "template missing": (
        {"artifacts": {"A": {**STACK, "properties": {"templateFile": "x.json"}}}},
        "x.json: no such file",
    ),
    "template a list": (
        {"artifacts": {"A": {**STACK, "properties": {"templateFile": "list.json"}}}},
        "list.json:1:1: a list is not a mapping",
    ),
    "stage missing": (
        {"artifacts": {"A": {"type": "cdk:cloud-assembly", "properties": {"directoryName": "Prod"}}}},
        "Prod/manifest.json: no such file",
    ),
}


@pytest.mark.parametrize(("manifest", "line"), BAD.values(), ids=BAD.keys())
def test_bad_assemblies_are_one_line(write: Write, manifest: Any, line: str) -> None:
    write("cdk.out/list.json", "[]")
    write("cdk.out/manifest.json", json.dumps(manifest))
    with pytest.raises(InputError) as caught:
        load("cdk.out")
    assert str(caught.value) == f"cdk.out/{line}"
