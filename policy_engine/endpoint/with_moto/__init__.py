"""AWS Batch beside moto: S3, IAM, STS, SageMaker and CloudFormation at the same address.

    application = WithMoto(Application(endpoint))          # WSGI

Needs moto (the extra ``moto``), and uses of it what its documentation names: the dispatcher of its server, the
protocol of resources of CloudFormation, and the reset over HTTP. Nothing of moto is patched.
"""

from policy_engine.endpoint.with_moto.dispatcher import MAX_BODY, WithMoto

__all__ = ["MAX_BODY", "WithMoto"]
