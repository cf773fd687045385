"""The CDK app: `cdk synth` runs it. With `-c stage=dev` or `-c stage=prod` it is the teams' queue of that stage.

With `-c bootstrap=false` it deploys where nobody has run `cdk bootstrap`, as into `policy-engine serve --moto`.
"""

import sys

import aws_cdk as cdk

from constructs_quota import QuotaPolicyValidation
from stacks.stages import stage_named
from stacks.team_queue_stack import TeamQueueStack
from stacks.training_queue_stack import TrainingQueueStack

app = cdk.App()
# the stacks have no assets, the one thing for which they would need what `cdk bootstrap` makes
bootstrapless = str(app.node.try_get_context("bootstrap")).lower() == "false"
synthesizer = cdk.BootstraplessSynthesizer() if bootstrapless else None
name = app.node.try_get_context("stage")
if name is None:
    description = "SageMaker training queue with three quota shares"
    TrainingQueueStack(app, "QuotaTraining", description=description, synthesizer=synthesizer)
else:
    try:
        stage = stage_named(name)
    except ValueError as error:
        sys.exit(str(error))
    cdk.Validations.of(app).add_plugins(QuotaPolicyValidation(fail_on="warning"))
    description = f"The teams' training queue, {name}"
    TeamQueueStack(app, f"QuotaTraining-{name}", stage=stage, description=description, synthesizer=synthesizer)
app.synth()
