import json
from collections.abc import Callable
from typing import Any

import aws_cdk as cdk
import pytest
from aws_cdk import aws_batch as batch
from aws_cdk import aws_iam as iam
from cdk_nag import AwsSolutionsChecks
from syrupy.assertion import SnapshotAssertion

from constructs_quota import (
    JobQueueGrants,
    QuotaJobQueue,
    QuotaShare,
    QuotaShareGrants,
    QuotaShareOptions,
    QuotaTrainingQueue,
    ResourceSharing,
)
from tests.constructs_quota.l1s import l1_share
from tests.synthesis import assert_documented, number_token, template_of

QUEUE = "arn:aws:batch:eu-west-1:123456789012:job-queue/gpus"
SHARE = QUEUE + "/quota-share/QS1"
JOBS = "arn:aws:batch:eu-west-1:123456789012:service-job/*"
EXECUTION_ROLE = "arn:aws:iam::123456789012:role/training"
SUBMIT_TAGS = {"aws:RequestTag/JobQueue": "gpus", "aws:RequestTag/QuotaShare": "QS1"}
SHARE_TAGS = {"aws:ResourceTag/JobQueue": "gpus", "aws:ResourceTag/QuotaShare": "QS1"}
READ_JOBS = ["batch:DescribeServiceJob", "batch:ListServiceJobs"]


def allow(actions: Any, resources: Any, conditions: dict[str, Any] | None = None) -> dict[str, Any]:
    """A statement as CDK writes it: a list of one is written as the one."""
    statement: dict[str, Any] = {"Action": actions, "Effect": "Allow", "Resource": resources}
    return statement if conditions is None else {**statement, "Condition": conditions}


PASS_ROLE = allow("iam:PassRole", EXECUTION_ROLE, {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}})
SUBMIT = [
    allow("batch:SubmitServiceJob", [QUEUE, SHARE, JOBS], {"StringEquals": SUBMIT_TAGS}),
    allow(
        "batch:TagResource",
        JOBS,
        {"StringEquals": SUBMIT_TAGS, "Null": {"aws:ResourceTag/QuotaShare": "true"}},
    ),
]
ANY_SHARE_TAGS = {"StringEquals": {"aws:RequestTag/JobQueue": "gpus"}, "Null": {"aws:RequestTag/QuotaShare": "false"}}
SUBMIT_TO_ANY = [
    allow("batch:SubmitServiceJob", [QUEUE, f"{QUEUE}/quota-share/*", JOBS], ANY_SHARE_TAGS),
    allow(
        "batch:TagResource",
        JOBS,
        {
            "StringEquals": ANY_SHARE_TAGS["StringEquals"],
            "Null": {"aws:RequestTag/QuotaShare": "false", "aws:ResourceTag/QuotaShare": "true"},
        },
    ),
]
READ_SHARE = [
    allow("batch:DescribeQuotaShare", SHARE),
    allow(["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"], QUEUE),
    allow(READ_JOBS, "*"),
]
READ_QUEUE = [
    allow("batch:DescribeQuotaShare", f"{QUEUE}/quota-share/*"),
    allow(["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"], QUEUE),
    allow(
        [
            "batch:DescribeJobQueues",
            "batch:DescribeSchedulingPolicies",
            "batch:DescribeServiceEnvironments",
            *READ_JOBS,
        ],
        "*",
    ),
]


@pytest.fixture
def stack(app: cdk.App) -> cdk.Stack:
    """In the account and region of the ARNs, so that nothing in the statements is a token."""
    environment = cdk.Environment(account="123456789012", region="eu-west-1")
    return cdk.Stack(app, "Stack", synthesizer=cdk.BootstraplessSynthesizer(), env=environment)


@pytest.fixture
def team(stack: cdk.Stack) -> iam.Role:
    return iam.Role(stack, "Team", assumed_by=iam.AccountRootPrincipal())


def statements(stack: cdk.Stack) -> list[dict[str, Any]]:
    """What the only policy of the stack says, in an order of its own: CDK merges and sorts statements."""
    (policy,) = (r for r in template_of(stack)["Resources"].values() if r["Type"] == "AWS::IAM::Policy")
    return by_action(policy["Properties"]["PolicyDocument"]["Statement"])


def by_action(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    for statement in found:
        for key in ("Action", "Resource"):
            if isinstance(statement[key], list):
                statement[key] = sorted(statement[key], key=json.dumps)
    return sorted(found, key=json.dumps)


@pytest.mark.parametrize(
    ("grant", "expected"),
    [
        pytest.param(lambda grants, team: grants.submit(team), SUBMIT, id="submit"),
        pytest.param(
            lambda grants, team: grants.submit(team, max_priority=50),
            [
                allow(
                    "batch:SubmitServiceJob",
                    [QUEUE, SHARE, JOBS],
                    {"StringEquals": SUBMIT_TAGS, "NumericLessThanEquals": {"batch:SchedulingPriority": 50}},
                ),
                SUBMIT[1],
            ],
            id="submit with a priority",
        ),
        pytest.param(
            lambda grants, team: grants.update_priority(team),
            [allow("batch:UpdateServiceJob", JOBS, {"StringEquals": SHARE_TAGS})],
            id="update_priority",
        ),
        pytest.param(
            lambda grants, team: grants.update_priority(team, max_priority=0),
            [
                allow(
                    "batch:UpdateServiceJob",
                    JOBS,
                    {"StringEquals": SHARE_TAGS, "NumericLessThanEquals": {"batch:SchedulingPriority": 0}},
                )
            ],
            id="update_priority up to 0",
        ),
        pytest.param(
            lambda grants, team: grants.terminate(team),
            [allow("batch:TerminateServiceJob", JOBS, {"StringEquals": SHARE_TAGS})],
            id="terminate",
        ),
        pytest.param(lambda grants, team: grants.read(team), READ_SHARE, id="read"),
        pytest.param(
            lambda grants, team: grants.operate(team),
            # CDK merges the two actions on the share.
            [allow(["batch:DescribeQuotaShare", "batch:UpdateQuotaShare"], SHARE), *READ_SHARE[1:]],
            id="operate",
        ),
    ],
)
def test_grants_on_a_share(
    stack: cdk.Stack,
    team: iam.Role,
    grant: Callable[[QuotaShareGrants, iam.Role], iam.Grant],
    expected: list[dict[str, Any]],
) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Share", SHARE)

    assert grant(share.grants, team).success
    assert statements(stack) == by_action(expected)


@pytest.mark.parametrize(
    ("grant", "expected"),
    [
        pytest.param(lambda grants, team: grants.submit(team), SUBMIT_TO_ANY, id="submit"),
        pytest.param(
            lambda grants, team: grants.submit(
                team, max_priority=50, execution_role=iam.Role.from_role_arn(team, "Execution", EXECUTION_ROLE)
            ),
            [
                allow(
                    "batch:SubmitServiceJob",
                    [QUEUE, f"{QUEUE}/quota-share/*", JOBS],
                    {**ANY_SHARE_TAGS, "NumericLessThanEquals": {"batch:SchedulingPriority": 50}},
                ),
                SUBMIT_TO_ANY[1],
                PASS_ROLE,
            ],
            id="submit with a priority and a role",
        ),
        pytest.param(lambda grants, team: grants.read(team), READ_QUEUE, id="read"),
        pytest.param(
            lambda grants, team: grants.operate(team),
            [
                allow(["batch:DescribeQuotaShare", "batch:UpdateQuotaShare"], f"{QUEUE}/quota-share/*"),
                *READ_QUEUE[1:],
            ],
            id="operate",
        ),
        pytest.param(
            lambda grants, team: grants.update_priority(team),
            [allow("batch:UpdateServiceJob", JOBS, {"StringEquals": {"aws:ResourceTag/JobQueue": "gpus"}})],
            id="update_priority",
        ),
        pytest.param(
            lambda grants, team: grants.update_priority(team, max_priority=50),
            [
                allow(
                    "batch:UpdateServiceJob",
                    JOBS,
                    {
                        "StringEquals": {"aws:ResourceTag/JobQueue": "gpus"},
                        "NumericLessThanEquals": {"batch:SchedulingPriority": 50},
                    },
                )
            ],
            id="update_priority up to 50",
        ),
        pytest.param(
            lambda grants, team: grants.terminate(team),
            [allow("batch:TerminateServiceJob", JOBS, {"StringEquals": {"aws:ResourceTag/JobQueue": "gpus"}})],
            id="terminate",
        ),
    ],
)
def test_grants_on_a_queue(
    stack: cdk.Stack,
    team: iam.Role,
    grant: Callable[[JobQueueGrants, iam.Role], iam.Grant],
    expected: list[dict[str, Any]],
) -> None:
    queue = QuotaJobQueue.from_job_queue_arn(stack, "Queue", QUEUE)

    assert grant(queue.grants, team).success
    assert statements(stack) == by_action(expected)


def test_submit_may_pass_the_execution_role_to_sagemaker_alone(stack: cdk.Stack, team: iam.Role) -> None:
    role = iam.Role.from_role_arn(stack, "Execution", EXECUTION_ROLE)

    QuotaShare.from_quota_share_arn(stack, "Share", SHARE).grants.submit(team, execution_role=role)

    assert statements(stack) == by_action([*SUBMIT, PASS_ROLE])


def test_facades_over_stock_references(stack: cdk.Stack, team: iam.Role) -> None:
    """The names are parts of whatever the reference says its ARN is."""
    share = l1_share(stack, QUEUE)
    QuotaShareGrants.from_quota_share(share).terminate(team)
    JobQueueGrants.from_job_queue(batch.JobQueue.from_job_queue_arn(stack, "Stock", QUEUE)).terminate(team)

    parts = {"Fn::Split": ["/", {"Ref": "ShareQS1"}]}
    tags = {
        "aws:ResourceTag/JobQueue": {"Fn::Select": [1, parts]},
        "aws:ResourceTag/QuotaShare": {"Fn::Select": [3, parts]},
    }
    assert statements(stack) == by_action(
        [
            allow("batch:TerminateServiceJob", JOBS, {"StringEquals": tags}),
            allow("batch:TerminateServiceJob", JOBS, {"StringEquals": {"aws:ResourceTag/JobQueue": "gpus"}}),
        ]
    )


def test_a_queue_of_another_account_and_region_has_its_jobs_there(stack: cdk.Stack, team: iam.Role) -> None:
    elsewhere = QUEUE.replace("eu-west-1:123456789012", "us-east-1:210987654321")
    QuotaJobQueue.from_job_queue_arn(stack, "Queue", elsewhere).grants.terminate(team)

    (statement,) = statements(stack)
    assert statement["Resource"] == JOBS.replace("eu-west-1:123456789012", "us-east-1:210987654321")


@pytest.mark.parametrize("priority", [-1, 10000, 1.5, True, "9"])
@pytest.mark.parametrize("verb", ["submit", "update_priority"])
def test_refuses_a_priority_out_of_range(stack: cdk.Stack, team: iam.Role, verb: str, priority: Any) -> None:
    share = QuotaShare.from_quota_share_arn(stack, "Share", SHARE)
    queue = QuotaJobQueue.from_job_queue_arn(stack, "Queue", QUEUE)

    for grants, path in ((share.grants, "Share"), (queue.grants, "Queue")):
        with pytest.raises(ValueError, match=rf"^Stack/{path}: max_priority: ") as refused:
            getattr(grants, verb)(team, max_priority=priority)
        assert repr(priority) in str(refused.value)


def test_refuses_an_arn_for_a_role(stack: cdk.Stack, team: iam.Role) -> None:
    grants = QuotaShare.from_quota_share_arn(stack, "Share", SHARE).grants
    arn: Any = EXECUTION_ROLE

    with pytest.raises(ValueError, match=rf"^grantee: '{arn}' is not a principal; import a role with iam\.Role\.from_"):
        grants.read(arn)
    with pytest.raises(ValueError, match=rf"^execution_role: '{arn}' is not a role; import one that exists with iam\."):
        grants.submit(team, execution_role=arn)


def test_a_priority_may_be_a_token(stack: cdk.Stack, team: iam.Role) -> None:
    QuotaShare.from_quota_share_arn(stack, "Share", SHARE).grants.update_priority(team, max_priority=number_token())

    (statement,) = statements(stack)
    assert statement["Condition"]["NumericLessThanEquals"] == {"batch:SchedulingPriority": {"Ref": "Number"}}


def declared(stack: cdk.Stack) -> QuotaTrainingQueue:
    one = {"ml.g5.xlarge": 1}
    return QuotaTrainingQueue(
        stack,
        "Training",
        capacity_limits=one,
        quota_shares={
            "QS1": QuotaShareOptions(
                capacity_limits=one, resource_sharing=ResourceSharing.reserve(), in_share_preemption=False
            )
        },
    )


def everything(stack: cdk.Stack) -> iam.Role:
    """One role with every grant on a queue and its share, and another to pass."""
    queue = declared(stack)
    role = iam.Role(stack, "Everything", assumed_by=iam.AccountRootPrincipal())
    execution = iam.Role(stack, "Execution", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
    share = queue.quota_shares["QS1"].grants
    for grants in (share, queue.grants):
        grants.submit(role, execution_role=execution, max_priority=50)
        grants.update_priority(role)
        grants.terminate(role)
        grants.operate(role)
    return role


def test_template(stack: cdk.Stack, snapshot: SnapshotAssertion) -> None:
    """The grants on what is declared here, where the names in the conditions are parts of references."""
    everything(stack)

    assert template_of(stack) == snapshot


def test_grant_no_more_than_they_say(stack: cdk.Stack) -> None:
    everything(stack)

    granted = {
        action
        for statement in statements(stack)
        for action in (statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]])
    }
    assert not {action for action in granted if "*" in action}
    assert not {"batch:SubmitJob", "batch:DeleteQuotaShare", "batch:DeleteJobQueue"} & granted


def test_star_only_where_aws_has_no_resource_level(stack: cdk.Stack) -> None:
    everything(stack)

    (anywhere,) = [s for s in statements(stack) if s["Resource"] == "*"]
    assert anywhere["Action"] == [
        "batch:DescribeJobQueues",
        "batch:DescribeSchedulingPolicies",
        "batch:DescribeServiceEnvironments",
        *READ_JOBS,
    ]


def test_every_resource_is_one_that_aws_authorises_the_action_on(stack: cdk.Stack) -> None:
    """Against cfn-lint's copy of the service authorization reference."""
    from importlib.resources import files

    reference = json.loads((files("cfnlint") / "data/AdditionalSpecs/Policies.json").read_text())["batch"]["Actions"]
    kinds = {"service-job/*": "service-job", "quota-share/QS1": "quota-share", "quota-share/*": "quota-share"}
    share = QuotaShare.from_quota_share_arn(stack, "Share", SHARE)
    team = iam.Role(stack, "All", assumed_by=iam.AccountRootPrincipal())
    for grants in (share.grants, QuotaJobQueue.from_job_queue_arn(stack, "Queue", QUEUE).grants):
        grants.submit(team)
        grants.update_priority(team)
        grants.terminate(team)
        grants.operate(team)

    for statement in statements(stack):
        actions = statement["Action"] if isinstance(statement["Action"], list) else [statement["Action"]]
        resources = statement["Resource"] if isinstance(statement["Resource"], list) else [statement["Resource"]]
        for action in actions:
            known = reference[action.removeprefix("batch:").lower()].get("Resources", [])
            for resource in resources:
                kind = next((kind for end, kind in kinds.items() if resource.endswith(end)), "job-queue")
                assert (kind in known) if resource != "*" else (known == []), (action, resource)


REASONS = {
    "AwsSolutions-IAM5[Resource::*]": "AWS Batch has no resource level for these actions, which only read",
    "AwsSolutions-IAM5[Resource::arn:aws:batch:eu-west-1:123456789012:service-job/*]": (
        "a job's ARN says nothing of its queue or share; conditions on its tags do"
    ),
    "AwsSolutions-IAM5[Resource::<TrainingJobQueue2EF9B1BD>/quota-share/*]": "every share of this one queue",
}


class TestCdkNag:
    """AwsSolutions finds wildcards; each one is acknowledged here with the reason that the library has for it."""

    def violations(self, app: cdk.App) -> str:
        cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
        try:
            app.synth()
        except RuntimeError as error:
            return str(error)
        return ""

    def test_is_clean_but_for_what_is_acknowledged(self, app: cdk.App, stack: cdk.Stack) -> None:
        everything(stack)
        for finding, reason in REASONS.items():
            assert_documented(reason)
            cdk.Validations.of(stack).acknowledge(cdk.Acknowledgment(id=finding, reason=reason))

        assert self.violations(app) == ""

    def test_would_find_more_without(self, app: cdk.App, stack: cdk.Stack) -> None:
        everything(stack)

        found = self.violations(app)
        assert found.count("AwsSolutions-IAM5[") >= len(REASONS)
        for finding in REASONS:
            assert finding in found
