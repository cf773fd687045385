"""What the constructs synthesise is read back as what they declare: stacks, stages, nested stacks, parameters."""

from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest

from constructs_quota import QuotaShare, QuotaShareOptions, QuotaTrainingQueue, ResourceSharing
from policy_engine.errors import InputError
from policy_engine.policy import Policy
from policy_engine.sources import load, load_policy

DOCUMENT = """\
queue: gpu-training
service_environment:
  capacity_limits: {ml.g5.xlarge: 3}
shares:
  QS1: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND_AND_BORROW, borrow_limit: 0, in_share_preemption: true}
  QS2: {capacity_limits: {ml.g5.xlarge: 1}, strategy: LEND, in_share_preemption: false}
  QS-2: {capacity_limits: {ml.g5.xlarge: 1}, strategy: RESERVE, in_share_preemption: false}
job_state_time_limits:
  - {reason: "MISCONFIGURATION:SERVICE_ENVIRONMENT_MAX_RESOURCE", max_seconds: 86400}
  - {reason: "MISCONFIGURATION:QUOTA_MANAGEMENT_LIMIT_EXCEEDED", max_seconds: 86400}
"""
ONE = {"ml.g5.xlarge": 1}


def training_queue(scope: cdk.Stack, name: str | None = None) -> QuotaTrainingQueue:
    return QuotaTrainingQueue(
        scope,
        "Training",
        job_queue_name=name,
        capacity_limits={"ml.g5.xlarge": 3},
        quota_shares={
            "QS1": QuotaShareOptions(
                capacity_limits=ONE,
                in_share_preemption=True,
                resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=0),
            ),
            "QS2": QuotaShareOptions(
                capacity_limits=ONE, in_share_preemption=False, resource_sharing=ResourceSharing.lend()
            ),
            "QS-2": QuotaShareOptions(
                capacity_limits=ONE, in_share_preemption=False, resource_sharing=ResourceSharing.reserve()
            ),
        },
    )


def more(scope: cdk.Stack, name: str, queue: QuotaTrainingQueue, capacity: Any = 1) -> None:
    QuotaShare(
        scope,
        name,
        job_queue=queue.job_queue,
        quota_share_name=name,
        capacity_limits={"ml.g5.xlarge": capacity},
        in_share_preemption=False,
        resource_sharing=ResourceSharing.lend(),
    )


@pytest.fixture(scope="module", params=["weak", "strong"])
def assembly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Policy]:
    """A stack that is complete, and one whose shares are spread over stacks, a nested stack and a parameter."""
    folder = tmp_path_factory.mktemp("cdk") / "cdk.out"
    app = cdk.App(outdir=str(folder), context={"@aws-cdk/core:defaultCrossStackReferences": request.param})
    stage = cdk.Stage(app, "Prod", env=cdk.Environment(account="123456789012", region="eu-west-1"))
    declared = training_queue(cdk.Stack(stage, "Training"), "gpu-training")
    spread_stack = cdk.Stack(app, "Spread")
    spread = training_queue(spread_stack)
    more(cdk.Stack(app, "Other"), "Across", spread)
    more(cdk.NestedStack(spread_stack, "Nested"), "Inside", spread)
    limit = cdk.CfnParameter(spread_stack, "Limit", type="Number")
    more(spread_stack, "Open", spread, limit.value_as_number)
    policy = declared.policy
    app.synth()
    return folder, policy


def test_an_assembly_gives_what_the_constructs_declare_and_a_document_says(
    assembly: tuple[Path, Policy], tmp_path: Path
) -> None:
    folder, declared = assembly
    (tmp_path / "policy.yaml").write_text(DOCUMENT, encoding="utf-8")
    policy = load_policy(folder, queue="gpu-training")
    assert policy == declared
    assert policy == load_policy(tmp_path / "policy.yaml")


def test_shares_are_found_across_stacks(assembly: tuple[Path, Policy]) -> None:
    source = load(assembly[0])
    assert source.declaration.stray_shares == ()
    spread = next(queue for queue in source.queues if queue.name != "gpu-training")
    assert {share.name for share in spread.shares} == {"QS1", "QS2", "QS-2", "Open", "Inside", "Across"}
    assert all(share.queue is not None and share.queue.is_reference for share in spread.shares)
    (unknown,) = spread.unknowns
    assert unknown.property == "CapacityLimits[0].MaxCapacity"
    with pytest.raises(InputError, match=r"CapacityLimits\[0\].MaxCapacity: unknown until deployment: Limit has no"):
        spread.policy()
    policy = load_policy(assembly[0], queue=f"Spread/{spread.name}", parameters={"Limit": "7"})
    assert policy.shares["Open"].limit("ml.g5.xlarge") == 7
