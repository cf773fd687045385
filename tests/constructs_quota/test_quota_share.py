from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    QuotaJobQueue,
    QuotaSchedulingPolicy,
    QuotaServiceEnvironment,
    QuotaShare,
    ResourceSharing,
    SharingStrategy,
    State,
)
from constructs_quota.job_queue import ImportedJobQueue
from tests.synthesis import number_token, of_type, only, template_of

QUEUE_ARN = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
ARN = QUEUE_ARN + "/quota-share/QS1"
SHARING = {
    "reserve": ResourceSharing.reserve(),
    "lend": ResourceSharing.lend(),
    "borrow_200": ResourceSharing.lend_and_borrow(borrow_limit=200),
    "borrow_0": ResourceSharing.lend_and_borrow(borrow_limit=0),
    "borrow_unlimited": ResourceSharing.lend_and_borrow(borrow_limit=ResourceSharing.UNLIMITED),
}


@pytest.fixture
def queue(stack: cdk.Stack) -> QuotaJobQueue:
    return QuotaJobQueue(
        stack,
        "Queue",
        service_environment=QuotaServiceEnvironment(
            stack, "Environment", capacity_limits={"ml.g5.xlarge": 3, "ml.g5.12xlarge": 1}
        ),
        scheduling_policy=QuotaSchedulingPolicy(stack, "Policy"),
    )


@pytest.fixture
def imported(stack: cdk.Stack) -> ImportedJobQueue:
    return QuotaJobQueue.from_job_queue_arn(stack, "Imported", QUEUE_ARN)


def share(scope: cdk.Stack, construct_id: str = "Share", **changes: Any) -> QuotaShare:
    """A plain share, but for the changes."""
    arguments: dict[str, Any] = {
        "quota_share_name": "QS1",
        "capacity_limits": {"ml.g5.xlarge": 1},
        "resource_sharing": ResourceSharing.lend(),
        "in_share_preemption": False,
    }
    return QuotaShare(scope, construct_id, **{**arguments, **changes})


def test_template(stack: cdk.Stack, imported: ImportedJobQueue, snapshot: SnapshotAssertion) -> None:
    for name, sharing in SHARING.items():
        share(
            stack,
            name.replace("_", ""),
            job_queue=imported,
            quota_share_name=name,
            resource_sharing=sharing,
            in_share_preemption=name == "borrow_200",
        )

    assert template_of(stack) == snapshot


@pytest.mark.parametrize(
    ("sharing", "emitted"),
    [
        ("reserve", {"Strategy": "RESERVE"}),
        ("lend", {"Strategy": "LEND"}),
        ("borrow_200", {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 200}),
        ("borrow_0", {"Strategy": "LEND_AND_BORROW", "BorrowLimit": 0}),
        ("borrow_unlimited", {"Strategy": "LEND_AND_BORROW", "BorrowLimit": -1}),
    ],
)
def test_resource_sharing(stack: cdk.Stack, imported: ImportedJobQueue, sharing: str, emitted: dict[str, Any]) -> None:
    share(stack, job_queue=imported, resource_sharing=SHARING[sharing])

    assert only(template_of(stack), "QuotaShare")["ResourceSharingConfiguration"] == emitted


def test_is_linked_by_ref_so_that_cloudformation_orders(stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    share(stack, job_queue=queue)

    template = template_of(stack)
    (ref,) = of_type(template, "JobQueue")
    assert only(template, "QuotaShare")["JobQueue"] == {"Ref": ref}


@pytest.mark.parametrize(("flag", "emitted"), [(True, "ENABLED"), (False, "DISABLED")])
def test_in_share_preemption(stack: cdk.Stack, imported: ImportedJobQueue, flag: bool, emitted: str) -> None:
    share(stack, job_queue=imported, in_share_preemption=flag)

    assert only(template_of(stack), "QuotaShare")["PreemptionConfiguration"] == {"InSharePreemption": emitted}


@pytest.mark.parametrize("state", [State.DISABLED, "DISABLED"])
def test_state(stack: cdk.Stack, imported: ImportedJobQueue, state: str) -> None:
    share(stack, job_queue=imported, state=state)

    assert only(template_of(stack), "QuotaShare")["State"] == "DISABLED"


FIVE = {f"ml.g5.{size}xlarge": 1 for size in (2, 4, 8, 12, 16)}


@pytest.mark.parametrize(
    ("key", "argument", "problem"),
    [
        ("quota_share_name", "team a", "quota_share_name: 'team a' is not a name"),
        ("quota_share_name", "x" * 129, "quota_share_name: 'xxx"),
        ("quota_share_name", None, "quota_share_name: None is not a string"),
        ("capacity_limits", {}, "capacity_limits: 0 capacity limits; 1 to 5 are allowed"),
        ("capacity_limits", {**FIVE, "ml.g5.xlarge": 1}, "capacity_limits: 6 capacity limits; 1 to 5 are allowed"),
        ("capacity_limits", {"capacity_unit": "ml.g5.xlarge", "max_capacity": 1}, "'capacity_unit' is not a SageMaker"),
        (
            "capacity_limits",
            [{"capacity_unit": "ml.g5.xlarge"}],
            "[{'capacity_unit': 'ml.g5.xlarge'}] is not a mapping",
        ),
        ("capacity_limits", {"ml.g5.xlarge": 2.5}, "capacity_limits['ml.g5.xlarge']: 2.5 is not a whole number"),
        ("capacity_limits", {"ml.g5.xlarge": 0}, "capacity_limits['ml.g5.xlarge']: 0 is out of range"),
        ("capacity_limits", {"ml.g5.xlarge": False}, "capacity_limits['ml.g5.xlarge']: False is not a whole number"),
        ("capacity_limits", {"ml.p5.48xlarge": 1}, "the service environment has no 'ml.p5.48xlarge'; it has ml.g5.xl"),
        (
            "resource_sharing",
            "LEND",
            "resource_sharing: 'LEND' is not a ResourceSharing; use ResourceSharing.reserve()",
        ),
        ("resource_sharing", {"strategy": "LEND"}, "resource_sharing: {'strategy': 'LEND'} is not a ResourceSharing"),
        ("resource_sharing", ResourceSharing("lend"), "resource_sharing.strategy: 'lend' is not one of RESERVE, LEND,"),  # type: ignore[arg-type]
        (
            "resource_sharing",
            ResourceSharing(SharingStrategy.LEND, 0),
            "resource_sharing.borrow_limit: a borrow limit is only valid with LEND_AND_BORROW, not with LEND",
        ),
        (
            "resource_sharing",
            ResourceSharing(SharingStrategy.LEND_AND_BORROW),
            "resource_sharing.borrow_limit: None with LEND_AND_BORROW; give a percentage, or ResourceSharing.UNLIMITED",
        ),
        (
            "resource_sharing",
            ResourceSharing.lend_and_borrow(borrow_limit=-2),
            "borrow_limit: -2 is out of range: -1 or",
        ),
        ("resource_sharing", ResourceSharing.lend_and_borrow(borrow_limit=True), "borrow_limit: True is not a whole"),
        ("resource_sharing", ResourceSharing.lend_and_borrow(borrow_limit=0.5), "borrow_limit: 0.5 is not a whole"),  # type: ignore[arg-type]
        ("in_share_preemption", None, "in_share_preemption: None is not True or False"),
        ("in_share_preemption", "ENABLED", "in_share_preemption: 'ENABLED' is not True or False"),
        ("in_share_preemption", 1, "in_share_preemption: 1 is not True or False"),
        ("state", "disabled", "state: 'disabled' is not one of ENABLED, DISABLED"),
        ("job_queue", None, "job_queue: None is not a job queue; import one that exists"),
        (
            "job_queue",
            "gpus",
            "job_queue: 'gpus' is not a job queue; import one that exists with QuotaJobQueue.from_job",
        ),
    ],
)
def test_refuses(stack: cdk.Stack, queue: QuotaJobQueue, key: str, argument: Any, problem: str) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Share: ") as refused:
        share(stack, **{"job_queue": queue, key: argument})

    assert problem in str(refused.value)
    assert stack.node.try_find_child("Share") is None
    assert not queue.quota_shares


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        # Of this one CDK would keep the strategy, and drop the limit.
        ("resource_sharing_configuration", {"strategy": "LEND_AND_BORROW", "borrow_limit": 5}),
        ("capacity_limits", [{"capacity_unit": "ml.g5.xlarge", "max_capacity": 1}]),
    ],
)
def test_refuses_a_dictionary_for_an_attribute(
    stack: cdk.Stack, queue: QuotaJobQueue, attribute: str, value: object
) -> None:
    made = share(stack, job_queue=queue)

    with pytest.raises(ValueError, match=rf"^{attribute}: .* is a dictionary, .*; use CfnQuotaShare's structures$"):
        setattr(made, attribute, value)


def test_refuses_a_second_share_of_the_name(stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    share(stack, "First", job_queue=queue)

    with pytest.raises(
        ValueError, match=r"^Stack/Second: quota_share_name: 'QS1' is already declared on the queue, at Stack/First$"
    ):
        share(stack, "Second", job_queue=queue)


def test_refuses_two_constructs_of_one_logical_id(stack: cdk.Stack, imported: ImportedJobQueue) -> None:
    """CDK leaves '-' out of an id at the top of a stack; neither of the two may take the other's place."""
    for name in ("team-a", "teama"):
        share(stack, name, job_queue=imported, quota_share_name=name)

    with pytest.raises(RuntimeError, match="section 'Resources' already contains 'teama'"):
        template_of(stack)


@pytest.mark.parametrize("fixture", ["queue", "imported"])
def test_refuses_a_21st_share(stack: cdk.Stack, fixture: str, request: pytest.FixtureRequest) -> None:
    queue = request.getfixturevalue(fixture)
    for number in range(20):
        share(stack, f"Share{number}", job_queue=queue, quota_share_name=f"QS{number}")

    with pytest.raises(ValueError, match=r"^Stack/Last: job_queue: 21 quota shares; at most 20 are allowed on a queue"):
        share(stack, "Last", job_queue=queue, quota_share_name="QS20")
    assert len(queue.quota_shares) == 20


def test_tokens_pass(stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    text = {name: cdk.CfnParameter(stack, name).value_as_string for name in ("Name", "Unit", "State", "Strategy")}
    strategy: Any = text["Strategy"]

    share(
        stack,
        job_queue=queue,
        quota_share_name=text["Name"],
        capacity_limits={text["Unit"]: number_token(), "ml.g5.xlarge": 1},
        resource_sharing=ResourceSharing.lend_and_borrow(borrow_limit=number_token()),
        state=text["State"],
    )
    share(stack, "Other", job_queue=queue, resource_sharing=ResourceSharing(strategy, 100))

    first, other = of_type(template_of(stack), "QuotaShare").values()
    assert first["QuotaShareName"] == {"Ref": "Name"}
    assert first["CapacityLimits"] == [
        {"CapacityUnit": {"Ref": "Unit"}, "MaxCapacity": {"Ref": "Number"}},
        {"CapacityUnit": "ml.g5.xlarge", "MaxCapacity": 1},
    ]
    assert first["ResourceSharingConfiguration"] == {"BorrowLimit": {"Ref": "Number"}, "Strategy": "LEND_AND_BORROW"}
    assert first["State"] == {"Ref": "State"}
    assert other["ResourceSharingConfiguration"] == {"BorrowLimit": 100, "Strategy": {"Ref": "Strategy"}}


def test_any_type_may_be_a_token_of_the_environment(stack: cdk.Stack) -> None:
    environment = QuotaServiceEnvironment(
        stack, "Environment", capacity_limits={cdk.CfnParameter(stack, "Unit").value_as_string: 3}
    )
    queue = QuotaJobQueue(
        stack, "Queue", service_environment=environment, scheduling_policy=QuotaSchedulingPolicy(stack, "Policy")
    )

    share(stack, job_queue=queue)

    assert list(queue.quota_shares) == ["QS1"]


def test_an_imported_queue_gets_shares(stack: cdk.Stack, imported: ImportedJobQueue) -> None:
    made = share(stack, job_queue=imported, capacity_limits={"ml.p5.48xlarge": 2})

    assert only(template_of(stack), "QuotaShare")["JobQueue"] == QUEUE_ARN
    assert imported.quota_shares == {"QS1": made}


def test_a_stock_queue_gets_shares(stack: cdk.Stack) -> None:
    stock = batch.JobQueue.from_job_queue_arn(stack, "Stock", QUEUE_ARN)

    share(stack, job_queue=stock)

    assert only(template_of(stack), "QuotaShare")["JobQueue"] == QUEUE_ARN


def test_a_queue_of_another_stack_gets_shares(app: cdk.App, stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    other = cdk.Stack(app, "Other", synthesizer=cdk.BootstraplessSynthesizer())

    share(other, job_queue=queue)

    # A weak reference: an export in use would keep the queue's stack from every change (aws-cdk issue 7602).
    reference = only(template_of(other), "QuotaShare")["JobQueue"]["Fn::GetStackOutput"]
    assert reference["StackName"] == "Stack"
    assert "Export" not in template_of(stack)["Outputs"][reference["OutputName"]]
    assert [needed.node.path for needed in other.dependencies] == [stack.node.path]


def test_name_is_a_name_and_arn_an_arn(stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    made = share(stack, job_queue=queue)

    assert made.quota_share_name == "QS1"
    assert stack.resolve(made.quota_share_arn) == {"Ref": "Share"}


def test_stock_cdk_takes_it(stack: cdk.Stack, queue: QuotaJobQueue) -> None:
    made = share(stack, job_queue=queue)

    assert batch.CfnQuotaShare.arn_for_quota_share(made) == made.quota_share_arn


def test_import_by_arn(stack: cdk.Stack) -> None:
    made = QuotaShare.from_quota_share_arn(stack, "Existing", ARN)

    assert (made.quota_share_arn, made.quota_share_name, made.env.region) == (ARN, "QS1", "eu-west-1")
    assert batch.CfnQuotaShare.arn_for_quota_share(made) == ARN


def test_import_by_an_arn_that_is_a_token(stack: cdk.Stack) -> None:
    made = QuotaShare.from_quota_share_arn(stack, "Existing", cdk.Fn.import_value("ShareArn"))

    assert stack.resolve(made.quota_share_name) == {
        "Fn::Select": [3, {"Fn::Split": ["/", {"Fn::ImportValue": "ShareArn"}]}]
    }


def test_import_by_name(stack: cdk.Stack, imported: ImportedJobQueue) -> None:
    made = QuotaShare.from_quota_share_name(stack, "Existing", "QS1", job_queue=imported)

    assert (made.quota_share_arn, made.quota_share_name) == (ARN, "QS1")


@pytest.mark.parametrize("arn", [QUEUE_ARN, "QS1", ARN + "/x", None])
def test_import_refuses_what_is_no_arn_of_a_share(stack: cdk.Stack, arn: Any) -> None:
    with pytest.raises(ValueError, match=r"^Stack/Existing: arn: .* is not an ARN of the form .*/quota-share/NAME$"):
        QuotaShare.from_quota_share_arn(stack, "Existing", arn)
