"""What a CDK app acknowledged is ignored by `check` too, for the same reason."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from policy_engine import check
from policy_engine.sources.acknowledged import Acknowledgements
from tests.policy_engine.sources.test_constructs import more, training_queue

METADATA: dict[str, Any] = {
    "/S": [{"type": "aws:cdk:acknowledged-rules", "data": {"Quota-Policy::QM101": "of the stack"}}],
    "/S/T": [
        {"type": "aws:cdk:acknowledged-rules", "data": {"Quota-Policy::QM104": "of the queue", "QM110": "a warning"}},
        {"type": "aws:cdk:info", "data": "QM999"},
    ],
    "/S/T/JobQueue": [{"type": "aws:cdk:logicalId", "data": "Queue1"}],
    "/S/T/Shares/a": [
        {"type": "aws:cdk:logicalId", "data": "Share1"},
        {
            "type": "aws:cdk:acknowledged-rules",
            "data": {"AwsSolutions::IAM5": "not ours", "Quota-Policy::QM104": "mine"},
        },
    ],
    "/S/T/Shares/ab": [{"type": "aws:cdk:acknowledged-rules", "data": {"Quota-Policy::QM106": "of another"}}],
}


OF_QUEUE, OF_STACK = [("QM104", "of the queue"), ("QM110", "a warning")], ("QM101", "of the stack")


@pytest.mark.parametrize(
    ("logical_id", "path", "accepted"),
    [
        ("Queue1", None, [*OF_QUEUE, OF_STACK]),
        ("Share1", None, [("QM104", "mine"), *OF_QUEUE, OF_STACK]),
        ("Other", "S/T/Shares/a/Resource", [("QM104", "mine"), *OF_QUEUE, OF_STACK]),
        ("Other", "S/U", [OF_STACK]),
        ("Other", None, []),
    ],
)
def test_it_covers_a_construct_and_all_within(
    logical_id: str, path: str | None, accepted: list[tuple[str, str]]
) -> None:
    assert list(Acknowledgements.of(METADATA).about(logical_id, path)) == accepted


@pytest.mark.parametrize(
    "metadata", [None, [], {"/S": None}, {"/S": ["text", {"type": "aws:cdk:acknowledged-rules", "data": []}]}]
)
def test_what_has_another_form_acknowledges_nothing(metadata: object) -> None:
    assert list(Acknowledgements.of(metadata).about("Queue1", "S/T")) == []


@pytest.mark.parametrize("nested", [False, True])
def test_what_an_app_acknowledges_is_ignored_by_check(nested: bool, tmp_path: Path) -> None:
    app = cdk.App(outdir=str(tmp_path / "cdk.out"), analytics_reporting=False)
    stack = cdk.Stack(app, "S")
    scope: Any = cdk.NestedStack(stack, "N") if nested else stack
    queue = training_queue(scope, "fixed")
    more(scope, "Extra", queue)
    cdk.Validations.of(queue).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM110", reason="scripts name it"))
    cdk.Validations.of(queue.job_queue).acknowledge(cdk.Acknowledgment(id="Quota-Policy::QM101", reason="for a week"))
    app.synth()
    [checked] = check(tmp_path / "cdk.out").queues
    ignored = {finding.id: finding.ignored_because for finding in checked.findings if finding.is_ignored}
    assert ignored == {"QM110": "scripts name it", "QM101": "for a week"}
    assert {"QM104", "QM112"} <= {finding.id for finding in checked.findings if not finding.is_ignored}
