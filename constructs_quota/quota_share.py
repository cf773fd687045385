"""A quota share: what one team always gets of a job queue, what it lends and what it may borrow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import IJobQueueRef, IQuotaShareRef, QuotaShareReference
from constructs import Construct

from constructs_quota.arns import QUOTA_SHARE, checked_arn, name_in
from constructs_quota.declared import Changeable, Refusal, as_number, as_text
from constructs_quota.grants import QuotaShareGrants
from constructs_quota.job_queue import JobQueueBase
from constructs_quota.resource_sharing import ResourceSharing
from policy_engine.policy import (
    SharingStrategy,
    State,
    borrow_limit_problem,
    borrow_limit_strategy_problem,
    enum_problem,
    name_problem,
)


@dataclass(frozen=True, kw_only=True)
class QuotaShareOptions:
    """What a quota share is, but for its name and queue.

    Plain data: the construct that takes it refuses what is wrong with it.

    Attributes:
        capacity_limits: 1 to 5 SageMaker instance types, each to the most instances of it that the share uses
            without borrowing.
        resource_sharing: What happens to idle capacity.
        in_share_preemption: May a job of the share stop jobs of the same share with lower priority? AWS has no
            default, and neither has this.
        state: DISABLED takes no new jobs; those it has may finish.
    """

    capacity_limits: Mapping[str, int]
    resource_sharing: ResourceSharing
    in_share_preemption: bool
    state: State = State.ENABLED


class QuotaShareBase:
    """What a quota share offers, whether it is declared here or imported.

    It stands behind the CDK's class among the bases: jsii compares the members of every class before that one with
    the CDK's, for each construct that is made.
    """

    @property
    def quota_share_arn(self: IQuotaShareRef) -> str:
        """The ARN of the share."""
        return self.quota_share_ref.quota_share_arn

    @property
    def grants(self: IQuotaShareRef) -> QuotaShareGrants:
        """Who may do what with the share and its jobs."""
        return QuotaShareGrants.from_quota_share(self)

    @staticmethod
    def from_quota_share_arn(scope: Construct, construct_id: str, arn: str) -> "ImportedQuotaShare":
        """A quota share that exists already. Raises ValueError: not the ARN of one."""
        return ImportedQuotaShare(scope, construct_id, checked_arn(scope, construct_id, arn, QUOTA_SHARE))

    @staticmethod
    def from_quota_share_name(
        scope: Construct, construct_id: str, name: str, *, job_queue: IJobQueueRef
    ) -> "ImportedQuotaShare":
        """A quota share of a queue, by its name. Raises ValueError: not a name."""
        refusal = Refusal(scope, construct_id)
        refusal.value("name", name, name_problem)
        refusal.raise_if_any()
        return ImportedQuotaShare(
            scope, construct_id, f"{job_queue.job_queue_ref.job_queue_arn}/quota-share/{as_text(name)}"
        )


class QuotaShare(batch.CfnQuotaShare, QuotaShareBase, Changeable):
    """A quota share of a job queue.

    It is the L1 itself, held to AWS's rules, rather than a construct around one: an app has up to twenty shares a
    queue, and a second construct for each adds a quarter to its synthesis (``benchmarks/synth_shares.py``).

    Deleting a share ends its jobs, and so does renaming it or moving it to another queue, since both replace it
    (API DeleteQuotaShare).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        job_queue: IJobQueueRef,
        quota_share_name: str,
        capacity_limits: Mapping[str, int],
        resource_sharing: ResourceSharing,
        in_share_preemption: bool,
        state: State = State.ENABLED,
    ) -> None:
        """Declare the share.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            job_queue: The queue, made by ``QuotaJobQueue`` or imported.
            quota_share_name: 1 to 128 letters, digits, ``-`` and ``_``; jobs name it when they are submitted.
            capacity_limits: See ``QuotaShareOptions``, and so the rest.
            resource_sharing: What happens to idle capacity.
            in_share_preemption: May a job stop jobs of the same share with lower priority?
            state: DISABLED takes no new jobs.

        Raises:
            ValueError: An argument is wrong.
        """
        refusal = Refusal(scope, construct_id)
        refusal.value("quota_share_name", quota_share_name, name_problem)
        refusal.capacity_limits(capacity_limits)
        _hold_sharing(refusal, resource_sharing)
        refusal.flag("in_share_preemption", in_share_preemption)
        refusal.state(state)
        _hold_queue(refusal, job_queue, quota_share_name, capacity_limits)
        refusal.raise_if_any()
        super().__init__(
            scope,
            construct_id,
            capacity_limits=[
                batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=unit, max_capacity=as_number(count))
                for unit, count in capacity_limits.items()
            ],
            job_queue=job_queue.job_queue_arn
            if isinstance(job_queue, JobQueueBase)
            else job_queue.job_queue_ref.job_queue_arn,
            preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
                in_share_preemption="ENABLED" if in_share_preemption else "DISABLED"
            ),
            quota_share_name=as_text(quota_share_name),
            resource_sharing_configuration=_sharing_property(resource_sharing),
            state=as_text(state),
        )
        self._limits = dict(capacity_limits)
        self._queue: IJobQueueRef = job_queue
        self._name = as_text(quota_share_name)
        if isinstance(job_queue, JobQueueBase):
            job_queue._add_share(quota_share_name, self, is_open=refusal.is_open)

    def _check_at_synthesis(self) -> None:
        if isinstance(self._queue, JobQueueBase):
            self._queue._check_at_synthesis()

    @property
    def grants(self) -> QuotaShareGrants:
        """Who may do what with the share and its jobs."""
        if not isinstance(self._queue, JobQueueBase):
            return QuotaShareGrants.from_quota_share(self)
        target = replace(self._queue._grant_target, arn=self.ref, share_name=self._name)
        return QuotaShareGrants(self, target)


@jsii.implements(IQuotaShareRef)
class ImportedQuotaShare(cdk.Resource, QuotaShareBase):
    """A quota share that is not declared here."""

    def __init__(self, scope: Construct, construct_id: str, arn: str) -> None:
        super().__init__(scope, construct_id, environment_from_arn=arn)
        self._arn = arn

    @property
    def quota_share_name(self) -> str:
        """The name of the share, never its ARN."""
        return name_in(self._arn, QUOTA_SHARE)

    @property
    @jsii.member(jsii_name="quotaShareRef")
    def quota_share_ref(self) -> QuotaShareReference:
        """The reference by which stock CDK constructs take the share."""
        return QuotaShareReference(quota_share_arn=self._arn)


def _sharing_property(sharing: ResourceSharing) -> batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty:
    limit = sharing.borrow_limit
    return batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
        strategy=as_text(sharing.strategy),
        # 0 is a limit, and not the same as none.
        borrow_limit=None if limit is None else as_number(limit),
    )


def _hold_sharing(refusal: Refusal, sharing: object) -> None:
    """Hold resource sharing to: a strategy, and a borrow limit with LEND_AND_BORROW alone."""
    if not isinstance(sharing, ResourceSharing):
        refusal.add(
            "resource_sharing",
            f"{sharing!r} is not a ResourceSharing; use ResourceSharing.reserve(), .lend() or"
            " .lend_and_borrow(borrow_limit=...)",
        )
        return
    key = "resource_sharing.borrow_limit"
    refusal.value("resource_sharing.strategy", sharing.strategy, lambda value: enum_problem(value, SharingStrategy))
    if sharing.borrow_limit is not None:
        refusal.value(key, sharing.borrow_limit, borrow_limit_problem)
        refusal.value(key, sharing.strategy, borrow_limit_strategy_problem)
    elif sharing.strategy == SharingStrategy.LEND_AND_BORROW:
        refusal.add(key, "None with LEND_AND_BORROW; give a percentage, or ResourceSharing.UNLIMITED for no limit")


def _hold_queue(refusal: Refusal, job_queue: object, name: str, capacity_limits: object) -> None:
    """Hold the queue to: a construct, with room for one more share of that name and those instance types."""
    if isinstance(job_queue, JobQueueBase):
        job_queue._hold_share(refusal, name, capacity_limits)
    else:
        refusal.job_queue(job_queue, "job_queue_ref")
