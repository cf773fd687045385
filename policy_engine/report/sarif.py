"""SARIF 2.1.0, as code scanning reads it: findings and failed expectations, each at its place."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final
from urllib.parse import quote

from policy_engine._version import __version__
from policy_engine.report.escaping import visible

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Rule:
    """What can be found."""

    id: str
    description: str
    help: str = ""
    """Why it matters and what to do."""
    url: str = ""
    """Where it comes from."""


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was found."""

    rule: Rule
    level: str
    """``error``, ``warning`` or ``note``."""
    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    logical: str | None = None
    """Where in the declaration: a share, a logical id."""
    suppressed_because: str | None = None
    """The reason given for ignoring it."""


def render(results: Sequence[Result], basis: Sequence[tuple[str, str]]) -> str:
    """The results as a log with one run."""
    rules = list({result.rule.id: result.rule for result in results}.values())
    driver = {
        "name": "policy-engine",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    run = {
        "tool": {"driver": driver},
        "results": [_result(result, numbers[result.rule.id]) for result in results],
        "columnKind": "unicodeCodePoints",
        "properties": {"restsOn": dict(basis)},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    data: dict[str, Any] = {"id": rule.id, "shortDescription": {"text": rule.description}}
    if rule.help:
        data["help"] = {"text": rule.help}
    if rule.url:
        data["helpUri"] = rule.url
    return data


def _result(result: Result, rule_number: int) -> dict[str, Any]:
    data: dict[str, Any] = {
        "ruleId": result.rule.id,
        "ruleIndex": rule_number,
        "level": result.level,
        "message": {"text": visible(result.message)},
        "locations": [_location(result)],
    }
    if result.suppressed_because is not None:
        justification = visible(result.suppressed_because)
        data["suppressions"] = [{"kind": "inSource", "justification": justification}]
    return data


def _location(result: Result) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if result.file is not None:
        place: dict[str, Any] = {"artifactLocation": {"uri": quote(PurePath(result.file).as_posix())}}
        region = {"startLine": result.line, "startColumn": result.column}
        if result.line is not None:
            place["region"] = {key: value for key, value in region.items() if value is not None}
        location["physicalLocation"] = place
    if result.logical is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(result.logical)}]
    return location
