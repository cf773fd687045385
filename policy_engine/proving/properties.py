"""Properties as a command line names them: ``within_bounds``, ``disruption_ratio=2``, ``owner_reclaims=2m``."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, Final

from pydantic import ValidationError

from policy_engine.workload.expected import AlwaysExpectation, AlwaysProperty

_WITH_VALUE: Final[Mapping[str, Callable[[Any], Any]]] = {
    "disruption_ratio": lambda value: {"at_most": _number(value)},
    "owner_reclaims": lambda value: {"within": value},
}
"""Properties that take a value, and what ``always:`` has for it."""


def property_of(text: str) -> AlwaysExpectation:
    """The property of a name, with ``=VALUE`` where it takes one. Raises ValueError in one line."""
    name, equals, value = text.partition("=")
    if name not in AlwaysProperty.NAMES:
        nearest = difflib.get_close_matches(name, AlwaysProperty.NAMES, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {', '.join(AlwaysProperty.NAMES)}"
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
        what = error.errors()[-1]["msg"].removeprefix("Value error, ")
        raise ValueError(f"{name!r}: {what[:1].lower()}{what[1:]}") from None


def _number(value: str) -> object:
    """The number; what is none is left for the reader of expectations to refuse."""
    try:
        return float(value)
    except ValueError:
        return value
