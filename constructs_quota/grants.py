"""Who may do what: exact actions, resources and conditions.

Source of what AWS Batch authorises on what: its service authorization reference (list_batch). Three things in it shape
the grants:

- ``SubmitServiceJob`` is authorised on the queue, the quota share and the job. There is no condition key for the name
  of a quota share, so the share's ARN is what restricts it.
- ``UpdateServiceJob`` and ``TerminateServiceJob`` are authorised on the job alone, which says nothing of its share. So
  a submitter has to tag each job with its queue and share (``job_tags``), and the two are allowed on jobs with those
  tags.
- ``DescribeServiceJob``, ``ListServiceJobs`` and the ``Describe`` actions of queues, service environments and
  scheduling policies have no resource level: they are allowed on ``*`` or not at all.
"""

from dataclasses import dataclass
from typing import Any, Final

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk.interfaces.aws_batch import IJobQueueRef, IQuotaShareRef

from constructs_quota.arns import JOB_QUEUE, QUOTA_SHARE, name_in, queue_arn_in
from constructs_quota.declared import hold, is_token
from policy_engine.policy import priority_problem

JOB_QUEUE_TAG: Final = "JobQueue"
"""Key of the tag that says which queue a job was submitted to."""
QUOTA_SHARE_TAG: Final = "QuotaShare"
"""Key of the tag that says which quota share a job was submitted to."""

_READ_JOBS: Final = ["batch:DescribeServiceJob", "batch:ListServiceJobs"]
_READ_QUEUE: Final = ["batch:GetJobQueueSnapshot", "batch:ListQuotaShares"]
_READ_REST: Final = [
    "batch:DescribeJobQueues",
    "batch:DescribeSchedulingPolicies",
    "batch:DescribeServiceEnvironments",
]


@dataclass(frozen=True, kw_only=True)
class GrantTarget:
    """What the statements of a grant name.

    Attributes:
        arn: The ARN of the queue or share.
        queue_arn: The ARN of the queue.
        queue_name: Its name.
        jobs_arn: The service jobs of its account and Region, see ``jobs_arn``.
        share_name: The name of the share; of a queue, nothing.
    """

    arn: str
    queue_arn: str
    queue_name: str
    jobs_arn: str
    share_name: str = ""


class QuotaShareGrants:
    """Grants on one quota share, made or imported by whatever construct.

    Attributes:
        job_tags: The tags that a job of the share has to be submitted with: without them ``submit`` allows nothing.
    """

    def __init__(self, share: IQuotaShareRef, target: GrantTarget) -> None:
        self._share = share
        self._target = target
        self.job_tags: dict[str, str] = {JOB_QUEUE_TAG: target.queue_name, QUOTA_SHARE_TAG: target.share_name}

    @staticmethod
    def from_quota_share(share: IQuotaShareRef) -> "QuotaShareGrants":
        """The grants on a share."""
        arn = share.quota_share_ref.quota_share_arn
        return QuotaShareGrants(
            share,
            GrantTarget(
                arn=arn,
                queue_arn=queue_arn_in(arn),
                queue_name=name_in(arn, QUOTA_SHARE, number=0),
                jobs_arn=jobs_arn(share),
                share_name=name_in(arn, QUOTA_SHARE),
            ),
        )

    def submit(
        self, grantee: iam.IGrantable, *, execution_role: iam.IRole | None = None, max_priority: int | None = None
    ) -> iam.Grant:
        """Allow to submit jobs to the share, each with ``job_tags``.

        Args:
            grantee: Who.
            execution_role: The role that the training jobs run with; allowed to be passed to SageMaker alone.
            max_priority: The highest ``schedulingPriority``, 0 to 9999. A job that states none is then refused, since
                AWS does not say what priority it has. Default: any.

        Raises:
            ValueError: ``max_priority`` is out of range, or an argument is not what it should be.
        """
        tags = {"StringEquals": {f"aws:RequestTag/{key}": value for key, value in self.job_tags.items()}}
        limit = _at_most(self._share, max_priority)
        return _submit(grantee, self._target, [self._target.queue_arn, self._target.arn], tags, limit, execution_role)

    def update_priority(self, grantee: iam.IGrantable, *, max_priority: int | None = None) -> iam.Grant:
        """Allow to change the priority of the share's jobs, to at most ``max_priority``."""
        conditions = {**_tagged(self.job_tags), **_at_most(self._share, max_priority)}
        return _allow(grantee, ["batch:UpdateServiceJob"], [self._target.jobs_arn], conditions)

    def terminate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to end the share's jobs."""
        return _allow(grantee, ["batch:TerminateServiceJob"], [self._target.jobs_arn], _tagged(self.job_tags))

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to see the share and what its queue does; jobs can only be seen all or none."""
        grant = _allow(grantee, ["batch:DescribeQuotaShare"], [self._target.arn])
        grant.combine(_allow(grantee, _READ_QUEUE, [self._target.queue_arn]))
        return grant.combine(_allow(grantee, _READ_JOBS, ["*"]))

    def operate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to change the share (limits, sharing, preemption, state), which may end jobs; not to delete it."""
        return self.read(grantee).combine(_allow(grantee, ["batch:UpdateQuotaShare"], [self._target.arn]))


class JobQueueGrants:
    """Grants on a whole queue, made or imported by whatever construct."""

    def __init__(self, queue: IJobQueueRef, target: GrantTarget) -> None:
        self._queue = queue
        self._target = target
        self._tags = {JOB_QUEUE_TAG: target.queue_name}

    @staticmethod
    def from_job_queue(queue: IJobQueueRef) -> "JobQueueGrants":
        """The grants on a queue."""
        arn = queue.job_queue_ref.job_queue_arn
        return JobQueueGrants(
            queue, GrantTarget(arn=arn, queue_arn=arn, queue_name=name_in(arn, JOB_QUEUE), jobs_arn=jobs_arn(queue))
        )

    def submit(
        self, grantee: iam.IGrantable, *, execution_role: iam.IRole | None = None, max_priority: int | None = None
    ) -> iam.Grant:
        """Allow to submit jobs to every share of the queue, each with the ``job_tags`` of its share.

        AWS has no condition that compares a tag with the share, so who may submit to all of them is trusted to tag a
        job with its own. The arguments and errors are those of ``QuotaShareGrants.submit``.
        """
        tags = {
            "StringEquals": {f"aws:RequestTag/{key}": value for key, value in self._tags.items()},
            "Null": {f"aws:RequestTag/{QUOTA_SHARE_TAG}": "false"},
        }
        limit = _at_most(self._queue, max_priority)
        resources = [self._target.arn, f"{self._target.arn}/quota-share/*"]
        return _submit(grantee, self._target, resources, tags, limit, execution_role)

    def update_priority(self, grantee: iam.IGrantable, *, max_priority: int | None = None) -> iam.Grant:
        """Allow to change the priority of the queue's jobs that have its tag, to at most ``max_priority``."""
        conditions = {**_tagged(self._tags), **_at_most(self._queue, max_priority)}
        return _allow(grantee, ["batch:UpdateServiceJob"], [self._target.jobs_arn], conditions)

    def terminate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to end the queue's jobs that have its tag."""
        return _allow(grantee, ["batch:TerminateServiceJob"], [self._target.jobs_arn], _tagged(self._tags))

    def read(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to see the queue, all that belongs to it, and jobs, which can only be seen all or none."""
        grant = _allow(grantee, ["batch:DescribeQuotaShare"], [f"{self._target.arn}/quota-share/*"])
        grant.combine(_allow(grantee, _READ_QUEUE, [self._target.arn]))
        return grant.combine(_allow(grantee, [*_READ_JOBS, *_READ_REST], ["*"]))

    def operate(self, grantee: iam.IGrantable) -> iam.Grant:
        """Allow to change every share of the queue, which may end jobs; not to delete one."""
        shares = f"{self._target.arn}/quota-share/*"
        return self.read(grantee).combine(_allow(grantee, ["batch:UpdateQuotaShare"], [shares]))


def _allow(
    grantee: iam.IGrantable, actions: list[str], resources: list[str], conditions: dict[str, Any] | None = None
) -> iam.Grant:
    hold("grantee", grantee, "grant_principal", "a principal; import a role with iam.Role.from_role_arn")
    return iam.Grant.add_to_principal(grantee=grantee, actions=actions, resource_arns=resources, conditions=conditions)


def _submit(
    grantee: iam.IGrantable,
    target: GrantTarget,
    queue_and_shares: list[str],
    tags: dict[str, Any],
    limit: dict[str, Any],
    execution_role: iam.IRole | None,
) -> iam.Grant:
    grant = _allow(grantee, ["batch:SubmitServiceJob"], [*queue_and_shares, target.jobs_arn], {**tags, **limit})
    # Tags on a new job are authorised apart. A job that has the tag already is none of theirs to tag.
    untagged = {"Null": {**tags.get("Null", {}), f"aws:ResourceTag/{QUOTA_SHARE_TAG}": "true"}}
    grant.combine(_allow(grantee, ["batch:TagResource"], [target.jobs_arn], {**tags, **untagged}))
    return grant if execution_role is None else grant.combine(_pass_role(grantee, execution_role))


def _at_most(resource: IQuotaShareRef | IJobQueueRef, priority: int | None) -> dict[str, Any]:
    """The condition that holds a job's priority down. Raises ValueError: it is out of range."""
    if priority is None:
        return {}
    problem = priority_problem(priority)
    if problem is not None and not is_token(priority):
        raise ValueError(f"{resource.node.path}: max_priority: {problem}")
    return {"NumericLessThanEquals": {"batch:SchedulingPriority": priority}}


def _pass_role(grantee: iam.IGrantable, role: iam.IRole) -> iam.Grant:
    hold("execution_role", role, "role_arn", "a role; import one that exists with iam.Role.from_role_arn")
    to_sagemaker = {"StringEquals": {"iam:PassedToService": "sagemaker.amazonaws.com"}}
    return _allow(grantee, ["iam:PassRole"], [role.role_arn], to_sagemaker)


def _tagged(tags: dict[str, str]) -> dict[str, Any]:
    return {"StringEquals": {f"aws:ResourceTag/{key}": value for key, value in tags.items()}}


def jobs_arn(resource: IQuotaShareRef | IJobQueueRef) -> str:
    """The service jobs of the resource's account and region: a job's ARN says no more."""
    return cdk.Stack.of(resource).format_arn(
        service="batch",
        resource="service-job",
        resource_name="*",
        account=resource.env.account,
        region=resource.env.region,
    )
