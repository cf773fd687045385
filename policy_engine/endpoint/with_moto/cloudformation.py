"""The resources of quota management in moto's CloudFormation, made by the operations that a client would call.

moto finds its resources' classes among the direct subclasses of ``CloudFormationModel``, the later one where two are
of one type: this module has to come after moto's own of AWS Batch.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar, Final, NamedTuple, Self

import botocore.session
import moto.batch.models  # noqa: F401 - its job queue is of the same type as ours, which has to be the later one
from moto.cloudformation import parsing
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException, ValidationError
from moto.core.common_models import CloudFormationModel

from policy_engine.endpoint.endpoint import Endpoint
from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.resources import Answer
from policy_engine.endpoint.scope import Scope
from policy_engine.policy import State

_NAME: Final = 128
"""Characters of a name (API CreateJobQueue and its neighbours)."""
_SUFFIX: Final = 13
"""Those of them with which moto makes the names that it chooses unique, the dash included."""
_UNSAID: Final[Mapping[str, Any]] = {"state": State.ENABLED, "jobStateTimeLimitActions": []}
"""What a member becomes that an update no longer names: what it would be, had it never been named."""


class Kind(NamedTuple):
    """A type of resources, and how the operations on it name its members."""

    noun: str
    """As in ``CreateJobQueue`` and ``AWS::Batch::JobQueue``."""
    name: str
    """The property that holds its name."""
    arn: str
    """The attribute that holds its ARN, which ``Ref`` means too."""
    key: str
    """The member by which it is updated and deleted."""
    enabled: bool = True
    """Can it be disabled, and has to be before it is deleted?"""


class _Deployed:
    """A resource of a stack."""

    kind: ClassVar[Kind]

    def __init__(self, arn: str, request: Answer) -> None:
        self.physical_resource_id = arn
        self.request = request
        """With which it would be created as it is."""

    # --- what moto asks of its resources --------------------------------------------------------

    @classmethod
    def cloudformation_type(cls) -> str:
        return f"AWS::Batch::{cls.kind.noun}"

    @classmethod
    def cloudformation_name_type(cls) -> str:
        return cls.kind.name

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        return attr == cls.kind.arn

    def get_cfn_attribute(self, attribute: str) -> str:
        if not self.has_cfn_attr(attribute):
            raise UnformattedGetAttTemplateException
        return self.physical_resource_id

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Answer, account_id: str, region_name: str, **named: Any
    ) -> Self:
        """Create it."""
        target = _Target(account_id, region_name, str(named.get("LogicalId", cls.kind.noun)))
        return cls._create(target, cls._request(target, resource_name, cloudformation_json))

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: Any,
        new_resource_name: str,
        cloudformation_json: Answer,
        account_id: str,
        region_name: str,
    ) -> Self:
        """Update it, or where that cannot be done replace it."""
        old: Self = original_resource
        target = _Target(account_id, region_name, str(original_resource.logical_resource_id))
        request = cls._request(target, new_resource_name, cloudformation_json)
        name = _member(cls.kind.name)
        if cls.kind.name not in cloudformation_json["Properties"]:
            request[name] = old.request[name]  # moto chose another one
        changeable = _shape(f"Update{cls.kind.noun}").members
        changed = {member for member in {**old.request, **request} if old.request.get(member) != request.get(member)}
        fixed = sorted(changed - changeable.keys() - {"tags"})
        if fixed:
            return cls._replace(target, old, request, fixed)
        said = {member: request.get(member, _UNSAID.get(member)) for member in changed & changeable.keys()}
        target.call(f"Update{cls.kind.noun}", {cls.kind.key: old.physical_resource_id, **_given(said)})
        cls._tag(target, old, request.get("tags") or {})
        return cls(old.physical_resource_id, request)

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: Answer, account_id: str, region_name: str
    ) -> None:
        """Disable and delete it, ``resource_name`` being its ARN; what is gone already is no error.

        moto tries in any order, and again what it could not delete because of another.
        """
        target = _Target(account_id, region_name, resource_name)
        if not target.exists(resource_name):
            return
        key = {cls.kind.key: resource_name}
        state = cloudformation_json["Properties"].get("State", State.ENABLED)
        if cls.kind.enabled:
            target.call(f"Update{cls.kind.noun}", {**key, "state": State.DISABLED})
        try:
            target.call(f"Delete{cls.kind.noun}", key)
        except ValidationError:
            if cls.kind.enabled:
                target.call(f"Update{cls.kind.noun}", {**key, "state": state})
            raise

    # --- how it is done -------------------------------------------------------------------------

    @classmethod
    def _request(cls, target: _Target, name: str, template: Answer) -> Answer:
        """What creating it asks for. ``name`` is used where the template does not name it."""
        if len(name) > _NAME:
            name = name[: _NAME - _SUFFIX] + name[-_SUFFIX:]
        properties = {cls.kind.name: name, **template["Properties"]}
        try:
            request: Answer = _request_of(properties, _shape(f"Create{cls.kind.noun}"), "Properties")
        except ClientError as error:
            raise target.refused(error) from None
        return request

    @classmethod
    def _create(cls, target: _Target, request: Answer) -> Self:
        answer = target.call(f"Create{cls.kind.noun}", request)
        return cls(answer[_member(cls.kind.arn)], request)

    @classmethod
    def _replace(cls, target: _Target, old: Self, request: Answer, fixed: list[str]) -> Self:
        """Only of a share, to which nothing else refers: moto leaves what does as it is."""
        if cls is not QuotaShare:
            told = ", ".join(name[0].upper() + name[1:] for name in fixed)
            raise target.refused(
                ClientError(
                    f"{told}: a change replaces the resource, and here CloudFormation does not tell those that refer "
                    "to it: delete the stack, then create it anew"
                )
            )
        new = cls._create(target, request)
        cls.delete_from_cloudformation_json(old.physical_resource_id, {"Properties": {}}, *target.scope)
        return new

    @classmethod
    def _tag(cls, target: _Target, old: Self, tags: Mapping[str, str]) -> None:
        arn = old.physical_resource_id
        gone = [key for key in old.request.get("tags") or {} if key not in tags]
        if gone:
            target.call("UntagResource", {"resourceArn": arn, "tagKeys": gone})
        if tags:
            target.call("TagResource", {"resourceArn": arn, "tags": tags})


class SchedulingPolicy(_Deployed, CloudFormationModel):
    """AWS::Batch::SchedulingPolicy."""

    kind = Kind("SchedulingPolicy", name="Name", arn="Arn", key="arn", enabled=False)


class ServiceEnvironment(_Deployed, CloudFormationModel):
    """AWS::Batch::ServiceEnvironment."""

    kind = Kind(
        "ServiceEnvironment", name="ServiceEnvironmentName", arn="ServiceEnvironmentArn", key="serviceEnvironment"
    )


class JobQueue(_Deployed, CloudFormationModel):
    """AWS::Batch::JobQueue."""

    kind = Kind("JobQueue", name="JobQueueName", arn="JobQueueArn", key="jobQueue")


class QuotaShare(_Deployed, CloudFormationModel):
    """AWS::Batch::QuotaShare."""

    kind = Kind("QuotaShare", name="QuotaShareName", arn="QuotaShareArn", key="quotaShareArn")


# --- where it is done ----------------------------------------------------------------------------

_deployed_to: list[Endpoint] = []
"""The endpoint, once there is one: moto tells its resources no more than account and region."""


def deploy_to(endpoint: Endpoint) -> None:
    """Make the stacks of moto in this process, its server's or those of ``mock_aws``, deploy to the endpoint."""
    _deployed_to[:] = [endpoint]
    for found in (parsing.get_model_list, parsing.get_model_map, parsing.get_name_type_map):
        found.cache_clear()  # it may have looked for classes before these were there


class _Target:
    """The account in a region in which something is done for one resource of a stack."""

    def __init__(self, account: str, region: str, what: str) -> None:
        self.endpoint = _deployed_to[0]
        self.scope = Scope(account, self.endpoint.settings.region or region)
        self.what = what
        """The resource, as an error names it."""

    def call(self, operation: str, request: Answer) -> Answer:
        """Do it, and wait until it is done. Raises moto's error."""
        try:
            answer = self.endpoint.call(operation, request, self.scope)
        except ClientError as error:
            raise self.refused(error) from None
        with self.endpoint.holding(self.scope) as account:
            account.settle_resources()
        return answer

    def refused(self, error: ClientError) -> ValidationError:
        """What moto answers a client with."""
        return ValidationError(message=f"{self.what}: {error.message}")

    def exists(self, arn: str) -> bool:
        """Is there anything of that ARN?"""
        try:
            self.endpoint.call("ListTagsForResource", {"resourceArn": arn}, self.scope)
        except ClientError:
            return False
        return True


# --- from a template to a request ----------------------------------------------------------------


@cache
def _shape(operation: str) -> Any:
    """What the operation takes, as botocore's model of AWS Batch says."""
    return botocore.session.get_session().get_service_model("batch").operation_model(operation).input_shape


def _member(name: str) -> str:
    """How the API calls a property of CloudFormation."""
    return name[0].lower() + name[1:]


def _given(members: Answer) -> Answer:
    return {name: value for name, value in members.items() if value is not None}


def _request_of(value: Any, shape: Any, at: str) -> Any:
    """The properties as the API takes them: its names, and numbers and texts as CloudFormation makes them of another.

    Raises ClientError for a property that there is none of. What is of a wrong type is left for the endpoint to refuse.
    """
    if shape.type_name == "structure" and isinstance(value, dict):
        unknown = [name for name in value if _member(name) not in shape.members or name == _member(name)]
        if unknown:
            there_is = ", ".join(sorted(name[0].upper() + name[1:] for name in shape.members))
            raise ClientError(f"{at}: no property {', '.join(unknown)}; there is {there_is}")
        members = {_member(name): name for name in value}
        return {
            member: _request_of(value[name], shape.members[member], f"{at}.{name}") for member, name in members.items()
        }
    if shape.type_name == "list" and isinstance(value, list):
        return [_request_of(entry, shape.member, f"{at}[{number}]") for number, entry in enumerate(value)]
    if shape.type_name in ("integer", "long") and isinstance(value, str) and re.fullmatch("-?[0-9]{1,19}", value):
        return int(value)
    if shape.type_name == "string" and isinstance(value, int):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return value
