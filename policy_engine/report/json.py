"""Results as the data of their JSON: times in seconds from the scenario's zero, whole numbers without a fraction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from policy_engine._version import __version__
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.sources import Source

Data = dict[str, Any]
SCHEMA = "policy-engine/1"


def text(data: Data) -> str:
    """The data as JSON, one key a line; what is not ASCII is escaped, so that nothing hides in it."""
    return json.dumps(_plain(data), indent=2) + "\n"


def _plain(value: Any) -> Any:
    """The value with numbers as short as they are exact to a microsecond."""
    if isinstance(value, float):
        rounded = round(value, 6)
        return int(rounded) if rounded.is_integer() else rounded
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def head(command: str, source: Source, queue: str | None) -> Data:
    """What every result begins with."""
    policy = {"source": source.name, "queue": queue, "read_as": source.description}
    return {"schema": SCHEMA, "command": command, "policy": policy}


def basis(answers: Choices, timing: Timing | None) -> Data:
    """What every result ends with: what it rests on."""
    times = {} if timing is None else asdict(timing)
    return {"rests_on": {"choices": choices(answers), **times, "engine": __version__, "live_service_consulted": False}}


def choices(answers: Choices) -> Data:
    """The answer to every open choice but the times."""
    return asdict(answers)
