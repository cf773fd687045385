"""Checkpoints: what saves the work of a job that is preempted.

A preempted job starts again as a new training job, and what it had not checkpointed is lost (UG preemption). SageMaker
copies what a job writes to its local checkpoint path to ``CheckpointConfig.S3Uri``, and back when it starts again with
the same URI (SageMaker Developer Guide, model-checkpoints).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from constructs import Construct

from constructs_quota.declared import Refusal

if TYPE_CHECKING:
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_s3 as s3

_LOG_GROUP = "/aws/sagemaker/TrainingJobs"
"""Where SageMaker writes the logs of training jobs, and the namespace of their metrics."""


@dataclass(frozen=True, kw_only=True)
class CheckpointOptions:
    """Where checkpoints go and who writes them.

    Attributes:
        bucket: A bucket to use. Default: a new one, encrypted, private, kept when the stack goes.
        prefix: The folder in it; letters, digits, ``-``, ``_``, ``.`` and ``/`` between them.
        expire_after: Age at which checkpoints in a new bucket are deleted. Default: 30 days.
        encryption_key: The key of a new bucket. Default: one that S3 manages.
        execution_role: The role of the training jobs, to be allowed to use the checkpoints. Default: a new one, which
            may also write logs and metrics. Give it what else the jobs need: their image and their data.
    """

    bucket: s3.IBucket | None = None
    prefix: str = "checkpoints"
    expire_after: cdk.Duration | None = None
    encryption_key: kms.IKey | None = None
    execution_role: iam.IRole | None = None


class Checkpoints(Construct):
    """A place for checkpoints, and a role for training jobs that may use it.

    Attributes:
        bucket: The bucket.
        execution_role: The role of the training jobs: the ``RoleArn`` of their request.
        uri: The folder; a job needs one of its own below it, the same in all its attempts.
    """

    def __init__(self, scope: Construct, construct_id: str, options: CheckpointOptions) -> None:
        """Declare what is not given. Raises ValueError: the prefix is none, or an option for a new bucket is moot."""
        refusal = Refusal(scope, construct_id)
        refusal.add("prefix", _prefix_problem(options.prefix))
        if options.bucket is not None and (options.encryption_key or options.expire_after):
            refusal.add("bucket", "given, so encryption_key and expire_after say nothing; set them on the bucket")
        refusal.raise_if_any()
        super().__init__(scope, construct_id)
        self.bucket = options.bucket or self._bucket(options)
        self.execution_role = options.execution_role or self._role()
        self.uri = f"s3://{self.bucket.bucket_name}/{options.prefix}"
        self.bucket.grant_read_write(self.execution_role, f"{options.prefix}/*")

    def _bucket(self, options: CheckpointOptions) -> s3.Bucket:
        from aws_cdk import aws_s3 as s3

        return s3.Bucket(
            self,
            "Bucket",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.KMS if options.encryption_key else s3.BucketEncryption.S3_MANAGED,
            encryption_key=options.encryption_key,
            enforce_ssl=True,
            lifecycle_rules=[
                s3.LifecycleRule(
                    id="ExpireCheckpoints",
                    prefix=f"{options.prefix}/",
                    expiration=options.expire_after or cdk.Duration.days(30),
                    abort_incomplete_multipart_upload_after=cdk.Duration.days(7),
                )
            ],
            removal_policy=cdk.RemovalPolicy.RETAIN,
        )

    def _role(self) -> iam.Role:
        stack = cdk.Stack.of(self)
        logs = stack.format_arn(
            service="logs",
            resource="log-group",
            resource_name=f"{_LOG_GROUP}:*",
            arn_format=cdk.ArnFormat.COLON_RESOURCE_NAME,
        )
        role = iam.Role(
            self,
            "ExecutionRole",
            assumed_by=iam.ServicePrincipal(
                "sagemaker.amazonaws.com", conditions={"StringEquals": {"aws:SourceAccount": stack.account}}
            ),
            description="Training jobs of a quota share queue",
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"],
                resources=[logs],
            )
        )
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["cloudwatch:PutMetricData"],
                resources=["*"],
                conditions={"StringEquals": {"cloudwatch:namespace": _LOG_GROUP}},
            )
        )
        return role


def _prefix_problem(prefix: str) -> str | None:
    words = prefix.split("/")
    if all(words) and all(character.isalnum() or character in "-_./" for character in prefix) and prefix.isascii():
        return None
    return f"{prefix!r} is not a folder: letters, digits, '-', '_', '.', and '/' between them are allowed"
