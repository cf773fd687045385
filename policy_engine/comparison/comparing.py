"""Everything that is said about a change, together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from enum import StrEnum
from functools import cached_property
from typing import Final

from policy_engine.changes import Change, Danger, Pairs, changes, dangers, paired
from policy_engine.comparison.choosing import views
from policy_engine.comparison.promises import Difference, Word, differences, word_of
from policy_engine.comparison.replays import ReplayComparison, replay_both
from policy_engine.comparison.scenarios import ScenarioComparison, in_transition, under_both
from policy_engine.comparison.sides import Policies, by_new_names, by_old_names
from policy_engine.comparison.witnesses import Search, Witness
from policy_engine.errors import InputError
from policy_engine.findings import Finding, Severity, Subject, find
from policy_engine.replaying import ReplayOptions
from policy_engine.scheduler.choices import Choices
from policy_engine.sources import Kind, Source
from policy_engine.sources.declaration import Ignored, Place, QueueDeclaration, QuotaShare
from policy_engine.workload.history import History
from policy_engine.workload.scenario import Scenario

Progress = Callable[[str, float], None]
"""Takes what is being done, and the part of it, 0 to 1, that is done."""


class FailOn(StrEnum):
    """From where on a change fails."""

    WORSE = "worse"
    """A share loses a guarantee, an expectation that held fails, or the change is destructive."""
    DESTRUCTIVE = "destructive"
    """Jobs end, or AWS Batch refuses the change."""


_TEMPLATES: Final = frozenset({Kind.TEMPLATE, Kind.ASSEMBLY})
"""What CloudFormation compares by logical id."""


@dataclass(frozen=True)
class ComparedShare:
    """One share, before and after."""

    name: str
    """Before, or after where it is new."""
    new_name: str | None
    """After; None where it is gone."""
    differences: tuple[Difference, ...]
    is_declared_otherwise: bool
    """Does its own declaration change?"""
    is_intended: bool
    """Is it among the shares that the change is meant for?"""
    witness: Witness | None = None
    """Where it loses something: a workload that shows it; None where none was found."""

    @property
    def word(self) -> Word:
        """What became of all that it is promised."""
        return word_of(self.differences)


@dataclass(frozen=True)
class Asked:
    """What is asked about a change."""

    choices: Choices | None = None
    """Answers to the open choices; None for the scenario's, or else the defaults."""
    intends: tuple[str, ...] = ()
    """Shares that the change is meant for; none: all that are declared otherwise."""
    scenario: Scenario | None = None
    history: History | None = None
    replaying: ReplayOptions = field(default_factory=ReplayOptions)
    held: Scenario | None = None
    """The jobs that the queue holds now."""


@dataclass(frozen=True)
class Comparison:
    """What a change does, and for whom."""

    old_source: Source
    new_source: Source
    pairs: Pairs
    choices: Choices
    intends: tuple[str, ...]
    changes: tuple[Change, ...]
    dangers: tuple[Danger, ...]
    findings: tuple[Finding, ...]
    """What is wrong with the change: QM301 to QM303, ignored ones among them."""
    new_findings: tuple[Finding, ...]
    """What ``check`` finds on the new policy and not on the old one."""
    policies: Policies | None
    """By the old names; None where something in them is wrong or unknown: ``not_reckoned`` says what."""
    shares: tuple[ComparedShare, ...]
    """Those of the old policy first; none where nothing could be reckoned."""
    not_reckoned: InputError | None = None
    scenario: ScenarioComparison | None = None
    replay: ReplayComparison | None = None
    held: ScenarioComparison | None = None
    """What becomes of the jobs that the queue holds."""

    @property
    def old(self) -> QueueDeclaration:
        """The queue as it was."""
        return self.pairs.old

    @property
    def new(self) -> QueueDeclaration:
        """The queue as it is to be."""
        return self.pairs.new

    @property
    def word(self) -> Word:
        """One word for all shares together."""
        words = {share.word for share in self.shares} - {Word.SAME}
        if not words:
            return Word.SAME
        return words.pop() if len(words) == 1 else Word.MIXED

    @cached_property
    def destructive(self) -> tuple[Finding, ...]:
        """What ends jobs or is refused, and nobody accepted."""
        return tuple(
            finding for finding in self.findings if finding.severity is Severity.ERROR and not finding.is_ignored
        )

    @property
    def losing(self) -> tuple[ComparedShare, ...]:
        """The shares that lose a guarantee and for which the change is not meant.

        Where nobody said whom it is meant for, those whose own declaration changes are among them too.
        """
        return tuple(
            share for share in self.shares if share.word.has_losses and not (self.intends and share.is_intended)
        )

    @cached_property
    def hit(self) -> dict[str, tuple[str, ...]]:
        """Share to how it is hit, for those that the change is not meant for."""
        found: dict[str, list[str]] = {}
        for share in self.shares:
            if share.word.has_losses:
                found.setdefault(share.name, []).append(f"{share.word} guarantees")
        ending = {danger.message for danger in self.dangers} & {finding.message for finding in self.destructive}
        ended = (name for danger in self.dangers if danger.message in ending for name in danger.ends_jobs_of)
        for names, how in (
            (ended, "its jobs end"),
            ((name for one in self._runs for name in one.hit), "its jobs fare worse in the scenario"),
            (self.replay.hit if self.replay else (), "its jobs fare worse in the replay"),
        ):
            for name in names:
                found.setdefault(name, []).append(how)
        intended = {share.name for share in self.shares if share.is_intended}
        return {name: tuple(dict.fromkeys(how)) for name, how in found.items() if name not in intended}

    @property
    def _runs(self) -> tuple[ScenarioComparison, ...]:
        return tuple(run for run in (self.scenario, self.held) if run is not None)

    def failed(self, fail_on: FailOn | None) -> bool:
        """Does the command exit with 1? Raises InputError where it cannot be said, as no guarantee was reckoned."""
        if fail_on is None:
            return False
        if self.destructive:
            return True
        if fail_on is FailOn.DESTRUCTIVE:
            return False
        if self.not_reckoned is not None:
            raise self.not_reckoned
        return bool(self.losing) or any(run.lost for run in self._runs)


def compare_sources(
    old: Source,
    new: Source,
    asked: Asked,
    *,
    queue: str | None = None,
    new_queue: str | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """What the change from the old source to the new one does, and for whom.

    ``queue`` names the queue in both, ``new_queue`` in the new one alone.

    Raises InputError where the queue cannot be told, a share is intended that neither has, a scenario or a history is
    given and a policy has an unknown value or no place for it; UndecidedError as ``simulate``.
    """
    scenario = asked.scenario
    if queue is None and new_queue is None and scenario is not None:
        queue = scenario.queue
    pairs = paired(*views(old, new, queue, new_queue), by_id=all(source.kind in _TEMPLATES for source in (old, new)))
    choices = asked.choices or (scenario.choices() if scenario is not None else Choices())
    found = dangers(pairs)
    findings, new_findings = _findings(old, new, pairs, found, choices)
    declared = changes(pairs)
    intends = tuple(_known(name, pairs) for name in asked.intends)
    policies, why = _policies(pairs)
    if policies is None:
        if scenario is not None or asked.history is not None or asked.held is not None:
            raise why or InputError("nothing to run")
        shares: tuple[ComparedShare, ...] = ()
    else:
        shares = tuple(_shares(policies, pairs, choices, declared, intends, progress))
    comparison = Comparison(
        old, new, pairs, choices, intends, declared, found, findings, new_findings, policies, shares, why
    )
    return comparison if policies is None else _with_runs(comparison, policies, asked, progress)


def _with_runs(comparison: Comparison, policies: Policies, asked: Asked, progress: Progress | None) -> Comparison:
    """With what was asked about jobs."""
    pairs = comparison.pairs
    if asked.scenario is not None:
        ways = [policies, by_new_names(pairs.old.policy(), pairs.new.policy(), pairs.renamed)]
        comparison = replace(comparison, scenario=under_both(asked.scenario, ways))
    if asked.held is not None:
        as_deployed = Policies(pairs.old.policy(), pairs.new.policy())
        comparison = replace(comparison, held=in_transition(asked.held, as_deployed))
    if asked.history is not None:
        options = replace(asked.replaying, choices=comparison.choices)
        replay = replay_both(policies, asked.history, options, pairs.renamed, progress)
        comparison = replace(comparison, replay=replay)
    return comparison


def _policies(pairs: Pairs) -> tuple[Policies | None, InputError | None]:
    try:
        return by_old_names(pairs.old.policy(), pairs.new.policy(), pairs.renamed), None
    except InputError as error:
        return None, error


def _shares(
    policies: Policies,
    pairs: Pairs,
    choices: Choices,
    declared: Sequence[Change],
    intends: Sequence[str],
    progress: Progress | None,
) -> Iterable[ComparedShare]:
    search = Search(policies.old, policies.new, choices)
    found = differences(policies.old, policies.new, choices)
    changed = {change.name for change in declared if change.what == "quota share"}
    for number, (name, differing) in enumerate(found.items()):
        if progress is not None:
            progress(f"share {number + 1} of {len(found)}", number / len(found))
        gone = name not in policies.new.shares
        yield ComparedShare(
            name,
            None if gone else pairs.renamed.get(name, name),
            differing,
            is_declared_otherwise=name in changed,
            is_intended=name in intends if intends else name in changed,
            witness=search.witness(name, _losing_units(differing)) if word_of(differing).has_losses else None,
        )


def _losing_units(differing: Iterable[Difference]) -> tuple[str, ...]:
    """The instance types on which the share loses something; none where it loses on all of them."""
    lost = [difference.unit for difference in differing if difference.word.has_losses]
    return () if None in lost else tuple(dict.fromkeys(unit for unit in lost if unit is not None))


def _known(name: str, pairs: Pairs) -> str:
    """The share's name before the change. Raises InputError where there is no such share on either side."""
    old = [share.label for share in pairs.old.shares]
    new = {after: before for before, after in pairs.renamed.items()}
    known = [*old, *(share.label for share in pairs.new.shares)]
    if name not in known:
        nearest = get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"did you mean {nearest[0]!r}?" if nearest else f"there is {', '.join(dict.fromkeys(known)) or 'none'}"
        raise InputError(f"no share {name!r} before or after the change; {hint}", key="intends")
    return name if name in old else new.get(name, name)


def _findings(
    old: Source, new: Source, pairs: Pairs, found: tuple[Danger, ...], choices: Choices
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """What is wrong with the change, and what is wrong with the new policy alone."""
    before = find(Subject(old.declaration, pairs.old, pairs.old.shares, choices))
    subject = Subject(new.declaration, pairs.new, pairs.new.shares, choices, dangers=_accepted(found, pairs))
    ids = {danger.finding for danger in found}
    every = find(subject)
    known = {_key(finding) for finding in before}
    return (
        tuple(finding for finding in every if finding.id in ids),
        tuple(finding for finding in every if finding.id not in ids and _key(finding) not in known),
    )


def _key(finding: Finding) -> tuple[str, str | None, str | None, str]:
    """What tells a finding from others of its kind, wherever it stands and whatever its numbers."""
    return finding.id, finding.share, finding.unit, finding.place.key if finding.share is None else ""


def _accepted(found: tuple[Danger, ...], pairs: Pairs) -> tuple[Danger, ...]:
    """With what a new document accepts of shares that are not in it any more."""
    ready = pairs.new.ready
    if ready is None:
        return found
    top = Place("ignore", document=pairs.new.queue.place.document)

    def with_reasons(danger: Danger) -> Danger:
        resource = danger.resource
        if not isinstance(resource, QuotaShare):
            return danger
        entries = (entry for entry in ready.ignore if entry.share == resource.label)
        ignores = tuple(Ignored(entry.finding, entry.because, top) for entry in entries)
        return replace(danger, resource=replace(resource, ignores=(*resource.ignores, *ignores)))

    return tuple(with_reasons(danger) for danger in found)
