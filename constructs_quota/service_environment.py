"""The service environment: the capacity that the quota shares of one queue share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import aws_cdk as cdk
import jsii
from aws_cdk import aws_batch as batch
from aws_cdk.interfaces.aws_batch import IServiceEnvironmentRef, ServiceEnvironmentReference
from constructs import Construct

from constructs_quota.arns import SERVICE_ENVIRONMENT, arn_of, checked_arn, name_in
from constructs_quota.declared import Changeable, Refusal, as_number, as_text, warn_of_fixed_name
from policy_engine.policy import State

if TYPE_CHECKING:
    from constructs_quota.job_queue import QuotaJobQueue


class ServiceEnvironmentBase:
    """What a service environment offers, whether it is declared here or imported."""

    _queue: QuotaJobQueue | None = None
    """The queue it serves: an environment serves one (UG service_limits)."""

    @property
    def service_environment_arn(self: IServiceEnvironmentRef) -> str:
        """The ARN of the environment."""
        return self.service_environment_ref.service_environment_arn

    @staticmethod
    def from_service_environment_arn(scope: Construct, construct_id: str, arn: str) -> ImportedServiceEnvironment:
        """A service environment that exists already. Raises ValueError: not the ARN of one."""
        return ImportedServiceEnvironment(
            scope, construct_id, checked_arn(scope, construct_id, arn, SERVICE_ENVIRONMENT)
        )

    @staticmethod
    def from_service_environment_name(scope: Construct, construct_id: str, name: str) -> ImportedServiceEnvironment:
        """A service environment of this account and region. Raises ValueError: not a name."""
        return ImportedServiceEnvironment(scope, construct_id, arn_of(scope, construct_id, name, SERVICE_ENVIRONMENT))


class QuotaServiceEnvironment(batch.CfnServiceEnvironment, ServiceEnvironmentBase, Changeable):
    """A service environment for quota management: instance types, and how many instances of each there are.

    It serves one job queue (UG service_limits). Lowering a limit stops no job; it holds back new ones
    (UG updating-service-environments).
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        capacity_limits: Mapping[str, int],
        service_environment_name: str | None = None,
        state: State = State.ENABLED,
    ) -> None:
        """Declare the environment.

        Args:
            scope: The construct that contains it.
            construct_id: Its id there.
            capacity_limits: 1 to 5 SageMaker instance types, each to the most instances of it at one time.
            service_environment_name: 1 to 128 letters, digits, ``-`` and ``_``. Default: CloudFormation makes one up,
                which is what lets a change replace the environment.
            state: DISABLED dispatches nothing.

        Raises:
            ValueError: An argument is wrong.
        """
        refusal = Refusal(scope, construct_id)
        refusal.capacity_limits(capacity_limits)
        refusal.name("service_environment_name", service_environment_name)
        refusal.state(state)
        refusal.raise_if_any()
        limit = batch.CfnServiceEnvironment.CapacityLimitProperty
        super().__init__(
            scope,
            construct_id,
            capacity_limits=[
                limit(capacity_unit=unit, max_capacity=as_number(count)) for unit, count in capacity_limits.items()
            ],
            service_environment_name=as_text(service_environment_name),
            service_environment_type="SAGEMAKER_TRAINING",
            state=as_text(state),
        )
        self._limits = dict(capacity_limits)
        self._is_open = refusal.is_open
        warn_of_fixed_name(self, service_environment_name, "needs a new queue on it, as a queue keeps its environment")

    def _check_at_synthesis(self) -> None:
        self._is_open = True
        if self._queue is not None:
            self._queue._check_at_synthesis()

    # The L1's property of this name is the name given, or None. jsii takes a property for one that the L1 is to use
    # instead of its own; a cached one it leaves alone.
    @cached_property
    def service_environment_name(self) -> str:
        """The name of the environment, never its ARN."""
        return name_in(self.ref, SERVICE_ENVIRONMENT)


@jsii.implements(IServiceEnvironmentRef)
class ImportedServiceEnvironment(cdk.Resource, ServiceEnvironmentBase):
    """A service environment that is not declared here."""

    def __init__(self, scope: Construct, construct_id: str, arn: str) -> None:
        super().__init__(scope, construct_id, environment_from_arn=arn)
        self._arn = arn

    @property
    def service_environment_name(self) -> str:
        """The name of the environment, never its ARN."""
        return name_in(self._arn, SERVICE_ENVIRONMENT)

    @property
    @jsii.member(jsii_name="serviceEnvironmentRef")
    def service_environment_ref(self) -> ServiceEnvironmentReference:
        """The reference by which stock CDK constructs take the environment."""
        return ServiceEnvironmentReference(service_environment_arn=self._arn)
