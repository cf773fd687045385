"""A finding as it is reported, and which of them are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from policy_engine.findings.rule import Found, Rule, Severity
from policy_engine.findings.subject import Subject
from policy_engine.sources.declaration import Place, QuotaShare, ResourceKey


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that ``check`` found."""

    rule: Rule
    severity: Severity
    message: str
    """What is wrong, with the values; lower case, no full stop."""
    queue: str | None
    """The queue's name, or its logical id; None where the source does not declare it."""
    share: str | None
    """The quota share's name, or its logical id, where it is about one."""
    unit: str | None
    """The instance type, where it is about one."""
    resource: ResourceKey
    """Template ("" where there is one only) and logical id."""
    place: Place
    ignored_because: str | None = None
    """Why somebody accepted it; None where nobody did."""

    @property
    def id(self) -> str:
        """``QM001`` and so on."""
        return self.rule.id

    @property
    def is_ignored(self) -> bool:
        """Does it count for nothing?"""
        return self.ignored_because is not None

    def to_dict(self) -> dict[str, Any]:
        """The finding as the data of its JSON."""
        line, column = self.place.position or (None, None)
        return {
            "id": self.id,
            "severity": self.severity.value,
            "message": self.message,
            "why": self.rule.why,
            "remedy": self.rule.remedy,
            "source": self.rule.source.url,
            "queue": self.queue,
            "share": self.share,
            "unit": self.unit,
            "resource": self.place.logical_id or None,
            "construct": self.place.construct_path,
            "file": self.place.file,
            "line": line,
            "column": column,
            "key": self.place.key,
            "ignored_because": self.ignored_because,
        }


def reported(found: Found, rule: Rule, subject: Subject, severities: Mapping[str, Severity]) -> Finding:
    """What a rule found, with the user's severity and the reason for which it is ignored."""
    resource = found.resource
    return Finding(
        rule=rule,
        severity=severities.get(rule.id, found.severity or rule.severity),
        message=found.message,
        queue=subject.name,
        share=resource.label if isinstance(resource, QuotaShare) else None,
        unit=found.unit,
        resource=resource.key,
        place=found.place,
        ignored_because=_ignored_because(found, rule, subject),
    )


def _ignored_because(found: Found, rule: Rule, subject: Subject) -> str | None:
    """The reason of the resource's own ``Ignore``, or else of the queue's, which covers what belongs to it."""
    holders = [found.resource] if subject.queue is None else [found.resource, subject.queue]
    ignores = (ignored for holder in holders for ignored in holder.ignores)
    return next((ignored.because for ignored in ignores if ignored.finding == rule.id), None)
