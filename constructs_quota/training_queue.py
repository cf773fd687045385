"""The pattern: a job queue for SageMaker training jobs, shared by teams, from one declaration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from aws_cdk.interfaces.aws_batch import ISchedulingPolicyRef, IServiceEnvironmentRef
from constructs import Construct

from constructs_quota.checkpoints import CheckpointOptions, Checkpoints
from constructs_quota.declared import Refusal, is_token
from constructs_quota.grants import JOB_QUEUE_TAG, QUOTA_SHARE_TAG, JobQueueGrants
from constructs_quota.job_queue import NEVER_FITS, JobStateTimeLimits, QuotaJobQueue
from constructs_quota.quota_share import QuotaShare, QuotaShareOptions
from constructs_quota.resource_sharing import ResourceSharing
from constructs_quota.scheduling_policy import QuotaSchedulingPolicy
from constructs_quota.service_environment import QuotaServiceEnvironment
from policy_engine.policy import State, name_problem

if TYPE_CHECKING:
    from policy_engine.policy import Policy


class QuotaTrainingQueue(Construct):
    """A SageMaker Training job queue with its service environment, scheduling policy and quota shares.

    Attributes:
        job_queue: The queue.
        checkpoints: Where its jobs keep checkpoints; None where nothing was asked for.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        capacity_limits: Mapping[str, int] | None = None,
        checkpoints: CheckpointOptions | None = None,
        quota_shares: Mapping[str, QuotaShareOptions] | None = None,
        inherit_tags: bool = False,
        job_queue_name: str | None = None,
        job_state_time_limits: JobStateTimeLimits = NEVER_FITS,
        scheduling_policy: ISchedulingPolicyRef | None = None,
        service_environment: IServiceEnvironmentRef | None = None,
        state: State = State.ENABLED,
    ) -> None:
        """Declare the queue and all that it needs.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            capacity_limits: 1 to 5 SageMaker instance types, each to the most instances of it that all quota shares
                together use at one time. Not where ``service_environment`` is given.
            checkpoints: Make a place for checkpoints and a role for training jobs, and output what a submitter needs:
                the queue, its shares, the tags of a job, the role and the place. Default: none of it.
            quota_shares: Name to quota share, up to 20. Default: none yet; see ``add_quota_share``.
            inherit_tags: Give the queue and its policy the tags of the stack and the app. Default: they get none, as a
                change of tags may replace them.
            job_queue_name: See ``QuotaJobQueue``. Default: CloudFormation makes one up.
            job_state_time_limits: See ``QuotaJobQueue``. Default: a job that can never fit is ended after a day.
            scheduling_policy: A policy for quota shares to use. Default: one of its own.
            service_environment: A service environment to use instead of one of its own.
            state: DISABLED takes no new jobs; those it has may finish.

        Raises:
            ValueError: An argument is wrong.
        """
        refusal = Refusal(scope, construct_id)
        if (capacity_limits is None) == (service_environment is None):
            given = "neither" if capacity_limits is None else "both"
            refusal.add("capacity_limits, service_environment", f"{given} given; give one of them")
        _hold_shares(refusal, quota_shares)
        _hold_checkpoints(refusal, checkpoints)
        refusal.raise_if_any()
        super().__init__(scope, construct_id)
        self.job_queue = QuotaJobQueue(
            self,
            "JobQueue",
            service_environment=service_environment or self._environment(capacity_limits),
            scheduling_policy=scheduling_policy
            or QuotaSchedulingPolicy(self, "SchedulingPolicy", inherit_tags=inherit_tags),
            inherit_tags=inherit_tags,
            job_queue_name=job_queue_name,
            job_state_time_limits=job_state_time_limits,
            state=state,
        )
        # A scope of their own, and their names as ids: neither their order nor the other shares matter to a logical
        # id, and names that differ in '-' and '_' alone stay apart.
        self._scope_of_shares = Construct(self, "QuotaShares")
        for name, options in (quota_shares or {}).items():
            self._declare(name, options)
        self.checkpoints = None if checkpoints is None else self._checkpoints(checkpoints)

    def add_quota_share(
        self,
        quota_share_name: str,
        *,
        capacity_limits: Mapping[str, int],
        resource_sharing: ResourceSharing,
        in_share_preemption: bool,
        state: State = State.ENABLED,
    ) -> QuotaShare:
        """Declare a further quota share; see ``QuotaShareOptions``. Raises ValueError: an argument is wrong."""
        return self._declare(
            quota_share_name,
            QuotaShareOptions(
                capacity_limits=capacity_limits,
                resource_sharing=resource_sharing,
                in_share_preemption=in_share_preemption,
                state=state,
            ),
        )

    @property
    def quota_shares(self) -> Mapping[str, QuotaShare]:
        """The quota shares of the queue, by name, in order of declaration."""
        return self.job_queue.quota_shares

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue."""
        return self.job_queue.job_queue_arn

    @property
    def job_queue_name(self) -> str:
        """The name of the queue, never its ARN."""
        return self.job_queue.job_queue_name

    @property
    def grants(self) -> JobQueueGrants:
        """Who may do what with the queue and its jobs; grants on one share are at the share."""
        return self.job_queue.grants

    @property
    def policy(self) -> Policy:
        """The policy declared so far; see ``QuotaJobQueue.policy``."""
        return self.job_queue.policy

    def _environment(self, capacity_limits: Mapping[str, int] | None) -> QuotaServiceEnvironment:
        return QuotaServiceEnvironment(self, "ServiceEnvironment", capacity_limits=capacity_limits or {})

    def _checkpoints(self, options: CheckpointOptions) -> Checkpoints:
        made = Checkpoints(self, "Checkpoints", options)
        # Later shares count, so the names are asked for when the template is written.
        names = cdk.Lazy.string(_Names(self.quota_shares))
        for name, value, description in (
            ("JobQueueName", self.job_queue_name, "jobQueue of a job"),
            ("QuotaShareNames", names, "quotaShareName of a job: one of these"),
            ("JobTags", self._job_tags(), "tags of a job, without which grants allow nothing"),
            ("ExecutionRoleArn", made.execution_role.role_arn, "RoleArn of the training job"),
            ("CheckpointUri", made.uri, "CheckpointConfig.S3Uri: a folder below it, the same in all attempts"),
        ):
            cdk.CfnOutput(self, name, value=value, description=description)
        return made

    def _job_tags(self) -> str:
        return f"{JOB_QUEUE_TAG}={self.job_queue_name},{QUOTA_SHARE_TAG}=<quotaShareName>"

    def _declare(self, name: str, options: QuotaShareOptions) -> QuotaShare:
        if name_problem(name) and is_token(name):
            # The name is the construct's id, and that has to be known now.
            refusal = Refusal(self, "QuotaShares")
            refusal.add(
                "quota_share_name",
                f"{name!r} is only known at deployment; use QuotaShare(scope, id, job_queue=..., quota_share_name=...)",
            )
            refusal.raise_if_any()
        return QuotaShare(
            self._scope_of_shares,
            name,
            job_queue=self.job_queue,
            quota_share_name=name,
            capacity_limits=options.capacity_limits,
            resource_sharing=options.resource_sharing,
            in_share_preemption=options.in_share_preemption,
            state=options.state,
        )


@jsii.implements(cdk.IStableStringProducer)
class _Names:
    """The names of the shares that there are when it is asked."""

    def __init__(self, shares: Mapping[str, QuotaShare]) -> None:
        self._shares = shares

    def produce(self) -> str:
        return ",".join(self._shares)


def _hold_shares(refusal: Refusal, shares: object) -> None:
    """Hold quota shares to: names, each with its options."""
    if shares is None:
        return
    if not isinstance(shares, Mapping):
        refusal.add("quota_shares", f"{shares!r} is not a mapping of name to QuotaShareOptions")
        return
    for name, options in shares.items():
        if not isinstance(options, QuotaShareOptions):
            refusal.add(f"quota_shares[{name!r}]", f"{options!r} is not a QuotaShareOptions")


def _hold_checkpoints(refusal: Refusal, checkpoints: object) -> None:
    if checkpoints is not None and not isinstance(checkpoints, CheckpointOptions):
        refusal.add("checkpoints", f"{checkpoints!r} is not a CheckpointOptions")
