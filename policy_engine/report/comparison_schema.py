"""The JSON Schema of what ``compare`` writes."""

from __future__ import annotations

from typing import Any, Final

from policy_engine.changes import Hazard, What
from policy_engine.comparison import FailOn, Measure, Word

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_TEXTS: Final[Schema] = {"type": "array", "items": _TEXT}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_FLAG: Final[Schema] = {"type": "boolean"}
_SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
_SECONDS_OR_NULL: Final[Schema] = {"type": ["number", "null"], "minimum": 0}
_VALUE: Final[Schema] = {"type": ["string", "number", "null"], "description": "null: there is none."}


def comparison_properties() -> Schema:
    """What a comparison has between head and tail."""
    findings = {"type": "array", "items": {"$ref": "#/$defs/finding"}}
    return {
        "old": _object({"source": _TEXT, "queue": _TEXT_OR_NULL, "read_as": _TEXT}, "`policy` is the new one."),
        "fail_on": {"enum": [*(fail_on.value for fail_on in FailOn), None]},
        "guarantees": {**_words(None), "description": "Of all shares; null: not reckoned."},
        "not_reckoned": {**_TEXT_OR_NULL, "description": "Why there are no shares."},
        "destructive": {**_FLAG, "description": "It ends jobs or cannot be done, and nobody accepted that."},
        "intends": _TEXTS,
        "hit": _listed({"share": _TEXT, "how": _TEXTS}, "Outside the intent."),
        "changes": _listed(
            {
                "what": {"enum": [what.value for what in What]},
                **dict.fromkeys(("name", "field"), _TEXT),
                "unit": _TEXT_OR_NULL,
                "old": _VALUE,
                "new": _VALUE,
                "effect": {**_TEXT_OR_NULL, "description": "What it does to jobs that are there."},
                "file": _TEXT_OR_NULL,
                "line": {"type": ["integer", "null"], "minimum": 1},
                "key": _TEXT,
            }
        ),
        "dangers": _listed(
            {
                "finding": _TEXT,
                "hazard": {"enum": [hazard.value for hazard in Hazard]},
                "message": _TEXT,
                "certain": {**_FLAG, "description": "false: AWS does not say what becomes of the jobs."},
                "ends_jobs_of": {**_TEXTS, "description": "Shares."},
                "steps": {**_TEXTS, "description": "What to do instead."},
            }
        ),
        "findings": findings,
        "new_findings": {**findings, "description": "Of the new policy and not of the old one."},
        "shares": _listed(_share()),
        "scenario": _or_null(_scenario()),
        "held": {**_or_null(_scenario()), "description": "Of --now."},
        "replay": _or_null(_replay()),
    }


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


def _listed(properties: Schema, description: str = "") -> Schema:
    return {"type": "array", "items": _object(properties, description)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _share() -> Schema:
    witness = _object(
        {
            "scenario": {
                "type": "object",
                "required": ["jobs", "expect"],
                "description": "A scenario file: it holds under the old policy and fails under the new one.",
            },
            "messages": _TEXTS,
            "jobs": _effects(),
        }
    )
    difference = {
        "unit": {**_TEXT_OR_NULL, "description": "Instance type; null: all of them."},
        "measure": {"enum": [measure.value for measure in Measure]},
        "word": {"enum": [word.value for word in Word if word is not Word.SAME]},
        "old": {**_COUNT, "description": "Instances, or 1 for yes and 0 for no."},
        "new": _COUNT,
        "message": _TEXT,
    }
    return {
        "name": {**_TEXT, "description": "Before the change, or after it where it is new."},
        "new_name": {**_TEXT_OR_NULL, "description": "null: it is gone."},
        "word": _words(),
        "declared_otherwise": _FLAG,
        "intended": {**_FLAG, "description": "The change is meant for it."},
        "differences": _listed(difference),
        "witness": {**_or_null(witness), "description": "null: none was found, or it loses nothing."},
    }


def _scenario() -> Schema:
    expectation = {"$ref": "#/$defs/expectation"}
    return _object(
        {
            "source": _TEXT,
            "transition": {**_FLAG, "description": "The new side is the old policy, changed at once."},
            "hit": {**_TEXTS, "description": "Shares of jobs that fare worse."},
            "expectations": _listed({"lost": _FLAG, "old": expectation, "new": expectation}),
            "jobs": _effects(),
            "rests_on": {"$ref": "#/$defs/rests_on"},
        }
    )


def _effects() -> Schema:
    return _listed(
        {
            "name": _TEXT,
            "share": _TEXT,
            "demand": {"type": "object", "additionalProperties": _COUNT, "description": "Instance type to instances."},
            "worse": _FLAG,
            "better": _FLAG,
            "old": _fate(),
            "new": _fate(),
        }
    )


def _words(*more: None) -> Schema:
    return {"enum": [*(word.value for word in Word), *more]}


def _fate() -> Schema:
    fate = _object(
        {
            "state": _TEXT,
            "reason": _TEXT_OR_NULL,
            "first_started": {"type": ["number", "null"]},
            "finished": {"type": ["number", "null"]},
            "wait_seconds": {**_SECONDS_OR_NULL, "description": "null: it never started."},
            "requeued_seconds": _SECONDS,
            "preemptions": _COUNT,
            "lost_instance_seconds": _SECONDS,
        }
    )
    return {"anyOf": [fate, {"type": "null"}], "description": "null: it could not be submitted."}


def _replay() -> Schema:
    waits = _object(dict.fromkeys(("mean", "p50", "p95", "max"), _SECONDS))
    counts = ("jobs", "never_started", "preemptions_suffered", "not_run", "preemptions_caused")
    seconds = ("requeued_seconds", *(f"{name}_instance_seconds" for name in ("busy", "borrowed", "lent", "lost")))
    measures = _object(
        {
            **dict.fromkeys(counts, _COUNT),
            "wait_seconds": {"anyOf": [waits, {"type": "null"}]},
            **dict.fromkeys(seconds, _SECONDS),
        }
    )
    side = {"anyOf": [measures, {"type": "null"}], "description": "null: there is no such share."}
    share = _object({"name": _TEXT, "hit": _FLAG, "old": side, "new": side})
    return _object(
        {
            "history": _TEXT,
            "read_as": _TEXT,
            "jobs": _COUNT,
            "hit": {**_TEXTS, "description": "Shares whose jobs fare worse."},
            "shares": {"type": "array", "items": share},
            "rests_on": {"$ref": "#/$defs/rests_on"},
        }
    )
