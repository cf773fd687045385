"""Shows a counterexample: as a scenario file that replays, and drawn step by step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, Final

import yaml

from policy_engine.exploration.counterexample import Counterexample
from policy_engine.outcome.drawing import drawing, lines
from policy_engine.policy import WrittenFloat, WrittenInt
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import (
    DeleteShare,
    Exit,
    Job,
    Terminate,
    Timing,
    Update,
    UpdatePriority,
    UpdateQueue,
    UpdateServiceEnvironment,
    UpdateShare,
)
from policy_engine.workload.durations import duration_text

_VERBS: Final[Mapping[type[Update], str]] = {
    UpdatePriority: "update_priority",
    Terminate: "terminate",
    UpdateShare: "update_share",
    DeleteShare: "delete_share",
    UpdateServiceEnvironment: "update_service_environment",
    UpdateQueue: "update_queue",
}


def scenario_data(found: Counterexample, wanted: Mapping[str, Any], queue: str | None) -> dict[str, Any]:
    """The scenario file of a counterexample, as data; ``wanted`` is the expectation as its file has it."""
    workload = found.workload
    data: dict[str, Any] = {"queue": queue} if queue is not None else {}
    data |= {
        "choices": _not_default(found.choices, Choices()),
        "timing": _not_default(workload.timing, Timing()),
        "running": [_job(job) for job in workload.jobs if job.started is not None],
        "jobs": [_job(job) for job in workload.jobs if job.started is None],
        "events": [_event(update) for update in workload.updates],
        "decisions": [
            {"at": decision.at, "job": decision.job} | ({"victims": [*decision.victims]} if decision.victims else {})
            for decision in found.decisions
        ],
    }
    data = {key: value for key, value in data.items() if value}
    until = {} if workload.until is None else {"until": workload.until}
    return data | until | {"expect": [dict(wanted)]}


class _Dumper(yaml.SafeDumper):
    """Writes numbers as they were written, and whole ones without a point."""


def _as_written(dumper: yaml.SafeDumper, value: WrittenInt | WrittenFloat) -> yaml.ScalarNode:
    kind = "int" if isinstance(value, int) else "float"
    return dumper.represent_scalar(f"tag:yaml.org,2002:{kind}", value.text)


def _number(dumper: yaml.SafeDumper, value: float) -> yaml.ScalarNode:
    return dumper.represent_int(int(value)) if value.is_integer() else dumper.represent_float(value)


_Dumper.add_representer(WrittenInt, _as_written)
_Dumper.add_representer(WrittenFloat, _as_written)
_Dumper.add_representer(float, _number)


def scenario_text(data: Mapping[str, Any]) -> str:
    """The same as YAML."""
    return yaml.dump(dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=110)


def _not_default(value: Any, default: Any) -> dict[str, Any]:
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(default, name)}


def _job(job: Job) -> dict[str, Any]:
    data: dict[str, Any] = {"name": job.name, "share": job.share}
    groups = [{"instance_type": unit, "instance_count": count} for unit, count in job.demand.items()]
    data |= groups[0] if len(groups) == 1 else {"instance_groups": groups}
    given = {
        "priority": job.priority,
        "duration": job.duration,
        "preemption_retries": job.preemption_retries,
        "timeout": job.timeout,
        "checkpoint_every": job.checkpoint_every,
        "started": job.started,
        "submit": job.submit if job.started is None and job.submit else None,
        "attempts": job.attempts if job.attempts > 1 else None,
        "exit": str(job.exit) if job.exit is not Exit.SUCCEEDED else None,
    }
    return data | {key: value for key, value in given.items() if value is not None}


def _event(update: Update) -> dict[str, Any]:
    values = {field.name: getattr(update, field.name) for field in fields(update) if field.name != "at"}
    values = {name: dict(value) if isinstance(value, Mapping) else value for name, value in values.items()}
    return {"at": update.at, _VERBS[type(update)]: {name: v for name, v in values.items() if v is not None}}


def drawn(found: Counterexample) -> list[str]:
    """What happens at each instant, and the instances of each share before and after it, as lines of text."""
    return lines(drawing(replace(found.run, policy=found.policy)), duration_text)


def stories(found: Counterexample) -> Iterator[str]:
    """The moves that the choices alone would not have made."""
    for decision in found.decisions:
        victims = f", and {', '.join(decision.victims)} stopped for it" if decision.victims else ""
        yield f"at {duration_text(decision.at)} {decision.job} is next{victims}"
