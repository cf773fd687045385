"""Results as the data of their JSON: times in seconds from the scenario's zero, whole numbers without a fraction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from policy_engine.envelope import SCHEMA, basis, choices, head

__all__ = ["SCHEMA", "Data", "basis", "choices", "head", "text"]

Data = dict[str, Any]


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
