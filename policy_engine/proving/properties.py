"""Properties as a command line names them: ``within_bounds``, ``disruption_ratio=2``, ``owner_reclaims=2m``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

import yaml
from pydantic import ValidationError

from policy_engine.workload.expected import AlwaysExpectation, AlwaysProperty, NeverExpectation

_WITH_VALUE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "disruption_ratio": lambda value: {"at_most": _number(value)},
    "owner_reclaims": lambda value: {"within": value},
}
"""Properties that take a value, and what ``always:`` has for it."""


def property_of(text: str) -> AlwaysExpectation | NeverExpectation:
    """The property of a name, with ``=VALUE`` where it takes one; or what ``never:`` has, as YAML.

    Raises ValueError in one line.
    """
    if text.lstrip().startswith("{"):
        return _never(text)
    name, equals, value = text.partition("=")
    if name not in AlwaysProperty.NAMES:
        nearest = difflib.get_close_matches(name, AlwaysProperty.NAMES, n=1, cutoff=0.5)
        known = f"{', '.join(AlwaysProperty.NAMES)}, and {{share: NAME, preempted: any}}"
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {known}"
        raise ValueError(f"no property {name!r}; {hint}")
    if name == "starts_within":
        # an arrival at any time has no deadline at a known time, and with jobs that never end none starts in time
        raise ValueError("'starts_within' is not provable over every workload; give a scenario")
    if equals and name not in _WITH_VALUE:
        raise ValueError(f"{name!r} takes no value; write {name}")
    if not equals and name not in AlwaysProperty.PLAIN:
        raise ValueError(f"{name!r} needs a value: {name}=VALUE")
    always = {name: _WITH_VALUE[name](value) if equals else True}
    try:
        return AlwaysExpectation.model_validate({"always": always})
    except ValidationError as error:
        raise ValueError(f"{name!r}: {_what(error)}") from None


def _never(text: str) -> NeverExpectation:
    """``{share: QS3, preempted: cross_share}``: that this happens at no instant."""
    try:
        return NeverExpectation.model_validate({"never": yaml.safe_load(text)})
    except yaml.YAMLError:
        raise ValueError(f"{text!r} is no mapping: write {{share: NAME, preempted: cross_share}}") from None
    except ValidationError as error:
        key = ".".join(str(part) for part in error.errors()[-1]["loc"][1:])
        raise ValueError(f"{text!r}: {key}: {_what(error)}") from None


def _what(error: ValidationError) -> str:
    what = error.errors()[-1]["msg"].removeprefix("Value error, ")
    return f"{what[:1].lower()}{what[1:]}"


def _number(value: str) -> object:
    """The number; what is none is left for the reader of expectations to refuse."""
    try:
        return float(value)
    except ValueError:
        return value
