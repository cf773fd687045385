"""Turns what pydantic finds wrong with a file's data into one line that says where and what to change."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from policy_engine.policy import WrittenFloat, WrittenInt
from policy_engine.sources.reading import Document, KeyPath

if TYPE_CHECKING:
    from pydantic import TypeAdapter
    from pydantic_core import ErrorDetails

T = TypeVar("T")

MISSING: Final = "required, but missing"


@overload
def validated(document: Document, model: type[T], *, at: KeyPath = ()) -> T: ...
@overload
def validated(document: Document, model: TypeAdapter[T], *, at: KeyPath = ()) -> T: ...
def validated(document: Document, model: Any, *, at: KeyPath = ()) -> Any:
    """The data at the path as an instance of the pydantic model class or TypeAdapter.

    Raises InputError for one of the things that are wrong: the first in the file, missing keys after
    all others (a misspelt key is both unknown and missing).
    """
    from pydantic import TypeAdapter, ValidationError

    adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
    data = document.data
    for part in at:
        data = data[part]
    try:
        return adapter.validate_python(data)
    except ValidationError as error:
        problems = [Problem(details, data) for details in error.errors(include_url=False)]
        first = min(problems, key=lambda problem: (problem.is_missing, document.position((*at, *problem.path))))
        raise document.error((*at, *first.path), first.message(adapter)) from None


class Problem:
    """One of pydantic's errors, with the path that leads to it in the data."""

    path: KeyPath
    is_missing: bool

    def __init__(self, details: ErrorDetails, data: Any) -> None:
        self.kind = details["type"]
        self.is_missing = self.kind == "missing"
        self.value = details["input"]
        self.context: Mapping[str, Any] = details.get("ctx", {})
        self.text = details["msg"]
        self.path = _path_in(data, details["loc"], is_missing=self.is_missing)

    def message(self, adapter: TypeAdapter[Any] | None = None) -> str:
        """What is wrong, the value, and what is allowed; the adapter knows which keys are."""
        if self.is_missing:
            return MISSING
        if self.kind == "extra_forbidden":
            return _unknown_key(str(self.path[-1]), [] if adapter is None else _known_keys(adapter, self.path[:-1]))
        if self.kind in ("value_error", "assertion_error"):
            return str(self.context["error"])
        if self.kind in _EXPECTED:
            return f"{shown(self.value)} is not {_EXPECTED[self.kind]}"
        if self.kind in ("enum", "literal_error"):
            allowed = ", ".join(re.findall(r"'([^']*)'", self.context["expected"]))
            return f"{shown(self.value)} is not one of {allowed}"
        return f"{shown(self.value)}: {self.text[:1].lower()}{self.text[1:]}"


_EXPECTED: Final = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dataclass_type": "a mapping",
    "dict_type": "a mapping",
    "mapping_type": "a mapping",
    "list_type": "a list",
    "tuple_type": "a list",
    "set_type": "a list",
    "frozen_set_type": "a list",
    "string_type": "text; quote it",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
}
"""What pydantic's error types miss, in the words of YAML."""


def shown(value: object) -> str:
    """A value as it may stand in a message: a mapping or a list is only named."""
    if isinstance(value, WrittenInt | WrittenFloat):
        return value.text
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "nothing" if value is None else repr(value)


def _unknown_key(key: str, known: list[str]) -> str:
    nearest = difflib.get_close_matches(key, known, n=1, cutoff=0.5)
    if nearest:
        return f"unknown key {key!r}; did you mean {nearest[0]!r}?"
    return f"unknown key {key!r}; allowed: {', '.join(known)}" if known else f"unknown key {key!r}"


def _path_in(data: Any, loc: tuple[str | int, ...], *, is_missing: bool) -> KeyPath:
    """The part of pydantic's location that is in the data: it also names branches of unions."""
    path: list[str | int] = []
    for part in loc:
        in_list = isinstance(data, list) and isinstance(part, int) and part < len(data)
        if in_list or (isinstance(data, dict) and part in data):
            data = data[part]
            path.append(part)
    if is_missing:
        path.append(loc[-1])
    return tuple(path)


def _known_keys(adapter: TypeAdapter[Any], path: KeyPath) -> list[str]:
    """The keys that the model knows at the path; empty where that cannot be told."""
    from pydantic.errors import PydanticInvalidForJsonSchema

    try:
        schema = adapter.json_schema()
    except PydanticInvalidForJsonSchema:
        return []
    definitions = schema.get("$defs", {})
    at = list(_branches(schema, definitions))
    for part in path:
        at = [branch for parent in at for step in _steps(parent, part) for branch in _branches(step, definitions)]
    return list(dict.fromkeys(key for branch in at for key in branch.get("properties", {})))


def _branches(schema: Any, definitions: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The schemas that this one stands for: itself, what it refers to, the branches of a union."""
    if not isinstance(schema, dict):
        return
    if "$ref" in schema:
        yield from _branches(definitions[schema["$ref"].rpartition("/")[2]], definitions)
        return
    yield schema
    for union in ("anyOf", "oneOf", "allOf"):
        for branch in schema.get(union, ()):
            yield from _branches(branch, definitions)


def _steps(schema: dict[str, Any], part: str | int) -> Iterator[Any]:
    """The schemas of what stands under the key or index."""
    if isinstance(part, int):
        yield from schema.get("prefixItems", ())
        yield schema.get("items")
    elif part in schema.get("properties", {}):
        yield schema["properties"][part]
    else:
        yield schema.get("additionalProperties")
        yield from schema.get("patternProperties", {}).values()
