"""What holds for every template: any valid declaration, every snapshot, tags."""

import json
import tempfile
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sns as sns
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    CheckpointOptions,
    QueueMonitoring,
    QuotaSchedulingPolicy,
    QuotaServiceEnvironment,
    QuotaShareOptions,
    QuotaTrainingQueue,
    ResourceSharing,
    ShareMetrics,
    State,
    StuckReason,
)
from policy_engine import load_policy
from policy_engine.policy import MAX_QUOTA_SHARES
from tests.synthesis import ROOT, new_app, new_stack, template_of

SNAPSHOTS = sorted(
    path for tests in ("constructs_quota", "stacks") for path in (ROOT / "tests" / tests).glob("__snapshots__/*/*.json")
)
UNITS = ["ml.g5.xlarge", "ml.g5.12xlarge", "ml.p5.48xlarge", "ml.trn1.32xlarge", "ml.m6i.4xlarge", "ml.m5.large"]
ONE = {"ml.g5.xlarge": 1}

# Names that differ in punctuation alone are the ones whose logical ids could collapse.
names = st.text(st.sampled_from("ab-_0"), min_size=1, max_size=6)
counts = st.integers(1, 10**6)
states = st.sampled_from(State)
sharings = st.one_of(
    st.just(ResourceSharing.reserve()),
    st.just(ResourceSharing.lend()),
    st.integers(-1, 10**6).map(lambda limit: ResourceSharing.lend_and_borrow(borrow_limit=limit)),
)
environments = st.dictionaries(st.sampled_from(UNITS), counts, min_size=1, max_size=5)


@st.composite
def declarations(draw: st.DrawFn) -> dict[str, Any]:
    """Arguments of a QuotaTrainingQueue."""
    environment = draw(environments)
    shares = st.builds(
        QuotaShareOptions,
        capacity_limits=st.dictionaries(st.sampled_from(sorted(environment)), counts, min_size=1, max_size=5),
        resource_sharing=sharings,
        in_share_preemption=st.booleans(),
        state=states,
    )
    return {
        "capacity_limits": environment,
        "quota_shares": draw(st.dictionaries(names, shares, max_size=MAX_QUOTA_SHARES)),
        "job_queue_name": draw(st.none() | st.text(st.sampled_from("aZ-_9"), min_size=1, max_size=128)),
        "job_state_time_limits": draw(st.dictionaries(st.sampled_from(StuckReason), st.integers(600, 86400))),
        "state": draw(states),
    }


@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])  # each is a synthesis
@given(declarations())
def test_any_declaration_reads_back_as_the_same_policy(declaration: dict[str, Any]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        app = new_app(Path(folder))
        declared = QuotaTrainingQueue(new_stack(app), "Training", **declaration).policy
        app.synth()

        read = load_policy(folder)

    assert read == declared
    if not any(name.isdecimal() for name in read.shares):  # JavaScript, and so CDK, puts numbers first
        assert list(read.shares) == list(declaration["quota_shares"])
    assert {
        name: (share.capacity_limits, share.borrow_limit, share.in_share_preemption, share.state)
        for name, share in read.shares.items()
    } == {
        name: (
            options.capacity_limits,
            options.resource_sharing.borrow_limit,
            options.in_share_preemption,
            options.state,
        )
        for name, options in declaration["quota_shares"].items()
    }
    assert read.service_environment.capacity_limits == declaration["capacity_limits"]
    assert {limit.reason: limit.max_seconds for limit in read.job_state_time_limits} == declaration[
        "job_state_time_limits"
    ]


def test_template_of_every_option_away_from_its_default(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    """But for those of a share, which have snapshots of their own."""
    role = iam.Role(stack, "Training", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    topic = sns.Topic(stack, "Topic")
    training = QuotaTrainingQueue(
        stack,
        "Queue",
        service_environment=QuotaServiceEnvironment(
            stack,
            "Environment",
            capacity_limits=dict.fromkeys(UNITS[:5], 1),
            service_environment_name="gpu-pool",
            state=State.DISABLED,
        ),
        scheduling_policy=QuotaSchedulingPolicy(
            stack, "Policy", inherit_tags=True, scheduling_policy_name="gpu-policy"
        ),
        checkpoints=CheckpointOptions(
            prefix="runs/models",
            expire_after=cdk.Duration.days(7),
            encryption_key=kms.Key(stack, "Key", enable_key_rotation=True),
            execution_role=role,
        ),
        inherit_tags=True,
        job_queue_name="gpus",
        job_state_time_limits=dict.fromkeys(StuckReason, cdk.Duration.hours(2)),
        quota_shares={
            "QS1": QuotaShareOptions(
                capacity_limits=ONE,
                resource_sharing=ResourceSharing.lend(),
                in_share_preemption=True,
                state=State.DISABLED,
            )
        },
        state=State.DISABLED,
    )
    queue = training.job_queue
    queue.notify_preemptions("QS1", topic)
    queue.on_preemption_started("Started", target=targets.SnsTopic(topic))
    queue.on_preemption_completed("Completed")
    queue.on_queue_blocked("Blocked")
    queue.on_job_state_change("Failed", quota_share_name="QS1", statuses=["FAILED"])
    QueueMonitoring(
        stack,
        "Monitoring",
        job_queue=queue,
        alarms={"JobsPreempted": {"Warning": 5, "Critical": 20}},
        actions={"Critical": [actions.SnsAction(topic)]},
        share_metrics=ShareMetrics(stack, "Metrics", job_queue=queue, namespace="Teams", every=cdk.Duration.minutes(5)),
    )
    cdk.Tags.of(stack).add("team", "platform")

    assert template_of(stack) == snapshot


@pytest.mark.parametrize("path", SNAPSHOTS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_cfn_lint_finds_nothing_in_any_region_that_has_quota_shares(path: Path) -> None:
    from cfnlint.api import ManualArgs, lint  # type: ignore[import-untyped]
    from cfnlint.helpers import REGIONS  # type: ignore[import-untyped]
    from cfnlint.schema.manager import PROVIDER_SCHEMA_MANAGER  # type: ignore[import-untyped]

    regions = [r for r in REGIONS if "AWS::Batch::QuotaShare" in PROVIDER_SCHEMA_MANAGER.get_resource_types(r)]
    assert len(regions) > 40
    found = lint(path.read_text(), config=ManualArgs(regions=regions))

    # W3005: CDK's functions name their role's policy in DependsOn beside the role's own reference.
    assert [match for match in found if match.rule.id != "W3005"] == []


def test_no_template_has_conditions() -> None:
    """CDK's own validator is slow on them (aws-cdk issue 38498); a metadata resource would bring some."""
    assert [path for path in SNAPSHOTS if "Conditions" in json.loads(path.read_text())] == []


def test_there_are_snapshots_of_every_construct_and_stack() -> None:
    assert {path.parent.name for path in SNAPSHOTS} >= {
        "test_checkpoints",
        "test_grants",
        "test_job_queue",
        "test_monitoring",
        "test_preemption_notices",
        "test_quota_share",
        "test_scheduling_policy",
        "test_service_environment",
        "test_share_metrics",
        "test_team_queue_stack",
        "test_templates",
        "test_training_queue",
        "test_training_queue_stack",
    }


class TestTags:
    def tags(self, stack: cdk.Stack, **options: Any) -> dict[str, bool]:
        QuotaTrainingQueue(
            stack,
            "Training",
            capacity_limits=ONE,
            quota_shares={
                "QS1": QuotaShareOptions(
                    capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False
                )
            },
            **options,
        )
        cdk.Tags.of(stack).add("release", "1")
        resources = template_of(stack)["Resources"].values()
        return {r["Type"].rpartition(":")[2]: "Tags" in r["Properties"] for r in resources}

    def test_of_a_stack_leave_out_queue_and_policy(self, stack: cdk.Stack) -> None:
        assert self.tags(stack) == {
            "ServiceEnvironment": True,
            "SchedulingPolicy": False,
            "JobQueue": False,
            "QuotaShare": True,
        }

    def test_of_a_stack_reach_them_where_that_is_asked_for(self, stack: cdk.Stack) -> None:
        assert set(self.tags(stack, inherit_tags=True).values()) == {True}

    def test_of_a_queue_can_be_given_one_by_one(self, stack: cdk.Stack) -> None:
        queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)
        queue.job_queue.add_property_override("Tags.team", "platform")

        (found,) = [r for r in template_of(stack)["Resources"].values() if r["Type"] == "AWS::Batch::JobQueue"]
        assert found["Properties"]["Tags"] == {"team": "platform"}
