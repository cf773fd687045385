import json
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from policy_engine import check, load_policy, verify
from stacks.training_queue_stack import TrainingQueueStack
from tests.synthesis import ROOT, new_app, of_type, only

WALKTHROUGH = ROOT / "examples" / "walkthrough.yaml"


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> TrainingQueueStack:
    app = new_app(tmp_path_factory.mktemp("app") / "cdk.out")
    stack = TrainingQueueStack(app, "Stack", synthesizer=cdk.BootstraplessSynthesizer())
    app.synth()
    return stack


@pytest.fixture
def template(stack: TrainingQueueStack) -> dict[str, Any]:
    return dict(json.loads(template_file(stack).read_text()))


def assembly_of(stack: cdk.Stack) -> Path:
    app = cdk.App.of(stack)
    assert app is not None
    return Path(app.outdir)


def template_file(stack: cdk.Stack) -> Path:
    return assembly_of(stack) / stack.template_file


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert template == snapshot


def test_is_the_announcement_s(template: dict[str, Any]) -> None:
    limit = {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1}
    assert only(template, "ServiceEnvironment")["CapacityLimits"] == [limit | {"MaxCapacity": 3}]
    shares = {share["QuotaShareName"]: share for share in of_type(template, "QuotaShare").values()}
    assert list(shares) == ["QS1", "QS2", "QS3"]
    assert all(share["CapacityLimits"] == [limit] for share in shares.values())
    assert {
        name: (share["ResourceSharingConfiguration"], share["PreemptionConfiguration"]["InSharePreemption"])
        for name, share in shares.items()
    } == {
        "QS1": ({"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200}, "ENABLED"),
        "QS2": ({"Strategy": "LEND"}, "DISABLED"),
        "QS3": ({"Strategy": "RESERVE"}, "DISABLED"),
    }


def test_outputs_what_a_submitter_names(template: dict[str, Any]) -> None:
    (queue,) = of_type(template, "JobQueue")
    values = {name: output["Value"] for name, output in template["Outputs"].items()}
    assert values == {
        "JobQueueName": {"Fn::Select": [1, {"Fn::Split": ["/", {"Ref": queue}]}]},
        "QuotaShareNames": "QS1,QS2,QS3",
    }


def test_the_engine_reads_what_the_construct_declares(stack: TrainingQueueStack) -> None:
    assert load_policy(assembly_of(stack)) == stack.queue.policy


def test_has_neither_errors_nor_warnings(stack: TrainingQueueStack) -> None:
    assert {finding.id for finding in check(assembly_of(stack)).findings} == {"QM104", "QM106"}  # info, both


def test_behaves_as_aws_s_walkthrough_says(stack: TrainingQueueStack) -> None:
    assert verify(assembly_of(stack), WALKTHROUGH).verdict == "holds"
