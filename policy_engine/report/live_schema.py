"""The JSON Schemas of what the commands on live queues and ``conform`` write."""

from __future__ import annotations

from typing import Any, Final

from policy_engine.conforming import Fit, Standing
from policy_engine.envelope import SCHEMA
from policy_engine.scheduler.choices import CHOICES
from policy_engine.scheduler.log import Kind

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
_DATE: Final[Schema] = {"type": "string", "format": "date-time"}
_CONSULTED: Final[Schema] = {"type": "boolean"}
_POLICY: Final[Schema] = {"$ref": "#/$defs/policy"}


def drift_schema() -> Schema:
    """What ``drift`` writes."""
    difference = {
        "resource": _TEXT,
        "field": {**_TEXT, "description": "`existence` of a whole resource."},
        "declared": _TEXT,
        "live": _TEXT,
        "where": {**_TEXT, "description": "Where it is declared: FILE:LINE:COLUMN: KEY."},
    }
    return _object(
        {
            **_head("drift"),
            "policy": _POLICY,
            "live": _object({"source": _TEXT, "read_as": _TEXT}),
            "verdict": {"enum": ["holds", "fails"]},
            "differences": _listed(difference),
            "not_compared": {**_TEXTS, "description": "Values that are known only at deployment."},
            "compared": {**_COUNT, "description": "Values."},
            "rests_on": _object({"engine": _TEXT, "live_service_consulted": _CONSULTED}),
        }
    )


def watch_schema() -> Schema:
    """What ``watch`` writes."""
    share = {
        **dict.fromkeys(("name", "unit"), _TEXT),
        **dict.fromkeys(("limit", "used", "own", "borrowed", "waiting", "waiting_jobs"), _COUNT),
    }
    front = {
        **dict.fromkeys(("share", "job"), _TEXT),
        "since_seconds": {"type": ["number", "null"], "minimum": 0},
        "demand": {"type": "object", "additionalProperties": _COUNT, "description": "Instance type to instances."},
        "priority": {"type": ["integer", "null"]},
        "why": {**_TEXT_OR_NULL, "description": "Why it waits, by the engine."},
    }
    event = {
        "at": {**_SECONDS, "description": "From now."},
        "kind": {"enum": [kind.value for kind in Kind]},
        **dict.fromkeys(("job", "by", "share"), _TEXT_OR_NULL),
    }
    return _object(
        {
            **_head("watch"),
            "queue": _TEXT,
            "at": _DATE,
            "shares": _listed(share),
            "first_in_line": _listed(front),
            "expected": {**_listed(event), "description": "By the engine, under the default answers."},
            "jobs": _object({"running": _COUNT, "waiting": _COUNT}),
            "rests_on": _object({"engine": _TEXT, "live_service_consulted": _CONSULTED}),
        }
    )


def conformance_schema() -> Schema:
    """What ``conform`` writes."""
    decision = {
        "at": {"type": "number", "description": "Seconds from the first submission."},
        **dict.fromkeys(("job", "happened", "expected"), _TEXT),
    }
    contradiction = {"oneOf": [{"type": "null"}, _object(decision, "The decision that the rules do not allow.")]}
    answer = {
        "answer": _TEXT,
        "fit": {"enum": [fit.value for fit in Fit]},
        "refuted_by": contradiction,
    }
    names = [choice.name for choice in CHOICES if not choice.is_number]
    choice = {
        "id": _TEXT,
        "name": {"enum": names},
        "standing": {"enum": [standing.value for standing in Standing]},
        "answers": _listed(answer),
    }
    return _object(
        {
            **_head("conform"),
            "policy": _POLICY,
            "history": _TEXT,
            "verdict": {"enum": ["holds", "fails", "undecided"], "description": "Can what happened be explained?"},
            "jobs": _COUNT,
            "preemptions": _COUNT,
            "zero": {**_DATE, "description": "The first submission."},
            "contradiction": contradiction,
            "default": _object(answer, "All choices by default, together."),
            "together": {
                "type": ["object", "null"],
                "description": "Answers, other than the default's, that fit together; null: none were found.",
            },
            "choices": _listed(choice),
            "remarks": _TEXTS,
            "rests_on": _object(
                {
                    **dict.fromkeys(("tolerance_seconds", "stop_within_seconds", "judged_from"), _SECONDS),
                    "events": _COUNT,
                    "engine": _TEXT,
                    "live_service_consulted": _CONSULTED,
                }
            ),
        }
    )


def _head(command: str) -> Schema:
    return {"schema": {"const": SCHEMA}, "command": {"const": command}}


def _listed(properties: Schema) -> Schema:
    return {"type": "array", "items": _object(properties)}


def _object(properties: Schema, description: str = "") -> Schema:
    """An object with exactly these keys."""
    said = {"description": description} if description else {}
    return {
        "type": "object",
        **said,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
