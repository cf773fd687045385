"""``--map FILE``: how the words of a history become those of a policy."""

from __future__ import annotations

import math
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from policy_engine.policy import Declared, Priority, Text, Unit
from policy_engine.sources.reading import read
from policy_engine.sources.validation import validated

ANY: Final = "*"
"""Stands for every team, or priority word, that is not named."""


class TimeUnit(StrEnum):
    """What a number in a column of times or durations counts."""

    MILLISECONDS = "ms"
    SECONDS = "s"
    MINUTES = "m"
    HOURS = "h"

    @property
    def seconds(self) -> float:
        """Seconds in one of them."""
        return {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}[self.value]


def _gpus(value: object) -> object:
    """A number of GPUs; keys of a file are always text."""
    try:
        gpus = float(value) if isinstance(value, str) else math.nan
    except ValueError:
        gpus = math.nan
    if not 0 < gpus < math.inf:
        raise ValueError(f"{value!r} is not a number of GPUs above 0")
    return gpus


def _zone(value: str) -> str:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        what = "is not a time zone that this machine knows, such as UTC or America/Los_Angeles"
        raise ValueError(f"{value!r} {what}") from None
    return value


Gpus = Annotated[float, BeforeValidator(_gpus), WithJsonSchema({"type": "string"})]
Zone = Annotated[Text, AfterValidator(_zone)]


class HistoryMap(Declared):
    """How the words of a history become those of a policy. The empty one leaves everything as it is."""

    teams: dict[Text, Text | None] = Field(
        default_factory=dict,
        description='Team of the history to quota share; null leaves the team out; "*" is every other team.',
    )
    priorities: dict[Text, Priority] = Field(
        default_factory=dict, description='Queue, QOS or priority of the history to schedulingPriority; "*": any other.'
    )
    instances: dict[Gpus, Unit] = Field(
        default_factory=dict,
        description="GPUs to the instance type of jobs with up to so many; a job with more than the most gets as many"
        " of the largest as hold them.",
    )
    time_unit: TimeUnit | None = Field(
        default=None, description="What times and durations count: ms, s, m or h; absent: what the format says."
    )
    time_zone: Zone | None = Field(default=None, description="Of times that state none; absent: UTC.")

    def share(self, team: str) -> str | None:
        """The share of the team: of the same name where none is given; None where the team is left out."""
        if team in self.teams:
            return self.teams[team]
        return self.teams.get(ANY, team)

    def priority(self, word: str) -> int | None:
        """The priority of a queue, QOS or priority word; None where it is not given."""
        found = self.priorities.get(word)
        return self.priorities.get(ANY) if found is None else found

    @cached_property
    def sizes(self) -> list[tuple[float, str]]:
        """GPUs and instance type, the smallest first."""
        return sorted(self.instances.items())

    def demand(self, gpus: float) -> dict[str, int]:
        """Instance type to instances of a job of so many GPUs; only where ``instances`` are given."""
        for most, unit in self.sizes:
            if gpus <= most:
                return {unit: 1}
        most, unit = self.sizes[-1]
        return {unit: math.ceil(gpus / most)}


NO_MAP: Final = HistoryMap()
"""Teams are shares, and nothing else is translated."""


def load_map(path: str | Path) -> HistoryMap:
    """The map of a YAML or JSON file. Raises InputError with file, line, column and key."""
    return validated(read(path), HistoryMap)
