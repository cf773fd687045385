"""The parameters of a CloudFormation template: what was given, what they default to, what they allow.

Source: CloudFormation User Guide, parameters; Template Reference, pseudo parameters.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from policy_engine.errors import InputError
from policy_engine.policy import WrittenFloat, WrittenInt
from policy_engine.sources.declaration import Raw, Unknown
from policy_engine.sources.reading import Document, plain_number
from policy_engine.sources.validation import MISSING, shown

PSEUDO: Final = (
    "AWS::AccountId",
    "AWS::NotificationARNs",
    "AWS::Partition",
    "AWS::Region",
    "AWS::StackId",
    "AWS::StackName",
    "AWS::URLSuffix",
)
"""Pseudo parameters, but for ``AWS::NoValue``, which is the absence of a value."""


def text_of(value: Raw) -> str | None:
    """A scalar as CloudFormation writes it into text; None for what is no scalar."""
    if isinstance(value, WrittenInt | WrittenFloat):
        return value.text
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def check_names(given: Iterable[str], declared: Iterable[str], file: str) -> None:
    """Raise InputError for a given parameter that is not declared, with the nearest that is."""
    known = [*declared, *PSEUDO]
    for name in given:
        if name not in known:
            nearest = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise InputError(f"there is no such parameter{hint}", file=file, key=f"--parameter {name}")


class Parameters:
    """The parameters of one template with their values."""

    def __init__(self, document: Document, given: Mapping[str, Raw]) -> None:
        section = document.data.get("Parameters")
        self._document = document
        self._specs: dict[str, Any] = section if isinstance(section, dict) else {}
        self._pseudo = {name: value for name, value in given.items() if name in PSEUDO}
        self._given = {name: self._given_value(name, given[name]) for name in self._specs if name in given}

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that the template declares."""
        return tuple(self._specs)

    def value(self, name: str) -> Raw:
        """The value of the parameter or pseudo parameter; Unknown where none is given and it has no default."""
        if name in self._given:
            return self._given[name]
        if name in self._pseudo:
            return self._pseudo[name]
        spec = self._spec(name)
        if spec is not None and "Default" in spec:
            return self._default(name, spec)
        if spec is None and name not in PSEUDO:
            return Unknown(f"the template has no parameter or resource {name!r}")
        what = "has no default" if spec is not None else "depends on the deployment"
        return Unknown(f"{name} {what}; give it with --parameter {name}=VALUE")

    def _spec(self, name: str) -> dict[str, Any] | None:
        spec = self._specs.get(name)
        return spec if isinstance(spec, dict) else None

    def _given_value(self, name: str, given: Raw) -> Raw:
        spec = self._spec(name) or {}
        if isinstance(given, Unknown):
            return given
        value, problem = _typed(name, spec, given)
        if problem is not None:
            raise InputError(problem, file=self._document.file, key=f"--parameter {name}")
        return value

    def _default(self, name: str, spec: Mapping[str, Any]) -> Raw:
        value, problem = _typed(name, spec, spec["Default"])
        if problem is not None:
            raise self._document.error(("Parameters", name, "Default"), problem)
        return value


def _typed(name: str, spec: Mapping[str, Any], given: Raw) -> tuple[Raw, str | None]:
    """The value in the parameter's type, and what is wrong with it."""
    kind = spec.get("Type")
    if isinstance(kind, str) and kind.startswith("AWS::SSM::Parameter::"):
        return Unknown(f"parameter {name} is read from Systems Manager"), None
    text = ",".join(str(text_of(item)) for item in given) if isinstance(given, list) else text_of(given)
    if text is None:
        return None, MISSING if given is None else f"{shown(given)} is not text"
    if isinstance(kind, str) and (kind == "CommaDelimitedList" or kind.startswith("List<")):
        items = [item.strip() for item in text.split(",")]
        problems = (_problem(spec, item, is_number=kind == "List<Number>") for item in items)
        return list(items), next(filter(None, problems), None)
    problem = _problem(spec, text, is_number=kind == "Number")
    return (plain_number(text) if kind == "Number" else text), problem


def _problem(spec: Mapping[str, Any], text: str, *, is_number: bool) -> str | None:
    number = plain_number(text) if is_number else None
    if is_number and number is None:
        return f"{text!r} is not a number"
    allowed = spec.get("AllowedValues")
    if isinstance(allowed, list) and text not in [text_of(item) for item in allowed]:
        return f"{text!r} is not one of {', '.join(str(text_of(item)) for item in allowed)}"
    pattern = spec.get("AllowedPattern")
    if isinstance(pattern, str) and not _matches(pattern, text):
        return f"{text!r} does not match {pattern}"
    if number is None:
        return _bounds_problem(spec, "Length", len(text), f"the length of {text!r}")
    return _bounds_problem(spec, "Value", number, text)


def _bounds_problem(spec: Mapping[str, Any], bounds: str, size: float, what: str) -> str | None:
    least, most = (plain_number(text_of(spec.get(f"{end}{bounds}")) or "") for end in ("Min", "Max"))
    if least is not None and size < least:
        return f"{what} is out of range: at least {least} is allowed"
    if most is not None and size > most:
        return f"{what} is out of range: at most {most} is allowed"
    return None


def _matches(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return True  # a pattern of Java's alone; CloudFormation will check it
