"""Results as the data of their JSON: times in seconds from the scenario's zero, whole numbers without a fraction."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from policy_engine.envelope import SCHEMA, basis, choices, head

__all__ = ["SCHEMA", "Data", "Rows", "basis", "choices", "head", "text"]

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """A list, each item of it as JSON already: of a hundred thousand, where a dictionary each would be too much."""

    texts: Sequence[str]


def text(data: Data) -> str:
    """The data as JSON: one key a line, and one event, job or share a line.

    What is not ASCII is escaped, so that nothing hides in it.
    """
    return "".join((*_written(_plain(data), ""), "\n"))


def _written(value: Any, indent: str) -> Iterator[str]:
    """The parts of the text; a long one is put together only once."""
    inner = f"{indent}  "
    if isinstance(value, dict) and value and len(indent) <= _DEEPEST:
        joint = "{\n"
        for key, item in value.items():
            yield f"{joint}{inner}{json.dumps(key)}: "
            yield from _written(item, inner)
            joint = _JOINT
        yield f"\n{indent}}}"
    elif isinstance(value, Rows) and value.texts:
        yield f"[\n{inner}"
        yield f"{_JOINT}{inner}".join(value.texts)
        yield f"\n{indent}]"
    elif isinstance(value, list) and value and len(indent) <= _DEEPEST:
        yield from _written(Rows([json.dumps(item) for item in value]), indent)
    else:
        yield json.dumps([] if isinstance(value, Rows) else value)


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
