import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import pytest
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    QuotaSchedulingPolicy,
    QuotaServiceEnvironment,
    QuotaShare,
    QuotaShareOptions,
    QuotaTrainingQueue,
    ResourceSharing,
    State,
    StuckReason,
)
from policy_engine import load_policy
from tests.synthesis import ROOT, new_app, new_stack, number_token, of_type, only, template_of

ONE = {"ml.g5.xlarge": 1}


def options(**changes: Any) -> QuotaShareOptions:
    """A plain share, but for the changes."""
    arguments: dict[str, Any] = {
        "capacity_limits": ONE,
        "resource_sharing": ResourceSharing.lend(),
        "in_share_preemption": False,
    }
    return QuotaShareOptions(**{**arguments, **changes})


def everything(scope: cdk.Stack) -> QuotaTrainingQueue:
    """A queue with every option away from its default, and every kind of share."""
    queue = QuotaTrainingQueue(
        scope,
        "Training",
        capacity_limits={"ml.g5.xlarge": 8, "ml.p5.48xlarge": 2},
        quota_shares={
            "production": options(resource_sharing=ResourceSharing.reserve(), in_share_preemption=True),
            "team-a": options(
                capacity_limits={"ml.p5.48xlarge": 2, "ml.g5.xlarge": 3},
                resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=ResourceSharing.UNLIMITED),
            ),
            "team_a": options(resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=0)),
        },
        job_queue_name="gpus",
        job_state_time_limits={StuckReason.INSUFFICIENT_INSTANCE_CAPACITY: 14400},
        state=State.DISABLED,
    )
    queue.add_quota_share(
        "paused",
        capacity_limits=ONE,
        resource_sharing=ResourceSharing.lend(),
        in_share_preemption=False,
        state=State.DISABLED,
    )
    return queue


def test_template(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    everything(stack)

    assert template_of(stack) == snapshot


def test_one_declaration_makes_all_four_kinds(stack: cdk.Stack) -> None:
    queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": options()})

    template = template_of(stack)
    kinds = {kind: list(of_type(template, kind)) for kind in ("ServiceEnvironment", "SchedulingPolicy", "JobQueue")}
    assert [len(found) for found in kinds.values()] == [1, 1, 1]
    assert only(template, "QuotaShare")["JobQueue"] == {"Ref": kinds["JobQueue"][0]}
    assert stack.resolve(queue.job_queue_arn) == {"Ref": kinds["JobQueue"][0]}
    assert stack.resolve(queue.job_queue_name) == stack.resolve(queue.job_queue.job_queue_name)


def test_generates_names_unless_given(stack: cdk.Stack) -> None:
    QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)

    template = template_of(stack)
    assert "JobQueueName" not in only(template, "JobQueue")
    assert "ServiceEnvironmentName" not in only(template, "ServiceEnvironment")
    assert "Name" not in only(template, "SchedulingPolicy")


def test_quota_shares_by_name(stack: cdk.Stack) -> None:
    queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS2": options()})
    added = queue.add_quota_share(
        "QS1", capacity_limits=ONE, resource_sharing=ResourceSharing.lend(), in_share_preemption=False
    )
    further = QuotaShare(stack, "More", job_queue=queue.job_queue, quota_share_name="QS3", **vars(options()))

    assert list(queue.quota_shares) == ["QS2", "QS1", "QS3"]
    assert queue.quota_shares["QS1"] is added
    assert queue.quota_shares["QS3"] is further
    with pytest.raises(TypeError):
        queue.quota_shares["QS4"] = added  # type: ignore[index]


class TestLogicalIds:
    def ids(self, folder: Path, names: list[str]) -> dict[str, str]:
        stack = new_stack(new_app(folder))
        QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={name: options() for name in names})
        shares = of_type(template_of(stack), "QuotaShare")
        return {properties["QuotaShareName"]: logical_id for logical_id, properties in shares.items()}

    def test_depend_on_neither_order_nor_neighbours(self, tmp_path: Path) -> None:
        three = self.ids(tmp_path / "three", ["QS1", "QS2", "QS3"])
        two = self.ids(tmp_path / "two", ["QS3", "QS1"])

        assert two == {name: three[name] for name in ("QS3", "QS1")}

    def test_keep_apart_names_that_differ_in_punctuation_alone(self, tmp_path: Path) -> None:
        ids = self.ids(tmp_path / "app", ["a-b", "ab", "a_b", "Resource", "Default"])

        assert len(set(ids.values())) == 5

    def test_are_what_they_were(self, tmp_path: Path) -> None:
        """A change of a logical id replaces the resource, and ends its jobs."""
        stack = new_stack(new_app(tmp_path / "app"))
        QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": options()})

        assert set(template_of(stack)["Resources"]) == {
            "TrainingServiceEnvironment3A32435B",
            "TrainingSchedulingPolicy2064403D",
            "TrainingJobQueue2EF9B1BD",
            "TrainingQuotaSharesQS1C8F583EA",
        }


def test_takes_an_environment_and_a_policy(stack: cdk.Stack) -> None:
    account = "arn:aws:batch:us-east-1:123456789012:"
    QuotaTrainingQueue(
        stack,
        "Training",
        service_environment=QuotaServiceEnvironment.from_service_environment_arn(
            stack, "Environment", f"{account}service-environment/e"
        ),
        scheduling_policy=QuotaSchedulingPolicy.from_scheduling_policy_arn(
            stack, "Policy", f"{account}scheduling-policy/p"
        ),
        quota_shares={"QS1": options()},
    )

    template = template_of(stack)
    assert not of_type(template, "ServiceEnvironment")
    assert not of_type(template, "SchedulingPolicy")
    assert only(template, "JobQueue")["SchedulingPolicyArn"] == f"{account}scheduling-policy/p"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"capacity_limits": None}, "capacity_limits, service_environment: neither given; give one of them"),
        ({"quota_shares": [options()]}, "is not a mapping of name to QuotaShareOptions"),
        (
            {"quota_shares": {"QS1": {"capacity_limits": ONE, "in_share_preemption": False}}},
            "quota_shares['QS1']: {'capacity_limits': {'ml.g5.xlarge': 1}, 'in_share_preemption': False} is not",
        ),
    ],
)
def test_refuses(stack: cdk.Stack, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Training: ") as refused:
        QuotaTrainingQueue(stack, "Training", **{"capacity_limits": ONE, **changes})

    assert problem in str(refused.value)


def test_refuses_an_environment_beside_capacity_limits(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment(stack, "Environment", capacity_limits=ONE)

    with pytest.raises(ValueError, match="capacity_limits, service_environment: both given"):
        QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, service_environment=environment)


@pytest.mark.parametrize(
    ("place", "changes", "problem"),
    [
        ("ServiceEnvironment", {"capacity_limits": {"ml.g5.xlarge": 2.5}}, "2.5 is not a whole number"),
        ("JobQueue", {"job_queue_name": "gpu queue"}, "'gpu queue' is not a name"),
        ("QuotaShares/QS 1", {"quota_shares": {"QS 1": options()}}, "quota_share_name: 'QS 1' is not a name"),
        ("QuotaShares/7", {"quota_shares": {7: options()}}, "quota_share_name: 7 is not a string"),
        (
            "QuotaShares/QS1",
            {"quota_shares": {"QS1": options(capacity_limits={"ml.p5.48xlarge": 1})}},
            "capacity_limits: the service environment has no 'ml.p5.48xlarge'; it has ml.g5.xlarge",
        ),
        ("QuotaShares/QS20", {"quota_shares": {f"QS{n}": options() for n in range(21)}}, "21 quota shares; at most 20"),
    ],
)
def test_a_part_refuses_under_its_own_path(stack: cdk.Stack, place: str, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=rf"^Stack/Training/{place}: ") as refused:
        QuotaTrainingQueue(stack, "Training", **{"capacity_limits": ONE, **changes})

    assert problem in str(refused.value)


def test_refuses_a_second_share_of_the_name(stack: cdk.Stack) -> None:
    queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": options()})

    with pytest.raises(
        ValueError, match=r"quota_share_name: 'QS1' is already declared on the queue, at Stack/Training"
    ):
        queue.add_quota_share("QS1", **vars(options()))


def test_a_name_that_is_a_token_needs_an_id(stack: cdk.Stack) -> None:
    name = cdk.CfnParameter(stack, "Name").value_as_string
    queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE)

    with pytest.raises(ValueError, match=r"^Stack/Training/QuotaShares: quota_share_name: .*only known at deployment"):
        queue.add_quota_share(name, **vars(options()))


class TestPolicy:
    def test_is_what_the_engine_reads_from_the_assembly(self, stack: cdk.Stack) -> None:
        declared = everything(stack).policy

        template_of(stack)
        app = cdk.App.of(stack)
        assert app is not None
        assert declared == load_policy(app.outdir, queue="gpus")
        assert list(declared.shares) == ["production", "team-a", "team_a", "paused"]

    def test_is_what_the_engine_reads_where_names_are_generated(self, stack: cdk.Stack) -> None:
        declared = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": options()}).policy

        template_of(stack)
        app = cdk.App.of(stack)
        assert app is not None
        assert declared == load_policy(app.outdir)

    def test_is_not_guessed_where_a_share_has_a_token(self, stack: cdk.Stack) -> None:
        shares = {"QS1": options(capacity_limits={"ml.g5.xlarge": number_token()})}
        queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares=shares)

        with pytest.raises(ValueError, match=r"not known before deployment: shares.QS1.capacity_limits.ml.g5.xlarge$"):
            _ = queue.policy

    def test_holds_what_was_set_on_the_resources_afterwards(self, stack: cdk.Stack) -> None:
        queue = QuotaTrainingQueue(stack, "Training", capacity_limits=ONE, quota_shares={"QS1": options()})

        queue.quota_shares["QS1"].state = "DISABLED"

        assert queue.policy.shares["QS1"].state == "DISABLED"
        assert only(template_of(stack), "QuotaShare")["State"] == "DISABLED"


def test_declaring_changes_nothing_of_the_users(stack: cdk.Stack) -> None:
    limits = {"ml.g5.xlarge": 3}
    queue = QuotaTrainingQueue(stack, "Training", capacity_limits=limits, quota_shares={"QS1": options()})

    limits["ml.g5.xlarge"] = 99

    assert queue.policy.capacity("ml.g5.xlarge") == 3


@pytest.mark.nightly  # two more processes with a kernel each
def test_synthesis_does_not_depend_on_the_hash_seed(tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from tests.constructs_quota.test_training_queue import everything;"
        "from tests.synthesis import new_app, new_stack;"
        "app = new_app(Path(sys.argv[1])); everything(new_stack(app)); app.synth()"
    )
    texts = []
    for seed in ("1", "2"):
        folder = tmp_path / seed
        subprocess.run(
            [sys.executable, "-c", program, str(folder)],
            check=True,
            env=os.environ | {"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        )
        texts.append((folder / "Stack.template.json").read_bytes())

    assert texts[0] == texts[1]
