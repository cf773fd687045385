"""A Lambda function of one file, with a role and a log group of its own."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct


class HandlerFunction(Construct):
    """Runs one of ``constructs_quota.handlers``.

    The code is in the template itself, so the stack needs no bucket for assets; that holds up to 4096 characters.

    Attributes:
        function: The function; its role may write to its log group and do what ``statements`` say.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        handler: str,
        description: str,
        environment: Mapping[str, str],
        statements: Sequence[iam.PolicyStatement],
    ) -> None:
        """Declare the function, by the name of its file in ``constructs_quota.handlers``."""
        super().__init__(scope, construct_id)
        log_group = logs.LogGroup(
            self, "Logs", retention=logs.RetentionDays.ONE_MONTH, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        log_group.grant_write(role)
        for statement in statements:
            role.add_to_policy(statement)
        source = Path(__file__).parent / "handlers" / f"{handler}.py"
        self.function = lambda_.Function(
            self,
            "Function",
            runtime=lambda_.Runtime.PYTHON_3_14,
            architecture=lambda_.Architecture.ARM_64,
            code=lambda_.Code.from_inline(source.read_text()),
            handler="index.handler",
            description=description,
            environment=dict(environment),
            log_group=log_group,
            memory_size=256,
            role=role,
            timeout=cdk.Duration.minutes(1),
        )
