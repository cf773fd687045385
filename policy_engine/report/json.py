"""Results as the data of their JSON: times in seconds from the scenario's zero, whole numbers without a fraction."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from policy_engine.envelope import SCHEMA, basis, choices, head

__all__ = ["SCHEMA", "Data", "Rows", "basis", "choices", "head", "parts", "text"]

Data = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """A list, each item of it as JSON already: of a hundred thousand, where a dictionary each would be too much."""

    texts: Iterable[str]


def text(data: Data) -> str:
    """The data as JSON: one key a line, and one event, job or share a line.

    What is not ASCII is escaped, so that nothing hides in it.
    """
    return "".join(parts(data))


def parts(data: Data) -> Iterator[str]:
    """The same in parts, for who need not have all of a long one at once."""
    yield from _written(_plain(data), "")
    yield "\n"


def _written(value: Any, indent: str) -> Iterator[str]:
    inner = f"{indent}  "
    if isinstance(value, dict) and value and len(indent) <= _DEEPEST:
        joint = "{\n"
        for key, item in value.items():
            yield f"{joint}{inner}{json.dumps(key)}: "
            yield from _written(item, inner)
            joint = _JOINT
        yield f"\n{indent}}}"
    elif isinstance(value, Rows):
        yield from _rows(value.texts, indent, inner)
    elif isinstance(value, list) and value and len(indent) <= _DEEPEST:
        yield from _rows(map(json.dumps, value), indent, inner)
    else:
        yield json.dumps(value)


def _rows(texts: Iterable[str], indent: str, inner: str) -> Iterator[str]:
    rest, joint = iter(texts), f"{_JOINT}{inner}"
    begin = f"[\n{inner}"
    while some := list(islice(rest, _AT_ONCE)):
        yield begin + joint.join(some)
        begin = joint
    yield "[]" if begin != joint else f"\n{indent}]"


_JOINT: Final = ",\n"
_AT_ONCE: Final = 1000
"""Rows that are put together before they are written."""
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
