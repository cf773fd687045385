"""The scheduling policy that makes a job queue one of quota shares."""

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import ISchedulingPolicyRef, SchedulingPolicyReference
from constructs import Construct

from constructs_quota.arns import SCHEDULING_POLICY, arn_of, checked_arn, name_in
from constructs_quota.declared import Refusal, as_text, leave_out_of_tags, warn_of_fixed_name


class SchedulingPolicyBase:
    """What a scheduling policy offers, whether it is declared here or imported."""

    @property
    def scheduling_policy_arn(self: ISchedulingPolicyRef) -> str:
        """The ARN of the policy."""
        return self.scheduling_policy_ref.scheduling_policy_arn

    @property
    def scheduling_policy_name(self: ISchedulingPolicyRef) -> str:
        """The name of the policy, never its ARN."""
        return name_in(self.scheduling_policy_ref.scheduling_policy_arn, SCHEDULING_POLICY)

    @staticmethod
    def from_scheduling_policy_arn(scope: Construct, construct_id: str, arn: str) -> "ImportedSchedulingPolicy":
        """A quota share scheduling policy that exists already. Raises ValueError: not the ARN of one."""
        return ImportedSchedulingPolicy(scope, construct_id, checked_arn(scope, construct_id, arn, SCHEDULING_POLICY))

    @staticmethod
    def from_scheduling_policy_name(scope: Construct, construct_id: str, name: str) -> "ImportedSchedulingPolicy":
        """A quota share scheduling policy of this account and region. Raises ValueError: not a name."""
        return ImportedSchedulingPolicy(scope, construct_id, arn_of(scope, construct_id, name, SCHEDULING_POLICY))


class QuotaSchedulingPolicy(batch.CfnSchedulingPolicy, SchedulingPolicyBase):
    """A scheduling policy for quota shares: idle capacity goes to borrowers first in, first out.

    It has no further settings: FIFO is the only strategy AWS offers (API QuotaSharePolicy). The kind of a policy
    can never be changed or removed afterwards (API UpdateSchedulingPolicy).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        inherit_tags: bool = False,
        scheduling_policy_name: str | None = None,
    ) -> None:
        """Declare the policy.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            inherit_tags: Take the tags of the stack and the app. Default: none, as a change of them may replace it.
            scheduling_policy_name: 1 to 128 letters, digits, ``-`` and ``_``. Default: CloudFormation makes one up,
                which is what lets a change replace the policy.

        Raises:
            ValueError: An argument is wrong.
        """
        refusal = Refusal(scope, construct_id)
        refusal.name("scheduling_policy_name", scheduling_policy_name)
        refusal.raise_if_any()
        super().__init__(
            scope,
            construct_id,
            name=as_text(scheduling_policy_name),
            quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(
                idle_resource_assignment_strategy="FIFO"
            ),
        )
        if not inherit_tags:
            leave_out_of_tags(self)
        warn_of_fixed_name(self, scheduling_policy_name, "needs the queue to take the new policy first")


@jsii.implements(ISchedulingPolicyRef)
class ImportedSchedulingPolicy(cdk.Resource, SchedulingPolicyBase):
    """A scheduling policy that is not declared here."""

    def __init__(self, scope: Construct, construct_id: str, arn: str) -> None:
        super().__init__(scope, construct_id, environment_from_arn=arn)
        self._arn = arn

    @property
    @jsii.member(jsii_name="schedulingPolicyRef")
    def scheduling_policy_ref(self) -> SchedulingPolicyReference:
        """The reference by which stock CDK constructs take the policy."""
        return SchedulingPolicyReference(scheduling_policy_arn=self._arn)
