"""Times and durations as scenario files write them: ``90``, ``90s``, ``5m``, ``2h``, ``1d``, ``1h30m``."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import BeforeValidator, PlainValidator, WithJsonSchema

_SIZES: Final = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_NUMBER: Final = r"[0-9]+(?:\.[0-9]+)?"
_PARTS: Final = rf"{_NUMBER}|(?=[0-9]){''.join(rf'(?:{_NUMBER}{unit})?' for unit in _SIZES)}"
_WRITTEN: Final = re.compile(rf"-?(?:{_PARTS})")
_PART: Final = re.compile(rf"({_NUMBER})([dhms]?)")


def parse_duration(value: object) -> float:
    """Seconds of a time or duration; a number is seconds. Raises ValueError for what is neither."""
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    if not isinstance(value, str) or not _WRITTEN.fullmatch(value):
        raise ValueError(f"{value!r} is not a duration such as 90, 90s, 5m, 2h, 1d or 1h30m")
    seconds = sum(_SIZES[unit or "s"] * float(count) for count, unit in _PART.findall(value))
    if math.isinf(seconds):
        raise ValueError(f"{value!r} is too long a duration")
    return -seconds if value.startswith("-") else seconds


def duration_text(seconds: float) -> str:
    """The shortest text that ``parse_duration`` reads back: ``1h30m``, ``-1m``, ``0.5s``, ``0s``.

    Exact to a millisecond.
    """
    if seconds < 0:
        return f"-{duration_text(-seconds)}"
    milliseconds = round(seconds * 1000)
    parts = []
    for unit, size in _SIZES.items():
        if unit != "s":
            count, milliseconds = divmod(milliseconds, size * 1000)
            parts.append(f"{count}{unit}" if count else "")
    if milliseconds or not any(parts):
        parts.append(f"{milliseconds / 1000:.10g}s")
    return "".join(parts)


@dataclass(frozen=True, slots=True)
class Range:
    """Any value from ``least`` to ``most``: for ``verify --all-choices``."""

    least: float
    most: float


def _not_negative(value: object) -> float:
    seconds = parse_duration(value)
    if seconds < 0:
        raise ValueError(f"{value!r} is below zero; a duration of 0 or more is allowed")
    return seconds


def _positive(value: object) -> float:
    seconds = parse_duration(value)
    if seconds <= 0:
        raise ValueError(f"{value!r} is not above zero; a duration above 0 is allowed")
    return seconds


def _not_positive(value: object) -> float:
    seconds = parse_duration(value)
    if seconds > 0:
        raise ValueError(f"{value!r} is after the start of the run; a time of 0 or below is allowed, such as -60s")
    return seconds


def _with_range(one: Callable[[object], float]) -> Callable[[object], float | Range]:
    """Reads what ``one`` reads, or a range of it."""

    def read(value: object) -> float | Range:
        if not isinstance(value, list):
            return one(value)
        if len(value) != 2:
            raise ValueError(f"{len(value)} values; a range is two durations: [1h, 3h]")
        least, most = (one(end) for end in value)
        if least > most:
            raise ValueError(f"a range goes from its smaller end to its larger: [{value[1]}, {value[0]}]")
        return Range(least, most)

    return read


_TEXT_SCHEMA: Final = {"type": "string", "pattern": rf"^(?:{_PARTS})$"}
_SIGNED_TEXT_SCHEMA: Final = {"type": "string", "pattern": rf"^-?(?:{_PARTS})$"}
DURATION_SCHEMA: Final = {"anyOf": [{"type": "number", "minimum": 0}, _TEXT_SCHEMA]}
"""JSON Schema of a time or duration that is not below zero."""
_POSITIVE_SCHEMA: Final = {"anyOf": [{"type": "number", "exclusiveMinimum": 0}, _TEXT_SCHEMA]}


def _or_range(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of a value of this schema, or of two of them."""
    return {"anyOf": [*schema["anyOf"], {"type": "array", "items": dict(schema), "minItems": 2, "maxItems": 2}]}


Duration = Annotated[float, BeforeValidator(_not_negative), WithJsonSchema(DURATION_SCHEMA)]
"""Seconds, 0 or more."""
PositiveDuration = Annotated[
    float,
    BeforeValidator(_positive),
    WithJsonSchema(_POSITIVE_SCHEMA),
]
"""Seconds, more than 0."""
PastTime = Annotated[
    float,
    BeforeValidator(_not_positive),
    WithJsonSchema({"anyOf": [{"type": "number", "maximum": 0}, _SIGNED_TEXT_SCHEMA]}),
]
"""Seconds from the scenario's zero, 0 or below."""
DurationOrRange = Annotated[
    float | Range, PlainValidator(_with_range(_not_negative)), WithJsonSchema(_or_range(DURATION_SCHEMA))
]
"""Seconds, or a range of them."""
PositiveDurationOrRange = Annotated[
    float | Range, PlainValidator(_with_range(_positive)), WithJsonSchema(_or_range(_POSITIVE_SCHEMA))
]
"""Seconds, more than 0, or a range of them."""
