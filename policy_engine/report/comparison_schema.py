"""The JSON Schema of what ``compare`` writes."""

from __future__ import annotations

from typing import Final

from policy_engine.changes import Hazard, What
from policy_engine.comparison import FailOn, Measure, Word
from policy_engine.report.schema_parts import (
    COUNT,
    FLAG,
    SECONDS,
    SECONDS_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    TEXTS,
    Schema,
    list_of,
    object_of,
    or_null,
)

_VALUE: Final[Schema] = {"type": ["string", "number", "null"], "description": "null: there is none."}


def comparison_properties() -> Schema:
    """What a comparison has between head and tail."""
    findings = {"type": "array", "items": {"$ref": "#/$defs/finding"}}
    return {
        "old": object_of({"source": TEXT, "queue": TEXT_OR_NULL, "read_as": TEXT}, "`policy` is the new one."),
        "fail_on": {"enum": [*(fail_on.value for fail_on in FailOn), None]},
        "guarantees": {**_words(None), "description": "Of all shares; null: not reckoned."},
        "not_reckoned": {**TEXT_OR_NULL, "description": "Why there are no shares."},
        "destructive": {**FLAG, "description": "It ends jobs or cannot be done, and nobody accepted that."},
        "intends": TEXTS,
        "hit": list_of({"share": TEXT, "how": TEXTS}, "Outside the intent."),
        "changes": list_of(
            {
                "what": {"enum": [what.value for what in What]},
                **dict.fromkeys(("name", "field"), TEXT),
                "unit": TEXT_OR_NULL,
                "old": _VALUE,
                "new": _VALUE,
                "effect": {**TEXT_OR_NULL, "description": "What it does to jobs that are there."},
                "file": TEXT_OR_NULL,
                "line": {"type": ["integer", "null"], "minimum": 1},
                "key": TEXT,
            }
        ),
        "dangers": list_of(
            {
                "finding": TEXT,
                "hazard": {"enum": [hazard.value for hazard in Hazard]},
                "message": TEXT,
                "certain": {**FLAG, "description": "false: AWS does not say what becomes of the jobs."},
                "ends_jobs_of": {**TEXTS, "description": "Shares."},
                "steps": {**TEXTS, "description": "What to do instead."},
            }
        ),
        "findings": findings,
        "new_findings": {**findings, "description": "Of the new policy and not of the old one."},
        "shares": list_of(_share()),
        "scenario": or_null(_scenario()),
        "held": {**or_null(_scenario()), "description": "Of --now."},
        "replay": or_null(_replay()),
    }


def _share() -> Schema:
    witness = object_of(
        {
            "scenario": {
                "type": "object",
                "required": ["jobs", "expect"],
                "description": "A scenario file: it holds under the old policy and fails under the new one.",
            },
            "messages": TEXTS,
            "jobs": _effects(),
        }
    )
    difference = {
        "unit": {**TEXT_OR_NULL, "description": "Instance type; null: all of them."},
        "measure": {"enum": [measure.value for measure in Measure]},
        "word": {"enum": [word.value for word in Word if word is not Word.SAME]},
        "old": {**COUNT, "description": "Instances, or 1 for yes and 0 for no."},
        "new": COUNT,
        "message": TEXT,
    }
    return {
        "name": {**TEXT, "description": "Before the change, or after it where it is new."},
        "new_name": {**TEXT_OR_NULL, "description": "null: it is gone."},
        "word": _words(),
        "declared_otherwise": FLAG,
        "intended": {**FLAG, "description": "The change is meant for it."},
        "differences": list_of(difference),
        "witness": {**or_null(witness), "description": "null: none was found, or it loses nothing."},
    }


def _scenario() -> Schema:
    expectation = {"$ref": "#/$defs/expectation"}
    return object_of(
        {
            "source": TEXT,
            "transition": {**FLAG, "description": "The new side is the old policy, changed at once."},
            "hit": {**TEXTS, "description": "Shares of jobs that fare worse."},
            "expectations": list_of({"lost": FLAG, "old": expectation, "new": expectation}),
            "jobs": _effects(),
            "rests_on": {"$ref": "#/$defs/rests_on"},
        }
    )


def _effects() -> Schema:
    return list_of(
        {
            "name": TEXT,
            "share": TEXT,
            "demand": {"type": "object", "additionalProperties": COUNT, "description": "Instance type to instances."},
            "worse": FLAG,
            "better": FLAG,
            "old": _fate(),
            "new": _fate(),
        }
    )


def _words(*more: None) -> Schema:
    return {"enum": [*(word.value for word in Word), *more]}


def _fate() -> Schema:
    fate = object_of(
        {
            "state": TEXT,
            "reason": TEXT_OR_NULL,
            "first_started": {"type": ["number", "null"]},
            "finished": {"type": ["number", "null"]},
            "wait_seconds": {**SECONDS_OR_NULL, "description": "null: it never started."},
            "requeued_seconds": SECONDS,
            "preemptions": COUNT,
            "lost_instance_seconds": SECONDS,
        }
    )
    return {"anyOf": [fate, {"type": "null"}], "description": "null: it could not be submitted."}


def _replay() -> Schema:
    waits = object_of(dict.fromkeys(("mean", "p50", "p95", "max"), SECONDS))
    counts = ("jobs", "never_started", "preemptions_suffered", "not_run", "preemptions_caused")
    seconds = ("requeued_seconds", *(f"{name}_instance_seconds" for name in ("busy", "borrowed", "lent", "lost")))
    measures = object_of(
        {
            **dict.fromkeys(counts, COUNT),
            "wait_seconds": {"anyOf": [waits, {"type": "null"}]},
            **dict.fromkeys(seconds, SECONDS),
        }
    )
    side = {"anyOf": [measures, {"type": "null"}], "description": "null: there is no such share."}
    share = object_of({"name": TEXT, "hit": FLAG, "old": side, "new": side})
    return object_of(
        {
            "history": TEXT,
            "read_as": TEXT,
            "jobs": COUNT,
            "hit": {**TEXTS, "description": "Shares whose jobs fare worse."},
            "shares": {"type": "array", "items": share},
            "rests_on": {"$ref": "#/$defs/rests_on"},
        }
    )
