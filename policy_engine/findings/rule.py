"""What a rule of ``check`` is, and what it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

from policy_engine.findings.pages import Page
from policy_engine.findings.subject import Subject
from policy_engine.sources.declaration import Place, Resource


class Severity(StrEnum):
    """How bad a finding is."""

    ERROR = "error"
    """The service would refuse it, or nobody can mean it."""
    WARNING = "warning"
    """Likely not what was meant."""
    INFO = "info"
    """Worth knowing."""

    @property
    def rank(self) -> int:
        """0 for the worst."""
        return list(Severity).index(self)

    def reaches(self, threshold: Severity) -> bool:
        """Is it at least as bad as the threshold?"""
        return self.rank <= threshold.rank


@dataclass(frozen=True, slots=True)
class Found:
    """One place where a rule found something."""

    message: str
    """What is wrong there, with the values; lower case, no full stop."""
    resource: Resource
    """Whose ``Ignore`` covers it, besides the queue's."""
    place: Place
    unit: str | None = None
    """The instance type, where it is about one."""
    severity: Severity | None = None
    """Where this occurrence is less certain than the rule; None is the rule's own."""


Check = Callable[[Subject], Iterable[Found]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: a question about a declaration, with what its findings have in common."""

    id: str
    severity: Severity
    title: str
    """When it is found, in a few words."""
    why: str
    """Why it matters."""
    remedy: str
    """What to change."""
    source: Page
    check: Check


def rule(
    rule_id: str, severity: Severity, title: str, *, why: str, remedy: str, source: Page
) -> Callable[[Check], Rule]:
    """Make a rule of the decorated function."""

    def made(check: Check) -> Rule:
        return Rule(rule_id, severity, title, why, remedy, source, check)

    return made
