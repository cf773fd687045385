"""The JSON Schema of what ``replay`` writes."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from policy_engine.outcome.measures import JobMeasures, PairMeasures
from policy_engine.replaying import Cost, Fidelity, Spread
from policy_engine.report.replay_data import SPREAD
from policy_engine.scheduler.bounds import Rule

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[Schema] = {"type": ["string", "null"]}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
_NUMBER: Final[Schema] = {"type": "number"}
_SECONDS: Final[Schema] = {"type": "number", "minimum": 0}
_SECONDS_OR_NULL: Final[Schema] = {"type": ["number", "null"], "minimum": 0}
_PART: Final[Schema] = {"type": ["number", "null"], "minimum": 0, "description": "1 is all of it; null: of nothing."}
_FLAG: Final[Schema] = {"type": "boolean"}


def replay_properties() -> Schema:
    """What a replay has beside head, jobs, shares and tail. Times are seconds from the first submission."""
    return {
        "history": _object(
            {**_history(), "replayed": {**_COUNT, "description": "Jobs that the policy has a place for."}}
        ),
        "remarks": _remarks(),
        "measured": _object({"from": _SECONDS, "to": _SECONDS}, "Without the warm-up."),
        "queue": _queue(),
        "share_totals": _list(_share(), "Every share, all its instance types together."),
        "sizes": _list({"share": {**_TEXT_OR_NULL, "description": "null: of all."}, "demand": _demand(), **_jobs()}),
        "preemptions": _list(
            {field.name: _TEXT if field.type == "str" else _SECONDS for field in fields(PairMeasures)},
            "How often jobs of one share stopped jobs of another, or of their own.",
        ),
        "never_run": _never_run(),
        "worst_waits": _list(
            {
                "name": _TEXT,
                "share": _TEXT,
                "demand": _demand(),
                "submitted": _SECONDS,
                "wait_seconds": {**_SECONDS, "description": "To the first start, or the end of the run."},
                "requeued_seconds": _SECONDS,
                "started": _FLAG,
            }
        ),
        "fidelity": _or_null(
            _object({field.name: _PART if field.name == "deviation" else _SECONDS for field in fields(Fidelity)})
        ),
        "baselines": _baselines(),
        "shaken": _shaken(),
        "costs": _costs(),
    }


def sweep_properties() -> Schema:
    """What a sweep has beside schema, command, choices, verdict and tail."""
    run = {
        "policy": _TEXT,
        "history": _TEXT,
        "copy": {**_COUNT, "description": "0: the history as recorded; others are its perturbed copies."},
        "measured": _object({"from": _SECONDS, "to": _SECONDS}, "Without the warm-up."),
        "never_run": {**_COUNT, "description": "Jobs too large for their share, or for the queue."},
        "left_out": {**_COUNT, "description": "Jobs that the policy has no place for, beside them."},
        "queue": _queue(),
        "share_totals": _list(_share(), "Every share, all its instance types together."),
    }
    return {
        "policies": _list({"name": _TEXT, "queue": _TEXT_OR_NULL, "read_as": _TEXT}),
        "histories": _list({"name": _TEXT, **_history(), "remarks": _remarks()}),
        "warm_up": _SECONDS,
        "copies": {**_COUNT, "description": "Perturbed copies of each history."},
        "seed": {"type": "integer"},
        "moved_by_up_to_seconds": _SECONDS,
        "runs": _list(run, "Policy by policy, of each history by history, the recorded one before its copies."),
    }


def suggestion_properties() -> Schema:
    """What a suggestion has beside schema, command, choices, verdict and tail."""
    counts = {"type": "object", "additionalProperties": _COUNT}
    share = {
        "name": _TEXT,
        "capacity_limits": {**counts, "description": "Instance type to instances."},
        "borrow_limit": {"type": "integer", "minimum": -1, "description": "Percent; -1: unlimited."},
        "wait_p95": {**_SECONDS_OR_NULL, "description": "null: jobs of it never started."},
    }
    point = {
        "instances": _COUNT,
        "by_unit": counts,
        "price_per_hour": {"type": ["number", "null"], "description": "null: no prices were given."},
        "is_met": _FLAG,
        "missed": {"type": "array", "items": _TEXT, "description": "Teams, or lost work."},
        "worst": _object({"goal": _TEXT, "part": _PART}, "What is had by what is asked; above 1 it is missed."),
        "mean_wait_seconds": _SECONDS_OR_NULL,
        "lost_hours": {**_SECONDS_OR_NULL, "description": "Instance-hours."},
        "shares": _list(share),
    }
    seconds_by_team = {"type": "object", "additionalProperties": _SECONDS}
    return {
        "history": _object(_history()),
        "remarks": _remarks(),
        "environment": counts,
        "goals": _object({"wait_p95": seconds_by_team, "lost_hours": _SECONDS_OR_NULL}),
        "policy": {"type": "object", "description": "Of the answer, as a policy document."},
        "answer": _object(point),
        "frontier": _list(point, "What fewer and more instances come to, the cheapest first."),
        "misses_alone": {
            **seconds_by_team,
            "description": "Teams that miss their goal with the whole environment to themselves, and their p95 then.",
        },
        "copies": _list(point, "The answer on perturbed copies of the history."),
        "seed": {"type": "integer"},
        "replays": {**_COUNT, "description": "Made by the search."},
        "search_ended_early": {**_FLAG, "description": "For want of replays."},
        "warm_up": _SECONDS,
    }


def _history() -> Schema:
    return {
        "source": _TEXT,
        "read_as": _TEXT,
        "jobs": {**_COUNT, "description": "Read."},
        "left_out": {**_COUNT, "description": "By the reader."},
        "span_seconds": _SECONDS,
        "zero": {**_NUMBER, "description": "The first submission, as the file counts."},
        "zero_date": {**_TEXT_OR_NULL, "description": "The same as a date, where the file has dates."},
    }


def _remarks() -> Schema:
    return _list(
        {
            "reason": _TEXT,
            "subject": _TEXT_OR_NULL,
            "jobs": _COUNT,
            "places": {"type": "array", "items": _TEXT, "description": "The first few."},
            "left_out": {**_FLAG, "description": "false: they are there, read as the reason says."},
        }
    )


def _object(properties: Schema, description: str = "") -> Schema:
    said = {"description": description} if description else {}
    return {
        "type": "object",
        **said,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _list(properties: Schema, description: str = "") -> Schema:
    return {"type": "array", "items": _object(properties, description)}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _demand() -> Schema:
    return {"type": "object", "additionalProperties": _COUNT, "description": "Instance type to instances."}


def _waits() -> Schema:
    return _or_null(_object(dict.fromkeys(("mean", "p50", "p95", "max"), _SECONDS)))


def _jobs() -> Schema:
    return {field.name: _waits() if field.name == "wait_seconds" else _SECONDS for field in fields(JobMeasures)}


def _lost() -> Schema:
    return dict.fromkeys(("instance_seconds", "without_checkpoints", "with_checkpoints"), _SECONDS)


def _queue() -> Schema:
    seconds = ("capacity_instance_seconds", "busy_instance_seconds", "borrowed_instance_seconds")
    unit = {"unit": _TEXT, **dict.fromkeys((*seconds, "lost_instance_seconds"), _SECONDS), "utilization": _PART}
    return _object(
        {
            **_jobs(),
            "utilization": _PART,
            "utilization_to_last_submission": _PART,
            "evicted_per_requested": {**_PART, "description": "Instances stopped per instance asked for."},
            "borrowed_instance_seconds": _SECONDS,
            "lost_instance_seconds": _object({**_lost(), "checkpoint_seconds": _SECONDS}),
            "units": _list(unit),
        }
    )


def _share() -> Schema:
    return {
        "name": _TEXT,
        **_jobs(),
        "reclaim_seconds": {**_waits(), "description": "Waits of jobs that were first in line, inside the own limit."},
        **dict.fromkeys(("reclaims", "preemptions_caused", "instances_claimed", "instances_evicted"), _COUNT),
        "lost": _object(_lost(), "Instance-seconds."),
        **dict.fromkeys(
            (
                "caused_lost_instance_seconds",
                "busy_instance_seconds",
                "borrowed_instance_seconds",
                "lent_instance_seconds",
                "short_seconds",
            ),
            _SECONDS,
        ),
        "entitlement_while_short": {
            **_PART,
            "description": "Instances by the own limit, while any of its jobs waited.",
        },
        "evicted_per_requested": _PART,
    }


def _never_run() -> Schema:
    rules = {"enum": [rule.value for rule in Rule]}
    counts = dict.fromkeys(("allowed", "largest"), _COUNT)
    in_run = {**_FLAG, "description": "false: set aside, as nothing would end it."}
    named = {"name": _TEXT, "share": _TEXT, "demand": _demand()}
    return _list({**named, "rule": rules, "reason": _TEXT, "unit": _TEXT, **counts, "in_run": in_run})


def _baselines() -> Schema:
    team = {"name": _TEXT, **_jobs()}
    seconds = dict.fromkeys(("borrowed_instance_seconds", "lost_instance_seconds"), _SECONDS)
    properties = {"name": _TEXT, **_jobs(), "never_run": _COUNT, "utilization": _PART, **seconds}
    properties |= {"costs": _costs(), "teams": _list(team)}
    return _or_null(_list(properties, "The same jobs under another policy."))


def _shaken() -> Schema:
    spread = _or_null(_object({"unperturbed": _SECONDS_OR_NULL, **{field.name: _SECONDS for field in fields(Spread)}}))
    return _or_null(
        _object(
            {
                "replays": _COUNT,
                "seed": {"type": "integer"},
                "moved_by_up_to_seconds": _SECONDS,
                "queue": _object(dict.fromkeys(SPREAD, spread)),
                "wait_p95_by_share": {"type": "object", "additionalProperties": spread},
            }
        )
    )


def _costs() -> Schema:
    cost = {field.name: _SECONDS for field in fields(Cost)}
    properties = {
        "capacity": _SECONDS,
        "idle": _NUMBER,
        "queue": _object(cost),
        "shares": _list({"name": _TEXT, **cost}),
    }
    return _or_null(_object(properties, "In the currency of the prices."))
