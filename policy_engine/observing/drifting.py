"""What differs between a declared queue and the one that AWS has."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from policy_engine.policy import UNLIMITED, SharingStrategy, State
from policy_engine.sources.declaration import (
    CapacityLimit,
    JobQueue,
    Place,
    QueueDeclaration,
    QuotaShare,
    Raw,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
    TimeLimit,
    Unknown,
    enum_member,
)

ABSENT: Final = "none"
"""What stands for a value, or a resource, that one of the two has not got."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that the declaration says and AWS has otherwise."""

    resource: str
    """``queue training``, ``quota share QS1``."""
    field: str
    """In the declaration's words: ``capacity_limits.ml.g5.xlarge``; ``existence`` of a whole resource."""
    declared: str
    live: str
    place: Place | None = None
    """Where it is declared."""

    @property
    def message(self) -> str:
        """The difference in one line."""
        if self.field == "existence":
            return f"{self.resource}: {'not declared' if self.declared == ABSENT else 'not at AWS'}"
        return f"{self.resource}: {self.field} is declared as {self.declared}, and is {self.live}"


@dataclass(frozen=True, slots=True)
class Drift:
    """Every difference, and what could not be compared."""

    differences: tuple[Difference, ...]
    unknown: tuple[str, ...]
    """Declared values that are known only at deployment, each with its place."""
    compared: int
    """Values that were compared."""


def drift(declared: QueueDeclaration, live: QueueDeclaration, tags_of: Callable[[str], Mapping[str, str]]) -> Drift:
    """Compare a declared queue with a live one.

    What the declaration leaves out is what AWS takes for it (ENABLED, unlimited borrowing), or is not compared where
    AWS may choose (names, the queue's priority). Of tags the declared ones are compared: AWS and others add their own.

    Args:
        declared: from any source.
        live: from a live queue.
        tags_of: the tags of a live quota share, by name; asked only where some are declared.
    """
    comparison = _Comparison()
    comparison.queue(declared.queue, live.queue, is_document=declared.ready is not None)
    comparison.policy(declared.scheduling_policy, live.scheduling_policy)
    comparison.environments(declared.environments, live.environments)
    comparison.shares(declared.shares, live.shares, tags_of)
    return Drift(tuple(comparison.found), tuple(comparison.unknown), comparison.compared)


class _Comparison:
    """Differences as they are found."""

    def __init__(self) -> None:
        self.found: list[Difference] = []
        self.unknown: list[str] = []
        self.compared = 0

    # --- resources ------------------------------------------------------------------------------

    def queue(self, declared: JobQueue, live: JobQueue, *, is_document: bool) -> None:
        what = f"job queue {live.label}"
        self._name(what, declared, live)
        self._value(what, "state", declared, _state(declared.state), live.state)
        if declared.priority is not None and not is_document:  # which has no word for it
            self._value(what, "priority", declared, declared.priority, live.priority)
        self._entries(
            what, "time_limits", declared, _by_reason(declared.time_limits), _by_reason(live.time_limits), " s"
        )
        self._tags(what, declared, live.tags)

    def policy(self, declared: SchedulingPolicy | None, live: SchedulingPolicy | None) -> None:
        if declared is None or live is None:
            return  # a live queue without quota shares is no source; one that is declared elsewhere is not known here
        what = f"scheduling policy {live.label}"
        self._name(what, declared, live)
        if declared.idle_assignment is not None:
            self._value(what, "idle_assignment", declared, _upper(declared.idle_assignment), live.idle_assignment)
        self._tags(what, declared, live.tags)

    def environments(self, declared: tuple[ServiceEnvironment, ...], live: tuple[ServiceEnvironment, ...]) -> None:
        if not declared:
            self.unknown.append("service environment: not declared here")
        for ours, theirs in zip(declared, live, strict=False):
            what = f"service environment {theirs.label}"
            self._name(what, ours, theirs)
            self._value(what, "state", ours, _state(ours.state), theirs.state)
            self._limits(what, ours, theirs)
            self._tags(what, ours, theirs.tags)

    def shares(
        self,
        declared: tuple[QuotaShare, ...],
        live: tuple[QuotaShare, ...],
        tags_of: Callable[[str], Mapping[str, str]],
    ) -> None:
        to_match = {share.label: share for share in live}
        for share in declared:
            what = f"quota share {share.label}"
            if share.existence is not None or isinstance(share.name, Unknown):
                self._note(what, share.place, share.existence or share.name)
            elif share.label in to_match:
                self._share(what, share, to_match.pop(share.label), tags_of)
            else:
                self.found.append(Difference(what, "existence", "declared", ABSENT, share.place))
        if not any(isinstance(share.name, Unknown) for share in declared):
            self.found += [Difference(f"quota share {name}", "existence", ABSENT, "there") for name in to_match]

    def _share(
        self, what: str, declared: QuotaShare, live: QuotaShare, tags_of: Callable[[str], Mapping[str, str]]
    ) -> None:
        self._value(what, "state", declared, _state(declared.state), live.state)
        self._limits(what, declared, live)
        self._value(what, "strategy", declared, _upper(declared.strategy), live.strategy)
        if live.strategy == SharingStrategy.LEND_AND_BORROW and _borrows(declared):
            self._value(
                what, "borrow_limit", declared, _unlimited(declared.borrow_limit), _unlimited(live.borrow_limit)
            )
        self._value(
            what, "in_share_preemption", declared, _upper(declared.in_share_preemption), live.in_share_preemption
        )
        if declared.tags:
            self._tags(what, declared, dict(tags_of(live.label)))

    # --- values ---------------------------------------------------------------------------------

    def _name(self, what: str, declared: Resource, live: Resource) -> None:
        if isinstance(declared.name, str):  # one that is made at deployment is AWS's to choose
            self._value(what, "name", declared, declared.name, live.name)

    def _value(self, what: str, field: str, holder: Resource, declared: Raw, live: Raw) -> None:
        place = holder.where(field)
        if isinstance(declared, Unknown):
            self._note(f"{what}: {field}", place, declared)
            return
        self.compared += 1
        if not _same(declared, live):
            self.found.append(Difference(what, field, _shown(declared), _shown(live), place))

    def _limits(
        self, what: str, declared: ServiceEnvironment | QuotaShare, live: ServiceEnvironment | QuotaShare
    ) -> None:
        ours, theirs = _by_unit(declared.capacity_limits), _by_unit(live.capacity_limits)
        self._entries(what, "capacity_limits", declared, ours, theirs)

    def _entries(
        self,
        what: str,
        field: str,
        holder: Resource,
        declared: Mapping[str, tuple[Raw, Place]] | Unknown,
        live: Mapping[str, tuple[Raw, Place]] | Unknown,
        unit: str = "",
    ) -> None:
        """Compare what has a value for each key."""
        if isinstance(declared, Unknown) or isinstance(live, Unknown):
            self._note(f"{what}: {field}", holder.where(field), declared)
            return
        for key in dict.fromkeys((*declared, *live)):
            ours, place = declared.get(key, (None, holder.where(field)))
            theirs, _ = live.get(key, (None, None))
            if isinstance(ours, Unknown):
                self._note(f"{what}: {field}.{key}", place, ours)
                continue
            self.compared += 1
            if not _same(ours, theirs):
                shown, is_live = (ABSENT if value is None else f"{_shown(value)}{unit}" for value in (ours, theirs))
                self.found.append(Difference(what, f"{field}.{key}", shown, is_live, place))

    def _tags(self, what: str, declared: Resource, live: object) -> None:
        if isinstance(declared.tags, Unknown):
            self._note(f"{what}: tags", declared.where("tags"), declared.tags)
            return
        theirs = live if isinstance(live, dict) else {}
        for key, value in _tags(declared.tags).items():
            place = declared.where("tags")
            if isinstance(value, Unknown):
                self._note(f"{what}: tags.{key}", place, value)
                continue
            self.compared += 1
            if not _same(value, theirs.get(key)):
                self.found.append(Difference(what, f"tags.{key}", _shown(value), _shown(theirs.get(key)), place))

    def _note(self, what: str, place: Place, value: object) -> None:
        self.unknown.append(f"{what} ({place.key}): {value}")


def _state(value: Raw) -> Raw:
    """A state that is left out is ENABLED (API CreateQuotaShare, CreateJobQueue, CreateServiceEnvironment)."""
    return State.ENABLED.value if value is None else value


def _unlimited(value: Raw) -> Raw:
    """A borrow limit that is left out is -1 (API QuotaShareResourceSharingConfiguration)."""
    return UNLIMITED if value is None else value


def _upper(value: Raw) -> Raw:
    """CloudFormation takes these words in any case, and AWS has them in capitals."""
    return value.upper() if isinstance(value, str) else value


def _borrows(share: QuotaShare) -> bool:
    return enum_member(share.strategy, SharingStrategy, any_case=True) is SharingStrategy.LEND_AND_BORROW


def _by_unit(limits: tuple[CapacityLimit, ...] | Unknown | None) -> Mapping[str, tuple[Raw, Place]] | Unknown:
    if isinstance(limits, Unknown):
        return limits
    return {_shown(limit.unit): (limit.maximum, limit.place) for limit in limits or ()}


def _by_reason(limits: tuple[TimeLimit, ...] | Unknown | None) -> Mapping[str, tuple[Raw, Place]] | Unknown:
    if isinstance(limits, Unknown):
        return limits
    return {_shown(limit.reason): (limit.max_seconds, limit.place) for limit in limits or ()}


def _tags(tags: Raw) -> dict[str, Any]:
    """Tags as a mapping; CloudFormation writes them so, too, or as a list of Key and Value."""
    if isinstance(tags, list | tuple):
        pairs = (tag for tag in tags if isinstance(tag, dict) and isinstance(tag.get("Key"), str))
        return {tag["Key"]: tag.get("Value") for tag in pairs}
    return dict(tags) if isinstance(tags, dict) else {}


def _same(declared: object, live: object) -> bool:
    """Equal, also where a number was written as text."""
    return declared == live or _shown(declared) == _shown(live)


def _shown(value: object) -> str:
    return ABSENT if value is None else str(value)
