"""The job queue that quota shares divide."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, cast

import aws_cdk as cdk
import constructs
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import (
    IJobQueueRef,
    ISchedulingPolicyRef,
    IServiceEnvironmentRef,
    JobQueueReference,
)
from constructs import Construct

from constructs_quota.arns import JOB_QUEUE, arn_of, checked_arn
from constructs_quota.declared import (
    Changeable,
    Refusal,
    as_number,
    as_text,
    has_member,
    is_token,
    leave_out_of_tags,
    warn_of_fixed_name,
)
from constructs_quota.declared_policy import NotKnownError, declared_policy
from constructs_quota.grants import GrantTarget, JobQueueGrants, jobs_arn
from constructs_quota.monitoring import MonitoredQueue
from constructs_quota.service_environment import (
    ImportedServiceEnvironment,
    QuotaServiceEnvironment,
    ServiceEnvironmentBase,
)
from policy_engine.policy import (
    MAX_TIME_LIMIT,
    State,
    StuckReason,
    enum_problem,
    share_count_problem,
    time_limit_problem,
)

if TYPE_CHECKING:
    from aws_cdk import aws_sns as sns

    from constructs_quota.preemption_notices import PreemptionNotices
    from constructs_quota.quota_share import QuotaShare
    from policy_engine.policy import Policy

JobStateTimeLimits = Mapping[StuckReason, int | cdk.Duration]
"""Why a job is stuck, to the seconds or the duration after which that ends it."""

NEVER_FITS: Final[JobStateTimeLimits] = MappingProxyType(
    {
        StuckReason.SERVICE_ENVIRONMENT_MAX_RESOURCE: MAX_TIME_LIMIT,
        StuckReason.QUOTA_MANAGEMENT_LIMIT_EXCEEDED: MAX_TIME_LIMIT,
    }
)
"""The default: a job that can never fit is ended after the longest time AWS allows, a day.

Without it such a job holds the front of its share for ever (UG sm_job_stuck_in_runnable). Beware while a limit is
lowered for maintenance: a job larger than the lowered limit can never fit either, and is ended a day later.
"""


class JobQueueBase(MonitoredQueue):
    """What a job queue offers, whether it is declared here or imported."""

    _shares: dict[str, QuotaShare]
    _notices: PreemptionNotices | None = None

    @property
    def job_queue_arn(self) -> str:
        """The ARN of the queue."""
        return self._arn

    @property
    def grants(self) -> JobQueueGrants:
        """Who may do what with the queue and its jobs."""
        return JobQueueGrants(cast("IJobQueueRef", self), self._grant_target)

    @cached_property
    def _grant_target(self) -> GrantTarget:
        # Kept, since every share's grants ask for it and each part of it is a question to CDK's kernel.
        return GrantTarget(
            arn=self._arn,
            queue_arn=self._arn,
            queue_name=self._queue_name,
            jobs_arn=jobs_arn(cast("IJobQueueRef", self)),
        )

    @property
    def quota_shares(self) -> Mapping[str, QuotaShare]:
        """The quota shares that this app declares on the queue, by name, in order of declaration."""
        return MappingProxyType(self._shares)

    def notify_preemptions(self, quota_share: QuotaShare | str, topic: sns.ITopic) -> None:
        """Tell the topic when a job of the share, given by itself or its name, is preempted; see ``PreemptionNotices``.

        A share that the app does not declare on the queue, where it declares the queue, is refused at synthesis.

        Raises:
            ValueError: The share has a topic already, or that is no topic.
        """
        from constructs_quota.preemption_notices import PreemptionNotices

        if self._notices is None:
            self._notices = PreemptionNotices(cast("Construct", self), "PreemptionNotices", job_queue=self)
        name = quota_share if isinstance(quota_share, str) else quota_share.quota_share_name
        self._notices.add(name, topic)
        self._expect_share(name)

    def _hold_share(self, refusal: Refusal, name: object, capacity_limits: object) -> None:
        """Hold a further quota share to what the queue has already."""
        del capacity_limits  # of an imported queue's environment nothing is known
        if isinstance(name, str) and name in self._shares:
            there = self._shares[name].node.path
            refusal.add("quota_share_name", f"{name!r} is already declared on the queue, at {there}")
        refusal.add("job_queue", share_count_problem(len(self._shares) + 1))

    def _add_share(self, name: str, share: QuotaShare, *, is_open: bool) -> None:
        self._shares[name] = share
        if is_open:
            self._check_at_synthesis()

    def _check_at_synthesis(self) -> None:
        """Have what the constructors cannot judge checked by the engine; of an imported queue nothing can be."""

    @staticmethod
    def from_job_queue_arn(scope: Construct, construct_id: str, arn: str) -> ImportedJobQueue:
        """A job queue that exists already, to which shares can be added. Raises ValueError: not the ARN of one."""
        return ImportedJobQueue(scope, construct_id, checked_arn(scope, construct_id, arn, JOB_QUEUE))

    @staticmethod
    def from_job_queue_name(scope: Construct, construct_id: str, name: str) -> ImportedJobQueue:
        """A job queue of this account and region, to which shares can be added. Raises ValueError: not a name."""
        return ImportedJobQueue(scope, construct_id, arn_of(scope, construct_id, name, JOB_QUEUE))


class QuotaJobQueue(batch.CfnJobQueue, JobQueueBase, Changeable):
    """A SageMaker Training job queue that is divided into quota shares, on one service environment.

    Its priority is fixed: it only matters between queues of one service environment, and this one has its own
    (UG service_limits).

    Attributes:
        service_environment: The environment it runs on.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        service_environment: IServiceEnvironmentRef,
        scheduling_policy: ISchedulingPolicyRef,
        inherit_tags: bool = False,
        job_queue_name: str | None = None,
        job_state_time_limits: JobStateTimeLimits = NEVER_FITS,
        state: State = State.ENABLED,
    ) -> None:
        """Declare the queue.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            service_environment: A service environment for quota management that no other queue uses.
            scheduling_policy: A scheduling policy for quota shares. It can be replaced by another, not taken away.
            inherit_tags: Take the tags of the stack and the app. Default: none, as a change of them may replace it.
            job_queue_name: 1 to 128 letters, digits, ``-`` and ``_``. Default: CloudFormation makes one up, which is
                what lets a change replace the queue.
            job_state_time_limits: Reason to seconds (600 to 86400) or duration, after which a job that is stuck for
                that reason is ended. Default: ``NEVER_FITS``; ``{}`` ends none.
            state: DISABLED takes no new jobs; those it has may finish.

        Raises:
            ValueError: An argument is wrong.
        """
        refusal = Refusal(scope, construct_id)
        refusal.name("job_queue_name", job_queue_name)
        refusal.state(state)
        _hold_links(refusal, service_environment, scheduling_policy)
        limits = _seconds(refusal, job_state_time_limits)
        refusal.raise_if_any()
        environment = service_environment.service_environment_ref.service_environment_arn
        super().__init__(
            scope,
            construct_id,
            job_queue_name=as_text(job_queue_name),
            job_queue_type="SAGEMAKER_TRAINING",
            job_state_time_limit_actions=_actions(limits) or None,
            priority=1,
            scheduling_policy_arn=scheduling_policy.scheduling_policy_ref.scheduling_policy_arn,
            service_environment_order=[
                batch.CfnJobQueue.ServiceEnvironmentOrderProperty(order=1, service_environment=environment)
            ],
            state=as_text(state),
        )
        self.service_environment = service_environment
        self._arn = self.ref
        self._shares = {}
        self._expected: list[str] = []
        self._is_checked_at_synthesis = False
        if isinstance(service_environment, ServiceEnvironmentBase):
            service_environment._queue = self
        if refusal.is_open or getattr(service_environment, "_is_open", False):
            self._check_at_synthesis()
        if not inherit_tags:
            leave_out_of_tags(self)
        warn_of_fixed_name(self, job_queue_name, "deletes the queue and ends its jobs")

    # The L1's property of this name is the name given, or None; see QuotaServiceEnvironment.
    @cached_property
    def job_queue_name(self) -> str:
        """The name of the queue, never its ARN."""
        return self._queue_name

    @property
    def policy(self) -> Policy:
        """The policy that the queue and its quota shares declare so far, as the policy engine takes it.

        Its ``queue`` is the name given, or else the logical id of the resource.

        Raises:
            ValueError: It is not known: the environment is imported, or a value is only known at deployment.
        """
        if not isinstance(self.service_environment, QuotaServiceEnvironment):
            imported = "the capacity of an imported service environment is not known"
            raise NotKnownError(f"{self.node.path}: policy: {imported}")
        return declared_policy(self, self.service_environment, self._shares.values())

    def _check_at_synthesis(self) -> None:
        # Loaded here, since it brings the whole engine.
        from constructs_quota.validation import ResolvedPolicy

        if not self._is_checked_at_synthesis:
            self._is_checked_at_synthesis = True
            self.node.add_validation(ResolvedPolicy(self))

    def _expect_share(self, name: str) -> None:
        # At synthesis, since shares can be declared later.
        if not self._expected:
            self.node.add_validation(ExpectedShares(self))
        self._expected.append(name)

    def _hold_share(self, refusal: Refusal, name: object, capacity_limits: object) -> None:
        super()._hold_share(refusal, name, capacity_limits)
        if isinstance(self.service_environment, QuotaServiceEnvironment) and isinstance(capacity_limits, Mapping):
            refusal.declared_by(capacity_limits, self.service_environment._limits)


@jsii.implements(constructs.IValidation)
class ExpectedShares:
    """Refuses names of quota shares that nobody declares: what waits for their events would wait for ever."""

    def __init__(self, queue: QuotaJobQueue) -> None:
        self._queue = queue

    @jsii.member(jsii_name="validate")
    def validate(self) -> list[str]:
        """What is wrong, one text for each name."""
        wrong = [name for name in self._queue._expected if name not in self._queue.quota_shares and not is_token(name)]
        # Stock quota shares count too, on whatever queue they are.
        all_constructs = self._queue.node.root.node.find_all() if wrong else []
        stock = [share.quota_share_name for share in all_constructs if isinstance(share, batch.CfnQuotaShare)]
        known = [*self._queue.quota_shares]
        return [_unknown_share(name, known) for name in wrong if name not in stock]


def _unknown_share(name: str, known: list[str]) -> str:
    near = get_close_matches(name, known, n=1)
    meant = f"did you mean {near[0]!r}?" if near else f"there is {', '.join(known) or 'none'}"
    return f"quota_share_name: {name!r} is not a quota share that is declared on the queue; {meant}"


@jsii.implements(IJobQueueRef)
class ImportedJobQueue(cdk.Resource, JobQueueBase):
    """A job queue that is not declared here."""

    def __init__(self, scope: Construct, construct_id: str, arn: str) -> None:
        super().__init__(scope, construct_id, environment_from_arn=arn)
        self._arn = arn
        self._shares = {}

    @property
    def job_queue_name(self) -> str:
        """The name of the queue, never its ARN."""
        return self._queue_name

    @property
    @jsii.member(jsii_name="jobQueueRef")
    def job_queue_ref(self) -> JobQueueReference:
        """The reference by which stock CDK constructs take the queue."""
        return JobQueueReference(job_queue_arn=self._arn)


def _hold_links(refusal: Refusal, service_environment: object, scheduling_policy: object) -> None:
    """Hold the two linked resources to: constructs, of the right kind, and the environment not taken."""
    if not has_member(service_environment, "service_environment_ref"):
        refusal.add(
            "service_environment",
            f"{service_environment!r} is not a service environment; import one that exists with"
            " QuotaServiceEnvironment.from_service_environment_arn or _name",
        )
    elif (
        isinstance(service_environment, QuotaServiceEnvironment | ImportedServiceEnvironment)
        and service_environment._queue is not None
    ):
        refusal.add(
            "service_environment",
            f"{service_environment.node.path} already serves {service_environment._queue.node.path};"
            " one environment serves one queue",
        )
    if not has_member(scheduling_policy, "scheduling_policy_ref"):
        refusal.add(
            "scheduling_policy",
            f"{scheduling_policy!r} is not a scheduling policy; import one that exists with"
            " QuotaSchedulingPolicy.from_scheduling_policy_arn or _name",
        )
    elif isinstance(scheduling_policy, batch.FairshareSchedulingPolicy):
        refusal.add(
            "scheduling_policy",
            f"{scheduling_policy.node.path} is a fair-share policy; quota shares need a QuotaSchedulingPolicy",
        )


def _seconds(refusal: Refusal, limits: object) -> dict[StuckReason, int]:
    """The time limits in seconds, held to AWS's reasons and range."""
    if not isinstance(limits, Mapping):
        refusal.add("job_state_time_limits", f"{limits!r} is not a mapping of StuckReason to seconds or a duration")
        return {}
    seconds = dict(limits)
    for reason, limit in limits.items():
        if isinstance(limit, cdk.Duration):
            seconds[reason] = limit.to_seconds(integral=False)
    for reason, limit in seconds.items():
        refusal.value("job_state_time_limits", reason, lambda value: enum_problem(value, StuckReason))
        refusal.value(f"job_state_time_limits[{str(reason)!r}]", limit, _time_problem)
    return seconds


def _time_problem(limit: object) -> str | None:
    problem = time_limit_problem(limit)
    return None if problem is None else f"{problem}; give seconds, or a cdk.Duration"


def _actions(limits: Mapping[StuckReason, int]) -> list[batch.CfnJobQueue.JobStateTimeLimitActionProperty]:
    return [
        batch.CfnJobQueue.JobStateTimeLimitActionProperty(
            action="TERMINATE", max_time_seconds=as_number(seconds), reason=as_text(reason), state="RUNNABLE"
        )
        for reason, seconds in limits.items()
    ]
