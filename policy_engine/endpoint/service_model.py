"""AWS Batch as botocore's service model describes it: which request means what, and what it may say.

Required members, types, enumerations and ranges all come from the model; nothing about them is written here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias
from urllib.parse import parse_qs

from botocore.loaders import Loader
from botocore.model import ServiceModel

from policy_engine.endpoint.errors import ClientError, UnknownOperationError

Shape: TypeAlias = Any
"""A shape of botocore's, which has no types."""
Check: TypeAlias = Callable[[Any, str], None]
"""Holds a value to its shape; the text is where it stands in the request. Raises ClientError."""

_TYPES: Final[Mapping[str, tuple[str, tuple[type, ...]]]] = {
    "structure": ("an object", (dict,)),
    "map": ("an object", (dict,)),
    "list": ("a list", (list, tuple)),
    "string": ("a string", (str,)),
    "boolean": ("true or false", (bool,)),
    "integer": ("a whole number", (int,)),
    "long": ("a whole number", (int,)),
    "float": ("a number", (int, float)),
    "double": ("a number", (int, float)),
}
"""Type of a shape to what it is called, and what JSON's values of it are in Python."""
_BITS: Final = {"integer": 31, "long": 63}


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of AWS Batch."""

    name: str
    check: Check
    uri_member: str | None
    """The member that the path holds, where there is one."""
    query_lists: Mapping[str, str]
    """Parameter of the query string to the member, a list, that it holds."""


class BatchModel:
    """The operations of AWS Batch by the requests that mean them."""

    def __init__(self, model: Any) -> None:
        shapes = _Shapes()
        self.operations: dict[str, Operation] = {}
        self.fixed: dict[tuple[str, str], Operation] = {}
        """By method and path."""
        self.templated: list[tuple[str, re.Pattern[str], Operation]] = []
        """Those whose path holds a member."""
        for name in model.operation_names:
            described = model.operation_model(name)
            operation = _operation(described, shapes)
            self.operations[name] = operation
            method, uri = described.http["method"], described.http["requestUri"]
            if operation.uri_member is None:
                self.fixed[method, uri] = operation
            else:
                pattern = re.compile(re.sub(r"\\\{\w+\\\}", "(.+)", re.escape(uri)), re.DOTALL)
                self.templated.append((method, pattern, operation))

    def request(self, method: str, path: str, query: str, body: bytes) -> tuple[Operation, dict[str, Any]]:
        """The operation that a request asks for, and what it says, held to the model.

        ``path`` is decoded. Raises UnknownOperationError, and ClientError for what the model does not allow.
        """
        operation = self.fixed.get((method, path))
        if operation is not None:
            request = _read(body)
        else:
            operation, member = self._templated(method, path)
            request = {**_read(body), str(operation.uri_member): member}
            given = parse_qs(query, keep_blank_values=True)
            request.update({member: given[name] for name, member in operation.query_lists.items() if name in given})
        operation.check(request, "")
        return operation, request

    def _templated(self, method: str, path: str) -> tuple[Operation, str]:
        for wanted, pattern, operation in self.templated:
            if wanted == method and (match := pattern.fullmatch(path)):
                return operation, match[1]
        raise UnknownOperationError(f"{method} {path} is no operation of AWS Batch")


@cache
def batch_model() -> BatchModel:
    """The model that the installed botocore has of AWS Batch."""
    return BatchModel(ServiceModel(Loader().load_service_model("batch", "service-2"), "batch"))


def _operation(described: Any, shapes: _Shapes) -> Operation:
    uri_member, query_lists = None, {}
    for member, shape in described.input_shape.members.items():
        location = shape.serialization.get("location")
        if location == "uri":
            uri_member = member
        elif location == "querystring":
            query_lists[shape.serialization.get("name", member)] = member
    return Operation(described.name, shapes.check(described.input_shape), uri_member, query_lists)


def _read(body: bytes) -> dict[str, Any]:
    """The JSON object that a body holds; an empty one is an empty object."""
    if not body:
        return {}
    try:
        request = json.loads(body, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ClientError(f"the request is not valid JSON: {error}") from None
    if not isinstance(request, dict):
        raise ClientError(f"the request is a JSON {type(request).__name__}; an object is expected")
    return request


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


# --- checks --------------------------------------------------------------------------------------


class _Shapes:
    """Makes each shape's check once."""

    def __init__(self) -> None:
        self.made: dict[str, Check] = {}

    def check(self, shape: Shape) -> Check:
        """The check of a shape."""
        if shape.name not in self.made:
            # a shape may hold itself: whoever asks meanwhile looks the check up when it is needed
            self.made[shape.name] = lambda value, at, name=shape.name: self.made[name](value, at)  # type: ignore[misc]
            self.made[shape.name] = self._make(shape)
        return self.made[shape.name]

    def _make(self, shape: Shape) -> Check:
        called, types = _TYPES[shape.type_name]
        inner = self._inner(shape)
        not_bool = bool not in types

        def check(value: Any, at: str) -> None:
            if not isinstance(value, types) or (not_bool and isinstance(value, bool)):
                raise ClientError(f"{at or 'the request'}: {shown(value)} is not {called}")
            inner(value, at)

        return check

    def _inner(self, shape: Shape) -> Check:
        """What is checked of a value of the right type."""
        match shape.type_name:
            case "structure":
                return self._structure(shape)
            case "list":
                return self._list(shape)
            case "map":
                return self._map(shape)
            case "string":
                return _string(shape)
            case "boolean":
                return _anything
        return _number(shape)

    def _structure(self, shape: Shape) -> Check:
        members = {name: self.check(member) for name, member in shape.members.items()}
        required = tuple(shape.required_members)

        def check(value: dict[str, Any], at: str) -> None:
            prefix = f"{at}." if at else ""
            for name in required:
                if value.get(name) is None:
                    raise ClientError(f"{prefix}{name}: is missing")
            for name, given in value.items():
                if given is not None and name in members:
                    members[name](given, prefix + name)

        return check

    def _list(self, shape: Shape) -> Check:
        member = self.check(shape.member)
        range_problem = _range(shape, "entries")

        def check(value: list[Any], at: str) -> None:
            range_problem(len(value), at)
            for number, given in enumerate(value):
                member(given, f"{at}[{number}]")

        return check

    def _map(self, shape: Shape) -> Check:
        key_check, value_check = self.check(shape.key), self.check(shape.value)
        range_problem = _range(shape, "entries")

        def check(value: dict[str, Any], at: str) -> None:
            range_problem(len(value), at)
            for key, given in value.items():
                key_check(key, f"{at} key")
                value_check(given, f"{at}[{shown(key)}]")

        return check


def _anything(value: Any, at: str) -> None:
    """There is nothing to check."""


def _string(shape: Shape) -> Check:
    range_problem = _range(shape, "characters")
    allowed = frozenset(shape.metadata.get("enum", ()))
    listed = ", ".join(shape.metadata.get("enum", ()))

    def check(value: str, at: str) -> None:
        if allowed and value not in allowed:
            raise ClientError(f"{at}: {shown(value)} is not one of {listed}")
        range_problem(len(value), at)

    return check


def _number(shape: Shape) -> Check:
    bits = _BITS.get(shape.type_name)
    range_problem = _range(shape, "")

    def check(value: float, at: str) -> None:
        if bits is not None and not -(2**bits) <= value < 2**bits:
            raise ClientError(f"{at}: is out of range: a number of {bits + 1} bits is allowed")
        if bits is None and not _is_finite(value):
            raise ClientError(f"{at}: is out of range: a finite number is allowed")
        range_problem(value, at)

    return check


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that is larger than any float
        return False


def _range(shape: Shape, what: str) -> Callable[[float, str], None]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is None and most is None:
        return _anything
    allowed = " ".join(_bounds(least, most))

    def check(size: float, at: str) -> None:
        if (least is not None and size < least) or (most is not None and size > most):
            raise ClientError(
                f"{at}: {' '.join(filter(None, (str(size), what)))} is out of range: {allowed} is allowed"
            )

    return check


def _bounds(least: float | None, most: float | None) -> Iterator[str]:
    if least is not None:
        yield f"{least} or more" if most is None else f"{least} to {most}"
    elif most is not None:
        yield f"at most {most}"


def shown(value: object) -> str:
    """A value of a request as a message has it: as JSON, and not too long."""
    text = json.dumps(value, default=str) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 100 else f"{text[:100]}..."
