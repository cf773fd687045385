"""Queues and shares without our constructs."""

import aws_cdk as cdk
from aws_cdk import aws_batch as batch


def l1_queue(stack: cdk.Stack, *, unit: str = "ml.g5.xlarge", name: str = "Queue") -> batch.CfnJobQueue:
    """A quota-managed queue with one instance, and no share."""
    environment = batch.CfnServiceEnvironment(
        stack,
        f"{name}Environment",
        capacity_limits=[batch.CfnServiceEnvironment.CapacityLimitProperty(capacity_unit=unit, max_capacity=1)],
        service_environment_type="SAGEMAKER_TRAINING",
    )
    policy = batch.CfnSchedulingPolicy(
        stack,
        f"{name}Policy",
        quota_share_policy=batch.CfnSchedulingPolicy.QuotaSharePolicyProperty(idle_resource_assignment_strategy="FIFO"),
    )
    return batch.CfnJobQueue(
        stack,
        name,
        job_queue_type="SAGEMAKER_TRAINING",
        priority=1,
        scheduling_policy_arn=policy.ref,
        service_environment_order=[
            batch.CfnJobQueue.ServiceEnvironmentOrderProperty(order=1, service_environment=environment.ref)
        ],
    )


def l1_share(stack: cdk.Stack, queue: str, name: str = "QS1", *, unit: str = "ml.g5.xlarge") -> batch.CfnQuotaShare:
    """A share of one instance that lends nothing."""
    return batch.CfnQuotaShare(
        stack,
        f"Share{name}",
        capacity_limits=[batch.CfnQuotaShare.QuotaShareCapacityLimitProperty(capacity_unit=unit, max_capacity=1)],
        job_queue=queue,
        preemption_configuration=batch.CfnQuotaShare.QuotaSharePreemptionConfigurationProperty(
            in_share_preemption="DISABLED"
        ),
        quota_share_name=name,
        resource_sharing_configuration=batch.CfnQuotaShare.QuotaShareResourceSharingConfigurationProperty(
            strategy="RESERVE"
        ),
    )
