"""JSON Schemas of the engine's files, draft 2020-12, made from the models that read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from policy_engine.policy import MAX_QUOTA_SHARES, Policy, SharingStrategy
from policy_engine.report.result_schema import result_schema as result
from policy_engine.workload.scenario_file import ScenarioFile

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def policy_schema() -> dict[str, Any]:
    """The schema of a policy document."""
    schema = Policy.model_json_schema()
    schema["title"] = "Policy document"
    schema["properties"]["shares"] |= {"maxProperties": MAX_QUOTA_SHARES, "additionalProperties": False}
    # A rule over two fields, which pydantic cannot know of.
    schema["$defs"]["Share"]["dependentSchemas"] = {
        "borrow_limit": {
            "anyOf": [
                {"properties": {"strategy": {"const": SharingStrategy.LEND_AND_BORROW.value}}},
                {"properties": {"borrow_limit": {"type": "null"}}},
            ]
        }
    }
    return {"$schema": DIALECT, **schema}


def scenario_schema() -> dict[str, Any]:
    """The schema of a scenario file."""
    return {"$schema": DIALECT, **ScenarioFile.model_json_schema(), "title": "Scenario file"}


def result_schema() -> dict[str, Any]:
    """The schema of the JSON result of any command."""
    return {"$schema": DIALECT, **result()}


SCHEMAS: Final[Mapping[str, Callable[[], dict[str, Any]]]] = {
    "policy": policy_schema,
    "scenario": scenario_schema,
    "result": result_schema,
}
"""What ``policy-engine schema`` can be asked for."""
