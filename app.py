"""The CDK app: `cdk synth` runs it."""

import aws_cdk as cdk

from stacks.training_queue_stack import TrainingQueueStack

app = cdk.App()
TrainingQueueStack(app, "QuotaTraining", description="SageMaker training queue with three quota shares")
app.synth()
