"""SARIF 2.1.0, as code scanning reads it: findings and failed expectations, each at its place.

Made for GitHub (docs.github.com, "SARIF support for code scanning"): every result that has a file has a region, paths
are relative to where the command ran, which in a workflow is the repository, and a result keeps its fingerprint when
lines are added above it.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from policy_engine._version import __version__
from policy_engine.report.blocks import Page
from policy_engine.report.escaping import visible

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_ROOT: Final = "%SRCROOT%"
"""What relative paths are relative to: the root of the repository."""
_PROBLEMS: Final = {"error": "error", "warning": "warning", "note": "recommendation"}
"""GitHub's ``problem.severity`` of a level."""


@dataclass(frozen=True, slots=True)
class Rule:
    """What can be found."""

    id: str
    description: str
    why: str = ""
    """Why it matters."""
    remedy: str = ""
    """What to change."""
    url: str = ""
    """Where it comes from."""
    level: str = "error"
    """Of a result of which nobody has said otherwise."""


@dataclass(frozen=True, slots=True)
class Result:
    """One thing that was found."""

    rule: Rule
    level: str
    """``error``, ``warning`` or ``note``."""
    message: str
    file: str | None = None
    """None where what was read is no file; code scanning does not take such a result."""
    line: int | None = None
    """From 1; None for the whole file."""
    column: int | None = None
    logical: str | None = None
    """Where in the declaration: a share, a logical id, an expectation's name."""
    suppressed_because: str | None = None
    """The reason given for ignoring it."""


def render(results: Sequence[Result], page: Page) -> str:
    """The results as a log with one run; ``page`` says what was read and what the results rest on."""
    rules = list({result.rule.id: result.rule for result in results}.values())
    driver = {
        "name": "policy-engine",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    numbers = {rule.id: number for number, rule in enumerate(rules)}
    seen: Counter[str] = Counter()
    run = {
        "tool": {"driver": driver},
        # the category: the results of another command, or of another policy, do not replace these
        "automationDetails": {"id": f"policy-engine {page.command}: {_read(page)}/"},
        "results": [_result(result, numbers[result.rule.id], seen) for result in results],
        "columnKind": "unicodeCodePoints",
        "properties": {"restsOn": dict(page.rests_on)},
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _read(page: Page) -> str:
    """The policies that were read."""
    return visible(", ".join(dict.fromkeys(place for word, place in page.sources if word in ("policy", "new"))))


def _rule(rule: Rule) -> dict[str, Any]:
    data: dict[str, Any] = {
        "id": rule.id,
        "shortDescription": {"text": rule.description},
        "fullDescription": {"text": rule.why or rule.description},
        "help": _help(rule),
        "defaultConfiguration": {"level": rule.level},
        "properties": {
            "tags": ["aws-batch", "quota-shares"],
            "precision": "very-high",
            "problem.severity": _PROBLEMS[rule.level],
        },
    }
    if rule.url:
        data["helpUri"] = rule.url
    return data


def _help(rule: Rule) -> dict[str, str]:
    """Why it matters and what to change, for those who read it plain and those who read Markdown."""
    parts = [rule.why or rule.description]
    if rule.remedy:
        parts.append(f"To change: {rule.remedy}.")
    plain = [*parts, *([f"Source: {rule.url}"] if rule.url else [])]
    linked = [*parts, *([f"Source: <{rule.url}>"] if rule.url else [])]
    return {"text": "\n\n".join(plain), "markdown": "\n\n".join(linked)}


def _result(result: Result, rule_number: int, seen: Counter[str]) -> dict[str, Any]:
    data: dict[str, Any] = {
        "ruleId": result.rule.id,
        "ruleIndex": rule_number,
        "level": result.level,
        "message": {"text": visible(result.message)},
        "locations": [_location(result)],
        "partialFingerprints": {"primaryLocationLineHash": _fingerprint(result, seen)},
    }
    if result.suppressed_because is not None:
        justification = visible(result.suppressed_because)
        data["suppressions"] = [{"kind": "inSource", "status": "accepted", "justification": justification}]
    return data


def _fingerprint(result: Result, seen: Counter[str]) -> str:
    """The same for the same finding, whatever its line and its numbers, and a number for each of its kind."""
    file = "" if result.file is None else _artifact(result.file)["uri"]
    named = "\0".join((result.rule.id, file, result.logical or ""))
    digest = hashlib.sha256(named.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    seen[digest] += 1
    return f"{digest}:{seen[digest]}"


def _location(result: Result) -> dict[str, Any]:
    location: dict[str, Any] = {}
    if result.file is not None:
        line = result.line or 1
        region = {"startLine": line, "startColumn": result.column or 1, "endLine": line}
        location["physicalLocation"] = {"artifactLocation": _artifact(result.file), "region": region}
    if result.logical is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(result.logical)}]
    return location


def _artifact(file: str) -> dict[str, str]:
    """A path below the current folder is relative to it; another is a URI of its own."""
    path, here = Path(file).absolute(), Path.cwd()
    # ``..`` is taken out of the text alone: what a link leads to is another file than the one that was named
    parts: list[str] = []
    for part in path.parts:
        if part == ".." and len(parts) > 1:
            parts.pop()
        elif part != "..":
            parts.append(part)
    path = Path(*parts)
    if path.is_relative_to(here):
        return {"uri": quote(path.relative_to(here).as_posix()), "uriBaseId": _ROOT}
    return {"uri": path.as_uri()}
