"""The rules of ``check``: one small function each, with an id that stays.

``docs/findings.md`` is made of them (``python -m policy_engine.findings``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from policy_engine.findings import account, changing, operation, service, sharing, unknown, values, workload
from policy_engine.findings.finding import Finding, reported
from policy_engine.findings.rule import Found, Rule, Severity
from policy_engine.findings.subject import Planned, Subject

__all__ = ["RULES", "Finding", "Found", "Planned", "Rule", "Severity", "Subject", "find"]

_MODULES: Final = (unknown, values, service, sharing, operation, workload, changing, account)
RULES: Final[tuple[Rule, ...]] = tuple(
    sorted(
        (value for module in _MODULES for value in vars(module).values() if isinstance(value, Rule)),
        key=lambda rule: rule.id,
    )
)
"""Every rule, by id."""


def find(subject: Subject, severities: Mapping[str, Severity] | None = None) -> tuple[Finding, ...]:
    """Everything that the rules find on the subject, the worst first and then by id.

    ``severities`` are a user's own, by id. Ignored findings are among them, with the reason.
    """
    chosen = severities or {}
    findings = [reported(found, rule, subject, chosen) for rule in RULES for found in rule.check(subject)]
    return tuple(sorted(findings, key=lambda finding: finding.severity.rank))
