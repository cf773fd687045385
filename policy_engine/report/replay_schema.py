"""The JSON Schema of what ``replay`` writes."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from policy_engine.outcome.measures import JobMeasures, PairMeasures
from policy_engine.replaying import Cost, Fidelity, Spread
from policy_engine.report.replay_data import SPREAD
from policy_engine.report.schema_parts import (
    COUNT,
    FLAG,
    SECONDS,
    SECONDS_OR_NULL,
    TEXT,
    TEXT_OR_NULL,
    Schema,
    list_of,
    object_of,
    or_null,
)
from policy_engine.scheduler.bounds import Rule

_NUMBER: Final[Schema] = {"type": "number"}
_PART: Final[Schema] = {"type": ["number", "null"], "minimum": 0, "description": "1 is all of it; null: of nothing."}


def replay_properties() -> Schema:
    """What a replay has beside head, jobs, shares and tail. Times are seconds from the first submission."""
    return {
        "history": object_of(
            {**_history(), "replayed": {**COUNT, "description": "Jobs that the policy has a place for."}}
        ),
        "remarks": _remarks(),
        "measured": object_of({"from": SECONDS, "to": SECONDS}, "Without the warm-up."),
        "queue": _queue(),
        "share_totals": list_of(_share(), "Every share, all its instance types together."),
        "sizes": list_of({"share": {**TEXT_OR_NULL, "description": "null: of all."}, "demand": _demand(), **_jobs()}),
        "preemptions": list_of(
            {field.name: TEXT if field.type == "str" else SECONDS for field in fields(PairMeasures)},
            "How often jobs of one share stopped jobs of another, or of their own.",
        ),
        "never_run": _never_run(),
        "worst_waits": list_of(
            {
                "name": TEXT,
                "share": TEXT,
                "demand": _demand(),
                "submitted": SECONDS,
                "wait_seconds": {**SECONDS, "description": "To the first start, or the end of the run."},
                "requeued_seconds": SECONDS,
                "started": FLAG,
            }
        ),
        "fidelity": or_null(
            object_of({field.name: _PART if field.name == "deviation" else SECONDS for field in fields(Fidelity)})
        ),
        "baselines": _baselines(),
        "shaken": _shaken(),
        "costs": _costs(),
    }


def sweep_properties() -> Schema:
    """What a sweep has beside schema, command, choices, verdict and tail."""
    run = {
        "policy": TEXT,
        "history": TEXT,
        "copy": {**COUNT, "description": "0: the history as recorded; others are its perturbed copies."},
        "measured": object_of({"from": SECONDS, "to": SECONDS}, "Without the warm-up."),
        "never_run": {**COUNT, "description": "Jobs too large for their share, or for the queue."},
        "left_out": {**COUNT, "description": "Jobs that the policy has no place for, beside them."},
        "queue": _queue(),
        "share_totals": list_of(_share(), "Every share, all its instance types together."),
    }
    return {
        "policies": list_of({"name": TEXT, "queue": TEXT_OR_NULL, "read_as": TEXT}),
        "histories": list_of({"name": TEXT, **_history(), "remarks": _remarks()}),
        "warm_up": SECONDS,
        "copies": {**COUNT, "description": "Perturbed copies of each history."},
        "seed": {"type": "integer"},
        "moved_by_up_to_seconds": SECONDS,
        "runs": list_of(run, "Policy by policy, of each history by history, the recorded one before its copies."),
    }


def suggestion_properties() -> Schema:
    """What a suggestion has beside schema, command, choices, verdict and tail."""
    counts = {"type": "object", "additionalProperties": COUNT}
    share = {
        "name": TEXT,
        "capacity_limits": {**counts, "description": "Instance type to instances."},
        "borrow_limit": {"type": "integer", "minimum": -1, "description": "Percent; -1: unlimited."},
        "wait_p95": {**SECONDS_OR_NULL, "description": "null: jobs of it never started."},
    }
    point = {
        "instances": COUNT,
        "by_unit": counts,
        "price_per_hour": {"type": ["number", "null"], "description": "null: no prices were given."},
        "is_met": FLAG,
        "missed": {"type": "array", "items": TEXT, "description": "Teams, or lost work."},
        "worst": object_of({"goal": TEXT, "part": _PART}, "What is had by what is asked; above 1 it is missed."),
        "mean_wait_seconds": SECONDS_OR_NULL,
        "lost_hours": {**SECONDS_OR_NULL, "description": "Instance-hours."},
        "shares": list_of(share),
    }
    seconds_by_team = {"type": "object", "additionalProperties": SECONDS}
    return {
        "history": object_of(_history()),
        "remarks": _remarks(),
        "environment": counts,
        "goals": object_of({"wait_p95": seconds_by_team, "lost_hours": SECONDS_OR_NULL}),
        "policy": {"type": "object", "description": "Of the answer, as a policy document."},
        "answer": object_of(point),
        "frontier": list_of(point, "What fewer and more instances come to, the cheapest first."),
        "misses_alone": {
            **seconds_by_team,
            "description": "Teams that miss their goal with the whole environment to themselves, and their p95 then.",
        },
        "copies": list_of(point, "The answer on perturbed copies of the history."),
        "seed": {"type": "integer"},
        "replays": {**COUNT, "description": "Made by the search."},
        "search_ended_early": {**FLAG, "description": "For want of replays."},
        "warm_up": SECONDS,
    }


def _history() -> Schema:
    return {
        "source": TEXT,
        "read_as": TEXT,
        "jobs": {**COUNT, "description": "Read."},
        "left_out": {**COUNT, "description": "By the reader."},
        "span_seconds": SECONDS,
        "zero": {**_NUMBER, "description": "The first submission, as the file counts."},
        "zero_date": {**TEXT_OR_NULL, "description": "The same as a date, where the file has dates."},
    }


def _remarks() -> Schema:
    return list_of(
        {
            "reason": TEXT,
            "subject": TEXT_OR_NULL,
            "jobs": COUNT,
            "places": {"type": "array", "items": TEXT, "description": "The first few."},
            "left_out": {**FLAG, "description": "false: they are there, read as the reason says."},
        }
    )


def _demand() -> Schema:
    return {"type": "object", "additionalProperties": COUNT, "description": "Instance type to instances."}


def _waits() -> Schema:
    return or_null(object_of(dict.fromkeys(("mean", "p50", "p95", "max"), SECONDS)))


def _jobs() -> Schema:
    return {field.name: _waits() if field.name == "wait_seconds" else SECONDS for field in fields(JobMeasures)}


def _lost() -> Schema:
    return dict.fromkeys(("instance_seconds", "without_checkpoints", "with_checkpoints"), SECONDS)


def _queue() -> Schema:
    seconds = ("capacity_instance_seconds", "busy_instance_seconds", "borrowed_instance_seconds")
    unit = {"unit": TEXT, **dict.fromkeys((*seconds, "lost_instance_seconds"), SECONDS), "utilization": _PART}
    return object_of(
        {
            **_jobs(),
            "utilization": _PART,
            "utilization_to_last_submission": _PART,
            "evicted_per_requested": {**_PART, "description": "Instances stopped per instance asked for."},
            "borrowed_instance_seconds": SECONDS,
            "lost_instance_seconds": object_of({**_lost(), "checkpoint_seconds": SECONDS}),
            "units": list_of(unit),
        }
    )


def _share() -> Schema:
    return {
        "name": TEXT,
        **_jobs(),
        "reclaim_seconds": {**_waits(), "description": "Waits of jobs that were first in line, inside the own limit."},
        **dict.fromkeys(("reclaims", "preemptions_caused", "instances_claimed", "instances_evicted"), COUNT),
        "lost": object_of(_lost(), "Instance-seconds."),
        **dict.fromkeys(
            (
                "caused_lost_instance_seconds",
                "busy_instance_seconds",
                "borrowed_instance_seconds",
                "lent_instance_seconds",
                "short_seconds",
            ),
            SECONDS,
        ),
        "entitlement_while_short": {
            **_PART,
            "description": "Instances by the own limit, while any of its jobs waited.",
        },
        "evicted_per_requested": _PART,
    }


def _never_run() -> Schema:
    rules = {"enum": [rule.value for rule in Rule]}
    counts = dict.fromkeys(("allowed", "largest"), COUNT)
    in_run = {**FLAG, "description": "false: set aside, as nothing would end it."}
    named = {"name": TEXT, "share": TEXT, "demand": _demand()}
    return list_of({**named, "rule": rules, "reason": TEXT, "unit": TEXT, **counts, "in_run": in_run})


def _baselines() -> Schema:
    team = {"name": TEXT, **_jobs()}
    seconds = dict.fromkeys(("borrowed_instance_seconds", "lost_instance_seconds"), SECONDS)
    properties = {"name": TEXT, **_jobs(), "never_run": COUNT, "utilization": _PART, **seconds}
    properties |= {"costs": _costs(), "teams": list_of(team)}
    return or_null(list_of(properties, "The same jobs under another policy."))


def _shaken() -> Schema:
    spread = or_null(object_of({"unperturbed": SECONDS_OR_NULL, **{field.name: SECONDS for field in fields(Spread)}}))
    return or_null(
        object_of(
            {
                "replays": COUNT,
                "seed": {"type": "integer"},
                "moved_by_up_to_seconds": SECONDS,
                "queue": object_of(dict.fromkeys(SPREAD, spread)),
                "wait_p95_by_share": {"type": "object", "additionalProperties": spread},
            }
        )
    )


def _costs() -> Schema:
    cost = {field.name: SECONDS for field in fields(Cost)}
    properties = {
        "capacity": SECONDS,
        "idle": _NUMBER,
        "queue": object_of(cost),
        "shares": list_of({"name": TEXT, **cost}),
    }
    return or_null(object_of(properties, "In the currency of the prices."))
