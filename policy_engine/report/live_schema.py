"""The JSON Schemas of what the commands on live queues and ``conform`` write."""

from __future__ import annotations

from typing import Final

from policy_engine.conforming import Fit, Standing
from policy_engine.envelope import SCHEMA
from policy_engine.report.schema_parts import COUNT, SECONDS, TEXT, TEXT_OR_NULL, TEXTS, Schema, list_of, object_of
from policy_engine.scheduler.choices import CHOICES
from policy_engine.scheduler.log import Kind

_DATE: Final[Schema] = {"type": "string", "format": "date-time"}
_CONSULTED: Final[Schema] = {"type": "boolean"}
_POLICY: Final[Schema] = {"$ref": "#/$defs/policy"}


def drift_schema() -> Schema:
    """What ``drift`` writes."""
    difference = {
        "resource": TEXT,
        "field": {**TEXT, "description": "`existence` of a whole resource."},
        "declared": TEXT,
        "live": TEXT,
        "where": {**TEXT, "description": "Where it is declared: FILE:LINE:COLUMN: KEY."},
    }
    return object_of(
        {
            **_head("drift"),
            "policy": _POLICY,
            "live": object_of({"source": TEXT, "read_as": TEXT}),
            "verdict": {"enum": ["holds", "fails"]},
            "differences": list_of(difference),
            "not_compared": {**TEXTS, "description": "Values that are known only at deployment."},
            "compared": {**COUNT, "description": "Values."},
            "rests_on": object_of({"engine": TEXT, "live_service_consulted": _CONSULTED}),
        }
    )


def watch_schema() -> Schema:
    """What ``watch`` writes."""
    share = {
        **dict.fromkeys(("name", "unit"), TEXT),
        **dict.fromkeys(("limit", "used", "own", "borrowed", "waiting", "waiting_jobs"), COUNT),
    }
    front = {
        **dict.fromkeys(("share", "job"), TEXT),
        "since_seconds": {"type": ["number", "null"], "minimum": 0},
        "demand": {"type": "object", "additionalProperties": COUNT, "description": "Instance type to instances."},
        "priority": {"type": ["integer", "null"]},
        "why": {**TEXT_OR_NULL, "description": "Why it waits, by the engine."},
    }
    event = {
        "at": {**SECONDS, "description": "From now."},
        "kind": {"enum": [kind.value for kind in Kind]},
        **dict.fromkeys(("job", "by", "share"), TEXT_OR_NULL),
    }
    return object_of(
        {
            **_head("watch"),
            "queue": TEXT,
            "at": _DATE,
            "shares": list_of(share),
            "first_in_line": list_of(front),
            "expected": {**list_of(event), "description": "By the engine, under the default answers."},
            "jobs": object_of({"running": COUNT, "waiting": COUNT}),
            "rests_on": object_of({"engine": TEXT, "live_service_consulted": _CONSULTED}),
        }
    )


def conformance_schema() -> Schema:
    """What ``conform`` writes."""
    decision = {
        "at": {"type": "number", "description": "Seconds from the first submission."},
        **dict.fromkeys(("job", "happened", "expected"), TEXT),
    }
    contradiction = {"oneOf": [{"type": "null"}, object_of(decision, "The decision that the rules do not allow.")]}
    answer = {
        "answer": TEXT,
        "fit": {"enum": [fit.value for fit in Fit]},
        "refuted_by": contradiction,
    }
    names = [choice.name for choice in CHOICES if not choice.is_number]
    choice = {
        "id": TEXT,
        "name": {"enum": names},
        "standing": {"enum": [standing.value for standing in Standing]},
        "answers": list_of(answer),
    }
    return object_of(
        {
            **_head("conform"),
            "policy": _POLICY,
            "history": TEXT,
            "verdict": {"enum": ["holds", "fails", "undecided"], "description": "Can what happened be explained?"},
            "jobs": COUNT,
            "preemptions": COUNT,
            "zero": {**_DATE, "description": "The first submission."},
            "contradiction": contradiction,
            "default": object_of(answer, "All choices by default, together."),
            "together": {
                "type": ["object", "null"],
                "description": "Answers, other than the default's, that fit together; null: none were found.",
            },
            "choices": list_of(choice),
            "remarks": TEXTS,
            "rests_on": object_of(
                {
                    **dict.fromkeys(("tolerance_seconds", "stop_within_seconds", "judged_from"), SECONDS),
                    "events": COUNT,
                    "engine": TEXT,
                    "live_service_consulted": _CONSULTED,
                }
            ),
        }
    )


def _head(command: str) -> Schema:
    return {"schema": {"const": SCHEMA}, "command": {"const": command}}
