"""What a request may say comes from botocore's model; what is wrong with it is said member by member."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

import pytest
from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.serialize import create_serializer

from policy_engine.endpoint.errors import ClientError
from policy_engine.endpoint.operations import OPERATIONS
from policy_engine.endpoint.service_model import batch_model

SHARE: dict[str, Any] = {
    "quotaShareName": "QS1",
    "jobQueue": "training",
    "capacityLimits": [{"maxCapacity": 1, "capacityUnit": "ml.g5.xlarge"}],
    "resourceSharingConfiguration": {"strategy": "LEND"},
    "preemptionConfiguration": {"inSharePreemption": "ENABLED"},
}
JOB: dict[str, Any] = {
    "jobName": "j",
    "jobQueue": "training",
    "serviceRequestPayload": "{}",
    "serviceJobType": "SAGEMAKER_TRAINING",
}


def check(operation: str, request: Any) -> None:
    model = batch_model()
    model.check(model.operations[operation])(request, "")


def without(request: dict[str, Any], member: str) -> dict[str, Any]:
    return {key: value for key, value in request.items() if key != member}


@pytest.mark.parametrize(
    ("operation", "request_", "problem"),
    [
        ("CreateQuotaShare", without(SHARE, "capacityLimits"), "capacityLimits: is missing"),
        ("CreateQuotaShare", SHARE | {"jobQueue": None}, "jobQueue: is missing"),
        ("CreateQuotaShare", SHARE | {"jobQueue": 7}, "jobQueue: 7 is not a string"),
        ("CreateQuotaShare", SHARE | {"capacityLimits": {}}, "capacityLimits: {} is not a list"),
        (
            "CreateQuotaShare",
            SHARE | {"capacityLimits": [{"maxCapacity": 1}]},
            "capacityLimits[0].capacityUnit: is missing",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"capacityLimits": [None]},
            "capacityLimits[0]: null is not an object",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"capacityLimits": [{"maxCapacity": True, "capacityUnit": "x"}]},
            "capacityLimits[0].maxCapacity: true is not a whole number",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"capacityLimits": [{"maxCapacity": 1.5, "capacityUnit": "x"}]},
            "capacityLimits[0].maxCapacity: 1.5 is not a whole number",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"capacityLimits": [{"maxCapacity": 2**31, "capacityUnit": "x"}]},
            "capacityLimits[0].maxCapacity: is out of range: a number of 32 bits is allowed",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"resourceSharingConfiguration": {"strategy": "BOGUS"}},
            "resourceSharingConfiguration.strategy: 'BOGUS' is not one of RESERVE, LEND, LEND_AND_BORROW",
        ),
        ("CreateQuotaShare", SHARE | {"tags": {}}, "tags: 0 entries is out of range: 1 to 50 is allowed"),
        (
            "CreateQuotaShare",
            SHARE | {"tags": {"": "v"}},
            "tags key: 0 characters is out of range: 1 to 128 is allowed",
        ),
        (
            "CreateQuotaShare",
            SHARE | {"tags": {"k": "v" * 257}},
            "tags['k']: 257 characters is out of range: at most 256 is allowed",
        ),
        ("CreateQuotaShare", SHARE | {"tags": {"k": None}}, "tags['k']: null is not a string"),
        ("CreateQuotaShare", [], "the request: [] is not an object"),
        (
            "SubmitServiceJob",
            JOB | {"clientToken": ""},
            "clientToken: 0 characters is out of range: 1 to 64 is allowed",
        ),
        (
            "SubmitServiceJob",
            JOB | {"serviceJobType": "ECS"},
            "serviceJobType: 'ECS' is not one of SAGEMAKER_TRAINING",
        ),
        (
            "CreateSchedulingPolicy",
            {"name": "p", "fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "a", "weightFactor": 1e400}]}},
            "fairsharePolicy.shareDistribution[0].weightFactor: is out of range: a finite number is allowed",
        ),
        (
            "CreateSchedulingPolicy",
            {
                "name": "p",
                "fairsharePolicy": {"shareDistribution": [{"shareIdentifier": "a", "weightFactor": 10**400}]},
            },
            "fairsharePolicy.shareDistribution[0].weightFactor: is out of range: a finite number is allowed",
        ),
        (
            "SubmitServiceJob",
            JOB | {"jobName": ["x" * 500]},
            'jobName: ["' + "x" * 98 + "... is not a string",
        ),
    ],
)
def test_what_the_model_does_not_allow(operation: str, request_: Any, problem: str) -> None:
    with pytest.raises(ClientError) as error:
        check(operation, request_)
    assert error.value.message == problem


@pytest.mark.parametrize("request_", [SHARE, SHARE | {"state": None}, SHARE | {"unheard of": 1}])
def test_what_it_allows(request_: dict[str, Any]) -> None:
    """A null is as good as nothing, and what the model does not know is left alone, as AWS does."""
    check("CreateQuotaShare", request_)


def test_every_operation_is_found_by_its_request() -> None:
    """By the request that botocore's own serialiser makes for it."""
    serializer = create_serializer("rest-json", include_validation=False)
    model = ServiceModel(Loader().load_service_model("batch", "service-2"))
    for name in model.operation_names:
        described = model.operation_model(name)
        parameters = {
            member: ["k"] if shape.type_name == "list" else "a/b:c"
            for member, shape in described.input_shape.members.items()
            if shape.serialization.get("location")
        }
        made = serializer.serialize_to_request(parameters, described)
        method, path = made["method"], unquote(made["url_path"])
        found = batch_model().fixed.get((method, path))
        if found is None:
            found, member = batch_model().find_templated(method, path)
            assert member == "a/b:c"
        assert found.name == name


def test_the_operations_of_quota_management_are_all_served() -> None:
    """Every operation of the model that is about what quota management knows."""
    about = (
        "SchedulingPolic",
        "ServiceEnvironment",
        "JobQueue",
        "QuotaShare",
        "ServiceJob",
        "TagResource",
        "TagsFor",
        "UntagResource",
    )
    wanted = {name for name in batch_model().operations if any(word in name for word in about)}
    assert set(OPERATIONS) == wanted
