"""The CDK app: `cdk synth` runs it. With `-c stage=dev` or `-c stage=prod` it is the teams' queue of that stage."""

import sys

import aws_cdk as cdk

from constructs_quota import QuotaPolicyValidation
from stacks.stages import stage_named
from stacks.team_queue_stack import TeamQueueStack
from stacks.training_queue_stack import TrainingQueueStack

app = cdk.App()
name = app.node.try_get_context("stage")
if name is None:
    TrainingQueueStack(app, "QuotaTraining", description="SageMaker training queue with three quota shares")
else:
    try:
        stage = stage_named(name)
    except ValueError as error:
        sys.exit(str(error))
    cdk.Validations.of(app).add_plugins(QuotaPolicyValidation(fail_on="warning"))
    TeamQueueStack(app, f"QuotaTraining-{name}", stage=stage, description=f"The teams' training queue, {name}")
app.synth()
