"""A local AWS Batch: quota management over the same scheduler, in virtual time.

    endpoint = Endpoint(policies=[load_policy("policy.yaml")])
    application = Application(endpoint)          # WSGI
    endpoint.call("SubmitServiceJob", {...})     # in process

It reaches no network and verifies no signatures. Needs botocore (the extra ``serve``).
"""

from policy_engine.endpoint.application import Application
from policy_engine.endpoint.endpoint import Endpoint
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.schedule import Pace
from policy_engine.endpoint.scope import Scope
from policy_engine.endpoint.settings import Settings

__all__ = ["Application", "ClientError", "Endpoint", "Pace", "Scope", "Settings"]
