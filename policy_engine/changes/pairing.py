"""Which resource of the new declaration is which of the old one.

CloudFormation goes by logical ids: another name under the same one is a replacement. Where one of the two sides is no
template, a resource is the one of its name.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from policy_engine.sources.declaration import (
    QueueDeclaration,
    QuotaShare,
    Resource,
    SchedulingPolicy,
    ServiceEnvironment,
)

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True, slots=True)
class Pair(Generic[R]):
    """A resource before and after; None where there is none."""

    old: R | None
    new: R | None

    @property
    def label(self) -> str:
        """Its name before, or else after."""
        resource = self.old or self.new
        return "" if resource is None else resource.label


@dataclass(frozen=True)
class Pairs:
    """Two declarations of one queue, resource by resource."""

    old: QueueDeclaration
    new: QueueDeclaration
    environments: tuple[Pair[ServiceEnvironment], ...]
    shares: tuple[Pair[QuotaShare], ...]
    """In the order of the old declaration; new ones after them."""
    by_logical_id: bool
    """Are both sides templates, which CloudFormation compares by logical id?"""

    @property
    def policy(self) -> Pair[SchedulingPolicy]:
        """The scheduling policy."""
        return Pair(self.old.scheduling_policy, self.new.scheduling_policy)

    @cached_property
    def renamed(self) -> dict[str, str]:
        """Old name to new name of the shares that have another."""
        both = ((pair.old, pair.new) for pair in self.shares)
        return {old.label: new.label for old, new in both if old and new and old.label != new.label}


def paired(old: QueueDeclaration, new: QueueDeclaration, *, by_id: bool) -> Pairs:
    """The two declarations, resource by resource; ``by_id`` where both are templates."""
    environments = _by(old.environments, new.environments, "logical_id") if by_id else ()
    if not by_id or len(old.environments) == len(new.environments) == 1:
        environments = tuple(Pair(a, b) for a, b in zip(old.environments, new.environments, strict=False))
    shares = _by(old.shares, new.shares, "logical_id" if by_id else "label")
    return Pairs(old, new, environments, _without_strays(shares, by_id=by_id), by_id)


def _by(old: tuple[R, ...], new: tuple[R, ...], key: str) -> tuple[Pair[R], ...]:
    """Those of the same key together."""
    found = {getattr(resource, key): resource for resource in new}
    pairs = [Pair(resource, found.pop(getattr(resource, key), None)) for resource in old]
    return (*pairs, *(Pair(None, resource) for resource in found.values()))


def _without_strays(pairs: tuple[Pair[QuotaShare], ...], *, by_id: bool) -> tuple[Pair[QuotaShare], ...]:
    """With what is left over on both sides brought together.

    In templates that is the same name under another logical id; and everywhere a share that is declared as one that is
    gone was, where there is one of each alone: a renamed one. (A construct has the name in the logical id too.)
    """
    if by_id:
        pairs = _brought_together(pairs, lambda share: share.label)
    return _brought_together(pairs, _declared)


def _brought_together(
    pairs: tuple[Pair[QuotaShare], ...], alike: Callable[[QuotaShare], object]
) -> tuple[Pair[QuotaShare], ...]:
    """One that is gone and one that has come, where nothing else on either side is alike."""
    gone = [pair.old for pair in pairs if pair.old is not None and pair.new is None]
    come = [pair.new for pair in pairs if pair.new is not None and pair.old is None]
    found: dict[int, QuotaShare] = {}
    for one in gone:
        matches = [other for other in come if alike(other) == alike(one)]
        if len(matches) == 1 and sum(alike(other) == alike(one) for other in gone) == 1:
            found[id(one)] = matches[0]
    taken = {id(share) for share in found.values()}
    return tuple(
        Pair(pair.old, found.get(id(pair.old), pair.new)) for pair in pairs if pair.old or id(pair.new) not in taken
    )


def _declared(share: QuotaShare) -> tuple[object, ...]:
    """All of a share but its name."""
    limits = share.capacity_limits
    listed = {limit.unit: limit.maximum for limit in limits} if isinstance(limits, tuple) else limits
    return listed, share.strategy, share.borrow_limit, share.in_share_preemption, share.state
