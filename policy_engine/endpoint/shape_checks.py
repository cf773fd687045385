"""Holds values to the shapes of a service model: what is missing, of another type, not allowed or out of range."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from policy_engine.endpoint.errors import ClientError

Shape: TypeAlias = Mapping[str, Any]
"""A shape as the model has it: ``type``, ``members``, ``required``, ``enum``, ``min`` and so on."""
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


class ShapeChecks:
    """Makes the check of each shape once, when it is first asked for."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        self._made: dict[str, Check] = {}

    def of(self, name: str) -> Check:
        """The check of the shape of that name."""
        if name not in self._made:
            # a shape may hold itself: whoever asks meanwhile looks the check up when it is needed
            self._made[name] = lambda value, at: self._made[name](value, at)
            self._made[name] = self._make(self._shapes[name])
        return self._made[name]

    def _make(self, shape: Shape) -> Check:
        called, types = _TYPES[shape["type"]]
        inner = self._inner(shape)
        not_bool = bool not in types

        def check(value: Any, at: str) -> None:
            if not isinstance(value, types) or (not_bool and isinstance(value, bool)):
                raise ClientError(f"{at or 'the request'}: {shown(value)} is not {called}")
            inner(value, at)

        return check

    def _inner(self, shape: Shape) -> Check:
        """What is checked of a value of the right type."""
        match shape["type"]:
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
        members = {name: self.of(member["shape"]) for name, member in shape["members"].items()}
        required = tuple(shape.get("required", ()))

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
        member = self.of(shape["member"]["shape"])
        range_problem = _range(shape, "entries")

        def check(value: list[Any], at: str) -> None:
            range_problem(len(value), at)
            for number, given in enumerate(value):
                member(given, f"{at}[{number}]")

        return check

    def _map(self, shape: Shape) -> Check:
        key_check, value_check = self.of(shape["key"]["shape"]), self.of(shape["value"]["shape"])
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
    allowed = frozenset(shape.get("enum", ()))
    listed = ", ".join(shape.get("enum", ()))

    def check(value: str, at: str) -> None:
        if allowed and value not in allowed:
            raise ClientError(f"{at}: {shown(value)} is not one of {listed}")
        range_problem(len(value), at)

    return check


def _number(shape: Shape) -> Check:
    bits = _BITS.get(shape["type"])
    range_problem = _range(shape, "")

    def check(value: float, at: str) -> None:
        if bits is not None and not -(2**bits) <= value < 2**bits:
            raise ClientError(f"{at}: is out of range: a number of {bits + 1} bits is allowed")
        if bits is None and not is_finite(value):
            raise ClientError(f"{at}: is out of range: a finite number is allowed")
        range_problem(value, at)

    return check


def is_finite(value: float) -> bool:
    """Is it a number that a float can hold?"""
    try:
        return math.isfinite(value)
    except OverflowError:  # an int that is larger than any float
        return False


def _range(shape: Shape, what: str) -> Callable[[float, str], None]:
    least, most = shape.get("min"), shape.get("max")
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
