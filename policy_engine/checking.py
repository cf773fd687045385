"""``check``: what a policy promises, who can stop whose jobs, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from policy_engine import envelope
from policy_engine.errors import InputError
from policy_engine.findings import RULES, Finding, Planned, Severity, Subject, find
from policy_engine.guarantees import Guarantee, Preemption, guarantees, preemptions
from policy_engine.scheduler.choices import Choices
from policy_engine.sources.declaration import Declaration, QueueDeclaration, QuotaShare
from policy_engine.sources.loading import Kind, Source, load

if TYPE_CHECKING:
    # findings do without, and so does a check without a scenario
    from policy_engine.policy import Policy
    from policy_engine.sources.live import Account
    from policy_engine.workload.scenario import Scenario

Checkable: TypeAlias = "str | Path | Source | Policy"
"""A path (assembly, template or document), what was read from one, or a policy."""


@dataclass(frozen=True)
class CheckedQueue:
    """What there is to say about one queue. What it promises is reckoned when it is asked for."""

    declared: QueueDeclaration = field(repr=False)
    choices: Choices = field(repr=False)
    findings: tuple[Finding, ...]
    """The worst first; ignored ones among them."""

    @property
    def name(self) -> str:
        """The queue's name, or its logical id."""
        return self.declared.name

    @cached_property
    def _policy_or_why_not(self) -> Policy | InputError:
        try:
            return self.declared.policy()
        except InputError as error:
            return error

    @property
    def policy(self) -> Policy | None:
        """None where something in it is wrong or unknown: ``not_reckoned`` says what."""
        found = self._policy_or_why_not
        return None if isinstance(found, InputError) else found

    @property
    def not_reckoned(self) -> InputError | None:
        """Why there are no guarantees: the first value that is wrong or unknown."""
        found = self._policy_or_why_not
        return found if isinstance(found, InputError) else None

    @cached_property
    def guarantees(self) -> tuple[Guarantee, ...]:
        """A row for each share and instance type."""
        return () if self.policy is None else guarantees(self.policy, self.choices)

    @cached_property
    def preemptions(self) -> tuple[Preemption, ...]:
        """Who can stop whose jobs."""
        return () if self.policy is None else preemptions(self.policy, self.choices)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What ``check`` says about a source."""

    source: Source
    """What was read."""
    choices: Choices
    queues: tuple[CheckedQueue, ...]
    findings: tuple[Finding, ...]
    """Those of every queue, and of shares whose queue the source does not declare; the worst first, each once."""

    @property
    def worst(self) -> Severity | None:
        """The severity of the worst finding that is not ignored; None where there is none."""
        return min((f.severity for f in self.findings if not f.is_ignored), key=lambda s: s.rank, default=None)

    def failed(self, fail_on: Severity = Severity.ERROR) -> bool:
        """Is there a finding at or above the threshold that is not ignored? The command exits with 1 then."""
        return self.worst is not None and self.worst.reaches(fail_on)

    def verdict(self, fail_on: Severity = Severity.ERROR) -> str:
        """``fails`` or ``holds``."""
        return "fails" if self.failed(fail_on) else "holds"

    @property
    def queue(self) -> str | None:
        """The name of the queue; None where there are several."""
        return self.queues[0].name if len(self.queues) == 1 else None

    def to_dict(self, fail_on: Severity = Severity.ERROR) -> dict[str, Any]:
        """The result as the data of its JSON."""
        return {
            **envelope.head("check", self.source, self.queue),
            "choices": envelope.choices(self.choices),
            "verdict": self.verdict(fail_on),
            "queues": [
                {"name": queue.name, "not_reckoned": queue.not_reckoned and str(queue.not_reckoned)}
                for queue in self.queues
            ],
            "guarantees": [_guarantee(queue.name, row) for queue in self.queues for row in queue.guarantees],
            "preemption": [_preemption(queue.name, row) for queue in self.queues for row in queue.preemptions],
            "findings": [finding.to_dict() for finding in self.findings],
            **envelope.basis(self.choices, None, self.source),
        }


def check(
    source: Checkable,
    *,
    queue: str | None = None,
    parameters: Mapping[str, str] | None = None,
    choices: Choices | None = None,
    severities: Mapping[str, Severity | str] | None = None,
    scenario: Scenario | str | Path | None = None,
    account: Account | None = None,
) -> CheckResult:
    """Check every quota-managed queue of the source, or the one that is named.

    Args:
        source: where the policy comes from, or a policy itself.
        queue: name, logical id or construct path of the only queue to check.
        parameters: values of a template's parameters; only where ``source`` is a path.
        choices: answers to the open choices; those not given are the scenario's, or else the defaults.
        severities: a user's own severities, by finding id.
        scenario: what is to run on the queue, for the findings QM201 to QM203; it may name the queue.
        account: the account around a live queue, for the finding QM401.

    Raises:
        InputError: the source or the scenario cannot be read, they do not fit each other, the source has neither a
            quota-managed queue nor a quota share, or a severity is given for an id that does not exist. What is wrong
            with a policy that can be read is a finding.
    """
    read = _read(source, parameters or {})
    own = _severities(severities or {})
    planned = _scenario(scenario)
    answers = choices or (Choices() if planned is None else planned.choices())
    wanted = planned.queue if queue is None and planned is not None else queue
    has_none = not read.queues and not read.declaration.stray_shares
    is_one = wanted is not None or planned is not None or has_none
    views = [read.queue(wanted)] if is_one else list(read.queues)
    checked = tuple(_check_queue(read.declaration, view, answers, own, planned, account) for view in views)
    strays = [] if is_one else list(_stray_subjects(read.declaration, answers))
    findings = [f for one in checked for f in one.findings] + [f for subject in strays for f in find(subject, own)]
    return CheckResult(read, answers, checked, _each_once(findings))


def _read(source: Checkable, parameters: Mapping[str, str]) -> Source:
    if isinstance(source, Source):
        return source
    if isinstance(source, str | Path):
        return load(source, parameters=parameters)
    from policy_engine.sources.document import declaration_of

    return Source(Kind.DOCUMENT, "policy", "a policy", declaration_of(source))


def _severities(given: Mapping[str, Severity | str]) -> dict[str, Severity]:
    known = [rule.id for rule in RULES]
    for rule_id, severity in given.items():
        if rule_id not in known:
            raise InputError(f"no finding {rule_id!r}; there is {', '.join(known)}", key="severity")
        if severity not in list(Severity):
            raise InputError(f"{severity!r} is not one of {', '.join(Severity)}", key=f"severity {rule_id}")
    return {rule_id: Severity(severity) for rule_id, severity in given.items()}


def _scenario(given: Scenario | str | Path | None) -> Scenario | None:
    if not isinstance(given, str | Path):
        return given
    from policy_engine.workload.scenario import load_scenario

    return load_scenario(given)


def _check_queue(
    declaration: Declaration,
    view: QueueDeclaration,
    choices: Choices,
    severities: Mapping[str, Severity],
    scenario: Scenario | None,
    account: Account | None,
) -> CheckedQueue:
    subject = Subject(declaration, view, view.shares, choices, account=account)
    # nothing can be planned on a policy that cannot be made; its findings say why
    if scenario is not None and (policy := CheckedQueue(view, choices, ()).policy) is not None:
        subject = replace(subject, plan=Planned(scenario, policy, scenario.workload(policy), choices))
    return CheckedQueue(view, choices, find(subject, severities))


def _stray_subjects(declaration: Declaration, choices: Choices) -> Iterator[Subject]:
    """The shares whose queue the source does not declare, those of one queue together."""
    groups: dict[object, list[QuotaShare]] = {}
    for share in declaration.stray_shares:
        named = share.queue is not None and isinstance(share.queue.value, str)
        groups.setdefault(share.queue.value if named and share.queue else share.key, []).append(share)
    return (Subject(declaration, None, tuple(shares), choices) for shares in groups.values())


def _each_once(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst first; what two queues share is reported once."""
    unique: dict[object, Finding] = {}
    for finding in findings:
        unique.setdefault((finding.id, finding.resource, finding.place, finding.message), finding)
    return tuple(sorted(unique.values(), key=lambda finding: finding.severity.rank))


def _guarantee(queue: str, row: Guarantee) -> dict[str, Any]:
    return {
        "queue": queue,
        "share": row.share,
        "unit": row.unit,
        "limit": row.limit,
        "guaranteed": row.guaranteed,
        "reachable": row.reachable,
        "lendable": row.lendable,
        "at_risk": row.at_risk,
        "largest_job": row.largest_job,
        "larger_jobs": {"rule": row.larger_jobs.value, "reason": row.larger_jobs.reason},
        "most_evicted": {
            "across_shares": row.most_evicted.across_shares,
            "within_share": row.most_evicted.within_share,
        },
        "reclaimed_after": "stop_seconds" if row.is_contested else "at once",
    }


def _preemption(queue: str, row: Preemption) -> dict[str, Any]:
    return {
        "queue": queue,
        "share": row.share,
        "takes_from": row.takes_from,
        "unit": row.unit,
        "kind": row.kind.value,
        "why": row.why,
    }
