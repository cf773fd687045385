"""QM000: what is known only at deployment, and is skipped by the rules that need it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from policy_engine.findings.pages import PARAMETERS
from policy_engine.findings.rule import Found, Severity, rule
from policy_engine.findings.subject import Subject
from policy_engine.sources.declaration import JobQueue, Link, Place, Resource, Unknown, unknowns
from policy_engine.sources.validation import shown

_PART = re.compile(r"([^.\[\]]+)|\[([0-9]+)\]")


@rule(
    "QM000",
    Severity.WARNING,
    "a value that is known only at deployment",
    why="Nothing is guessed: what depends on the value is not checked here, and may be wrong.",
    remedy="give the parameter a default or a value (`--parameter NAME=VALUE`), or check the synthesised assembly of"
    " the stacks together; otherwise ignore the finding and check the live queue after deployment",
    source=PARAMETERS,
)
def unknown_values(subject: Subject) -> Iterator[Found]:
    """Every unknown value, and every environment or policy that the source does not declare."""
    for resource in subject.resources:
        for value in dict.fromkeys(unknowns(resource)):
            place = _place(resource, value)
            yield Found(f"{value.property or 'a value'} is {value}", resource, place)
    if subject.queue is not None:
        yield from _undeclared(subject, subject.queue)


def _place(resource: Resource, value: Unknown) -> Place:
    parts = [name or int(index) for name, index in _PART.findall(value.property)]
    is_property = parts[:1] != ["Condition"]
    return ((resource.properties if is_property else None) or resource.place).at(*parts)


def _undeclared(subject: Subject, queue: JobQueue) -> Iterator[Found]:
    entries = queue.environments if isinstance(queue.environments, tuple) else ()
    for entry in entries:
        link = entry.environment
        if len(entries) == 1 and link is not None and not subject.environments and _is_elsewhere(link):
            what = f"service environment {_named(link)} is not declared here, so its capacity is not known"
            yield Found(what, queue, link.place)
    link = queue.policy
    is_missing = subject.declared is not None and subject.declared.scheduling_policy is None
    if link is not None and is_missing and _is_elsewhere(link):
        what = f"scheduling policy {_named(link)} is not declared here, so its kind is not known"
        yield Found(what, queue, link.place)


def _is_elsewhere(link: Link) -> bool:
    """Does it name something that another stack has? An unknown value is found as such."""
    return link.is_reference or isinstance(link.value, str)


def _named(link: Link) -> str:
    return repr(link.target[1]) if link.target is not None else shown(link.value)
