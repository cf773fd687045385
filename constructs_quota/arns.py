"""ARNs of AWS Batch resources: which string is one, how one is made, and the names inside."""

import re
from typing import Final

import aws_cdk as cdk
from constructs import Construct

from constructs_quota.declared import Refusal
from policy_engine.policy import name_problem

_EXAMPLE: Final = "arn:aws:batch:us-east-1:123456789012:"
_PREFIX: Final = r"arn:aws[a-z-]*:batch:[a-z0-9-]+:[0-9]{12}:"
_NAME: Final = r"[A-Za-z0-9_-]{1,128}"

SCHEDULING_POLICY: Final = "scheduling-policy/NAME"
SERVICE_ENVIRONMENT: Final = "service-environment/NAME"
JOB_QUEUE: Final = "job-queue/NAME"
QUOTA_SHARE: Final = "job-queue/NAME/quota-share/NAME"
"""The part of each resource's ARN after the account (service authorization reference of AWS Batch)."""


def arn_problem(value: object, form: str) -> str | None:
    """What is wrong with an ARN that must have the form of one of the resources above; None if nothing."""
    if isinstance(value, str) and re.fullmatch(_PREFIX + form.replace("NAME", _NAME), value):
        return None
    return f"{value!r} is not an ARN of the form {_EXAMPLE}{form}"


def checked_arn(scope: Construct, construct_id: str, arn: str, form: str) -> str:
    """The ARN of a resource to import. Raises ValueError: it is of another form."""
    refusal = Refusal(scope, construct_id)
    refusal.value("arn", arn, lambda value: arn_problem(value, form))
    refusal.raise_if_any()
    return arn


def arn_of(scope: Construct, construct_id: str, name: str, form: str) -> str:
    """The ARN of a resource of the scope's account and region, by its name. Raises ValueError: not a name."""
    refusal = Refusal(scope, construct_id)
    refusal.value("name", name, name_problem)
    refusal.raise_if_any()
    resource, _ = form.split("/")
    return cdk.Stack.of(scope).format_arn(service="batch", resource=resource, resource_name=name)


def name_in(arn: str, form: str, *, number: int = -1) -> str:
    """A name in an ARN of that form, also where all of the ARN is a token.

    Args:
        arn: The ARN.
        form: Its form, one of the resources above.
        number: Which of its names, counted as in a list. Default: the last, which is the resource's own.
    """
    place = [index for index, word in enumerate(form.split("/")) if word == "NAME"][number]
    words = arn.split("/")
    if len(words) == form.count("/") + 1 and name_problem(words[place]) is None:
        return words[place]
    return cdk.Fn.select(place, cdk.Fn.split("/", arn))


def queue_arn_in(share_arn: str) -> str:
    """The ARN of a quota share's job queue."""
    return cdk.Fn.select(0, cdk.Fn.split("/quota-share/", share_arn))
