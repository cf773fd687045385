"""The JSON Schemas agree with the models that read the files."""

from typing import Any

import jsonschema
import pytest
from hypothesis import given

from policy_engine.policy import Policy
from policy_engine.schema import SCHEMAS
from tests.policy_engine.sources.templates import few, policies

POLICY = SCHEMAS["policy"]()
VALIDATOR = jsonschema.Draft202012Validator(POLICY)


def described(schema: dict[str, Any]) -> bool:
    return all("description" in field or "$ref" in field for field in schema["properties"].values())


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_schema_is_one_and_says_what_it_is(name: str) -> None:
    schema = SCHEMAS[name]()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("name", ["policy", "scenario"])
def test_the_fields_of_a_file_are_described(name: str) -> None:
    schema = SCHEMAS[name]()
    assert described(schema)
    assert all(described(part) for part in schema["$defs"].values() if "properties" in part)


@few
@given(policy=policies())
def test_every_policy_is_valid(policy: Policy) -> None:
    VALIDATOR.validate(policy.document())


SHARE = {"capacity_limits": {"ml.g5.xlarge": 1}, "strategy": "LEND", "in_share_preemption": False}
GOOD = {"service_environment": {"capacity_limits": {"ml.g5.xlarge": 3}}, "shares": {"QS1": SHARE}}


@pytest.mark.parametrize(
    "change",
    [
        {"service_environment": {"capacity_limits": {}}},
        {"service_environment": {"capacity_limits": {"NUM_INSTANCES": 1}}},
        {"service_environment": {"capacity_limits": {"ml.g5.xlarge": 0}}},
        {"shares": {"a b": SHARE}},
        {"shares": {f"S{index}": SHARE for index in range(21)}},
        {"shares": {"QS1": {**SHARE, "strategy": "lend"}}},
        {"shares": {"QS1": {**SHARE, "borrow_limit": 0}}},
        {"shares": {"QS1": {**SHARE, "strategy": "LEND_AND_BORROW", "borrow_limit": -2}}},
        {"shares": {"QS1": {**SHARE, "in_share_preemption": "no"}}},
        {"shares": {"QS1": {key: value for key, value in SHARE.items() if key != "strategy"}}},
        {"shares": {"QS1": {**SHARE, "strategi": "LEND"}}},
        {"queue": "a b"},
        {"zzz": 1},
        {"ignore": [{"finding": "QM106", "because": ""}]},
        {"job_state_time_limits": [{"reason": "X", "max_seconds": 600}]},
        {"job_state_time_limits": [{"reason": "CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY", "max_seconds": 599}]},
    ],
)
def test_schema_and_model_refuse_the_same(change: dict[str, Any]) -> None:
    assert VALIDATOR.is_valid(GOOD)
    Policy.of(GOOD)
    assert not VALIDATOR.is_valid(GOOD | change)
    with pytest.raises(ValueError, match="validation error"):
        Policy.of(GOOD | change)
