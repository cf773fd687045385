"""The JSON Schema of a result: what scripts may count on."""

from __future__ import annotations

from dataclasses import fields
from enum import StrEnum
from typing import Final

from policy_engine.explaining import About, Because, Fate, What
from policy_engine.findings import Severity
from policy_engine.guarantees import Kind as Preempting
from policy_engine.report.comparison_schema import comparison_properties
from policy_engine.report.json import SCHEMA
from policy_engine.report.live_schema import conformance_schema, drift_schema, watch_schema
from policy_engine.report.replay_schema import replay_properties, suggestion_properties, sweep_properties
from policy_engine.report.schema_parts import COUNT, SECONDS, TEXT, TEXT_OR_NULL, Schema, object_of
from policy_engine.scheduler.choices import BY_NAME, Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.scheduler.log import Kind, Why

_LINE: Final[Schema] = {"type": ["integer", "null"], "minimum": 1}
_TIME: Final[Schema] = {"type": "number", "description": "Seconds from the scenario's zero."}
_TIME_OR_NULL: Final[Schema] = {**_TIME, "type": ["number", "null"]}
_INSTANCE_SECONDS: Final[Schema] = {"type": "number", "minimum": 0, "description": "Instances times seconds."}
_OPENED: Final[Schema] = {"type": "array", "items": TEXT, "description": "Choices that were answered in every way."}
_DEPENDS_ON: Final[Schema] = {
    "type": "array",
    "items": TEXT,
    "description": "Open choices of which another answer could change it.",
}
_VERDICTS: Final = ("holds", "fails", "depends", "undecided")


def result_schema() -> Schema:
    """The schema of the JSON that the commands write; draft 2020-12."""
    return {
        "title": "Result",
        "description": "What --format json and --json write. Times are seconds from the scenario's zero.",
        "type": "object",
        "oneOf": [
            {"$ref": f"#/$defs/{name}"}
            for name in (
                "check",
                "simulation",
                "verification",
                "verifications",
                "proof",
                "explanation",
                "replay",
                "sweep",
                "suggestion",
                "comparison",
                "drift",
                "watch",
                "conformance",
            )
        ],
        "$defs": {
            "check": _check(),
            "simulation": _run("simulate", {"type": "null", "description": "Nothing is judged."}),
            "verification": _run("verify", _enum(*_VERDICTS), opened=True),
            "proof": _proof(),
            "verifications": _verifications(),
            "explanation": _explanation(),
            "replay": _replay(),
            "sweep": _sweep(),
            "suggestion": _suggestion(),
            "comparison": _comparison(),
            "drift": drift_schema(),
            "watch": watch_schema(),
            "conformance": conformance_schema(),
            "policy": _policy(),
            "choices": _choices(),
            "rests_on": _rests_on(),
            "expectation": object_of(_expectation()),
            "job": _job(),
            "event": _event(),
            "share": _share(),
            "guarantee": _guarantee(),
            "preemption": _preemption(),
            "finding": _finding(),
            "chapter": _chapter(),
            "diagnosis": _diagnosis(),
            "reason": _reason(),
            "victims": _victims(),
        },
    }


def _list(name: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def _enum(*values: str | None) -> Schema:
    return {"enum": list(values)}


def _words(kinds: type[StrEnum], *more: None) -> Schema:
    return _enum(*(kind.value for kind in kinds), *more)


def _head(command: str, verdict: Schema) -> Schema:
    return {
        "schema": {"const": SCHEMA},
        "command": {"const": command},
        "policy": {"$ref": "#/$defs/policy"},
        "choices": {"$ref": "#/$defs/choices"},
        "verdict": verdict,
    }


def _tail() -> Schema:
    return {"rests_on": {"$ref": "#/$defs/rests_on"}}


# --- what a command writes -----------------------------------------------------------------------


def _check() -> Schema:
    queue = object_of({"name": TEXT, "not_reckoned": TEXT_OR_NULL}, "not_reckoned: why there are no guarantees.")
    return object_of(
        {
            **_head("check", _enum("holds", "fails")),
            "queues": {"type": "array", "items": queue},
            "guarantees": _list("guarantee"),
            "preemption": {**_list("preemption"), "description": "Who can stop whose jobs."},
            "findings": _list("finding"),
            **_tail(),
        }
    )


def _run(command: str, verdict: Schema, *, opened: bool = False) -> Schema:
    return object_of(
        {
            **_head(command, verdict),
            **({"open_choices": _OPENED} if opened else {}),
            "scenario": {"type": "string", "description": "The scenario's file."},
            "expectations": _list("expectation"),
            "jobs": _list("job"),
            "events": _list("event"),
            "shares": _list("share"),
            **_tail(),
        }
    )


def _proof() -> Schema:
    numbers = {"type": "array", "items": COUNT, "minItems": 1}
    workloads = object_of(
        {
            "jobs": {**COUNT, "description": "At most so many."},
            "sizes": {**numbers, "description": "Instances of a job."},
            "priorities": numbers,
        }
    )
    return object_of(
        {
            **_head("verify", _enum(*_VERDICTS)),
            "open_choices": _OPENED,
            "workloads": workloads,
            "expectations": {**_list("expectation"), "minItems": 1, "maxItems": 1},
            **_tail(),
        },
        "Of a property over every workload: verify without a scenario.",
    )


def _verifications() -> Schema:
    return object_of(
        {
            "schema": {"const": SCHEMA},
            "command": {"const": "verify"},
            "verdict": {**_enum(*_VERDICTS), "description": "The worst of all."},
            "expectations": {"type": "array", "items": object_of({"scenario": TEXT, **_expectation()})},
            "scenarios": {**_list("verification"), "minItems": 2},
        },
        "Of several scenarios.",
    )


def _explanation() -> Schema:
    return object_of(
        {
            **_head("explain", {"type": "null", "description": "Nothing is judged."}),
            "scenario": {"type": "string", "description": "The scenario's file."},
            "job": TEXT,
            "at": {**_TIME_OR_NULL, "description": "The time that was asked about; null: the whole life."},
            "state": TEXT,
            "answer": TEXT,
            "depends_on": _DEPENDS_ON,
            "chapters": {**_list("chapter"), "minItems": 1},
            **_tail(),
        }
    )


def _replay() -> Schema:
    return object_of(
        {
            **_head("replay", {"type": "null", "description": "Nothing is judged."}),
            "expectations": {"type": "array", "maxItems": 0},
            "jobs": _list("job"),
            "shares": _list("share"),
            **replay_properties(),
            **_tail(),
        },
        "Times are seconds from the first submission of the history.",
    )


def _sweep() -> Schema:
    return object_of(
        {
            "schema": {"const": SCHEMA},
            "command": {"const": "sweep"},
            "choices": {"$ref": "#/$defs/choices"},
            "verdict": {"type": "null", "description": "Nothing is judged."},
            **sweep_properties(),
            **_tail(),
        },
        "Of many replays.",
    )


def _comparison() -> Schema:
    verdict = {"enum": ["holds", "fails", None], "description": "By --fail-on; null: not asked, or not to be said."}
    return object_of({**_head("compare", verdict), **comparison_properties(), **_tail()}, "Times are seconds.")


def _suggestion() -> Schema:
    return object_of(
        {
            "schema": {"const": SCHEMA},
            "command": {"const": "suggest"},
            "choices": {"$ref": "#/$defs/choices"},
            "verdict": _enum("holds", "fails"),
            **suggestion_properties(),
            **_tail(),
        },
        "Limits that meet goals, or come nearest: suggest.",
    )


# --- its parts -----------------------------------------------------------------------------------


def _policy() -> Schema:
    return object_of(
        {
            "source": {"type": "string", "description": "POLICY as it was given."},
            "queue": {"type": ["string", "null"], "description": "null: it has no name, or there are several."},
            "read_as": {"type": "string", "description": "What the source was taken for."},
        }
    )


def _choices() -> Schema:
    answers: Schema = {}
    for field in fields(Choices):
        choice = BY_NAME[field.name]
        answers[field.name] = {"type": "integer"} if choice.is_number else _enum(*choice.answers)
    return object_of(answers, "The answer to every choice that AWS leaves open.")


def _rests_on() -> Schema:
    times: Schema = {field.name: {"type": ["number", "null"], "minimum": 0} for field in fields(Timing)}
    rests_on = object_of(
        {
            "choices": {"$ref": "#/$defs/choices"},
            **times,
            "engine": {"type": "string", "description": "Version of policy-engine."},
            "live_service_consulted": {"type": "boolean"},
        },
        "Times in seconds; they are left out where nothing was run.",
    )
    return {**rests_on, "required": [key for key in rests_on["required"] if key not in times]}


def _expectation() -> Schema:
    names = {"type": "array", "items": TEXT}
    return {
        "name": TEXT,
        "verdict": _enum(*_VERDICTS),
        "depends_on": {**names, "description": "Of `depends`: the open choices that it hinges on."},
        "message": TEXT,
        "note": {"type": ["string", "null"], "description": "What a timed verdict takes for granted."},
        "because": TEXT_OR_NULL,
        "rests_on": {
            "type": ["array", "null"],
            "items": TEXT,
            "description": "Open choices of which another answer alone changes the verdict; null: not looked into.",
        },
        "file": TEXT_OR_NULL,
        "line": _LINE,
        "looked_at": {"type": ["string", "null"], "description": "Of --all-choices: states, depth, reductions."},
        "counterexample": {
            "type": ["object", "null"],
            "required": ["expect"],
            "description": "Of --all-choices: a scenario file, on which the expectation fails.",
        },
    }


def _job() -> Schema:
    attempt = object_of(
        {
            "scheduled": _TIME,
            "stopped": _TIME_OR_NULL,
            "ended_by": _words(Why, None),
            "by": {"type": ["string", "null"], "description": "The job it was preempted for."},
            "lost_seconds": SECONDS,
        }
    )
    return object_of(
        {
            "name": TEXT,
            "share": TEXT,
            "state": _enum("SUBMITTED", "RUNNABLE", "SCHEDULED", "STARTING", "RUNNING", "SUCCEEDED", "FAILED"),
            "reason": {"type": ["string", "null"], "description": "AWS's own status reason."},
            "submitted": _TIME,
            "first_started": _TIME_OR_NULL,
            "finished": _TIME_OR_NULL,
            "wait_seconds": {"type": ["number", "null"], "minimum": 0, "description": "null: it never started."},
            "requeued_seconds": SECONDS,
            "attempts": {"type": "array", "items": attempt},
            "preemptions": COUNT,
            "lost_instance_seconds": _INSTANCE_SECONDS,
        }
    )


def _event() -> Schema:
    usage = {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": COUNT}}
    return object_of(
        {
            "at": _TIME,
            "kind": _words(Kind),
            "job": TEXT_OR_NULL,
            "share": TEXT_OR_NULL,
            "by": {"type": ["string", "null"], "description": "The job it was preempted for."},
            "why": _words(Why, None),
            "reason": {"type": ["string", "null"], "description": "AWS's own status reason."},
            "usage": {**usage, "description": "Instances by type, just after it, of the shares that changed."},
        }
    )


def _share() -> Schema:
    waits = object_of({"mean": SECONDS, "p50": SECONDS, "p95": SECONDS, "max": SECONDS})
    return object_of(
        {
            "name": TEXT,
            "unit": {"type": "string", "description": "Instance type."},
            "limit": COUNT,
            "busy_instance_seconds": _INSTANCE_SECONDS,
            "borrowed_instance_seconds": _INSTANCE_SECONDS,
            "lent_instance_seconds": _INSTANCE_SECONDS,
            "peak_usage": COUNT,
            "peak_borrowed": COUNT,
            "wait_seconds": {"anyOf": [waits, {"type": "null"}], "description": "To the first start; nearest rank."},
            "never_started": COUNT,
            "requeued_seconds": SECONDS,
            "preemptions_suffered": COUNT,
            "preemptions_caused": COUNT,
            "lost_instance_seconds": _INSTANCE_SECONDS,
            "caused_lost_instance_seconds": _INSTANCE_SECONDS,
        }
    )


def _guarantee() -> Schema:
    instances = ("limit", "guaranteed", "reachable", "lendable", "at_risk", "largest_job")
    return object_of(
        {
            "queue": TEXT,
            "share": TEXT,
            "unit": TEXT,
            **dict.fromkeys(instances, COUNT),
            "larger_jobs": object_of({"rule": TEXT, "reason": TEXT}, "What keeps a larger job from ever running."),
            "most_evicted": object_of(
                {"across_shares": COUNT, "within_share": COUNT}, "Most instances that one arrival stops."
            ),
            "reclaimed_after": _enum("stop_seconds", "at once"),
        }
    )


def _preemption() -> Schema:
    keys = ("queue", "share", "takes_from", "unit")
    return object_of({**dict.fromkeys(keys, TEXT), "kind": _words(Preempting), "why": TEXT})


def _finding() -> Schema:
    return object_of(
        {
            "id": {"type": "string", "pattern": "^QM[0-9]{3}$"},
            "severity": _words(Severity),
            "message": TEXT,
            "why": TEXT,
            "remedy": TEXT,
            "source": {"type": "string", "description": "AWS's page."},
            **dict.fromkeys(("queue", "share", "unit", "resource", "construct", "file"), TEXT_OR_NULL),
            "line": _LINE,
            "column": _LINE,
            "key": TEXT,
            "ignored_because": TEXT_OR_NULL,
        }
    )


def _chapter() -> Schema:
    return object_of(
        {
            "what": _words(What),
            "at": _TIME,
            "until": {**_TIME_OR_NULL, "description": "null: to the end of the run; of a moment, the same as at."},
            "state": {"type": ["string", "null"], "description": "AWS's state; null for a moment."},
            "message": TEXT,
            "reasons": _list("reason"),
            "diagnosis": {"anyOf": [{"$ref": "#/$defs/diagnosis"}, {"type": "null"}], "description": "Of a wait."},
            "victims": {"anyOf": [{"$ref": "#/$defs/victims"}, {"type": "null"}], "description": "Of a preemption."},
        }
    )


def _diagnosis() -> Schema:
    return object_of(
        {
            "job": TEXT,
            "waits": {"$ref": "#/$defs/reason", "description": "The first rule that stands in the way."},
            "not_stopped": {**_list("reason"), "description": "Why nobody is stopped for it."},
            "further": _list("reason"),
            "ahead": {
                "anyOf": [{"$ref": "#/$defs/diagnosis"}, {"type": "null"}],
                "description": "Why the job before it in line waits.",
            },
        }
    )


def _reason() -> Schema:
    counts = {"type": "object", "additionalProperties": COUNT}
    return object_of(
        {
            "because": _words(Because),
            "about": _words(About, None),
            "rule": TEXT,
            "source": {"type": "string", "description": "AWS's page; empty where there is none."},
            "message": TEXT,
            "unit": {"type": ["string", "null"], "description": "Instance type."},
            "numbers": {"type": "object", "additionalProperties": {"type": "number"}},
            "shares": {"type": "object", "additionalProperties": counts},
            "jobs": {"type": "array", "items": TEXT},
            "reason": {"type": ["string", "null"], "description": "AWS's own status reason."},
            "depends_on": _DEPENDS_ON,
        }
    )


def _victims() -> Schema:
    counts = {"type": "object", "additionalProperties": COUNT}
    candidate = object_of(
        {
            "job": TEXT,
            "share": TEXT,
            "priority": COUNT,
            "instances": counts,
            "started": _TIME,
            "excess": {**counts, "description": "How far its share is above its limit when its turn comes."},
            "fate": _words(Fate),
            "before": {"type": ["string", "null"], "description": "What put it before the next one."},
        }
    )
    return object_of(
        {
            "by": {"type": "string", "description": "The job that others are stopped for."},
            "share": TEXT,
            "why": {**_words(Why, None), "description": "null: of both kinds."},
            "order": {"type": "string", "description": "The answer to C8, or decisions."},
            "went_on": {"type": "boolean", "description": "The walk in order found no legal set at first."},
            "unit": TEXT,
            "needed": COUNT,
            "room": COUNT,
            "reason": {"type": ["string", "null"], "description": "AWS's own status reason."},
            "depends_on": _DEPENDS_ON,
            "candidates": {"type": "array", "items": candidate, "description": "In the order in which they come."},
        }
    )
