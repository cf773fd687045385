"""What the JSON of every result begins and ends with, whatever the command."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, Final

from policy_engine._version import __version__
from policy_engine.scheduler.choices import Choices
from policy_engine.scheduler.jobs import Timing
from policy_engine.sources import Source

SCHEMA: Final = "policy-engine/1"
"""Name and version of the format: new keys may come, those that are there stay."""


def head(command: str, source: Source, queue: str | None) -> dict[str, Any]:
    """What every result begins with."""
    policy = {"source": source.name, "queue": queue, "read_as": source.description}
    return {"schema": SCHEMA, "command": command, "policy": policy}


def basis(answers: Choices, timing: Timing | None, *sources: Source) -> dict[str, Any]:
    """What every result ends with: what it rests on; ``sources``: where the policies come from."""
    asked = any(source.is_live for source in sources)
    times = {} if timing is None else asdict(timing)
    return {"rests_on": {"choices": choices(answers), **times, "engine": __version__, "live_service_consulted": asked}}


def choices(answers: Choices) -> dict[str, Any]:
    """The answer to every open choice but the times."""
    return asdict(answers)
