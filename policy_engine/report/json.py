"""Results as the data of their JSON: times in seconds from the scenario's zero, whole numbers without a fraction."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from policy_engine.envelope import SCHEMA, basis, choices, head

__all__ = ["SCHEMA", "Data", "basis", "choices", "head", "text"]

Data = dict[str, Any]


def text(data: Data) -> str:
    """The data as JSON: one key a line, and one event, job or share a line.

    What is not ASCII is escaped, so that nothing hides in it.
    """
    return _written(_plain(data), "") + "\n"


def _written(value: Any, indent: str) -> str:
    inner = f"{indent}  "
    if isinstance(value, dict) and value and len(indent) <= _DEEPEST:
        pairs = (f"{inner}{json.dumps(key)}: {_written(item, inner)}" for key, item in value.items())
        return f"{{\n{_JOINT.join(pairs)}\n{indent}}}"
    if isinstance(value, list) and value and len(indent) <= _DEEPEST:
        items = (f"{inner}{json.dumps(item)}" for item in value)
        return f"[\n{_JOINT.join(items)}\n{indent}]"
    return json.dumps(value)


_JOINT: Final = ",\n"
_DEEPEST: Final = 4
"""Characters of indentation; what is deeper stands on one line."""


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
